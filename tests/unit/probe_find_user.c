/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_find_user.c: are functions and USDT probes of a program where its symbols and notes say? It
 * looks into itself, where marks are compiled in; the kernel's own list of what is mapped where is
 * the second opinion. Then a copy of it is broken in many places.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include "probe/find/elf.h"
#include "probe_tree.h"
#include "vm/usdt.h"

int marked_function(int number);
int unmarked_twin(void);
USDT_SEMAPHORE(marked_semaphore);

__attribute__((noinline, no_sanitize("address", "undefined"))) int marked_function(int number)
{
	USDT_MARK2("iosonar", "two", number, 42);
	if (marked_semaphore)
		USDT_MARK_TEXT("iosonar", "text", marked_semaphore, "text");
	return number;
}

/* Another name for the same code. */
int unmarked_twin(void) __attribute__((alias("unmarked_function")));
int unmarked_function(void);
__attribute__((noinline)) int unmarked_function(void)
{
	return 1;
}

static char self[PATH_MAX];

/* ---- the second opinion ---- */

/* The offset in the file of what lies here, by /proc/self/maps. */
static uint64_t offset_of(const volatile void *address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset, at = (unsigned long)address;
	char line[PATH_MAX + 128];
	uint64_t found_at = UINT64_MAX;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && at >= start &&
		    at < end)
			found_at = at - start + offset;
	fclose(maps);
	return found_at;
}

static int spec(char *buf, const char *kind, const char *path, const char *rest)
{
	return snprintf(buf, PATH_MAX + 128, "%s:%s:%s", kind, path, rest);
}

static int find_in(struct finder *finder, const char *kind, const char *rest)
{
	char text[PATH_MAX + 128];

	spec(text, kind, self, rest);
	return find(finder, text);
}

/* ---- functions ---- */

static void check_functions(struct finder *finder)
{
	char text[PATH_MAX + 128];

	is_u64((uint64_t)find_in(finder, "user", "marked_function"), 0, "a function is found");
	is_u64(found.probes[0].offset, offset_of((void *)marked_function),
	       "where the kernel has mapped it");
	spec(text, "user", self, "marked_function");
	is_str(found.probes[0].name, text, "it is called as it was asked for");
	is_str(found.probes[0].func, "marked_function", "by func shortly");
	is_str(found.probes[0].path, self, "and is in that file");
	ok(!found.probes[0].nr_fields, "nothing is known of its arguments");
	find_in(finder, "userret", "marked_function");
	is_str(found_fields(), "ret:s64", "its result is a number");
	find_in(finder, "user", "unmarked_*");
	ok(found.nr == 1, "one place with two names is one");
	find_in(finder, "user", "unmarked_twin");
	ok(found.nr == 1 && found.probes[0].offset == offset_of((void *)unmarked_function),
	   "by either of them");
	snprintf(text, sizeof(text), "user:%s", self);
	list(finder, text);
	ok(found.nr > 20, "who looks around sees all, %zu", found.nr);
}

static void check_refused(struct finder *finder)
{
	char text[PATH_MAX + 128], words[2 * PATH_MAX + 256];

	spec(text, "user", self, "marked_functoin");
	snprintf(words, sizeof(words),
		 "'%s': %s has no function 'marked_functoin'; did you mean marked_function?", text,
		 self);
	refused(finder, text, -EINVAL, words);
	snprintf(text, sizeof(text), "user:%s", self);
	snprintf(words, sizeof(words), "'%s': no function given; write user:PATH:FUNCTION", text);
	refused(finder, text, -EINVAL, words);
	refused(finder, "user:/no/such/file:x", -EINVAL,
		"'user:/no/such/file:x': no such file: /no/such/file");
	refused(finder, "user:/dev/null:x", -EINVAL,
		"'user:/dev/null:x': /dev/null is not a program or a library");
	setenv("PATH", "/nowhere:/bin", 1);
	refused(finder, "user:sh:main", -EINVAL,
		"'user:sh:main': 'sh' is not a path; did you mean /bin/sh?");
	refused(finder, "usdt:/bin/sh:a", -EINVAL,
		"'usdt:/bin/sh:a': write usdt:PATH:PROVIDER:NAME");
	refused(finder, "usdt:/bin/sh:a:b", -EINVAL,
		"'usdt:/bin/sh:a:b': /bin/sh has no USDT probes");
	spec(text, "usdt", self, "iosonar:tow");
	snprintf(words, sizeof(words), "'%s': %s has no such probe; did you mean iosonar:two?",
		 text, self);
	refused(finder, text, -EINVAL, words);
}

/* The directory as a glob, and a link to the file beside it. */
static void check_paths(struct finder *finder)
{
	char link_path[PATH_MAX], text[2 * PATH_MAX];

	snprintf(link_path, sizeof(link_path), "%s/one", tree);
	if (symlink(self, link_path))
		printf("Bail out! %s\n", strerror(errno)), exit(1);
	snprintf(link_path, sizeof(link_path), "%s/two", tree);
	if (symlink(self, link_path))
		printf("Bail out! %s\n", strerror(errno)), exit(1);
	tree_put("/three", "no program");
	snprintf(text, sizeof(text), "user:%s/*:marked_function", tree);
	is_u64((uint64_t)find(finder, text), 0, "a path may be a glob");
	is_u64(found.nr, 1, "a file that has two names is one");
	snprintf(text, sizeof(text), "user:%s/x*:marked_function", tree);
	ok(find(finder, text) == -EINVAL && strstr(said, "no such file"), "or match nothing");
}

/* ---- USDT ---- */

static void check_usdt(struct finder *finder)
{
	uint64_t start = offset_of((void *)marked_function);
	const struct probe *p;

	is_u64((uint64_t)find_in(finder, "usdt", "iosonar:two"), 0, "a mark is found");
	p = found.probes;
	ok(p->offset >= start && p->offset < start + 256, "in its function");
	ok(p->nr_args == 2 && p->args[1].where == USDT_CONST && p->args[1].value == 42 &&
		   p->args[1].size == 4 && p->args[1].is_signed,
	   "a constant is known here already");
	ok(p->args[0].where == USDT_REG || p->args[0].where == USDT_MEM,
	   "what is not is in a register or in memory");
	is_str(found_fields(), "arg0:s32 arg1:s32", "they have names and sizes");
	is_str(p->func, "two", "and it its own");
	find_in(finder, "usdt", "iosonar:te*");
	p = found.probes;
	is_u64(found.nr, 1, "by glob, too");
	is_u64(p->semaphore, offset_of(&marked_semaphore), "its semaphore is where it is");
	ok(p->nr_args == 1 && p->args[0].size == 8 && !p->args[0].is_signed,
	   "and a text's address");
}

__thread int thread_variable = 1;

static int look_up_symbols(void *arg, const struct find_elf *elf)
{
	uint64_t vaddr = 0, offset = 0;

	(void)arg;
	ok(find_elf__symbol(elf, "marked_semaphore", 16, &vaddr) &&
		   find_elf__offset(elf, vaddr, FIND_ELF_ANY, &offset),
	   "a variable is found by its name");
	is_u64(offset, offset_of(&marked_semaphore), "and where it is");
	ok(find_elf__symbol(elf, "marked_functions", 15, &vaddr), "the name is as long as it is");
	ok(!find_elf__symbol(elf, "marked_functions", 16, &vaddr) &&
		   !find_elf__symbol(elf, "marked_function", 14, &vaddr),
	   "and no longer or shorter");
	ok(!find_elf__symbol(elf, "free", 4, &vaddr), "one of another file has no place here");
	ok(!find_elf__symbol(elf, "thread_variable", 15, &vaddr), "nor one of a thread");
	return 0;
}

static int count_names(void *nr, const char *name)
{
	ok(strstr(name, "iosonar:t"), "%s", strrchr(name, ':'));
	++*(int *)nr;
	return 0;
}

static void check_names(struct finder *finder)
{
	char text[PATH_MAX + 128];
	int nr = 0;

	spec(text, "usdt", self, "*");
	finder__names(finder, text, count_names, &nr);
	is_u64((uint64_t)nr, 2, "names of marks");
	nr = 0;
	spec(text, "user", self, "no_such_*");
	is_u64((uint64_t)finder__names(finder, text, count_names, &nr), 0, "or of nothing");
	ok(finder__names(finder, "user:/no/such/file:*", count_names, &nr) == -ENOENT,
	   "without a word if there is no file");
}

/* ---- arguments ---- */

/* "c5 r80/4 m16+8/-4 ?": constant, register at, memory at register's place + offset, size. */
static bool symbol_at(const void *arg, const char *name, size_t len, uint64_t *vaddr)
{
	(void)arg;
	*vaddr = len == 7 ? 0x4000 : 0x800;
	return (len == 7 && !memcmp(name, "counter", 7)) ||
	       (len == 6 && !memcmp(name, "st.0_$", 6));
}

static const char *parsed(uint16_t machine, const char *text)
{
	const struct usdt_site site = { machine, 0x1000, symbol_at, NULL };
	struct usdt_arg args[PROBE_MAX_ARGS];
	size_t nr = find_usdt__parse(&site, text, args, PROBE_MAX_ARGS);
	static char out[512];

	out[0] = 0;
	for (size_t i = 0; i < nr; i++) {
		const struct usdt_arg *a = &args[i];
		const char *sign = a->is_signed ? "-" : "";
		size_t len = strlen(out);

		if (a->where == USDT_CONST)
			snprintf(out + len, sizeof(out) - len, "c%lld/%s%u ", (long long)a->value,
				 sign, a->size);
		else if (a->where == USDT_REG)
			snprintf(out + len, sizeof(out) - len, "r%u/%s%u ", a->reg_at, sign,
				 a->size);
		else if (a->where == USDT_MEM)
			snprintf(out + len, sizeof(out) - len, "m%u%+lld/%s%u ", a->reg_at,
				 (long long)a->value, sign, a->size);
		else
			strcat(out, "? ");
	}
	return out;
}

static void check_arguments(void)
{
	const uint16_t x86 = EM_X86_64, arm = EM_AARCH64;

	is_str(parsed(x86, "-4@%edi 8@%rax 1@%al 2@%r10w"), "r112/-4 r80/8 r80/1 r56/2 ",
	       "x86_64: registers");
	is_str(parsed(x86, "-4@$-7 8@$5"), "c-7/-4 c5/8 ", "x86_64: constants");
	is_str(parsed(x86, "8@-24(%rbp) 4@(%rsp) -1@0x10(%rdi)"), "m32-24/8 m152+0/4 m112+16/-1 ",
	       "x86_64: memory");
	/* 0x3000 behind the mark, and 0x800 before it */
	is_str(parsed(x86, "4@counter(%rip) -8@st.0_$(%rip)"), "m128+12288/4 m128-2048/-8 ",
	       "x86_64: a variable of the file");
	is_str(parsed(x86,
		      "4@counter+8(%rip) 4@16+counter(%rip) 8@counter-4(%rip) 8@-4+counter(%rip)"),
	       "m128+12296/4 m128+12304/4 m128+12284/8 m128+12284/8 ", "x86_64: and a part of it");
	is_str(parsed(x86,
		      "4@none(%rip) 4@counter@GOTPCREL(%rip) 4@counter(%rax) 4@8(%rip) 4@(%rip) "
		      "4@+counter(%rip) 4@counter+(%rip) 4@counter+counter(%rip) "
		      "4@1+counter+1(%rip) 4@-counter(%rip) 4@7counter(%rip)"),
	       "? ? ? ? ? ? ? ? ? ? ? ", "x86_64: or what is none");
	is_str(parsed(x86, "8@(%rax,%rbx,8) 4@%fs:counter 16@%xmm0 8f@%xmm1 8@%rzx 8@$x 8@"),
	       "? ? ? ? ? ? ? ", "x86_64: what cannot be followed");
	is_str(parsed(arm, "-4@x1 8@sp 4@w30"), "r8/-4 r248/8 r240/4 ", "arm64: registers");
	is_str(parsed(arm, "-4@-7 8@5"), "c-7/-4 c5/8 ", "arm64: constants");
	is_str(parsed(arm, "8@[sp, 16] 4@[x29, -20] -8@[x0] 4@[x1, #4]"),
	       "m248+16/8 m232-20/4 m0+0/-8 m8+4/4 ", "arm64: memory");
	is_str(parsed(arm, "8@[x0, x1] 8@x31 8@[x0, 8]! 8@v0 3@x0 8@[] 8@[ 8@x 8@x99999"),
	       "? ? ? ? ? ? ? ", "arm64: what cannot be followed");
	is_str(parsed(arm, ""), "", "no arguments are none");
	is_str(parsed(arm, "1@0 1@1 1@2 1@3 1@4 1@5 1@6 1@7 1@8 1@9 1@10 1@11 1@12"),
	       "c0/1 c1/1 c2/1 c3/1 c4/1 c5/1 c6/1 c7/1 c8/1 c9/1 c10/1 c11/1 ",
	       "too many are cut");
	is_str(parsed(EM_386, "4@%eax"), "? ", "another machine's cannot be followed");
}

/* ---- broken files ---- */

static char *bytes;
static size_t nr_bytes;

static void read_self(void)
{
	int fd = open(self, O_RDONLY);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		printf("Bail out! %s: %s\n", self, strerror(errno)), exit(1);
	nr_bytes = (size_t)status.st_size;
	bytes = malloc(nr_bytes);
	if (!bytes || read(fd, bytes, nr_bytes) != (ssize_t)nr_bytes)
		printf("Bail out! %s: %s\n", self, strerror(errno)), exit(1);
	close(fd);
}

/* Looks into what was written: how many are found there? It has to survive whatever that is. */
static size_t try_broken(struct finder *finder, const char *kind)
{
	char text[PATH_MAX + 16];

	snprintf(text, sizeof(text), "%s:%s/broken:*", kind, tree);
	return list(finder, text) ? 0 : found.nr;
}

/* What is cut has no more than the whole: the list of its sections stands at its end. */
static void check_cut(struct finder *finder)
{
	size_t marks, functions, nr_more = 0, nr_none = 0;

	tree_write("/broken", bytes, nr_bytes);
	marks = try_broken(finder, "usdt");
	functions = try_broken(finder, "user");
	ok(marks >= 2 && functions > 100, "a file that is whole has %zu marks, %zu functions",
	   marks, functions);
	for (size_t i = 0; i < 64; i++) {
		size_t cut_marks, cut_functions;

		tree_write("/broken", bytes, nr_bytes / 64 * i + i);
		cut_marks = try_broken(finder, "usdt");
		cut_functions = try_broken(finder, "user");
		nr_more += cut_marks > marks || cut_functions > functions;
		nr_none += !cut_marks && !cut_functions;
	}
	is_u64(nr_more, 0, "one that is cut has no more");
	ok(nr_none > 0, "and %zu of 64 cuts leave nothing", nr_none);
}

/* Every byte of the notes, of the section that has them, and of the head. */
static void check_changed(struct finder *finder, size_t from, size_t to)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0xff };
	size_t marks, nr_fewer = 0, nr_more = 0;
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/broken", tree);
	tree_write("/broken", bytes, nr_bytes);
	marks = try_broken(finder, "usdt");
	fd = open(path, O_WRONLY);
	for (size_t i = from; i < to && i < nr_bytes; i++) {
		for (size_t k = 0; k < sizeof(values); k++) {
			size_t nr;

			if (pwrite(fd, &values[k], 1, (off_t)i) != 1)
				printf("Bail out! %s\n", strerror(errno)), exit(1);
			nr = try_broken(finder, "usdt");
			nr_fewer += nr < marks;
			nr_more += nr > marks;
		}
		if (pwrite(fd, bytes + i, 1, (off_t)i) != 1)
			printf("Bail out! %s\n", strerror(errno)), exit(1);
	}
	close(fd);
	ok(nr_fewer > 0, "bytes %zu to %zu: %zu changes lose marks", from, to, nr_fewer);
	is_u64(nr_more, 0, "none makes more of them");
	is_u64(try_broken(finder, "usdt"), marks, "made good again, it has them all");
}

/* The first note: its name has 8 bytes. The text alone stands elsewhere, too. */
static const char *note_of_mark(void)
{
	const char *end = bytes + nr_bytes, *at = bytes + 12;
	static const char size_of_name[4] = { 8 };

	while ((at = memmem(at, (size_t)(end - at), "stapsdt", 8))) {
		if (!memcmp(at - 12, size_of_name, 4))
			return at - 12;
		at++;
	}
	return NULL;
}

static void check_broken(struct finder *finder)
{
	const char *note;

	read_self();
	note = note_of_mark();
	check_cut(finder);
	check_changed(finder, 0, sizeof(Elf64_Ehdr));
	if (ok(note, "its notes are there"))
		check_changed(finder, (size_t)(note - bytes), (size_t)(note - bytes) + 136);
	free(bytes);
}

int main(void)
{
	struct finder *finder = finder__new();
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (!mkdtemp(tree) || len < 0)
		return 1;
	self[len] = 0;
	marked_function(3);
	check_functions(finder);
	check_refused(finder);
	check_paths(finder);
	check_usdt(finder);
	is_u64((uint64_t)find_elf__each(self, look_up_symbols, NULL), 0, "symbols of the file");
	check_names(finder);
	check_arguments();
	check_broken(finder);
	forget();
	finder__free(finder);
	tree_remove("");
	return done_testing();
}
