/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/sizes.h"

#include <stdlib.h>
#include "base/compare.h"
#include "wire/io_tables.h"

void sizes__add(struct sizes *sizes, uint32_t bytes)
{
	sizes->classes[io_size_class(bytes)]++;
	for (size_t i = 0; i < sizes->nr; i++) {
		if (sizes->exact[i].bytes != bytes)
			continue;
		sizes->exact[i].count++;
		return;
	}
	if (sizes->nr < SIZES)
		sizes->exact[sizes->nr++] = (struct size_count){ bytes, 1 };
	else
		sizes->others++;
}

static int sizes_compare(const void *a, const void *b)
{
	const struct size_count *x = a, *y = b;

	return COMPARE(x->bytes, y->bytes);
}

void sizes__sort(struct sizes *sizes)
{
	if (sizes->nr)
		qsort(sizes->exact, sizes->nr, sizeof(sizes->exact[0]), sizes_compare);
}
