/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user.c: functions of programs and libraries, for user: and userret:. From their .symtab and
 * .dynsym; a stripped program shows only its exported functions. A probe is set at an offset in the
 * file, so it covers every process that runs it. user_args.c finds the arguments.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/log.h"
#include "probe/find/elf.h"
#include "symbol/elf_image.h"

/* ---- the functions of one file ---- */

struct user_symbol {
	const char *name; /* in the file's own table; a version may follow: "foo@@GLIBC_2.34" */
	size_t len;	  /* without it */
	uint64_t offset, vaddr;
	bool is_ifunc;
	bool is_alias; /* another name of it is already probed */
};

struct user_symbols {
	struct user_symbol *symbols;
	size_t nr;
};

static bool user_is_function(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_value;
}

/* A name without an end in its table is invalid. */
static bool user_read_name(struct user_symbol *symbol, const Elf_Data *names, uint64_t at)
{
	size_t room;

	if (at >= names->d_size)
		return false;
	room = names->d_size - at;
	symbol->name = (const char *)names->d_buf + at;
	if (strnlen(symbol->name, room) == room)
		return false;
	symbol->len = strcspn(symbol->name, "@");
	return symbol->len;
}

static int user_read_symbol(struct user_symbols *all, const struct find_elf *elf,
			    const GElf_Sym *entry, const Elf_Data *names)
{
	struct user_symbol symbol = {
		.is_ifunc = GELF_ST_TYPE(entry->st_info) == STT_GNU_IFUNC,
		.vaddr = entry->st_value,
	};

	if (!user_is_function(entry) || !user_read_name(&symbol, names, entry->st_name) ||
	    !find_elf__offset(elf, entry->st_value, FIND_ELF_CODE, &symbol.offset))
		return 0;
	if (GROW_BY_ONE(all->symbols, all->nr))
		return -ENOMEM;
	all->symbols[all->nr++] = symbol;
	return 0;
}

static int user_read_table(struct user_symbols *all, const struct find_elf *elf, const char *name)
{
	GElf_Shdr head = { 0 };
	Elf_Scn *section = find_elf__section(elf, name, &head);
	Elf_Data *data = section ? elf_image__data(section, ELF_TABLE_BYTES_MAX) : NULL;
	Elf_Data *names = NULL;
	GElf_Sym symbol;
	int err = 0;

	if (data)
		names = elf_image__data(elf_getscn(elf->elf, head.sh_link), ELF_TABLE_BYTES_MAX);
	if (!names || !names->d_buf)
		return 0;
	for (int i = 0; !err && gelf_getsym(data, i, &symbol); i++)
		err = user_read_symbol(all, elf, &symbol, names);
	return err;
}

static int user_compare_names(const struct user_symbol *a, const struct user_symbol *b)
{
	int order = strncmp(a->name, b->name, a->len < b->len ? a->len : b->len);

	return order ? order : a->len < b->len ? -1 : a->len > b->len;
}

static int user_compare(const void *a, const void *b)
{
	const struct user_symbol *left = a, *right = b;
	int order = user_compare_names(left, right);

	if (order)
		return order;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static int user_read(struct user_symbols *all, const struct find_elf *elf)
{
	int err = user_read_table(all, elf, ".symtab");
	size_t nr = 0;

	err = err ? err : user_read_table(all, elf, ".dynsym");
	if (err || !all->nr)
		return err;
	qsort(all->symbols, all->nr, sizeof(*all->symbols), user_compare);
	/* Exported functions are in both tables. */
	for (size_t i = 0; i < all->nr; i++)
		if (!nr || user_compare(&all->symbols[nr - 1], &all->symbols[i]))
			all->symbols[nr++] = all->symbols[i];
	all->nr = nr;
	return 0;
}

/* ---- functions that match ---- */

struct user_search {
	struct find_job *job;
	const char *glob;
	char near[128];	  /* the nearest name, where none matches */
	uint64_t *vaddrs; /* of the probes added for the current file */
	size_t nr_vaddrs;
};

static int user_compare_offsets(const void *a, const void *b)
{
	const struct user_symbol *left = *(struct user_symbol *const *)a;
	const struct user_symbol *right = *(struct user_symbol *const *)b;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	return user_compare_names(left, right);
}

/* Under a glob, code with two names would be counted twice. A listing shows both names. */
static int user_mark_aliases(const struct user_search *search, struct user_symbols *all)
{
	struct user_symbol **meant;
	size_t nr = 0;

	if (search->job->is_loose || !find__is_glob(search->glob))
		return 0;
	meant = calloc(all->nr + 1, sizeof(struct user_symbol *));
	if (!meant)
		return -ENOMEM;
	for (size_t i = 0; i < all->nr; i++) {
		char *name = strndup(all->symbols[i].name, all->symbols[i].len);

		if (name && find__matches(search->glob, name))
			meant[nr++] = &all->symbols[i];
		free(name);
	}
	qsort(meant, nr, sizeof(struct user_symbol *), user_compare_offsets);
	for (size_t i = 1; i < nr; i++)
		meant[i]->is_alias = meant[i]->offset == meant[i - 1]->offset;
	free(meant);
	return 0;
}

/* The arguments of a part that the compiler split off or changed ("foo.isra.0") are unknown. */
static int user_note_vaddr(struct user_search *search, const struct user_symbol *symbol)
{
	const bool is_changed = memchr(symbol->name, '.', symbol->len);

	if (GROW_BY_ONE(search->vaddrs, search->nr_vaddrs))
		return -ENOMEM;
	search->vaddrs[search->nr_vaddrs++] = is_changed ? 0 : symbol->vaddr;
	return 0;
}

static int user_add_probe(struct find_job *job, const char *path, const char *name, uint64_t offset)
{
	struct probe probe = { .kind = job->kind, .offset = offset, .path = strdup(path) };
	char *whole = NULL;
	int err = probe.path && asprintf(&whole, "%s:%s", path, name) >= 0 ? 0 : -ENOMEM;

	err = err ? err : find__set_name(&probe, probe_kind__word(job->kind), whole);
	if (!err && job->kind == PROBE_USERRET && !job->finder->user.wants_args)
		err = find_abi__add_ret(&probe, NULL, 0);
	free(whole);
	return probe_list__add_made(job->list, &probe, err);
}

static int user_take(struct user_search *search, const char *path, const struct user_symbol *symbol)
{
	char *name = strndup(symbol->name, symbol->len);
	int err = name ? 0 : -ENOMEM;

	if (!err && !symbol->is_alias && find__matches(search->glob, name)) {
		if (symbol->is_ifunc)
			err = find__miss(search->job, name,
					 "an ifunc: the function that runs has another name");
		else
			err = user_add_probe(search->job, path, name, symbol->offset)
				      ?: user_note_vaddr(search, symbol);
	}
	free(name);
	return err;
}

static void user_find_near(struct user_search *search, const struct user_symbols *all)
{
	for (size_t i = 0; i < all->nr && !find__is_glob(search->glob); i++) {
		const struct user_symbol *symbol = &all->symbols[i];
		char name[sizeof(search->near)];

		if (symbol->len >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)symbol->len, symbol->name);
		find__nearer(search->glob, name, search->near, sizeof(search->near));
	}
}

/* The file's probes are the last of the list. */
static int user_add_args(struct user_search *search, const char *path)
{
	struct probe_list *list = search->job->list;
	const size_t nr = search->nr_vaddrs;

	if (!search->job->finder->user.wants_args || !nr)
		return 0;
	return find_user_args__add(search->job->finder, path, list->probes + list->nr - nr,
				   search->vaddrs, nr);
}

static int user_find_in(void *arg, const struct find_elf *elf)
{
	struct user_search *search = arg;
	size_t before = search->job->list->nr + search->job->misses->nr;
	struct user_symbols all = { 0 };
	int err = user_read(&all, elf);

	err = err ? err : user_mark_aliases(search, &all);
	search->nr_vaddrs = 0;
	for (size_t i = 0; !err && i < all.nr; i++)
		err = user_take(search, elf->path, &all.symbols[i]);
	err = err ? err : user_add_args(search, elf->path);
	if (!err && search->job->list->nr + search->job->misses->nr == before)
		user_find_near(search, &all);
	free(all.symbols);
	return err;
}

static int user_refuse(const struct user_search *search, const char *path, size_t misses_before)
{
	const struct find_job *job = search->job;

	if (job->misses->nr > misses_before)
		return log_err(-EINVAL, "'%s' cannot be probed: %s is %s", job->spec,
			       job->misses->misses[misses_before].name,
			       job->misses->misses[misses_before].why);
	if (*search->near)
		return log_err(-EINVAL, "'%s': %s has no function '%s'; did you mean %s?",
			       job->spec, path, search->glob, search->near);
	return log_err(-EINVAL,
		       "'%s': %s has no such function (it may be stripped or inlined); 'iosonar "
		       "events %s:%s' lists its functions",
		       job->spec, path, probe_kind__word(job->kind), path);
}

static int user_find(struct user_search *search, const char *path)
{
	struct find_job *job = search->job;
	size_t before = job->list->nr, misses_before = job->misses->nr;
	int err;

	if (!search->glob)
		return log_err(-EINVAL, "'%s': no function given; write %s:PATH:FUNCTION",
			       job->spec, probe_kind__word(job->kind));
	err = find_elf__each(path, user_find_in, search);
	free(search->vaddrs);
	search->vaddrs = NULL;
	if (err)
		return find_elf__refuse(job, path, err);
	return job->list->nr > before ? 0 : user_refuse(search, path, misses_before);
}

int find__users(struct find_job *job)
{
	const char *parts[FIND_ELF_PARTS];
	char *path = find_elf__split(job->rest, 1, parts);
	struct user_search search = { .job = job };
	int err;

	if (!path)
		return log_no_memory();
	search.glob = parts[0] && *parts[0] ? parts[0] : job->is_loose ? "*" : NULL;
	err = user_find(&search, path);
	free(path);
	return err;
}

/* ---- names ---- */

static int user_name_in(void *arg, const struct find_elf *elf)
{
	const struct find_naming *naming = arg;
	struct user_symbols all = { 0 };
	int err = user_read(&all, elf);

	for (size_t i = 0; !err && i < all.nr; i++) {
		char *whole;

		if (all.symbols[i].is_ifunc)
			continue;
		if (asprintf(&whole, "%s:%.*s", elf->path, (int)all.symbols[i].len,
			     all.symbols[i].name) < 0) {
			err = -ENOMEM;
			break;
		}
		err = find__name(naming, whole);
		free(whole);
	}
	free(all.symbols);
	return err;
}

int find__user_names(const struct find_naming *naming)
{
	const char *parts[FIND_ELF_PARTS];
	char *path = find_elf__split(strchr(naming->glob, ':') + 1, 1, parts);
	int err;

	if (!path)
		return -ENOMEM;
	err = parts[0] ? find_elf__each(path, user_name_in, (void *)naming) : 0;
	free(path);
	return err;
}
