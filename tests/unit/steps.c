/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steps.c: do the steps of a command add up to its total, whatever it skipped? Schedulers, merges,
 * retries, stale stamps; shares and tails against sums worked out by hand.
 */
#include <string.h>
#include "analyse/steps.h"
#include "tap.h"
#include "wire/io_tables.h"

struct whole {
	struct io_record r;
	struct io_stages s;
};

/* A read that passed everything, 10 ns a step. */
static struct whole nvme_read(void)
{
	return (struct whole){
		.r = { .first_ns = 1030,
		       .last_ns = 1030,
		       .end_ns = 1060,
		       .bytes = 4096,
		       .kind = IO_NVME,
		       .op = 2,
		       .attempts = 1,
		       .flags = RECORD_STAGES },
		.s = { .queued_ns = 1000,
		       .got_ns = 1010,
		       .inserted_ns = 1020,
		       .issued_ns = 1040,
		       .reaped_ns = 1050,
		       .done_ns = 1070 },
	};
}

static const char *path(const struct whole *w, enum steps_at at)
{
	static char text[64];
	struct moment m[NR_STAGES];
	size_t nr = stage__moments(&w->r, at, m);
	char name[4];

	text[0] = 0;
	for (size_t i = 1; i < nr; i++) {
		strcat(text, step__name(m[i - 1].stage, m[i].stage, name));
		strcat(text, " ");
	}
	return text;
}

static void is_path(const struct whole *w, enum steps_at at, const char *expected, const char *name)
{
	ok(!strcmp(path(w, at), expected), "%s: %s", name, path(w, at));
}

static void test_paths(void)
{
	struct whole w = nvme_read();

	is_path(&w, STEPS_OF_REQUEST, "Q2G G2I I2S S2D D2K K2N N2C ", "NVMe with a scheduler");
	is_path(&w, STEPS_OF_COMMAND, "S2D D2K K2N ", "the command alone");
	is_path(&w, STEPS_OF_BIO, "", "a command is no bio");
	w.s.inserted_ns = 0;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2S S2D D2K K2N N2C ", "without a scheduler");
	w.s.reaped_ns = 0;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2S S2D D2N N2C ", "no answer found: fabrics");
	w.s.inserted_ns = 900;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2S S2D D2N N2C ", "a stamp of the request's last use");
	w.s.inserted_ns = 1035;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2S S2D D2N N2C ", "or one from after the setup");
	w.s.queued_ns = w.s.got_ns = 0;
	is_path(&w, STEPS_OF_REQUEST, "S2D D2N N2C ", "a command that no bio asked for");
	w.r.flags = 0;
	is_path(&w, STEPS_OF_REQUEST, "S2N ", "a record without stages");
	w = nvme_read();
	w.r.attempts = 3;
	w.r.last_ns = 1035;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2I I2S S2A A2D D2K K2N N2C ", "attempts that failed");
	w.s.done_ns = 0;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2I I2S S2A A2D D2K K2N ",
		"its request's end was missed");
	w = nvme_read();
	w.r.kind = IO_BLOCK;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2I I2D D2C ", "another disk");
	w.s.inserted_ns = 0;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2D D2C ", "without a scheduler");
	is_path(&w, STEPS_OF_COMMAND, "D2C ", "its command alone");
	w.r.attempts = 2;
	w.r.last_ns = 1055;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2D D2A A2C ", "and tried twice");
	w.r.what = RECORD_BIO;
	is_path(&w, STEPS_OF_BIO, "Q2G G2D D2A A2C ", "a bio");
	w.r.attempts = 0;
	w.r.first_ns = w.r.last_ns = w.s.queued_ns;
	w.s.issued_ns = w.s.reaped_ns = 0;
	is_path(&w, STEPS_OF_BIO, "Q2G G2C ", "a bio that waited for another's flush");
	w.s.got_ns = 0;
	is_path(&w, STEPS_OF_BIO, "Q2C ", "a bio of a device without requests");
}

/* A write of a journal: a flush before it, and behind it another if the device knows no FUA. */
static void test_flushes(void)
{
	struct whole w = nvme_read();
	char legend[STAGE_LEGEND];

	w.s.flushed_ns = w.s.got_ns + 2;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2F F2I I2S S2D D2K K2N N2C ", "a flush before it");
	is_path(&w, STEPS_OF_COMMAND, "S2D D2K K2N ", "which is none of the command's");
	w.s.inserted_ns = 0;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2F F2S S2D D2K K2N N2C ", "without a scheduler");
	w.s.flushed_ns = w.s.queued_ns - 1;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2S S2D D2K K2N N2C ",
		"one that ended before is not its own");
	w.s.written_ns = w.r.end_ns + 1;
	w.s.done_ns = w.r.end_ns + 5000;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2S S2D D2K K2N N2W W2C ", "a flush behind it");
	w.r.kind = IO_BLOCK;
	w.s.flushed_ns = w.s.got_ns + 2;
	w.s.written_ns = w.r.end_ns;
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2F F2D D2W W2C ", "both, of another disk");
	is_path(&w, STEPS_OF_COMMAND, "D2C ", "its command ends with its data");
	is_str(step__words(STAGE_GOT, STAGE_FLUSHED), "waits for a flush", "the wait before it");
	is_str(step__words(STAGE_WRITTEN, STAGE_DONE), "waits for a flush",
	       "and the one behind it");
	is_str(stage__legend(stage__bits(STAGE_WRITTEN, STAGE_DONE) |
				     stage__bits(STAGE_QUEUED, STAGE_DONE),
			     legend),
	       "Q submitted; W written, a flush follows; C ended", "letters, each once, in order");
	stage__legend((1u << NR_STAGES) - 1, legend);
	ok(strstr(legend, "; C ended") && strlen(legend) + 1 < sizeof(legend), "all fit");
}

static uint64_t sum_of_steps(const struct steps_group *g)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < g->nr_steps; i++)
		sum += g->steps[i].hist.sum_ns;
	return sum;
}

static uint64_t sum_of(const struct steps_group *g, enum io_wait wait, enum stage to)
{
	for (size_t i = 0; i < g->nr_steps; i++)
		if (g->steps[i].wait == wait && g->steps[i].to == to)
			return g->steps[i].hist.sum_ns;
	return 0;
}

static __u64 wait_at(uint64_t ns, enum io_wait wait)
{
	return ns << 8 | wait;
}

/* Q2G of 1000 ns, of which 200 have no name, 500 are writeback throttling and 300 a tag. */
static void test_waits(void)
{
	struct whole w = nvme_read();
	struct steps steps = { 0 };
	const struct steps_group *g;

	w.s.queued_ns -= 990;
	w.s.waits[0] = wait_at(200, IO_WAIT_WBT);
	w.s.waits[1] = wait_at(700, IO_WAIT_TAG);
	is_path(&w, STEPS_OF_REQUEST, "Q2G G2I I2S S2D D2K K2N N2C ", "named waits are no stages");
	steps__add(&steps, 0, &w.r, STEPS_OF_REQUEST);
	steps__sort(&steps);
	g = steps.groups[0];
	is_u64(sum_of(g, IO_WAIT_NONE, STAGE_GOT), 200, "before the first wait");
	is_u64(sum_of(g, IO_WAIT_WBT, STAGE_GOT), 500, "a wait lasts until the next one");
	is_u64(sum_of(g, IO_WAIT_TAG, STAGE_GOT), 300, "the last until the request");
	is_u64(sum_of_steps(g), g->total.sum_ns, "together they are the whole");
	ok(g->steps[0].wait == IO_WAIT_NONE && g->steps[1].wait == IO_WAIT_WBT &&
		   g->steps[2].wait == IO_WAIT_TAG && g->steps[3].to == STAGE_INSERTED,
	   "in their order");
	is_str(wait__name(IO_WAIT_TAG), "tag", "by name");
	w.s.waits[0] = wait_at(4, IO_WAIT_HELD);
	is_path(&w, STEPS_OF_REQUEST, "H2Q Q2G G2I I2S S2D D2K K2N N2C ", "held back by io.max");
	is_path(&w, STEPS_OF_COMMAND, "S2D D2K K2N ", "not its command");
	steps__add(&steps, 0, &w.r, STEPS_OF_REQUEST);
	is_u64(sum_of(g, IO_WAIT_NONE, STAGE_QUEUED), 4, "before its submission");
	is_u64(sum_of_steps(g), g->total.sum_ns, "and in the whole");
	ok(g->from == STAGE_HELD, "which begins there");
	w.s.waits[0] = wait_at(5000, IO_WAIT_TAG);
	w.s.waits[1] = wait_at(10, 250);
	steps__add(&steps, 1, &w.r, STEPS_OF_REQUEST);
	is_u64(sum_of(steps.groups[1], IO_WAIT_NONE, STAGE_GOT), 1000,
	       "one that cannot be, and one of an unknown cause, are none");
	steps__free(&steps);
}

static uint64_t seed = 0x9e3779b97f4a7c15ULL;

static uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 20) % n;
}

/* Stamps that may be missing, stale or in a muddle. */
static struct whole muddle(void)
{
	struct whole w = nvme_read();
	__u64 *stamps = &w.s.queued_ns;

	for (int i = 0; i < 6; i++)
		if (!random_below(3))
			stamps[i] = random_below(2) ? 0 : 900 + random_below(300);
	for (int i = 0; i < IO_WAITS; i++)
		w.s.waits[i] = random_below(3) ? 0 : random_below(20) << 8 | random_below(9);
	w.r.kind = random_below(2) ? IO_NVME : IO_BLOCK;
	w.r.attempts = (uint8_t)(1 + random_below(2));
	w.r.last_ns = 1030 + random_below(20);
	return w;
}

/* A volume's bio: 30 ns until it passed on the first, 20 until the last came back, 10 more. */
static void test_volume(void)
{
	struct whole w = { .r = { .first_ns = 1000,
				  .last_ns = 1000,
				  .end_ns = 1060,
				  .kind = IO_BLOCK,
				  .what = RECORD_BIO,
				  .flags = RECORD_STAGES },
			   .s = { .queued_ns = 1000, .issued_ns = 1030, .reaped_ns = 1050 } };
	struct steps steps = { 0 };

	is_path(&w, STEPS_OF_BIO, "Q2V V2E E2C ", "a volume's bio");
	steps__add(&steps, 0, &w.r, STEPS_OF_BIO);
	ok(steps.nr == 1 && sum_of_steps(steps.groups[0]) == 60 &&
		   steps.groups[0]->steps[1].hist.sum_ns == 20,
	   "its steps are the whole");
	steps__free(&steps);
	w.s.reaped_ns = 0;
	is_path(&w, STEPS_OF_BIO, "Q2V V2C ", "nobody saw the last one come back");
	w.s.issued_ns = 0;
	is_path(&w, STEPS_OF_BIO, "Q2C ", "nothing is known of those below");
	w.r.attempts = 1;
	w.s.issued_ns = 1030;
	is_path(&w, STEPS_OF_BIO, "Q2D D2C ", "a command carried it: it is no volume's");
}

static void test_sums(void)
{
	struct steps steps = { 0 }, both = { 0 };
	bool equal = true, merged = true;

	for (int i = 0; i < 20000; i++) {
		struct whole w = muddle();

		if (steps__add(&steps, (int32_t)random_below(3), &w.r, STEPS_OF_REQUEST))
			ok(0, "memory");
	}
	steps__merge(&both, &steps);
	steps__merge(&both, &steps);
	steps__sort(&steps);
	steps__sort(&both);
	for (size_t i = 0; i < steps.nr; i++) {
		const struct steps_group *g = steps.groups[i], *b = both.groups[i];

		equal &= sum_of_steps(g) == g->total.sum_ns && g->total.count;
		merged &= sum_of_steps(b) == 2 * g->total.sum_ns && b->nr_steps == g->nr_steps &&
			  b->steps[0].hist.sum_ns == 2 * g->steps[0].hist.sum_ns;
	}
	ok(steps.nr == 6, "a group for each device and operation: %zu", steps.nr);
	ok(equal, "steps add up to the total");
	ok(merged, "two intervals add up to twice as much");
	steps__clear(&steps);
	ok(steps.nr == 6 && !steps.groups[0]->total.count, "cleared");
	steps__free(&steps);
	steps__free(&both);
}

/* 98 fast ones in which the device takes 10 of 70 ns, 2 slow ones in which it takes nearly all. */
static void test_tail(void)
{
	struct steps steps = { 0 };
	const struct steps_group *g;
	double rest = 0, tail = 0;

	for (int i = 0; i < 100; i++) {
		struct whole w = nvme_read();

		if (i >= 98) {
			w.s.reaped_ns += 6930;
			w.r.end_ns += 6930;
			w.s.done_ns += 6930;
		}
		steps__add(&steps, 0, &w.r, STEPS_OF_REQUEST);
	}
	steps__sort(&steps);
	g = steps.groups[0];
	ok(g->nr_steps == 7 && g->steps[4].from == STAGE_ISSUED && g->steps[4].to == STAGE_REAPED,
	   "steps stand in the order of the path");
	/* sum: 98 * 70 + 2 * 7000 = 20860; of it the device has 98 * 10 + 2 * 6940 = 14860 */
	ok(steps_group__share(g, 4) > 71.2 && steps_group__share(g, 4) < 71.3,
	   "share of the device: %.2f", steps_group__share(g, 4));
	ok(steps_group__tail_share(g, 4, 9800) > 99.1 && steps_group__tail_share(g, 4, 9800) < 99.2,
	   "and in the slowest: %.2f", steps_group__tail_share(g, 4, 9800));
	for (size_t i = 0; i < g->nr_steps; i++) {
		rest += steps_group__share(g, i);
		tail += steps_group__tail_share(g, i, 9900);
	}
	ok(rest > 99.99 && rest < 100.01 && tail > 99.99 && tail < 100.01,
	   "shares are parts of a whole");
	ok(g->from == STAGE_QUEUED && g->to == STAGE_DONE, "from submit to end");
	steps__free(&steps);
}

/*
 * The first interval has a command of one step, the second a command of seven, whose fifth is slow.
 * Merged, the one step is the first, and the fifth of the second interval is the sixth.
 */
static void test_merged_tail(void)
{
	struct whole w = { .r = { .first_ns = 1000,
				  .last_ns = 1000,
				  .end_ns = 1010,
				  .kind = IO_NVME,
				  .op = 2,
				  .attempts = 1 } };
	struct steps first = { 0 }, second = { 0 };
	const struct steps_group *g;
	size_t device = 0;

	steps__add(&first, 0, &w.r, STEPS_OF_REQUEST);
	w = nvme_read();
	w.s.reaped_ns += 6930;
	w.r.end_ns += 6930;
	w.s.done_ns += 6930;
	steps__add(&second, 0, &w.r, STEPS_OF_REQUEST);
	steps__merge(&first, &second);
	g = first.groups[0];
	while (device < g->nr_steps && g->steps[device].from != STAGE_ISSUED)
		device++;
	ok(g->nr_steps == 8 && device == 5, "merged, a step has another place: %zu of %zu", device,
	   g->nr_steps);
	ok(steps_group__tail_share(g, device, 9000) > 99.1 &&
		   steps_group__tail_share(g, device, 9000) < 99.2,
	   "and its own share of the slowest: %.2f", steps_group__tail_share(g, device, 9000));
	steps__free(&first);
	steps__free(&second);
}

int main(void)
{
	test_paths();
	test_flushes();
	test_volume();
	test_waits();
	test_sums();
	test_tail();
	test_merged_tail();
	return done_testing();
}
