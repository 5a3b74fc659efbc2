/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* strerrorname_np */
#include "view/values.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "collect/cgroup.h"
#include "decode/syscall.h"
#include "decode/syscall_args.h"
#include "symbol/frames.h"

enum {
	SHOWN_KEY = 64,
	SHOWN_STACKS = 1 << 14, /* chains */
	SHOWN_LOOKS = 1 << 12,
};

/* Names of the columns of one table. */
struct shown_keys {
	struct shown_keys *next;
	char names[PLAN_MAX_PARTS][SHOWN_KEY];
};

/* A stack that was named. Of a process that has ended nobody could do so again. */
struct shown_stack {
	struct shown_stack *next;
	uint64_t id, pid; /* pid 0: the kernel's */
	char *text;	  /* functions, innermost first; NULL: none */
};

/* Which stack stands for all that look like it. */
struct shown_look {
	struct shown_look *next;
	const struct plan_part *part;
	uint64_t words[2]; /* the first one's */
	char *text;
};

struct shown {
	const struct asked *asked;
	struct run *run;
	uint32_t pid;	       /* whose record is at hand */
	struct frames *frames; /* NULL: no stacks */
	struct shown_stack *stacks[SHOWN_STACKS];
	struct shown_look *looks[SHOWN_LOOKS];
	uint64_t wall_ns;	     /* that the wall clock is ahead of the other */
	struct shown_keys *keys;     /* of all columns that were made */
	char *texts[PLAN_MAX_PARTS]; /* of the row at hand */
};

struct shown *shown__new(const struct asked *asked)
{
	const struct plan *plan = &asked->plan;
	struct shown *shown = calloc(1, sizeof(*shown));

	if (!shown)
		return NULL;
	shown->asked = asked;
	if (!plan->kernel_stack && !plan->user_stack)
		return shown;
	shown->frames = frames__new(plan->kernel_stack, plan->user_stack);
	if (shown->frames)
		return shown;
	free(shown);
	return NULL;
}

static void shown_forget(struct shown *shown)
{
	for (size_t i = 0; i < PLAN_MAX_PARTS; i++) {
		free(shown->texts[i]);
		shown->texts[i] = NULL;
	}
}

static void shown_forget_stacks(struct shown *shown)
{
	for (size_t i = 0; i < SHOWN_STACKS; i++)
		while (shown->stacks[i]) {
			struct shown_stack *stack = shown->stacks[i];

			shown->stacks[i] = stack->next;
			free(stack->text);
			free(stack);
		}
}

static void shown_forget_looks(struct shown *shown)
{
	for (size_t i = 0; i < SHOWN_LOOKS; i++)
		while (shown->looks[i]) {
			struct shown_look *look = shown->looks[i];

			shown->looks[i] = look->next;
			free(look->text);
			free(look);
		}
}

void shown__free(struct shown *shown)
{
	if (!shown)
		return;
	shown_forget(shown);
	while (shown->keys) {
		struct shown_keys *keys = shown->keys;

		shown->keys = keys->next;
		free(keys);
	}
	shown_forget_stacks(shown);
	shown_forget_looks(shown);
	frames__free(shown->frames);
	free(shown);
}

void shown__start(struct shown *shown, struct run *run)
{
	shown->run = run;
	shown->wall_ns = clock__wall_ns() - clock__mono_ns();
	tzset(); /* reads its file now */
	if (shown->frames)
		frames__prepare(shown->frames);
}

/* ---- columns ---- */

static bool shown_is_plain(const struct plan_part *part)
{
	return !part->shape.is_text &&
	       (part->shape.unit == VALUE_PLAIN || part->shape.unit == VALUE_DURATION ||
		part->shape.unit == VALUE_BYTES);
}

static enum cell_kind shown_kind(const struct plan_part *part)
{
	if (!shown_is_plain(part))
		return CELL_TEXT;
	if (part->shape.is_signed)
		return CELL_SIGNED;
	switch (part->shape.unit) {
	case VALUE_DURATION: return CELL_DURATION;
	case VALUE_BYTES: return CELL_BYTES;
	default: return CELL_NUMBER;
	}
}

static bool shown_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* "req->q->disk" is req_q_disk, "errno(-ret)" is errno_ret. */
static void shown_name(const struct plan_part *part, char key[SHOWN_KEY])
{
	size_t len = 0;

	for (size_t i = 0; i < part->text_len && len < SHOWN_KEY - 16; i++) {
		char c = part->text[i];

		c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
		if (shown_is_word(c))
			key[len++] = c;
		else if (len && key[len - 1] != '_')
			key[len++] = '_';
	}
	while (len && key[len - 1] == '_')
		len--;
	key[len] = 0;
}

static bool shown_is_taken(const char *key, const struct column *columns, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(columns[i].key, key))
			return true;
	return false;
}

static void shown_key(char key[SHOWN_KEY], const struct column *columns, size_t nr,
		      const struct column *taken)
{
	char plain[SHOWN_KEY];
	size_t nr_taken = 0;

	while (taken && taken[nr_taken].key)
		nr_taken++;
	if (!*key || shown_is_taken(key, taken, nr_taken) || !strcmp(key, "type")) {
		snprintf(plain, sizeof(plain), "%s", key);
		snprintf(key, SHOWN_KEY, "by_%.40s", plain);
	}
	snprintf(plain, sizeof(plain), "%s", key);
	for (unsigned int i = 2; shown_is_taken(key, columns, nr); i++)
		snprintf(key, SHOWN_KEY, "%.44s_%u", plain, i);
}

int shown__columns(struct shown *shown, const struct plan_part *parts, size_t nr, size_t first,
		   struct column *columns, const struct column *taken)
{
	struct shown_keys *keys = calloc(1, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	keys->next = shown->keys;
	shown->keys = keys;
	for (size_t i = 0; i < nr; i++) {
		shown_name(&parts[i], keys->names[i]);
		shown_key(keys->names[i], columns, i, taken);
		columns[i] = (struct column){
			.key = keys->names[i],
			.header = keys->names[i],
			.kind = shown_kind(&parts[i]),
			.width = 4,
			.help = "a value of the line",
			.at = (first + i) * sizeof(union shown_slot),
		};
	}
	return 0;
}

/* ---- cells ---- */

static char *shown_symbol(const struct shown *shown, uint64_t address)
{
	uint64_t offset = 0;
	const char *name = finder__symbol(shown->asked->finder, address, &offset);
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

static char *shown_errno(int64_t number)
{
	const char *name = number > 0 && number < 4096 ? strerrorname_np((int)number) : NULL;
	char *text = NULL;

	if (name || !number)
		return strdup(name ? name : "0");
	return asprintf(&text, "%" PRId64, number) < 0 ? NULL : text;
}

static char *shown_syscall(int64_t number)
{
	const char *name = syscall__name(number);
	char *text = NULL;

	if (name)
		return strdup(name);
	return asprintf(&text, "%" PRId64, number) < 0 ? NULL : text;
}

/* ---- system calls ---- */

/* "3</etc/passwd>", where we may look into the process and it still has it; else "3". */
static void shown_put_fd(const struct shown *shown, FILE *out, int fd, const char *words)
{
	char path[64], target[PATH_MAX];
	ssize_t len = -1;

	fputs(words, out);
	if (fd < 0 || !shown->pid)
		return;
	snprintf(path, sizeof(path), "/proc/%u/fd/%d", shown->pid, fd);
	len = readlink(path, target, sizeof(target));
	if (len > 0)
		fprintf(out, "<%.*s>", (int)len, target);
}

static void shown_put_word(const struct shown *shown, FILE *out, enum syscall_kind kind,
			   uint64_t number)
{
	char words[256];

	syscall__words(kind, number, words, sizeof(words));
	if (kind == SYSCALL_FD || kind == SYSCALL_DIRFD)
		shown_put_fd(shown, out, (int)number, words);
	else
		fputs(words, out);
}

static char *shown_word(const struct shown *shown, enum syscall_kind kind, uint64_t number)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	shown_put_word(shown, out, kind, number);
	return fclose(out) ? NULL : text;
}

/* The number of the call that a record is about. */
static const char *shown_call_name(const struct plan_part *parts, size_t nr, const void *bytes)
{
	int64_t id = -1;

	for (size_t i = 0; i < nr; i++)
		if (parts[i].shape.unit == VALUE_SYSCALL)
			memcpy(&id, (const uint8_t *)bytes + parts[i].at, sizeof(id));
	return syscall__name(id);
}

static char *shown_result(const struct shown *shown, enum syscall_kind kind, int64_t number)
{
	return number < 0 && number > -4096 ? shown_errno(-number)
					    : shown_word(shown, kind, (uint64_t)number);
}

static void shown_put_quoted(FILE *out, const char *text, size_t most)
{
	size_t i;

	fputc('"', out);
	for (i = 0; i < most && text[i]; i++) {
		if (text[i] == '"' || text[i] == '\\')
			fputc('\\', out);
		fputc(text[i], out);
	}
	fputs(i < most ? "\"" : "\"...", out);
}

/* The call's text `nr`, which a part of its own has; NULL: none. */
static const char *shown_call_text(const struct plan_part *parts, size_t nr_parts,
				   const uint8_t *bytes, unsigned int nr)
{
	for (size_t i = 0; i < nr_parts; i++)
		if (parts[i].shape.unit == VALUE_HIDDEN && !nr--)
			return (const char *)bytes + parts[i].at;
	return NULL;
}

/* "AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC, 00" */
static char *shown_call(const struct shown *shown, const struct plan_part *parts, size_t nr,
			const struct plan_part *part, const uint8_t *bytes)
{
	const char *call = shown_call_name(parts, nr, bytes), *string;
	unsigned int nr_texts = 0;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (unsigned int i = 0; i < syscall__nr_arguments(call); i++) {
		const enum syscall_kind kind = syscall__argument(call, i);
		uint64_t number;

		memcpy(&number, bytes + part->at + 8 * i, sizeof(number));
		fputs(i ? ", " : "", out);
		string =
			kind == SYSCALL_TEXT ? shown_call_text(parts, nr, bytes, nr_texts++) : NULL;
		if (string && number)
			shown_put_quoted(out, string, VALUE_STR_DEFAULT);
		else
			shown_put_word(shown, out, kind, number);
	}
	return fclose(out) ? NULL : text;
}

void shown__whose(struct shown *shown, uint32_t pid)
{
	shown->pid = pid;
}

/* As the kernel keeps it: twenty bits of minor. */
static char *shown_dev(uint64_t dev)
{
	unsigned int major = (unsigned int)(dev >> 20), minor = (unsigned int)(dev & 0xfffff);
	char path[64], target[PATH_MAX], *text = NULL;
	ssize_t len;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major, minor);
	len = readlink(path, target, sizeof(target) - 1);
	if (len > 0) {
		target[len] = 0;
		return strdup(basename(target));
	}
	return asprintf(&text, "%u:%u", major, minor) < 0 ? NULL : text;
}

static char *shown_time(const struct shown *shown, uint64_t mono_ns)
{
	uint64_t ns = mono_ns + shown->wall_ns;
	time_t seconds = (time_t)(ns / 1000000000);
	char clock[16], *text = NULL;
	struct tm tm;

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&seconds, &tm));
	return asprintf(&text, "%s.%06u", clock, (unsigned int)(ns % 1000000000 / 1000)) < 0 ? NULL
											     : text;
}

static char *shown_enum(const struct plan_part *part, uint64_t number)
{
	const char *name = type__enum_name(&part->shape.type, (int64_t)number);
	char *text = NULL;

	if (name)
		return strdup(name);
	return asprintf(&text, "%" PRId64, (int64_t)number) < 0 ? NULL : text;
}

static char *shown_cgroup(uint64_t id)
{
	char path[PATH_MAX];

	return strdup(cgroup__path(id, path, sizeof(path)));
}

static char *shown_pointer(uint64_t address)
{
	char *text = NULL;

	return asprintf(&text, "0x%" PRIx64, address) < 0 ? NULL : text;
}

/* The innermost frames, as many as were asked for; 0: all. A copy. */
static char *shown_cut(const char *text, uint32_t depth)
{
	const char *end = text;

	for (; depth && (end = strchr(end, ';')); end++)
		if (!--depth)
			return strndup(text, (size_t)(end - text));
	return strdup(text);
}

static char *shown_name_stack(const struct shown *shown, uint64_t id, uint64_t pid)
{
	struct io_stack stack = { .user = pid != 0 };

	stack.nr = (__u16)run__stack(shown->run, id, (uint64_t *)stack.frames, STACK_FRAMES);
	return stack.nr ? frames__text(shown->frames, &stack, (uint32_t)pid) : NULL;
}

/* Named at the first time; NULL: it has no functions, or there is no memory. */
static const char *shown_stack_text(struct shown *shown, uint64_t id, uint64_t pid)
{
	struct shown_stack **chain = &shown->stacks[(id ^ pid * 0x9e37) % SHOWN_STACKS], *stack;

	for (stack = *chain; stack; stack = stack->next)
		if (stack->id == id && stack->pid == pid)
			return stack->text;
	stack = calloc(1, sizeof(*stack));
	if (!stack)
		return NULL;
	*stack = (struct shown_stack){ *chain, id, pid, shown_name_stack(shown, id, pid) };
	*chain = stack;
	return stack->text;
}

/* A process's stack has its pid behind the number. */
static const char *shown_words_stack(struct shown *shown, const struct plan_part *part,
				     const uint64_t words[2])
{
	if ((int64_t)words[0] < 0 || !shown->frames)
		return NULL;
	return shown_stack_text(shown, words[0],
				part->shape.unit == VALUE_USTACK_ID ? words[1] : 0);
}

static char *shown_stack(struct shown *shown, const struct plan_part *part, const uint64_t words[2])
{
	const char *text = shown_words_stack(shown, part, words);

	return text ? shown_cut(text, part->shape.depth) : NULL;
}

static char *shown_probe(const struct shown *shown, uint64_t number, bool func)
{
	const struct probe *probe = run__probe(shown->run, number);

	if (!probe)
		return shown_pointer(number);
	return strdup(func ? probe->func : probe->name);
}

static char *shown_number(struct shown *shown, const struct plan_part *part,
			  const uint64_t words[2])
{
	switch (part->shape.unit) {
	case VALUE_SYM: return shown_symbol(shown, words[0]);
	case VALUE_ERRNO: return shown_errno((int64_t)words[0]);
	case VALUE_SYSCALL: return shown_syscall((int64_t)words[0]);
	case VALUE_WORDS: return shown_word(shown, part->shape.words, words[0]);
	case VALUE_RESULT: return shown_result(shown, part->shape.words, (int64_t)words[0]);
	case VALUE_DEV: return shown_dev(words[0]);
	case VALUE_ENUM: return shown_enum(part, words[0]);
	case VALUE_TIME: return shown_time(shown, words[0]);
	case VALUE_CGROUP_PATH: return shown_cgroup(words[0]);
	case VALUE_KSTACK_ID:
	case VALUE_USTACK_ID: return shown_stack(shown, part, words);
	case VALUE_PROBE_NAME: return shown_probe(shown, words[0], false);
	case VALUE_FUNC_NAME: return shown_probe(shown, words[0], true);
	default: return shown_pointer(words[0]);
	}
}

/* "00 1f ff", "00000001 00000002": the elements of an array. */
static char *shown_hex(const struct plan_part *part, const uint8_t *bytes)
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

static char *shown_text(struct shown *shown, const struct plan_part *part, const uint8_t *bytes)
{
	uint64_t words[2] = { 0 };

	if (part->shape.unit == VALUE_HEX)
		return shown_hex(part, bytes);
	if (part->shape.is_text)
		return strndup((const char *)bytes + part->at, part->shape.size);
	memcpy(words, bytes + part->at, part->shape.size < 16 ? 8 : 16);
	return shown_number(shown, part, words);
}

/* What a raw system call returned, and its arguments, are as the call has them. */
static char *shown_cell(struct shown *shown, const struct plan_part *parts, size_t nr, size_t at,
			const uint8_t *bytes)
{
	const struct plan_part *part = &parts[at];
	int64_t number;

	if (part->shape.unit == VALUE_CALL)
		return shown_call(shown, parts, nr, part, bytes);
	if (part->shape.unit != VALUE_RESULT || part->shape.words)
		return shown_text(shown, part, bytes);
	memcpy(&number, bytes + part->at, sizeof(number));
	return shown_result(shown, syscall__result(shown_call_name(parts, nr, bytes)), number);
}

void shown__fill(struct shown *shown, const struct plan_part *parts, size_t nr, const void *bytes,
		 union shown_slot *slots)
{
	shown_forget(shown);
	for (size_t i = 0; i < nr; i++) {
		if (shown_is_plain(&parts[i])) {
			memcpy(&slots[i].n, (const uint8_t *)bytes + parts[i].at, 8);
			continue;
		}
		shown->texts[i] = shown_cell(shown, parts, nr, i, bytes);
		slots[i].text = shown->texts[i];
	}
}

static struct shown_look **shown_chain_of(struct shown *shown, const char *text)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619u;
	return &shown->looks[hash % SHOWN_LOOKS];
}

/* Takes the text. Without memory a stack stays by itself. */
static void shown_join_look(struct shown *shown, const struct plan_part *part, uint64_t words[2],
			    char *text)
{
	struct shown_look **chain = shown_chain_of(shown, text), *look;

	for (look = *chain; look; look = look->next)
		if (look->part == part && !strcmp(look->text, text))
			break;
	if (look) {
		memcpy(words, look->words, sizeof(look->words));
		free(text);
		return;
	}
	look = calloc(1, sizeof(*look));
	if (!look) {
		free(text);
		return;
	}
	*look = (struct shown_look){ *chain, part, { words[0], words[1] }, text };
	*chain = look;
}

void shown__join(struct shown *shown, const struct plan_part *parts, size_t nr, void *bytes)
{
	for (size_t i = 0; i < nr; i++) {
		size_t size = parts[i].shape.unit == VALUE_USTACK_ID ? 16 : 8;
		uint64_t words[2] = { 0 };
		char *text;

		if (size == 8 && parts[i].shape.unit != VALUE_KSTACK_ID)
			continue;
		memcpy(words, (const uint8_t *)bytes + parts[i].at, size);
		text = shown_stack(shown, &parts[i], words);
		if (text)
			shown_join_look(shown, &parts[i], words, text);
		else
			words[0] = UINT64_MAX, words[1] = 0;
		memcpy((uint8_t *)bytes + parts[i].at, words, size);
	}
}

void shown__name(struct shown *shown, const struct plan_part *parts, size_t nr, const void *bytes)
{
	uint64_t words[2];

	for (size_t i = 0; i < nr; i++) {
		if (parts[i].shape.unit != VALUE_USTACK_ID)
			continue;
		memcpy(words, (const uint8_t *)bytes + parts[i].at, sizeof(words));
		shown_words_stack(shown, &parts[i], words);
	}
}
