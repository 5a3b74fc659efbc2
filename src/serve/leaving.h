/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leaving.h: which devices have gone, and until when are their counts shown? A device that goes is
 * in one more scrape, and in lists until the second of that scrape ends; where nobody scrapes, for
 * five minutes. Then it has left, and nothing of it is kept but 16 bytes here. One that returns
 * begins again. It does not know whose scrape it was: a second scraper may miss the last counts.
 */
#ifndef IOSONAR_SERVE_LEAVING_H
#define IOSONAR_SERVE_LEAVING_H

#include "device/device.h"

struct leaving {
	struct leaving_device *devices; /* as in the device list */
	size_t nr;
};

void leaving__free(struct leaving *leaving);
/* Which devices are gone now? 0 or -ENOMEM. */
int leaving__look(struct leaving *leaving, const struct device_list *list, uint64_t now_ns);
/* A scrape: devices that were in one since they went have ended, and are in none from now on. */
void leaving__scrape(struct leaving *leaving);
/* The end of a second: those whose time is over have left. True: there are some more. */
bool leaving__settle(struct leaving *leaving, uint64_t now_ns);

/* Numbers are those of struct io_tags; 0 is no device, which never goes. */
bool leaving__has_ended(const struct leaving *leaving, int32_t device); /* for scrapers */
bool leaving__has_left(const struct leaving *leaving, int32_t device);	/* for all */

#endif
