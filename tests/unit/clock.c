/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.c: the offsets of a time namespace, as the kernel prints them; without one our clocks are
 * those of the process.
 */
#include "base/clock.h"

#include <time.h>
#include <unistd.h>
#include "tap.h"

static void check_offsets(const char *text, int64_t mono_ns, int64_t boot_ns, const char *name)
{
	struct clock_offsets o = { 1, 1 };

	clock_offsets__parse(&o, text);
	is_u64((uint64_t)o.mono_ns, (uint64_t)mono_ns, name);
	is_u64((uint64_t)o.boot_ns, (uint64_t)boot_ns, name);
}

int main(void)
{
	struct timespec ts;
	uint64_t before_ns, now_ns, mono_ns;

	check_offsets("monotonic      -2000         0\nboottime         100         7\n",
		      -2000000000000, 100000000007, "names");
	check_offsets("monotonic  -1 500000000\n", -500000000, 0, "a part of a second is added");
	check_offsets("1 3 0\n7 4 0\n", 3000000000, 4000000000, "numbers");
	check_offsets("", 0, 0, "nothing");
	check_offsets("monotonic x\nboottime", 0, 0, "no numbers");

	ok(!clock__look(), "this process has a clock");
	clock_gettime(CLOCK_REALTIME, &ts);
	before_ns = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	now_ns = clock__wall_ns();
	ok(now_ns >= before_ns && now_ns - before_ns < 10000000000ULL, "the wall clock is now");
	mono_ns = clock__mono_ns();
	ok(clock__boot_ns() >= mono_ns, "since the boot, with sleep and without");

	mono_ns = clock__mono_ns();
	now_ns = clock__cpu_ns();
	usleep(100000);
	ok(2 * (clock__cpu_ns() - now_ns) < clock__mono_ns() - mono_ns, "sleep is no CPU time");
	for (volatile int i = 0; i < 10000000; i++)
		;
	ok(clock__cpu_ns() > now_ns, "work is");
	return done_testing();
}
