/* SPDX-License-Identifier: BSD-2-Clause */
/* draw.h: numbers that look random, and are the same in every run. */
#ifndef IOSONAR_DRAW_H
#define IOSONAR_DRAW_H

#include <stdint.h>

static uint64_t draw_noise = 88172645463325252ULL;

/* 0 to nr - 1 */
static inline uint64_t draw(uint64_t nr)
{
	draw_noise ^= draw_noise << 13;
	draw_noise ^= draw_noise >> 7;
	draw_noise ^= draw_noise << 17;
	return draw_noise % nr;
}

#endif
