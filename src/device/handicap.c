/* SPDX-License-Identifier: BSD-2-Clause */
#include "device/handicap.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

static const char *const aspm_files[] = { "l0s_aspm", "l1_aspm", "l1_1_aspm", "l1_2_aspm" };
static const char *const aspm_words[] = { " L0s", " L1", " L1.1", " L1.2" };
enum { ASPM_STATES = sizeof(aspm_files) / sizeof(aspm_files[0]) };

static void handicap_read_aspm(struct device_handicap *h, const char *root, int ctrl)
{
	char text[16];

	for (size_t i = 0; i < ASPM_STATES; i++) {
		if (!handicap_read(text, sizeof(text), "%s/sys/class/nvme/nvme%d/device/link/%s",
				   root, ctrl, aspm_files[i]))
			continue;
		h->knows_aspm = true;
		h->aspm |= text[0] == '1' ? 1u << i : 0;
	}
}

/* "0" allows no power state that takes time to leave; "auto" and "any" allow all. */
static void handicap_read_wakeup(struct device_handicap *h, const char *root, int ctrl)
{
	char text[32], *end;

	if (!handicap_read(text, sizeof(text),
			   "%s/sys/class/nvme/nvme%d/power/pm_qos_latency_tolerance_us", root,
			   ctrl))
		return;
	text[strcspn(text, "\n")] = 0;
	h->wakeup_us = strtoull(text, &end, 10);
	h->knows_wakeup = end != text && !*end;
	if (!strcmp(text, "auto") || !strcmp(text, "any")) {
		h->knows_wakeup = true;
		h->wakeup_us = UINT64_MAX;
	}
}

static void handicap_read_power(struct device_handicap *h, const char *root, int ctrl)
{
	char text[16];

	if (!handicap_read(text, sizeof(text), "%s/sys/class/nvme/nvme%d/device/power_state", root,
			   ctrl))
		return;
	text[strcspn(text, "\n")] = 0;
	if (text[0] == 'D' && strcmp(text, "D0") != 0)
		snprintf(h->power, sizeof(h->power), "%.11s", text);
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

/* Of an NVMe drive the kernel makes it of NPWG; what is not above a block prefers nothing. */
static void handicap_read_grain(struct device_handicap *h, const char *root,
				const struct device *device)
{
	char text[32];

	if (!handicap_read(text, sizeof(text), "%s/sys/block/%s/queue/minimum_io_size", root,
			   device->name))
		return;
	h->grain_bytes = (uint32_t)strtoul(text, NULL, 10);
	if (h->grain_bytes <= device->block_size || h->grain_bytes % 512)
		h->grain_bytes = 0;
	for (size_t i = 0; h->grain_bytes && i < device->nr_partitions && !h->grainless[0]; i++)
		if (device->partitions[i].from_sector % (h->grain_bytes / 512))
			snprintf(h->grainless, sizeof(h->grainless), "%s",
				 device->partitions[i].name);
}

void device_handicap__read(struct device_handicap *h, const char *root, const struct device *device)
{
	char text[32];

	*h = (struct device_handicap){ 0 };
	if (device->ctrl >= 0) {
		handicap_read_link(h, root, device->ctrl);
		handicap_read_aspm(h, root, device->ctrl);
		handicap_read_wakeup(h, root, device->ctrl);
		handicap_read_power(h, root, device->ctrl);
	}
	if (handicap_read(text, sizeof(text), "%s/sys/block/%s/queue/write_cache", root,
			  device->name))
		h->write_cache = !strncmp(text, "write back", 10)      ? WRITE_CACHE_ON
				 : !strncmp(text, "write through", 13) ? WRITE_CACHE_OFF
								       : WRITE_CACHE_UNKNOWN;
	handicap_read_alignment(h, root, device);
	handicap_read_grain(h, root, device);
}

void device_handicap__add_peer(struct device_handicap *peers, const struct device_handicap *peer)
{
	if (peer->write_cache == WRITE_CACHE_ON)
		peers->write_cache = WRITE_CACHE_ON;
	if (peer->knows_aspm)
		peers->aspm = peers->knows_aspm ? peers->aspm & peer->aspm : peer->aspm;
	if (peer->knows_wakeup && (!peers->knows_wakeup || peer->wakeup_us < peers->wakeup_us))
		peers->wakeup_us = peer->wakeup_us;
	peers->knows_aspm |= peer->knows_aspm;
	peers->knows_wakeup |= peer->knows_wakeup;
}

/* ---- words ---- */

struct handicap_words {
	char *buf;
	size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void handicap_say(struct handicap_words *w,
							       const char *fmt, ...)
{
	va_list args;
	int len;

	if (w->len && w->len + 1 < w->size)
		w->buf[w->len++] = ';';
	va_start(args, fmt);
	len = vsnprintf(w->buf + w->len, w->size - w->len, fmt, args);
	va_end(args);
	w->len += len > 0 ? (size_t)len : 0;
	w->len = w->len < w->size ? w->len : w->size - 1;
}

static bool handicap_link_is_slow(const struct device_handicap *h)
{
	return h->speed && h->width && (h->speed < h->max_speed || h->width < h->max_width);
}

static void handicap_say_aspm(struct handicap_words *w, uint32_t states)
{
	char text[32] = "";

	for (size_t i = 0, len = 0; i < ASPM_STATES; i++)
		if (states >> i & 1)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s",
						aspm_words[i]);
	handicap_say(w, "its link may save power (ASPM%s), unlike that of its peers", text);
}

static void handicap_say_power(struct handicap_words *w, const struct device_handicap *h,
			       const struct device_handicap *peers)
{
	if (h->power[0])
		handicap_say(w, "PCI power state %s", h->power);
	if (h->knows_aspm && peers->knows_aspm && h->aspm & ~peers->aspm)
		handicap_say_aspm(w, h->aspm & ~peers->aspm);
	if (!h->knows_wakeup || !peers->knows_wakeup || h->wakeup_us <= peers->wakeup_us)
		return;
	if (h->wakeup_us == UINT64_MAX)
		handicap_say(w, "any of its power states is allowed, unlike with its peers");
	else
		handicap_say(
			w, "its power states may take %llu us to leave, those of its peers %llu",
			(unsigned long long)h->wakeup_us, (unsigned long long)peers->wakeup_us);
}

char *device_handicap__words(const struct device_handicap *h, const struct device_handicap *peers,
			     char *buf, size_t size)
{
	struct handicap_words w = { buf, size, 0 };

	buf[0] = 0;
	if (handicap_link_is_slow(h))
		handicap_say(&w, "PCIe link %u.%u GT/s x%u of %u.%u GT/s x%u", h->speed / 10,
			     h->speed % 10, h->width, h->max_speed / 10, h->max_speed % 10,
			     h->max_width);
	handicap_say_power(&w, h, peers);
	if (h->write_cache == WRITE_CACHE_OFF && peers->write_cache == WRITE_CACHE_ON)
		handicap_say(&w, "write cache off, unlike its peers");
	if (h->misaligned[0])
		handicap_say(&w, "%s is not aligned to its blocks", h->misaligned);
	else if (h->grainless[0])
		handicap_say(&w, "%s does not begin at a multiple of the %u bytes it prefers",
			     h->grainless, h->grain_bytes);
	return buf;
}
