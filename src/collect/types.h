/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * types.h: the kernel's types that an object of BPF programs names, and what these contain. For
 * each type that a program names, libbpf compares the names of all types of the kernel, more than
 * 100,000: half of the time that a start took. From a file with these alone it reads the same.
 */
#ifndef IOSONAR_COLLECT_TYPES_H
#define IOSONAR_COLLECT_TYPES_H

struct btf;

struct types {
	int fd; /* of a file in memory; -1: there is none */
	char path[32];
};

/*
 * A file for btf_custom_path. It has to be filled before the object is loaded, when its own types
 * are known. Where no such file can be made, the path is kernel__types_path().
 */
const char *types__open(struct types *types);
/* All types of the kernel, if a part of them would not do. 0 or -errno. */
int types__fill(const struct types *types, const struct btf *kernel, const struct btf *programs);
void types__close(struct types *types);

#endif
