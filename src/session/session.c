/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "decode/nvme.h"
#include "session/source.h"

static const uint64_t session_default_interval_ns = 1000000000; /* -i */

/* ---- output ---- */

/*
 * A trace prints millions of lines a second: a write a 64 KiB, not a page. Lines for a terminal
 * still go one by one. Without the memory it is only slower.
 */
static void session_buffer_output(struct session *s)
{
	enum { SIZE = 1 << 16 };

	if (isatty(fileno(s->out)))
		return;
	s->inside->buffer = malloc(SIZE);
	if (s->inside->buffer && setvbuf(s->out, s->inside->buffer, _IOFBF, SIZE)) {
		free(s->inside->buffer);
		s->inside->buffer = NULL;
	}
}

/* A run of this machine drops its privileges before the end. */
static bool session_drops(const struct session *s)
{
	return !s->options->file.read.nr && !s->options->run.keep_privileges;
}

/* What has to be done with files later is left to processes that may. */
static int session_keep_rights(struct session *s)
{
	const struct file_options *f = &s->options->file;
	int err = output__keep_rights(&s->inside->output);

	if (!err && (f->size_bytes.given || f->last_ns.given))
		err = maker__fork(&s->inside->maker, f);
	return err;
}

static int session_open_output(struct session *s)
{
	const struct output_options *o = &s->options->output;
	const struct file_options *f = &s->options->file;
	const struct option_list kept = { (const char **)&f->write, 1 };
	struct output *output = &s->inside->output;
	int err = output__open(output, o->path, f->write ? &kept : &f->read);

	if (!err && session_drops(s)) {
		err = session_keep_rights(s);
		err = err ? output__finish(output, err) : 0;
	}
	if (err)
		return err;
	s->format = o->format > OUTPUT_CSV ? TABLE_TEXT : (enum table_format)o->format;
	s->out = output->file;
	session_buffer_output(s);
	return 0;
}

/* Whoever reads sees whole intervals. A reader that has gone ends the run without a word. */
int session_flush(struct session *s)
{
	const char *where = s->options->output.path ? s->options->output.path : "the output";

	if (s->inside->view->on_flush)
		s->inside->view->on_flush(s->inside->state);
	if (!fflush(s->out) && !ferror(s->out))
		return 0;
	s->inside->output_failed = true;
	if (errno == EPIPE)
		return -EPIPE;
	return log_err(-EIO, "cannot write %s: %s", where, strerror(errno));
}

/* What failed was said; stdio must not try again, nor the door complain once more. */
static int session_close_output(struct session *s, int err)
{
	int flush_err = s->inside->output_failed ? 0 : session_flush(s);

	if (s->inside->output_failed)
		__fpurge(s->out);
	clearerr(s->out);
	if (s->out == stdout && s->inside->buffer)
		setvbuf(stdout, NULL, _IONBF, 0); /* it is empty; the door still flushes it */
	err = err ?: flush_err;
	if (!err && s->inside->interrupted)
		output__finish(&s->inside->output, -EINTR);
	else
		err = output__finish(&s->inside->output, err);
	free(s->inside->buffer);
	s->out = NULL;
	return err;
}

void session__status(const struct session *s, const char *text)
{
	if (isatty(STDERR_FILENO) && s->out)
		fprintf(stderr, "\r\033[K%s", text);
}

const struct object session_ledger = { "ledger", { ledger_columns } };

void session_show_ledger(const struct session *s)
{
	const struct column *columns[OBJECT_COLUMNS];
	size_t nr = object__columns(&session_ledger, columns);
	struct table *table;

	if (s->format != TABLE_JSON || !s->ledger_known || s->inside->interrupted)
		return;
	table = table__new(s->out, s->format, session_ledger.type, columns, nr);
	if (table)
		table__row(table, &s->ledger);
	table__free(table);
}

/* ---- time ---- */

uint64_t session_interval(const struct session *s)
{
	const struct option_number *interval = &s->options->run.interval_ns;

	return interval->given ? interval->value : session_default_interval_ns;
}

void session_set_time(struct session *s, uint64_t now_ns)
{
	s->elapsed_s = (double)(now_ns - s->start_ns) / 1e9;
	s->interval_s = (double)(now_ns - s->inside->last_ns) / 1e9;
	s->inside->last_ns = now_ns;
}

struct capture_clock session_clock(void)
{
	return (struct capture_clock){
		.mono_ns = clock__mono_ns(),
		.real_ns = clock__wall_ns(),
		.boot_ns = clock__boot_ns(),
	};
}

/* A capture that is full is all that some views are for; a COMMAND is not ended for it. */
void session_check_full(struct session *s)
{
	struct session_inside *in = s->inside;

	if (!in->recorder || !recorder__is_full(in->recorder))
		return;
	in->lost = true;
	if (in->view->only_keeps && !loop__child_pid(in->loop))
		loop__stop(in->loop);
}

int session_tick(struct session *s)
{
	struct session_inside *in = s->inside;
	int err;

	session__status(s, "");
	err = in->view->on_tick(in->state, s);
	err = err ?: session_flush(s);
	in->ticks++;
	return err;
}

bool session_is_interrupted(struct session *s)
{
	if (loop__is_interrupted(s->inside->loop))
		s->inside->stopped = s->inside->interrupted = true;
	return s->inside->interrupted;
}

void session_tell_interrupted(const struct session *s, uint64_t at, uint64_t all)
{
	double percent = all ? 100.0 * (double)at / (double)all : 0;

	if (s->inside->interrupted)
		log_warn("interrupted after %.0f %% of the capture: what is shown is not all of it",
			 percent > 99 ? 99 : percent);
}

bool session__is_cut(const struct session *s)
{
	return s->inside->interrupted;
}

void session__stop(struct session *s)
{
	s->inside->stopped = true;
	loop__stop(s->inside->loop);
}

/* ---- what a view asks ---- */

struct run *session__probes(const struct session *s)
{
	return s->inside->probes;
}

struct io *session__io(const struct session *s)
{
	return s->inside->source->io ? s->inside->source->io(s) : NULL;
}

const struct cache_about *session__cache_about(const struct session *s)
{
	return s->inside->source->cache_about(s);
}

void session__cache_read(const struct session *s, cache_row_fn fn, void *arg)
{
	s->inside->source->cache_read(s, fn, arg);
}

void session__cache_losses(const struct session *s, struct cache_losses *losses)
{
	s->inside->source->cache_losses(s, losses);
}

char *session__disk(const struct session *s, uint32_t dev, char *buf, size_t size)
{
	const char *name =
		s->inside->source->text(s, GLOSSARY_DISKS, (struct glossary_id){ { dev } });

	if (name)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "%u:%u", dev >> 20, dev & 0xfffff);
	return buf;
}

const struct device *session__device(struct session *s, const struct io_record *record)
{
	return s->inside->source->device(s, record);
}

const char *session__host(const struct session *s)
{
	return s->inside->source->host ? s->inside->source->host(s) : NULL;
}

void session__stack_losses(const struct session *s, uint64_t *taken, uint64_t *failed)
{
	*taken = *failed = 0;
	if (s->inside->source->stack_losses)
		s->inside->source->stack_losses(s, taken, failed);
}

const char *session__stack(const struct session *s, const struct io_record *record, bool user)
{
	const struct io_stages *stages = io_record__stages(record);
	struct glossary_id id;

	if (!stages)
		return NULL;
	id.words[0] = user ? stages->user_stack : stages->kernel_stack;
	id.words[1] = user ? record->pid : 0;
	return id.words[0] ? s->inside->source->text(s, GLOSSARY_STACKS, id) : NULL;
}

const char *session__file(const struct session *s, uint64_t inode, uint64_t place)
{
	const struct glossary_id id = { { inode, place } };

	return inode ? s->inside->source->text(s, GLOSSARY_FILES, id) : NULL;
}

const char *session__file_of(const struct session *s, const struct io_stages *stages)
{
	return session__file(s, stages->inode, io_file_place(stages->file_dev, stages->file_nth));
}

bool session__knows(const struct session *s, enum glossary_kind kind)
{
	return s->inside->source->knows(s, kind);
}

const struct device_list *session__devices(const struct session *s)
{
	return s->inside->source->devices(s);
}

char *const *session__op_names(const struct session *s)
{
	return s->inside->source->op_names(s);
}

uint64_t session__wall_ns(const struct session *s, uint64_t mono_ns)
{
	return capture_about__wall_ns(s->inside->source->about(s), mono_ns);
}

uint64_t session_later(uint64_t ns, uint64_t by_ns)
{
	return ns + by_ns < ns ? UINT64_MAX : ns + by_ns;
}

void session__span(const struct session *s, uint64_t *from_ns, uint64_t *to_ns)
{
	const struct file_options *f = &s->options->file;

	*from_ns = session_later(s->start_ns, f->from_ns.value);
	*to_ns = f->to_ns.given ? session_later(s->start_ns, f->to_ns.value) : UINT64_MAX;
}

struct alias *session__alias(const struct session *s)
{
	return s->inside->alias;
}

bool session__is_met(struct session *s, const struct condition *condition,
		     const struct io_record *record, struct command_row *row)
{
	const struct device *device;

	if (!condition)
		return true;
	device = session__device(s, record);
	command_row__fill(row, record,
			  &(struct command_context){
				  .dev = device ? device->name : NULL,
				  .block_size = device ? device->block_size : 0,
				  .op_names = session__op_names(s),
				  .start_ns = s->start_ns,
				  .wall_ns = session__wall_ns(s, io_record__time_ns(record)),
				  .cdw = true,
			  });
	return condition__is_true(condition, row);
}

const char *session__about(const struct session *s, const char *key)
{
	/* The command line may name anything. */
	if (s->inside->alias && !strcmp(key, CAPTURE_INFO_COMMAND))
		return "iosonar --anonymous";
	return capture_about__info(s->inside->source->about(s), key);
}

char *session__cgroup_path(const struct session *s, uint64_t id, char *buf, size_t size)
{
	const char *path =
		s->inside->source->text(s, GLOSSARY_CGROUPS, (struct glossary_id){ { id } });

	if (path)
		snprintf(buf, size, "%s", path);
	else
		snprintf(buf, size, "cgroup-%" PRIu64, id);
	return buf;
}

uint64_t session__failovers(const struct session *s, int device)
{
	return device >= 0 && device < SESSION_PATHS ? s->inside->failovers[device] : 0;
}

void session_count_failover(struct session *s, const struct io_record *record, int device)
{
	const struct device_list *list = session__devices(s);

	if (record->what == RECORD_END && nvme_status__is_path(record->kind, record->status) &&
	    device >= 0 && device < SESSION_PATHS && device__is_leg(&list->devices[device]))
		s->inside->failovers[device]++;
}

bool session__sees_nvme(const struct session *s)
{
	return s->inside->source->sees(s, true);
}

bool session__sees_block(const struct session *s)
{
	return s->inside->source->sees(s, false);
}

void session__read(struct session *s, io_row_fn fn, void *arg)
{
	s->inside->source->read(s, fn, arg);
}

void session__take_ledger(struct session *s, uint64_t counted)
{
	s->inside->source->take_ledger(s, counted);
}

struct recorder *session__recorder(const struct session *s)
{
	return s->inside->recorder;
}

/* ---- the run ---- */

/* Which of several ends is told: a --fail-if, what was watched for, the COMMAND's own, loss. */
static int session_verdict(const struct session *s)
{
	int child = loop__child_status(s->inside->loop);
	bool whole = !s->inside->lost && !s->incomplete &&
		     (!s->ledger_known || ledger__is_whole(&s->ledger));

	if (s->ledger_known && !s->inside->interrupted)
		ledger__print(&s->ledger);
	if (s->came_true)
		return EXIT_CAME_TRUE;
	if (s->found)
		return EXIT_FOUND;
	if (child)
		return child;
	if (s->inside->interrupted)
		return EXIT_LOST;
	return whole || s->options->run.allow_loss ? EXIT_DONE : EXIT_LOST;
}

/* What only one of the two sources understands. */
static int session_check_options(const struct session_view *view, const struct options *options,
				 char **argv)
{
	const struct file_options *f = &options->file;

	if (f->read.nr && argv && argv[0])
		return log_err(-EINVAL,
			       "-r reads a capture: there is nothing '%s' could be run for",
			       argv[0]);
	if (!f->read.nr && (f->from_ns.given || f->to_ns.given))
		return log_err(-EINVAL, "--%s is about a capture: it needs -r FILE",
			       f->from_ns.given ? "from" : "to");
	if (f->from_ns.given && f->to_ns.given && f->to_ns.value <= f->from_ns.value)
		return log_err(-EINVAL, "--to is not after --from: there is nothing between them");
	if (f->anonymous && !f->read.nr && !view->only_keeps)
		return log_err(-EINVAL, "--anonymous is about a capture: it needs -r FILE");
	if (f->key && !f->anonymous)
		return log_err(-EINVAL, "--key is that of --anonymous, which is not asked for");
	if ((f->zstd || f->mode) && !f->write)
		return log_err(-EINVAL, "--%s is about a capture: it needs -w FILE",
			       f->zstd ? "zstd" : "mode");
	if (!options__mode(f))
		return log_err(-EINVAL, "--mode %s: permissions are an octal number: 0640",
			       f->mode);
	return 0;
}

static const struct session_source *session_source_of(const struct session_view *view,
						      const struct options *options)
{
	if (view->asks)
		return options->file.read.nr ? &session_called : &session_probe;
	if (view->wants_cache)
		return options->file.read.nr ? &session_cached : &session_cache;
	return options->file.read.nr ? &session_replay : &session_live;
}

static int session_make_alias(struct session *s)
{
	struct alias *alias;

	if (!s->options->file.anonymous)
		return 0;
	alias = s->inside->alias = calloc(1, sizeof(*alias));
	return alias ? alias__init(alias, s->options->file.key) : log_err(-ENOMEM, "out of memory");
}

int session__run(const struct session_view *view, void *state, const struct options *options,
		 char **argv)
{
	struct session_inside inside = {
		.view = view,
		.state = state,
		.source = session_source_of(view, options),
	};
	struct session s = { .options = options, .inside = &inside };
	int err = session_check_options(view, options, argv);

	if (!err && !options->file.read.nr)
		err = clock__look();
	err = err ?: session_open_output(&s);
	if (err)
		return err;
	if (view->wants)
		inside.wants = view->wants(state, options);
	err = session_make_alias(&s);
	inside.loop = loop__new();
	if (!err)
		err = inside.loop
			      ? inside.source->run(&s, argv)
			      : log_err(-errno, "cannot make an event loop: %s", strerror(errno));
	err = session_close_output(&s, err);
	err = err ?: session_verdict(&s);
	inside.source->free(&s);
	recorder__free(inside.recorder);
	maker__end(&inside.maker);
	loop__free(inside.loop);
	free(inside.alias);
	return err;
}
