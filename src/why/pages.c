/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct pages_disk *pages_find_disk(struct pages *p, uint16_t host, uint32_t disk)
{
	for (size_t i = 0; i < p->nr_disks; i++)
		if (p->disks[i].disk == disk && p->disks[i].host == host)
			return &p->disks[i];
	if (p->nr_disks == PAGES_DISKS)
		return NULL;
	p->disks[p->nr_disks] = (struct pages_disk){ .disk = disk, .host = host };
	return &p->disks[p->nr_disks++];
}

static struct pages_dev *pages_find_dev(struct pages *p, uint16_t host, uint32_t dev, uint32_t disk)
{
	for (size_t i = 0; i < p->nr_devs; i++)
		if (p->devs[i].dev == dev && p->devs[i].disk == disk && p->devs[i].host == host)
			return &p->devs[i];
	if (p->nr_devs == PAGES_DEVS)
		return NULL;
	p->devs[p->nr_devs] = (struct pages_dev){
		.dev = dev, .disk = disk, .host = host, .page_bytes = p->page_bytes
	};
	return &p->devs[p->nr_devs++];
}

/* ---- what was read before ---- */

/* Half of the sample leaves, when there is no room. */
static int pages_thin(struct pages *p)
{
	struct pages_unit *old = p->seen;
	const size_t nr = p->index.nr;
	int err = 0;

	p->mask = 2 * p->mask + 1;
	p->seen = NULL;
	index__free(&p->index);
	for (size_t i = 0; i < nr && !err; i++)
		if (!(old[i].key & p->mask) &&
		    !index__entry(&p->index, &p->seen, sizeof(*p->seen), old[i].key))
			err = -ENOMEM;
	free(old);
	return err;
}

/* The key of a unit is its hash: two of 2^64 that are alike do not matter. */
static int pages_see(struct pages *p, struct pages_disk *disk, uint64_t unit)
{
	const uint64_t key = index__mix((uint64_t)disk->host << 32 | disk->disk, unit);
	const size_t before = p->index.nr;

	if (key & p->mask)
		return 0;
	if (!index__entry(&p->index, &p->seen, sizeof(*p->seen), key))
		return -ENOMEM;
	if (p->index.nr == before)
		disk->again_bytes += (double)(p->mask + 1) * PAGES_UNIT_SECTORS * 512;
	return p->index.nr < PAGES_SEEN ? 0 : pages_thin(p);
}

int pages__add_command(struct pages *p, uint16_t host, const struct cache_command *c)
{
	struct pages_disk *disk = pages_find_disk(p, host, c->disk);
	struct pages_dev *dev = pages_find_dev(p, host, c->event.dev, c->disk);
	const uint64_t from = c->sector / PAGES_UNIT_SECTORS;
	const uint64_t nr = c->bytes / 512 / PAGES_UNIT_SECTORS;
	int err = 0;

	if (!disk || !dev || !c->disk || c->bytes > PAGES_MOST || c->failed) {
		p->left_out += !c->failed;
		return 0;
	}
	disk->commands++;
	disk->bytes += c->bytes;
	dev->bytes += c->bytes;
	for (uint64_t i = 0; i < nr && !err; i++)
		err = pages_see(p, disk, from + i);
	return err;
}

/* ---- all ---- */

void pages__add_row(struct pages *p, uint16_t host, const struct cache_key *key,
		    const uint64_t counts[NR_CACHE_COUNTS])
{
	struct pages_dev *dev = key->dev ? pages_find_dev(p, host, key->dev, 0) : NULL;

	if (!dev)
		return;
	dev->ahead += counts[CACHE_RA];
	dev->unused += counts[CACHE_UNUSED];
	dev->evicted += counts[CACHE_EVICTED];
}

static bool pages_is_of(const struct pages_dev *dev, const struct pages_dev *rows)
{
	return dev->dev == rows->dev && dev->host == rows->host;
}

/* A file system on several disks: each has the part of its pages that it has of its reads. */
static void pages_share(struct pages *p, const struct pages_dev *rows)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < p->nr_devs; i++)
		bytes += pages_is_of(&p->devs[i], rows) ? p->devs[i].bytes : 0;
	for (size_t i = 0; i < p->nr_devs; i++) {
		const struct pages_dev *dev = &p->devs[i];
		struct pages_disk *disk;
		double part;

		if (!pages_is_of(dev, rows) || !dev->bytes)
			continue;
		part = (double)dev->bytes / (double)bytes;
		disk = pages_find_disk(p, dev->host, dev->disk);
		disk->ahead += part * (double)rows->ahead;
		disk->unused += part * (double)rows->unused;
		disk->evicted += part * (double)rows->evicted;
		disk->unused_bytes += part * (double)(rows->unused * rows->page_bytes);
	}
}

void pages__finish(struct pages *p)
{
	for (size_t i = 0; i < p->nr_devs; i++)
		if (!p->devs[i].disk)
			pages_share(p, &p->devs[i]);
}

void pages__free(struct pages *p)
{
	index__free(&p->index);
	free(p->seen);
	*p = (struct pages){ .page_bytes = p->page_bytes };
}

const struct pages_disk *pages__disk(const struct pages *p, uint16_t host, uint32_t disk)
{
	for (size_t i = 0; i < p->nr_disks; i++)
		if (p->disks[i].disk == disk && p->disks[i].host == host && p->disks[i].bytes)
			return &p->disks[i];
	return NULL;
}
