/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/log.h"

/* The initial time namespace, PROC_TIME_INIT_INO in the kernel: it has no offsets. */
static const char clock_first[] = "time:[4026531834]";

static struct clock_offsets clock_offsets; /* of this process, which never changes its namespace */

static uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t clock__mono_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC) - (uint64_t)clock_offsets.mono_ns;
}

uint64_t clock__boot_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME) - (uint64_t)clock_offsets.boot_ns;
}

uint64_t clock__wall_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

uint64_t clock__cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* "monotonic -2000 0": seconds, then nanoseconds to add. 5.6 writes a number, not the name. */
void clock_offsets__parse(struct clock_offsets *offsets, const char *text)
{
	long long seconds, ns;
	char name[16];

	*offsets = (struct clock_offsets){ 0 };
	for (; text && *text; text = strchr(text, '\n'), text = text ? text + 1 : NULL) {
		if (sscanf(text, "%15s %lld %lld", name, &seconds, &ns) != 3)
			continue;
		if (!strcmp(name, "monotonic") || !strcmp(name, "1"))
			offsets->mono_ns = seconds * 1000000000 + ns;
		if (!strcmp(name, "boottime") || !strcmp(name, "7"))
			offsets->boot_ns = seconds * 1000000000 + ns;
	}
}

/* False: this kernel has no time namespaces, or hides them. */
static bool clock_read_link(const char *path, char name[64])
{
	ssize_t len = readlink(path, name, 63);

	name[len < 0 ? 0 : len] = 0;
	return len > 0;
}

/* The file shows the children's offsets: they are ours only if the namespace is the same. */
int clock__look(void)
{
	char own[64], childrens[64], text[256];
	FILE *in;
	size_t len;

	clock_offsets = (struct clock_offsets){ 0 };
	if (!clock_read_link("/proc/self/ns/time", own) || !strcmp(own, clock_first))
		return 0;
	if (!clock_read_link("/proc/self/ns/time_for_children", childrens) ||
	    strcmp(own, childrens))
		return log_err(-EIO,
			       "this process and its children are in different time namespaces; "
			       "start a shell as such a child and run iosonar in it");
	in = fopen("/proc/self/timens_offsets", "re");
	if (!in)
		return log_err(-EIO, "cannot read /proc/self/timens_offsets: %s", strerror(errno));
	len = fread(text, 1, sizeof(text) - 1, in);
	text[len] = 0;
	fclose(in);
	clock_offsets__parse(&clock_offsets, text);
	return 0;
}
