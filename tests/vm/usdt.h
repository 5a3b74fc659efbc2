/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usdt.h: marks in a program for tests of usdt:, as SystemTap's sdt.h leaves them: an instruction
 * that does nothing, and a note in the file that says where it is, and where its arguments lie at
 * that moment. Arguments are ints; the compiler chooses where they are.
 */
#ifndef IOSONAR_TESTS_USDT_H
#define IOSONAR_TESTS_USDT_H

/* desc: pc, base, semaphore, provider, name, arguments. The base is a byte that moves as the code
 * does. */
#define USDT_NOTE(provider, name, semaphore, args)                              \
	"990: nop\n"                                                            \
	".pushsection .note.stapsdt,\"\",\"note\"\n"                            \
	".balign 4\n"                                                           \
	".4byte 992f-991f, 994f-993f, 3\n"                                      \
	"991: .asciz \"stapsdt\"\n"                                             \
	"992: .balign 4\n"                                                      \
	"993: .8byte 990b\n"                                                    \
	".8byte _.stapsdt.base\n"                                               \
	".8byte " semaphore "\n"                                                \
	".asciz \"" provider "\"\n"                                             \
	".asciz \"" name "\"\n"                                                 \
	".asciz \"" args "\"\n"                                                 \
	"994: .balign 4\n"                                                      \
	".popsection\n"                                                         \
	".ifndef _.stapsdt.base\n"                                              \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n"                                                \
	".hidden _.stapsdt.base\n"                                              \
	"_.stapsdt.base: .space 1\n"                                            \
	".size _.stapsdt.base, 1\n"                                             \
	".popsection\n"                                                         \
	".endif\n"

#define USDT_MARK(provider, name) __asm__ volatile(USDT_NOTE(provider, name, "0", ""))
#define USDT_MARK1(provider, name, a) \
	__asm__ volatile(USDT_NOTE(provider, name, "0", "-4@%0") : : "nor"((int)(a)))
#define USDT_MARK2(provider, name, a, b)                               \
	__asm__ volatile(USDT_NOTE(provider, name, "0", "-4@%0 -4@%1") \
			 :                                             \
			 : "nor"((int)(a)), "nor"((int)(b)))
/* A text, and a semaphore: an unsigned short of that name, which is not 0 while somebody listens.
 */
#define USDT_MARK_TEXT(provider, name, semaphore, text) \
	__asm__ volatile(USDT_NOTE(provider, name, #semaphore, "8@%0") : : "nor"(text))
#define USDT_SEMAPHORE(name) __attribute__((section(".probes"))) volatile unsigned short name

#endif
