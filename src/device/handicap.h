/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handicap.h: what does this machine know that makes a drive slow? Its PCIe link, its write cache
 * and the alignment of its partitions, as sysfs has them: a dozen small reads, and no command is
 * sent to the drive. It cannot see what only the drive knows, such as its temperature.
 */
#ifndef IOSONAR_DEVICE_HANDICAP_H
#define IOSONAR_DEVICE_HANDICAP_H

#include "device/device.h"

enum device_write_cache { WRITE_CACHE_UNKNOWN, WRITE_CACHE_OFF, WRITE_CACHE_ON };

struct device_handicap {
	/* Of an NVMe drive; in tenths of GT/s, and lanes; 0: unknown. */
	uint32_t speed, max_speed, width, max_width;
	enum device_write_cache write_cache;
	char misaligned[32]; /* the first partition that does not begin at a block, or "" */
};

/* What cannot be read is unknown. root: "" or a test's tree. */
void device_handicap__read(struct device_handicap *handicap, const char *root,
			   const struct device *device);
/*
 * In words, separated by ';': "PCIe link 8.0 GT/s x2 of 16.0 GT/s x4;write cache off". peers_cache:
 * another drive of its model has a write cache. Returns buf, "" if there is nothing.
 */
char *device_handicap__words(const struct device_handicap *handicap, bool peers_cache, char *buf,
			     size_t size);

#endif
