/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/hdr.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

/*
 * HdrHistogram's layout: 2048 steps of one unit, then 1024 steps of two, of four, and so on: three
 * digits need 2 * 10^3 steps, rounded up to a power of two.
 */
enum {
	HDR_DIGITS = 3,
	HDR_STEPS_LOG2 = 11,
	HDR_HALF_LOG2 = HDR_STEPS_LOG2 - 1,
	HDR_HALF = 1 << HDR_HALF_LOG2,
	HDR_BUCKETS = 37, /* 2^11 << 36 is above HDR_HIGHEST */
	HDR_PAGES = HDR_BUCKETS + 1,
	HDR_COOKIE = 0x1c849303 + 0x10, /* V2, as other writers use */
	HDR_DEFLATED = 0x1c849304 + 0x10,
	HDR_HEAD = 40,
	HDR_COUNT_MOST = 9, /* bytes of one count */
};

struct hdr {
	uint64_t *pages[HDR_PAGES]; /* HDR_HALF counts each; NULL: all 0 */
	uint64_t count, max_ns;
};

struct hdr *hdr__new(void)
{
	return calloc(1, sizeof(struct hdr));
}

void hdr__free(struct hdr *h)
{
	for (size_t i = 0; h && i < HDR_PAGES; i++)
		free(h->pages[i]);
	free(h);
}

void hdr__clear(struct hdr *h)
{
	for (size_t i = 0; i < HDR_PAGES; i++)
		if (h->pages[i])
			memset(h->pages[i], 0, HDR_HALF * sizeof(*h->pages[i]));
	h->count = h->max_ns = 0;
}

static uint32_t hdr_index(uint64_t ns)
{
	uint32_t bucket =
		(uint32_t)(64 - HDR_STEPS_LOG2 - __builtin_clzll(ns | ((1 << HDR_STEPS_LOG2) - 1)));

	return (bucket << HDR_HALF_LOG2) + (uint32_t)(ns >> bucket);
}

int hdr__add(struct hdr *h, uint64_t ns)
{
	uint32_t index = hdr_index(ns < HDR_HIGHEST ? ns : HDR_HIGHEST);
	uint64_t **page = &h->pages[index >> HDR_HALF_LOG2];

	if (!*page)
		*page = calloc(HDR_HALF, sizeof(**page));
	if (!*page)
		return -ENOMEM;
	(*page)[index & (HDR_HALF - 1)]++;
	h->count++;
	h->max_ns = ns > h->max_ns ? ns : h->max_ns;
	return 0;
}

uint64_t hdr__count(const struct hdr *h)
{
	return h->count;
}

/* ---- V2 ---- */

static uint64_t hdr_at(const struct hdr *h, uint32_t index)
{
	const uint64_t *page = h->pages[index >> HDR_HALF_LOG2];

	return page ? page[index & (HDR_HALF - 1)] : 0;
}

static unsigned char *hdr_put_big(unsigned char *at, uint64_t value, size_t bytes)
{
	while (bytes--)
		*at++ = (unsigned char)(value >> 8 * bytes);
	return at;
}

/* Zig-zag, seven bits a byte, the ninth has eight. */
static unsigned char *hdr_put_count(unsigned char *at, int64_t count)
{
	uint64_t value = (uint64_t)count << 1 ^ (uint64_t)(count >> 63);

	for (int i = 0; i < HDR_COUNT_MOST - 1 && value >> 7; i++) {
		*at++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	*at++ = (unsigned char)value;
	return at;
}

/* Counts up to the last nonzero one; a run of zeros becomes one negative number. */
static unsigned char *hdr_put_counts(unsigned char *at, const struct hdr *h)
{
	uint32_t end =
		h->count ? hdr_index(h->max_ns < HDR_HIGHEST ? h->max_ns : HDR_HIGHEST) + 1 : 0;
	uint32_t next;

	for (uint32_t i = 0; i < end; i = next) {
		next = i + 1;
		while (!hdr_at(h, i) && next < end && !hdr_at(h, next))
			next++;
		at = hdr_put_count(at, next - i > 1 ? -(int64_t)(next - i) : (int64_t)hdr_at(h, i));
	}
	return at;
}

/* bytes: room for the worst case. Returns the number of bytes. */
static size_t hdr_encode(const struct hdr *h, unsigned char *bytes)
{
	const double ratio = 1;
	unsigned char *end = hdr_put_counts(bytes + HDR_HEAD, h), *at = bytes;
	uint64_t ratio_bits;

	memcpy(&ratio_bits, &ratio, sizeof(ratio_bits));
	at = hdr_put_big(at, HDR_COOKIE, 4);
	at = hdr_put_big(at, (uint64_t)(end - bytes) - HDR_HEAD, 4);
	at = hdr_put_big(at, 0, 4); /* normalizing index offset */
	at = hdr_put_big(at, HDR_DIGITS, 4);
	at = hdr_put_big(at, 1, 8); /* lowest discernible value */
	at = hdr_put_big(at, HDR_HIGHEST, 8);
	hdr_put_big(at, ratio_bits, 8);
	return (size_t)(end - bytes);
}

/* ---- base64 ---- */

static void hdr_put_base64(FILE *out, const unsigned char *bytes, size_t nr)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";

	for (size_t i = 0; i < nr; i += 3) {
		uint32_t left = nr - i < 3 ? (uint32_t)(nr - i) : 3;
		uint32_t three = (uint32_t)bytes[i] << 16;

		three |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
		three |= left > 2 ? bytes[i + 2] : 0;
		fputc(digits[three >> 18], out);
		fputc(digits[three >> 12 & 63], out);
		fputc(left > 1 ? digits[three >> 6 & 63] : '=', out);
		fputc(left > 2 ? digits[three & 63] : '=', out);
	}
}

static int hdr_put_deflated(FILE *out, const unsigned char *bytes, size_t nr)
{
	uLongf len = compressBound(nr);
	unsigned char *deflated = malloc(8 + len);
	int err = deflated && compress2(deflated + 8, &len, bytes, nr, 6) == Z_OK ? 0 : -ENOMEM;

	if (!err) {
		hdr_put_big(deflated, HDR_DEFLATED, 4);
		hdr_put_big(deflated + 4, len, 4);
		hdr_put_base64(out, deflated, 8 + len);
	}
	free(deflated);
	return err;
}

/* ---- the log ---- */

void hdr_log__begin(FILE *out, const char *program, uint64_t base_ns)
{
	time_t seconds = (time_t)(base_ns / 1000000000);
	char date[48] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fprintf(out, "#[Logged with %s]\n#[Histogram log format version 1.3]\n", program);
	fprintf(out, "#[StartTime: %" PRIu64 ".%03u (seconds since epoch), %s]\n",
		base_ns / 1000000000, (unsigned)(base_ns / 1000000 % 1000), date);
	fprintf(out, "#[BaseTime: %" PRIu64 ".%03u (seconds since epoch)]\n", base_ns / 1000000000,
		(unsigned)(base_ns / 1000000 % 1000));
	fputs("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
	      "\"Interval_Compressed_Histogram\"\n",
	      out);
}

static void hdr_put_tag(FILE *out, const char *tag)
{
	for (; *tag; tag++) {
		unsigned char c = (unsigned char)*tag;

		if (isascii(c) && (isalnum(c) || strchr("._-:", c)))
			fputc(c, out);
		else
			fprintf(out, "%%%02X", c);
	}
}

/* The maximum is in ms, as in every log of ns. */
int hdr_log__put(FILE *out, const struct hdr_interval *interval, const struct hdr *h)
{
	unsigned char *bytes = malloc(HDR_HEAD + (size_t)HDR_PAGES * HDR_HALF * HDR_COUNT_MOST);
	int err;

	if (!bytes)
		return -ENOMEM;
	fputs("Tag=", out);
	hdr_put_tag(out, interval->tag);
	fprintf(out, ",%.3f,%.3f,%.3f,", interval->start_s, interval->length_s,
		(double)h->max_ns / 1e6);
	err = hdr_put_deflated(out, bytes, hdr_encode(h, bytes));
	fputc('\n', out);
	free(bytes);
	return err;
}
