/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eh_frame.h: the functions that a section .eh_frame describes, one by one, with the instructions
 * that describe them (call_frame.h runs those). The section is hostile: nothing is read outside of
 * it. An entry that is not understood is skipped; so is one whose addresses are encoded relative to
 * a base that no Linux compiler uses.
 */
#ifndef IOSONAR_SYMBOL_EH_FRAME_H
#define IOSONAR_SYMBOL_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that are read one after the other; reading past the end sets failed and gives 0. */
struct eh_bytes {
	const uint8_t *at, *end;
	bool failed;
};

uint64_t eh_bytes__number(struct eh_bytes *bytes, size_t size); /* little-endian, 1 to 8 bytes */
uint64_t eh_bytes__uleb(struct eh_bytes *bytes);
int64_t eh_bytes__sleb(struct eh_bytes *bytes);
const uint8_t *eh_bytes__skip(struct eh_bytes *bytes, uint64_t size); /* NULL: failed */

struct eh_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t vaddr;
};

/* What functions have in common. */
struct eh_cie {
	size_t at; /* in the section */
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_reg;
	bool is_signal; /* a signal's frame */
	bool has_sizes; /* of augmentation data */
	uint8_t encoding;
	struct eh_bytes program;
};

struct eh_fde {
	const struct eh_cie *cie;
	uint64_t start, end; /* vaddrs */
	struct eh_bytes program;
};

/* An encoded address; pointers of the section are relative to themselves. */
uint64_t eh_section__pointer(const struct eh_section *section, struct eh_bytes *bytes,
			     uint8_t encoding);

/* Stops at an error of visit and returns it. */
typedef int (*eh_fde_fn)(void *arg, const struct eh_fde *fde);
int eh_section__visit(const struct eh_section *section, eh_fde_fn visit, void *arg);

#endif
