/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * residency.c: is a file cut into parts that cover it, does the map show what is there, and does
 * the kernel say of a file what fadvise(2) made of it?
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "collect/residency.h"
#include "tap.h"

enum { PAGE = 4096 };

static void test_parts(void)
{
	static const uint64_t sizes[] = {
		1,	 PAGE,	    PAGE + 1,	  47 * PAGE,	    48 * PAGE,	49 * PAGE,
		1000003, 97 * PAGE, (1ULL << 40), (1ULL << 40) + 1, 4799 * PAGE
	};
	struct residency r;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t pages = 0;

		residency__plan(&r, sizes[i], PAGE);
		for (uint32_t part = 0; part < r.nr_parts; part++)
			pages += residency__part_pages(&r, part);
		ok(pages == r.pages && pages == (sizes[i] + PAGE - 1) / PAGE &&
			   r.nr_parts <= RESIDENCY_PARTS &&
			   residency__part_pages(&r, r.nr_parts - 1),
		   "%" PRIu64 " bytes: %u parts cover its pages", sizes[i], r.nr_parts);
	}
	residency__plan(&r, 0, PAGE);
	ok(!r.nr_parts && residency__percent(&r) == 0, "an empty file has no parts");
}

static void test_map(void)
{
	char map[RESIDENCY_MAP];
	struct residency r;

	residency__plan(&r, 6 * 100 * PAGE * 8ULL, PAGE); /* 48 parts of 100 pages */
	for (int i = 0; i < 5; i++)
		r.part_cached[i] = (const uint64_t[]){ 0, 1, 50, 99, 100 }[i];
	r.cached = 250;
	is_str(residency__map(&r, false, map) + 5, "...........................................",
	       "what is not there");
	map[5] = 0;
	is_str(map, ".-+*#", "one page leaves a mark, and only what is whole looks whole");
	is_str(residency__map(&r, true, map), "·░▒▓█···········································",
	       "in UTF-8");
	ok(residency__percent(&r) > 5.2 && residency__percent(&r) < 5.21, "250 of 4800 pages");
}

/* On a tmpfs nothing can be dropped; what was written is there, what was skipped is not. */
static void test_kernel(void)
{
	char path[] = "/tmp/iosonar-residency.XXXXXX";
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int fd = mkstemp(path);
	struct residency r;
	char byte = 1;

	ok(fd >= 0 && !ftruncate(fd, (off_t)(96 * page)) &&
		   pwrite(fd, &byte, 1, (off_t)(3 * page)) == 1 &&
		   pwrite(fd, &byte, 1, (off_t)(95 * page)) == 1,
	   "a file with two pages in it");
	ok(!residency__read(&r, path), "can be looked at");
	is_u64(r.pages, 96, "has 96");
	is_u64(r.cached, 2, "of which two are cached");
	is_u64(r.part_cached[1], 1, "one in its second part");
	is_u64(r.part_cached[47], 1, "one in its last");
	close(fd);
	unlink(path);
	ok(residency__read(&r, path) == -EINVAL, "a file that is not there is wrong usage");
	ok(residency__read(&r, "/tmp") == -EINVAL, "so is a directory");
	ok(residency__read(&r, "/dev/null") == -EINVAL, "and a device without pages");
}

int main(void)
{
	test_parts();
	test_map();
	test_kernel();
	return done_testing();
}
