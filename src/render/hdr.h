/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hdr.h: a distribution as HdrHistogram keeps it, three significant digits from 1 ns to a day, and
 * a log of such histograms, version 1.3: a line for each interval and tag, encoded V2, deflated, in
 * base64. Memory: 8 KiB for each octave that holds a value.
 */
#ifndef IOSONAR_RENDER_HDR_H
#define IOSONAR_RENDER_HDR_H

#include <stdint.h>
#include <stdio.h>

#define HDR_HIGHEST 86400000000000ULL /* a day in ns: larger values count as this */

struct hdr;

struct hdr *hdr__new(void); /* NULL: no memory */
void hdr__free(struct hdr *hdr);
int hdr__add(struct hdr *hdr, uint64_t ns); /* -ENOMEM */
uint64_t hdr__count(const struct hdr *hdr);
void hdr__clear(struct hdr *hdr);

/* ---- the log ---- */

struct hdr_interval {
	double start_s, length_s; /* since the base */
	const char *tag;	  /* hostile; characters that would end it become %XX */
};

/* base_ns: wall clock that all intervals are relative to; 0: not known. */
void hdr_log__begin(FILE *out, const char *program, uint64_t base_ns);
int hdr_log__put(FILE *out, const struct hdr_interval *interval, const struct hdr *hdr); /* -ENOMEM
											  */

#endif
