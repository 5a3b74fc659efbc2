/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge.c: how do captures of many hosts, or many parts of one recording, become one file? Copies
 * their chunks in order of the wall clock; every command that takes -r then shows them as it would
 * show all files at once. What an input lost stays told. Decodes nothing: as fast as the disk.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/output.h"
#include "capture/clock_step.h"
#include "capture/damage.h"
#include "capture/file.h"
#include "capture/join.h"
#include "cmd/cmd.h"

enum { MERGE_COUNTS = 128 }; /* bytes */

struct merge {
	/* options */
	struct option_list files;
	const char *write;
	int verbose;
	/* state */
	struct output output;
	struct capture_join *join;
};

static const struct option_def merge_options[] = {
	{ "FILE", 0, OPTION_OPERANDS, offsetof(struct merge, files), "FILE...", "captures",
	  .completes = "file" },
	{ "read", 'r', OPTION_FILES, offsetof(struct merge, files), "FILE", "the same as FILE",
	  .completes = "file" },
	{ "write", 'w', OPTION_STRING, offsetof(struct merge, write), "FILE",
	  "write the merged capture to FILE", .completes = "file" },
	{ "verbose", 'v', OPTION_COUNT, offsetof(struct merge, verbose), NULL,
	  "also name each capture that was merged" },
	{ 0 },
};

static const struct option_group merge_group = { "What is merged", merge_options };
static int merge_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_merge = {
	.name = "merge",
	.group = "captures",
	.brief = "captures of many hosts in one file",
	.synopsis = "-w FILE FILE...",
	.groups = CMD_GROUPS(NULL),
	.own = &merge_group,
	.view_size = sizeof(struct merge),
	.run = merge_run,
};

/* ---- what is told ---- */

static const char *merge_host(const struct capture_joined *capture)
{
	const char *host = capture_about__info(capture->about, CAPTURE_INFO_HOST);

	return host ? host : "?";
}

/* Is no capture before it of the same host? */
static bool merge_is_first_of_host(const struct capture_join *join, size_t nr)
{
	const struct capture_joined capture = capture_join__capture(join, nr);

	for (size_t i = 0; i < nr; i++) {
		const struct capture_joined other = capture_join__capture(join, i);

		if (!strcmp(merge_host(&other), merge_host(&capture)))
			return false;
	}
	return true;
}

static void merge_count(char counts[MERGE_COUNTS], uint64_t nr, const char *what)
{
	size_t len = strlen(counts);

	if (nr)
		snprintf(counts + len, MERGE_COUNTS - len, "%s%" PRIu64 " %s", len ? ", " : "", nr,
			 what);
}

/* "8009 records, 22 waits": what there is of a capture, or of all. */
static const char *merge_counts(const struct capture_joined *of, char counts[MERGE_COUNTS])
{
	counts[0] = 0;
	merge_count(counts, of->nr_records, "records");
	merge_count(counts, of->nr_waits, "waits");
	merge_count(counts, of->nr_requests, "requests");
	merge_count(counts, of->nr_readings, "readings of the page cache");
	return counts[0] ? counts : "0 records";
}

/* True: it lacks something. */
static bool merge_tell_capture(const struct capture_joined *capture)
{
	char counts[MERGE_COUNTS];
	bool lost;

	log_verbose("%s: %s of %s", capture->path, merge_counts(capture, counts),
		    merge_host(capture));
	capture_clock_step__tell(capture->about, capture->path);
	capture_damage__tell(capture->damage, capture->path);
	lost = capture_damage__tell_lost(capture->damage, &capture->about->trailer.lost,
					 capture->path);
	return lost || !capture_damage__is_whole(capture->damage);
}

static int merge_tell(const struct merge *m)
{
	size_t nr = capture_join__nr(m->join), nr_hosts = 0;
	struct capture_joined all = { 0 };
	char counts[MERGE_COUNTS];
	bool lacks = false;

	for (size_t i = 0; i < nr; i++) {
		const struct capture_joined capture = capture_join__capture(m->join, i);

		lacks |= merge_tell_capture(&capture);
		all.nr_records += capture.nr_records;
		all.nr_waits += capture.nr_waits;
		all.nr_requests += capture.nr_requests;
		all.nr_readings += capture.nr_readings;
		nr_hosts += merge_is_first_of_host(m->join, i);
	}
	log_note("%s: %s; captures: %zu, hosts: %zu", m->write, merge_counts(&all, counts), nr,
		 nr_hosts);
	return lacks ? EXIT_LOST : EXIT_DONE;
}

/* ---- the file ---- */

/* Until a chunk is written, signals wait: see capture_source__is_interrupted. */
static void merge_hold_signals(void)
{
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGHUP);
	sigprocmask(SIG_BLOCK, &held, NULL);
}

/* Captures name tasks and files: they are their owner's, as those of record. */
static int merge_open(struct merge *m)
{
	int err = output__open(&m->output, m->write, &m->files), fd;

	if (err)
		return err;
	fd = fileno(m->output.file);
	if (isatty(fd))
		err = log_err(-EINVAL, "a capture is binary and not for a terminal");
	else if (m->output.partial[0] && !m->output.place.exists)
		err = capture_file__set_mode(fd, 0600);
	return err;
}

static int merge_say(const struct merge *m, const struct capture_writer *writer, int err)
{
	if (err == -EINTR)
		return log_err(err, "interrupted: not all is in %s", m->write);
	if (err == -ENOSPC)
		return log_err(err, "cannot write '%s': %s", m->write,
			       strerror(-capture_writer__full_err(writer)));
	return err == -EPIPE ? err
			     : log_err(err, "cannot write '%s': %s", m->write, strerror(-err));
}

static int merge_write(struct merge *m)
{
	const struct capture_options options = { .fd = fileno(m->output.file),
						 .reserve_bytes = CAPTURE_RESERVE_BYTES,
						 .is_merged = true };
	struct capture_writer *writer;
	int err = capture_writer__new(&options, &writer);

	if (err)
		return err;
	err = capture_join__write(m->join, writer);
	err = err ?: capture_writer__finish(writer, "done", NULL, 0);
	if (err)
		err = merge_say(m, writer, err);
	capture_writer__free(writer);
	return err;
}

static int merge_check(const struct merge *m)
{
	if (!m->write)
		return log_err(-EINVAL, "merge requires -w FILE, the capture to be written");
	if (!m->files.nr)
		return log_err(-EINVAL,
			       "merge requires captures, e.g. iosonar merge -w FILE FILE...");
	for (size_t i = 0; i < m->files.nr; i++)
		if (place__is_same(m->write, m->files.words[i]))
			return log_err(-EINVAL, "-w %s is one of the captures to be merged",
				       m->write);
	return 0;
}

static int merge_run(void *state, const struct options *options, char **argv)
{
	struct merge *m = state;
	int err = merge_check(m);

	(void)options;
	if (!err && argv[0])
		err = log_err(-EINVAL, "unexpected argument '%s'", argv[0]);
	if (err)
		return err;
	log_set_verbose(m->verbose);
	merge_hold_signals();
	err = capture_join__open(m->files.words, m->files.nr, &m->join);
	if (err)
		return err == -ENOMEM || err == -EINVAL ? err : -EIO;
	err = merge_open(m);
	err = err ?: merge_write(m);
	err = output__finish(&m->output, err);
	err = err ?: merge_tell(m);
	capture_join__free(m->join);
	return err == -ENOSPC ? EXIT_LOST : err;
}
