/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbol_reader.c: is an address in a process named after what the process runs there? Asked about
 * this process, about one that ends, and about processes made of plain files whose root is a folder
 * with links that would lead out of it. Opener and reader run in this process, under its
 * sanitizers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "symbol/process_maps.h"
#include "symbol/reader.h"
#include "tap.h"

static char tree[] = "/tmp/iosonar-reader.XXXXXX";

static int open_here(void *opener, const struct opener_request *request)
{
	return symbol_opener__open(opener, request);
}

static const char *how_words(enum symbol_how how)
{
	static const char *const words[NR_SYMBOL_HOW] = {
		[SYMBOL_FOUND] = "named",
		[SYMBOL_FILE] = "file without symbols",
		[SYMBOL_ANON] = "memory without a file",
		[SYMBOL_UNMAPPED] = "nothing mapped there",
		[SYMBOL_EXITED] = "process had ended",
		[SYMBOL_DENIED] = "not permitted",
		[SYMBOL_NO_READER] = "no reader of symbols",
		[SYMBOL_NO_ROOM] = "no memory",
	};

	return (unsigned int)how < NR_SYMBOL_HOW ? words[how] : "?";
}

/* "name+offset how" */
static const char *asked(struct symbol_reader *r, uint32_t pid, uint64_t image, uint64_t addr)
{
	static char text[SYMBOL_NAME_MAX + 64];
	const struct reader_request request = {
		.what = READER_NAME,
		.process = { pid, image },
		.addr = addr,
	};
	struct reader_reply reply;

	symbol_reader__answer(r, &request, &reply);
	snprintf(text, sizeof(text), "%s+%#" PRIx64 " %s", reply.name, reply.offset,
		 how_words(reply.how));
	return text;
}

/* Longer than an instruction, and called: the compiler must not make it part of others. */
static __attribute__((noinline)) int known_function(volatile int *n)
{
	for (int i = 0; i < 10; i++)
		*n += i;
	return *n;
}

static uint64_t here(void)
{
	static volatile int calls;

	known_function(&calls);
	return (uint64_t)(uintptr_t)known_function + 4;
}

#define LONG_PART "200" LONG_50 LONG_50 LONG_50 LONG_50
#define LONG_50	  "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee"
int of_cpp(volatile int *n) asm("_ZN5outer" LONG_PART "5innerEPVi");

__attribute__((noinline)) int of_cpp(volatile int *n)
{
	for (int i = 0; i < 10; i++)
		*n -= i;
	return *n;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* ---- this process ---- */

static void check_self(struct symbol_reader *r)
{
	uint32_t pid = (uint32_t)getpid();
	void *jit = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	is_str(asked(r, pid, 0, here()), "known_function+0x4 named",
	       "a static function of its own");
	is_str(asked(r, pid, 0, (uint64_t)(uintptr_t)getppid), "getppid+0 named", "one of libc");
	if (symbols__has_demangler())
		is_str(asked(r, pid, 0, (uint64_t)(uintptr_t)of_cpp),
		       "outer::" LONG_50 LONG_50 LONG_50 LONG_50 "::inner+0 named",
		       "one of C++, demangled");
	else
		ok(true, "one of C++, demangled # SKIP no libiberty");
	is_str(asked(r, pid, 0, 4096), "[unknown]+0 nothing mapped there", "nothing at 4096");
	is_str(asked(r, pid, 0, UINT64_MAX), "[unknown]+0 nothing mapped there", "nor at the end");
	is_str(asked(r, pid, 0, (uint64_t)(uintptr_t)&jit), "[unknown]+0 nothing mapped there",
	       "a stack is not executed");
	is_str(asked(r, pid, 1, (uint64_t)(uintptr_t)jit + 8), "[anon]+0x8 memory without a file",
	       "memory that a compiler filled");
	munmap(jit, 4096);
}

static char *copy_self(const char *name)
{
	char *path = NULL, command[512];

	if (asprintf(&path, "%s%s", tree, name) < 0 ||
	    snprintf(command, sizeof(command), "cp /proc/%d/exe '%s'", getpid(), path) < 0 ||
	    system(command))
		printf("Bail out! cannot copy\n"), exit(1);
	return path;
}

/* The mapping that holds known_function. */
static struct process_map own_map(struct process_maps *maps)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (process_maps__read(maps, fd) || !process_maps__find(maps, here()))
		printf("Bail out! not mapped\n"), exit(1);
	close(fd);
	return *process_maps__find(maps, here());
}

/* Maps the file right after the reader has looked at this process, and asks: the reader looks again
 * after a tenth of a second, so on a machine that took longer than that the answer means nothing,
 * and all is done once more. */
static char *map_later(struct symbol_reader *r, int fd, const struct process_map *map,
		       const char **name)
{
	size_t len = map->end - map->start;
	uint32_t pid = (uint32_t)getpid();
	char *late = NULL;

	for (int tries = 0; tries < 50; tries++) {
		struct timespec from, to;

		if (late)
			munmap(late, len);
		usleep(110000);
		clock_gettime(CLOCK_MONOTONIC, &from);
		asked(r, pid, 0, 1); /* nothing is mapped there: it looks */
		late = mmap(NULL, len, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)map->offset);
		*name = asked(r, pid, 0, (uint64_t)(uintptr_t)late + (here() - map->start));
		clock_gettime(CLOCK_MONOTONIC, &to);
		if ((to.tv_sec - from.tv_sec) * 1000000000LL + to.tv_nsec - from.tv_nsec <
		    100000000)
			break;
		printf("# more than a tenth of a second passed between mapping and asking\n");
	}
	return late;
}

/* Mapped after this process was looked at; then deleted. */
static void check_later(struct symbol_reader *r)
{
	uint32_t pid = (uint32_t)getpid();
	struct process_maps maps;
	struct process_map map = own_map(&maps);
	char *path = copy_self("/later");
	const char *name;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = map.end - map.start;
	char *late = map_later(r, fd, &map, &name);
	uint64_t addr = (uint64_t)(uintptr_t)late + (here() - map.start);

	is_str(name, "[unknown]+0 nothing mapped there",
	       "what is mapped later is not seen at once");
	usleep(110000);
	is_str(asked(r, pid, 0, addr), "known_function+0x4 named", "but a tenth of a second later");
	unlink(path);
	is_str(asked(r, pid, 0, addr), "known_function+0x4 named", "and kept when it is deleted");
	ok(begins(asked(r, pid, 77, addr), "[later]+0x") &&
		   strstr(asked(r, pid, 77, addr), "file without symbols"),
	   "by path, a deleted file is only named");
	munmap(late, len);
	close(fd);
	free(path);
	process_maps__free(&maps);
}

static void check_by_link(void)
{
	struct symbol_opener opener = { .root = "", .by_link = true };
	struct symbol_reader *r = symbol_reader__new(open_here, &opener);
	uint32_t pid = (uint32_t)getpid();
	struct process_maps maps;
	struct process_map map = own_map(&maps);
	char *path = copy_self("/gone");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = map.end - map.start;
	char *gone = mmap(NULL, len, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)map.offset);
	const char *name;

	unlink(path);
	name = asked(r, pid, 0, (uint64_t)(uintptr_t)gone + (here() - map.start));
	if (begins(name, "[gone]+"))
		ok(true, "a deleted file # SKIP needs CAP_CHECKPOINT_RESTORE");
	else
		is_str(name, "known_function+0x4 named", "by its mapping, a deleted file is read");
	munmap(gone, len);
	close(fd);
	free(path);
	process_maps__free(&maps);
	symbol_reader__free(r);
}

/* ---- processes that end ---- */

static pid_t start_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		for (;;)
			pause();
	}
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void check_exited(struct symbol_reader *r)
{
	pid_t pid = start_child();

	kill(pid, SIGKILL);
	usleep(50000);
	is_str(asked(r, (uint32_t)pid, 0, here()), "[exited]+0 process had ended", "a zombie");
	waitpid(pid, NULL, 0);
	is_str(asked(r, (uint32_t)pid, 1, here()), "[exited]+0 process had ended", "and after it");
	is_str(asked(r, 0, 0, here()), "[exited]+0 process had ended",
	       "no process has the number 0");
}

static void check_seen(struct symbol_reader *r)
{
	pid_t pid = start_child(), asked_pid = start_child();
	const struct reader_request see = { .what = READER_SEE, .process = { (uint32_t)pid, 0 } };
	struct reader_reply reply;

	symbol_reader__answer(r, &see, &reply);
	is_u64(reply.how, SYMBOL_FOUND, "a process is looked at");
	is_str(asked(r, (uint32_t)asked_pid, 0, here()), "known_function+0x4 named",
	       "one is asked");
	end_child(pid);
	end_child(asked_pid);
	ok(begins(asked(r, (uint32_t)pid, 0, here()), "[symbol_reader."),
	   "the one that was seen still tells which file it ran");
	is_str(asked(r, (uint32_t)asked_pid, 0, here()), "known_function+0x4 named",
	       "the one that was asked what function");
}

/* ---- processes made of files ---- */

__attribute__((format(printf, 2, 3))) static void put(const char *text, const char *fmt, ...)
{
	char path[256], full[512], *slash;
	va_list args;
	FILE *file;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	snprintf(full, sizeof(full), "%s%s", tree, path);
	for (slash = full + strlen(tree); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(full, 0777);
		*slash = '/';
	}
	file = fopen(full, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		printf("Bail out! %s: %s\n", full, strerror(errno)), exit(1);
}

static uint64_t inode_of(const char *path)
{
	char full[512];
	struct stat status;

	snprintf(full, sizeof(full), "%s%s", tree, path);
	return lstat(full, &status) ? 0 : status.st_ino;
}

/* A process that has this file mapped as we have ours, at 0x10000000. */
static void put_process(uint32_t pid, const char *path, uint64_t inode)
{
	struct process_maps maps;
	struct process_map map = own_map(&maps);
	char text[512];

	snprintf(text, sizeof(text),
		 "10000000-%" PRIx64 " r-xp %08" PRIx64 " fd:01 %" PRIu64 "    %s\n"
		 "7ff000000000-7ff000001000 r-xp 00000000 00:00 0      [vdso]\n",
		 0x10000000 + map.end - map.start, map.offset, inode, path);
	put(text, "/proc/%u/maps", pid);
	put("", "/proc/%u/root/etc/hostname", pid);
	process_maps__free(&maps);
}

static uint64_t there(void)
{
	struct process_maps maps;
	uint64_t offset = here() - own_map(&maps).start;

	process_maps__free(&maps);
	return 0x10000000 + offset;
}

static void link_in(const char *name, const char *target)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", tree, name);
	unlink(full);
	if (symlink(target, full))
		printf("Bail out! %s: %s\n", full, strerror(errno)), exit(1);
}

static void check_container(struct symbol_reader *r)
{
	put_process(41, "/bin/prog", 0);
	put("", "/proc/41/root/bin/x");
	free(copy_self("/proc/41/root/bin/prog"));
	put_process(41, "/bin/prog", inode_of("/proc/41/root/bin/prog"));
	is_str(asked(r, 41, 0, there()), "known_function+0x4 named",
	       "a file in a process's own root");
	is_str(asked(r, 41, 0, 0x7ff000000123), "[vdso]+0x123 file without symbols",
	       "what the kernel maps keeps its name");
	link_in("/proc/41/root/lib", "/bin");
	put_process(41, "/lib/prog", inode_of("/proc/41/root/bin/prog"));
	is_str(asked(r, 41, 1, there()), "known_function+0x4 named",
	       "an absolute link leads to where it leads there");
	put_process(41, "/bin/prog", inode_of("/proc/41/root/bin/prog") + 1);
	ok(begins(asked(r, 41, 2, there()), "[prog]+0x"), "another file of that name is not taken");
	put_process(41, "/bin/prog (deleted)", inode_of("/proc/41/root/bin/prog"));
	ok(begins(asked(r, 41, 3, there()), "[prog]+0x"), "nor one that took its place");
}

/* ---- code that a process compiled itself ---- */

static void check_compiled(struct symbol_reader *r)
{
	put("10000000-10002000 r-xp 00000000 00:00 0 \n"
	    "20000000-20002000 r-xp 00000000 00:01 5      /memfd:code (deleted)\n"
	    "30000000-30002000 r-xp 00000000 00:00 0      [anon:code]\n",
	    "/proc/46/maps");
	put("Name:\tx\nNSpid:\t46\t12\t7\n", "/proc/46/status");
	put("10000000 1000 outside\n", "/proc/46/root/tmp/perf-46.map");
	is_str(asked(r, 46, 0, 0x10000004), "[anon]+0x4 memory without a file",
	       "code without a perf map");
	put("10000000 10 first\n10000100 0x40 LazyCompile:~read /srv/app.js:10\r\n"
	    "10000000 20 last\n\n-1 5 minus\n 10000200 10 indented\nzz 1 letters\n"
	    "10000300 10\n10000400 10 \n1000040000000000000 10 long\n20000000 10 two words\n"
	    "30000000 10 three\n10000500 100 end",
	    "/proc/46/root/tmp/perf-7.map");
	is_str(asked(r, 46, 0, 0x10000004), "[anon]+0x4 memory without a file",
	       "it is not looked for again at once");
	usleep(110000);
	is_str(asked(r, 46, 0, 0x10000004), "last+0x4 named", "the last line of an address");
	is_str(asked(r, 46, 0, 0x1000001f), "last+0x1f named", "with its size");
	is_str(asked(r, 46, 0, 0x10000020), "[anon]+0x20 memory without a file", "and not beyond");
	is_str(asked(r, 46, 0, 0x10000110), "LazyCompile:~read /srv/app.js:10+0x10 named",
	       "a name with spaces");
	is_str(asked(r, 46, 0, 0x10000204), "[anon]+0x204 memory without a file",
	       "a line that is none");
	is_str(asked(r, 46, 0, 0x10000304), "[anon]+0x304 memory without a file", "without a name");
	is_str(asked(r, 46, 0, 0x10000500), "end+0 named", "a last line without an end");
	is_str(asked(r, 46, 0, 0x20000001), "two words+0x1 named", "in a file in memory");
	is_str(asked(r, 46, 0, 0x30000001), "three+0x1 named", "in memory that has a name");
	put("10001000 10 later\n", "/proc/46/root/tmp/perf-7.map");
	usleep(110000);
	is_str(asked(r, 46, 0, 0x10001001), "later+0x1 named", "compiled later");
}

/* A link, another user's file, a folder. */
static void check_foreign_perf_map(struct symbol_reader *r)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/proc/46/root/tmp/perf-7.map", tree);
	put("10000000 10 linked\n", "/proc/46/root/tmp/other");
	link_in("/proc/46/root/tmp/perf-7.map", "other");
	is_str(asked(r, 46, 1, 0x10000004), "[anon]+0x4 memory without a file",
	       "a link is not followed");
	unlink(path);
	mkdir(path, 0700);
	is_str(asked(r, 46, 2, 0x10000004), "[anon]+0x4 memory without a file", "nor a folder");
	rmdir(path);
	put("10000000 10 foreign\n", "/proc/46/root/tmp/perf-7.map");
	is_str(asked(r, 46, 3, 0x10000004), "foreign+0x4 named", "a file of the same user");
	if (chown(path, 12345, 12345))
		ok(true, "one of another user # SKIP needs root");
	else
		is_str(asked(r, 46, 4, 0x10000004), "[anon]+0x4 memory without a file",
		       "one of another user");
}

/* Links out of the root, a pipe that would wait for a writer, a folder, a device. */
static void check_traps(struct symbol_reader *r)
{
	char pipe_path[512];

	put_process(42, "/bin/prog", 0);
	free(copy_self("/outside"));
	link_in("/proc/42/root/escape", "../../../outside");
	put_process(42, "/escape", inode_of("/outside"));
	ok(begins(asked(r, 42, 0, there()), "[escape]+0x"), "a link does not lead out of a root");
	put_process(42, "/../../../outside", inode_of("/outside"));
	ok(begins(asked(r, 42, 1, there()), "[outside]+0x"), "nor do dots");
	snprintf(pipe_path, sizeof(pipe_path), "%s/proc/42/root/pipe", tree);
	mkfifo(pipe_path, 0600);
	put_process(42, "/pipe", inode_of("/proc/42/root/pipe"));
	ok(begins(asked(r, 42, 2, there()), "[pipe]+0x"), "a pipe is not waited for");
	put_process(42, "/etc", inode_of("/proc/42/root/etc"));
	ok(begins(asked(r, 42, 3, there()), "[etc]+0x"), "a folder is no file");
	put_process(42, "/etc/hostname", inode_of("/proc/42/root/etc/hostname"));
	ok(begins(asked(r, 42, 4, there()), "[hostname]+0x"), "an empty file has no functions");
}

static void check_hostile_maps(struct symbol_reader *r)
{
	static char text[70000], name[5000];

	memset(name, 'x', sizeof(name) - 1);
	snprintf(text, sizeof(text),
		 "garbage\n\n-\n1-2\n1000-2000 r-xp\n"
		 "2000-1000 r-xp 00000000 00:00 1 /backwards\n"
		 "3000-4000 rwxp 00000100 00:00 9 /%s\n"
		 "3500-5000 r-xp 00000000 00:00 1 /overlaps\n"
		 "6000-7000 r--p 00000000 00:00 1 /data\n"
		 "8000-9000 r-xp 00000000 00:00 0 [anon: a\tname]\n"
		 "a000-b000 r-xp 00000000 00:00 3 /a (deleted) (deleted)\n"
		 "c000-d000 r-xp 00000000 00:00 3 /ends/with/\n"
		 "ffffffffffffffffff-fffffffffffffffffff r-xp 0 0:0 0\n"
		 "e000-f000 r-xp ffffffffffffffff ff:ff 18446744073709551615 /last",
		 name);
	put(text, "/proc/43/maps");
	ok(begins(asked(r, 43, 0, 0x3010), "[xxx"), "a long name");
	is_u64(strlen(asked(r, 43, 0, 0x3010)),
	       SYMBOL_NAME_MAX + strlen("+0x110 file without symbols"), "is cut");
	is_str(asked(r, 43, 0, 0x4800), "[unknown]+0 nothing mapped there",
	       "overlaps are left out");
	is_str(asked(r, 43, 0, 0x6100), "[unknown]+0 nothing mapped there", "data is not executed");
	is_str(asked(r, 43, 0, 0x1500), "[unknown]+0 nothing mapped there",
	       "half a line is nothing");
	is_str(asked(r, 43, 0, 0x8010), "[anon: a\tname]+0x10 file without symbols",
	       "a given name");
	is_str(asked(r, 43, 0, 0xa010), "[a (deleted)]+0x10 file without symbols", "deleted, once");
	is_str(asked(r, 43, 0, 0xc010), "[]+0x10 file without symbols", "no name at all");
	is_str(asked(r, 43, 0, 0xe010), "[last]+0xf file without symbols", "the last line");
	put("", "/proc/44/maps");
	is_str(asked(r, 44, 0, 0x1000), "[exited]+0 process had ended", "no mapping at all");
}

/* A text is cut at every byte: whatever is left of it is a list or none. */
static void check_cut_maps(struct symbol_reader *r)
{
	static const char text[] = "10000000-10001000 r-xp 00001000 fd:01 1234    /bin/a name\n";
	char part[sizeof(text)];
	uint64_t named = 0;

	for (size_t nr = 0; nr < sizeof(text); nr++) {
		snprintf(part, nr + 1, "%s", text);
		put(part, "/proc/45/maps");
		named += begins(asked(r, 45, nr + 1, 0x10000100), "[a name]+0x1100");
	}
	is_u64(named, 2, "a line is whole with its last letter, and with its end");
}

static void check_denied(void)
{
	struct symbol_opener opener = { .root = "" };
	struct symbol_reader *r;
	pid_t pid;
	int status;

	if (geteuid()) {
		ok(true, "a process that may not be looked at # SKIP needs root");
		return;
	}
	pid = fork();
	if (!pid) {
		if (setuid(65534))
			_exit(2);
		r = symbol_reader__new(open_here, &opener);
		_exit(strcmp(asked(r, 1, 0, here()), "[unknown]+0 not permitted") ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "a process that may not be looked at");
}

/* More processes than are kept. */
static void check_many(struct symbol_reader *r)
{
	uint64_t wrong = 0;

	for (uint64_t image = 100; image < 2600; image++)
		wrong += strcmp(asked(r, 41, image, 0x7ff000000123),
				"[vdso]+0x123 file without symbols") != 0;
	is_u64(wrong, 0, "2,500 processes");
	is_str(asked(r, 41, 100, 0x7ff000000124), "[vdso]+0x124 file without symbols",
	       "those that were forgotten are looked at again");
}

static int drop_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status, (void)type, (void)ftw;
	return remove(path);
}

int main(void)
{
	struct symbol_opener real = { .root = "" }, made = { .root = tree };
	struct symbol_reader *r = symbol_reader__new(open_here, &real);
	struct symbol_reader *m;

	if (!r || !mkdtemp(tree))
		return 1;
	m = symbol_reader__new(open_here, &made);
	check_self(r);
	check_later(r);
	check_by_link();
	check_exited(r);
	check_seen(r);
	check_denied();
	check_container(m);
	check_compiled(m);
	check_foreign_perf_map(m);
	check_traps(m);
	check_hostile_maps(m);
	check_cut_maps(m);
	check_many(m);
	symbol_reader__free(r);
	symbol_reader__free(m);
	symbol_reader__free(NULL);
	nftw(tree, drop_one, 16, FTW_DEPTH | FTW_PHYS);
	return done_testing();
}
