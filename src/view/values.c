/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* strerrorname_np */
#include "view/values.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/index.h"
#include "collect/cache.h"
#include "collect/cgroup.h"
#include "decode/syscall_args.h"
#include "symbol/frames.h"
#include "view/call_words.h"

enum { SHOWN_KEY = 64 };

/* Names of the columns of one table. */
struct values_keys {
	struct values_keys *next;
	char names[PLAN_MAX_PARTS][SHOWN_KEY];
};

/* A stack with names, kept because a process that has ended can no longer be asked. */
struct values_stack {
	uint64_t id, pid; /* pid 0: the kernel's */
	char *text;	  /* functions, innermost first; NULL: none */
};

/* The stack that stands for all that look alike. */
struct values_look {
	const struct plan_part *part;
	uint64_t words[2]; /* the first one's */
	char *text;
};

struct values {
	const struct request *request;
	struct run *run;
	uint32_t pid;	       /* process of the current record */
	struct frames *frames; /* NULL: no stacks */
	struct values_stack *stacks;
	struct values_look *looks;
	struct index stack_index, look_index;
	uint64_t wall_ns;	     /* offset of the wall clock from the other */
	struct values_keys *keys;    /* of all columns made */
	char *texts[PLAN_MAX_PARTS]; /* of the current row */
};

struct values *values__new(const struct request *request)
{
	const struct plan *plan = &request->plan;
	struct values *values = calloc(1, sizeof(*values));

	if (!values)
		return NULL;
	values->request = request;
	if (!plan->kernel_stack && !plan->user_stack)
		return values;
	values->frames = frames__new(plan->kernel_stack, plan->user_stack);
	if (values->frames)
		return values;
	free(values);
	return NULL;
}

static void values_forget(struct values *values)
{
	for (size_t i = 0; i < PLAN_MAX_PARTS; i++) {
		free(values->texts[i]);
		values->texts[i] = NULL;
	}
}

void values__free(struct values *values)
{
	if (!values)
		return;
	values_forget(values);
	while (values->keys) {
		struct values_keys *keys = values->keys;

		values->keys = keys->next;
		free(keys);
	}
	for (size_t i = 0; i < values->stack_index.nr; i++)
		free(values->stacks[i].text);
	for (size_t i = 0; i < values->look_index.nr; i++)
		free(values->looks[i].text);
	free(values->stacks);
	free(values->looks);
	index__free(&values->stack_index);
	index__free(&values->look_index);
	frames__free(values->frames);
	free(values);
}

void values__start(struct values *values, struct run *run)
{
	values->run = run;
	values->wall_ns = clock__wall_ns() - clock__mono_ns();
	tzset(); /* reads its file now */
	if (!values->frames)
		return;
	frames__prepare(values->frames);
	if (run)
		run__unwind_with(run, frames__symbols(values->frames));
}

/* ---- columns ---- */

static bool values_is_plain(const struct plan_part *part)
{
	return !part->shape.is_text &&
	       (part->shape.unit == VALUE_PLAIN || part->shape.unit == VALUE_DURATION ||
		part->shape.unit == VALUE_BYTES);
}

enum cell_kind values__number_kind(enum value_unit unit, bool is_signed)
{
	if (is_signed)
		return CELL_SIGNED;
	switch (unit) {
	case VALUE_DURATION: return CELL_DURATION;
	case VALUE_BYTES: return CELL_BYTES;
	default: return CELL_NUMBER;
	}
}

/* "req->q->disk" is req_q_disk, "errno(-ret)" is errno_ret. */
static void values_name(const struct plan_part *part, char key[SHOWN_KEY])
{
	size_t len = 0;

	for (size_t i = 0; i < part->text_len && len < SHOWN_KEY - 16; i++) {
		char c = part->text[i];

		c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			key[len++] = c;
		else if (len && key[len - 1] != '_')
			key[len++] = '_';
	}
	while (len && key[len - 1] == '_')
		len--;
	key[len] = 0;
}

static bool values_is_taken(const char *key, const struct column *columns, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(columns[i].key, key))
			return true;
	return false;
}

static void values_key(char key[SHOWN_KEY], const struct column *columns, size_t nr,
		       const struct column *taken)
{
	char plain[SHOWN_KEY];
	size_t nr_taken = 0;

	while (taken && taken[nr_taken].key)
		nr_taken++;
	if (!*key || values_is_taken(key, taken, nr_taken) || !strcmp(key, "type")) {
		snprintf(plain, sizeof(plain), "%s", key);
		snprintf(key, SHOWN_KEY, "by_%.40s", plain);
	}
	snprintf(plain, sizeof(plain), "%s", key);
	for (unsigned int i = 2; values_is_taken(key, columns, nr); i++)
		snprintf(key, SHOWN_KEY, "%.44s_%u", plain, i);
}

int values__columns(struct values *values, const struct plan_part *parts, size_t nr, size_t first,
		    struct column *columns, const struct column *taken)
{
	struct values_keys *keys = calloc(1, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	keys->next = values->keys;
	values->keys = keys;
	for (size_t i = 0; i < nr; i++) {
		values_name(&parts[i], keys->names[i]);
		values_key(keys->names[i], columns, i, taken);
		columns[i] = (struct column){
			.key = keys->names[i],
			.header = keys->names[i],
			.kind = values_is_plain(&parts[i])
					? values__number_kind(parts[i].shape.unit,
							      parts[i].shape.is_signed)
					: CELL_TEXT,
			.width = 4,
			.help = "value named in the line",
			.at = (first + i) * sizeof(union value_slot),
			.form = values__is_stack(&parts[i]) ? &form_list : NULL,
		};
	}
	return 0;
}

/* ---- cells ---- */

static char *values_symbol(const struct values *values, uint64_t address)
{
	uint64_t offset = 0;
	const char *name = finder__symbol(values->request->finder, address, &offset);
	char *text = NULL;
	int len;

	if (!name)
		len = asprintf(&text, "0x%" PRIx64, address);
	else if (offset)
		len = asprintf(&text, "%s+0x%" PRIx64, name, offset);
	else
		len = asprintf(&text, "%s", name);
	return len < 0 ? NULL : text;
}

void values__whose(struct values *values, uint32_t pid)
{
	values->pid = pid;
}

static char *values_time(const struct values *values, uint64_t mono_ns)
{
	uint64_t ns = mono_ns + values->wall_ns;
	time_t seconds = (time_t)(ns / 1000000000);
	char clock[16], *text = NULL;
	struct tm tm;

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&seconds, &tm));
	return asprintf(&text, "%s.%06u", clock, (unsigned int)(ns % 1000000000 / 1000)) < 0 ? NULL
											     : text;
}

/* The number's name, or the number. */
static char *values_named(const char *name, int64_t number)
{
	char *text = NULL;

	if (name)
		return strdup(name);
	return asprintf(&text, "%" PRId64, number) < 0 ? NULL : text;
}

static char *values_cgroup(uint64_t id)
{
	char path[PATH_MAX];

	return strdup(cgroup__path(id, path, sizeof(path)));
}

static char *values_pointer(uint64_t address)
{
	char *text = NULL;

	return asprintf(&text, "0x%" PRIx64, address) < 0 ? NULL : text;
}

static char *values_name_stack(const struct values *values, uint64_t id, uint64_t pid)
{
	struct io_stack stack;

	run__stack(values->run, id, (uint32_t)pid, &stack);
	return stack.nr ? frames__text(values->frames, &stack, (uint32_t)pid) : NULL;
}

static bool values_is_stack(const void *stacks, uint32_t number, const void *key)
{
	const struct values_stack *stack = (const struct values_stack *)stacks + number,
				  *like = key;

	return stack->id == like->id && stack->pid == like->pid;
}

/* Looks up names the first time; NULL: it has no functions, or out of memory. */
static const char *values_stack_text(struct values *values, uint64_t id, uint64_t pid)
{
	struct values_stack stack = { id, pid };
	const uint64_t hash = index__mix(index__mix(0, id), pid);
	uint32_t at =
		index__find(&values->stack_index, hash, values_is_stack, values->stacks, &stack);

	if (at != INDEX_NONE)
		return values->stacks[at].text;
	if (index__reserve(&values->stack_index, &values->stacks, sizeof(stack)))
		return NULL;
	stack.text = values_name_stack(values, id, pid);
	values->stacks[index__add(&values->stack_index, hash)] = stack;
	return stack.text;
}

/* A process's stack has its pid after the number. */
static const char *values_words_stack(struct values *values, const struct plan_part *part,
				      const uint64_t words[2])
{
	if ((int64_t)words[0] < 0 || !values->frames)
		return NULL;
	return values_stack_text(values, words[0],
				 part->shape.unit == VALUE_USTACK_ID ? words[1] : 0);
}

static char *values_stack(struct values *values, const struct plan_part *part,
			  const uint64_t words[2])
{
	const char *text = values_words_stack(values, part, words), *end = text;
	uint32_t depth = part->shape.depth; /* number of innermost frames; 0: all */

	if (!text)
		return NULL;
	for (; depth && (end = strchr(end, ';')); end++)
		if (!--depth)
			return strndup(text, (size_t)(end - text));
	return strdup(text);
}

static char *values_probe(const struct values *values, uint64_t number, bool func)
{
	const struct probe *probe = run__probe(values->run, number);

	if (!probe)
		return values_pointer(number);
	return strdup(func ? probe->func : probe->name);
}

static char *values_number(struct values *values, const struct plan_part *part,
			   const uint64_t words[2])
{
	switch (part->shape.unit) {
	case VALUE_SYM: return values_symbol(values, words[0]);
	case VALUE_ERRNO: return call_words__errno((int64_t)words[0]);
	case VALUE_SYSCALL: return call_words__call((int64_t)words[0]);
	case VALUE_WORDS: return call_words__argument(values->pid, part->shape.words, words[0]);
	case VALUE_RESULT:
		return call_words__result(values->pid, part->shape.words, (int64_t)words[0]);
	case VALUE_DEV: return cache__disk(words[0]);
	case VALUE_ENUM:
		return values_named(type__enum_name(&part->shape.type, (int64_t)words[0]),
				    (int64_t)words[0]);
	case VALUE_TIME: return values_time(values, words[0]);
	case VALUE_CGROUP_PATH: return values_cgroup(words[0]);
	case VALUE_KSTACK_ID:
	case VALUE_USTACK_ID: return values_stack(values, part, words);
	case VALUE_PROBE_NAME: return values_probe(values, words[0], false);
	case VALUE_FUNC_NAME: return values_probe(values, words[0], true);
	default: return values_pointer(words[0]);
	}
}

/* "00 1f ff", "00000001 00000002": the elements of an array. */
static char *values_hex(const struct plan_part *part, const uint8_t *bytes)
{
	const uint32_t element = part->shape.element ? part->shape.element : 1;
	const uint32_t size = part->shape.bytes ? part->shape.bytes : part->shape.size;
	char *text = malloc(3 * (size_t)size + 1);
	size_t len = 0;

	if (!text)
		return NULL;
	text[0] = 0;
	for (uint32_t at = 0; at + element <= size; at += element) {
		uint64_t number = 0;

		memcpy(&number, bytes + part->at + at, element);
		len += (size_t)snprintf(text + len, 3 * (size_t)size + 1 - len, "%s%0*" PRIx64,
					at ? " " : "", (int)(2 * element), number);
	}
	return text;
}

static char *values_text(struct values *values, const struct plan_part *part, const uint8_t *bytes)
{
	uint64_t words[2] = { 0 };

	if (part->shape.unit == VALUE_HEX)
		return values_hex(part, bytes);
	if (part->shape.is_text)
		return value__is_unreadable(bytes + part->at, part->shape.size)
			       ? NULL
			       : strndup((const char *)bytes + part->at, part->shape.size);
	memcpy(words, bytes + part->at, part->shape.size < 16 ? 8 : 16);
	return values_number(values, part, words);
}

/* Return value and arguments of a raw system call are shown as the call defines them. */
static char *values_cell(struct values *values, const struct plan_part *parts, size_t nr, size_t at,
			 const uint8_t *bytes)
{
	const struct plan_part *part = &parts[at];
	int64_t number;

	if (part->shape.unit == VALUE_CALL)
		return call_words__arguments(values->pid, parts, nr, part, bytes);
	if (part->shape.unit != VALUE_RESULT || part->shape.words)
		return values_text(values, part, bytes);
	memcpy(&number, bytes + part->at, sizeof(number));
	return call_words__result(values->pid, syscall__result(call_words__name(parts, nr, bytes)),
				  number);
}

void values__fill(struct values *values, const struct plan_part *parts, size_t nr,
		  const void *bytes, union value_slot *slots)
{
	values_forget(values);
	for (size_t i = 0; i < nr; i++) {
		if (values_is_plain(&parts[i])) {
			memcpy(&slots[i].n, (const uint8_t *)bytes + parts[i].at, 8);
			continue;
		}
		values->texts[i] = values_cell(values, parts, nr, i, bytes);
		slots[i].text = values->texts[i];
	}
}

static bool values_is_look(const void *looks, uint32_t number, const void *key)
{
	const struct values_look *look = (const struct values_look *)looks + number, *like = key;

	return look->part == like->part && !strcmp(look->text, like->text);
}

/* Takes the text. Without memory a stack is not joined. */
static void values_join_look(struct values *values, const struct plan_part *part, uint64_t words[2],
			     char *text)
{
	const struct values_look look = { part, { words[0], words[1] }, text };
	const uint64_t hash = index__mix_text(0, text);
	uint32_t at = index__find(&values->look_index, hash, values_is_look, values->looks, &look);

	if (at == INDEX_NONE &&
	    !index__reserve(&values->look_index, &values->looks, sizeof(look))) {
		values->looks[index__add(&values->look_index, hash)] = look;
		return;
	}
	if (at != INDEX_NONE)
		memcpy(words, values->looks[at].words, sizeof(look.words));
	free(text);
}

void values__join(struct values *values, const struct plan_part *parts, size_t nr, void *bytes)
{
	for (size_t i = 0; i < nr; i++) {
		size_t size = parts[i].shape.unit == VALUE_USTACK_ID ? 16 : 8;
		uint64_t words[2] = { 0 };
		char *text;

		if (size == 8 && parts[i].shape.unit != VALUE_KSTACK_ID)
			continue;
		memcpy(words, (const uint8_t *)bytes + parts[i].at, size);
		text = values_stack(values, &parts[i], words);
		if (text)
			values_join_look(values, &parts[i], words, text);
		else
			words[0] = UINT64_MAX, words[1] = 0;
		memcpy((uint8_t *)bytes + parts[i].at, words, size);
	}
}

void values__name(struct values *values, const struct plan_part *parts, size_t nr,
		  const void *bytes)
{
	uint64_t words[2];

	for (size_t i = 0; i < nr; i++) {
		if (parts[i].shape.unit != VALUE_USTACK_ID)
			continue;
		memcpy(words, (const uint8_t *)bytes + parts[i].at, sizeof(words));
		values_words_stack(values, &parts[i], words);
	}
}
