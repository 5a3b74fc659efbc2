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

/*
 * The search for leaks takes 4 s on arm64, at the end of every program. So it is made only where
 * more is allocated at the end than was at the beginning: nothing else can be a leak.
 */
#ifdef __SANITIZE_ADDRESS__
#define TAP_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TAP_SANITIZED 1
#endif
#endif

#ifdef TAP_SANITIZED
/* Of the sanitizers; gcc brings only some of their headers. */
size_t __sanitizer_get_current_allocated_bytes(void);
int __lsan_do_recoverable_leak_check(void);
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "leak_check_at_exit=0";
}

static size_t tap_allocated;

__attribute__((constructor)) static void tap_begin(void)
{
	static char buffer[BUFSIZ];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer)); /* else the first line allocates one */
	tap_allocated = __sanitizer_get_current_allocated_bytes();
}

static bool tap_leaks(void)
{
	return __sanitizer_get_current_allocated_bytes() > tap_allocated &&
	       __lsan_do_recoverable_leak_check();
}
#else
static bool tap_leaks(void)
{
	return false;
}
#endif

__attribute__((unused)) static int done_testing(void)
{
	printf("1..%d\n", tap_nr);
	fflush(stdout);
	return tap_failed != 0 || tap_leaks();
}

#endif
