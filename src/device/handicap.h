/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handicap.h: what does this machine know that makes a drive slow? Its PCIe link and how it saves
 * power, its write cache and the alignment of its partitions, as sysfs has them: two dozen small
 * reads, and no command is sent to the drive. It cannot see what only the drive knows, such as its
 * temperature: the kernel's sensor of an NVMe drive sends it a command each time it is read.
 */
#ifndef IOSONAR_DEVICE_HANDICAP_H
#define IOSONAR_DEVICE_HANDICAP_H

#include "device/device.h"

enum device_aspm { ASPM_L0S = 1, ASPM_L1 = 2, ASPM_L1_1 = 4, ASPM_L1_2 = 8, ASPM_ALL = 15 };
enum device_write_cache { WRITE_CACHE_UNKNOWN, WRITE_CACHE_OFF, WRITE_CACHE_ON };

struct device_handicap {
	/* Of an NVMe drive; in tenths of GT/s, and lanes; 0: unknown. */
	uint32_t speed, max_speed, width, max_width;
	bool knows_aspm, knows_wakeup;
	uint32_t aspm;	    /* enum device_aspm: states that its link may enter */
	uint64_t wakeup_us; /* power states may take this long to leave; UINT64_MAX: any */
	char power[12];	    /* PCI power state, "D3hot"; "": D0, or unknown */
	enum device_write_cache write_cache;
	char misaligned[32];  /* the first partition that does not begin at a block, or "" */
	uint32_t grain_bytes; /* preferred granularity of writes, NVMe's NPWG; 0: unknown */
	char grainless[32];   /* the first partition that does not begin at a multiple, or "" */
};

/* What cannot be read is unknown. root: "" or a test's tree. */
void device_handicap__read(struct device_handicap *handicap, const char *root,
			   const struct device *device);
/* The best that drives of its model have, as one; all zeros: there are none. */
void device_handicap__add_peer(struct device_handicap *peers, const struct device_handicap *peer);
/*
 * In words, separated by ';': "PCIe link 8.0 GT/s x2 of 16.0 GT/s x4;write cache off". What may be
 * as it is for all drives of its model is said only if peers are better. Returns buf, "" if there
 * is nothing.
 */
char *device_handicap__words(const struct device_handicap *handicap,
			     const struct device_handicap *peers, char *buf, size_t size);

#endif
