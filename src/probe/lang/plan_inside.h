/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_inside.h: what the files of plan*.c share while a plan is made. Functions return 0 or a
 * negative errno, said.
 */
#ifndef IOSONAR_PROBE_LANG_PLAN_INSIDE_H
#define IOSONAR_PROBE_LANG_PLAN_INSIDE_H

#include "probe/lang/plan.h"

struct plan_clause {
	const char *word; /* "by" */
	const char *text; /* NULL: not given */
	struct expr *trees[PLAN_MAX_PARTS];
	size_t nr;
};

struct planning {
	struct plan *plan;
	const struct line *line;
	struct plan_clause keys, shown, of, condition;
	const struct plan_clause *typed; /* the probe that is being typed */
	struct plan_probe *saver;	 /* the start that saves the values found there */
	size_t nr_starts;
};

int planning__say(const struct planning *p, const struct plan_clause *clause,
		  const struct expr_error *error, const struct probe *probe);
int planning__type(struct planning *p, const struct plan_clause *clause, size_t i,
		   const struct value_scope *scope, struct value **value);
int planning__type_probe(struct planning *p, struct plan_probe *probe,
			 const struct value_scope *scope);

void planning__take_options(struct planning *p);

/* plan_syscall.c: takes a field of a system call and returns the value shown for it. */
struct value *planning__field_in_words(const struct probe *event, size_t field, struct value *v);
/* What a line of raw_syscalls shows without `show`; NULL: it is not a line of raw_syscalls.
 * Owned by the caller. */
char *planning__raw_syscalls(const struct plan *plan, const struct line *line);
void planning__mark_raw_syscalls(struct plan_probe *probe);

/* plan_pair.c */
int planning__type_pairs(struct planning *p);
struct value *planning__start_stack(enum value_op op);

/* plan_layout.c */
int planning__lay_out(struct planning *p);
/* Makes the part wide enough for one more value. -EINVAL: a value of another kind; not said. */
int plan_shape__widen(struct value_shape *shape, const struct value_shape *other);

#endif
