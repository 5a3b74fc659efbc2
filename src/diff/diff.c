/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"

const char *pair__words(enum pair_by by)
{
	static const char *const words[] = { NULL, "asked", "serial", "name", "left" };

	return words[by];
}

/* ---- devices ---- */

static void diff_names(const struct pair_ends *ends, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = 0;
	for (size_t i = 0; i < ends->nr && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", i ? ", " : "",
					ends->ends[i].name);
}

enum { DIFF_NAME = 64 };

/* "nvme0n1=sda" */
static int diff_check_asked(const struct option_list *asked)
{
	for (size_t i = 0; i < asked->nr; i++) {
		const char *text = asked->words[i], *equals = strchr(text, '=');

		if (!equals || equals == text || !equals[1] || equals - text >= DIFF_NAME)
			return log_err(-EINVAL,
				       "--pair %s: expected the device of A, =, the device of B, "
				       "e.g. nvme0n1=sda",
				       text);
	}
	return 0;
}

static int diff_ask(struct diff *d, const char *text)
{
	const char *equals = strchr(text, '=');
	char name[DIFF_NAME], names[2][256];

	memcpy(name, text, (size_t)(equals - text));
	name[equals - text] = 0;
	if (!pairs__ask(&d->ends[0], &d->ends[1], name, equals + 1))
		return 0;
	diff_names(&d->ends[0], names[0], sizeof(names[0]));
	diff_names(&d->ends[1], names[1], sizeof(names[1]));
	return log_err(
		-ENODEV,
		"--pair %s: no such pair; A has: %s; B has: %s; a device can be paired only once",
		text, names[0], names[1]);
}

static int diff_match(struct diff *d, const struct option_list *asked)
{
	int err = 0;

	for (int i = 0; !err && i < 2; i++)
		err = diff_side__ends(&d->sides[i], &d->ends[i]);
	for (size_t i = 0; !err && i < asked->nr; i++)
		err = diff_ask(d, asked->words[i]);
	if (!err && !asked->nr)
		pairs__match(&d->ends[0], &d->ends[1]);
	return err;
}

static void diff_tell_pair(const struct diff *d, const struct pair_end *a)
{
	const struct pair_end *b = &d->ends[1].ends[a->other];
	bool has_other = a->serial[0] && b->serial[0] && strcmp(a->serial, b->serial) != 0;
	const char *another = has_other ? ", but the serial numbers differ" : "";

	switch (a->by) {
	case PAIR_SERIAL:
		log_note("%s is %s in B: the same serial number", a->name, b->name);
		break;
	case PAIR_NAME:
		log_note("%s is %s in B: the same name%s", a->name, b->name, another);
		break;
	case PAIR_LEFT:
		log_note("%s is compared with %s of B: each is the only disk left in its run%s",
			 a->name, b->name, another);
		break;
	case PAIR_ASKED:
		log_note("%s is compared with %s of B, as --pair says", a->name, b->name);
		break;
	default: break;
	}
}

static void diff_tell(const struct diff *d, const struct option_list *asked)
{
	for (size_t i = 0; i < d->ends[0].nr; i++)
		if (d->ends[0].ends[i].by != PAIR_NONE)
			diff_tell_pair(d, &d->ends[0].ends[i]);
	for (int side = 0; side < 2 && !asked->nr; side++)
		for (size_t i = 0; i < d->ends[side].nr; i++)
			if (d->ends[side].ends[i].by == PAIR_NONE)
				log_note("%s is only in %c; --pair can compare it with another "
					 "device",
					 d->ends[side].ends[i].name, 'A' + side);
	for (int side = 0; side < 2; side++)
		if (d->sides[side].nr_groups && d->sides[side].groups[0]->sample.is_loose)
			log_note("%s has no data on variation over time: I/Os are assumed to be "
				 "independent",
				 d->sides[side].path);
}

/* ---- groups ---- */

static void diff_add(struct diff *d, int side, const struct diff_group *group)
{
	const struct pair_end *end = &d->ends[side].ends[group->device];
	const struct diff_group *partner = NULL;
	const char *other = NULL;

	if (end->by != PAIR_NONE) {
		partner = diff_side__find(&d->sides[!side], end->other, group->op);
		other = d->ends[!side].ends[end->other].name;
	}
	if (side && partner) /* already added with its partner in A */
		return;
	d->pairs[d->nr_pairs++] = (struct diff_pair){
		.a = side ? NULL : group,
		.b = side ? group : partner,
		.dev_a = side ? other : end->name,
		.dev_b = side ? end->name : other,
		.op = group->op,
		.by = end->by,
	};
}

static const char *pair_name(const struct diff_pair *p)
{
	return p->dev_a ? p->dev_a : p->dev_b;
}

static int pair_compare(const void *left, const void *right)
{
	const struct diff_pair *x = left, *y = right;
	int order = strcmp(pair_name(x), pair_name(y));

	return order ? order : strcmp(x->op, y->op);
}

/* asked_only: leaves out devices that --pair does not name. */
static int diff_pair_groups(struct diff *d, bool asked_only)
{
	d->pairs = calloc(d->sides[0].nr_groups + d->sides[1].nr_groups + 1, sizeof(*d->pairs));
	if (!d->pairs)
		return log_no_memory();
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < d->sides[side].nr_groups; i++) {
			const struct diff_group *group = d->sides[side].groups[i];

			if (!asked_only || d->ends[side].ends[group->device].by == PAIR_ASKED)
				diff_add(d, side, group);
		}
	qsort(d->pairs, d->nr_pairs, sizeof(*d->pairs), pair_compare);
	return 0;
}

static int diff_compare(struct diff *d)
{
	int err = 0;

	for (size_t i = 0; !err && i < d->nr_pairs; i++) {
		struct diff_pair *p = &d->pairs[i];

		p->first = d->list.nr;
		if (p->a && p->b)
			err = shift_list__compare(&d->list, &p->a->sample, &p->b->sample);
		p->nr = d->list.nr - p->first;
	}
	shift_list__settle(&d->list);
	return err ? log_err(err, "out of memory") : 0;
}

int diff__make(struct diff *d, const struct diff_file *files, const struct option_list *asked,
	       const struct diff_wants *wants)
{
	int err = diff_check_asked(asked);

	for (int i = 0; !err && i < 2; i++) {
		struct diff_side *side = &d->sides[i];

		side->path = files[i].path;
		side->is_saved = files[i].kind == DIFF_SAVED;
		err = side->is_saved ? diff_side__read_printout(side, wants)
				     : diff_side__read_capture(side, wants);
	}
	err = err ?: diff_match(d, asked);
	if (err)
		return err;
	diff_tell(d, asked);
	err = diff_pair_groups(d, asked->nr);
	return err ?: diff_compare(d);
}

void diff__free(struct diff *d)
{
	for (int i = 0; i < 2; i++) {
		diff_side__free(&d->sides[i]);
		free(d->ends[i].ends);
	}
	shift_list__free(&d->list);
	free(d->pairs);
}
