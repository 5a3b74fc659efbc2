/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <unistd.h>
#include "view/listing.h"

enum { LISTING_LEAST = 20 }; /* minimum width of the last column */

int listing__open(struct listing *l, const struct output_options *o,
		  const struct option_list *inputs)
{
	int err = output__open(&l->output, o->path, inputs);

	if (err)
		return err;
	l->out = l->output.file;
	l->format = (enum table_format)o->format;
	l->style = chart__style_of(l->out, o->color);
	l->columns = isatty(fileno(l->out)) ? l->style.columns : 0;
	return 0;
}

void listing__cut(const struct listing *l, char *text, int before)
{
	int most = l->columns - before;

	if (!l->columns || l->format != TABLE_TEXT)
		return;
	if (most < LISTING_LEAST)
		most = LISTING_LEAST;
	if (strlen(text) > (size_t)most)
		strcpy(text + most - 3, "...");
}
