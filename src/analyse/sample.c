/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/sample.h"

#include <string.h>
#include "wire/io_tables.h"

static const uint64_t sample_first_slice_ns = 1000000;

_Static_assert(NR_STAGES <= 16, "a step is two of them in a byte");

/* ---- buckets: those of wire/buckets.h, with a resolution of `bits` ---- */

uint32_t sample__slots(unsigned int bits)
{
	return (HIST_TOP_BIT - bits + 1) * (1u << bits) + 1;
}

uint32_t sample__slot(uint64_t ns, unsigned int bits)
{
	uint32_t octave;

	if (ns >> bits == 0)
		return (uint32_t)ns;
	if (ns >> HIST_TOP_BIT)
		return sample__slots(bits) - 1;
	octave = hist_log2(ns) - bits;
	return (octave << bits) + (uint32_t)(ns >> octave);
}

double sample__slot_from(uint32_t slot, unsigned int bits)
{
	const uint32_t sub = 1u << bits;

	if (slot < 2 * sub)
		return slot;
	return (double)((uint64_t)(sub + (slot & (sub - 1))) << ((slot >> bits) - 1));
}

/* ---- blocks ---- */

int sample__init(struct sample *s, unsigned int bits)
{
	int err;

	memset(s, 0, sizeof(*s));
	s->bits = bits;
	s->turns_per_block = 1;
	s->slice_ns = sample_first_slice_ns;
	err = profile__init(&s->lats, sample__slots(bits));
	err = err ?: profile__init(&s->sizes, SAMPLE_SIZES);
	return err ?: profile__init(&s->steps, SAMPLE_STEPS);
}

void sample__free(struct sample *s)
{
	profile__free(&s->lats);
	profile__free(&s->sizes);
	profile__free(&s->steps);
}

static void sample_fold(struct sample *s)
{
	profile__fold(&s->lats);
	profile__fold(&s->sizes);
	profile__fold(&s->steps);
	for (int i = 0; i < NR_SAMPLE_TOTALS; i++)
		blocks__fold(s->totals[i]);
	s->turns_per_block *= 2;
	s->nr_blocks /= 2;
}

/* The block that is being filled; a new one if the last is full. */
static uint32_t sample_block(struct sample *s)
{
	if (s->nr_blocks && s->turns_in_block < s->turns_per_block)
		return s->nr_blocks - 1;
	if (s->nr_blocks == PROFILE_BLOCKS)
		sample_fold(s);
	s->turns_in_block = 0;
	return s->nr_blocks++;
}

void sample__end_turn(struct sample *s)
{
	sample_block(s); /* an empty turn counts, too */
	s->turns_in_block++;
	s->nr_turns++;
}

/* ---- adding ---- */

int sample__add_bucket(struct sample *s, uint64_t from_ns, double count)
{
	return profile__add(&s->lats, sample__slot(from_ns, s->bits), sample_block(s), count);
}

void sample__add_total(struct sample *s, enum sample_total total, double amount)
{
	s->totals[total][sample_block(s)] += amount;
}

static int sample_add_steps(struct sample *s, const struct sample_io *io)
{
	int err = 0;

	for (size_t i = 1; !err && i < io->nr_moments; i++) {
		const struct moment *from = &io->moments[i - 1], *to = from + 1;

		err = profile__add(&s->steps, sample__step(from->stage, to->stage), sample_block(s),
				   (double)(to->ns - from->ns));
	}
	return err;
}

static void sample_fold_slices(struct sample *s)
{
	blocks__fold(s->slices);
	s->slice_ns *= 2;
}

void sample__add_slice(struct sample *s, uint64_t at_ns, uint64_t slice_ns, double count)
{
	bool is_first = !s->nr_slices;

	if (is_first && slice_ns)
		s->slice_ns = slice_ns;
	s->nr_slices = 1;
	while (at_ns / s->slice_ns >= PROFILE_BLOCKS)
		sample_fold_slices(s);
	s->slices[at_ns / s->slice_ns] += count;
}

int sample__add(struct sample *s, const struct sample_io *io)
{
	int err = sample__add_bucket(s, io->ns, 1);

	if (!err)
		err = profile__add(&s->sizes, io_size_class((uint32_t)io->bytes), sample_block(s),
				   1);
	err = err ?: sample_add_steps(s, io);
	if (err)
		return err;
	sample__add_total(s, SAMPLE_COUNT, 1);
	sample__add_total(s, SAMPLE_BYTES, (double)io->bytes);
	sample__add_total(s, SAMPLE_FAILED, io->failed);
	sample__add_total(s, SAMPLE_NS, (double)io->ns);
	sample__add_slice(s, io->at_ns, 0, 1);
	s->has_sizes = s->has_failed = true;
	sample__end_turn(s);
	return 0;
}

/* Adds empty slices up to the end of the run; a last slice that is cut short is removed. */
static void sample_settle_slices(struct sample *s, double seconds)
{
	const double most = PROFILE_BLOCKS + 1;

	while (seconds * 1e9 / (double)s->slice_ns >= most && s->slice_ns >> 62 == 0)
		sample_fold_slices(s);
	seconds = seconds * 1e9 / (double)s->slice_ns;
	s->nr_slices = seconds < PROFILE_BLOCKS ? (uint32_t)seconds : PROFILE_BLOCKS;
}

int sample__settle(struct sample *s, double seconds)
{
	int err = profile__settle(&s->lats, s->nr_blocks);

	s->seconds = seconds;
	if (s->nr_slices)
		sample_settle_slices(s, seconds);
	err = err ?: profile__settle(&s->sizes, s->nr_blocks);
	return err ?: profile__settle(&s->steps, s->nr_blocks);
}

double sample__total(const struct sample *s, enum sample_total total)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->nr_blocks; i++)
		sum += s->totals[total][i];
	return sum;
}
