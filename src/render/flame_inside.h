/* SPDX-License-Identifier: BSD-2-Clause */
/* flame_inside.h: what the files of flame share: the tree of frames. Nobody else includes it. */
#ifndef IOSONAR_RENDER_FLAME_INSIDE_H
#define IOSONAR_RENDER_FLAME_INSIDE_H

#include "base/index.h"
#include "render/flame.h"

/* A frame, above all the same frames below it. Parents have smaller numbers than their children. */
struct flame_node {
	char *name;
	uint64_t self; /* of stacks that end here */
	enum flame_kind kind;
	uint32_t parent, depth;
	/* The rest is worked out by flame_lay_out. */
	uint32_t first_child, next; /* by name; FLAME_NOBODY: none */
	uint32_t nr_below;	    /* frames above this one, in all */
	uint64_t total, start;	    /* its share lies from start to start + total */
};

struct flame {
	struct flame_node *nodes; /* the root first */
	uint32_t nr;
	struct index index;
	uint64_t total;
};

int flame_lay_out(struct flame *flame);
/* The frame drawn after this one, those above it included or not; FLAME_NOBODY: it was the last. */
uint32_t flame_next(const struct flame *flame, uint32_t node);
uint32_t flame_next_beside(const struct flame *flame, uint32_t node);

#endif
