/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_names.c: is a file called by its path, from where it is mounted? Names as the programs note
 * them, mounts as the kernel lists them, and both as nobody would write them.
 */
#include <stdlib.h>
#include <unistd.h>
#include "collect/file_names.h"
#include "tap.h"

static char path[] = "/tmp/iosonar-mounts.XXXXXX";

static const char list[] = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
			   "30 22 8:1 /sub /mnt/bound rw - ext4 /dev/sda1 rw\n"
			   "31 22 8:1 / /mnt/my\\040disk rw - ext4 /dev/sda1 rw\n"
			   "32 22 8:1 / /mnt/again rw - ext4 /dev/sda1 rw\n"
			   "33 22 8:2 /only/part /part rw - ext4 /dev/sda2 rw\n"
			   "nonsense\n"
			   "34 22 8:3\n";

enum { ROOT = 254 << 20, DISK = 8 << 20 | 1, PART = 8 << 20 | 2, NOWHERE = 9 << 20 | 5 };

static struct mounts mounts;

static void read_list(const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		printf("Bail out! %s\n", path), exit(1);
	mounts__free(&mounts);
	if (mounts__read(&mounts, path))
		printf("Bail out! no memory\n"), exit(1);
}

/* names: as a cell has them. */
static void is_called(uint64_t inode, uint32_t dev, const void *names, size_t size,
		      const char *want, const char *what)
{
	struct io_file file = { .inode = inode, .dev = dev };
	char *text;

	memcpy(file.names, names, size);
	text = file_names__text(&mounts, &file, inode, dev);
	is_str(text, want, what);
	free(text);
}

#define NAMED(dev, names, want, what) is_called(12, dev, names, sizeof(names), want, what)

static void check_paths(void)
{
	char full[FILE_NAMES], want[FILE_NAMES + 2] = "/";

	NAMED(ROOT, "c\0b\0a", "/a/b/c", "from the root on");
	NAMED(DISK, "b\0a", "/mnt/my disk/a/b", "from where all of it is mounted first");
	NAMED(PART, "f\0part\0only", "/part/f", "what is mounted in part begins there");
	NAMED(PART, "f\0partly\0only", "[8:2]/only/partly/f", "what lies beside it is nowhere");
	NAMED(NOWHERE, "a", "[9:5]/a", "a file system that is not mounted is its device");
	NAMED(ROOT, "b\0a\0/", "/.../a/b", "what did not fit is left out in front");
	NAMED(DISK, "", "inode 12 of /mnt/my disk", "without a name by number");
	NAMED(NOWHERE, "", "inode 12 of [9:5]", "of whatever");
	memset(full, 'x', sizeof(full));
	memcpy(want + 1, full, sizeof(full));
	is_called(12, ROOT, full, sizeof(full), want,
		  "a name without an end is as long as its room");
}

static void check_special(void)
{
	is_called(FILE_SWAP, 0, "", 1, "[swap]", "swap");
	is_called(FILE_DIRECT, 0, "", 1, "[direct]", "direct I/O of an unknown file");
	is_called(FILE_DEVICE, 0, "", 1, "[device]", "direct I/O past all files");
	is_called(FILE_KERNEL, 0, "", 1, "[kernel]", "memory of the kernel");
	is_called(FILE_METADATA, DISK, "", 1, "[metadata of /mnt/my disk]", "metadata");
	is_called(FILE_METADATA, NOWHERE, "", 1, "[device]",
		  "the cache of a device that is not mounted");
	is_called(FILE_METADATA, 0, "", 1, "[metadata]", "metadata of who knows what");
}

static void check_table(void)
{
	static struct io_file files[FILES_MOST];
	uint32_t home = io_file_home(77, DISK);

	ok(!io_file__find(files, 77, DISK), "an empty table has nothing");
	ok(!io_file__find(files, 0, 0), "not even nothing");
	files[(home + 7) & (FILES_MOST - 1)] = (struct io_file){ .inode = 77, .dev = DISK };
	ok(io_file__find(files, 77, DISK) == &files[(home + 7) & (FILES_MOST - 1)],
	   "the eighth cell is looked at");
	ok(!io_file__find(files, 77, PART), "a number of another device is another file");
	ok(!io_file__find(files, 77, io_file_place(DISK, 1)), "nor is the next one's name its own");
	files[(home + 31) & (FILES_MOST - 1)] =
		(struct io_file){ .inode = 77, .dev = DISK, .nth = 1 };
	ok(io_file__find(files, 77, io_file_place(DISK, 1)) ==
		   &files[(home + 31) & (FILES_MOST - 1)],
	   "a number that is used again is another file");
	ok(io_file__find(files, 77, DISK) == &files[(home + 7) & (FILES_MOST - 1)],
	   "and the first one is still there");
	ok(!io_file__find(files, 77, io_file_place(DISK, FILE_UNNAMED)),
	   "who has no name gets none");
}

int main(void)
{
	if (mkstemp(path) < 0)
		return 1;
	read_list(list);
	is_u64(mounts.nr, 5, "what is no mount is passed over");
	check_paths();
	check_special();
	check_table();
	read_list("");
	NAMED(ROOT, "a", "[254:0]/a", "without mounts all are devices");
	mounts__free(&mounts);
	unlink(path);
	mounts__read(&mounts, path);
	is_u64(mounts.nr, 0, "a list that is not there is empty");
	return done_testing();
}
