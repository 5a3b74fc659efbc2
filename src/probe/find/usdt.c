/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usdt.c: the static markers in programs and libraries (sdt.h), from the notes in .note.stapsdt:
 * the address of each, the semaphore to increment while it is in use, and where its arguments lie.
 * Arguments in a form that our programs cannot read stay unknown.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "probe/find/elf.h"
#include "symbol/elf_image.h"

enum {
	USDT_NOTE_TYPE = 3,
	USDT_NOTES_MAX = 64 << 20, /* bytes */
	USDT_X86_RIP = 128,	   /* its place in pt_regs */
};

/* ---- arguments ---- */

/* "%eax" is a part of rax: struct pt_regs of x86_64. */
static const struct usdt_reg {
	const char *names; /* of 8, 4, 2 and 1 bytes */
	uint32_t at;
} usdt_x86_regs[] = {
	{ "r15 r15d r15w r15b", 0 },  { "r14 r14d r14w r14b", 8 },  { "r13 r13d r13w r13b", 16 },
	{ "r12 r12d r12w r12b", 24 }, { "rbp ebp bp bpl", 32 },	    { "rbx ebx bx bl", 40 },
	{ "r11 r11d r11w r11b", 48 }, { "r10 r10d r10w r10b", 56 }, { "r9 r9d r9w r9b", 64 },
	{ "r8 r8d r8w r8b", 72 },     { "rax eax ax al", 80 },	    { "rcx ecx cx cl", 88 },
	{ "rdx edx dx dl", 96 },      { "rsi esi si sil", 104 },    { "rdi edi di dil", 112 },
	{ "rip", USDT_X86_RIP },      { "rsp esp sp spl", 152 },
};

static bool usdt_has_word(const char *words, const char *word, size_t len)
{
	while (*words) {
		size_t its = strcspn(words, " ");

		if (its == len && !strncmp(words, word, len))
			return true;
		words += its;
		words += strspn(words, " ");
	}
	return false;
}

static bool usdt_x86_reg(const char *name, size_t len, uint32_t *at)
{
	for (size_t i = 0; i < sizeof(usdt_x86_regs) / sizeof(usdt_x86_regs[0]); i++) {
		if (!usdt_has_word(usdt_x86_regs[i].names, name, len))
			continue;
		*at = usdt_x86_regs[i].at;
		return true;
	}
	return false;
}

/* struct pt_regs of arm64: x0 to x30, sp, pc. w0 is the lower half of x0. */
static bool usdt_arm64_reg(const char *name, size_t len, uint32_t *at)
{
	unsigned int nr = 0;

	if (len == 2 && !strncmp(name, "sp", 2)) {
		*at = 8 * 31;
		return true;
	}
	if (len < 2 || len > 3 || (*name != 'x' && *name != 'w'))
		return false;
	for (size_t i = 1; i < len; i++) {
		if (!isdigit((unsigned char)name[i]))
			return false;
		nr = 10 * nr + (unsigned int)(name[i] - '0');
	}
	*at = 8 * nr;
	return nr <= 30;
}

/* An integer and nothing after it. */
static bool usdt_number(const char *text, const char *end, int64_t *value)
{
	char digits[32], *stop;

	if (end <= text || (size_t)(end - text) >= sizeof(digits) || isspace((unsigned char)*text))
		return false;
	memcpy(digits, text, (size_t)(end - text));
	digits[end - text] = 0;
	errno = 0;
	*value = strtoll(digits, &stop, 0);
	return stop != digits && !*stop && !errno;
}

static size_t usdt_symbol_len(const char *text, const char *end)
{
	const char *at = text;

	while (at < end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.' || *at == '$'))
		at++;
	return (size_t)(at - text);
}

/*
 * "counter", "counter+8", "8+counter" before "(%rip)": code and data of a file are moved together,
 * so the distance between them is that of the file.
 */
static bool usdt_x86_distance(const struct usdt_site *site, const char *text, const char *end,
			      int64_t *value)
{
	const char *plus = memrchr(text, '+', (size_t)(end - text));
	size_t len = usdt_symbol_len(text, end);
	int64_t offset = 0;
	uint64_t vaddr;

	if (plus && usdt_number(text, plus, &offset)) {
		text = plus + 1;
		len = usdt_symbol_len(text, end);
	} else if (text + len < end) {
		/* strtoll takes the sign */
		if (!usdt_number(text + len, end, &offset))
			return false;
		end = text + len;
	}
	if (!len || text + len != end || isdigit((unsigned char)*text) || !site->symbol ||
	    !site->symbol(site->arg, text, len, &vaddr))
		return false;
	*value = (int64_t)(vaddr + (uint64_t)offset - site->pc);
	return true;
}

/* "%rdi", "$5", "-24(%rbp)", "(%rax)", "counter(%rip)". */
static void usdt_x86_operand(const struct usdt_site *site, struct usdt_arg *arg, const char *text,
			     const char *end)
{
	const char *open = memchr(text, '(', (size_t)(end - text));

	if (*text == '$') {
		arg->where = usdt_number(text + 1, end, &arg->value) ? USDT_CONST : USDT_UNKNOWN;
	} else if (*text == '%') {
		if (usdt_x86_reg(text + 1, (size_t)(end - text - 1), &arg->reg_at))
			arg->where = USDT_REG;
	} else if (open && end[-1] == ')' && end - open > 3 && open[1] == '%') {
		if (usdt_x86_reg(open + 2, (size_t)(end - open - 3), &arg->reg_at) &&
		    (arg->reg_at == USDT_X86_RIP
			     ? usdt_x86_distance(site, text, open, &arg->value)
			     : open == text || usdt_number(text, open, &arg->value)))
			arg->where = USDT_MEM;
	}
}

/* "[sp, 16]", "[x0]". */
static void usdt_arm64_memory(struct usdt_arg *arg, const char *text, const char *end)
{
	const char *comma = memchr(text, ',', (size_t)(end - text));
	const char *offset;

	if (!usdt_arm64_reg(text, (size_t)((comma ? comma : end) - text), &arg->reg_at))
		return;
	if (comma) {
		offset = comma + 1;
		while (offset < end && (*offset == ' ' || *offset == '#'))
			offset++;
		if (!usdt_number(offset, end, &arg->value))
			return;
	}
	arg->where = USDT_MEM;
}

/* "x0", "5", "[sp, 16]". */
static void usdt_arm64_operand(struct usdt_arg *arg, const char *text, const char *end)
{
	if (*text == '[' && end[-1] == ']' && end - text > 2)
		usdt_arm64_memory(arg, text + 1, end - 1);
	else if (usdt_number(text, end, &arg->value))
		arg->where = USDT_CONST;
	else if (usdt_arm64_reg(text, (size_t)(end - text), &arg->reg_at))
		arg->where = USDT_REG;
}

/* Up to the next space outside of brackets. */
static const char *usdt_operand_end(const char *text)
{
	int depth = 0;

	for (; *text && (depth > 0 || *text != ' '); text++)
		depth += (*text == '[' || *text == '(') - (*text == ']' || *text == ')');
	return text;
}

/* "-4@": size in bytes; negative: signed. */
static bool usdt_read_size(struct usdt_arg *arg, const char **text)
{
	char *end;
	long size = strtol(*text, &end, 10);

	if (end == *text || *end != '@')
		return false;
	*text = end + 1;
	arg->is_signed = size < 0;
	size = labs(size);
	arg->size = (uint32_t)size;
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static const char *usdt_parse_arg(struct usdt_arg *arg, const struct usdt_site *site,
				  const char *text)
{
	const char *end = usdt_operand_end(text), *operand = text;
	bool is_sized;

	*arg = (struct usdt_arg){ .where = USDT_UNKNOWN };
	is_sized = usdt_read_size(arg, &operand);
	if (is_sized && operand < end && site->machine == EM_X86_64)
		usdt_x86_operand(site, arg, operand, end);
	else if (is_sized && operand < end && site->machine == EM_AARCH64)
		usdt_arm64_operand(arg, operand, end);
	return end;
}

size_t find_usdt__parse(const struct usdt_site *site, const char *text, struct usdt_arg *args,
			size_t room)
{
	size_t nr = 0;

	for (text += strspn(text, " "); *text && nr < room; text += strspn(text, " "))
		text = usdt_parse_arg(&args[nr++], site, text);
	return nr;
}

/* ---- notes ---- */

struct usdt_note {
	uint64_t pc, base, semaphore; /* as the linker assigned them */
	const char *provider, *name, *args;
};

/* The next text, which ends in a NUL before the end. */
static const char *usdt_text(const char **at, const char *end)
{
	const char *text = *at;
	size_t room = (size_t)(end - text), len = strnlen(text, room);

	if (len == room)
		return NULL;
	*at = text + len + 1;
	return text;
}

static bool usdt_read_note(struct usdt_note *note, const char *desc, size_t size)
{
	const char *end = desc + size, *at = desc + 3 * sizeof(uint64_t);
	uint64_t addresses[3];

	if (size <= sizeof(addresses))
		return false;
	memcpy(addresses, desc, sizeof(addresses));
	note->pc = addresses[0];
	note->base = addresses[1];
	note->semaphore = addresses[2];
	note->provider = usdt_text(&at, end);
	note->name = note->provider ? usdt_text(&at, end) : NULL;
	note->args = note->name ? usdt_text(&at, end) : NULL;
	return note->args && *note->provider && *note->name;
}

/* The linker may have moved everything since: .stapsdt.base moved with it (prelink). */
static void usdt_move(struct usdt_note *note, const struct find_elf *elf)
{
	GElf_Shdr head;

	if (!note->base || !find_elf__section(elf, ".stapsdt.base", &head))
		return;
	note->pc += head.sh_addr - note->base;
	if (note->semaphore)
		note->semaphore += head.sh_addr - note->base;
}

/* ---- probes ---- */

struct usdt_search {
	struct find_job *job;
	const char *provider, *name; /* or globs */
	size_t nr_notes;
	char near[256];
};

static int usdt_add_field(struct probe *probe, size_t nr)
{
	const struct usdt_arg *arg = &probe->args[nr];
	struct probe_field field = {
		.type = { .kind = TYPE_INT, .size = arg->size, .is_signed = arg->is_signed },
		.place = PLACE_ARG,
		.at = (uint32_t)nr,
	};
	char *name;

	if (arg->where == USDT_UNKNOWN)
		return 0;
	field.name = asprintf(&name, "arg%zu", nr) < 0 ? NULL : name;
	return probe__add_field(probe, &field);
}

static bool usdt_find_symbol(const void *elf, const char *name, size_t len, uint64_t *vaddr)
{
	return find_elf__symbol(elf, name, len, vaddr);
}

static int usdt_add(struct find_job *job, const struct find_elf *elf, const struct usdt_note *note,
		    struct probe *probe)
{
	const struct usdt_site site = {
		.machine = elf->machine,
		.pc = note->pc,
		.symbol = usdt_find_symbol,
		.arg = elf,
	};
	char *whole = NULL;
	int err = 0;

	probe->path = strdup(elf->path);
	if (!probe->path || asprintf(&whole, "%s:%s:%s", elf->path, note->provider, note->name) < 0)
		err = -ENOMEM;
	err = err ? err : find__set_name(probe, "usdt", whole);
	free(whole);
	probe->nr_args = find_usdt__parse(&site, note->args, probe->args, PROBE_MAX_ARGS);
	for (size_t i = 0; !err && i < probe->nr_args; i++)
		err = usdt_add_field(probe, i);
	return probe_list__add_made(job->list, probe, err);
}

static void usdt_find_near(struct usdt_search *search, const struct usdt_note *note)
{
	char wanted[sizeof(search->near)], both[sizeof(search->near)];

	if (find__is_glob(search->provider) || find__is_glob(search->name))
		return;
	snprintf(wanted, sizeof(wanted), "%s:%s", search->provider, search->name);
	snprintf(both, sizeof(both), "%s:%s", note->provider, note->name);
	find__nearer(wanted, both, search->near, sizeof(search->near));
}

static int usdt_take(struct usdt_search *search, const struct find_elf *elf, struct usdt_note *note)
{
	struct probe probe = { .kind = PROBE_USDT };

	search->nr_notes++;
	if (!find__matches(search->provider, note->provider) ||
	    !find__matches(search->name, note->name)) {
		usdt_find_near(search, note);
		return 0;
	}
	usdt_move(note, elf);
	if (!find_elf__offset(elf, note->pc, FIND_ELF_CODE, &probe.offset) ||
	    (note->semaphore &&
	     !find_elf__offset(elf, note->semaphore, FIND_ELF_ANY, &probe.semaphore)))
		return find__miss(search->job, note->name, "outside of what the file loads");
	return usdt_add(search->job, elf, note, &probe);
}

static int usdt_read_notes(struct usdt_search *search, const struct find_elf *elf, Elf_Data *data)
{
	size_t at = 0, name_at, desc_at;
	const char *bytes = data->d_buf;
	struct usdt_note note;
	GElf_Nhdr head;
	int err = 0;

	while (!err && (at = gelf_getnote(data, at, &head, &name_at, &desc_at))) {
		if (head.n_type != USDT_NOTE_TYPE || head.n_namesz != sizeof("stapsdt") ||
		    memcmp(bytes + name_at, "stapsdt", sizeof("stapsdt")) ||
		    !usdt_read_note(&note, bytes + desc_at, head.n_descsz))
			continue;
		err = usdt_take(search, elf, &note);
	}
	return err;
}

static int usdt_find_in(void *arg, const struct find_elf *elf)
{
	struct usdt_search *search = arg;
	GElf_Shdr head;
	Elf_Scn *section = find_elf__section(elf, ".note.stapsdt", &head);
	Elf_Data *data = section ? elf_image__data(section, USDT_NOTES_MAX) : NULL;

	if (!data || !data->d_buf || head.sh_type != SHT_NOTE)
		return 0;
	return usdt_read_notes(search, elf, data);
}

static int usdt_compare(const void *a, const void *b)
{
	const struct probe *left = a, *right = b;
	int order = strcmp(left->name, right->name);

	if (order)
		return order;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static int usdt_refuse(const struct usdt_search *search, const char *path)
{
	const struct find_job *job = search->job;

	if (!search->nr_notes)
		return log_err(-EINVAL, "'%s': %s has no USDT probes", job->spec, path);
	if (*search->near)
		return log_err(-EINVAL, "'%s': %s has no such probe; did you mean %s?", job->spec,
			       path, search->near);
	return log_err(-EINVAL, "'%s': %s has no such probe; 'iosonar events usdt:%s' lists them",
		       job->spec, path, path);
}

/* A listing also takes "PATH", "PATH:PROVIDER" and "PATH:PROVIDER:". */
static bool usdt_understand(struct usdt_search *search, const char *const parts[FIND_ELF_PARTS])
{
	search->provider = parts[0];
	search->name = parts[1];
	if (!search->job->is_loose)
		return parts[0] && *parts[0] && parts[1] && *parts[1];
	if (!parts[0]) {
		search->provider = parts[1];
		search->name = NULL;
	}
	if (!search->provider || !*search->provider)
		search->provider = "*";
	if (!search->name || !*search->name)
		search->name = "*";
	return true;
}

static int usdt_find(struct usdt_search *search, const char *path)
{
	struct find_job *job = search->job;
	size_t before = job->list->nr;
	int err = find_elf__each(path, usdt_find_in, search);

	if (err)
		return find_elf__refuse(job, path, err);
	if (job->list->nr == before)
		return usdt_refuse(search, path);
	qsort(job->list->probes + before, job->list->nr - before, sizeof(struct probe),
	      usdt_compare);
	return 0;
}

int find__usdts(struct find_job *job)
{
	const char *parts[FIND_ELF_PARTS];
	char *path = find_elf__split(job->rest, FIND_ELF_PARTS, parts);
	struct usdt_search search = { .job = job };
	int err;

	if (!path)
		return log_no_memory();
	if (usdt_understand(&search, parts))
		err = usdt_find(&search, path);
	else
		err = log_err(-EINVAL, "'%s': write usdt:PATH:PROVIDER:NAME", job->spec);
	free(path);
	return err;
}

/* They are few, so their names come from the probes. A name may be at several places. */
int find__usdt_names(const struct find_naming *naming)
{
	struct probe_list list = { 0 };
	struct find_misses misses = { 0 };
	struct find_job job = {
		.finder = naming->finder,
		.kind = PROBE_USDT,
		.is_loose = true,
		.list = &list,
		.misses = &misses,
	};
	struct usdt_search search = { .job = &job, .provider = "*", .name = "*" };
	const char *rest = strchr(naming->glob, ':') + 1;
	char *path = strndup(rest, strcspn(rest, ":"));
	int err = path ? find_elf__each(path, usdt_find_in, &search) : -ENOMEM;

	if (!err && list.nr)
		qsort(list.probes, list.nr, sizeof(struct probe), usdt_compare);
	for (size_t i = 0; !err && i < list.nr; i++)
		if (!i || strcmp(list.probes[i].name, list.probes[i - 1].name))
			err = find__name(naming, list.probes[i].name + strlen("usdt:"));
	probe_list__free(&list);
	find_misses__free(&misses);
	free(path);
	return err;
}
