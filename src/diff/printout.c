/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printout.c: reads a run saved by `latency -o json`. Its histograms are as coarse as printed, 3 %;
 * their variation is unknown unless saved with --hist. Sizes are a mean; failures and steps are
 * missing.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/log.h"
#include "capture/printout.h"
#include "diff/side.h"

enum { DIFF_LEAST_TURNS = 8 }; /* fewer do not show the variation */

struct printout_state {
	struct diff_side *side;
	const struct diff_wants *wants;
	bool has_totals;
	double now_s, before_s; /* end of this interval and of the previous one */
};

static bool list_has(const struct option_list *list, const char *word)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->words[i], word))
			return true;
	return !list->nr;
}

/* Filters can use only the names that were saved. */
static int printout_check_wants(const struct diff_side *side, const struct diff_wants *w)
{
	const struct filter_options *f = &w->options->filter;
	const struct file_options *files = &w->options->file;
	const char *option = files->from_ns.given ? "--from"
			     : files->to_ns.given ? "--to"
			     : w->only		  ? "--if"
			     : f->pid.given	  ? "--pid"
			     : f->comm		  ? "--comm"
			     : f->cgroup	  ? "--cgroup"
			     : f->nsid.given	  ? "--nsid"
			     : f->qid.given	  ? "--qid"
			     : f->ctrl_id.given	  ? "--ctrl-id"
			     : f->min_ns.given	  ? "--min"
			     : f->failed	  ? "--failed"
						  : NULL;

	if (!option)
		return 0;
	return log_err(-EINVAL, "%s requires a capture: %s holds only summaries", option,
		       side->path);
}

static struct diff_group *printout_group(struct diff_side *side, const struct printout_line *line)
{
	struct diff_device *device = diff_side__device(side, line->dev);
	struct diff_group *group;

	if (!device)
		device = diff_side__add_device(side, line->dev);
	for (size_t i = 0; device && i < side->nr_devices; i++)
		if (side->devices[i] == device) {
			group = diff_side__group(side, i, line->op, SAMPLE_COARSE);
			if (group && !group->turns.lats.place &&
			    sample__init(&group->turns, SAMPLE_COARSE)) {
				log_no_memory();
				return NULL;
			}
			return group;
		}
	return NULL;
}

static int printout_total(struct printout_state *state, struct diff_group *group,
			  const struct printout_line *line)
{
	state->has_totals = true;
	if (line->is_bucket)
		return sample__add_bucket(&group->sample, line->from_ns, line->count);
	sample__add_total(&group->sample, SAMPLE_COUNT, line->count);
	sample__add_total(&group->sample, SAMPLE_BYTES, line->count * line->size_bytes);
	sample__add_total(&group->sample, SAMPLE_NS, line->count * line->mean_ns);
	if (line->iops > 0)
		state->side->seconds = fmax(state->side->seconds, line->count / line->iops);
	return 0;
}

/* Rows of one time are one turn, whatever other keys --by adds. */
static void printout_begin_turn(struct diff_group *group, double time_s)
{
	if (group->has_turns && group->turn_s == time_s)
		return;
	if (group->has_turns)
		sample__end_turn(&group->turns);
	group->has_turns = true;
	group->turn_s = time_s;
}

static int printout_interval(struct printout_state *state, struct diff_group *group,
			     const struct printout_line *line)
{
	double seconds;

	if (line->time_s != state->now_s) {
		state->before_s = line->time_s > state->now_s ? state->now_s : 0;
		state->now_s = line->time_s;
	}
	printout_begin_turn(group, line->time_s);
	if (line->is_bucket)
		return sample__add_bucket(&group->turns, line->from_ns, line->count);
	sample__add_total(&group->turns, SAMPLE_COUNT, line->count);
	sample__add_total(&group->turns, SAMPLE_BYTES, line->count * line->size_bytes);
	sample__add_total(&group->turns, SAMPLE_NS, line->count * line->mean_ns);
	seconds = state->now_s - state->before_s;
	if (state->now_s < 1e9 && seconds >= 0.001) /* in its middle: ends are not exact */
		sample__add_slice(&group->sample, (uint64_t)((state->now_s - seconds / 2) * 1e9),
				  (uint64_t)(seconds * 1e9), line->count);
	return 0;
}

static int printout_on_line(void *arg, const struct printout_line *line)
{
	struct printout_state *state = arg;
	const struct filter_options *f = &state->wants->options->filter;
	struct diff_group *group;
	int err;

	if (!list_has(&f->devices, line->dev) || !list_has(&f->ops, line->op))
		return 0;
	group = printout_group(state->side, line);
	if (!group)
		return -ENOMEM;
	err = line->is_total ? printout_total(state, group, line)
			     : printout_interval(state, group, line);
	return err ? log_err(err, "out of memory") : 0;
}

/* Count of a bucket before it is settled. */
static double printout_in_bucket(const struct sample *sample, uint32_t key)
{
	int row = profile__row(&sample->lats, key);
	double sum = 0;

	for (int block = 0; row >= 0 && block < PROFILE_BLOCKS; block++)
		sum += sample->lats.rows[row][block];
	return sum;
}

/* I/O after the last full interval is only in the totals: one more turn. */
static int printout_add_rest(struct diff_group *group)
{
	const struct sample *whole = &group->sample;
	struct sample *turns = &group->turns;
	double rest[NR_SAMPLE_TOTALS];
	int err = 0;

	for (int i = 0; i < NR_SAMPLE_TOTALS; i++)
		rest[i] = sample__total(whole, (enum sample_total)i) -
			  sample__total(turns, (enum sample_total)i);
	for (uint32_t key = 0; !err && rest[SAMPLE_COUNT] > 0 && key < whole->lats.nr_keys; key++) {
		double count = printout_in_bucket(whole, key) - printout_in_bucket(turns, key);

		if (count > 0)
			err = sample__add_bucket(
				turns, (uint64_t)sample__slot_from(key, SAMPLE_COARSE), count);
	}
	for (int i = 0; rest[SAMPLE_COUNT] > 0 && i < NR_SAMPLE_TOTALS; i++)
		sample__add_total(turns, (enum sample_total)i, fmax(rest[i], 0));
	if (rest[SAMPLE_COUNT] > 0)
		sample__end_turn(turns);
	return err;
}

/* Were all buckets printed in every interval as well? */
static bool printout_has_turns(const struct diff_group *group)
{
	const struct sample *whole = &group->sample, *turns = &group->turns;
	bool all = turns->nr_turns >= DIFF_LEAST_TURNS;

	for (uint32_t key = 0; all && key < whole->lats.nr_keys; key++)
		all = printout_in_bucket(turns, key) == printout_in_bucket(whole, key);
	return all;
}

/* Keeps the more informative of the two samples. */
static int printout_settle(struct diff_group *group, double seconds)
{
	struct sample whole = group->sample;
	int err = 0;

	if (group->has_turns)
		sample__end_turn(&group->turns);
	if (group->turns.lats.nr)
		err = printout_add_rest(group);
	if (err)
		return err;
	if (printout_has_turns(group)) {
		memcpy(group->turns.slices, whole.slices, sizeof(whole.slices));
		group->turns.slice_ns = whole.slice_ns;
		group->turns.nr_slices = whole.nr_slices;
		group->sample = group->turns;
		group->turns = whole;
	} else {
		group->sample.is_loose = true;
	}
	return sample__settle(&group->sample, seconds);
}

int diff_side__read_printout(struct diff_side *side, const struct diff_wants *wants)
{
	struct printout_state state = { .side = side, .wants = wants };
	double lost;
	int err = printout_check_wants(side, wants);

	err = err ?: printout__read(side->path, printout_on_line, &state, &lost);
	if (err)
		return err;
	if (!state.has_totals && side->nr_groups)
		return log_err(-EIO, "%s has no rows of the whole run: the file is truncated",
			       side->path);
	if (!side->nr_groups && !wants->options->filter.devices.nr &&
	    !wants->options->filter.ops.nr)
		return log_err(-EIO, "%s holds no rows of 'latency -o json'", side->path);
	if (lost > 0)
		log_warn("%s: %.0f events were lost during the measurement", side->path, lost);
	side->lost = lost > 0;
	for (size_t i = 0; !err && i < side->nr_groups; i++)
		err = printout_settle(side->groups[i], side->seconds);
	return err ? log_err(err, "out of memory") : 0;
}
