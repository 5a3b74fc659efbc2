/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "symbol/elf_image.h"

#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- is it worth a look? ---- */

static bool image_pread(int fd, void *to, size_t nr, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, to, nr, (off_t)offset) == (ssize_t)nr;
}

/*
 * libelf allocates as many headers as the first one claims, before it has seen them. Numbers that
 * do not fit into 16 bits are in a section, and could ask for all memory; only object files need
 * them.
 */
static bool image_is_bounded(uint16_t nr_sections, bool has_sections, uint16_t nr_segments)
{
	return (nr_sections || !has_sections) && nr_segments != PN_XNUM;
}

static bool image_is_sane(int fd)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr small;
		Elf64_Ehdr large;
	} head = { 0 };

	if (!image_pread(fd, head.ident, sizeof(head.ident), 0) ||
	    memcmp(head.ident, ELFMAG, SELFMAG))
		return false;
	if (head.ident[EI_CLASS] == ELFCLASS64)
		return image_pread(fd, &head.large, sizeof(head.large), 0) &&
		       image_is_bounded(head.large.e_shnum, head.large.e_shoff, head.large.e_phnum);
	return image_pread(fd, &head.small, sizeof(head.small), 0) &&
	       image_is_bounded(head.small.e_shnum, head.small.e_shoff, head.small.e_phnum);
}

/* Programs and libraries: nothing else is executed. */
static bool image_is_executed(Elf *elf)
{
	GElf_Ehdr head;

	return elf && gelf_getehdr(elf, &head) && (head.e_type == ET_EXEC || head.e_type == ET_DYN);
}

Elf *elf_image__open(int fd)
{
	struct stat status;
	Elf *elf;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || !image_is_sane(fd))
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (image_is_executed(elf))
		return elf;
	elf_end(elf);
	return NULL;
}

/* ---- where its bytes lie ---- */

static void image_add_load(struct elf_image *image, const GElf_Phdr *head)
{
	if (head->p_type != PT_LOAD || image->nr_loads == ELF_LOADS_MAX)
		return;
	image->loads[image->nr_loads++] = (struct elf_load){
		.offset = head->p_offset,
		.size_bytes = head->p_filesz,
		.vaddr = head->p_vaddr,
	};
}

static void image_read_loads(struct elf_image *image, Elf *elf)
{
	GElf_Phdr head;
	size_t nr;

	if (elf_getphdrnum(elf, &nr))
		return;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(elf, (int)i, &head))
			image_add_load(image, &head);
}

int elf_image__read_loads(struct elf_image *image, int fd)
{
	Elf *elf = elf_image__open(fd);

	memset(image, 0, sizeof(*image));
	if (!elf)
		return -ENOEXEC;
	image_read_loads(image, elf);
	elf_end(elf);
	return 0;
}

bool elf_image__vaddr(const struct elf_image *image, uint64_t offset, uint64_t *vaddr)
{
	for (size_t i = 0; i < image->nr_loads; i++) {
		const struct elf_load *load = &image->loads[i];

		if (offset < load->offset || offset - load->offset >= load->size_bytes)
			continue;
		*vaddr = load->vaddr + (offset - load->offset);
		return true;
	}
	return false;
}

/* ---- sections ---- */

static Elf_Scn *image_section(Elf *elf, uint32_t type, GElf_Shdr *head)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, head) && head->sh_type == type)
			return section;
	return NULL;
}

/* Not compressed: the unpacked size would be unknown. */
Elf_Data *elf_image__data(Elf_Scn *section, uint64_t most_bytes)
{
	GElf_Shdr head;

	if (!section || !gelf_getshdr(section, &head) || head.sh_size > most_bytes ||
	    head.sh_flags & SHF_COMPRESSED)
		return NULL;
	return elf_getdata(section, NULL);
}

/* ---- build-id ---- */

static bool image_take_build_id(struct elf_image *image, const Elf_Data *data)
{
	const char *bytes = data->d_buf;
	size_t at = 0, name_at, desc_at;
	GElf_Nhdr note;

	while ((at = gelf_getnote((Elf_Data *)data, at, &note, &name_at, &desc_at))) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(bytes + name_at, "GNU", sizeof("GNU")) || !note.n_descsz ||
		    note.n_descsz > ELF_BUILD_ID_MAX)
			continue;
		memcpy(image->build_id, bytes + desc_at, note.n_descsz);
		image->build_id_len = note.n_descsz;
		return true;
	}
	return false;
}

static void image_read_build_id(struct elf_image *image, Elf *elf)
{
	Elf_Scn *section = NULL;
	Elf_Data *data;
	GElf_Shdr head;
	int nr = 0;

	while (nr < ELF_NOTES_MAX && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &head) || head.sh_type != SHT_NOTE)
			continue;
		nr++;
		data = elf_image__data(section, USHRT_MAX);
		if (data && data->d_buf && image_take_build_id(image, data))
			return;
	}
}

/* ---- functions ---- */

static int image_add_symbol(struct symbol_table *table, const GElf_Sym *symbol,
			    const Elf_Data *names)
{
	const char *name = (const char *)names->d_buf + symbol->st_name;
	int type = GELF_ST_TYPE(symbol->st_info);
	size_t len;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
	    !symbol->st_value || symbol->st_name >= names->d_size)
		return 0;
	len = strnlen(name, names->d_size - symbol->st_name);
	if (!len || len == names->d_size - symbol->st_name)
		return 0;
	return symbol_table__add(table, symbol->st_value, symbol->st_size, name, len);
}

/* Adds the functions of the first section of this type. A full table keeps what it has. */
static int image_add_functions(struct symbol_table *table, Elf *elf, uint32_t type)
{
	GElf_Shdr head = { 0 };
	Elf_Scn *section = image_section(elf, type, &head);
	Elf_Data *data = elf_image__data(section, ELF_TABLE_BYTES_MAX);
	Elf_Data *names =
		data ? elf_image__data(elf_getscn(elf, head.sh_link), ELF_TABLE_BYTES_MAX) : NULL;
	GElf_Sym symbol;
	int err = 0;

	if (!names || !names->d_buf)
		return 0;
	for (int i = 0; !err && gelf_getsym(data, i, &symbol); i++)
		err = image_add_symbol(table, &symbol, names);
	return err == -E2BIG ? 0 : err;
}

/* ---- what a stripped file left elsewhere ---- */

static bool image_has_same_build_id(const struct elf_image *image, Elf *debug)
{
	struct elf_image other = { 0 };

	image_read_build_id(&other, debug);
	return other.build_id_len == image->build_id_len &&
	       !memcmp(other.build_id, image->build_id, image->build_id_len);
}

static int image_add_debug_file(struct elf_image *image, const struct elf_beside *beside)
{
	int fd = -ENOENT, err = 0;
	Elf *debug;

	if (beside && image->build_id_len >= 2)
		fd = beside->open_debug(beside->arg, image->build_id, image->build_id_len);
	if (fd < 0)
		return 0;
	debug = elf_image__open(fd);
	if (debug && image_has_same_build_id(image, debug))
		err = image_add_functions(&image->functions, debug, SHT_SYMTAB);
	elf_end(debug);
	close(fd);
	return err;
}

/* libdw unpacks what it finds, without a limit on the size. */
static bool image_is_for_libdw(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	while ((section = elf_nextscn(elf, section)))
		if (!gelf_getshdr(section, &head) || head.sh_flags & SHF_COMPRESSED ||
		    (head.sh_type != SHT_NOBITS && !(head.sh_flags & SHF_ALLOC) &&
		     head.sh_size > ELF_PACKED_BYTES_MAX))
			return false;
	return true;
}

static int image_add_visited(void *image, Elf *elf)
{
	return image_add_functions(&((struct elf_image *)image)->functions, elf, SHT_SYMTAB);
}

/* The packed symbols of a stripped file lack those that it exports. */
static int image_add_all(struct elf_image *image, Elf *elf, int fd, const struct elf_beside *beside)
{
	int err = image_add_functions(&image->functions, elf, SHT_SYMTAB);

	if (err || image->functions.nr)
		return err;
	err = image_add_debug_file(image, beside);
	if (!err && !image->functions.nr && image_is_for_libdw(elf))
		err = elf_dwfl__visit(fd, image_add_visited, image);
	return err ?: image_add_functions(&image->functions, elf, SHT_DYNSYM);
}

int elf_image__read(struct elf_image *image, int fd, const struct elf_beside *beside)
{
	Elf *elf = elf_image__open(fd);
	int err;

	memset(image, 0, sizeof(*image));
	if (!elf)
		return -ENOEXEC;
	image_read_loads(image, elf);
	image_read_build_id(image, elf);
	err = image_add_all(image, elf, fd, beside);
	elf_end(elf);
	if (err)
		elf_image__free(image);
	else
		symbol_table__sort(&image->functions);
	return err;
}

void elf_image__free(struct elf_image *image)
{
	symbol_table__free(&image->functions);
	image->nr_loads = image->build_id_len = 0;
}
