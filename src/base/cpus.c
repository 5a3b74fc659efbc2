/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/cpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "3" or "0-3" at *list; false: neither. */
static bool cpus_range(const char **list, unsigned long *from, unsigned long *to)
{
	char *end;

	*from = *to = strtoul(*list, &end, 10);
	if (end == *list || **list == '-')
		return false;
	if (*end == '-') {
		const char *second = end + 1;

		*to = strtoul(second, &end, 10);
		if (end == second || *second == '-')
			return false;
	}
	*list = end;
	return true;
}

uint32_t cpus__parse(const char *list, bool *is_online, uint32_t nr)
{
	unsigned long from, to;
	uint32_t nr_online = 0;

	memset(is_online, 0, nr * sizeof(*is_online));
	while (cpus_range(&list, &from, &to)) {
		for (; from <= to && from < nr; from++) {
			nr_online += !is_online[from];
			is_online[from] = true;
		}
		if (*list++ != ',')
			return list[-1] == '\0' || list[-1] == '\n' ? nr_online : 0;
	}
	return 0;
}

uint32_t cpus__online(bool *is_online, uint32_t nr)
{
	FILE *in = fopen("/sys/devices/system/cpu/online", "re");
	uint32_t nr_online = 0;
	char list[4096];

	if (in && fgets(list, sizeof(list), in))
		nr_online = cpus__parse(list, is_online, nr);
	if (in)
		fclose(in);
	if (nr_online)
		return nr_online;
	memset(is_online, true, nr * sizeof(*is_online));
	return nr;
}

uint32_t cpus__ring_bytes(uint64_t wanted, uint64_t most, uint32_t nr_online)
{
	uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE), each = most / nr_online;

	if (wanted > each)
		wanted = each < CPUS_RING_LEAST ? CPUS_RING_LEAST : each;
	while (size < wanted && size < 1u << 30)
		size *= 2;
	/* Rounded up, all together would be above. */
	while (size > each && size > CPUS_RING_LEAST && size > (uint64_t)sysconf(_SC_PAGESIZE))
		size /= 2;
	return (uint32_t)size;
}
