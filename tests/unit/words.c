/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * words.c: is every number written right, and every text cut where the buffer ends? printf is the
 * second instrument; a heap buffer of exactly the size lets ASan see one byte too many.
 */
#include "decode/words.h"

#include <stdlib.h>
#include "tap.h"

static void check_u64(void)
{
	char got[64], want[64];
	bool good = true;

	for (int shift = 0; shift < 64; shift++) {
		for (int off = -2; off <= 2; off++) {
			uint64_t value = (1ULL << shift) + (uint64_t)off;
			struct words w = words__on(got, sizeof(got));

			words__u64(&w, value);
			words__char(&w, ' ');
			words__hex(&w, value, 1);
			words__char(&w, ' ');
			words__i64(&w, (int64_t)value);
			snprintf(want, sizeof(want), "%" PRIu64 " 0x%" PRIx64 " %" PRId64, value,
				 value, (int64_t)value);
			good = good && !strcmp(words__done(&w), want);
		}
	}
	ok(good, "decimal, hexadecimal and signed numbers are printf's, around every power of two");
}

static const struct {
	uint64_t value;
	const char *size, *duration;
} units[] = {
	{ 0, "0", "0s" },
	{ 1, "1", "1ns" },
	{ 512, "512", "512ns" },
	{ 1000, "1000", "1us" },
	{ 1024, "1Ki", "1024ns" },
	{ 1536, "1536", "1536ns" },
	{ 4096, "4Ki", "4096ns" },
	{ 100000, "100000", "100us" },
	{ 1 << 20, "1Mi", "1048576ns" },
	{ 3 << 19, "1536Ki", "1572864ns" },
	{ 1500000000, "1500000000", "1500ms" },
	{ 120000000000, "117187500Ki", "120s" },
	{ 1ULL << 30, "1Gi", "1073741824ns" },
	{ 1ULL << 40, "1Ti", "1099511627776ns" },
	{ 1ULL << 50, "1024Ti", "1125899906842624ns" },
	{ UINT64_MAX, "18446744073709551615", "18446744073709551615ns" },
};

static void check_units(void)
{
	char buf[64];

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		struct words w = words__on(buf, sizeof(buf));

		words__size(&w, units[i].value);
		is_str(words__done(&w), units[i].size, units[i].size);
		w = words__on(buf, sizeof(buf));
		words__duration(&w, units[i].value);
		is_str(words__done(&w), units[i].duration, units[i].duration);
	}
}

static void check_hex(void)
{
	char buf[64];
	struct words w = words__on(buf, sizeof(buf));

	words__hex(&w, 0x2a, 4);
	words__space(&w);
	words__hex(&w, 0, 2);
	words__space(&w);
	words__hex(&w, UINT64_MAX, 20);
	is_str(words__done(&w), "0x002a 0x00 0xffffffffffffffff", "leading zeroes as asked for");
}

static void check_gaps(void)
{
	char buf[64];
	struct words w = words__on(buf, sizeof(buf));

	words__space(&w);
	words__item(&w, "fua");
	words__space(&w);
	words__space(&w);
	words__key(&w, "lba");
	words__u64(&w, 7);
	words__item(&w, "lr");
	is_str(words__done(&w), "fua lba=7 lr", "one gap between items, none at the start");
}

/* A bit of everything. */
static void speak(struct words *w)
{
	words__item(w, "read");
	words__key(w, "lba");
	words__u64(w, 12345678901234567890ULL);
	words__key(w, "len");
	words__size(w, 4096);
	words__key(w, "tag");
	words__hex(w, 0xdeadbeef, 8);
	words__key(w, "kato");
	words__duration(w, 120000000000);
	words__key(w, "temp");
	words__i64(w, -273);
}

static void check_cut(void)
{
	char whole[128];
	struct words all = words__on(whole, sizeof(whole));
	size_t len;
	bool good = true;

	speak(&all);
	len = strlen(words__done(&all));
	is_str(whole, "read lba=12345678901234567890 len=4Ki tag=0xdeadbeef kato=120s temp=-273",
	       "a bit of everything");
	for (size_t size = 1; size <= len + 2; size++) {
		char *buf = malloc(size);
		struct words w = words__on(buf, size);
		size_t fits = size - 1 < len ? size - 1 : len;

		speak(&w);
		words__done(&w);
		good = good && strlen(buf) == fits && !strncmp(buf, whole, fits);
		free(buf);
	}
	ok(good, "cut at every size from 1: terminated, and a prefix of the whole");
}

int main(void)
{
	check_u64();
	check_units();
	check_hex();
	check_gaps();
	check_cut();
	return done_testing();
}
