/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf_dwfl.c: where are the symbols of a stripped file? libdw unpacks its .gnu_debugdata. libdw
 * reads no names here, as it does not check where the table of names ends (seen in 0.188), opens no
 * file and asks no network: elf_image.c handles debug files, by descriptors that it is handed.
 */
#include "symbol/elf_image.h"

#ifdef HAVE_LIBDW

#include <elfutils/libdwfl.h>

/* Opened here, or libdw would map it: truncating a mapped file kills its reader. */
static int dwfl_give_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			 char **file_name, Elf **elf)
{
	const int *fd = *userdata;

	(void)module, (void)name, (void)base, (void)file_name;
	*elf = elf_begin(*fd, ELF_C_READ, NULL);
	return -1;
}

static int dwfl_give_no_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
				  Dwarf_Addr base, const char *file_name, const char *link_name,
				  GElf_Word link_crc, char **debug_name)
{
	(void)module, (void)userdata, (void)name, (void)base, (void)file_name;
	(void)link_name, (void)link_crc, (void)debug_name;
	return -1;
}

static const Dwfl_Callbacks dwfl_callbacks = {
	.find_elf = dwfl_give_elf,
	.find_debuginfo = dwfl_give_no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* The address that libdw takes for a file's first: reported there, symbols keep their addresses. */
static GElf_Addr dwfl_first_addr(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	GElf_Addr addr = 0;
	GElf_Phdr head;

	for (int i = 0; elf && gelf_getphdr(elf, i, &head); i++) {
		if (head.p_type != PT_LOAD)
			continue;
		addr = head.p_vaddr & -head.p_align;
		break;
	}
	elf_end(elf);
	return addr;
}

static Dwfl_Module *dwfl_report(Dwfl *dwfl, int *fd)
{
	Dwfl_Module *module = dwfl_report_module(dwfl, "", dwfl_first_addr(*fd), UINT64_MAX);
	void **userdata;

	if (!module)
		return NULL;
	dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = fd;
	dwfl_report_end(dwfl, NULL, NULL);
	return module;
}

/* The file itself, its debug file, its packed symbols: each once. */
struct dwfl_seen {
	Elf *elfs[3];
	int nr;
};

static bool dwfl_is_new(struct dwfl_seen *seen, Elf *elf)
{
	for (int i = 0; i < seen->nr; i++)
		if (seen->elfs[i] == elf)
			return false;
	if (seen->nr == 3)
		return false;
	seen->elfs[seen->nr++] = elf;
	return true;
}

/* A file that moves its addresses is left out: only prelinked files do. */
static int dwfl_visit(Dwfl_Module *module, elf_dwfl_fn visit, void *arg)
{
	GElf_Addr bias = 0, addr;
	Elf *elf = dwfl_module_getelf(module, &bias);
	struct dwfl_seen seen = { .elfs = { elf }, .nr = 1 };
	int nr = elf && !bias ? dwfl_module_getsymtab(module) : 0, err = 0;
	GElf_Sym symbol;

	for (int i = 0; i < nr && !err; i++)
		if (dwfl_module_getsym_info(module, i, &symbol, &addr, NULL, &elf, &bias) &&
		    dwfl_is_new(&seen, elf) && !bias)
			err = visit(arg, elf);
	return err;
}

int elf_dwfl__visit(int fd, elf_dwfl_fn visit, void *arg)
{
	Dwfl *dwfl = dwfl_begin(&dwfl_callbacks);
	Dwfl_Module *module = dwfl ? dwfl_report(dwfl, &fd) : NULL;
	int err = module ? dwfl_visit(module, visit, arg) : 0;

	dwfl_end(dwfl);
	return err;
}

bool elf_dwfl__is_built_in(void)
{
	return true;
}

#else

int elf_dwfl__visit(int fd, elf_dwfl_fn visit, void *arg)
{
	(void)fd, (void)visit, (void)arg;
	return 0;
}

bool elf_dwfl__is_built_in(void)
{
	return false;
}

#endif
