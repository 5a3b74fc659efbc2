/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf_image.c: are the functions of a file found where they are, and can no file do harm? A small
 * ELF file is made here, so that it can be broken everywhere: cut at every byte, and every byte of
 * it changed in several ways. The test's own program is cut at many places, too.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "symbol/elf_cache.h"
#include "symbol/elf_image.h"
#include "symbol/opener.h"
#include "tap.h"

static char root[] = "/tmp/iosonar-elf.XXXXXX";

/* As the reader's opener does it, in this process. */
static int open_debug(void *arg, const unsigned char *build_id, size_t len)
{
	const struct symbol_opener opener = { .root = root };
	struct opener_request request = { .what = OPENER_DEBUG, .build_id_len = (uint32_t)len };

	(void)arg;
	memcpy(request.build_id, build_id, len);
	return symbol_opener__open(&opener, &request);
}

static const struct elf_beside beside = { open_debug, NULL };

/* ---- a file made by hand ---- */

enum { SECTION_NULL, SECTION_SYMBOLS, SECTION_NAMES, SECTION_NOTE, SECTION_EXTRA, NR_SECTIONS };

static const char names[] = "\0main\0helper\0data\0outside\0.gnu_debugdata";

enum { NAME_MAIN = 1, NAME_HELPER = 6, NAME_DATA = 13, NAME_OUTSIDE = 18, NAME_PACKED = 26 };

struct made {
	Elf64_Ehdr head;
	Elf64_Phdr loads[2];
	Elf64_Sym symbols[6];
	char names[sizeof(names)];
	struct {
		Elf64_Nhdr head;
		char name[4];
		unsigned char id[20];
	} note;
	unsigned char extra[512];
	Elf64_Shdr sections[NR_SECTIONS];
};

static Elf64_Sym symbol(uint32_t name, unsigned char type, uint64_t value, uint64_t size)
{
	return (Elf64_Sym){
		.st_name = name,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, type),
		.st_shndx = 1,
		.st_value = value,
		.st_size = size,
	};
}

/* Its text is bytes 0x1000 to 0x2fff of the file, and lies at 0x401000. */
static struct made make_elf(void)
{
	struct made m = {
		.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT },
			  .e_type = ET_DYN,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_phoff = offsetof(struct made, loads),
			  .e_shoff = offsetof(struct made, sections),
			  .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 2,
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = NR_SECTIONS,
			  .e_shstrndx = SECTION_NAMES },
		.loads = { { .p_type = PT_LOAD,
			     .p_filesz = 0x1000,
			     .p_memsz = 0x1000,
			     .p_vaddr = 0x400000,
			     .p_align = 0x1000 },
			   { .p_type = PT_LOAD,
			     .p_offset = 0x1000,
			     .p_filesz = 0x2000,
			     .p_memsz = 0x2000,
			     .p_vaddr = 0x401000,
			     .p_align = 0x1000 } },
		.symbols = { { 0 },
			     symbol(NAME_MAIN, STT_FUNC, 0x401100, 0x40),
			     symbol(NAME_HELPER, STT_FUNC, 0x401200, 0),
			     symbol(NAME_DATA, STT_OBJECT, 0x401300, 8),
			     symbol(NAME_OUTSIDE, STT_FUNC, 0x401400, 8),
			     symbol(1000000, STT_FUNC, 0x401500, 8) },
		.note = { .head = { 4, 20, NT_GNU_BUILD_ID }, .name = "GNU" },
	};

	m.symbols[4].st_shndx = SHN_UNDEF;
	memcpy(m.names, names, sizeof(names));
	for (int i = 0; i < 20; i++)
		m.note.id[i] = (unsigned char)(0xa0 + i);
	m.sections[SECTION_SYMBOLS] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
						    .sh_offset = offsetof(struct made, symbols),
						    .sh_size = sizeof(m.symbols),
						    .sh_entsize = sizeof(Elf64_Sym),
						    .sh_link = SECTION_NAMES };
	m.sections[SECTION_NAMES] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
						  .sh_offset = offsetof(struct made, names),
						  .sh_size = sizeof(m.names) };
	m.sections[SECTION_NOTE] = (Elf64_Shdr){ .sh_type = SHT_NOTE,
						 .sh_offset = offsetof(struct made, note),
						 .sh_size = sizeof(m.note),
						 .sh_addralign = 4 };
	m.sections[SECTION_EXTRA] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
						  .sh_offset = offsetof(struct made, extra),
						  .sh_size = sizeof(m.extra) };
	return m;
}

static int fd_of(const void *bytes, size_t nr)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, nr) != (ssize_t)nr)
		printf("Bail out! memfd: %s\n", strerror(errno)), exit(1);
	return fd;
}

static int read_bytes(struct elf_image *image, const void *bytes, size_t nr)
{
	int fd = fd_of(bytes, nr), err = elf_image__read(image, fd, &beside);

	close(fd);
	return err;
}

static const char *named(const struct elf_image *image, uint64_t vaddr)
{
	static char text[SYMBOL_NAME_MAX + 32];
	struct symbol_found found;

	if (!symbol_table__find(&image->functions, vaddr, &found))
		return "-";
	snprintf(text, sizeof(text), "%s+%#" PRIx64, found.name, found.offset);
	return text;
}

static void check_whole(void)
{
	struct made m = make_elf();
	struct elf_image image;
	uint64_t vaddr = 0;

	is_u64((uint64_t)read_bytes(&image, &m, sizeof(m)), 0, "the file is read");
	is_str(named(&image, 0x401110), "main+0x10", "a function");
	is_str(named(&image, 0x401140), "-", "ends where it ends");
	is_str(named(&image, 0x401210), "helper+0x10", "one without a size");
	is_str(named(&image, 0x401304), "helper+0x104", "goes on: data is no function");
	is_str(named(&image, 0x401404), "helper+0x204", "nor is what is only called");
	is_u64(image.functions.nr, 2, "and a name outside of the names is none");
	ok(elf_image__vaddr(&image, 0x1110, &vaddr) && vaddr == 0x401110, "a byte has its address");
	ok(elf_image__vaddr(&image, 0x2fff, &vaddr) && vaddr == 0x402fff, "so has the last");
	ok(!elf_image__vaddr(&image, 0x3000, &vaddr), "the next has none");
	ok(image.build_id_len == 20 && image.build_id[19] == 0xb3, "the build-id");
	elf_image__free(&image);
	elf_image__free(&image);
}

/* A file without .symtab has what others may call; a type of its own makes that. */
static void check_dynsym(void)
{
	struct made m = make_elf();
	struct elf_image image;

	m.sections[SECTION_SYMBOLS].sh_type = SHT_DYNSYM;
	is_u64((uint64_t)read_bytes(&image, &m, sizeof(m)), 0, "a stripped file is read");
	is_str(named(&image, 0x401110), "main+0x10", "what it exports has names");
	elf_image__free(&image);
	m.sections[SECTION_SYMBOLS].sh_type = SHT_PROGBITS;
	is_u64((uint64_t)read_bytes(&image, &m, sizeof(m)), 0, "one without any symbol, too");
	ok(!image.functions.nr && image.nr_loads == 2, "then bytes still have addresses");
	elf_image__free(&image);
}

/* ---- a debug file beside it ---- */

static void make_folder(const char *path)
{
	char full[PATH_MAX], *slash;

	snprintf(full, sizeof(full), "%s%s/", root, path);
	for (slash = full + strlen(root); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(full, 0777);
		*slash = '/';
	}
}

static void put_debug_file(const struct made *m)
{
	char path[PATH_MAX];
	FILE *file;

	make_folder("/usr/lib/debug/.build-id/a0");
	snprintf(path, sizeof(path),
		 "%s/usr/lib/debug/.build-id/a0/"
		 "a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3.debug",
		 root);
	file = fopen(path, "w");
	if (!file || fwrite(m, sizeof(*m), 1, file) != 1 || fclose(file))
		printf("Bail out! %s: %s\n", path, strerror(errno)), exit(1);
}

static void check_debug_file(void)
{
	struct made m = make_elf(), debug = make_elf();
	struct elf_image image;

	m.sections[SECTION_SYMBOLS].sh_type = SHT_DYNSYM;
	debug.symbols[1].st_value = 0x401180;
	put_debug_file(&debug);
	read_bytes(&image, &m, sizeof(m));
	is_str(named(&image, 0x401190), "main+0x10", "its build-id leads to its debug file");
	elf_image__free(&image);
	m.note.id[19]++;
	read_bytes(&image, &m, sizeof(m));
	is_str(named(&image, 0x401190), "-", "another build-id does not");
	elf_image__free(&image);
	m.note.id[19]--;
	debug.note.id[19]++;
	put_debug_file(&debug);
	read_bytes(&image, &m, sizeof(m));
	is_str(named(&image, 0x401110), "main+0x10", "nor to a file with another one inside");
	elf_image__free(&image);
}

/* ---- harm ---- */

/* Anything may come of it but harm, which the sanitizers see. Did functions? */
static bool read_and_use(const void *bytes, size_t nr)
{
	size_t named_nr;
	struct elf_image image;
	struct symbol_found found;
	uint64_t vaddr = 0;

	if (read_bytes(&image, bytes, nr))
		return 0;
	named_nr = image.functions.nr;
	for (uint64_t at = 0; at < 0x4000; at += 0x333)
		if (elf_image__vaddr(&image, at, &vaddr))
			symbol_table__find(&image.functions, vaddr, &found);
	elf_image__free(&image);
	return named_nr;
}

static void check_cut(void)
{
	struct made m = make_elf();
	uint64_t good = 0;

	for (size_t nr = 0; nr < sizeof(m); nr++)
		good += read_and_use(&m, nr);
	is_u64(good, 0, "cut at every byte: no functions, as their table comes last");
	ok(read_and_use(&m, sizeof(m)), "but whole it has them");
}

static void check_changed(uint32_t type)
{
	static const unsigned char masks[] = { 0x01, 0x80, 0xff };
	struct made m = make_elf();
	unsigned char *bytes = (unsigned char *)&m;
	uint64_t good = 0, tried = 0;

	m.sections[SECTION_SYMBOLS].sh_type = type;
	for (size_t at = 0; at < sizeof(m); at++) {
		for (size_t i = 0; i < sizeof(masks); i++, tried++) {
			bytes[at] ^= masks[i];
			good += read_and_use(&m, sizeof(m));
			bytes[at] ^= masks[i];
		}
	}
	ok(good && good < tried,
	   "every byte changed: %" PRIu64 " of %" PRIu64 " still had functions", good, tried);
}

/* All that a field can ask for: its largest values, in every field of 8 and 4 bytes. */
static void check_greedy(void)
{
	static const uint64_t values[] = { UINT64_MAX, INT64_MAX, 1ULL << 40, UINT32_MAX,
					   INT32_MAX };
	struct made m = make_elf(), before;
	uint64_t tried = 0;

	for (size_t at = 0; at + 8 <= sizeof(m); at += 4) {
		for (size_t i = 0; i < 5; i++, tried++) {
			before = m;
			memcpy((char *)&m + at, &values[i], i < 3 ? 8 : 4);
			read_and_use(&m, sizeof(m));
			m = before;
		}
	}
	ok(tried > 1000, "%" PRIu64 " fields that ask for too much", tried);
}

static void refused(const struct made *m, const char *what)
{
	struct elf_image image = { 0 };
	int err = read_bytes(&image, m, sizeof(*m));

	ok(err == -ENOEXEC, "%s", what);
	elf_image__free(&image);
}

static void check_refused(void)
{
	struct made m = make_elf();
	struct elf_image image;
	int pipes[2];

	m.head.e_type = ET_REL;
	refused(&m, "an object file is refused");
	m = make_elf();
	m.head.e_ident[0] = '#';
	refused(&m, "a script");
	m = make_elf();
	m.head.e_shnum = 0;
	m.sections[0].sh_size = 1ULL << 31;
	refused(&m, "2,000,000,000 sections in 2 kB");
	m = make_elf();
	m.head.e_phnum = PN_XNUM;
	m.sections[0].sh_info = UINT32_MAX;
	refused(&m, "4,000,000,000 segments");
	if (pipe(pipes))
		return;
	ok(elf_image__read(&image, pipes[0], &beside) == -ENOEXEC, "a pipe, without waiting");
	close(pipes[0]);
	close(pipes[1]);
	ok(elf_image__read(&image, -1, &beside) == -ENOEXEC, "nothing at all");
}

/* A sparse file costs its maker nothing: a table of a terabyte in it must cost us nothing. */
static void check_sparse(void)
{
	struct made m = make_elf();
	struct elf_image image;
	int fd;

	m.sections[SECTION_SYMBOLS].sh_size = 1ULL << 40;
	m.sections[SECTION_NAMES].sh_size = 1ULL << 40;
	m.sections[SECTION_NOTE].sh_size = 1ULL << 40;
	fd = fd_of(&m, sizeof(m));
	ok(!ftruncate(fd, (1LL << 40) + (1LL << 20)), "a file of a terabyte");
	is_u64((uint64_t)elf_image__read(&image, fd, &beside), 0, "is read");
	is_u64(image.functions.nr + image.build_id_len, 0, "but not its tables");
	elf_image__free(&image);
	close(fd);
}

/* ---- a real one ---- */

static unsigned char *own_bytes(size_t *nr)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned char *bytes;
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		return NULL;
	*nr = (size_t)status.st_size;
	bytes = malloc(*nr);
	if (bytes && pread(fd, bytes, *nr, 0) != (ssize_t)*nr)
		*nr = 0;
	close(fd);
	return bytes;
}

/* The compiler may have put something behind its name. */
static __attribute__((noinline)) bool has_function(const struct elf_image *image, const char *name)
{
	for (size_t at = 0; at < image->functions.pool_len;
	     at += strlen(image->functions.pool + at) + 1)
		if (!strncmp(image->functions.pool + at, name, strlen(name)))
			return true;
	return false;
}

static void check_own(void)
{
	struct elf_image image;
	size_t nr = 0;
	unsigned char *bytes = own_bytes(&nr);
	uint64_t good = 0;
	int fd;

	if (!bytes || !nr)
		return;
	is_u64((uint64_t)read_bytes(&image, bytes, nr), 0, "this program is read");
	ok(has_function(&image, "has_function"), "with its static functions");
	ok(image.functions.nr > 30, "and %zu others", image.functions.nr);
	elf_image__free(&image);
	/* One file that is cut shorter and shorter. */
	fd = fd_of(bytes, nr);
	for (size_t i = 200; i--;) {
		if (ftruncate(fd, (off_t)(nr / 200 * i)))
			break;
		good += !elf_image__read(&image, fd, &beside) && image.functions.nr;
		elf_image__free(&image);
	}
	is_u64(good, 0, "cut at 200 places it has none");
	close(fd);
	free(bytes);
}

/* ---- what libdw finds ---- */

/* What make_elf makes, with main at 0x401180, packed by xz --check=crc32. */
static const unsigned char packed[] = {
	0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21,
	0x01, 0x1c, 0x00, 0x00, 0x00, 0x10, 0xcf, 0x58, 0xcc, 0xe0, 0x04, 0xcf, 0x00, 0xc8, 0x5d,
	0x00, 0x3f, 0x91, 0x45, 0x84, 0x68, 0x3d, 0x89, 0xa6, 0xda, 0x8a, 0xe1, 0x83, 0x32, 0x4e,
	0xf1, 0xed, 0xef, 0x67, 0x18, 0x35, 0x7b, 0x6a, 0xd7, 0xdb, 0x14, 0x48, 0xd1, 0x35, 0xa1,
	0xe0, 0x04, 0xea, 0xd7, 0xf7, 0x81, 0xa6, 0x77, 0xe8, 0x74, 0x0a, 0x23, 0x85, 0x8e, 0xcc,
	0x5a, 0xb9, 0xb9, 0x7d, 0x1e, 0xde, 0x51, 0x68, 0xbf, 0x35, 0x50, 0x1b, 0x3b, 0x6b, 0xf5,
	0x38, 0x03, 0xf8, 0x0e, 0x8c, 0x5b, 0x23, 0xed, 0x50, 0x16, 0x02, 0xbc, 0x32, 0xce, 0xbd,
	0x39, 0x27, 0x12, 0xd4, 0x0a, 0xb8, 0x9a, 0x2a, 0xb6, 0x9f, 0xa7, 0x20, 0xc3, 0xbd, 0x0a,
	0x29, 0xb2, 0x27, 0x5a, 0x1e, 0xaa, 0x03, 0x16, 0xba, 0x56, 0x27, 0x49, 0x9f, 0xba, 0xc5,
	0x0c, 0x48, 0x17, 0x37, 0xc5, 0x2a, 0xb2, 0x1d, 0xe6, 0xa9, 0xb5, 0x3f, 0xbd, 0x6b, 0x6f,
	0xd8, 0xf0, 0xef, 0x9c, 0xd4, 0x2e, 0xc6, 0x1c, 0xfa, 0xeb, 0x7c, 0x30, 0x70, 0x76, 0xb7,
	0xcc, 0x72, 0x3b, 0x64, 0xb9, 0xab, 0xdb, 0x35, 0xe0, 0xa4, 0x2e, 0xbd, 0xad, 0x5a, 0xfb,
	0xf5, 0x20, 0x04, 0x84, 0x33, 0x80, 0xfb, 0x24, 0xd6, 0x94, 0xe0, 0xcb, 0x01, 0xf8, 0x77,
	0x74, 0x13, 0x55, 0x85, 0xa3, 0x07, 0x4d, 0xea, 0x89, 0x17, 0x7e, 0x52, 0x4d, 0x40, 0xd1,
	0x8a, 0x99, 0x36, 0xa7, 0x5f, 0x6b, 0x86, 0x46, 0x19, 0x58, 0x17, 0x1a, 0xf1, 0x1f, 0x65,
	0xbe, 0x73, 0xac, 0x6a, 0xff, 0x6a, 0x00, 0x4c, 0xa7, 0xe9, 0x0c, 0x00, 0x01, 0xe0, 0x01,
	0xd0, 0x09, 0x00, 0x00, 0xf9, 0x64, 0xf4, 0xc1, 0x3e, 0x30, 0x0d, 0x8b, 0x02, 0x00, 0x00,
	0x00, 0x00, 0x01, 0x59, 0x5a,
};

static int read_with_libdw(struct elf_image *image, const struct made *m)
{
	int fd = fd_of(m, sizeof(*m)), err = elf_image__read(image, fd, NULL);

	close(fd);
	return err;
}

static struct made make_packed(void)
{
	struct made m = make_elf();

	m.sections[SECTION_SYMBOLS].sh_type = SHT_DYNSYM;
	m.sections[SECTION_EXTRA].sh_name = NAME_PACKED;
	m.sections[SECTION_EXTRA].sh_size = sizeof(packed);
	memcpy(m.extra, packed, sizeof(packed));
	return m;
}

static void check_libdw(void)
{
	struct made m = make_packed();
	struct elf_image image;

	_Static_assert(sizeof(packed) <= sizeof(m.extra), "it fits");
	if (!elf_dwfl__is_built_in()) {
		ok(true, "symbols packed in the file # SKIP built without libdw");
		return;
	}
	read_with_libdw(&image, &m);
	is_str(named(&image, 0x401190), "main+0x10", "symbols packed in the file are found");
	is_str(named(&image, 0x401110), "main+0x10", "with those it exports");
	elf_image__free(&image);
	m.sections[SECTION_EXTRA].sh_flags = SHF_COMPRESSED;
	read_with_libdw(&image, &m);
	is_str(named(&image, 0x401190), "-", "a packed section is not for libdw");
	is_str(named(&image, 0x401110), "main+0x10", "what is exported is found all the same");
	elf_image__free(&image);
}

/* The packed bytes, and what leads libdw to them. */
static void check_libdw_changed(void)
{
	struct made m = make_packed();
	unsigned char *bytes = (unsigned char *)&m;
	struct elf_image image;
	uint64_t good = 0, tried = 0;

	for (size_t at = 0; at < sizeof(m); at += 1 + at % 3, tried++) {
		bytes[at] ^= 0xff;
		good += !read_with_libdw(&image, &m) && image.functions.nr;
		elf_image__free(&image);
		bytes[at] ^= 0xff;
	}
	ok(good && good < tried,
	   "bytes changed under libdw: %" PRIu64 " of %" PRIu64 " still had functions", good,
	   tried);
}

/* ---- files that are kept ---- */

static struct elf_file_id id_of(int fd)
{
	struct elf_file_id id;

	if (elf_file_id__of(&id, fd))
		printf("Bail out! fstat: %s\n", strerror(errno));
	return id;
}

static void check_cache(void)
{
	struct made m = make_elf();
	struct elf_cache *cache = elf_cache__new(&beside, 2, 1 << 20);
	int fds[3] = { fd_of(&m, sizeof(m)), fd_of(&m, sizeof(m)), fd_of("#!/bin/sh", 9) };
	struct elf_file_id ids[3] = { id_of(fds[0]), id_of(fds[1]), id_of(fds[2]) }, changed;

	ok(!elf_cache__find(cache, &ids[0]), "a cache begins empty");
	is_str(named(elf_cache__read(cache, &ids[0], fds[0]), 0x401110), "main+0x10", "a file");
	ok(elf_cache__find(cache, &ids[0]), "is kept");
	ok(!elf_cache__find(cache, &ids[1]), "another one is another one");
	ok(elf_cache__read(cache, &ids[2], fds[2]), "what is no ELF file is remembered as that");
	elf_cache__find(cache, &ids[0]);
	elf_cache__read(cache, &ids[1], fds[1]);
	ok(elf_cache__find(cache, &ids[0]) && !elf_cache__find(cache, &ids[2]),
	   "what was not used for longest goes first");
	ok(!ftruncate(fds[0], sizeof(m) + 1), "a file that changes");
	changed = id_of(fds[0]);
	ok(!elf_cache__find(cache, &changed), "is another one");
	elf_cache__free(cache);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	elf_cache__free(NULL);
}

static void check_cache_bytes(void)
{
	struct made m = make_elf();
	struct elf_cache *cache = elf_cache__new(&beside, 8, 1);
	int fds[2] = { fd_of(&m, sizeof(m)), fd_of(&m, sizeof(m)) };
	struct elf_file_id ids[2] = { id_of(fds[0]), id_of(fds[1]) };

	elf_cache__read(cache, &ids[0], fds[0]);
	ok(elf_cache__find(cache, &ids[0]), "the last one stays, however large");
	elf_cache__read(cache, &ids[1], fds[1]);
	ok(!elf_cache__find(cache, &ids[0]), "others go when they take too much");
	elf_cache__free(cache);
	close(fds[0]);
	close(fds[1]);
}

static int drop_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status, (void)type, (void)ftw;
	return remove(path);
}

int main(void)
{
	if (!mkdtemp(root))
		return 1;
	check_whole();
	check_dynsym();
	check_debug_file();
	check_cut();
	check_changed(SHT_SYMTAB);
	check_changed(SHT_DYNSYM);
	check_greedy();
	check_refused();
	check_sparse();
	check_own();
	check_libdw();
	check_libdw_changed();
	check_cache();
	check_cache_bytes();
	nftw(root, drop_one, 16, FTW_DEPTH | FTW_PHYS);
	return done_testing();
}
