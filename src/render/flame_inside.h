/* SPDX-License-Identifier: BSD-2-Clause */
/* flame_inside.h: shared by the files of flame: the tree of frames. No other file includes it. */
#ifndef IOSONAR_RENDER_FLAME_INSIDE_H
#define IOSONAR_RENDER_FLAME_INSIDE_H

#include "base/index.h"
#include "render/flame.h"

/* A frame on one path of frames below it. Parents have smaller numbers than their children. */
struct flame_node {
	char *name;
	uint64_t self; /* value of stacks that end here */
	enum flame_kind kind;
	uint32_t parent, depth;
	/* The rest is computed by flame_lay_out. */
	uint32_t first_child, next; /* by name; FLAME_NOBODY: none */
	uint32_t nr_below;	    /* number of all frames above this one */
	uint64_t total, start;	    /* its share lies from start to start + total */
};

struct flame {
	struct flame_node *nodes; /* the root first */
	uint32_t nr;
	struct index index;
	uint64_t total;
};

int flame_lay_out(struct flame *flame);
/* The next frame to draw, with or without those above this one; FLAME_NOBODY: it was the last. */
uint32_t flame_next(const struct flame *flame, uint32_t node);
uint32_t flame_next_beside(const struct flame *flame, uint32_t node);

#endif
