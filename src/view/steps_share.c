/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/steps_share.h"

#include <errno.h>
#include "session/share.h"

/* What identifies a group. */
struct steps_share_head {
	int32_t device;
	uint8_t kind, op;
	enum stage from, to;
	size_t nr_steps;
};

static void steps_share_put_group(struct byte_out *out, const struct steps_group *g)
{
	struct steps_share_head head = { g->device, g->kind, g->op, g->from, g->to, g->nr_steps };

	byte_out__put(out, &head, sizeof(head));
	share__put_hist(out, &g->total);
	for (size_t i = 0; i < g->nr_steps; i++) {
		byte_out__u8(out, (uint8_t)g->steps[i].from);
		byte_out__u8(out, (uint8_t)g->steps[i].to);
		byte_out__u8(out, (uint8_t)g->steps[i].wait);
		share__put_hist(out, &g->steps[i].hist);
	}
	/* Only commands in a bucket of the total have tails there. */
	for (uint32_t slot = 0; slot < HIST_CELLS; slot++)
		for (size_t i = 0; g->total.slots[slot] && i < g->nr_steps; i++)
			byte_out__varint(out, g->tails[slot][i]);
}

int steps_share__give(struct steps *steps, struct byte_out *out)
{
	int err = 0;

	for (size_t i = 0; i < steps->nr; i++) {
		const struct steps_group *group = steps->groups[i];

		if (group->nr_steps == STEPS_PER_GROUP)
			err = -EAGAIN;
		if (group->total.count)
			steps_share_put_group(out, group);
	}
	steps__clear(steps);
	return err;
}

static int steps_share_get_group(struct steps *part, struct byte_in *in)
{
	struct steps_share_head head;
	struct steps_group *g;

	share__get(in, &head, sizeof(head));
	g = steps__group(part, head.device, head.kind, head.op);
	if (!g || head.nr_steps > STEPS_PER_GROUP)
		return -ENOMEM;
	g->from = head.from;
	g->to = head.to;
	g->nr_steps = head.nr_steps;
	share__take_hist(in, &g->total);
	for (size_t i = 0; i < g->nr_steps; i++) {
		g->steps[i].from = byte_in__u8(in);
		g->steps[i].to = byte_in__u8(in);
		g->steps[i].wait = byte_in__u8(in);
		share__take_hist(in, &g->steps[i].hist);
	}
	for (uint32_t slot = 0; slot < HIST_CELLS; slot++)
		for (size_t i = 0; g->total.slots[slot] && i < g->nr_steps; i++)
			g->tails[slot][i] = byte_in__varint(in);
	return 0;
}

/* Every step that is not in `into` yet needs a place. */
static bool steps_share_fits(const struct steps_group *into, const struct steps_group *group)
{
	size_t nr = into->nr_steps;

	for (size_t i = 0; i < group->nr_steps; i++) {
		size_t at = 0;

		while (at < into->nr_steps && (into->steps[at].from != group->steps[i].from ||
					       into->steps[at].to != group->steps[i].to ||
					       into->steps[at].wait != group->steps[i].wait))
			at++;
		nr += at == into->nr_steps;
	}
	return nr < STEPS_PER_GROUP;
}

int steps_share__take(struct steps *into, struct steps *part, struct byte_in *in)
{
	int err = 0;

	steps__clear(part);
	while (!err && byte_in__left(in))
		err = steps_share_get_group(part, in);
	for (size_t i = 0; !err && i < part->nr; i++) {
		const struct steps_group *group = part->groups[i];
		const struct steps_group *there =
			steps__group(into, group->device, group->kind, group->op);

		if (!there)
			err = -ENOMEM;
		else if (!steps_share_fits(there, group))
			err = -EAGAIN;
	}
	return err ?: steps__merge(into, part);
}
