/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "render/flame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "render/flame_inside.h"

/* ---- stacks into a tree ---- */

struct flame_key {
	uint32_t parent;
	const struct flame_frame *frame;
};

static bool flame_is(const void *nodes, uint32_t number, const void *arg)
{
	const struct flame_node *node = (const struct flame_node *)nodes + number;
	const struct flame_key *key = arg;

	return node->parent == key->parent && node->kind == key->frame->kind &&
	       !strncmp(node->name, key->frame->name, FLAME_NAME_MAX);
}

static uint32_t flame_new_node(struct flame *f, const struct flame_key *key, uint64_t hash)
{
	char *name;
	uint32_t at;

	if (index__reserve(&f->index, &f->nodes, sizeof(*f->nodes)))
		return FLAME_NOBODY;
	name = strndup(key->frame->name, FLAME_NAME_MAX);
	if (!name)
		return FLAME_NOBODY;
	at = index__add(&f->index, hash);
	f->nodes[at] = (struct flame_node){
		.name = name,
		.kind = key->frame->kind,
		.parent = key->parent,
		.depth = key->parent == FLAME_NOBODY ? 0 : f->nodes[key->parent].depth + 1,
	};
	f->nr++;
	return at;
}

/* The frame of that name on top of this one. FLAME_NOBODY: out of memory. */
static uint32_t flame_child(struct flame *f, uint32_t parent, const struct flame_frame *frame)
{
	const struct flame_key key = { parent, frame };
	const uint64_t hash = index__mix_bytes(index__mix(0, (uint64_t)parent << 2 | frame->kind),
					       frame->name, strnlen(frame->name, FLAME_NAME_MAX));
	uint32_t at = index__find(&f->index, hash, flame_is, f->nodes, &key);

	return at == INDEX_NONE ? flame_new_node(f, &key, hash) : at;
}

struct flame *flame__new(void)
{
	const struct flame_frame root = { .name = "all" };
	struct flame *f = calloc(1, sizeof(*f));

	if (f && flame_child(f, FLAME_NOBODY, &root) == FLAME_ROOT)
		return f;
	flame__free(f);
	return NULL;
}

void flame__free(struct flame *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->nr; i++)
		free(f->nodes[i].name);
	free(f->nodes);
	index__free(&f->index);
	free(f);
}

/* A missing name, or an empty stack, would be lost in a folded line. */
static const struct flame_frame flame_unknown = { .name = "[unknown]" };

uint32_t flame__enter(struct flame *f, uint32_t below, const struct flame_frame *frame)
{
	const struct flame_frame named = { *frame->name ? frame->name : flame_unknown.name,
					   frame->kind };

	return flame_child(f, below, &named);
}

int flame__add_to(struct flame *f, uint32_t frame, uint64_t value)
{
	uint64_t total;

	if (__builtin_add_overflow(f->total, value, &total))
		return -EOVERFLOW;
	f->nodes[frame].self += value;
	f->total = total;
	return 0;
}

int flame__add(struct flame *f, const struct flame_frame *frames, size_t nr, uint64_t value)
{
	uint32_t node = FLAME_ROOT;
	uint64_t total;

	if (__builtin_add_overflow(f->total, value, &total))
		return -EOVERFLOW;
	if (!value)
		return 0;
	if (!nr)
		return flame__add(f, &flame_unknown, 1, value);
	for (size_t i = 0; i < nr; i++) {
		node = flame__enter(f, node, &frames[i]);
		if (node == FLAME_NOBODY)
			return -ENOMEM;
	}
	return flame__add_to(f, node, value);
}

uint64_t flame__total(const struct flame *f)
{
	return f->total;
}

/* ---- its order ---- */

/* Children of one parent are adjacent, in reverse order of names. */
static int flame_compare(const void *left, const void *right, void *nodes)
{
	const struct flame_node *a = (struct flame_node *)nodes + *(const uint32_t *)left;
	const struct flame_node *b = (struct flame_node *)nodes + *(const uint32_t *)right;
	int order;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	order = strcmp(b->name, a->name);
	return order ?: (int)b->kind - (int)a->kind;
}

static void flame_sum_up(struct flame *f)
{
	for (uint32_t i = 0; i < f->nr; i++) {
		f->nodes[i].total = f->nodes[i].self;
		f->nodes[i].nr_below = 0;
		f->nodes[i].first_child = f->nodes[i].next = FLAME_NOBODY;
	}
	for (uint32_t i = f->nr - 1; i > FLAME_ROOT; i--) {
		struct flame_node *parent = &f->nodes[f->nodes[i].parent];

		parent->total += f->nodes[i].total;
		parent->nr_below += 1 + f->nodes[i].nr_below;
	}
}

/* Each becomes its parent's first child; the previous first child comes next. */
static void flame_link(struct flame *f, const uint32_t *order)
{
	for (uint32_t i = FLAME_ROOT + 1; i < f->nr; i++) {
		struct flame_node *node = &f->nodes[order[i]];
		struct flame_node *parent = &f->nodes[node->parent];

		node->next = parent->first_child;
		parent->first_child = order[i];
	}
}

static void flame_place(struct flame *f)
{
	f->nodes[FLAME_ROOT].start = 0;
	for (uint32_t i = flame_next(f, FLAME_ROOT); i != FLAME_NOBODY; i = flame_next(f, i)) {
		struct flame_node *node = &f->nodes[i], *parent = &f->nodes[node->parent];

		if (parent->first_child == i)
			node->start = parent->start;
		if (node->next != FLAME_NOBODY)
			f->nodes[node->next].start = node->start + node->total;
	}
}

int flame_lay_out(struct flame *f)
{
	uint32_t *order = calloc(f->nr, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->nr; i++)
		order[i] = i;
	flame_sum_up(f);
	/* The root stays in its place: it has no parent to be sorted by. */
	qsort_r(order + 1, f->nr - 1, sizeof(*order), flame_compare, f->nodes);
	flame_link(f, order);
	flame_place(f);
	free(order);
	return 0;
}

uint32_t flame_next_beside(const struct flame *f, uint32_t node)
{
	while (node != FLAME_ROOT && f->nodes[node].next == FLAME_NOBODY)
		node = f->nodes[node].parent;
	return node == FLAME_ROOT ? FLAME_NOBODY : f->nodes[node].next;
}

uint32_t flame_next(const struct flame *f, uint32_t node)
{
	uint32_t child = f->nodes[node].first_child;

	return child != FLAME_NOBODY ? child : flame_next_beside(f, node);
}

/* ---- folded lines ---- */

/* Where each frame's path ends in the text. */
struct flame_path {
	char *text;
	size_t len, room;
	size_t *ends; /* by depth */
	size_t nr_ends;
};

/* "comm;main" becomes "comm;main;read", or "comm;other" for a frame beside main. */
static int flame_path_enter(struct flame_path *path, const struct flame_node *node)
{
	char *name = text__plain(node->name);
	size_t len = name ? strlen(name) : 0;

	if (!name || GROW(path->text, path->room, path->len + len + 2) ||
	    GROW(path->ends, path->nr_ends, (size_t)node->depth + 1)) {
		free(name);
		return -ENOMEM;
	}
	path->len = node->depth > 1 ? path->ends[node->depth - 1] : 0;
	if (path->len)
		path->text[path->len++] = ';';
	for (size_t i = 0; i < len; i++)
		path->text[path->len++] = name[i] == ';' ? ':' : name[i];
	path->ends[node->depth] = path->len;
	free(name);
	return 0;
}

int flame__write_folded(struct flame *f, FILE *out)
{
	struct flame_path path = { 0 };
	int err = flame_lay_out(f);

	for (uint32_t i = err ? FLAME_NOBODY : flame_next(f, FLAME_ROOT); i != FLAME_NOBODY && !err;
	     i = flame_next(f, i)) {
		err = flame_path_enter(&path, &f->nodes[i]);
		if (err || !f->nodes[i].self)
			continue;
		fwrite(path.text, 1, path.len, out);
		fprintf(out, " %" PRIu64 "\n", f->nodes[i].self);
	}
	free(path.text);
	free(path.ends);
	return err;
}
