/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture.c: reads a run from a capture: every command that passes the filters, with its exact
 * latency, size, end and, if it has stages, its steps. Damaged captures and Ctrl-C are handled as
 * in session__run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "decode/op.h"
#include "decode/row.h"
#include "diff/side.h"
#include "session/io_source.h"
#include "session/session.h"

struct capture_state {
	struct diff_side *side;
	const struct diff_wants *wants;
	size_t *places; /* by device of the capture: place in the side's list + 1 */
	size_t nowhere; /* place + 1 of an unknown device */
	uint64_t from_ns;
	struct command_row command; /* current command, for --if */
};

static size_t *capture_place(struct capture_state *state, const struct session *s,
			     const struct device *device)
{
	const struct device_list *list = io_source__devices(s);

	return device ? &state->places[device_list__head(list, (int)(device - list->devices))]
		      : &state->nowhere;
}

/* The side's device; a command that fails with its path counts for the disk above it. */
static struct diff_device *capture_device(struct capture_state *state, const struct session *s,
					  const struct device *device)
{
	const struct device_list *list = io_source__devices(s);
	size_t *place = capture_place(state, s, device), at;
	struct diff_device *found;
	char label[48] = "?";

	if (*place)
		return state->side->devices[*place - 1];
	at = (size_t)(place - state->places);
	if (device)
		device_list__label(list, (int)at, label, sizeof(label));
	found = diff_side__add_device(state->side, label);
	if (!found)
		return NULL;
	*place = state->side->nr_devices;
	if (device) {
		snprintf(found->serial, sizeof(found->serial), "%s", list->devices[at].serial);
		found->nsid = list->devices[at].nsid;
		found->is_ctrl = list->devices[at].kind == DEVICE_NVME_CTRL;
	}
	return found;
}

static struct diff_group *capture_group(struct capture_state *state, const struct session *s,
					const struct io_record *r)
{
	const struct device *device = io_source__device((struct session *)s, r);
	struct diff_device *found = capture_device(state, s, device);
	struct diff_group **group;
	char buf[16];

	if (!found)
		return NULL;
	group = &found->ops[r->kind & 3][r->op];
	if (!*group)
		*group = diff_side__group(
			state->side, *capture_place(state, s, device) - 1,
			op__word(r->kind, r->op, io_source__op_names(s), buf, sizeof(buf)),
			SAMPLE_FINE);
	return *group;
}

static int capture_on_record(void *arg, struct session *s, const struct io_record *r)
{
	struct capture_state *state = arg;
	struct moment moments[NR_STAGES];
	struct sample_io io = { .ns = r->end_ns - r->first_ns,
				.bytes = r->bytes,
				.at_ns =
					r->end_ns > state->from_ns ? r->end_ns - state->from_ns : 0,
				.failed = r->status != 0,
				.moments = moments };
	struct diff_group *group;

	/* --if works as in trace. */
	if (r->what != RECORD_END || !io_source__is_met(s, state->wants->only, r, &state->command))
		return 0;
	group = capture_group(state, s, r);
	if (!group)
		return -ENOMEM;
	if (r->flags & RECORD_STAGES)
		io.nr_moments = stage__moments(r, STEPS_OF_REQUEST, moments);
	return sample__add(&group->sample, &io) ? log_no_memory() : 0;
}

static int capture_on_start(void *arg, struct session *s)
{
	struct capture_state *state = arg;

	state->from_ns = s->start_ns + s->options->file.from_ns.value;
	state->places = calloc(io_source__devices(s)->nr + 1, sizeof(*state->places));
	return state->places ? 0 : log_no_memory();
}

static int capture_on_end(void *arg, struct session *s)
{
	struct capture_state *state = arg;
	struct diff_side *side = state->side;
	int err = 0;

	if (session__is_cut(s))
		return log_err(-EINTR, "cannot compare: %s was not read to its end", side->path);
	side->seconds = s->span_s;
	for (size_t i = 0; !err && i < side->nr_groups; i++)
		err = sample__settle(&side->groups[i]->sample, side->seconds);
	return err ? log_err(err, "out of memory") : 0;
}

static struct io_wants capture_wants(void *arg, const struct options *options)
{
	(void)arg;
	return (struct io_wants){ .filter = &options->filter, .records = true, .stages = true };
}

static const struct session_view capture_view = {
	.wants = capture_wants,
	.on_start = capture_on_start,
	.on_record = capture_on_record,
	.on_end = capture_on_end,
};

int diff_side__read_capture(struct diff_side *side, const struct diff_wants *wants)
{
	struct capture_state state = { .side = side, .wants = wants };
	struct options options = *wants->options;
	const char *paths[] = { side->path };
	int err;

	options.file.read = (struct option_list){ paths, 1 };
	options.output = (struct output_options){ .path = "/dev/null" };
	log_note("%s:", side->path);
	err = session__run(&capture_view, &state, &options, NULL);
	free(state.places);
	side->lost = err > 0;
	return err < 0 ? err : 0;
}
