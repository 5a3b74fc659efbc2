/* SPDX-License-Identifier: BSD-2-Clause */
/* share.c: are sums of parts, sent as bytes, the sum of the whole? */
#include "session/share.h"

#include <errno.h>
#include "draw.h"
#include "tap.h"
#include "view/stacks.h"
#include "view/steps_share.h"

enum { SHARE_RECORDS = 3000, SHARE_PARTS = 7 };

static struct byte_in bytes_of(const struct byte_out *out)
{
	return (struct byte_in){ out->bytes, out->bytes + out->len, false };
}

static void test_hist(void)
{
	static struct hist whole, parts;
	struct byte_out out = { 0 };
	struct byte_in in;

	for (int part = 0; part < SHARE_PARTS; part++) {
		struct hist h = { 0 };

		for (int i = 0; i < SHARE_RECORDS; i++) {
			uint64_t ns = draw(UINT64_MAX) >> (draw(64));

			hist__add(&whole, ns, 4096);
			hist__add(&h, ns, 4096);
		}
		share__put_hist(&out, &h);
	}
	in = bytes_of(&out);
	for (int part = 0; part < SHARE_PARTS; part++)
		share__take_hist(&in, &parts);
	ok(!in.bad && !byte_in__left(&in), "all bytes are used");
	ok(!memcmp(&whole, &parts, sizeof(whole)), "a distribution is the sum of its parts");
	byte_out__free(&out);
}

/* Steps that differ from record to record. */
static struct record_with_stages some_io(uint64_t i)
{
	uint64_t noise = draw(UINT64_MAX);
	struct record_with_stages io = {
		.record = { .first_ns = 1000000 * (i + 1), .attempts = 1, .bytes = 4096 },
	};

	io.record.end_ns = io.record.last_ns = io.record.first_ns + 1000 + noise % 90000;
	io.record.kind = noise & 1 ? IO_NVME : IO_BLOCK;
	io.record.op = noise >> 1 & 1;
	io.record.flags = noise >> 2 & 3 ? RECORD_STAGES : 0;
	io.stages.queued_ns = io.record.first_ns - 5000 - (noise >> 8) % 3000;
	io.stages.got_ns = noise >> 4 & 1 ? io.stages.queued_ns + 100 : 0;
	io.stages.inserted_ns = noise >> 5 & 1 ? io.stages.queued_ns + 300 : 0;
	io.stages.issued_ns = io.record.first_ns + (noise >> 20) % 500;
	io.stages.done_ns = io.record.end_ns + (noise >> 30) % 700;
	io.stages.waits[noise >> 40 & 1] = (noise >> 41) % 120 << 8 | (noise >> 50) % NR_IO_WAITS;
	return io;
}

static bool same_steps(struct steps *a, struct steps *b)
{
	bool same = a->nr == b->nr;

	steps__sort(a);
	steps__sort(b);
	for (size_t i = 0; same && i < a->nr; i++) {
		const struct steps_group *x = a->groups[i], *y = b->groups[i];

		same = x->device == y->device && x->kind == y->kind && x->op == y->op &&
		       x->from == y->from && x->to == y->to && x->nr_steps == y->nr_steps &&
		       !memcmp(&x->total, &y->total, sizeof(x->total)) &&
		       !memcmp(x->steps, y->steps, x->nr_steps * sizeof(x->steps[0])) &&
		       !memcmp(x->tails, y->tails, HIST_CELLS * sizeof(*x->tails));
	}
	return same;
}

static void test_steps(void)
{
	struct steps whole = { 0 }, copy = { 0 }, run = { 0 }, room = { 0 };
	struct byte_out out = { 0 };
	struct byte_in in;
	int err = 0;

	for (uint64_t i = 0; i < SHARE_PARTS * SHARE_RECORDS && !err; i++) {
		struct record_with_stages io = some_io(i);

		err = steps__add(&whole, (int32_t)(i % 3), &io.record, STEPS_OF_REQUEST)
			      ?: steps__add(&copy, (int32_t)(i % 3), &io.record, STEPS_OF_REQUEST);
		if (i % SHARE_RECORDS < SHARE_RECORDS - 1)
			continue;
		out.len = 0;
		err = err ?: steps_share__give(&copy, &out);
		in = bytes_of(&out);
		err = err ?: steps_share__take(&run, &room, &in);
	}
	ok(!err && same_steps(&whole, &run), "steps are the sum of their parts");
	for (int i = 0; i < STEPS_PER_GROUP; i++)
		whole.groups[0]->steps[i].to = (enum stage)i;
	whole.groups[0]->nr_steps = STEPS_PER_GROUP;
	out.len = 0;
	ok(steps_share__give(&whole, &out) == -EAGAIN, "a full group is not given");
	run.groups[0]->nr_steps = STEPS_PER_GROUP - 1;
	in = bytes_of(&out);
	ok(steps_share__take(&run, &room, &in) == -EAGAIN, "nor taken where it fills one");
	byte_out__free(&out);
	steps__free(&whole);
	steps__free(&copy);
	steps__free(&run);
	steps__free(&room);
}

static bool same_stacks(const struct stacks *a, const struct stacks *b)
{
	bool same = a->nr == b->nr && !memcmp(&a->total, &b->total, sizeof(a->total)) &&
		    !memcmp(&a->other.sum, &b->other.sum, sizeof(a->other.sum)) &&
		    !memcmp(a->kernel_halves, b->kernel_halves, sizeof(a->kernel_halves)) &&
		    !memcmp(a->user_halves, b->user_halves, sizeof(a->user_halves));

	for (size_t i = 0; same && i < a->nr; i++)
		same = a->rows[i]->stack.kernel == b->rows[i]->stack.kernel &&
		       !strcmp(a->rows[i]->stack.comm, b->rows[i]->stack.comm) &&
		       !memcmp(&a->rows[i]->sum, &b->rows[i]->sum, sizeof(a->rows[i]->sum)) &&
		       !memcmp(a->rows[i]->hist, b->rows[i]->hist, sizeof(*a->rows[i]->hist));
	return same;
}

/* Fewer rows than stacks: which of them have a row depends on the order in which they came. */
static void test_stacks(void)
{
	static const char *const texts[] = { "submit_bio;a", "submit_bio;b", "submit_bio;c", NULL };
	struct stacks whole, copy, run;
	struct byte_out out = { 0 };
	struct byte_in in;
	int err = 0;

	stacks__init_with_hist(&whole, 20);
	stacks__init_with_hist(&run, 20);
	stacks__init_with_hist(&copy, 1000);
	for (uint64_t i = 0; i < SHARE_PARTS * SHARE_RECORDS && !err; i++) {
		uint64_t noise = draw(UINT64_MAX), ns = noise % 100000;
		struct stack stack = { .kernel = texts[noise >> 20 & 3] };

		stack.kernel_half = stack.kernel ? STACK_TAKEN : STACK_NONE;
		snprintf(stack.comm, sizeof(stack.comm), "task%u",
			 (unsigned int)((noise >> 30) % (1 + i / 500)));
		err = stacks__add(&whole, &stack, ns, 512) ?: stacks__add(&copy, &stack, ns, 512);
		if (i % SHARE_RECORDS < SHARE_RECORDS - 1)
			continue;
		out.len = 0;
		err = err ?: view_stacks__give(&copy, &out);
		in = bytes_of(&out);
		err = err ?: view_stacks__take(&run, &in);
	}
	ok(whole.other.sum.count && !err && same_stacks(&whole, &run),
	   "stacks are the sum of their parts, in the same order");
	byte_out__free(&out);
	stacks__free(&whole);
	stacks__free(&copy);
	stacks__free(&run);
}

int main(void)
{
	test_hist();
	test_steps();
	test_stacks();
	return done_testing();
}
