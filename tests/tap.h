/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tap.h: a unit test is a main that calls ok() and ends with done_testing(). `prove` reads it.
 *	ok(x == 3, "three times one");		is_u64(got, 3, "the same, and prints both");
 */
#ifndef IOSONAR_TESTS_TAP_H
#define IOSONAR_TESTS_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int tap_nr, tap_failed;

__attribute__((format(printf, 2, 3), unused)) static bool ok(bool good, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("%sok %d - ", good ? "" : "not ", ++tap_nr);
	vprintf(fmt, args);
	putchar('\n');
	va_end(args);
	tap_failed += !good;
	return good;
}

__attribute__((unused)) static bool is_u64(uint64_t got, uint64_t want, const char *what)
{
	bool good = ok(got == want, "%s", what);

	if (!good)
		printf("# got %" PRIu64 ", want %" PRIu64 "\n", got, want);
	return good;
}

__attribute__((unused)) static bool is_str(const char *got, const char *want, const char *what)
{
	bool good = ok(got && want && !strcmp(got, want), "%s", what);

	if (!good)
		printf("# got  '%s'\n# want '%s'\n", got ? got : "(null)", want ? want : "(null)");
	return good;
}

__attribute__((unused)) static int done_testing(void)
{
	printf("1..%d\n", tap_nr);
	return tap_failed != 0;
}

#endif
