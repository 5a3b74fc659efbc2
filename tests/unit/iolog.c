/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iolog.c: is a log what fio's manual says it is, and can a name break it? That fio replays it is
 * tests/cli/export.bats' to show.
 */
#include <stdlib.h>
#include "render/iolog.h"
#include "render/job.h"
#include "tap.h"

static void test_lines(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	iolog__begin(out);
	iolog__open(out, "/dev/sda");
	iolog__io(out, &(struct iolog_io){ 1, "/dev/sda", IOLOG_READ, 0, 4096 });
	iolog__io(out, &(struct iolog_io){ 7, "/dev/sda", IOLOG_WRITE, 1ULL << 40, 512 });
	iolog__io(out, &(struct iolog_io){ 8, "/dev/sda", IOLOG_TRIM, 8192, 4294966784 });
	iolog__io(out, &(struct iolog_io){ 9, "/dev/sda", IOLOG_SYNC, 0, 0 });
	iolog__close(out, "/dev/sda", 9);
	fclose(out);
	is_str(text,
	       "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n1 /dev/sda read 0 4096\n"
	       "7 /dev/sda write 1099511627776 512\n8 /dev/sda trim 8192 4294966784\n"
	       "9 /dev/sda sync 0 0\n9 /dev/sda close\n",
	       "a file, its actions, its end");
	free(text);
}

static void test_actions(void)
{
	ok(iolog__action("read") == IOLOG_READ, "read");
	ok(iolog__action("write") == IOLOG_WRITE, "write");
	ok(iolog__action("discard") == IOLOG_TRIM, "discard is fio's trim");
	ok(iolog__action("flush") == IOLOG_SYNC, "flush is fio's sync");
	ok(iolog__action("zone-append") == NR_IOLOG_ACTIONS, "an append has no place");
	ok(iolog__action("read\n0 /etc/passwd add") == NR_IOLOG_ACTIONS, "nothing else");
}

static void test_paths(void)
{
	char path[JOB_PATH];

	ok(job__path("nvme0n1", path), "a plain name");
	is_str(path, "/dev/nvme0n1", "is below /dev");
	ok(job__path("nvme0c1n1", path), "a path of a multipath head");
	is_str(path, "/dev/nvme0n1", "is the head");
	ok(job__path("cciss!c0d0", path), "a name with a slash");
	is_str(path, "/dev/cciss/c0d0", "has it again");
	ok(!job__path("sda add\n0 /etc/passwd", path), "no second word");
	ok(!job__path("../etc/passwd", path), "no way out of /dev");
	ok(!job__path("", path), "no name, no path");
}

int main(void)
{
	test_lines();
	test_actions();
	test_paths();
	return done_testing();
}
