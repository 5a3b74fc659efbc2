/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * written.c: do blkparse and fio read what `export` writes for them? A libFuzzer target: the input
 * becomes events of any time, place and name. A reader of our own takes each stream of blktrace and
 * each log of fio apart again and finds the same events; of a few, blkparse and fio do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/blktrace_api.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "render/blktrace.h"
#include "render/iolog.h"
#include "render/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern char **environ;

enum {
	EVENT_BYTES = 16, /* of the input */
	NR_CPUS = 4,
	EVENTS_MOST = 256,
	TOOLS_EACH = 10000, /* inputs between two of which blkparse and fio read */
	TOOLS_EVENTS = 4,   /* such an input has at least so many events */
};

struct wanted {
	struct blktrace_event events[EVENTS_MOST];
	struct iolog_io ios[EVENTS_MOST];
	char paths[EVENTS_MOST][JOB_PATH];
	size_t nr, nr_ios;
};

static const uint8_t whats[] = { BLKTRACE_QUEUE, BLKTRACE_GET, BLKTRACE_ISSUE, BLKTRACE_COMPLETE,
				 BLKTRACE_INSERT };

static uint32_t get32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* ---- from the input to events ---- */

static void take_event(struct wanted *w, const uint8_t *in, uint32_t sequence[NR_CPUS])
{
	struct blktrace_event *e = &w->events[w->nr];
	uint64_t before = w->nr ? e[-1].time_ns : 0;

	*e = (struct blktrace_event){
		.time_ns = before + 1 + (get32(in) & 0xffffff), /* blkparse may swap equal ones */
		.sector = (uint64_t)get32(in + 4) << (in[3] % 16),
		.bytes = get32(in + 8) & ~511u,
		.pid = get32(in + 8) % 1000,
		.major = 259,
		.minor = 1,
		.cpu = in[12] % NR_CPUS,
		.what = whats[in[13] % sizeof(whats)],
		.flags = in[14] % 32,
	};
	e->err = e->what == BLKTRACE_COMPLETE ? in[15] : 0;
	e->sequence = ++sequence[e->cpu];
	w->nr++;
}

/* A name of 8 bytes, as a damaged capture may have it: most become no path. */
static void take_io(struct wanted *w, const uint8_t *in)
{
	struct iolog_io *io = &w->ios[w->nr_ios];
	char name[9] = { 0 };

	memcpy(name, in, 8);
	if (!(in[15] & 1)) /* else hardly any name is one */
		snprintf(name, sizeof(name), "sd%c", 'a' + in[0] % 3);
	if (!job__path(name, w->paths[w->nr_ios]))
		return;
	*io = (struct iolog_io){
		.time_us = IOLOG_FIRST_US + w->nr_ios,
		.path = w->paths[w->nr_ios],
		.action = in[12] % NR_IOLOG_ACTIONS,
		.offset_bytes = (uint64_t)(get32(in + 8) & 0xffffff) * 512,
		.bytes = (1 + in[13] % 128) * 512u,
	};
	if (io->action == IOLOG_SYNC)
		io->offset_bytes = io->bytes = 0;
	w->nr_ios++;
}

static void take(struct wanted *w, const uint8_t *data, size_t size)
{
	uint32_t sequence[NR_CPUS] = { 0 };

	w->nr = w->nr_ios = 0;
	for (; size >= EVENT_BYTES && w->nr < EVENTS_MOST; size -= EVENT_BYTES) {
		take_event(w, data, sequence);
		take_io(w, data);
		data += EVENT_BYTES;
	}
}

/* ---- blktrace ---- */

static void write_events(const struct wanted *w, const uint8_t *name, FILE *out)
{
	unsigned char buf[BLKTRACE_MOST];
	char comm[16] = { 0 };

	memcpy(comm, name, EVENT_BYTES);
	fwrite(buf, 1, blktrace__clock(buf, w->events[0].time_ns, 1700000000000000000), out);
	fwrite(buf, 1, blktrace__process(buf, w->events[0].time_ns, w->events[0].pid, comm), out);
	for (size_t i = 0; i < w->nr; i++)
		fwrite(buf, 1, blktrace__event(buf, &w->events[i]), out);
}

static void same_event(const struct blk_io_trace *t, const struct blktrace_event *e)
{
	if (t->time != e->time_ns || t->sector != e->sector || t->bytes != e->bytes ||
	    t->pid != e->pid || t->device != (e->major << 20 | e->minor) || t->cpu != e->cpu ||
	    t->sequence != e->sequence || t->error != (uint16_t)-e->err || t->pdu_len)
		abort();
}

/* The clock, the name, and then each event. */
static void read_events(const struct wanted *w, const char *text, size_t len)
{
	struct blk_io_trace t;
	size_t nr = 0;

	for (size_t at = 0; at < len; nr++) {
		if (len - at < sizeof(t))
			abort();
		memcpy(&t, text + at, sizeof(t));
		at += sizeof(t) + t.pdu_len;
		if (t.magic != (BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION) || at > len)
			abort();
		if (nr == 0 && (t.action != BLK_TN_TIMESTAMP || t.pdu_len != 8))
			abort();
		if (nr == 1 && (t.action != BLK_TN_PROCESS || text[at - 1]))
			abort();
		if (nr > 1)
			same_event(&t, &w->events[nr - 2]);
	}
	if (nr != w->nr + 2)
		abort();
}

/* ---- fio ---- */

static void write_log(const struct wanted *w, FILE *out)
{
	iolog__begin(out);
	for (size_t i = 0; i < w->nr_ios; i++) {
		size_t before = 0;

		while (strcmp(w->ios[before].path, w->ios[i].path) != 0)
			before++;
		if (before == i)
			iolog__open(out, w->ios[i].path);
	}
	for (size_t i = 0; i < w->nr_ios; i++)
		iolog__io(out, &w->ios[i]);
}

/* Each line has words as fio's manual has them, whatever a name was. */
static void read_log(const struct wanted *w, char *text)
{
	static const char *const actions[] = { "read", "write", "trim", "sync" };
	char *rest = text, *line = strsep(&rest, "\n"), path[JOB_PATH], word[8];
	unsigned long long at, offset, bytes;
	size_t nr = 0;

	if (strcmp(line, "fio version 3 iolog") != 0)
		abort();
	while ((line = strsep(&rest, "\n")) && *line) {
		const struct iolog_io *io = &w->ios[nr];
		int words =
			sscanf(line, "%llu %63s %7s %llu %llu", &at, path, word, &offset, &bytes);

		if (words == 3 && (!strcmp(word, "add") || !strcmp(word, "open")) && !nr)
			continue;
		if (words != 5 || nr == w->nr_ios || strcmp(path, io->path) != 0 ||
		    strcmp(word, actions[io->action]) != 0 || at != io->time_us ||
		    offset != io->offset_bytes || bytes != io->bytes)
			abort();
		nr++;
	}
	if (nr != w->nr_ios)
		abort();
}

/* ---- the tools themselves ---- */

/* Runs a program on a file, with its output in another, which the caller closes. */
static int run(char *const argv[], int in)
{
	int out = memfd_create("out", MFD_CLOEXEC), status;
	posix_spawn_file_actions_t files;
	pid_t pid;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in, 0);
	posix_spawn_file_actions_adddup2(&files, out, 1);
	if (out < 0 || lseek(in, 0, SEEK_SET) ||
	    posix_spawnp(&pid, argv[0], &files, NULL, argv, environ))
		abort(); /* blktrace and fio have to be installed */
	posix_spawn_file_actions_destroy(&files);
	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR) /* libFuzzer has a timer */
			abort();
	if (status || lseek(out, 0, SEEK_SET))
		abort();
	return out;
}

static int file_of(const char *text, size_t len)
{
	int fd = memfd_create("in", 0);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		abort();
	return fd;
}

/* blkparse has a line "e SECTOR BYTES" for each event. */
static void ask_blkparse(const struct wanted *w, const char *text, size_t len)
{
	char *const argv[] = { "blkparse", "-q", "-i", "-", "-f", "e %S %N\n", NULL };
	unsigned long long sector, bytes;
	int in = file_of(text, len), out = run(argv, in);
	FILE *lines = fdopen(out, "r");
	char line[256];
	size_t nr = 0;

	while (fgets(line, sizeof(line), lines)) {
		if (sscanf(line, "e %llu %llu", &sector, &bytes) != 2)
			continue;
		if (nr == w->nr || sector != w->events[nr].sector || bytes != w->events[nr].bytes)
			abort();
		nr++;
	}
	if (nr != w->nr)
		abort();
	fclose(lines);
	close(in);
}

/* fio reports reads first, then writes. Its engine without a device does not count the others. */
static void ask_fio(const struct wanted *w, const char *text, size_t len)
{
	unsigned long long wants[2] = { 0 }, found;
	char log[64], line[256], *at;
	int in, out, kinds = 0;
	FILE *lines;

	for (size_t i = 0; i < w->nr_ios; i++)
		if (w->ios[i].action <= IOLOG_WRITE)
			wants[w->ios[i].action]++;
	if (!wants[IOLOG_READ] && !wants[IOLOG_WRITE])
		return; /* fio calls it an error */
	in = file_of(text, len);
	snprintf(log, sizeof(log), "--read_iolog=/proc/%d/fd/%d", getpid(), in);
	out = run((char *const[]){ "fio", "--name=x", "--ioengine=null", "--replay_no_stall=1",
				   "--output-format=json", log, NULL },
		  in);
	lines = fdopen(out, "r");
	while (fgets(line, sizeof(line), lines)) {
		at = strstr(line, "\"total_ios\" : ");
		if (at && kinds < 2 && sscanf(at, "\"total_ios\" : %llu", &found) == 1 &&
		    found != wants[kinds++])
			abort();
	}
	if (kinds != 2)
		abort();
	fclose(lines);
	close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct wanted w;
	static unsigned int nr;
	char *trace = NULL, *log = NULL;
	size_t trace_len, log_len;
	FILE *out;

	take(&w, data, size);
	if (!w.nr)
		return 0;
	out = open_memstream(&trace, &trace_len);
	write_events(&w, data, out);
	fclose(out);
	read_events(&w, trace, trace_len);
	out = open_memstream(&log, &log_len);
	write_log(&w, out);
	fclose(out);
	if (w.nr >= TOOLS_EVENTS && w.nr_ios && nr++ % TOOLS_EACH == 0) {
		ask_blkparse(&w, trace, trace_len);
		ask_fio(&w, log, log_len);
	}
	read_log(&w, log);
	free(trace);
	free(log);
	return 0;
}
