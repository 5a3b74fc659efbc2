/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * matrix.h: names down, names across, and percents where they meet. Columns stand in order of their
 * weight, the heaviest first; those for which there is no room are one, their sum. Of a name above
 * a column the last 20 characters are shown; hostile text is escaped. It keeps a cell for each
 * pair.
 */
#ifndef IOSONAR_RENDER_MATRIX_H
#define IOSONAR_RENDER_MATRIX_H

#include <stddef.h>
#include <stdio.h>

/* Where a column stands. */
enum matrix_place {
	MATRIX_BY_WEIGHT,
	MATRIX_OTHER, /* behind those; it is the sum of columns without room, too */
	MATRIX_LAST,  /* at the end, in the order in which they came */
};

struct matrix;

/* corner: above the names of the rows; other: the name of the sum. NULL: out of memory. */
struct matrix *matrix__new(const char *corner, const char *other);
void matrix__free(struct matrix *matrix);
/* Rows stay in the order in which they came. column: none of MATRIX_OTHER. -ENOMEM. */
int matrix__add(struct matrix *matrix, const char *row, const char *column, enum matrix_place place,
		double percent, double weight);
/*
 * Once, at the end: at most limit columns wide, if one name has room; 0: no limit. A cell that was
 * not added is "-". -ENOMEM.
 *
 *	nvme0n1  backup postgres other culprits device itself
 *	postgres  75.0%     1.2%           9.3%         14.5%
 */
int matrix__print(struct matrix *matrix, FILE *out, size_t limit);

#endif
