/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/blame_matrix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/terminal.h"

static struct matrix *blame_matrix_of(struct blame_matrix *m, const char *dev)
{
	struct blame_disk *disk;

	for (size_t i = 0; i < m->nr; i++)
		if (!strcmp(m->disks[i].dev, dev))
			return m->disks[i].matrix;
	if (GROW_BY_ONE(m->disks, m->nr))
		return NULL;
	disk = &m->disks[m->nr];
	*disk = (struct blame_disk){ strdup(dev), matrix__new(dev, "other culprits") };
	m->nr++;
	return disk->dev ? disk->matrix : NULL;
}

void blame_matrix__add(struct blame_matrix *m, const char *dev, const char *victim,
		       const char *culprit, enum matrix_place place, double percent, double ns)
{
	struct matrix *matrix = m->err ? NULL : blame_matrix_of(m, dev ?: "?");

	m->err = matrix ? matrix__add(matrix, victim, culprit, place, percent, ns) : -ENOMEM;
}

int blame_matrix__print(struct blame_matrix *m, FILE *out)
{
	const size_t limit = terminal__columns(fileno(out));

	for (size_t i = 0; i < m->nr && !m->err; i++) {
		if (i)
			fputc('\n', out);
		m->err = matrix__print(m->disks[i].matrix, out, limit);
	}
	return m->err;
}

void blame_matrix__free(struct blame_matrix *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		free(m->disks[i].dev);
		matrix__free(m->disks[i].matrix);
	}
	free(m->disks);
	*m = (struct blame_matrix){ 0 };
}
