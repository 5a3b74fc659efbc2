/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "probe/find/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "symbol/elf_image.h"

#ifdef __x86_64__
#define ELF_MACHINE EM_X86_64
#else
#define ELF_MACHINE EM_AARCH64
#endif

/* ---- offsets in a file ---- */

bool find_elf__offset(const struct find_elf *elf, uint64_t vaddr, enum find_elf_segment segment,
		      uint64_t *offset)
{
	GElf_Phdr head;
	size_t nr;

	if (elf_getphdrnum(elf->elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf->elf, (int)i, &head) || head.p_type != PT_LOAD ||
		    (segment == FIND_ELF_CODE && !(head.p_flags & PF_X)) || vaddr < head.p_vaddr ||
		    vaddr - head.p_vaddr >= head.p_filesz)
			continue;
		*offset = vaddr - head.p_vaddr + head.p_offset;
		return true;
	}
	return false;
}

Elf_Scn *find_elf__section(const struct find_elf *elf, const char *name, GElf_Shdr *head)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf->elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf->elf, section))) {
		const char *its;

		if (!gelf_getshdr(section, head))
			continue;
		its = elf_strptr(elf->elf, names, head->sh_name);
		if (its && !strcmp(its, name))
			return section;
	}
	return NULL;
}

/* ---- symbols ---- */

struct elf_search {
	const char *name;
	size_t len;
	uint64_t vaddr;
	bool is_found, is_several;
};

static bool elf_is_named(const Elf_Data *names, size_t at, const struct elf_search *search)
{
	return at < names->d_size && names->d_size - at > search->len &&
	       !memcmp((const char *)names->d_buf + at, search->name, search->len) &&
	       !((const char *)names->d_buf)[at + search->len];
}

static void elf_search_symbol(struct elf_search *search, const GElf_Sym *symbol)
{
	const int type = GELF_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
	    symbol->st_shndx == SHN_COMMON ||
	    (type != STT_OBJECT && type != STT_FUNC && type != STT_NOTYPE))
		return;
	search->is_several |= search->is_found && search->vaddr != symbol->st_value;
	search->is_found = true;
	search->vaddr = symbol->st_value;
}

static void elf_search_table(struct elf_search *search, const struct find_elf *elf,
			     const char *table)
{
	GElf_Shdr head = { 0 };
	Elf_Scn *section = find_elf__section(elf, table, &head);
	Elf_Data *data = section ? elf_image__data(section, ELF_TABLE_BYTES_MAX) : NULL;
	Elf_Data *names = NULL;
	GElf_Sym symbol;

	if (data)
		names = elf_image__data(elf_getscn(elf->elf, head.sh_link), ELF_TABLE_BYTES_MAX);
	if (!names || !names->d_buf)
		return;
	for (int i = 0; gelf_getsym(data, i, &symbol); i++)
		if (elf_is_named(names, symbol.st_name, search))
			elf_search_symbol(search, &symbol);
}

bool find_elf__symbol(const struct find_elf *elf, const char *name, size_t len, uint64_t *vaddr)
{
	struct elf_search search = { .name = name, .len = len };

	elf_search_table(&search, elf, ".symtab");
	elf_search_table(&search, elf, ".dynsym");
	*vaddr = search.vaddr;
	return search.is_found && !search.is_several;
}

/* ---- one file ---- */

struct elf_visit {
	find_elf_fn fn;
	void *arg;
	size_t nr_fit; /* files of this machine */
	int err;       /* of a file that could not be opened */
};

static int elf_visit_elf(struct elf_visit *visit, const char *path, Elf *elf)
{
	struct find_elf file = { .path = path, .elf = elf };
	GElf_Ehdr head;

	if (!elf) {
		visit->err = -ENOEXEC;
		return 0;
	}
	if (!gelf_getehdr(elf, &head) || head.e_machine != ELF_MACHINE ||
	    gelf_getclass(elf) != ELFCLASS64) {
		visit->err = -EXDEV;
		return 0;
	}
	file.machine = head.e_machine;
	visit->nr_fit++;
	return visit->fn(visit->arg, &file);
}

static int elf_visit_file(struct elf_visit *visit, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	Elf *elf;

	if (fd < 0) {
		visit->err = -errno;
		return 0;
	}
	elf = elf_image__open(fd);
	err = elf_visit_elf(visit, path, elf);
	elf_end(elf);
	close(fd);
	return err;
}

/* ---- all files of a spec ---- */

/* /lib is /usr/lib, libc.so.6 may be a link: one file has several paths. */
static bool elf_is_seen(const glob_t *paths, size_t nr)
{
	struct stat here, other;

	if (stat(paths->gl_pathv[nr], &here))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (!stat(paths->gl_pathv[i], &other) && other.st_dev == here.st_dev &&
		    other.st_ino == here.st_ino)
			return true;
	return false;
}

/* "bash": where the shell would find it. */
static bool elf_search(const char *name, char *path, size_t size)
{
	const char *dirs = getenv("PATH");

	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":");

		snprintf(path, size, "%.*s/%s", (int)len, dirs, name);
		if (len && !access(path, R_OK))
			return true;
		dirs += len + (dirs[len] == ':');
	}
	return false;
}

static int elf_refuse_name(const struct find_job *job, const char *name)
{
	char path[512];

	if (!*name)
		return log_err(-EINVAL, "'%s': no file given; write %s:/PATH/TO/FILE:...",
			       job->spec, probe_kind__word(job->kind));
	if (elf_search(name, path, sizeof(path)))
		return log_err(-EINVAL, "'%s': '%s' is not a path; did you mean %s?", job->spec,
			       name, path);
	return log_err(-EINVAL, "'%s': '%s' is not a path; write %s:/PATH/TO/FILE:...", job->spec,
		       name, probe_kind__word(job->kind));
}

int find_elf__refuse(const struct find_job *job, const char *pattern, int err)
{
	if (err == -ENOMEM)
		return log_no_memory();
	if (!strchr(pattern, '/'))
		return elf_refuse_name(job, pattern);
	if (err == -EACCES || err == -EPERM)
		return log_err(-EACCES, "'%s': cannot read %s: %s; run it as root", job->spec,
			       pattern, strerror(-err));
	if (err == -ENOEXEC)
		return log_err(-EINVAL, "'%s': %s is not a program or a library", job->spec,
			       pattern);
	if (err == -EXDEV)
		return log_err(-EINVAL, "'%s': %s is built for another architecture", job->spec,
			       pattern);
	return log_err(-EINVAL, "'%s': no such file: %s", job->spec, pattern);
}

int find_elf__each(const char *pattern, find_elf_fn fn, void *arg)
{
	struct elf_visit visit = { .fn = fn, .arg = arg, .err = -ENOENT };
	glob_t paths = { 0 };
	int err = 0;

	if (glob(pattern, GLOB_NOMAGIC, NULL, &paths) == GLOB_NOSPACE)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < paths.gl_pathc; i++)
		if (!elf_is_seen(&paths, i))
			err = elf_visit_file(&visit, paths.gl_pathv[i]);
	globfree(&paths);
	return err || visit.nr_fit ? err : visit.err;
}

char *find_elf__split(const char *text, size_t nr_parts, const char *parts[FIND_ELF_PARTS])
{
	char *path = strdup(text);

	for (size_t i = nr_parts; path && i--;) {
		char *colon = strrchr(path, ':');

		parts[i] = NULL;
		if (!colon)
			continue;
		*colon = 0;
		parts[i] = colon + 1;
	}
	return path;
}
