/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blame_matrix.h: `blame -o matrix`: a matrix for each disk, victims down and culprits across, as
 * wide as the terminal. Each victim's row is 100 % of its latency. Used only by that command;
 * remove it with that command.
 */
#ifndef IOSONAR_VIEW_BLAME_MATRIX_H
#define IOSONAR_VIEW_BLAME_MATRIX_H

#include <stddef.h>
#include <stdio.h>
#include "render/matrix.h"

/* All zeros is empty. */
struct blame_matrix {
	struct blame_disk {
		char *dev;
		struct matrix *matrix;
	} * disks;
	size_t nr;
	int err; /* of any cell */
};

/* What the commands of a victim on this disk waited because of a culprit. */
void blame_matrix__add(struct blame_matrix *matrices, const char *dev, const char *victim,
		       const char *culprit, enum matrix_place place, double percent, double ns);
/* The end. 0 or -ENOMEM. */
int blame_matrix__print(struct blame_matrix *matrices, FILE *out);
void blame_matrix__free(struct blame_matrix *matrices);

#endif
