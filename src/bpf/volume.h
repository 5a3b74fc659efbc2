/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * volume.h: which bio of a volume became this one? The device mapper makes a new bio for each part
 * of one that it passes on; the function called at its end identifies it, and struct dm_target_io
 * around it leads to the bio above. Unknown: bios that a target makes by itself (crypt, mirror),
 * and those of other stackers. A separate program, only where volumes' bios are wanted.
 */
#ifndef IOSONAR_BPF_VOLUME_H
#define IOSONAR_BPF_VOLUME_H

#include "bpf/bio.h"

inline_always void *volume_bio(struct bio *bio)
{
	void *io = 0, *above = 0;

	if ((__u64)BPF_CORE_READ(bio, bi_end_io) != settings.dm_end)
		return 0;
	bpf_probe_read_kernel(&io, sizeof(io),
			      (void *)bio - settings.dm_clone_at + settings.dm_io_at);
	bpf_probe_read_kernel(&above, sizeof(above), io + settings.dm_bio_at);
	return above;
}

/* The cell of the bio that it was made from. A part has none: the bio it is chained to has. */
inline_always struct io_bio *volume_cell(const struct tables *t, struct bio *bio)
{
	struct bio *above = volume_bio(bio);
	struct io_bio *cell = above ? bio_find(t, above) : 0;

	return cell || !above ? cell : bio_find(t, BPF_CORE_READ(above, bi_private));
}

/* Runs after the program that notes the bio itself. */
inline_always int bio_from_volume(struct bio *bio)
{
	const struct tables t = the_tables();
	struct io_bio *above = volume_cell(&t, bio), *cell;

	if (!above)
		return 0;
	cell = bio_find(&t, bio);
	if (!cell)
		return 0;
	cell->above = above->key;
	if (!above->below_ns)
		above->below_ns = cell->queued_ns;
	return 0;
}

/* A bio below ended. Returns when the bio above was submitted; 0: unknown. */
inline_always __u64 volume_bio_back(const struct tables *t, const struct io_bio *cell, __u64 now)
{
	struct io_bio *above = cell->above ? bio_find(t, (void *)cell->above) : 0;

	if (!above)
		return 0;
	if (fresh(above->back_ns) < now)
		above->back_ns = now;
	return above->queued_ns;
}

#endif
