/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * number.c: how is a number shown? Rounds as printf rounds the double nearest to the value, but in
 * integers: a trace prints millions of lines a second. Cases that integers cannot decide (beyond
 * 2^53, a real near a tie) are left to printf.
 */
#include "decode/number.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "decode/column.h"

static const uint64_t number_exact = 1ULL << 53; /* below, every integer is a double */

const char number_pairs[] = "00010203040506070809101112131415161718192021222324"
			    "25262728293031323334353637383940414243444546474849"
			    "50515253545556575859606162636465666768697071727374"
			    "75767778798081828384858687888990919293949596979899";

const uint64_t number_powers[] = {
	0, /* not 1: 0 has a digit, too many for a column of width 0 */
	10,
	100,
	1000,
	10000,
	100000,
	1000000,
	10000000,
	100000000,
	1000000000,
	10000000000,
	100000000000,
	1000000000000,
	10000000000000,
	100000000000000,
	1000000000000000,
	10000000000000000,
	100000000000000000,
	1000000000000000000,
	10000000000000000000ULL,
};

static char *number_align(char *at, size_t width, const char *words, size_t len)
{
	char *end = width > len ? number__blank(at, width) : at + len;

	memcpy(end - len, words, len);
	return end;
}

/* ---- durations ---- */

/* Three significant digits in the largest unit that leaves one before the point. */
static const struct number_scale {
	uint64_t below; /* 9.995us, not 10us: it would print as 10.00us */
	uint64_t step;	/* worth of the last digit */
	uint64_t unit;
	unsigned int decimals;
	char name[4];
} number_scales[] = {
	{ 9995, 10, 1000, 2, "us" },
	{ 99950, 100, 1000, 1, "us" },
	{ 999500, 1000, 1000, 0, "us" },
	{ 9995000, 10000, 1000000, 2, "ms" },
	{ 99950000, 100000, 1000000, 1, "ms" },
	{ 999500000, 1000000, 1000000, 0, "ms" },
	{ 9995000000, 10000000, 1000000000, 2, "s" },
	{ 99950000000, 100000000, 1000000000, 1, "s" },
	{ UINT64_MAX, 1000000000, 1000000000, 0, "s" },
};

/*
 * 1.005us is a tie, but the nearest double is just below: printf prints 1.00us. So the double's own
 * fraction is compared with n/unit: above or below it, or even if equal.
 */
static __attribute__((noinline)) bool number_tie_is_up(uint64_t n, uint64_t unit, uint64_t digits)
{
	const uint64_t hidden = 1ULL << 52;
	double v = (double)n / (double)unit;
	unsigned __int128 is, tie;
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	is = (unsigned __int128)(hidden | (bits & (hidden - 1))) * unit;
	tie = (unsigned __int128)n << (1075 - (bits >> 52)); /* 1 <= v < 2^52 */
	return is == tie ? digits & 1 : is > tie;
}

static uint64_t number_round(uint64_t ns, const struct number_scale *scale)
{
	uint64_t digits = ns / scale->step, twice = ns % scale->step * 2;

	if (twice == scale->step)
		return digits + number_tie_is_up(ns, scale->unit, digits);
	return digits + (twice > scale->step);
}

/* "1.23" or "12.3". */
static inline void number_write_three(char *end, uint64_t n, unsigned int decimals)
{
	const char *pair = &number_pairs[n % 100 * 2];

	end[-4] = (char)('0' + n / 100);
	end[-3] = decimals == 2 ? '.' : pair[0];
	end[-2] = decimals == 2 ? pair[0] : '.';
	end[-1] = pair[1];
}

static __attribute__((noinline)) char *number_huge_duration(char *at, size_t width, uint64_t ns)
{
	char words[32];
	int len = snprintf(words, sizeof(words), "%.0fs", (double)ns / 1e9);

	return number_align(at, width, words, (size_t)len);
}

static inline void number_write_ns(char *end, uint64_t ns)
{
	number__write(end - 2, ns);
	end[-2] = 'n';
	end[-1] = 's';
}

/* Below number_exact. First the unit, where most values agree, then its digits without a branch. */
static inline const struct number_scale *number_scale_of(uint64_t ns)
{
	const struct number_scale *scale = number_scales;

	while (ns >= scale[2].below)
		scale += 3;
	return scale + (ns >= scale[0].below) + (ns >= scale[1].below);
}

static inline size_t number_unit_len(const struct number_scale *scale)
{
	return scale->unit < 1000000000 ? 2 : 1;
}

/* n: in units of the scale's last digit. */
static inline void number_write_scaled(char *end, uint64_t n, const struct number_scale *scale)
{
	size_t len = number_unit_len(scale);

	end[-1] = 's';
	end[-2] = scale->name[0]; /* without a prefix, digits overwrite this 's' */
	if (scale->decimals)
		number_write_three(end - len, n, scale->decimals);
	else
		number__write(end - len, n);
}

void number__write_duration(char *end, uint64_t ns)
{
	const struct number_scale *scale = number_scale_of(ns);

	if (ns < 1000)
		number_write_ns(end, ns);
	else
		number_write_scaled(end, number_round(ns, scale), scale);
}

char *number__duration(char *at, size_t width, uint64_t ns)
{
	const struct number_scale *scale;
	uint64_t n;
	char *end;

	if (ns < 1000) {
		end = number__end(at, width, ns, 2);
		number_write_ns(end, ns);
		return end;
	}
	if (ns >= number_exact)
		return number_huge_duration(at, width, ns);
	scale = number_scale_of(ns);
	n = number_round(ns, scale);
	end = number__end(at, width, n, number_unit_len(scale) + !!scale->decimals);
	number_write_scaled(end, n, scale);
	return end;
}

/* ---- sizes ---- */

static __attribute__((noinline)) char *number_huge_bytes(char *at, size_t width, uint64_t bytes)
{
	double v = (double)bytes / (1ULL << 50);
	const char *unit = "Pi";
	char words[32];
	int len;

	if (v >= 1023.95) {
		v /= 1024;
		unit = "Ei";
	}
	len = snprintf(words, sizeof(words), "%.1f%s", v, unit);
	return number_align(at, width, words, (size_t)len);
}

char *number__bytes(char *at, size_t width, uint64_t bytes)
{
	/* 1023.95 of a unit would print as 1024.0 */
	static const uint64_t below[] = { 1048525, 1073689396, 1099457940685, 1125844931261236,
					  UINT64_MAX };
	unsigned int unit = 0, shift;
	uint64_t n, rest, half;
	char *end;

	if (bytes < 1024)
		return number__count(at, width, bytes);
	if (bytes >= number_exact)
		return number_huge_bytes(at, width, bytes);
	while (bytes >= below[unit])
		unit++;
	shift = 10 * unit + 10;
	half = 1ULL << (shift - 1);
	n = bytes * 10 >> shift;
	rest = (bytes * 10) & (2 * half - 1);
	n += rest > half || (rest == half && (n & 1));
	end = number__end(at, width, n / 10, 4);
	number__write(end - 4, n / 10);
	end[-4] = '.';
	end[-3] = (char)('0' + n % 10);
	end[-2] = "KMGTP"[unit];
	end[-1] = 'i';
	return end;
}

/* ---- seconds and reals ---- */

static inline void number_write_four(char *end, uint32_t n)
{
	memcpy(end - 4, &number_pairs[n / 100 * 2], 2);
	memcpy(end - 2, &number_pairs[n % 100 * 2], 2);
}

static inline void number_write_time(char *end, uint64_t s, uint32_t part)
{
	number__write(end - 10, s);
	end[-10] = '.';
	end[-9] = (char)('0' + part / 100000000);
	number_write_four(end - 4, part / 10000 % 10000);
	number_write_four(end, part % 10000);
}

void number__write_time(char *end, uint64_t ns)
{
	number_write_time(end, ns / 1000000000, (uint32_t)(ns % 1000000000));
}

char *number__time(char *at, size_t width, uint64_t ns)
{
	uint64_t s = ns / 1000000000;
	char *end = number__end(at, width, s, 10);

	number_write_time(end, s, (uint32_t)(ns % 1000000000));
	return end;
}

static __attribute__((noinline)) char *number_printf(char *at, size_t width, double real,
						     unsigned int decimals)
{
	char words[NUMBER_ROOM];
	int len = snprintf(words, sizeof(words), "%.*f", (int)decimals, real);

	return number_align(at, width, words, (size_t)len);
}

char *number__fixed(char *at, size_t width, double real, unsigned int decimals)
{
	static const uint64_t powers[] = { 1, 10, 100, 1000 };
	uint64_t whole, part;
	double rest;
	char *end;

	if (!(real >= 0 && real < 1e9) || __builtin_signbit(real))
		return number_printf(at, width, real, decimals);
	whole = (uint64_t)real;
	rest = (real - (double)whole) * (double)powers[decimals]; /* off by 1e-13 at most */
	part = (uint64_t)rest;
	rest -= (double)part;
	if (rest > 0.499999 && rest < 0.500001)
		return number_printf(at, width, real, decimals);
	part += rest > 0.5;
	whole += part == powers[decimals];
	part = part == powers[decimals] ? 0 : part;
	end = number__end(at, width, whole, decimals + !!decimals);
	number__write(end - decimals - !!decimals, whole);
	for (char *digit = end; digit > end - decimals; part /= 10)
		*--digit = (char)('0' + part % 10);
	if (decimals)
		end[-1 - (int)decimals] = '.';
	return end;
}

char *number__real(char *at, double real)
{
	char *end;

	if (real >= 1e15 || real <= -1e15)
		return at + snprintf(at, NUMBER_ROOM, "%.17g", real);
	end = number__fixed(at, 0, real, 3);
	while (end[-1] == '0')
		end--;
	if (end[-1] == '.')
		end--;
	if (end - at != 2 || memcmp(at, "-0", 2) != 0)
		return end;
	*at = '0';
	return at + 1;
}

char *number__exact(char *at, double real)
{
	int len = 0;

	for (int digits = 15; digits <= 17; digits++) {
		len = snprintf(at, NUMBER_ROOM, "%.*g", digits, real);
		if (strtod(at, NULL) == real)
			break;
	}
	return at + len;
}

/* "12.3k": three significant digits, as for a duration. */
static char *number_put_thousands(char *at, double per_s)
{
	static const double factors[] = { 1e3, 1e6, 1e9, 1e12 };
	double v = per_s / factors[0];
	unsigned int i = 0;

	while (i < 3 && v >= 999.5)
		v = per_s / factors[++i];
	at = number__fixed(at, 0, v, v < 9.995 ? 2 : v < 99.95 ? 1 : 0);
	*at = "kMGT"[i];
	return at + 1;
}

char *number__rate(char *at, size_t width, double per_s)
{
	char words[2 * NUMBER_ROOM], *end = words;

	if (!__builtin_isfinite(per_s))
		*end++ = '-';
	else if (per_s >= 1e15)
		end += snprintf(words, sizeof(words), "%.2e", per_s);
	else if (per_s >= 999.5)
		end = number_put_thousands(words, per_s);
	else
		end = number__fixed(words, 0, per_s, per_s < 99.95 ? 1 : 0);
	return number_align(at, width, words, (size_t)(end - words));
}

/* ---- as strings ---- */

/* A prefix of the text if it does not fit. */
static char *number_string(char *buf, size_t size, const char *words, const char *end)
{
	size_t len = (size_t)(end - words);

	if (!size)
		return buf;
	len = len < size ? len : size - 1;
	memcpy(buf, words, len);
	buf[len] = '\0';
	return buf;
}

char *text__duration(char *buf, size_t size, uint64_t ns)
{
	char words[NUMBER_ROOM];

	return number_string(buf, size, words, number__duration(words, 0, ns));
}

char *text__bytes(char *buf, size_t size, uint64_t bytes)
{
	char words[NUMBER_ROOM];

	return number_string(buf, size, words, number__bytes(words, 0, bytes));
}

char *text__rate(char *buf, size_t size, double per_s)
{
	char words[2 * NUMBER_ROOM];

	return number_string(buf, size, words, number__rate(words, 0, per_s));
}

/* ---- wall clock ---- */

static bool number_wall_begin(struct number_wall *wall, uint64_t second)
{
	time_t s = (time_t)second;
	struct tm tm;

	if (wall->len && wall->second == second)
		return true;
	if (!gmtime_r(&s, &tm))
		return false;
	wall->second = second;
	wall->len = strftime(wall->text, 36, "%Y-%m-%dT%H:%M:%S.", &tm);
	return wall->len;
}

const char *number__wall(struct number_wall *wall, uint64_t real_ns, size_t digits)
{
	uint64_t rest = real_ns % 1000000000;
	char *end;

	if (!real_ns || !number_wall_begin(wall, real_ns / 1000000000))
		return NULL;
	end = wall->text + wall->len + digits;
	memset(wall->text + wall->len, '0', digits);
	number__write(end, digits == 9 ? rest : rest / number_powers[9 - digits]);
	memcpy(end, "Z", 2);
	return wall->text;
}
