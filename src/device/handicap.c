/* SPDX-License-Identifier: BSD-2-Clause */
#include "device/handicap.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One line of a file of sysfs; false: it cannot be read. */
__attribute__((format(printf, 3, 4))) static bool handicap_read(char *text, size_t size,
								const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	FILE *file;
	bool done;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	file = fopen(path, "re");
	if (!file)
		return false;
	done = fgets(text, (int)size, file) != NULL;
	fclose(file);
	return done;
}

/* "8.0 GT/s PCIe" is 80, "16.0 GT/s" is 160; "Unknown" is 0. */
static uint32_t handicap_speed(const char *text)
{
	unsigned int whole, tenth = 0;

	if (sscanf(text, "%4u.%1u", &whole, &tenth) < 1)
		return 0;
	return 10 * whole + tenth;
}

static uint32_t handicap_width(const char *text)
{
	unsigned int lanes;

	return sscanf(text, "%3u", &lanes) == 1 ? lanes : 0;
}

static void handicap_read_link(struct device_handicap *h, const char *root, int ctrl)
{
	static const char *const files[] = { "current_link_speed", "max_link_speed",
					     "current_link_width", "max_link_width" };
	uint32_t *const values[] = { &h->speed, &h->max_speed, &h->width, &h->max_width };
	char text[64];

	for (size_t i = 0; i < 4; i++)
		if (handicap_read(text, sizeof(text), "%s/sys/class/nvme/nvme%d/device/%s", root,
				  ctrl, files[i]))
			*values[i] = i < 2 ? handicap_speed(text) : handicap_width(text);
}

/* The kernel computes it from the block size that the drive reports. */
static void handicap_read_alignment(struct device_handicap *h, const char *root,
				    const struct device *device)
{
	char text[32];

	for (size_t i = 0; i < device->nr_partitions && !h->misaligned[0]; i++) {
		const char *name = device->partitions[i].name;

		if (handicap_read(text, sizeof(text), "%s/sys/block/%s/%s/alignment_offset", root,
				  device->name, name) &&
		    strcmp(text, "0\n") != 0)
			snprintf(h->misaligned, sizeof(h->misaligned), "%s", name);
	}
}

void device_handicap__read(struct device_handicap *h, const char *root, const struct device *device)
{
	char text[32];

	*h = (struct device_handicap){ 0 };
	if (device->ctrl >= 0)
		handicap_read_link(h, root, device->ctrl);
	if (handicap_read(text, sizeof(text), "%s/sys/block/%s/queue/write_cache", root,
			  device->name))
		h->write_cache = !strncmp(text, "write back", 10)      ? WRITE_CACHE_ON
				 : !strncmp(text, "write through", 13) ? WRITE_CACHE_OFF
								       : WRITE_CACHE_UNKNOWN;
	handicap_read_alignment(h, root, device);
}

static bool handicap_link_is_slow(const struct device_handicap *h)
{
	return h->speed && h->width && (h->speed < h->max_speed || h->width < h->max_width);
}

char *device_handicap__words(const struct device_handicap *h, bool peers_cache, char *buf,
			     size_t size)
{
	char link[96] = "", aligned[96] = "";
	const char *cache = "";

	if (handicap_link_is_slow(h))
		snprintf(link, sizeof(link), "PCIe link %u.%u GT/s x%u of %u.%u GT/s x%u;",
			 h->speed / 10, h->speed % 10, h->width, h->max_speed / 10,
			 h->max_speed % 10, h->max_width);
	if (h->write_cache == WRITE_CACHE_OFF && peers_cache)
		cache = "write cache off, unlike its peers;";
	if (h->misaligned[0])
		snprintf(aligned, sizeof(aligned), "%s is not aligned to its blocks;",
			 h->misaligned);
	snprintf(buf, size, "%s%s%s", link, cache, aligned);
	if (buf[0])
		buf[strlen(buf) - 1] = 0;
	return buf;
}
