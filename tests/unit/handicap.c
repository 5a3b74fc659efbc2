/* SPDX-License-Identifier: BSD-2-Clause */
/* handicap.c: links, write caches and partitions in trees made of plain files. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "device/handicap.h"
#include "tap.h"

static char tree[] = "/tmp/iosonar-handicap.XXXXXX";
static const char *const files[] = {
	"sys/class/nvme/nvme0/device/current_link_speed",
	"sys/class/nvme/nvme0/device/max_link_speed",
	"sys/class/nvme/nvme0/device/current_link_width",
	"sys/class/nvme/nvme0/device/max_link_width",
	"sys/block/nvme0n1/queue/write_cache",
	"sys/block/nvme0n1/nvme0n1p1/alignment_offset",
	"sys/block/nvme0n1/nvme0n1p2/alignment_offset",
};
enum { FILES = sizeof(files) / sizeof(files[0]) };

/* NULL: there is no such file. */
static void put(size_t nr, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", tree, files[nr]);
	remove(path);
	if (!text)
		return;
	for (char *slash = path + strlen(tree); (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		mkdir(path, 0777);
		*slash = '/';
	}
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		printf("Bail out! %s: %s\n", path, strerror(errno)), exit(1);
}

/* The files are gone: so are their folders, and the tree last. */
static void drop_folders(void)
{
	char path[PATH_MAX], *slash;

	for (size_t i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/%s", tree, files[i]);
		while ((slash = strrchr(path, '/')) && slash >= path + strlen(tree)) {
			*slash = 0;
			rmdir(path);
		}
	}
}

static struct device_partition partitions[] = { { "nvme0n1p1", 0, 0 }, { "nvme0n1p2", 0, 0 } };
static struct device device = {
	.name = "nvme0n1", .ctrl = 0, .nr_partitions = 2, .partitions = partitions
};

/* What is said of a drive whose files are these. */
static void says(const char *const texts[FILES], bool peers_cache, const char *want,
		 const char *what)
{
	struct device_handicap handicap;
	char words[300];

	for (size_t i = 0; i < FILES; i++)
		put(i, texts[i]);
	device_handicap__read(&handicap, tree, &device);
	is_str(device_handicap__words(&handicap, peers_cache, words, sizeof(words)), want, what);
}

int main(void)
{
	static const char *const good[FILES] = {
		"16.0 GT/s PCIe\n", "16.0 GT/s PCIe\n", "4\n", "4\n", "write back\n", "0\n", "0\n"
	};
	static const char *const slow[FILES] = { "8.0 GT/s PCIe\n",
						 "16.0 GT/s PCIe\n",
						 "4\n",
						 "4\n",
						 "write through\n",
						 "0\n",
						 "512\n" };
	static const char *const narrow[FILES] = { "2.5 GT/s\n", "2.5 GT/s\n", "1\n", "4\n" };
	static const char *const unknown[FILES] = { "Unknown\n", "32.0 GT/s PCIe\n",
						    "0\n",	 "255\n",
						    "",		 "\n" };
	static const char *const none[FILES] = { NULL };

	if (!mkdtemp(tree))
		return 1;
	says(good, true, "", "a drive without a handicap");
	says(slow, true,
	     "PCIe link 8.0 GT/s x4 of 16.0 GT/s x4;write cache off, unlike its peers;"
	     "nvme0n1p2 is not aligned to its blocks",
	     "a slow link, no write cache, a misaligned partition");
	says(slow, false,
	     "PCIe link 8.0 GT/s x4 of 16.0 GT/s x4;nvme0n1p2 is not aligned to its blocks",
	     "a write cache that no peer has is none that is off");
	says(narrow, true, "PCIe link 2.5 GT/s x1 of 2.5 GT/s x4", "a narrow link");
	says(none, true, "", "what cannot be read says nothing");
	says(unknown, false, "nvme0n1p1 is not aligned to its blocks", "a link that is unknown");
	device.ctrl = -1;
	device.nr_partitions = 0;
	says(slow, true, "write cache off, unlike its peers", "a disk that is not NVMe");
	says(none, true, "", "nothing");
	drop_folders();
	ok(access(tree, F_OK) != 0, "the tree is gone");
	return done_testing();
}
