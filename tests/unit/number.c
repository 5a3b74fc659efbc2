/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * number.c: are numbers, worked out in integers, what printf made of them? Millions of random
 * values of every magnitude, and the neighbours of every rounding, against the functions with
 * printf that these replaced; alignment in every width.
 */
#include <stdlib.h>
#include "decode/column.h"
#include "decode/number.h"
#include "tap.h"

/* ---- as they were ---- */

struct old_unit {
	double factor;
	const char *name;
};

static void old_three_digits(char *buf, size_t size, double value, const struct old_unit *units,
			     size_t nr)
{
	double v = value / units[0].factor;
	size_t i = 0;

	while (i + 1 < nr && v >= 999.5)
		v = value / units[++i].factor;
	snprintf(buf, size, "%.*f%s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[i].name);
}

static void old_duration(char *buf, size_t size, uint64_t ns)
{
	static const struct old_unit units[] = { { 1e3, "us" }, { 1e6, "ms" }, { 1e9, "s" } };

	if (ns >= 1000)
		old_three_digits(buf, size, (double)ns, units, 3);
	else
		snprintf(buf, size, "%uns", (unsigned int)ns);
}

static void old_bytes(char *buf, size_t size, uint64_t bytes)
{
	double v = (double)bytes / 1024;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(buf, size, "%u", (unsigned int)bytes);
		return;
	}
	for (; v >= 1023.95; v /= 1024)
		i++;
	snprintf(buf, size, "%.1f%ci", v, "KMGTPE"[i]);
}

static void old_count(char *buf, size_t size, uint64_t n)
{
	snprintf(buf, size, "%" PRIu64, n);
}

static void old_time(char *buf, size_t size, uint64_t ns)
{
	snprintf(buf, size, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

static void old_rate(char *buf, size_t size, double per_s)
{
	static const struct old_unit units[] = {
		{ 1e3, "k" }, { 1e6, "M" }, { 1e9, "G" }, { 1e12, "T" }
	};

	if (!__builtin_isfinite(per_s))
		snprintf(buf, size, "-");
	else if (per_s >= 999.5 && per_s < 1e15)
		old_three_digits(buf, size, per_s, units, 4);
	else if (per_s >= 1e15)
		snprintf(buf, size, "%.2e", per_s);
	else
		snprintf(buf, size, "%.*f", per_s < 99.95 ? 1 : 0, per_s);
}

static void old_real(char *buf, size_t size, double real)
{
	char *end;

	if (real >= 1e15 || real <= -1e15) {
		snprintf(buf, size, "%.17g", real);
		return;
	}
	snprintf(buf, size, "%.3f", real);
	end = buf + strlen(buf);
	while (end[-1] == '0')
		end--;
	if (end[-1] == '.')
		end--;
	*end = '\0';
	if (!strcmp(buf, "-0"))
		strcpy(buf, "0");
}

/* ---- compared ---- */

static uint64_t random_state = 88172645463325252;

static uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Every magnitude as often as another. */
static uint64_t random_magnitude(void)
{
	uint64_t bits = random_u64();

	return bits >> (random_u64() & 63);
}

typedef char *(*new_fn)(char *at, size_t width, uint64_t n);
typedef void (*old_fn)(char *buf, size_t size, uint64_t n);

static bool is_same(new_fn now, old_fn before, uint64_t n)
{
	char got[NUMBER_ROOM + 64], want[64], aligned[128];
	size_t width = n % 23;

	before(want, sizeof(want), n);
	*now(got, 0, n) = '\0';
	if (strcmp(got, want)) {
		printf("# %" PRIu64 ": got '%s', want '%s'\n", n, got, want);
		return false;
	}
	snprintf(aligned, sizeof(aligned), "%*s", (int)width, want);
	*now(got, width, n) = '\0';
	if (strcmp(got, aligned))
		printf("# %" PRIu64 ": got '%s', want '%s'\n", n, got, aligned);
	return !strcmp(got, aligned);
}

/* Three numbers at and beside n. */
static bool is_same_around(new_fn now, old_fn before, uint64_t n)
{
	return is_same(now, before, n - 1) && is_same(now, before, n) &&
	       is_same(now, before, n + 1);
}

/* Where a unit or the number of decimals changes, and halves of the last digit, in every unit. */
static bool is_same_at_edges(new_fn now, old_fn before)
{
	static const uint64_t edges[] = { 1, 9995, 99950, 999500, 1000, 1023, 102395, 1048525 };
	bool good = true;

	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		for (uint64_t n = edges[i]; n < UINT64_MAX / 10; n *= 10)
			good = good && is_same_around(now, before, n);
		for (uint64_t n = edges[i]; n < UINT64_MAX / 1024; n *= 1024)
			good = good && is_same_around(now, before, n);
	}
	for (int shift = 0; shift < 64; shift++)
		good = good && is_same_around(now, before, 1ULL << shift);
	return good && is_same_around(now, before, UINT64_MAX);
}

static bool is_same_at_ties(new_fn now, old_fn before)
{
	bool good = true;

	for (uint64_t n = 0; good && n < 1000; n++)
		for (uint64_t step = 5; good && step < 1000000000000; step *= 10)
			good = is_same(now, before, (2 * n + 1) * step);
	/* a size in sixteenths of a unit has every tie of its one decimal */
	for (uint64_t n = 0; good && n < 1024 * 20; n += 1 + n / 1024)
		for (int shift = 0; good && shift < 50; shift += 10)
			good = is_same(now, before, ((n * 1024) / 20) << shift) &&
			       is_same(now, before, n << shift);
	return good;
}

static void check_whole(new_fn now, old_fn before, int nr, const char *what)
{
	bool good = true;

	for (int i = 0; good && i < nr; i++)
		good = is_same(now, before, random_magnitude());
	for (uint64_t n = 0; good && n < 20000; n++)
		good = is_same(now, before, n);
	ok(good, "%s: %d of every magnitude", what, nr);
	ok(is_same_at_edges(now, before), "%s: where unit and decimals change", what);
	ok(is_same_at_ties(now, before), "%s: halves of the last digit", what);
}

/* Backwards, into a field of their width that is blank; what does not fit goes the other way. */
static char *duration_backwards(char *at, size_t width, uint64_t ns)
{
	if (ns >= NUMBER_SHORT_NS || width < NUMBER_SHORT)
		return number__duration(at, width, ns);
	memset(at, ' ', width);
	number__write_duration(at + width, ns);
	return at + width;
}

static char *time_backwards(char *at, size_t width, uint64_t ns)
{
	if (width <= 10 || !number__fits(ns / 1000000000, width - 10))
		return number__time(at, width, ns);
	memset(at, ' ', width);
	number__write_time(at + width, ns);
	return at + width;
}

/* ---- reals ---- */

static double random_real(void)
{
	static const double steps[] = { 0.05, 0.005, 0.0005, 0.125, 1 };
	uint64_t bits = random_u64();
	double real;

	switch (bits & 3) {
	case 0: return (double)(bits >> 40) * steps[bits >> 2 & 3]; /* ties, or nearly */
	case 1: return (double)random_magnitude() / 1e6;
	case 2: return -(double)(bits >> 30) / 1e4;
	default:
		memcpy(&real, &bits, sizeof(real));
		return __builtin_isfinite(real) ? real : steps[4];
	}
}

static bool is_same_text(const char *got, const char *want, double real)
{
	if (strcmp(got, want))
		printf("# %.17g: got '%s', want '%s'\n", real, got, want);
	return !strcmp(got, want);
}

static bool is_same_real(double real)
{
	char got[2 * NUMBER_ROOM], want[2 * NUMBER_ROOM];
	bool good = true;

	for (unsigned int decimals = 0; decimals < 4; decimals++) {
		snprintf(want, sizeof(want), "%9.*f", (int)decimals, real);
		*number__fixed(got, 9, real, decimals) = '\0';
		good = is_same_text(got, want, real) && good;
	}
	old_real(want, sizeof(want), real);
	*number__real(got, real) = '\0';
	good = is_same_text(got, want, real) && good;
	old_rate(want, sizeof(want), real);
	*number__rate(got, 0, real) = '\0';
	return is_same_text(got, want, real) && good;
}

/* The next double away from zero, or towards it. */
static double neighbour(double real, int64_t step)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	bits += (uint64_t)step;
	memcpy(&real, &bits, sizeof(real));
	return real;
}

static void check_reals(void)
{
	static const double edges[] = { 0,	 -0.0,	  0.0004, -0.0004, 0.0005, 0.9995,
					0.99951, 999.5,	  9995,	  99.95,   99950,  999500,
					1e9,	 1e9 - 1, 1e15,	  -1e15,   1e300,  0.05 };
	bool good = true;

	for (int i = 0; good && i < 200000; i++)
		good = is_same_real(random_real());
	ok(good, "reals: 200000 of every kind");
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		good = good && is_same_real(edges[i]) && is_same_real(neighbour(edges[i], 1)) &&
		       is_same_real(edges[i] ? neighbour(edges[i], -1) : 0);
	ok(good, "reals: where something changes");
}

int main(void)
{
	check_whole(number__count, old_count, 100000, "counts");
	check_whole(number__duration, old_duration, 1000000, "durations");
	check_whole(number__bytes, old_bytes, 1000000, "sizes");
	check_whole(number__time, old_time, 100000, "times");
	check_whole(duration_backwards, old_duration, 100000, "durations, backwards");
	check_whole(time_backwards, old_time, 100000, "times, backwards");
	check_reals();
	return done_testing();
}
