/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listing.h: the output of a command that prints everything at once, without a session: --out or
 * stdout, its format, the width of the terminal. listing__open opens it; the command ends with
 * output__finish(&listing.output, err).
 */
#ifndef IOSONAR_VIEW_LISTING_H
#define IOSONAR_VIEW_LISTING_H

#include "base/options.h"
#include "base/output.h"
#include "decode/column.h"
#include "render/chart.h"

struct listing {
	FILE *out;
	enum table_format format;
	struct chart_style style;
	int columns; /* of the terminal; 0: not a terminal */
	struct output output;
};

/* inputs: as for output__open. 0 or a negative errno, said. */
int listing__open(struct listing *listing, const struct output_options *options,
		  const struct option_list *inputs);
/* The text of a row's last column; `before` columns are taken. Cuts what does not fit in the
 * terminal. */
void listing__cut(const struct listing *listing, char *text, int before);

#endif
