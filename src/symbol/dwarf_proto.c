/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "symbol/dwarf_proto.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/compare.h"
#include "base/privilege.h"
#include "symbol/elf_image.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

struct dwarf_reading {
	const uint64_t *vaddrs;
	size_t nr;
	struct dwarf_proto *protos;
};

/* ---- names ---- */

static bool dwarf_holds(Elf_Scn *section, const char *name, const char *text)
{
	Elf_Data *data = name && strstr(name, "debug_") ? elf_rawdata(section, NULL) : NULL;
	uintptr_t start = data ? (uintptr_t)data->d_buf : 0, at = (uintptr_t)text;

	return start && at >= start && at - start < data->d_size &&
	       memchr(text, 0, data->d_size - (at - start));
}

/* Does it end where its section ends, or earlier? libdw does not look at strings of every form
 * (elfutils 0.188). */
static bool dwarf_is_text(Dwarf_Die *die, const char *text)
{
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(die->cu));
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &head) &&
		    dwarf_holds(section, elf_strptr(elf, names, head.sh_name), text))
			return true;
	return false;
}

static void dwarf_take_name(Dwarf_Die *die, char name[DWARF_NAME])
{
	const char *text = dwarf_diename(die);

	snprintf(name, DWARF_NAME, "%s", text && dwarf_is_text(die, text) ? text : "");
}

/* ---- types ---- */

static bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, type);
}

/* Removes typedefs and qualifiers. false: void. A file may contain a cycle of them. */
static bool dwarf_peel(Dwarf_Die *type)
{
	for (int i = 0; i < 64; i++)
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!dwarf_type_of(type, type))
				return false;
			break;
		default: return true;
		}
	return false;
}

static bool dwarf_take_base(Dwarf_Die *type, struct dwarf_type *to)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0;
	int size = dwarf_bytesize(type);

	if (!dwarf_attr_integrate(type, DW_AT_encoding, &attribute) ||
	    dwarf_formudata(&attribute, &encoding) || size < 1 || size > 8)
		return false;
	to->size = (uint8_t)size;
	dwarf_take_name(type, to->name);
	switch (encoding) {
	case DW_ATE_boolean: to->kind = DWARF_BOOL; return true;
	case DW_ATE_signed:
		to->kind = DWARF_INT;
		to->is_signed = true;
		return true;
	case DW_ATE_unsigned: to->kind = DWARF_INT; return true;
	case DW_ATE_signed_char:
		to->kind = DWARF_CHAR;
		to->is_signed = true;
		return true;
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF: to->kind = DWARF_CHAR; return true;
	default: return false;
	}
}

static bool dwarf_take_enum(Dwarf_Die *type, struct dwarf_type *to)
{
	int size = dwarf_bytesize(type);

	if (size < 1 || size > 8)
		return false;
	to->kind = DWARF_INT;
	to->size = (uint8_t)size;
	to->is_signed = size == 4; /* names of its values are not looked up */
	snprintf(to->name, DWARF_NAME, "int");
	return true;
}

static void dwarf_take_target(Dwarf_Die *pointer, struct dwarf_type *to)
{
	struct dwarf_type target = { 0 };
	Dwarf_Die type;

	if (!dwarf_type_of(pointer, &type) || !dwarf_peel(&type))
		return;
	switch (dwarf_tag(&type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		to->to_struct = true;
		dwarf_take_name(&type, to->name);
		break;
	case DW_TAG_base_type:
		if (!dwarf_take_base(&type, &target))
			break;
		to->to = target.kind;
		to->size = target.size; /* of what it points to, until it is checked */
		memcpy(to->name, target.name, DWARF_NAME);
		break;
	default: break;
	}
}

/* The type of a value in one general register. false: it is something else, or unknown. */
static bool dwarf_take_type(Dwarf_Die *type, struct dwarf_type *to)
{
	*to = (struct dwarf_type){ 0 };
	if (!dwarf_peel(type))
		return false;
	switch (dwarf_tag(type)) {
	case DW_TAG_base_type: return dwarf_take_base(type, to);
	case DW_TAG_enumeration_type: return dwarf_take_enum(type, to);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		dwarf_take_target(type, to);
		to->kind = DWARF_POINTER;
		to->size = 8;
		return true;
	default: return false;
	}
}

/* A float is in a vector register and takes no general one. */
static bool dwarf_is_float(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0;

	return dwarf_peel(type) && dwarf_tag(type) == DW_TAG_base_type &&
	       dwarf_attr_integrate(type, DW_AT_encoding, &attribute) &&
	       !dwarf_formudata(&attribute, &encoding) && encoding == DW_ATE_float &&
	       dwarf_bytesize(type) <= 8;
}

/* ---- a function ---- */

enum { DWARF_FLOATS = 8 }; /* in vector registers; more of them are on the stack */

static void dwarf_take_params(Dwarf_Die *function, struct dwarf_proto *proto)
{
	Dwarf_Die child, type;
	int nr_floats = 0;

	if (dwarf_child(function, &child))
		return;
	do {
		struct dwarf_param *param = &proto->params[proto->nr];

		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		if (proto->nr == DWARF_PARAMS || !dwarf_type_of(&child, &type))
			continue;
		if (dwarf_is_float(&type) && nr_floats++ < DWARF_FLOATS)
			continue;
		if (!dwarf_take_type(&type, &param->type))
			return; /* after a struct, the place of an argument is unknown */
		dwarf_take_name(&child, param->name);
		proto->nr++;
	} while (!dwarf_siblingof(&child, &child));
}

/* The first argument may be the address of a large struct that is returned. */
static bool dwarf_take_ret(Dwarf_Die *function, struct dwarf_proto *proto)
{
	Dwarf_Die type;

	proto->has_ret = true;
	if (!dwarf_type_of(function, &type) || !dwarf_peel(&type))
		return true; /* void */
	if (dwarf_take_type(&type, &proto->ret))
		return true;
	proto->has_ret = false;
	return dwarf_is_float(&type);
}

/* The compiler changed its calling convention. */
static bool dwarf_is_odd(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Word how = 0;

	return dwarf_attr_integrate(function, DW_AT_calling_convention, &attribute) &&
	       !dwarf_formudata(&attribute, &how) && how != DW_CC_normal;
}

static int dwarf_take_function(Dwarf_Die *function, void *arg)
{
	struct dwarf_reading *r = arg;
	struct dwarf_proto proto = { .is_known = true };
	const uint64_t *found;
	Dwarf_Addr pc;
	uint64_t vaddr;

	if (dwarf_entrypc(function, &pc) || dwarf_is_odd(function))
		return DWARF_CB_OK;
	vaddr = pc;
	found = bsearch(&vaddr, r->vaddrs, r->nr, sizeof(vaddr), compare__u64);
	if (!found)
		return DWARF_CB_OK;
	if (dwarf_take_ret(function, &proto))
		dwarf_take_params(function, &proto);
	r->protos[found - r->vaddrs] = proto;
	return DWARF_CB_OK;
}

static void dwarf_read_units(Dwarf *dwarf, struct dwarf_reading *r)
{
	Dwarf_Off at = 0, next;
	size_t head;
	Dwarf_Die unit;

	while (!dwarf_nextcu(dwarf, at, &next, &head, NULL, NULL, NULL) && next > at) {
		if (dwarf_offdie(dwarf, at + head, &unit))
			dwarf_getfuncs(&unit, dwarf_take_function, r, 0);
		at = next;
	}
}

void dwarf_protos__read(int fd, const uint64_t *vaddrs, size_t nr, struct dwarf_proto *protos)
{
	struct dwarf_reading r = { vaddrs, nr, protos };
	Elf *elf = elf_image__open(fd);
	Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;

	if (dwarf)
		dwarf_read_units(dwarf, &r);
	dwarf_end(dwarf);
	elf_end(elf);
}
#else
void dwarf_protos__read(int fd, const uint64_t *vaddrs, size_t nr, struct dwarf_proto *protos)
{
	(void)fd, (void)vaddrs, (void)nr, (void)protos;
}
#endif

/* ---- the answer of the other process ---- */

static void dwarf_check_name(char name[DWARF_NAME], const char *also)
{
	name[DWARF_NAME - 1] = 0;
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_' && !strchr(also, *c)) {
			name[0] = 0;
			return;
		}
	if (isdigit((unsigned char)name[0]))
		name[0] = 0;
}

static bool dwarf_check_type(struct dwarf_type *type)
{
	dwarf_check_name(type->name, " ");
	if (type->kind >= NR_DWARF_KINDS || type->to >= NR_DWARF_KINDS)
		return false;
	if (type->kind == DWARF_POINTER)
		type->size = 8;
	return type->size == 1 || type->size == 2 || type->size == 4 || type->size == 8;
}

void dwarf_proto__check(struct dwarf_proto *proto)
{
	bool good = proto->nr <= DWARF_PARAMS;

	if (!proto->is_known)
		return;
	if (proto->has_ret && proto->ret.kind != DWARF_VOID)
		good = good && dwarf_check_type(&proto->ret);
	for (size_t i = 0; good && i < proto->nr; i++) {
		dwarf_check_name(proto->params[i].name, "");
		good = dwarf_check_type(&proto->params[i].type) &&
		       proto->params[i].type.kind != DWARF_VOID;
	}
	if (!good)
		*proto = (struct dwarf_proto){ 0 };
}

/* ---- the other process ---- */

enum { ASKED_FILE = PRIVILEGE_KEPT_FD, ASKED_ANSWER, ASKED_CPU_S = 20 };

static const uint64_t asked_memory_bytes = 1ULL << 30;

static void asked_write(const char *bytes, size_t nr)
{
	while (nr) {
		ssize_t done = write(ASKED_ANSWER, bytes, nr);

		if (done <= 0)
			_exit(1);
		bytes += done;
		nr -= (size_t)done;
	}
}

static void asked_run(int fd, int answer, const uint64_t *vaddrs, size_t nr,
		      struct dwarf_proto *protos)
{
	const struct privilege_needs needs = { .role = PRIVILEGE_PARSES };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "iosonar-dwarf");
	privilege__keep_descriptors((const int[]){ fd, answer }, 2);
	privilege__limit(asked_memory_bytes, ASKED_CPU_S);
	privilege__drop(&needs);
	dwarf_protos__read(ASKED_FILE, vaddrs, nr, protos);
	asked_write((const char *)protos, nr * sizeof(*protos));
	_exit(0);
}

/* False: the process was ended, or failed; then nothing is known. */
static bool asked_read(int answer, char *bytes, size_t nr)
{
	while (nr) {
		ssize_t got = read(answer, bytes, nr);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		bytes += got;
		nr -= (size_t)got;
	}
	return true;
}

int dwarf_protos__ask(int fd, const uint64_t *vaddrs, size_t nr, struct dwarf_proto *protos)
{
	int answer[2];
	bool is_whole;
	pid_t pid;

	if (pipe2(answer, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	pid = fork();
	if (!pid)
		asked_run(fd, answer[1], vaddrs, nr, protos);
	close(answer[1]);
	is_whole = pid > 0 && asked_read(answer[0], (char *)protos, nr * sizeof(*protos));
	close(answer[0]);
	if (pid < 0)
		return -EAGAIN;
	kill(pid, SIGKILL); /* it has answered, or will not */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < nr; i++)
		if (is_whole)
			dwarf_proto__check(&protos[i]);
		else
			protos[i] = (struct dwarf_proto){ 0 };
	return 0;
}
