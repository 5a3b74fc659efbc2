/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listing.h: where a command prints that shows all it knows at once, without a session: --out or
 * stdout, in which format, how wide the terminal is. listing__open opens it; the command ends with
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
	int columns; /* of the terminal; 0: it is none */
	struct output output;
};

/* inputs: as for output__open. 0 or a negative errno, said. */
int listing__open(struct listing *listing, const struct output_options *options,
		  const struct option_list *inputs);
/* The text of a row's last column; `before` columns are taken. What a terminal has no room for is
 * left out. */
void listing__cut(const struct listing *listing, char *text, int before);

#endif
