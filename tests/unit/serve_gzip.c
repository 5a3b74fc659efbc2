/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_gzip.c: is the compressed text the text, and does a scrape of 64 devices with 6 operations
 * each keep its limits: less than 2 MB and less than 20 ms of CPU time?
 */
#include "serve/gzip.h"
#include <stdlib.h>
#include <time.h>
#include <zlib.h>
#include "serve/metrics.h"
#include "tap.h"

static struct edges edges;

static char *unzip(const char *bytes, size_t len, size_t room)
{
	char *text = calloc(1, room + 1);
	z_stream z = { .next_in = (Bytef *)bytes, .avail_in = (uInt)len };

	z.next_out = (Bytef *)text;
	z.avail_out = (uInt)room;
	if (inflateInit2(&z, 15 + 16) != Z_OK || inflate(&z, Z_FINISH) != Z_STREAM_END ||
	    z.avail_in)
		*text = 0;
	inflateEnd(&z);
	return text;
}

static void check_text(const char *text, const char *what)
{
	FILE *out = NULL;
	struct gzip *gzip = gzip__new(&out);
	char *bytes = NULL, *again;
	size_t len = 0;

	fputs(text, out);
	ok(!gzip__end(gzip, &bytes, &len), "compressed");
	again = unzip(bytes, len, strlen(text) + 1);
	ok(!strcmp(again, text), "%s is the same again", what);
	free(again);
	free(bytes);
}

static void test_texts(void)
{
	enum { LONG = 1 << 20 };
	char *text = calloc(1, LONG);

	check_text("", "nothing");
	check_text("ok\n", "a line");
	for (size_t i = 0; i + 1 < LONG; i++)
		text[i] = (char)('!' + i * i * 7919 / 13 % 90);
	check_text(text, "a text that does not shrink");
	free(text);
}

/* ---- a scrape ---- */

static bool label(void *arg, const struct io_tags *t, const char *labels[NR_SERIES_LABELS])
{
	static const char *const ops[] = { "read",    "write",	      "flush",
					   "discard", "write-zeroes", "zone-append" };
	static char device[16];

	(void)arg;
	snprintf(device, sizeof(device), "nvme%dn1", t->device);
	labels[SERIES_DEVICE] = device;
	labels[SERIES_MODEL] = "SAMSUNG MZQL21T9HCJR-00A07";
	labels[SERIES_OP] = ops[t->op];
	return true;
}

static void fill(struct series_set *set)
{
	struct hist *part = calloc(1, sizeof(*part));

	for (uint64_t i = 0; i < 20000; i++)
		hist__add(part, 2000 + i * i * i / 100, 4096);
	series_set__begin(set, 0);
	for (int device = 1; device <= 64; device++)
		for (uint8_t op = 0; op < 6; op++)
			series_set__add(set, &(struct io_tags){ .device = device, .op = op }, part);
	series_set__end(set);
	free(part);
}

static void write_page(const struct series_set *set, FILE *out)
{
	static const struct ledger ledger;
	static const struct failures failures;

	metrics__write(&(struct metrics){ set, &ledger, OPENMETRICS_1_0, NULL, &failures }, out);
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Returns the CPU time. */
static double scrape(struct series_set *set, char **bytes, size_t *len)
{
	double begin = cpu_ms();
	FILE *out = NULL;
	struct gzip *gzip;

	fill(set);
	gzip = gzip__new(&out);
	write_page(set, out);
	gzip__end(gzip, bytes, len);
	return cpu_ms() - begin;
}

/* Returns the CPU time of zlib's fastest level alone. */
static double deflated(const char *text, size_t size)
{
	double begin = cpu_ms();
	uLongf len = compressBound(size);
	Bytef *bytes = malloc(len);

	compress2(bytes, &len, (const Bytef *)text, size, Z_BEST_SPEED);
	free(bytes);
	return cpu_ms() - begin;
}

/*
 * The best of ten. A machine that is busy or slow takes longer for what others do in 14 ms. It
 * takes longer for zlib, too, which others do in 13 ms.
 */
static void test_time(struct series_set *set, const char *text, size_t size)
{
	double best = 1e9, zlib = 1e9, took;
	bool is_slow = false;

	for (int i = 0; i < 10; i++) {
		char *bytes = NULL;
		size_t len = 0;

		took = scrape(set, &bytes, &len);
		best = took < best ? took : best;
		free(bytes);
		took = deflated(text, size);
		zlib = took < zlib ? took : zlib;
	}
#ifdef __SANITIZE_ADDRESS__
	is_slow = true;
#endif
	ok(is_slow || best < 20 || best < 1.6 * zlib,
	   "it takes less than 20 ms, or than 1.6 times what zlib does%s: %.1f, zlib %.1f",
	   is_slow ? " (not in this build)" : "", best, zlib);
}

static void test_scrape(void)
{
	struct series_set set = { .most = 2000, .edges = &edges, .label = label };
	char *bytes = NULL, *text = NULL, *again;
	size_t len = 0, size = 0;
	FILE *out;

	edges__init(&edges, EDGES_PER_OCTAVE);
	series_set__init(&set);
	scrape(&set, &bytes, &len);
	out = open_memstream(&text, &size);
	write_page(&set, out);
	fclose(out);
	is_u64(set.nr, 64 * 6 + 1, "64 devices with 6 operations, and `other`");
	again = unzip(bytes, len, size + 1);
	ok(!strcmp(again, text), "a page is the same again");
	ok(len < 2000000, "it has less than 2 MB: %zu, of %zu", len, size);
	test_time(&set, text, size);
	free(again);
	free(bytes);
	free(text);
	series_set__free(&set);
}

int main(void)
{
	test_texts();
	test_scrape();
	return done_testing();
}
