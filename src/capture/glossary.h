/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * glossary.h: what numbers in records stand for: the path of a cgroup, the functions of a stack,
 * the path of a file, the name of a disk. The first text of an id wins. Texts are hostile: escape
 * them before they are shown.
 */
#ifndef IOSONAR_CAPTURE_GLOSSARY_H
#define IOSONAR_CAPTURE_GLOSSARY_H

#include <stddef.h>
#include <stdint.h>
#include "base/index.h"

/* In the order of their chunks: see enum capture_type. */
enum glossary_kind {
	GLOSSARY_CGROUPS, /* id, 0: "/system.slice/x.service" */
	GLOSSARY_STACKS,  /* number, pid (the kernel's: 0): "submit_bio;…", innermost first */
	GLOSSARY_FILES,	  /* inode, io_file_place: "/home/a/b" */
	GLOSSARY_DISKS,	  /* device number, 0: "nvme0n1p1" */
	NR_GLOSSARIES,
};

enum { GLOSSARY_MOST = 65536 }; /* further ids have no text */

struct glossary_id {
	uint64_t words[2];
};

struct glossary_entry {
	struct glossary_id id;
	char *text;	       /* NULL: known to have no text */
	struct glossary_id as; /* the owner's: its id elsewhere */
	uint32_t told;	       /* the owner's: where it was written */
};

struct glossary {
	struct glossary_entry *entries; /* as they came */
	size_t nr;
	struct index index;
};

void glossary__free(struct glossary *glossary);
struct glossary_entry *glossary__find(const struct glossary *glossary, struct glossary_id id);
/* Its text, or NULL. */
const char *glossary__text(const struct glossary *glossary, struct glossary_id id);
/* Copies the text. NULL: no memory, or GLOSSARY_MOST entries. Returns the old entry if there is
 * one. */
struct glossary_entry *glossary__add(struct glossary *glossary, struct glossary_id id,
				     const char *text);

#endif
