/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

int profile__init(struct profile *p, uint32_t nr_keys)
{
	*p = (struct profile){ .nr_keys = nr_keys };
	p->place = calloc(nr_keys, sizeof(*p->place));
	return p->place ? 0 : -ENOMEM;
}

void profile__free(struct profile *p)
{
	free(p->place);
	free(p->keys);
	free(p->rows);
	free(p->blocks);
	*p = (struct profile){ 0 };
}

static int profile_place(struct profile *p, uint32_t key)
{
	size_t room = p->room;
	int err = GROW(p->rows, room, p->nr + 1) ?: GROW(p->keys, p->room, p->nr + 1);

	if (err)
		return err;
	memset(p->rows[p->nr], 0, sizeof(p->rows[0]));
	p->keys[p->nr] = (uint16_t)key;
	p->place[key] = (uint16_t)++p->nr;
	return 0;
}

int profile__add(struct profile *p, uint32_t key, uint32_t block, double amount)
{
	int err = 0;

	if (key >= p->nr_keys || block >= PROFILE_BLOCKS)
		return -EINVAL;
	if (!p->place[key])
		err = profile_place(p, key);
	if (!err)
		p->rows[p->place[key] - 1][block] += amount;
	return err;
}

void blocks__fold(double blocks[PROFILE_BLOCKS])
{
	for (int i = 0; i < PROFILE_BLOCKS / 2; i++)
		blocks[i] = blocks[2 * i] + blocks[2 * i + 1];
	memset(blocks + PROFILE_BLOCKS / 2, 0, PROFILE_BLOCKS / 2 * sizeof(*blocks));
}

void profile__fold(struct profile *p)
{
	for (uint32_t i = 0; i < p->nr; i++)
		blocks__fold(p->rows[i]);
}

/* Sorts rows by kind: visits every kind that has a row. */
static void profile_settle_rows(struct profile *p)
{
	uint32_t row = 0;

	for (uint32_t key = 0; key < p->nr_keys; key++) {
		if (!p->place[key])
			continue;
		for (uint32_t block = 0; block < p->nr_blocks; block++)
			p->blocks[block * p->nr + row] = p->rows[p->place[key] - 1][block];
		p->place[key] = (uint16_t)++row;
	}
	for (uint32_t key = 0; key < p->nr_keys; key++)
		if (p->place[key])
			p->keys[p->place[key] - 1] = (uint16_t)key;
}

int profile__settle(struct profile *p, uint32_t nr_blocks)
{
	p->nr_blocks = nr_blocks;
	p->blocks = calloc((size_t)p->nr * nr_blocks + 1, sizeof(*p->blocks));
	if (!p->blocks)
		return -ENOMEM;
	profile_settle_rows(p);
	free(p->rows);
	p->rows = NULL;
	return 0;
}

void profile__weigh(const struct profile *p, const double *weights, double *sums)
{
	memset(sums, 0, p->nr * sizeof(*sums));
	for (uint32_t block = 0; block < p->nr_blocks; block++) {
		const double *amounts = p->blocks + (size_t)block * p->nr;

		if (weights[block] == 0)
			continue;
		for (uint32_t row = 0; row < p->nr; row++)
			sums[row] += weights[block] * amounts[row];
	}
}

void profile__sum(const struct profile *p, double *sums)
{
	double once[PROFILE_BLOCKS];

	for (int i = 0; i < PROFILE_BLOCKS; i++)
		once[i] = 1;
	profile__weigh(p, once, sums);
}

int profile__row(const struct profile *p, uint32_t key)
{
	return key < p->nr_keys ? (int)p->place[key] - 1 : -1;
}
