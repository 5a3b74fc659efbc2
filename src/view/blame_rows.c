/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/blame_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/servers.h"
#include "base/compare.h"
#include "base/log.h"
#include "base/text.h"
#include "session/table.h"
#include "view/blame_names.h"
#include "view/records.h"

enum { BLAME_TOP = 5 }; /* culprits of a victim in text */

/*
 * dev     victim   count   mean  culprit        share    sum   each
 * nvme0n1 postgres 10123  612us  backup          82.1  5.20s  502us
 */
struct blame_row {
	const char *dev;
	struct blame_name victim, culprit;
	uint64_t count, mean_ns, sum_ns, each_ns, without_ns;
	double share, saved;
	enum matrix_place place; /* of the culprit, in a matrix */
};

#define FIELD(name) offsetof(struct blame_row, name)
static const struct column blame_victim_columns[] = {
	{ "dev", "dev", CELL_TEXT, 7, "disk", .at = FIELD(dev) },
	{ "victim", "victim", CELL_TEXT, 15, "whose commands, as --by says",
	  .at = FIELD(victim.label) },
	{ "victim_host", "host", CELL_TEXT, 5, "its machine, of captures", .at = FIELD(victim.host),
	  .not_in_text = true },
	{ "victim_comm", "comm", CELL_TEXT, 8, "its task", .at = FIELD(victim.comm),
	  .not_in_text = true },
	{ "victim_pid", "pid", CELL_COUNT, 7, "its process", .at = FIELD(victim.pid),
	  .not_in_text = true },
	{ "victim_cgroup", "cgroup", CELL_TEXT, 8, "its cgroup", .at = FIELD(victim.cgroup),
	  .not_in_text = true },
	{ "victim_unit", "unit", CELL_TEXT, 8, "its unit of systemd", .at = FIELD(victim.unit),
	  .not_in_text = true },
	{ "victim_container", "container", CELL_TEXT, 8, "its container",
	  .at = FIELD(victim.container), .not_in_text = true },
	{ "victim_op", "op", CELL_TEXT, 5,
	  "its operation; without --by op, only of flush, discard and write-zeroes",
	  .at = FIELD(victim.op), .not_in_text = true },
	{ "victim_size_bytes", "size", CELL_BYTES, 5, "largest size of its size class",
	  .at = FIELD(victim.size_bytes), .not_in_text = true },
	{ "victim_path", "path", CELL_TEXT, 9, "its path to a multipath disk",
	  .at = FIELD(victim.path), .not_in_text = true },
	{ "victim_qid", "qid", CELL_COUNT, 4, "its queue", .at = FIELD(victim.qid),
	  .not_in_text = true },
	{ "count", "count", CELL_COUNT, 7, "its commands", .at = FIELD(count), .drop = 1 },
	{ "mean_ns", "mean", CELL_DURATION, 6, "their mean latency", .at = FIELD(mean_ns),
	  .drop = 2 },
	{ 0 },
};

static const struct column blame_culprit_columns[] = {
	{ "culprit", "culprit", CELL_TEXT, 15,
	  "for whose commands it waited; other culprits: those beyond --top; other queues: "
	  "with --same-queue; device itself: the rest",
	  .at = FIELD(culprit.label) },
	{ "culprit_host", "host", CELL_TEXT, 5, "its machine, of captures",
	  .at = FIELD(culprit.host), .not_in_text = true },
	{ "culprit_comm", "comm", CELL_TEXT, 8, "its task", .at = FIELD(culprit.comm),
	  .not_in_text = true },
	{ "culprit_pid", "pid", CELL_COUNT, 7, "its process", .at = FIELD(culprit.pid),
	  .not_in_text = true },
	{ "culprit_cgroup", "cgroup", CELL_TEXT, 8, "its cgroup", .at = FIELD(culprit.cgroup),
	  .not_in_text = true },
	{ "culprit_unit", "unit", CELL_TEXT, 8, "its unit of systemd", .at = FIELD(culprit.unit),
	  .not_in_text = true },
	{ "culprit_container", "container", CELL_TEXT, 8, "its container",
	  .at = FIELD(culprit.container), .not_in_text = true },
	{ "culprit_op", "op", CELL_TEXT, 5, "its operation, as victim_op", .at = FIELD(culprit.op),
	  .not_in_text = true },
	{ "culprit_size_bytes", "size", CELL_BYTES, 5, "largest size of its size class",
	  .at = FIELD(culprit.size_bytes), .not_in_text = true },
	{ "culprit_path", "path", CELL_TEXT, 9, "its path to a multipath disk",
	  .at = FIELD(culprit.path), .not_in_text = true },
	{ "culprit_qid", "qid", CELL_COUNT, 4, "its queue", .at = FIELD(culprit.qid),
	  .not_in_text = true },
	{ "share_percent", "share", CELL_PERCENT, 6, "part of the victim's latency",
	  .at = FIELD(share) },
	{ "sum_ns", "sum", CELL_DURATION, 6, "the same, as the sum over all its commands",
	  .at = FIELD(sum_ns), .drop = 3 },
	{ "each_ns", "each", CELL_DURATION, 6, "the same, for each of its commands",
	  .at = FIELD(each_ns) },
	{ 0 },
};

static const struct column blame_without_columns[] = {
	{ "without_ns", "without", CELL_DURATION, 7,
	  "predicted mean latency without the commands that --without names",
	  .at = FIELD(without_ns) },
	{ "saved_percent", "saved", CELL_PERCENT, 6, "the same, as a reduction",
	  .at = FIELD(saved) },
	{ 0 },
};
#undef FIELD

const struct object blame_rows = { "blame", { blame_victim_columns, blame_culprit_columns } };
const struct object blame_without = { "blame_without",
				      { blame_victim_columns, blame_without_columns } };

/* ---- names ---- */

static void blame_name_of(const struct blame_view *v, const struct blame_tags *tags,
			  struct blame_name *name)
{
	blame_name__of(v->by_mask, v->session, tags, name);
}

bool blame_rows__leaves_out(const void *view, const struct blame_tags *tags)
{
	const struct blame_view *v = view;
	struct blame_name name;

	blame_name_of(v, tags, &name);
	return blame_name__is(&name, v->without);
}

/* ---- groups: parties that --by does not tell apart ---- */

struct blame_group {
	int32_t device;
	uint64_t count, latency_ns, device_ns;
	uint64_t others_ns; /* what it waited because of others */
	double without_ns;  /* of all its commands */
	bool left_out;
};

struct blame_groups {
	struct blame_group groups[BLAME_PARTIES];
	struct blame_name names[BLAME_PARTIES];
	size_t nr;
	uint16_t of[BLAME_PARTIES];	 /* by party */
	uint64_t sums_ns[BLAME_PARTIES]; /* of one victim, by culprit */
	uint64_t elsewhere_ns;		 /* likewise, of other queues, with --same-queue */
	double means_ns[BLAME_PARTIES];	 /* by party: predicted */
};

static size_t blame_find_group(struct blame_groups *g, const struct blame_view *v, size_t party)
{
	const struct blame_tags *tags = &v->blame.parties[party].tags;
	const int32_t device = tags->device == BLAME_REST ? tags->station : tags->device;

	blame_name_of(v, tags, &g->names[g->nr]);
	for (size_t i = 0; i < g->nr; i++)
		if (g->groups[i].device == device &&
		    !strcmp(g->names[i].label_text, g->names[g->nr].label_text))
			return i;
	g->groups[g->nr] = (struct blame_group){ .device = device };
	return g->nr++;
}

static void blame_sum_up_party(struct blame_groups *g, const struct blame_view *v, size_t party)
{
	const struct blame_party *parties = v->blame.parties;

	for (size_t i = 0; i < v->blame.nr; i++)
		*(v->same_queue && parties[i].tags.qid != parties[party].tags.qid
			  ? &g->elsewhere_ns
			  : &g->sums_ns[g->of[i]]) += blame__between(&v->blame, party, i);
}

/* What the victim waited, by culprit. */
static void blame_sum_up(struct blame_groups *g, const struct blame_view *v, size_t victim)
{
	memset(g->sums_ns, 0, sizeof(g->sums_ns));
	g->elsewhere_ns = 0;
	for (size_t i = 0; i < v->blame.nr; i++)
		if (g->of[i] == victim)
			blame_sum_up_party(g, v, i);
}

static struct blame_groups *blame_group(const struct blame_view *v)
{
	const struct blame *b = &v->blame;
	struct blame_groups *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	if (v->without)
		blame__predict(b, g->means_ns);
	for (size_t i = 0; i < b->nr; i++) {
		struct blame_group *group =
			&g->groups[g->of[i] = (uint16_t)blame_find_group(g, v, i)];

		group->count += b->parties[i].count;
		group->latency_ns += b->parties[i].latency_ns;
		group->device_ns += blame__device(b, i);
		group->without_ns += g->means_ns[i] * (double)b->parties[i].count;
		group->left_out |= b->sums[i].left_out;
	}
	for (size_t i = 0; i < g->nr; i++) {
		blame_sum_up(g, v, i);
		g->groups[i].others_ns = g->elsewhere_ns;
		for (size_t j = 0; j < g->nr; j++)
			g->groups[i].others_ns += i == j ? 0 : g->sums_ns[j];
	}
	return g;
}

/* A group's place: by the first number, then the second; the largest is first. */
struct blame_place {
	uint64_t first_ns, then_ns;
	size_t group;
};

static int blame_place_compare(const void *a, const void *b)
{
	const struct blame_place *x = a, *y = b;
	int order = COMPARE(y->first_ns, x->first_ns);

	order = order ?: COMPARE(y->then_ns, x->then_ns);
	return order ?: COMPARE(x->group, y->group);
}

static void blame_place_victims(const struct blame_groups *g, struct blame_place *places)
{
	for (size_t i = 0; i < g->nr; i++)
		places[i] =
			(struct blame_place){ g->groups[i].others_ns, g->groups[i].latency_ns, i };
	qsort(places, g->nr, sizeof(*places), blame_place_compare);
}

static void blame_place_culprits(const struct blame_groups *g, struct blame_place *places)
{
	for (size_t i = 0; i < g->nr; i++)
		places[i] = (struct blame_place){ g->sums_ns[i], 0, i };
	qsort(places, g->nr, sizeof(*places), blame_place_compare);
}

/* ---- rows ---- */

static void blame_fill_victim(struct blame_row *row, const struct blame_groups *g,
			      const struct session *s, size_t victim)
{
	const struct blame_group *group = &g->groups[victim];

	*row = (struct blame_row){
		.dev = records__device_name(s, group->device),
		.victim = g->names[victim],
		.count = group->count,
		.mean_ns = group->latency_ns / group->count,
	};
}

static void blame_put(struct blame_view *v, struct session *s, struct blame_row *row,
		      const struct blame_group *group, uint64_t sum_ns)
{
	row->sum_ns = sum_ns;
	row->each_ns = sum_ns / group->count;
	row->share = group->latency_ns ? 100 * ((double)sum_ns / (double)group->latency_ns) : 0;
	if (v->culprit && !blame_name__is(&row->culprit, v->culprit))
		return;
	if (!row_conditions__admit(&v->conditions, s, row))
		return;
	if (v->is_matrix)
		blame_matrix__add(&v->matrix, row->dev, row->victim.label, row->culprit.label,
				  row->place, row->share, (double)sum_ns);
	else
		v->put(v->table, row);
}

static void blame_put_rest(struct blame_view *v, struct session *s, struct blame_row *row,
			   const struct blame_group *group, const char *label, uint64_t sum_ns)
{
	row->culprit = (struct blame_name){ .label = label,
					    .pid = CELL_NO_NUMBER,
					    .qid = CELL_NO_NUMBER,
					    .size_bytes = CELL_NO_NUMBER };
	blame_put(v, s, row, group, sum_ns);
}

/* Its culprits, the worst first, then the device itself. */
static void blame_put_victim(struct blame_view *v, struct session *s, struct blame_groups *g,
			     size_t victim)
{
	const bool is_short = s->format == TABLE_TEXT && !v->is_matrix;
	const size_t top = v->top.given ? v->top.value : is_short ? BLAME_TOP : BLAME_PARTIES;
	const struct blame_group *group = &g->groups[victim];
	struct blame_place places[BLAME_PARTIES] = { { 0 } };
	struct blame_row row;
	uint64_t rest_ns = 0;

	blame_fill_victim(&row, g, s, victim);
	blame_sum_up(g, v, victim);
	blame_place_culprits(g, places);
	for (size_t i = 0; i < g->nr && places[i].first_ns; i++) {
		row.culprit = g->names[places[i].group];
		if (i < top)
			blame_put(v, s, &row, group, places[i].first_ns);
		else
			rest_ns += places[i].first_ns;
	}
	row.place = MATRIX_OTHER;
	if (rest_ns)
		blame_put_rest(v, s, &row, group, "other culprits", rest_ns);
	row.place = MATRIX_LAST;
	if (g->elsewhere_ns)
		blame_put_rest(v, s, &row, group, "other queues", g->elsewhere_ns);
	blame_put_rest(v, s, &row, group, "device itself", group->device_ns);
}

static void blame_put_without(struct blame_view *v, struct session *s, struct blame_groups *g,
			      size_t victim)
{
	const struct blame_group *group = &g->groups[victim];
	struct blame_row row;

	if (group->left_out)
		return;
	blame_fill_victim(&row, g, s, victim);
	row.without_ns = (uint64_t)(group->without_ns / (double)group->count);
	row.saved =
		group->latency_ns ? 100 * (1 - group->without_ns / (double)group->latency_ns) : 0;
	if (row_conditions__admit(&v->conditions, s, &row))
		v->put(v->table, &row);
}

/* ---- the ledger ---- */

struct blame_account {
	const char *dev;
	uint64_t servers, count, latency_ns, others_ns, own_ns, device_ns, unseen, unseen_ns;
	uint64_t unaccounted_ns;
};

#define FIELD(name) offsetof(struct blame_account, name)
static const struct column blame_device_columns[] = {
	{ "dev", "dev", CELL_TEXT, 7, "disk, the first of those that share a controller; or path",
	  .at = FIELD(dev) },
	{ "servers", "servers", CELL_COUNT, 7,
	  "commands that it serves at once, as last estimated; null: all that are issued",
	  .at = FIELD(servers) },
	{ "count", "count", CELL_COUNT, 7, "commands", .at = FIELD(count) },
	{ "latency_ns", "latency", CELL_DURATION, 7,
	  "sum of their latencies, = others_ns + own_ns + device_ns", .at = FIELD(latency_ns) },
	{ "others_ns", "others", CELL_DURATION, 7, "waited because of other rows",
	  .at = FIELD(others_ns) },
	{ "own_ns", "own", CELL_DURATION, 7, "waited because of commands of the same row",
	  .at = FIELD(own_ns) },
	{ "device_ns", "device", CELL_DURATION, 7, "device itself", .at = FIELD(device_ns) },
	{ "unseen", "unseen", CELL_COUNT, 7, "commands that were not followed, or only in part",
	  .at = FIELD(unseen) },
	{ "unseen_ns", "unseen", CELL_DURATION, 7, "that time, which is in device_ns",
	  .at = FIELD(unseen_ns) },
	{ "unaccounted_ns", "unaccounted", CELL_DURATION, 7,
	  "what does not add up; not 0: a defect of iosonar", .at = FIELD(unaccounted_ns) },
	{ 0 },
};
#undef FIELD

const struct object blame_device = { "blame_device", { blame_device_columns } };

/* A group may be on several paths, so its parts are added up by party. */
static void blame_account_party(const struct blame *b, const struct blame_groups *g, size_t party,
				struct blame_account *a)
{
	a->count += b->parties[party].count;
	a->latency_ns += b->parties[party].latency_ns;
	a->unseen += b->sums[party].unseen;
	a->unseen_ns += b->sums[party].unseen_ns;
	a->device_ns += blame__device(b, party);
	for (size_t i = 0; i < b->nr; i++)
		*(g->of[i] == g->of[party] ? &a->own_ns : &a->others_ns) +=
			blame__between(b, party, i);
}

static void blame_account(const struct blame_view *v, const struct blame_groups *g, int32_t station,
			  struct blame_account *a)
{
	uint32_t servers = blame__servers(&v->blame, station);
	uint64_t parts_ns;

	a->servers = servers && servers != SERVERS_ALL ? servers : CELL_NO_NUMBER;
	for (size_t i = 0; i < v->blame.nr; i++)
		if (v->blame.parties[i].tags.station == station)
			blame_account_party(&v->blame, g, i, a);
	parts_ns = a->others_ns + a->own_ns + a->device_ns;
	a->unaccounted_ns =
		parts_ns > a->latency_ns ? parts_ns - a->latency_ns : a->latency_ns - parts_ns;
	a->unaccounted_ns += v->blame.unaccounted_ns;
}

static void blame_tell(struct session *s, const struct blame_account *a)
{
	char servers[64] = "serves all at once", latency[16], others[16], own[16], device[16];

	if (a->servers != CELL_NO_NUMBER)
		snprintf(servers, sizeof(servers), "serves %" PRIu64 " at once", a->servers);
	log_note("%s: %s; latency %s = because of others %s + of its own %s + device itself %s%s",
		 a->dev, servers, text__duration(latency, sizeof(latency), a->latency_ns),
		 text__duration(others, sizeof(others), a->others_ns),
		 text__duration(own, sizeof(own), a->own_ns),
		 text__duration(device, sizeof(device), a->device_ns),
		 a->unaccounted_ns ? "" : "; it adds up");
	if (a->unseen)
		log_note("%s: %" PRIu64 " commands could not be followed: their time is in device "
			 "itself",
			 a->dev, a->unseen);
	if (a->unaccounted_ns)
		log_warn("%s: %" PRIu64 " ns are unaccounted for", a->dev, a->unaccounted_ns);
	s->incomplete |= a->unaccounted_ns > 0;
}

static int blame_close(const struct blame_view *v, struct session *s, const struct blame_groups *g)
{
	struct table *table = session__table(s, &blame_device, NULL, NULL);

	if (!table)
		return log_no_memory();
	for (size_t i = 0; i < v->blame.nr_devices; i++) {
		int32_t station = v->blame.devices[i].device;
		struct blame_account a = { .dev = records__device_name(s, station) };

		blame_account(v, g, station, &a);
		if (s->format == TABLE_JSON)
			table__row(table, &a);
		blame_tell(s, &a);
	}
	table__free(table);
	if (v->blame.rest)
		log_warn("%" PRIu64 " commands are in rows 'other': there are too many parties or "
			 "devices",
			 v->blame.rest);
	return 0;
}

/* ---- all ---- */

/* Of each victim, or of that of --victim; false: it is not there. */
static bool blame_put_all(struct blame_view *v, struct session *s, struct blame_groups *g,
			  const struct blame_place *places, table_put_fn put)
{
	bool found = !v->victim;

	v->put = put;
	for (size_t i = 0; i < g->nr; i++) {
		size_t victim = places[i].group;

		if (v->victim && !blame_name__is(&g->names[victim], v->victim))
			continue;
		found = true;
		if (v->without)
			blame_put_without(v, s, g, victim);
		else
			blame_put_victim(v, s, g, victim);
	}
	return found;
}

char *blame_rows__label(const struct blame_view *v, const struct blame_tags *tags, char *buf,
			size_t size)
{
	struct blame_name name;

	blame_name_of(v, tags, &name);
	snprintf(buf, size, "%s", name.label);
	return buf;
}

int blame_rows__put(struct blame_view *v, struct session *s, FILE *out, uint32_t by_mask)
{
	struct table *const table = v->table;
	const uint32_t mask = v->by_mask;
	struct blame_place places[BLAME_PARTIES] = { { 0 } };
	const enum table_format format = s->format;
	struct blame_groups *g;

	v->by_mask = by_mask;
	v->table = table__of(out, TABLE_JSON, &blame_rows, NULL, NULL);
	g = v->table ? blame_group(v) : NULL;
	if (g) {
		s->format = TABLE_JSON; /* all culprits */
		blame_place_victims(g, places);
		blame_put_all(v, s, g, places, table__row);
		s->format = format;
	}
	table__free(v->table);
	v->by_mask = mask;
	v->table = table;
	free(g);
	return g ? 0 : -ENOMEM;
}

int blame_rows__show(struct blame_view *v, struct session *s)
{
	struct blame_groups *g = blame_group(v);
	struct blame_place places[BLAME_PARTIES] = { { 0 } };
	int err;

	if (!g)
		return log_no_memory();
	blame_place_victims(g, places);
	if (s->format == TABLE_TEXT && !v->is_matrix)
		blame_put_all(v, s, g, places, table__fit);
	if (!blame_put_all(v, s, g, places, table__row))
		log_warn("--victim: no command of '%s' was seen", v->victim);
	err = blame_matrix__print(&v->matrix, s->out) ? log_no_memory() : 0;
	err = err ?: blame_close(v, s, g);
	free(g);
	return err;
}
