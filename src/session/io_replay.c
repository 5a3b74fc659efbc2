/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_replay.c: I/O of captures: reads records from files in order of time, applies filters, adds
 * records to rows for a view that wants rows; the ledger is the one at the end of the recording.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "session/host_source.h"
#include "session/io_replay.h"
#include "session/io_source.h"
#include "session/source.h"
#include "wire/io_stages.h"

static const struct capture_about *replay_about(const struct session *s)
{
	return io_replay(s)->about;
}

/* ---- when ---- */

/* The time span of a file, on the first file's clock. False: it is empty. */
static bool replay_span(const struct capture_merge *merge, size_t nr, uint64_t *start_ns,
			uint64_t *end_ns)
{
	uint64_t shift_ns = capture_merge__shift_ns(merge, nr);

	if (!capture_reader__run(capture_merge__reader(merge, nr), start_ns, end_ns))
		return false;
	*start_ns += shift_ns;
	*end_ns += shift_ns;
	return true;
}

static void replay_find_span(struct session *s)
{
	const struct io_replay *replay = io_replay(s);
	uint64_t start_ns, end_ns, *last_ns = &s->inside->span.end_ns;
	bool some = false;

	for (size_t i = 0; i < capture_merge__nr(replay->merge); i++) {
		if (!replay_span(replay->merge, i, &start_ns, &end_ns))
			continue;
		if (!some || start_ns < s->start_ns)
			s->start_ns = start_ns;
		if (!some || end_ns > *last_ns)
			*last_ns = end_ns;
		some = true;
	}
}

/* ---- records ---- */

static const struct device *replay_device(struct session *s, const struct io_record *record)
{
	return capture_about__device(replay_about(s), record->device);
}

/* Does --by need stages, and has this record none? */
static bool replay_is_other(const struct io_wants *w, const struct io_record *r)
{
	return (w->by_cpu || w->by_cgroup || w->by_file) && !(r->flags & RECORD_STAGES);
}

/* Builds the key as the programs do. */
static void replay_tags(const struct session *s, const struct io_record *r,
			const struct device *device, struct io_tags *tags)
{
	const struct io_stages *stages = io_record__stages(r);

	memset(tags, 0, sizeof(*tags));
	tags->other = replay_is_other(&s->inside->wants, r);
	if (stages) {
		tags->cpu = stages->cpu;
		tags->cgroup = stages->cgroup;
		tags->inode = stages->inode;
		tags->file_dev = stages->file_dev;
		tags->file_nth = stages->file_nth;
	}
	if (device) {
		tags->path = (int32_t)(device - replay_about(s)->devices) + 1;
		tags->device = device_list__head(&io_replay(s)->devices, tags->path - 1) + 1;
		tags->ctrl = device->ctrl + 1;
		tags->nsid = device->nsid;
	}
	tags->host = capture_merge__host(io_replay(s)->merge);
	tags->kind = r->kind;
	tags->op = r->op;
	tags->size_class = (uint8_t)io_size_class(r->bytes);
	tags->queue = r->qid;
	tags->pid = r->pid;
	memcpy(tags->comm, r->comm, sizeof(r->comm));
}

static struct replay_key replay_key(const struct io_wants *w, const struct io_record *r)
{
	const struct io_stages *stages = io_record__stages(r);
	struct replay_key key = {
		.place = r->device | (uint64_t)r->kind << 16 | (uint64_t)r->op << 24,
		.task = w->by_pid ? r->pid : 0,
	};

	if (w->by_size)
		key.place |= (uint64_t)io_size_class(r->bytes) << 32;
	if (w->by_queue)
		key.place |= (uint64_t)r->qid << 40;
	if (w->by_comm)
		memcpy(key.comm, r->comm, sizeof(key.comm));
	if (stages && w->by_cpu)
		key.task |= (uint64_t)stages->cpu << 32;
	if (stages && w->by_cgroup)
		key.cgroup = stages->cgroup;
	if (stages && w->by_file) {
		key.inode = stages->inode;
		key.file_place = io_file_place(stages->file_dev, stages->file_nth);
	}
	key.task |= (uint64_t)replay_is_other(w, r) << 48;
	return key;
}

static uint32_t replay_hash(const struct replay_key *key)
{
	uint64_t words = key->place ^ key->task << 20 ^ key->cgroup << 9 ^ key->comm[0] ^
			 key->comm[1] << 7 ^ key->inode << 3 ^ key->file_place << 40;

	return (uint32_t)(words * 0x9e3779b97f4a7c15ULL >> 56);
}

/* The cached row of this key; two keys that share a place evict each other. */
static struct breakdown_row *replay_row(struct session *s, const struct io_record *r)
{
	struct io_replay *replay = io_replay(s);
	struct replay_key key = replay_key(&s->inside->wants, r);
	struct replay_place *place = &replay->places[replay_hash(&key)];
	struct io_tags tags;

	_Static_assert(REPLAY_PLACES == 256, "as many as the hash has values");
	if (place->row &&
	    !((place->key.place ^ key.place) | (place->key.task ^ key.task) |
	      (place->key.cgroup ^ key.cgroup) | (place->key.inode ^ key.inode) |
	      (place->key.file_place ^ key.file_place) | (place->key.comm[0] ^ key.comm[0]) |
	      (place->key.comm[1] ^ key.comm[1])))
		return place->row;
	replay_tags(s, r, replay_device(s, r), &tags);
	*place = (struct replay_place){ key, breakdown__row(&replay->rows, &tags) };
	return place->row;
}

static int replay_count(struct session *s, const struct io_record *r)
{
	const struct io_wants *w = &s->inside->wants;
	uint64_t ns = r->end_ns - r->first_ns;
	struct breakdown_row *row;

	if (r->what == RECORD_SUBMIT)
		return 0;
	if (w->by_path && r->status && replay_device(s, r))
		io_source_count_failover(s, r,
					 (int)(replay_device(s, r) - replay_about(s)->devices));
	row = replay_row(s, r);
	io_replay(s)->nr_other += replay_is_other(w, r);
	if (!row)
		return log_err(-ENOMEM, "out of memory");
	hist__add(&row->total, ns, r->bytes);
	if (w->zoom) {
		row->total.slots[hist_slot(ns)]--;
		row->total.slots[zoom_slot(ns, w->zoom_min_us, w->zoom_shift)]++;
	}
	return 0;
}

/* max_ns is the maximum since the last read, as in the collector. */
static void replay_read(struct session *s, io_row_fn fn, void *arg)
{
	struct breakdown *rows = &io_replay(s)->rows;

	for (size_t i = 0; i < rows->nr; i++) {
		fn(arg, &rows->rows[i]->tags, &rows->rows[i]->total);
		rows->rows[i]->total.max_ns = 0;
	}
}

/* The same record with its stages, under another task name. */
static const struct io_record *replay_alias(struct session *s, const struct io_record *record)
{
	struct io_replay *replay = io_replay(s);

	memcpy(&replay->renamed, record, io_record__size(record));
	alias__comm(s->inside->alias, replay->renamed.record.comm);
	return &replay->renamed.record;
}

static int replay_hand_on(struct session *s)
{
	struct session_inside *in = s->inside;
	struct io_replay *replay = in->data;
	const struct io_record *record = replay->record;
	struct capture_filter *filter = &replay->filter;

	replay->nr_submits += record->what == RECORD_SUBMIT;
	if (!capture_filter__passes(filter, record,
				    filter->narrows ? replay_device(s, record) : NULL))
		return 0;
	if (in->alias)
		record = replay_alias(s, record);
	if (in->view->on_record)
		return in->view->on_record(in->state, s, record);
	return replay_count(s, record);
}

static void replay_position(const struct session *s, uint64_t *at, uint64_t *all)
{
	const struct capture_merge *merge = io_replay(s)->merge;

	*at = *all = 0;
	for (size_t i = 0; i < capture_merge__nr(merge); i++) {
		*at += capture_reader__position(capture_merge__reader(merge, i));
		*all += capture_reader__bytes(capture_merge__reader(merge, i));
	}
}

static int replay_next(struct session *s, uint64_t *time_ns)
{
	struct io_replay *replay = s->inside->data;
	int err = 0;

	replay->record = capture_merge__next(replay->merge, &err);
	if (!replay->record)
		return err;
	replay->nr_records++;
	*time_ns = io_record__time_ns(replay->record);
	return 1;
}

/* ---- losses ---- */

static void replay_take_ledgers(struct session *s)
{
	const struct capture_merge *merge = io_replay(s)->merge;

	for (size_t file = 0; file < capture_merge__nr(merge); file++) {
		const struct capture_counts *ledger =
			&capture_reader__about(capture_merge__reader(merge, file))->trailer.ledger;

		for (size_t i = 0; i < ledger->nr; i++)
			ledger__add_term(&s->ledger,
					 &(struct ledger_term){ ledger->counts[i].name,
								ledger->counts[i].value });
		s->ledger_known |= ledger->nr > 0;
	}
}

static bool replay_tell_damage(const struct capture_reader *reader, bool tells_cache,
			       bool tells_waits)
{
	const struct capture_damage *damage = capture_reader__damage(reader);
	const char *path = capture_reader__label(reader);
	bool lost;

	capture_damage__tell(damage, path);
	lost = capture_damage__tell_lost(damage, &capture_reader__about(reader)->trailer.lost,
					 path);
	if (!tells_cache && !capture_reader__nr_records(reader) &&
	    capture_reader__has_cache(reader, false))
		log_note("%s contains page cache data, no commands; iosonar cache -r shows it",
			 path);
	if (!capture_reader__nr_records(reader) && capture_reader__has_calls(reader))
		log_note("%s contains calls, no commands; iosonar calls -r or class -r shows them",
			 path);
	if (!tells_waits && !capture_reader__nr_records(reader) &&
	    capture_reader__has_waits(reader))
		log_note("%s contains waits, no commands; iosonar waits -r shows them", path);
	if (!capture_reader__nr_records(reader) && capture_reader__has_requests(reader))
		log_note("%s contains requests, no commands; iosonar waits --async -r shows them",
			 path);
	return lost || !capture_damage__is_whole(damage);
}

static void replay_tell(struct session *s)
{
	const struct io_replay *replay = io_replay(s);

	for (size_t i = 0; i < capture_merge__nr(replay->merge); i++)
		s->inside->lost |= replay_tell_damage(capture_merge__reader(replay->merge, i),
						      replay->tells_cache, replay->tells_waits);
	if (replay->filter.nr_stageless)
		log_warn("%" PRIu64 " commands are left out: their records do not name the cgroup",
			 replay->filter.nr_stageless);
	if (replay->nr_other)
		log_warn("%" PRIu64 " commands are in a separate row: their records do not name "
			 "the CPU, cgroup or file",
			 replay->nr_other);
	if (replay->filter.nr_unplaced)
		log_warn("%" PRIu64
			 " NVMe discards are left out: their records do not name the partition",
			 replay->filter.nr_unplaced);
	if (s->inside->wants.split && replay->nr_records && !replay->nr_submits)
		log_warn("--split: the capture contains no submissions; it was recorded without "
			 "--split");
}

/* ---- the run ---- */

/* Keys and filters that need stages; if only some records have them, the end of the run says so. */
static int replay_check_wants(const struct session *s)
{
	const struct io_wants *wants = &s->inside->wants;

	if (wants->by_file && !replay_about(s)->glossaries[GLOSSARY_FILES].nr)
		return log_err(-EINVAL, "--by file: this capture does not name the files of "
					"commands; record it with --stages");
	if (capture_merge__has_stages(io_replay(s)->merge))
		return 0;
	if (wants->by_cpu)
		return log_err(-EINVAL, "--by cpu: this capture does not name the CPU of commands; "
					"record it with --stages");
	if (wants->by_cgroup)
		return log_err(-EINVAL, "--by cgroup: this capture does not name the cgroup of "
					"commands; record it with --stages");
	if (wants->filter->cgroup)
		return log_err(-EINVAL, "--cgroup: this capture does not name the cgroup of "
					"commands; record it with --stages");
	return 0;
}

static char *const *replay_op_names(const struct session *s)
{
	return io_replay(s)->op_names;
}

/* Once: views ask for them with each record. */
static char *const *replay_find_op_names(const struct capture_about *about)
{
	static char *const none[CAPTURE_NR_NAMES];
	char *const *names = capture_about__names(about, CAPTURE_NAMES_BLOCK);

	return names ? names : none;
}

/* Rows have all keys that --by may ask for; the view merges them. */
static uint32_t replay_mask(const struct io_wants *w)
{
	return 1u << BY_CTRL | 1u << BY_NS | 1u << BY_DEV | 1u << BY_OP | 1u << BY_HOST |
	       (uint32_t)w->by_size << BY_SIZE | (uint32_t)w->by_queue << BY_QUEUE |
	       (uint32_t)w->by_cpu << BY_CPU | (uint32_t)w->by_pid << BY_PID |
	       (uint32_t)w->by_comm << BY_COMM | (uint32_t)w->by_cgroup << BY_CGROUP |
	       (uint32_t)w->by_file << BY_FILE | (uint32_t)w->by_path << BY_PATH;
}

/* The value of a key, malloced; *err: -ENOMEM. */
static char *replay_origin(const struct capture_about *about, const char *key,
			   const struct alias *alias, int *err)
{
	const char *text = capture_about__info(about, key);
	char name[ALIAS_NAME], *copy;

	if (!text || !*text)
		return NULL;
	copy = strdup(alias ? alias__name(alias, ALIAS_HOST, text, name) : text);
	if (!copy)
		*err = -ENOMEM;
	return copy;
}

static int replay_find_origins(struct session *s)
{
	struct io_replay *replay = io_replay(s);
	const struct alias *alias = s->inside->alias;
	size_t nr = capture_merge__nr(replay->merge);
	int err = 0;

	replay->origins = calloc(nr + 1, sizeof(*replay->origins));
	for (size_t i = 0; replay->origins && i < nr; i++) {
		const struct capture_about *about =
			capture_reader__about(capture_merge__reader(replay->merge, i));

		replay->origins[i] = (struct io_origin){
			replay_origin(about, CAPTURE_INFO_HOST, alias, &err),
			replay_origin(about, CAPTURE_INFO_BOOT_ID, alias, &err),
			replay_origin(about, CAPTURE_INFO_ID, NULL, &err),
		};
	}
	return replay->origins ? err : -ENOMEM;
}

static void replay_free_origins(struct io_replay *replay)
{
	for (size_t i = 0; replay->origins && i < capture_merge__nr(replay->merge); i++) {
		free(replay->origins[i].host);
		free(replay->origins[i].boot_id);
		free(replay->origins[i].capture_id);
	}
	free(replay->origins);
}

/* After the filters, which use the real names. */
static int replay_rename(struct session *s)
{
	const struct alias *alias = s->inside->alias;
	int err = replay_find_origins(s);

	if (!err && alias)
		err = capture_merge__alias(io_replay(s)->merge, alias);
	return err ? log_err(err, "out of memory") : 0;
}

static int replay_open(struct session *s)
{
	struct session_inside *in = s->inside;
	const struct option_list *files = &s->options->file.read;
	struct io_replay *replay = calloc(1, sizeof(*replay));
	int err;

	in->data = replay;
	if (!replay)
		return log_err(-ENOMEM, "out of memory");
	breakdown__init(&replay->rows, replay_mask(&in->wants));
	err = capture_merge__open(files->words, files->nr, &replay->merge);
	if (err)
		return session_file_err(err);
	host_source_tell_steps(replay->merge);
	replay_find_span(s);
	replay->about = capture_merge__about(replay->merge);
	replay->op_names = replay_find_op_names(replay->about);
	replay->devices.devices = replay_about(s)->devices;
	replay->devices.nr = replay_about(s)->nr_devices;
	err = replay_check_wants(s);
	if (err)
		return err;
	err = capture_filter__init(
		&replay->filter, in->wants.filter, in->wants.kinds,
		&(struct capture_filter_names){
			.devices = &replay->devices,
			.op_names = replay_op_names(s),
			.cgroups = &replay_about(s)->glossaries[GLOSSARY_CGROUPS],
		});
	replay->filter.submits = in->wants.split;
	replay->filter.bios = in->wants.bios;
	replay->filter.troubles = in->wants.troubles;
	return err ?: replay_rename(s);
}

/* The files skip records outside of the span without reading them. */
static void replay_bound(struct session *s)
{
	capture_merge__bound(io_replay(s)->merge,
			     s->options->file.from_ns.given ? s->inside->span.from_ns : 0,
			     s->inside->span.to_ns);
}

/* Counts that are told at the end are about what is read from here on. */
static void replay_seek(struct session *s)
{
	struct io_replay *replay = io_replay(s);

	capture_merge__rewind(replay->merge);
	capture_merge__bound(replay->merge, s->inside->span.from_ns, s->inside->span.to_ns);
	replay->nr_other = replay->filter.nr_stageless = replay->filter.nr_unplaced = 0;
}

static bool replay_is_damaged(const struct session *s)
{
	const struct capture_merge *merge = io_replay(s)->merge;

	for (size_t i = 0; i < capture_merge__nr(merge); i++)
		if (!capture_damage__is_whole(
			    capture_reader__damage(capture_merge__reader(merge, i))))
			return true;
	return false;
}

static const struct device_list *replay_devices(const struct session *s)
{
	return &io_replay(s)->devices;
}

static const struct io_origin *replay_origin_here(const struct session *s)
{
	const struct io_replay *replay = io_replay(s);

	return &replay->origins[capture_merge__from(replay->merge)];
}

/* Each machine has its own. */
static uint64_t replay_wall_ns(const struct session *s, uint64_t mono_ns)
{
	return capture_merge__wall_ns(io_replay(s)->merge, mono_ns);
}

static bool replay_sees(const struct session *s, bool nvme)
{
	const struct device_list *list = &io_replay(s)->devices;

	for (size_t i = 0; i < list->nr; i++) {
		enum device_kind kind = list->devices[i].kind;

		if (nvme ? kind == DEVICE_NVME_NS || kind == DEVICE_NVME_CTRL
			 : kind == DEVICE_REQUEST && list->devices[i].size_bytes)
			return true;
	}
	return false;
}

/* It is part of the capture. */
static void replay_take_ledger(struct session *s, uint64_t counted)
{
	(void)s, (void)counted;
}

static void replay_free(struct session *s)
{
	struct io_replay *replay = io_replay(s);

	if (!replay)
		return;
	io_replay_end_shares(replay);
	capture_filter__free(&replay->filter);
	replay_free_origins(replay);
	breakdown__free(&replay->rows);
	capture_merge__free(replay->merge);
	free(replay);
}

static const struct capture_merge *replay_captures(const struct session *s)
{
	return io_replay(s)->merge;
}

static size_t replay_from(const struct session *s)
{
	return capture_merge__from(io_replay(s)->merge);
}

static const struct io_answers replay_answers = {
	.device = replay_device,
	.devices = replay_devices,
	.origin = replay_origin_here,
	.op_names = replay_op_names,
	.sees = replay_sees,
	.each_cache = io_replay_each_cache,
	.each_call = io_replay_each_call,
	.has_beside = io_replay_has_beside,
	.read = replay_read,
	.take_ledger = replay_take_ledger,
};

const struct session_source session_io_replay = {
	.open = replay_open,
	.bound = replay_bound,
	.seek = replay_seek,
	.is_damaged = replay_is_damaged,
	.next = replay_next,
	.hand_on = replay_hand_on,
	.look_every = 1024,
	.position = replay_position,
	.share = io_replay_share,
	.next_share = io_replay_next_share,
	.take_share = io_replay_take_share,
	.finish = replay_take_ledgers,
	.ledger = replay_tell,
	.about = replay_about,
	.wall_ns = replay_wall_ns,
	.io = &replay_answers,
	.captures = replay_captures,
	.from = replay_from,
	.free = replay_free,
};
