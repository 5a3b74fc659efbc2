/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_choice.c: which functions and members of a trace are shown? On this machine only what is
 * asked for is traced, and a member more where a filter needs it; a capture holds what was
 * recorded, and its functions and members are chosen here.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "calls/members.h"
#include "calls/trace.h"

/* ---- members ---- */

bool call_trace__is_disk(const char *field, size_t len)
{
	static const char name[] = "disk_name";
	const size_t tail = sizeof(name) - 1;

	return len >= tail && !memcmp(field + len - tail, name, tail);
}

static bool choice_has_disk(const struct call_trace *t)
{
	for (size_t i = 0; i < t->nr_fields; i++)
		if (call_trace__is_disk(t->fields[i], strlen(t->fields[i])))
			return true;
	return false;
}

int call_trace__find_disk(const struct call_trace *t, const struct class *class, char *field,
			  size_t size)
{
	const char *const *names = class->preset ? class->preset->fields : NULL;

	*field = 0;
	if (choice_has_disk(t))
		return 0;
	if (t->nr_fields >= CLASS_MAX_FIELDS)
		return log_err(-EINVAL, "--fields takes at most %d members beside the disk of -d",
			       CLASS_MAX_FIELDS - 1);
	for (; names && *names; names++)
		if (class__pick_field(&t->member_type, *names, field, size) &&
		    call_trace__is_disk(field, strlen(field)))
			return 0;
	return log_err(
		-EINVAL,
		"-d: the disk of struct %s is unknown; name a member disk_name with --fields",
		class->object);
}

static int choice_no_member(const struct call_trace *t, const char *word)
{
	char *list = NULL;
	size_t size;
	FILE *out = open_memstream(&list, &size);
	int err;

	for (size_t i = 0; out && i < t->nr_fields; i++)
		fprintf(out, "%s%s", i ? ", " : "", t->fields[i]);
	if (out)
		fclose(out);
	err = log_err(-EINVAL, "--fields: the capture has no member '%s'; it has %s", word,
		      list && *list ? list : "none");
	free(list);
	return err;
}

/* By its whole path, or by the name that it is shown with. */
static bool choice_is_member(const struct plan_part *part, const char *word)
{
	const size_t len = strlen(word);
	int name_len;
	const char *name = member__name(part, &name_len);

	return (part->text_len == len && !memcmp(part->text, word, len)) ||
	       ((size_t)name_len == len && !memcmp(name, word, len));
}

int call_trace__choose_fields(struct call_trace *t, const struct option_list *fields)
{
	if (!fields->nr)
		return 0;
	if (fields->nr > CLASS_MAX_FIELDS)
		return log_err(-EINVAL, "--fields takes at most %d members", CLASS_MAX_FIELDS);
	t->nr_shown = 1; /* the object */
	for (size_t i = 0; i < fields->nr; i++) {
		size_t m = 1;

		while (m < t->nr_members && !choice_is_member(&t->members[m], fields->words[i]))
			m++;
		if (m >= t->nr_members)
			return choice_no_member(t, fields->words[i]);
		t->shown[t->nr_shown++] = t->members[m];
	}
	return 0;
}

int call_trace__check_disk(const struct call_trace *t, const struct option_list *devices)
{
	if (!devices->nr || choice_has_disk(t))
		return 0;
	return log_err(-EINVAL, "-d: the capture has no member disk_name; record with -d or "
				"--fields");
}

/* ---- functions ---- */

static bool choice_matches(const char *const *globs, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!fnmatch(globs[i], name, 0))
			return true;
	return false;
}

static bool choice_bounds_life(const struct call_trace_function *f)
{
	return f->at_entry.role != LIFE_CALL || f->at_exit.role != LIFE_CALL;
}

int call_trace__choose_functions(struct call_trace *t, const struct class_wants *wants)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < t->nr; i++) {
		const char *name = call_trace__probe(t, i)->func;
		const bool is_meant =
			!wants->nr_only || choice_matches(wants->only, wants->nr_only, name);

		nr += is_meant;
		t->functions[i].is_hidden =
			!choice_bounds_life(&t->functions[i]) &&
			(!is_meant || choice_matches(wants->not, wants->nr_not, name));
	}
	if (nr)
		return 0;
	return log_err(-EINVAL, "--only %s%s matches none of the %zu functions of the capture",
		       wants->only[0], wants->nr_only > 1 ? ",..." : "", t->nr);
}
