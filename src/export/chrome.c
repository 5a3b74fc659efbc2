/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chrome.c: a capture as Trace Event JSON, for chrome://tracing and similar viewers: a device is
 * the file's process, a lane of a queue its thread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "export/timeline.h"
#include "render/chrome.h"

static int chrome_begin(void **pen, struct session *s)
{
	*pen = chrome__begin(s->out);
	return *pen ? 0 : log_no_memory();
}

static int chrome_put_steps(void *pen, const struct timeline_io *io, struct chrome_event *event)
{
	char name[TIMELINE_STEP];
	int err = 0;

	event->category = "step";
	event->nr_args = 0;
	for (size_t i = 1; !err && i < io->nr_moments; i++) {
		event->name = timeline__step(io, i, name);
		event->start_ns = io->moments[i - 1].ns;
		event->duration_ns = io->moments[i].ns - io->moments[i - 1].ns;
		err = chrome__put(pen, event);
	}
	return err;
}

static int chrome_command(void *pen, const struct timeline_io *io)
{
	char lane[16], texts[CHROME_MAX_ARGS][24];
	struct chrome_event event = {
		.name = io->op,
		.category = "command",
		.start_ns = io->moments[0].ns,
		.duration_ns = io->moments[io->nr_moments - 1].ns - io->moments[0].ns,
		.pid = io->device + 1, /* 0 is the idle task's */
		.tid = io->track,
		.cpu = io->cpu,
		.comm = lane,
		.process = io->device_name,
	};
	int err;

	snprintf(lane, sizeof(lane), "queue %" PRIu32, io->qid);
	/* The first notes, with numbers as text. */
	for (size_t i = 0; i < io->nr_notes && i < CHROME_MAX_ARGS; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%" PRIu64, io->notes[i].number);
		event.args[i].key = io->notes[i].key;
		event.args[i].text = io->notes[i].text ? io->notes[i].text : texts[i];
		event.nr_args = i + 1;
	}
	err = chrome__put(pen, &event);
	if (!err && io->nr_moments > 2)
		err = chrome_put_steps(pen, io, &event);
	return err ? log_no_memory() : 0;
}

static int chrome_counter(void *pen, uint32_t device, enum timeline_counter counter, uint64_t ns,
			  uint64_t value)
{
	const bool is_depth = counter == TIMELINE_DEPTH;

	chrome__counter(pen, &(struct chrome_counter){
				     .name = is_depth ? "in flight" : "latency",
				     .unit = is_depth ? "commands" : "ns",
				     .time_ns = ns,
				     .value = value,
				     .pid = device + 1,
			     });
	return 0;
}

static int chrome_end(void *pen)
{
	chrome__end(pen);
	return 0;
}

static void chrome_free(void *pen)
{
	chrome__free(pen);
}

static const struct timeline_pen chrome_pen = {
	.begin = chrome_begin,
	.command = chrome_command,
	.counter = chrome_counter,
	.end = chrome_end,
	.free = chrome_free,
};

static int chrome_start(void **state, struct session *s)
{
	return timeline__new(&chrome_pen, s, state);
}

const struct exporter export_chrome = {
	.start = chrome_start,
	.put = timeline__put,
	.finish = timeline__finish,
	.free = timeline__free,
};
