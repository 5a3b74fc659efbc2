/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/leaving.h"

#include <errno.h>
#include <stdlib.h>
#include "base/grow.h"

enum leaving_stage {
	LEAVING_THERE,
	LEAVING_GONE,	 /* its last counts are not in a scrape yet */
	LEAVING_SCRAPED, /* they are in one */
	LEAVING_ENDED,	 /* they are in no further one */
	LEAVING_LEFT,
};

struct leaving_device {
	uint64_t gone_ns;
	enum leaving_stage stage;
};

/* As much as the page shows. */
static const uint64_t leaving_longest_ns = 300000000000;

void leaving__free(struct leaving *l)
{
	free(l->devices);
	*l = (struct leaving){ 0 };
}

int leaving__look(struct leaving *l, const struct device_list *list, uint64_t now_ns)
{
	while (l->nr < list->nr) {
		if (GROW_BY_ONE(l->devices, l->nr))
			return -ENOMEM;
		l->devices[l->nr++] = (struct leaving_device){ 0 };
	}
	for (size_t i = 0; i < l->nr; i++) {
		struct leaving_device *device = &l->devices[i];

		if (!list->devices[i].gone)
			device->stage = LEAVING_THERE;
		else if (device->stage == LEAVING_THERE)
			*device = (struct leaving_device){ now_ns, LEAVING_GONE };
	}
	return 0;
}

void leaving__scrape(struct leaving *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->devices[i].stage == LEAVING_GONE || l->devices[i].stage == LEAVING_SCRAPED)
			l->devices[i].stage++;
}

bool leaving__settle(struct leaving *l, uint64_t now_ns)
{
	bool some = false;

	for (size_t i = 0; i < l->nr; i++) {
		struct leaving_device *device = &l->devices[i];

		if (device->stage == LEAVING_THERE || device->stage == LEAVING_LEFT ||
		    (device->stage == LEAVING_GONE &&
		     now_ns - device->gone_ns < leaving_longest_ns))
			continue;
		device->stage = LEAVING_LEFT;
		some = true;
	}
	return some;
}

static bool leaving_is_past(const struct leaving *l, int32_t device, enum leaving_stage stage)
{
	return device > 0 && (size_t)device <= l->nr && l->devices[device - 1].stage >= stage;
}

bool leaving__has_ended(const struct leaving *l, int32_t device)
{
	return leaving_is_past(l, device, LEAVING_ENDED);
}

bool leaving__has_left(const struct leaving *l, int32_t device)
{
	return leaving_is_past(l, device, LEAVING_LEFT);
}
