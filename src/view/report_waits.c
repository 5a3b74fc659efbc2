/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report_waits.h"

#include "base/log.h"
#include "session/io_source.h"
#include "view/waits_rows.h"

static int report_waits_add(void *arg, const struct io_beside *of, const struct io_call *call)
{
	struct wait_key key;

	(void)of;
	waits_rows__key(call->record, &key);
	wait_row__mask(&key, 0);
	return wait_groups__add(arg, &key, call->parts) ? log_no_memory() : 0;
}

int report_waits__put(struct session *s)
{
	static const struct row_conditions none;
	struct table *table = session__table(s, &waits_rows, NULL, NULL);
	struct wait_groups groups = { 0 };
	int err = table ? io_source__each_call(s, report_waits_add, &groups) : log_no_memory();

	wait_groups__sort(&groups);
	for (size_t i = 0; i < groups.nr && !err; i++)
		wait_row__put(table, s, &waits_rows_words, groups.groups[i], "total", &none);
	wait_groups__free(&groups);
	table__free(table);
	return err;
}
