/* SPDX-License-Identifier: BSD-2-Clause */
/* verdicts.h: does docs/verdicts.md have a row that was measured? Tests run in the root of the
 * tree. */
#ifndef IOSONAR_TESTS_VERDICTS_H
#define IOSONAR_TESTS_VERDICTS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* One that begins so: it may go on with what others measured. */
static inline bool verdicts__have(const char *row)
{
	FILE *file = fopen("docs/verdicts.md", "r");
	char buf[400];
	bool found = false;

	while (file && !found && fgets(buf, sizeof(buf), file)) {
		buf[strcspn(buf, "\n")] = 0;
		found = !strncmp(buf, row, strlen(row));
	}
	if (file)
		fclose(file);
	return found;
}

#endif
