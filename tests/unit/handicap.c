/* SPDX-License-Identifier: BSD-2-Clause */
/* handicap.c: links, power states, write caches and partitions in trees made of plain files. */
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
	"sys/block/nvme0n1/queue/minimum_io_size",
	"sys/class/nvme/nvme0/device/power_state",
	"sys/class/nvme/nvme0/power/pm_qos_latency_tolerance_us",
	"sys/class/nvme/nvme0/device/link/l0s_aspm",
	"sys/class/nvme/nvme0/device/link/l1_aspm",
	"sys/class/nvme/nvme0/device/link/l1_1_aspm",
	"sys/class/nvme/nvme0/device/link/l1_2_aspm",
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

static struct device_partition partitions[] = { { "nvme0n1p1", 2048, 0 },
						{ "nvme0n1p2", 4104, 0 } };
static struct device device = { .name = "nvme0n1",
				.ctrl = 0,
				.block_size = 4096,
				.nr_partitions = 2,
				.partitions = partitions };

static void read_tree(const char *const texts[FILES], struct device_handicap *handicap)
{
	for (size_t i = 0; i < FILES; i++)
		put(i, texts[i]);
	device_handicap__read(handicap, tree, &device);
}

/* What is said of a drive whose files are these, beside drives with these. */
static void says(const char *const texts[FILES], const char *const peer[FILES], const char *want,
		 const char *what)
{
	struct device_handicap handicap, peers = { 0 };
	char words[600];

	if (peer) {
		read_tree(peer, &handicap);
		device_handicap__add_peer(&peers, &handicap);
	}
	read_tree(texts, &handicap);
	is_str(device_handicap__words(&handicap, &peers, words, sizeof(words)), want, what);
}

/* FILES in their order: what a drive saves power with. */
#define POWER(state, tolerance, ...)                                                              \
	{                                                                                         \
		NULL, NULL, NULL, NULL, NULL, NULL, NULL, "4096\n", state, tolerance, __VA_ARGS__ \
	}

static void check_power(void)
{
	static const char *const awake[FILES] = POWER("D0\n", "0\n", "0\n", "0\n", "0\n", "0\n");
	static const char *const saves[FILES] =
		POWER("D0\n", "100000\n", "0\n", "1\n", "0\n", "1\n");
	static const char *const any[FILES] = POWER("D3hot\n", "auto\n", "1\n");
	static const char *const odd[FILES] = POWER("unknown\n", "-1x\n", "\n");

	says(saves, NULL, "", "power that is saved by all drives explains nothing");
	says(saves, saves, "", "nor if its peers save as much");
	says(awake, saves, "", "nor if they save more");
	says(saves, awake,
	     "its link may save power (ASPM L1 L1.2), unlike that of its peers;"
	     "its power states may take 100000 us to leave, those of its peers 0",
	     "a drive that saves power, unlike its peers");
	says(any, saves,
	     "PCI power state D3hot;its link may save power (ASPM L0s), unlike that of its peers;"
	     "any of its power states is allowed, unlike with its peers",
	     "any power state");
	says(odd, awake, "", "what is not understood says nothing");
}

static void check_grain(void)
{
	static const char *const fine[FILES] = { [7] = "4096\n" };
	static const char *const large[FILES] = { [7] = "16384\n" };
	static const char *const odd[FILES] = { [7] = "4097\n" };
	static const char *const both[FILES] = { [6] = "512\n", [7] = "16384\n" };

	says(fine, NULL, "", "a block is no granularity");
	says(large, NULL, "nvme0n1p2 does not begin at a multiple of the 16384 bytes it prefers",
	     "a partition between preferred writes");
	says(odd, NULL, "", "a granularity that is none");
	says(both, NULL, "nvme0n1p2 is not aligned to its blocks", "blocks count more");
}

static void check_short(void)
{
	static const char *const slow[FILES] = { "2.5 GT/s\n", "8.0 GT/s\n", "1\n",  "4\n",
						 NULL,	       NULL,	     "512\n" };
	struct device_handicap handicap, peers = { 0 };
	char words[50];

	read_tree(slow, &handicap);
	device_handicap__words(&handicap, &peers, words, 40);
	is_str(words, "PCIe link 2.5 GT/s x1 of 8.0 GT/s x4;nv", "a text that is too long is cut");
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
	says(good, good, "", "a drive without a handicap");
	says(slow, good,
	     "PCIe link 8.0 GT/s x4 of 16.0 GT/s x4;write cache off, unlike its peers;"
	     "nvme0n1p2 is not aligned to its blocks",
	     "a slow link, no write cache, a misaligned partition");
	says(slow, slow,
	     "PCIe link 8.0 GT/s x4 of 16.0 GT/s x4;nvme0n1p2 is not aligned to its blocks",
	     "a write cache that no peer has is none that is off");
	says(narrow, good, "PCIe link 2.5 GT/s x1 of 2.5 GT/s x4", "a narrow link");
	says(none, good, "", "what cannot be read says nothing");
	says(unknown, NULL, "nvme0n1p1 is not aligned to its blocks", "a link that is unknown");
	check_power();
	check_grain();
	check_short();
	device.ctrl = -1;
	device.nr_partitions = 0;
	says(slow, good, "write cache off, unlike its peers", "a disk that is not NVMe");
	says(none, good, "", "nothing");
	drop_folders();
	ok(access(tree, F_OK) != 0, "the tree is gone");
	return done_testing();
}
