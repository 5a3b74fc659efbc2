/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/blame_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "decode/nvme.h"
#include "decode/op.h"
#include "render/page.h"
#include "session/io_source.h"
#include "view/blame_rows.h"
#include "view/records.h"

/* ---- the slowest ---- */

static bool blame_is_party(const void *of, uint32_t number, const void *key)
{
	const struct blame_slow_party *parties = of;

	return !memcmp(&parties[number].tags, key, sizeof(parties[number].tags));
}

/* NULL and *err 0: there are too many. */
static struct blame_slow_party *blame_find_party(struct blame_page *p,
						 const struct blame_tags *tags, int *err)
{
	const uint64_t hash = index__mix_bytes(0, tags, sizeof(*tags));
	uint32_t at = index__find(&p->index, hash, blame_is_party, p->parties, tags);

	*err = 0;
	if (at != INDEX_NONE)
		return &p->parties[at];
	if (p->index.nr == BLAME_PARTIES)
		return NULL;
	*err = index__reserve(&p->index, &p->parties, sizeof(*p->parties));
	if (*err)
		return NULL;
	at = index__add(&p->index, hash);
	p->parties[at] = (struct blame_slow_party){ .tags = *tags };
	return &p->parties[at];
}

static uint64_t blame_sector(const struct session *s, const struct blame_tags *tags,
			     const struct io_record *r)
{
	const struct device_list *list = io_source__devices(s);
	uint64_t lba;

	if (!r->bytes)
		return CELL_NO_NUMBER;
	if (r->kind == IO_BLOCK)
		return (uint64_t)r->cdw10[1] << 32 | r->cdw10[0];
	if (tags->device < 0 || (size_t)tags->device >= list->nr || !nvme_command__lba(r, &lba))
		return CELL_NO_NUMBER;
	return lba * (list->devices[tags->device].block_size / 512);
}

int blame_page__note(struct blame_page *p, const struct session *s, const struct blame_tags *tags,
		     const struct blame_times *times, const struct io_record *r)
{
	struct blame_slow *least, slow = {
		.from_ns = times->from_ns,
		.wait_ns = times->issue_ns - times->from_ns,
		.lat_ns = times->end_ns - times->from_ns,
		.bytes = r->bytes,
		.pid = r->pid,
	};
	struct blame_slow_party *party;
	int err;

	if (times->end_ns <= times->issue_ns || times->issue_ns < times->from_ns)
		return 0;
	party = blame_find_party(p, tags, &err);
	if (!party)
		return err;
	least = &party->ios[0];
	for (size_t i = 1; i < BLAME_SLOWEST; i++)
		if (party->ios[i].lat_ns < least->lat_ns)
			least = &party->ios[i];
	if (slow.lat_ns <= least->lat_ns)
		return 0;
	slow.sector = blame_sector(s, tags, r);
	memcpy(slow.comm, r->comm, strnlen(r->comm, sizeof(r->comm)));
	*least = slow;
	return 0;
}

void blame_page__free(struct blame_page *p)
{
	index__free(&p->index);
	free(p->parties);
	p->parties = NULL;
}

/* ---- data of the page beside rows ---- */

struct page_command {
	const char *dev, *party, *op, *comm;
	uint64_t time_ns, lat_ns, wait_ns, sector, bytes, pid;
};

#define FIELD(name) offsetof(struct page_command, name)
static const struct column command_columns_of_page[] = {
	{ "dev", "dev", CELL_TEXT, 0, "disk", .at = FIELD(dev) },
	{ "party", "party", CELL_TEXT, 0, "victim or culprit", .at = FIELD(party) },
	{ "time_s", "time", CELL_TIME, 0, "of its submission", .at = FIELD(time_ns) },
	{ "op", "op", CELL_TEXT, 0, "operation", .at = FIELD(op) },
	{ "sector", "sector", CELL_COUNT, 0, "first sector, of 512 bytes", .at = FIELD(sector) },
	{ "bytes", "bytes", CELL_BYTES, 0, "size", .at = FIELD(bytes) },
	{ "lat_ns", "lat", CELL_DURATION, 0, "from submission to end", .at = FIELD(lat_ns) },
	{ "wait_ns", "wait", CELL_DURATION, 0, "part of it before its issue",
	  .at = FIELD(wait_ns) },
	{ "pid", "pid", CELL_COUNT, 0, "process", .at = FIELD(pid) },
	{ "comm", "comm", CELL_TEXT, 0, "task", .at = FIELD(comm) },
	{ 0 },
};
#undef FIELD

struct page_head {
	const char *by, *source;
	uint64_t commands;
	double seconds;
};

#define FIELD(name) offsetof(struct page_head, name)
static const struct column head_columns[] = {
	{ "by", "by", CELL_TEXT, 0, "what tells parties apart", .at = FIELD(by) },
	{ "source", "source", CELL_TEXT, 0, "first capture; null: live", .at = FIELD(source) },
	{ "commands", "commands", CELL_COUNT, 0, "commands that were judged",
	  .at = FIELD(commands) },
	{ "seconds", "seconds", CELL_SECONDS, 0, "duration of the run", .at = FIELD(seconds) },
	{ 0 },
};
#undef FIELD

static const struct object page_commands = { "command", { command_columns_of_page } };
static const struct object page_heads = { "head", { head_columns } };

static int put_head(const struct blame_view *v, const struct session *s, FILE *out)
{
	const struct option_list *files = &s->options->file.read;
	struct page_head head = { .source = files->nr ? files->words[0] : NULL,
				  .seconds = s->elapsed_s };
	char by[80] = "";

	for (size_t i = 0; blame_by_words[i]; i++)
		if (v->by_mask >> i & 1) {
			const size_t len = strlen(by);

			snprintf(by + len, sizeof(by) - len, "%s%s", len ? "," : "",
				 blame_by_words[i]);
		}
	head.by = by;
	for (size_t i = 0; i < v->blame.nr; i++)
		head.commands += v->blame.parties[i].count;
	return object__put(&page_heads, out, TABLE_JSON, &head);
}

static void put_party(const struct blame_view *v, const struct session *s, struct table *table,
		      const struct blame_slow_party *party)
{
	char label[400], op[32];

	blame_rows__label(v, &party->tags, label, sizeof(label));
	for (size_t i = 0; i < BLAME_SLOWEST; i++) {
		const struct blame_slow *io = &party->ios[i];
		const struct page_command command = {
			.dev = records__device_name(s, party->tags.device),
			.party = label,
			.op = op__word(party->tags.kind, party->tags.op, io_source__op_names(s), op,
				       sizeof(op)),
			.comm = io->comm,
			.time_ns = io->from_ns > s->start_ns ? io->from_ns - s->start_ns : 0,
			.lat_ns = io->lat_ns,
			.wait_ns = io->wait_ns,
			.sector = io->sector,
			.bytes = io->bytes,
			.pid = io->pid,
		};

		if (io->lat_ns)
			table__row(table, &command);
	}
}

static int put_commands(const struct blame_view *v, const struct session *s, FILE *out)
{
	struct table *table = table__of(out, TABLE_JSON, &page_commands, NULL, NULL);

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < v->page.index.nr; i++)
		put_party(v, s, table, &v->page.parties[i]);
	table__free(table);
	return 0;
}

/* ---- the page ---- */

static const struct page_parts page_parts = {
	.title = "iosonar blame",
	.styles = { &page_source_blame_css },
	.scripts = { &page_source_blame_js },
};

/* Rows as --by says, and once more by operation and size: what a cell is made of. */
static int put_data(struct blame_view *v, struct session *s, struct page *page)
{
	const uint32_t kinds = v->by_mask | 1u << BLAME_BY_OP | 1u << BLAME_BY_SIZE;
	FILE *data = page__open_data(page, "blame");
	int err = data ? put_head(v, s, data) : -ENOMEM;

	err = err ?: blame_rows__put(v, s, data, v->by_mask);
	err = err ?: put_commands(v, s, data);
	if (err)
		return err;
	page__close_data(page);
	data = page__open_data(page, "kinds");
	err = data ? blame_rows__put(v, s, data, kinds) : -ENOMEM;
	if (!err)
		page__close_data(page);
	return err;
}

int blame_page__put(struct blame_view *v, struct session *s)
{
	struct page *page = page__begin(s->out, &page_parts);
	int err = page ? put_data(v, s, page) : -ENOMEM;

	if (err) {
		page__abandon(page);
		return log_no_memory();
	}
	page__end(page);
	return 0;
}
