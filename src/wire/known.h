/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known.h: stacks of the kernel that a program knows without a walk, by the words that lie at known
 * distances from its context. User space finds these places from copies of the stack.
 */
#ifndef IOSONAR_WIRE_KNOWN_H
#define IOSONAR_WIRE_KNOWN_H

#include <linux/types.h>

enum {
	KNOWN_SETS = 16,   /* a program compares with the stacks of one set */
	KNOWN_STACKS = 12, /* in each, */
	KNOWN_PLACES = 40, /* by at most as many of their words, */
	KNOWN_COPIES = 8,  /* after as many copies of each, */
	KNOWN_WORDS = 320, /* of as many words */
};

/* The return address that lies on the stack as this word. arm64 signs it in its upper bits, which
 * are all ones in addresses of the kernel's functions. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
static inline __u64 known_return_address(__u64 word)
{
	return word | 0xffffULL << 48;
}
#else
static inline __u64 known_return_address(__u64 word)
{
	return word;
}
#endif

/* User space writes it once, and nr last. */
struct known_stack {
	__u64 words[KNOWN_PLACES]; /* none is 0, and none is signed */
	__u16 at[KNOWN_PLACES];	   /* in words; the outermost first */
	__u32 number;
	__u32 nr; /* 0: free */
};

/* What lies on the stack, from the program's context on. */
struct known_copy {
	__u64 words[KNOWN_WORDS];
	__u32 number;
	__u16 nr;
	__u8 set;
	__u8 of_kernel_thread;
};

/* A known stack was walked all the same, and that gave another number. */
struct known_doubt {
	__u32 known, walked;
};

#endif
