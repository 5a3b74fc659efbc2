/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * folded.c: who caused the I/O, for tools that draw stacks: one line for each distinct stack: the
 * task, its frames and the kernel's, and the number of commands. `stacks -r` has more.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "export/exporter.h"
#include "view/stacks.h"
#include "wire/io_stages.h"

enum { FOLDED_MOST = 65536 }; /* stacks that differ */

struct export_folded {
	struct stacks stacks;
	uint64_t nr_stackless;
};

static int folded_start(void **state, struct session *s)
{
	struct export_folded *f;

	if (!session__knows(s, GLOSSARY_STACKS))
		return log_err(-EINVAL, "this capture has no stacks: record it with --stacks");
	f = calloc(1, sizeof(*f));
	if (!f)
		return log_no_memory();
	stacks__init(&f->stacks, FOLDED_MOST);
	*state = f;
	return 0;
}

static int folded_put(void *state, struct session *s, const struct io_record *r)
{
	struct export_folded *f = state;

	f->nr_stackless += !io_record__stages(r);
	return view_stacks__add(&f->stacks, s, r, STACK_BOTH);
}

static int folded_finish(void *state, struct session *s)
{
	struct export_folded *f = state;
	struct flame *flame = flame__new();
	int err = flame ? view_stacks__flame(&f->stacks, STACK_BY_COUNT, flame) : -ENOMEM;

	err = err ?: flame__write_folded(flame, s->out);
	flame__free(flame);
	if (f->nr_stackless)
		log_note("%" PRIu64 " commands are left out: their records have no stack",
			 f->nr_stackless);
	if (f->stacks.other.sum.count)
		log_note("%" PRIu64
			 " commands are left out: there are more than %d different stacks",
			 f->stacks.other.sum.count, FOLDED_MOST);
	return err ? log_err(err, "cannot write the stacks: %s", strerror(-err)) : 0;
}

static void folded_free(void *state)
{
	struct export_folded *f = state;

	if (f)
		stacks__free(&f->stacks);
	free(f);
}

const struct exporter export_folded = {
	.start = folded_start,
	.put = folded_put,
	.finish = folded_finish,
	.free = folded_free,
};
