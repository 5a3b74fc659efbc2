/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/reading.h"

#include <errno.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "decode/op.h"
#include "session/io_source.h"
#include "session/recorder.h"

/* Every disk has these: their series exist before the first command, or its rate would be unknown.
 */
static const char *const usual_words[READING_USUAL] = { "read", "write" };

/* A container by its first digits, as other tools show it; a pod by its UID. */
static void reading_label_by_id(struct reading *r, const char *labels[NR_SERIES_LABELS])
{
	snprintf(r->id_text, sizeof(r->id_text), "%.12s", r->names.container);
	labels[SERIES_CONTAINER] = r->id_text;
	if (*r->names.pod)
		labels[SERIES_POD] = r->names.pod;
}

/* false: it has no names yet. */
static bool reading_label_container(struct reading *r, const char *labels[NR_SERIES_LABELS])
{
	const struct pod_link *link =
		*r->names.pod ? pods__find(&r->pods, r->names.container) : NULL;

	if (!link) {
		reading_label_by_id(r, labels);
		return !*r->names.pod;
	}
	labels[SERIES_NAMESPACE] = link->namespace;
	labels[SERIES_POD] = link->pod;
	labels[SERIES_CONTAINER] = link->container;
	return true;
}

/* Sets all that follow from the cgroup. false: names are missing. */
static bool reading_label_task(struct reading *r, uint64_t cgroup,
			       const char *labels[NR_SERIES_LABELS])
{
	bool is_final = true;

	session__cgroup_path(r->session, cgroup, r->cgroup_text, sizeof(r->cgroup_text));
	cgroup_names__find(&r->names, r->cgroup_text);
	labels[SERIES_CGROUP] = r->cgroup_text;
	if (*r->names.unit)
		labels[SERIES_UNIT] = r->names.unit;
	if (*r->names.container && r->series.by & (1u << SERIES_POD | 1u << SERIES_CONTAINER))
		is_final = reading_label_container(r, labels);
	for (int i = 0; i < NR_SERIES_LABELS; i++)
		if (SERIES_OF_CGROUP & ~r->series.by & 1u << i)
			labels[i] = NULL;
	return is_final;
}

/* Texts are valid until the next call. */
static bool reading_label(void *arg, const struct io_tags *tags,
			  const char *labels[NR_SERIES_LABELS])
{
	struct reading *r = arg;
	const struct device_list *list = io_source__devices(r->session);

	labels[SERIES_DEVICE] =
		device_list__label(list, tags->device - 1, r->device_text, sizeof(r->device_text));
	if (tags->device > 0 && *list->devices[tags->device - 1].model)
		labels[SERIES_MODEL] = list->devices[tags->device - 1].model;
	labels[SERIES_OP] = op__word(tags->kind, tags->op, io_source__op_names(r->session),
				     r->op_text, sizeof(r->op_text));
	if (tags->path > 0 && tags->path != tags->device) /* a disk with one path has none */
		labels[SERIES_PATH] = list->devices[tags->path - 1].name;
	return !(r->series.by & SERIES_OF_CGROUP) || reading_label_task(r, tags->cgroup, labels);
}

static bool reading_has_left(void *arg, int32_t device)
{
	const struct reading *r = arg;

	return leaving__has_left(&r->leaving, device);
}

int reading__init(struct reading *r)
{
	r->series.label = reading_label;
	r->series.has_left = reading_has_left;
	r->series.arg = r;
	r->pods.directory = PODS_DIRECTORY;
	breakdown__init(&r->rows, 1u << BY_DEV | 1u << BY_OP);
	breakdown__init(&r->records, 1u << BY_DEV | 1u << BY_OP | 1u << BY_PATH);
	return series_set__init(&r->series);
}

void reading__free(struct reading *r)
{
	series_set__free(&r->series);
	breakdown__free(&r->rows);
	breakdown__free(&r->records);
	pods__free(&r->pods);
	exemplars__free(&r->exemplars);
	leaving__free(&r->leaving);
}

/* ---- records ---- */

static bool reading_tag(void *arg, const struct io_record *record, struct io_tags *tags)
{
	const struct reading *r = arg;
	const struct device *device = io_source__device(r->session, record);
	const struct device_list *list = io_source__devices(r->session);
	int at = device ? (int)(device - list->devices) : -1;

	if (!device || r->series.by & SERIES_OF_CGROUP)
		return false;
	*tags = (struct io_tags){
		.device = device_list__head(list, at) + 1,
		.path = at + 1,
		.kind = record->kind,
		.op = record->op,
	};
	return true;
}

static int reading_count_record(struct reading *r, const struct io_record *record)
{
	struct breakdown_row *row;
	struct io_tags tags;

	if (!r->counts_records || record->what != RECORD_END || record->end_ns < record->first_ns)
		return 0;
	if (!reading_tag(r, record, &tags)) /* its disk went before it was looked up: "?" */
		tags = (struct io_tags){ .kind = record->kind, .op = record->op };
	if (leaving__has_left(&r->leaving, tags.device)) {
		r->nr_left++;
		return 0;
	}
	row = breakdown__row(&r->records, &tags);
	if (!row)
		return log_no_memory();
	hist__add(&row->total, record->end_ns - record->first_ns, record->bytes);
	return 0;
}

int reading__add_record(struct reading *r, const struct io_record *record)
{
	exemplars__add(&r->exemplars, record, recorder__kept_from(session__recorder(r->session)));
	return reading_count_record(r, record);
}

/* ---- what is there before the first command ---- */

static bool reading_has_op(const struct option_list *ops, const char *word)
{
	for (size_t i = 0; i < ops->nr; i++)
		if (!strcmp(ops->words[i], word))
			return true;
	return !ops->nr;
}

void reading__start(struct reading *r, struct session *s)
{
	r->session = s;
	r->pods.scout = io_source__devices(s)->scout;
	r->exemplars = (struct exemplars){ .set = &r->series, .tags = reading_tag, .arg = r };
	for (int op = 0; op < READING_USUAL; op++) {
		uint64_t marks[READING_KINDS][4] = { { 0 } };

		if (reading_has_op(&s->options->filter.ops, usual_words[op]))
			op__mark(usual_words[op], io_source__op_names(s), marks);
		for (int kind = 0; kind < READING_KINDS; kind++) {
			r->usual[op][kind] = -1;
			for (int nr = 0; nr < 256 && r->usual[op][kind] < 0; nr++)
				if (marks[kind][nr / 64] >> (nr % 64) & 1)
					r->usual[op][kind] = nr;
		}
	}
}

static void reading_take_series(struct reading *r, const struct io_tags *tags,
				const struct hist *part)
{
	if (series_set__add(&r->series, tags, part))
		r->err = -ENOMEM;
}

/* Which cgroups there will be is not known. */
static void reading_expect(struct reading *r)
{
	static const struct hist nothing;
	const struct device_list *list = io_source__devices(r->session);

	for (size_t i = 0; i < list->nr && !(r->series.by & SERIES_OF_CGROUP); i++) {
		const struct device *device = &list->devices[i];
		enum io_kind kind = device->kind == DEVICE_NVME_NS ? IO_NVME : IO_BLOCK;

		if (device->kind == DEVICE_NVME_CTRL ||
		    !io__measures(io_source__collector(r->session), device))
			continue;
		for (int op = 0; op < READING_USUAL; op++)
			if (r->usual[op][kind] >= 0)
				reading_take_series(
					r,
					&(struct io_tags){
						.device = device_list__head(list, (int)i) + 1,
						.path = (int32_t)i + 1,
						.kind = kind,
						.op = (uint8_t)r->usual[op][kind],
					},
					&nothing);
	}
}

/* ---- a reading ---- */

static void reading_take_part(void *arg, const struct io_tags *tags, const struct hist *part)
{
	struct reading *r = arg;

	if (tags->path || !tags->device || !(r->series.by >> SERIES_PATH & 1))
		reading_take_series(r, tags, part);
	else
		r->series.counted += part->count; /* of paths that left */
	if (leaving__has_left(&r->leaving, tags->device))
		return;
	if (breakdown__add(&r->rows, tags, part))
		r->err = -ENOMEM;
}

/* As the collector's rows: a maximum is told once. */
static void reading_take_records(struct reading *r)
{
	for (size_t i = 0; i < r->records.nr; i++) {
		struct breakdown_row *row = r->records.rows[i];

		reading_take_part(r, &row->tags, &row->total);
		row->total.max_ns = 0;
	}
}

static void reading_take_failed(void *arg, const struct io_failed *failed)
{
	struct reading *r = arg;

	if (!leaving__has_left(&r->leaving, failed->tags.device))
		failures__take(&r->failures, r->session, failed);
}

static void reading_take_failures(struct reading *r)
{
	failures__begin(&r->failures);
	io__failures(io_source__collector(r->session), reading_take_failed, r);
	failures__end(&r->failures);
}

int reading__take(struct reading *r)
{
	struct io *io = io_source__collector(r->session);
	const uint64_t now_ns = clock__mono_ns();

	r->err = 0;
	if (leaving__look(&r->leaving, io_source__devices(r->session), now_ns))
		r->err = -ENOMEM;
	series_set__begin(&r->series, now_ns);
	r->series.counted = r->nr_left;
	pods__begin(&r->pods);
	breakdown__begin(&r->rows);
	reading_expect(r);
	io_source__read(r->session, reading_take_part, r);
	reading_take_records(r);
	if (r->counts_failures)
		reading_take_failures(r);
	series_set__end(&r->series);
	io__recount_skipped(io);
	io__ledger(io, &r->now);
	metrics__raise(&r->shown, &r->now);
	return r->err;
}

/* ---- devices that went ---- */

/* Its disk goes on, with all its counts: path 0 has those of all paths that left. Without memory it
 * stays. */
static void reading_fold_path(struct reading *r, struct breakdown_row *row)
{
	struct io_tags tags = row->tags;
	struct breakdown_row *left;

	if (!reading_has_left(r, tags.path) || reading_has_left(r, tags.device))
		return;
	tags.path = 0;
	left = breakdown__row(&r->records, &tags);
	if (!left)
		return;
	hist__merge(&left->total, &row->total);
	memset(&row->total, 0, sizeof(row->total));
}

static bool reading_drops_path(void *arg, const struct breakdown_row *row)
{
	return reading_has_left(arg, row->tags.path) && !row->total.count;
}

static bool reading_drops_row(void *arg, const struct breakdown_row *row)
{
	return reading_has_left(arg, row->tags.device);
}

/* Of these there is no other count. */
static bool reading_drops_records(void *arg, const struct breakdown_row *row)
{
	struct reading *r = arg;

	if (!reading_drops_row(r, row))
		return false;
	r->nr_left += row->total.count;
	series_set__keep_last(&r->series, &row->tags, &row->total);
	return true;
}

void reading__forget(struct reading *r)
{
	failures__settle(&r->failures, r->now.failed);
	if (!leaving__settle(&r->leaving, clock__mono_ns()))
		return;
	failures__drop(&r->failures, reading_has_left, r);
	breakdown__drop(&r->rows, reading_drops_row, r);
	breakdown__drop(&r->records, reading_drops_records, r);
	for (size_t i = 0, nr = r->records.nr; i < nr; i++)
		reading_fold_path(r, r->records.rows[i]);
	breakdown__drop(&r->records, reading_drops_path, r);
	series_set__forget(&r->series);
	exemplars__forget(&r->exemplars);
}

/* ---- for scrapers ---- */

static bool reading_has_ended(void *arg, int32_t device)
{
	const struct reading *r = arg;

	return leaving__has_ended(&r->leaving, device);
}

int reading__write_metrics(struct reading *r, enum openmetrics_format format, FILE *out)
{
	struct metrics metrics = { &r->series, &r->shown, format, .failures = &r->failures,
				   .is_sampled = r->is_sampled };
	struct io_own_cost own;
	int err = reading__take(r);

	if (err)
		return err;
	leaving__scrape(&r->leaving);
	series_set__retire(&r->series, reading_has_ended);
	if (session__recorder(r->session))
		metrics.kept_from = recorder__kept_from(session__recorder(r->session));
	metrics.wall_ns = clock__wall_ns() - clock__mono_ns();
	own = io__own_cost(io_source__collector(r->session));
	metrics.own_ns = own.is_known ? &own.ns : NULL;
	return metrics__write(&metrics, out);
}
