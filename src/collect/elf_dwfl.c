/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf_dwfl.c: functions of a stripped file, found by libdw: in the debug file that its build-id
 * names, or packed in its .gnu_debugdata. It is asked for symbols only, and for no network: debug
 * files are looked for by build-id on this machine, not as libdw's standard search does, which also
 * asks servers.
 */
#include "collect/elf_image.h"

#include <errno.h>

#ifdef HAVE_LIBDW

#include <elfutils/libdwfl.h>
#include <string.h>

/* Opened here, or libdw would map it: who cuts a mapped file kills its reader. */
static int dwfl_give_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			 char **file_name, Elf **elf)
{
	const int *fd = *userdata;

	(void)module, (void)name, (void)base, (void)file_name;
	*elf = elf_begin(*fd, ELF_C_READ, NULL);
	return -1;
}

static const Dwfl_Callbacks dwfl_callbacks = {
	.find_elf = dwfl_give_elf,
	.find_debuginfo = dwfl_build_id_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static int dwfl_add_symbol(struct symbol_table *table, Dwfl_Module *module, int i)
{
	GElf_Addr addr = 0;
	GElf_Word section = SHN_UNDEF;
	GElf_Sym symbol = { 0 };
	const char *name = dwfl_module_getsym_info(module, i, &symbol, &addr, &section, NULL, NULL);
	int type = GELF_ST_TYPE(symbol.st_info);

	if (!name || !*name || section == SHN_UNDEF || !addr ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC))
		return 0;
	return symbol_table__add(table, addr, symbol.st_size, name, strnlen(name, SYMBOL_NAME_MAX));
}

/* The address that libdw takes for a file's first: reported there, symbols keep their own. */
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

static int dwfl_add_module(struct symbol_table *table, Dwfl *dwfl, int *fd)
{
	Dwfl_Module *module = dwfl_report_module(dwfl, "", dwfl_first_addr(*fd), UINT64_MAX);
	GElf_Addr bias = 0;
	void **userdata;
	int nr, err = 0;

	if (!module)
		return -ENOEXEC;
	dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = fd;
	dwfl_report_end(dwfl, NULL, NULL);
	if (!dwfl_module_getelf(module, &bias) || bias)
		return -ENOEXEC;
	nr = dwfl_module_getsymtab(module);
	for (int i = 0; i < nr && !err; i++)
		err = dwfl_add_symbol(table, module, i);
	return err == -E2BIG ? 0 : err;
}

int elf_dwfl__add_functions(struct symbol_table *table, int fd)
{
	Dwfl *dwfl = dwfl_begin(&dwfl_callbacks);
	int err = dwfl ? dwfl_add_module(table, dwfl, &fd) : -ENOMEM;

	dwfl_end(dwfl);
	return err;
}

bool elf_dwfl__is_built_in(void)
{
	return true;
}

#else

int elf_dwfl__add_functions(struct symbol_table *table, int fd)
{
	(void)table;
	(void)fd;
	return -ENOTSUP;
}

bool elf_dwfl__is_built_in(void)
{
	return false;
}

#endif
