/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbols.c: names as a command asks for them: the kernel's from a made-up list, a process's
 * through the two processes that read them. Do these keep no right they do not need, hold nothing
 * open, and end whatever happens; and does this one go on if they die?
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "symbol/service.h"
#include "symbol/symbols.h"
#include "base/privilege.h"
#include "tap.h"

static char tree[] = "/tmp/iosonar-symbols.XXXXXX";

/* "vfs_read+0x12", "nvme_map_data+0x44 [nvme]", "[libfoo.so]+0x1234", "[exited]". */
static const char *text_of(struct symbol symbol)
{
	static char text[SYMBOL_NAME_MAX + 32];
	size_t len = strlen(symbol.name), stem = len;
	const char *module = len && symbol.name[len - 1] == ']' ? strstr(symbol.name, " [") : NULL;

	if (symbol.how == SYMBOL_FOUND && module)
		stem = (size_t)(module - symbol.name);
	if (symbol.how == SYMBOL_FOUND || symbol.how == SYMBOL_FILE)
		snprintf(text, sizeof(text), "%.*s+0x%" PRIx64 "%s", (int)stem, symbol.name,
			 symbol.offset, symbol.name + stem);
	else
		snprintf(text, sizeof(text), "%s", symbol.name);
	return text;
}

static void has_words(const char *text, const char *words, const char *what)
{
	if (!ok(text && strstr(text, words), "%s", what))
		printf("# got '%s'\n", text ? text : "(null)");
}

/* ---- the kernel ---- */

static void put_kallsyms(const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc", tree);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/proc/kallsyms", tree);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		printf("Bail out! %s: %s\n", path, strerror(errno)), exit(1);
}

static void check_kernel(void)
{
	struct symbols *s = symbols__new(tree);
	struct symbol symbol;

	put_kallsyms("ffff800080010000 T vfs_read\nffff800080010100 D _etext\n"
		     "ffff800079000000 t nvme_map_data\t[nvme]\n");
	symbol = symbols__kernel(s, 0xffff800080010012);
	is_str(symbol.name, "vfs_read", "a function's name, read when it is first asked for");
	is_u64(symbol.offset, 0x12, "how far into it");
	is_str(text_of(symbol), "vfs_read+0x12", "both");
	symbol = symbols__kernel(s, 0xffff800079000044);
	is_str(symbol.name, "nvme_map_data [nvme]", "a module's");
	is_str(text_of(symbol), "nvme_map_data+0x44 [nvme]", "as the kernel prints it");
	is_str(text_of(symbols__kernel(s, 5)), "[kernel]", "nothing lies at 5");
	put_kallsyms("ffff800080010000 T changed\n");
	is_str(text_of(symbols__kernel(s, 0xffff800080010012)), "vfs_read+0x12", "it is read once");
	ok(!symbols__kernel_trouble(s), "without trouble");
	ok(symbol.how == SYMBOL_FOUND, "an answer says that it is known");
	ok(symbols__kernel(s, 5).how == SYMBOL_UNMAPPED, "or that it is not");
	symbols__free(s);
}

static void check_hidden_kernel(void)
{
	struct symbols *s = symbols__new(tree);

	put_kallsyms("0000000000000000 T vfs_read\n");
	ok(!symbols__kernel_trouble(s), "nobody has asked yet");
	ok(symbols__prepare_kernel(s) == -EACCES, "addresses that are hidden are told at once");
	has_words(symbols__kernel_trouble(s), "CAP_SYSLOG", "with the way out");
	is_str(text_of(symbols__kernel(s, 0xffff800080010012)), "[kernel]", "no garbage then");
	ok(symbols__kernel(s, 0xffff800080010012).how == SYMBOL_DENIED, "but a reason");
	symbols__free(s);
	s = symbols__new("/nonexistent");
	ok(symbols__prepare_kernel(s) == -ENOENT, "so is a kernel without a list");
	has_words(symbols__kernel_trouble(s), "CONFIG_KALLSYMS", "with what it lacks");
	symbols__free(s);
}

/* ---- processes ---- */

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

static void check_user(void)
{
	const struct symbols_process self = { (uint32_t)getpid(), 0 };
	struct symbols *s = symbols__new("");
	struct symbol symbol;
	const char *name;

	is_u64((uint64_t)symbols__prepare_user(s), 0, "the reader starts");
	is_u64((uint64_t)symbols__prepare_user(s), 0, "once");
	symbol = symbols__user(s, &self, here());
	is_str(text_of(symbol), "known_function+0x4", "a function of this program");
	name = symbol.name;
	is_str(text_of(symbols__user(s, &self, here() + 4)), "known_function+0x8", "its next line");
	ok(symbols__user(s, &self, here()).name == name &&
		   symbols__user(s, &self, here() + 4).name == name,
	   "a name stays where it is");
	is_str(text_of(symbols__user(s, &self, 4096)), "[unknown]", "nothing lies at 4096");
	ok(symbol.how == SYMBOL_FOUND, "an answer says that it is known");
	ok(symbols__user(s, &self, 4096).how == SYMBOL_UNMAPPED, "or that it is not");
	ok(!symbols__user_trouble(s), "there is no trouble");
	symbols__free(s);
	ok(waitpid(-1, NULL, 0) < 0 && errno == ECHILD, "nobody is left behind");
}

/* Children that are looked at, then end. */
static void check_ended(void)
{
	struct symbols *s = symbols__new("");
	struct symbols_process child = { .image = 1 };
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	child.pid = (uint32_t)pid;
	symbols__see(s, &child);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	has_words(text_of(symbols__user(s, &child, here())), "[symbols.t]+0x",
		  "one that was seen in time: its file, and where in it");
	child.image = 2;
	is_str(text_of(symbols__user(s, &child, here())), "[exited]", "one that was not");
	ok(symbols__user(s, &child, here()).how == SYMBOL_EXITED, "told as that");
	symbols__free(s);
}

/* The same process runs another program: its number for that has changed. */
static void check_exec(void)
{
	struct symbols *s = symbols__new("");
	struct symbols_process child = { .image = 1 };
	int gate[2];
	pid_t pid;
	char c;

	if (pipe(gate))
		return;
	pid = fork();
	if (!pid) {
		close(gate[1]);
		if (read(gate[0], &c, 1) < 0)
			_exit(1);
		execlp("sleep", "sleep", "60", NULL);
		_exit(1);
	}
	child.pid = (uint32_t)pid;
	is_str(text_of(symbols__user(s, &child, here())), "known_function+0x4", "before an exec");
	close(gate[0]);
	close(gate[1]);
	usleep(200000);
	child.image = 2;
	is_str(text_of(symbols__user(s, &child, here())), "[unknown]", "after it nothing is there");
	child.image = 1;
	is_str(text_of(symbols__user(s, &child, here() + 4)), "known_function+0x8",
	       "what came before it keeps its names");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	symbols__free(s);
}

/* ---- the processes behind it ---- */

/* A field of /proc/PID/status, without blanks. */
static const char *status_of(pid_t pid, const char *field)
{
	static char line[256];
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, field, strlen(field)) && line[strlen(field)] == ':') {
			char *value = line + strlen(field) + 1;

			fclose(file);
			value += strspn(value, " \t");
			value[strcspn(value, "\n")] = '\0';
			return value;
		}
	if (file)
		fclose(file);
	return "?";
}

static int count_fds(pid_t pid)
{
	char path[64];
	DIR *dir;
	int nr = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		nr++;
	if (dir)
		closedir(dir);
	return nr - 2; /* the folder itself, and the one above */
}

static bool ask_self(struct symbol_service *service, struct reader_reply *reply)
{
	const struct reader_request request = {
		.what = READER_NAME,
		.process = { (uint32_t)getpid(), 0 },
		.addr = here(),
	};

	return symbol_service__ask(service, &request, reply, sizeof(*reply));
}

/* "2" where there is a list of system calls and no sanitizer, which needs others. */
static const char *filter_mode(void)
{
	struct sock_filter insns[PRIVILEGE_FILTER_MAX];
	size_t nr = privilege__filter(&(struct privilege_needs){ 0 }, insns);

#ifdef TAP_SANITIZED
	nr = 0;
#endif
	return nr ? "2" : "0";
}

/* Not more than SYS_PTRACE (19), DAC_READ_SEARCH (2) and CHECKPOINT_RESTORE (40). */
static void check_rights(void)
{
	const uint64_t most = 1ULL << 19 | 1ULL << 2 | 1ULL << 40;
	struct symbol_service service;
	struct reader_reply reply;

	is_u64((uint64_t)symbol_service__start(&service, ""), 0, "the service starts");
	ok(ask_self(&service, &reply) && !strcmp(reply.name, "known_function"), "and answers");
	is_str(status_of(service.reader, "CapEff"), "0000000000000000", "the reader has no rights");
	is_str(status_of(service.reader, "CapPrm"), "0000000000000000", "and cannot take any");
	is_str(status_of(service.reader, "NoNewPrivs"), "1", "nor gain some");
	is_u64(strtoull(status_of(service.opener, "CapPrm"), NULL, 16) & ~most, 0,
	       "the opener has three at most");
	is_str(status_of(service.opener, "NoNewPrivs"), "1", "and cannot gain more");
	is_str(status_of(service.reader, "Seccomp"), filter_mode(),
	       "the reader's calls are filtered");
	is_str(status_of(service.opener, "Seccomp"), filter_mode(), "and the opener's");
	for (int i = 0; i < 200 && count_fds(service.opener) > 5; i++)
		usleep(10000); /* it closes what it has sent */
	is_u64((uint64_t)count_fds(service.opener), 5,
	       "it holds nothing open but its socket and the lines that it hands out");
	is_u64((uint64_t)count_fds(service.reader), 5, "the reader its two");
	kill(service.reader, SIGINT);
	kill(service.opener, SIGTERM);
	ok(ask_self(&service, &reply), "what is meant for the terminal's group does not end them");
	symbol_service__end(&service);
	ok(waitpid(-1, NULL, 0) < 0 && errno == ECHILD, "they end when nobody asks any more");
}

/* A stripped copy of this program, and its symbols in another place. */
struct stripped {
	int pid; /* of the tree's process that runs it */
	const char *what, *script;
};

static const struct stripped in_debug_file = {
	7,
	"its debug file",
	"id=$(readelf -n full | sed -n 's/.*Build ID: //p'); [ -n \"$id\" ]; "
	"d=usr/lib/debug/.build-id/$(echo $id | cut -c1-2); mkdir -p $d; "
	"objcopy --only-keep-debug full $d/$(echo $id | cut -c3-).debug; "
	"objcopy --strip-all full $prog",
};
static const struct stripped in_debugdata = {
	8,
	"its .gnu_debugdata",
	"objcopy --strip-debug --remove-section=.comment full packed; xz packed; "
	"objcopy --strip-all --remove-section=.note.gnu.build-id "
	"--add-section=.gnu_debugdata=packed.xz full $prog; rm packed.xz",
};

/* False: a tool is missing, or there is no build-id. */
static bool put_stripped(const struct stripped *stripped)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "set -e; exec 2>/dev/null; cd %s; prog=proc/%d/root/prog; mkdir -p "
		 "proc/%d/root; cp /proc/%d/exe full; %s; rm full",
		 tree, stripped->pid, stripped->pid, getpid(), stripped->script);
	return !system(command);
}

/* The mapping of here(), as that process would have it. */
static void put_maps(int pid)
{
	char path[256], line[512];
	unsigned long long start, end, offset;
	FILE *in = fopen("/proc/self/maps", "re"), *out;
	struct stat status;

	snprintf(path, sizeof(path), "%s/proc/%d/root/prog", tree, pid);
	if (stat(path, &status))
		status.st_ino = 0;
	snprintf(path, sizeof(path), "%s/proc/%d/maps", tree, pid);
	out = fopen(path, "we");
	while (in && out && fgets(line, sizeof(line), in))
		if (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &offset) == 3 &&
		    here() >= start && here() < end)
			fprintf(out, "%llx-%llx r-xp %llx 08:01 %llu /prog\n", start, end, offset,
				(unsigned long long)status.st_ino);
	if (in)
		fclose(in);
	if (out)
		fclose(out);
}

/* The reader opens no file: it is handed what it reads, and unpacks under its filter. */
static void check_stripped(const struct stripped *stripped)
{
	const struct reader_request request = {
		.what = READER_NAME,
		.process = { (uint32_t)stripped->pid, 0 },
		.addr = here(),
	};
	struct symbol_service service;
	struct reader_reply reply = { 0 };
	char what[96];

	snprintf(what, sizeof(what), "a stripped program has its names in %s", stripped->what);
	if (!put_stripped(stripped)) {
		ok(true, "%s # SKIP no objcopy, no xz, or no build-id", what);
		return;
	}
	put_maps(stripped->pid);
	symbol_service__start(&service, tree);
	symbol_service__ask(&service, &request, &reply, sizeof(reply));
	is_str(reply.name, "known_function", what);
	symbol_service__end(&service);
}

static void check_killed(void)
{
	struct symbol_service service;
	struct reader_reply reply;

	symbol_service__start(&service, "");
	kill(service.reader, SIGKILL);
	ok(!ask_self(&service, &reply), "a reader that died does not answer");
	ok(!ask_self(&service, &reply), "and is not asked again");
	usleep(100000);
	symbol_service__end(&service);
	symbol_service__start(&service, "");
	kill(service.opener, SIGKILL);
	ok(ask_self(&service, &reply) && reply.how == SYMBOL_NO_READER,
	   "without an opener the reader says so");
	symbol_service__end(&service);
}

static void check_hung(void)
{
	struct symbol_service service;
	struct timespec before, after;
	struct reader_reply reply;
	pid_t reader;

	symbol_service__start(&service, "");
	reader = service.reader;
	service.patience_ms = 300;
	kill(reader, SIGSTOP);
	clock_gettime(CLOCK_MONOTONIC, &before);
	ok(!ask_self(&service, &reply), "a reader that hangs is given up");
	clock_gettime(CLOCK_MONOTONIC, &after);
	ok(after.tv_sec - before.tv_sec < 30, "after some seconds");
	alarm(60); /* one that waits for it would wait for ever */
	symbol_service__end(&service);
	alarm(0);
	ok(!waitpid(reader, NULL, WNOHANG), "and not waited for at the end: it hangs still");
	kill(reader, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static pid_t reader_of(pid_t parent)
{
	char path[64], ppid[16];
	pid_t found = 0;
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	snprintf(ppid, sizeof(ppid), "%d", parent);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%.16s", entry->d_name);
		if (!strcmp(status_of(atoi(path), "PPid"), ppid) &&
		    !strcmp(status_of(atoi(path), "Name"), "iosonar-symbols"))
			found = atoi(path);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void check_trouble(void)
{
	const struct symbols_process self = { (uint32_t)getpid(), 0 };
	struct symbols *s = symbols__new("");

	is_str(symbols__user(s, &self, here()).name, "known_function", "it answers");
	kill(reader_of(getpid()), SIGKILL);
	is_str(text_of(symbols__user(s, &self, here())), "known_function+0x4",
	       "what is known stays");
	is_str(text_of(symbols__user(s, &self, here() + 8)), "[unknown]",
	       "what is new has no name");
	ok(symbols__user(s, &self, here() + 8).how == SYMBOL_NO_READER, "with its reason");
	has_words(symbols__user_trouble(s), "crashed", "which is told");
	symbols__free(s);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

/* Killed without warning: nobody can tell the two, the kernel has to. */
static void check_orphans(void)
{
	struct symbols *s;
	int nr = 0;
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (!pid) {
		s = symbols__new("");
		symbols__prepare_user(s);
		kill(getpid(), SIGKILL);
	}
	while (waitpid(-1, NULL, 0) > 0)
		nr++;
	is_u64((uint64_t)nr, 3, "who is killed takes them with him");
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* As a run does it: prepared, then without any right. */
static void check_after_drop(void)
{
	const struct privilege_needs nothing = { 0 };
	const struct symbols_process parent = { (uint32_t)getpid(), 0 };
	struct symbols *s;
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		s = symbols__new("");
		symbols__prepare_user(s);
		privilege__drop(&nothing);
		_exit(strcmp(text_of(symbols__user(s, &parent, here())), "known_function+0x4") !=
		      0);
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "names are found after rights were dropped");
}

static int drop_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status, (void)type, (void)ftw;
	return remove(path);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (!mkdtemp(tree))
		return 1;
	check_kernel();
	check_hidden_kernel();
	check_user();
	check_ended();
	check_exec();
	check_rights();
	check_stripped(&in_debug_file);
	if (symbols__has_libdw())
		check_stripped(&in_debugdata);
	check_killed();
	check_hung();
	check_trouble();
	check_orphans();
	check_after_drop();
	nftw(tree, drop_one, 16, FTW_DEPTH | FTW_PHYS);
	return done_testing();
}
