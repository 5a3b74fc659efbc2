/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flame.h: which stacks lead here, and how much does each contribute? A set of stacks as folded
 * lines, for other tools, or as one SVG file: stacks with the same beginning share a bar, as wide
 * as their sum. The file needs no network and no other file; without scripts it still shows names
 * and, on hover, values. Frames narrower than a tenth of a pixel are left out and counted.
 */
#ifndef IOSONAR_RENDER_FLAME_H
#define IOSONAR_RENDER_FLAME_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "decode/column.h"

enum flame_kind { FLAME_COMM, FLAME_USER, FLAME_KERNEL, NR_FLAME_KINDS };

struct flame_frame {
	const char *name; /* hostile; the same name of another kind is another frame */
	enum flame_kind kind;
};

enum { FLAME_NAME_MAX = 511 }; /* bytes; longer names are cut */

struct flame_style {
	const char *title, *note; /* hostile; note: a second, smaller line, or NULL */
	enum cell_kind value;	  /* CELL_COUNT, CELL_BYTES or CELL_DURATION */
	const char *unit;	  /* for a count: "I/Os" */
};

struct flame_drawn {
	uint64_t frames;
	uint64_t left_out;	 /* frames too narrow to see */
	uint64_t left_out_value; /* their total value */
};

struct flame;

struct flame *flame__new(void); /* NULL: no memory */
void flame__free(struct flame *flame);

/* Frames from the bottom: comm, user frames from main on, kernel frames. -ENOMEM, -EOVERFLOW. */
int flame__add(struct flame *flame, const struct flame_frame *frames, size_t nr, uint64_t value);
/*
 * As flame__add, in steps, for callers with a tree: a frame on top of another, and the value that
 * ends there. FLAME_ROOT is at the bottom. FLAME_NOBODY: no memory. -EOVERFLOW.
 */
enum { FLAME_ROOT = 0, FLAME_NOBODY = UINT32_MAX };
uint32_t flame__enter(struct flame *flame, uint32_t below, const struct flame_frame *frame);
int flame__add_to(struct flame *flame, uint32_t frame, uint64_t value);
uint64_t flame__total(const struct flame *flame);

/*
 * The same stacks give the same bytes, in any order of input. -ENOMEM; the caller checks the stream
 * for write errors.
 *	fio;main;read;[kernel];vfs_read 1234
 * In a folded line ';' would end a frame: it becomes ':'.
 */
int flame__write_folded(struct flame *flame, FILE *out);
int flame__write_svg(struct flame *flame, const struct flame_style *style, FILE *out,
		     struct flame_drawn *drawn);

#endif
