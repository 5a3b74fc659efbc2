/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drives.c: which drive is slow for its kind, or slower than it was? Services of each drive are
 * compared at equal operation, size class and depth with those of other drives of its model and
 * with a baseline. One record per command, no stages, and one per failure or event of a controller;
 * it cannot see what makes all drives slow.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/log.h"
#include "cmd/cmd.h"
#include "decode/op.h"
#include "session/io_source.h"
#include "session/session.h"
#include "session/table.h"
#include "view/drives_rows.h"
#include "view/records.h"

#define VIEW(field) offsetof(struct drives_view, field)
static const struct option_def drives_options[] = {
	{ "baseline", 0, OPTION_STRING, VIEW(baseline), "FILE",
	  "compare each drive also with its past, as --learn kept it", .completes = "file" },
	{ "learn", 0, OPTION_STRING, VIEW(learn), "FILE", "keep in FILE how fast each drive is now",
	  .completes = "file" },
	{ "at-least", 0, OPTION_NUMBER, VIEW(at_least), "PERCENT",
	  "a drive is slow if it is slower by at least this (default: 10)", .min = 1,
	  .max = 10000 },
	ROW_IF_OPTION(VIEW(conditions), "'slower > 5'"),
	ROW_FAIL_IF_OPTION(VIEW(conditions), "slow"),
	RECORDS_BUFFER_OPTION(VIEW(buffer)),
	{ 0 },
};

static const struct option_group drives_group = { "What is compared", drives_options };

static int drives_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_drives = {
	.name = "drives",
	.group = "I/O",
	.brief = "which drive is slow for its kind, or slower than it was",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = CMD_GROUPS(&device_group, &lasting_group, OUTPUT_IN(OUTPUT_TABLES), &write_group,
			     &read_group, &alias_group),
	.own = &drives_group,
	.view_size = sizeof(struct drives_view),
	.objects = CMD_OBJECTS(&drives_rows, &drives_baseline, &session_ledger),
	.run = drives_run,
	.needs = NEED_IO | NEED_RINGS | NEED_CONTROLLERS,
};

/* ---- which drive ---- */

/* Namespaces share a drive, hosts and paths to it are apart; without a serial its place counts. */
static bool drives_is(const struct drive_name *name, const struct device_list *list, int32_t first,
		      const struct device *device, const char *host)
{
	const struct device *other = &list->devices[first];

	if (other->kind != device->kind || strcmp(other->model, device->model) ||
	    strcmp(other->serial, device->serial) ||
	    strncmp(name->host, host ? host : "", sizeof(name->host) - 1))
		return false;
	if (device->serial[0])
		return !device__is_leg(device) || device->ctrl == other->ctrl;
	return device->diskseq == other->diskseq && !strcmp(other->name, device->name);
}

/* What drives of one model have in common; without a model: the kind of their name, and size. */
static void drives_describe(const struct device *device, char *buf, size_t size)
{
	if (device->model[0])
		snprintf(buf, size, "%d %s", device->kind, device->model);
	else
		snprintf(buf, size, "%d %.*s %llu", device->kind,
			 (int)strcspn(device->name, "0123456789"), device->name,
			 (unsigned long long)device->size_bytes);
}

static int32_t drives_model(struct drives_view *v, const struct device *device)
{
	char(*peers)[sizeof(v->peers[0])] = v->peers;
	size_t nr = v->nr_models;

	drives_describe(device, peers[nr], sizeof(peers[nr]));
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(peers[i], peers[nr]))
			return (int32_t)i;
	v->nr_models++;
	return (int32_t)nr;
}

static bool drives_share_disk(const struct drives_view *v, const struct device_list *list, int a,
			      int b)
{
	const struct drive_name *x = &v->names[a], *y = &v->names[b];

	if (!device__is_leg(&list->devices[v->devices[a]]) ||
	    !device__is_leg(&list->devices[v->devices[b]]) || strcmp(x->host, y->host))
		return false;
	if (x->serial[0] || y->serial[0])
		return !memcmp(x->serial, y->serial, sizeof(x->serial)) &&
		       !memcmp(x->model, y->model, sizeof(x->model));
	return device_list__head(list, v->devices[a]) == device_list__head(list, v->devices[b]);
}

/* The first path to the disk of a new drive, or itself. */
static int drives_disk(const struct drives_view *v, const struct device_list *list, int nr)
{
	for (int i = 0; i < nr; i++)
		if (drives_share_disk(v, list, i, nr))
			return v->disks[i];
	return nr;
}

static int drives_new(struct drives_view *v, const struct device_list *list,
		      const struct device *device, const char *host)
{
	struct drive_name *name;
	int nr;

	if (v->drives.nr == DRIVES_MOST)
		return -ENOSPC;
	nr = drives__new(&v->drives, drives_model(v, device));
	if (nr < 0)
		return nr;
	name = &v->names[nr];
	v->devices[nr] = (int32_t)(device - list->devices);
	snprintf(name->host, sizeof(name->host), "%s", host ? host : "");
	memcpy(name->dev, device->name, sizeof(name->dev));
	memcpy(name->model, device->model, sizeof(name->model));
	memcpy(name->serial, device->serial, sizeof(name->serial));
	v->disks[nr] = drives_disk(v, list, nr);
	v->nr_paths += v->disks[nr] != nr;
	return nr;
}

/* Its number; -ENOSPC: there are too many; -ENOMEM. */
static int drives_find(struct drives_view *v, const struct session *s, int32_t number)
{
	const struct device_list *list = io_source__devices(s);
	const struct device *device = &list->devices[number];
	const char *host = v->here[0] ? v->here : io_source__host(s);
	int nr = -1;

	if (v->last.device == number + 1 && v->last.host == host)
		return v->last.drive;
	for (size_t i = 0; i < v->drives.nr && nr < 0; i++)
		if (drives_is(&v->names[i], list, v->devices[i], device, host))
			nr = (int)i;
	nr = nr < 0 ? drives_new(v, list, device, host) : nr;
	if (nr >= 0)
		v->last = (struct drives_last){ number + 1, host, nr };
	return nr;
}

/* ---- one command ---- */

static uint32_t drives_kind(struct drives_view *v, const struct session *s,
			    const struct io_record *r)
{
	const uint32_t size_class = io_size_class(r->bytes);
	uint16_t *kind = &v->kinds[r->kind == IO_BLOCK][r->op][size_class];
	char buf[DRIVES_OP];

	_Static_assert(DRIVES_SIZES > 33, "classes of 32 bits");
	if (!*kind)
		*kind = (uint16_t)(1 + drives__kind(&v->drives,
						    op__word(r->kind, r->op, io_source__op_names(s),
							     buf, sizeof(buf)),
						    size_class));
	return *kind - 1;
}

static void drives_on_event(struct drives_view *v, const struct session *s, int32_t device,
			    const struct io_record *r)
{
	const struct device_list *list = io_source__devices(s);

	if (device >= 0 && (size_t)device < list->nr &&
	    (r->what != RECORD_END || device__is_leg(&list->devices[device])))
		drives_events__add(&v->events, v->here[0] ? v->here : io_source__host(s),
				   list->devices[device].ctrl, r);
}

/* A disk serves the commands of all its paths: those of others are in flight beside. */
static int drives_add(struct drives_view *v, int nr, const struct drive_io *io)
{
	int err = drives__add(&v->drives, (size_t)nr, io);

	for (size_t i = 0; v->nr_paths && i < v->drives.nr && !err; i++)
		if (v->disks[i] == v->disks[nr] && (int)i != nr)
			err = drives__add_beside(&v->drives, i, io);
	return err;
}

static int drives_on_record(void *state, struct session *s, const struct io_record *r)
{
	struct drives_view *v = state;
	const int32_t device = records__device(s, r);
	struct drive_io io = { .from_ns = r->first_ns,
			       .end_ns = r->end_ns,
			       .ns = (uint16_t)r->nsid,
			       .queue = r->qid };
	struct drive *drive;
	int nr;

	if (r->what == RECORD_EVENT || r->what == RECORD_TIMEOUT ||
	    (r->what == RECORD_END && r->status))
		drives_on_event(v, s, device, r);
	if (r->what != RECORD_END || (r->kind != IO_NVME && r->kind != IO_BLOCK) ||
	    r->end_ns < r->first_ns)
		return 0;
	nr = device >= 0 ? drives_find(v, s, device) : -ENOSPC;
	if (nr == -ENOSPC)
		v->left_out++;
	if (nr < 0)
		return nr == -ENOSPC ? 0 : log_no_memory();
	drive = v->drives.drives[nr];
	drive->errors += r->status != 0;
	drive->retries += r->attempts > 1;
	/* What failed or was repeated says nothing about the service, but it was in flight. */
	if (!r->status && r->attempts <= 1 && !(r->flags & RECORD_TROUBLED))
		io.kind = drives_kind(v, s, r);
	return drives_add(v, nr, &io) ? log_no_memory() : 0;
}

/* ---- the run ---- */

static struct io_wants drives_wants(void *state, const struct options *options)
{
	const struct drives_view *v = state;

	return (struct io_wants){
		.filter = &options->filter,
		.kinds = 1 << IO_NVME | 1 << IO_BLOCK,
		.records = true,
		.troubles = true,
		.details = true,
		.buffer_bytes = v->buffer.given ? v->buffer.value : 0,
	};
}

static int drives_on_start(void *state, struct session *s)
{
	struct drives_view *v = state;
	struct utsname name;

	/* A baseline of this run is for its captures, too. */
	if (io_source__collector(s) && !uname(&name))
		snprintf(v->here, sizeof(v->here), "%s", name.nodename);
	v->table = session__table(s, &drives_rows, NULL, NULL);
	return v->table ? 0 : log_no_memory();
}

static int drives_on_end(void *state, struct session *s)
{
	return drives_rows__show(state, s);
}

static const struct session_view drives_session = {
	.wants = drives_wants,
	.on_start = drives_on_start,
	.on_record = drives_on_record,
	.on_end = drives_on_end,
	.only_at_end = true,
};

/* `slow` alone is short for the verdict. */
static void drives_expand(const char **condition)
{
	if (*condition && !strcmp(*condition, "slow"))
		*condition = "verdict == slow";
}

static int drives_open_learned(struct drives_view *v, const struct options *options)
{
	const bool drops = !options->file.read.nr && !options->run.keep_privileges;
	int err = output__open(&v->learned, v->learn, &options->file.read);

	if (err || !drops)
		return err;
	err = output__keep_rights(&v->learned);
	return err ? output__finish(&v->learned, err) : 0;
}

static int drives_run(void *state, const struct options *options, char **argv)
{
	struct drives_view *v = state;
	int err;

	drives_expand(&v->conditions.only_if);
	drives_expand(&v->conditions.fail_if);
	err = row_conditions__parse(&v->conditions, &drives_rows, NULL, NULL);
	if (!err && v->baseline)
		err = drives_past__read(&v->past, v->baseline, &v->drives);
	if (!err && v->learn)
		err = drives_open_learned(v, options);
	if (!err) {
		err = session__run(&drives_session, v, options, argv);
		err = v->learn ? output__finish(&v->learned, err) : err;
	}
	drives__free(&v->drives);
	drives_past__free(&v->past);
	table__free(v->table);
	row_conditions__free(&v->conditions);
	return err;
}
