/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that creates the parts of a capture: names, permissions, what it refuses, how it
 * ends. Second instruments: stat, and what /proc says about the process. Sanitizers leave the
 * filter of system calls out; build/strict has it, and dies of a call that the filter lacks.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/maker.h"
#include "base/renamer.h"
#include "said.h"
#include "tap.h"

enum { NOBODY = 65534 };

static char folder[] = "/tmp/iosonar-maker.XXXXXX";

/* ---- parts ---- */

static bool begin(struct maker *maker, const struct file_options *options)
{
	*maker = (struct maker){ 0 };
	return !maker__fork(maker, options) && maker->deputy.pid;
}

/* The descriptor is of the file at `path`, which has `mode`. */
static bool is_file(int fd, const char *path, mode_t mode)
{
	struct stat st, there;

	return fd >= 0 && !fstat(fd, &st) && !lstat(path, &there) && st.st_ino == there.st_ino &&
	       S_ISREG(there.st_mode) && (there.st_mode & 0777) == mode;
}

static bool makes(const struct maker *maker, unsigned int part, const char *path, mode_t mode)
{
	int fd = maker__open(maker, part);
	bool is = is_file(fd, path, mode);

	if (fd >= 0)
		close(fd);
	return is;
}

static void refuses(const struct maker *maker, unsigned int part, const char *line,
		    const char *what)
{
	char want[256];
	int fd;

	snprintf(want, sizeof(want), "iosonar: cannot create '%s\n", line);
	hear();
	fd = maker__open(maker, part);
	is_str(heard(), want, what);
	ok(fd < 0, "%s: no descriptor", what);
}

static void test_parts(void)
{
	const struct file_options options = { .write = "parts.cap" };
	struct maker maker;
	int fd;

	ok(begin(&maker, &options), "a process creates parts");
	ok(makes(&maker, 0, "parts.cap", 0600), "FILE, for its owner alone");
	ok(makes(&maker, 1, "parts.cap.1", 0600), "FILE.1");
	ok(makes(&maker, 4000000000U, "parts.cap.4000000000", 0600), "FILE.4000000000");
	fd = maker__open(&maker, 2);
	ok(write(fd, "bytes", 5) == 5 && (fcntl(fd, F_GETFD) & FD_CLOEXEC),
	   "a part can be written, and no COMMAND inherits it");
	close(fd);
	fd = maker__open(&maker, 2);
	is_u64((uint64_t)lseek(fd, 0, SEEK_END), 5, "one that is there is opened as it is");
	close(fd);
	deputy__end(&maker.deputy);
	ok(!maker.deputy.pid, "it ends");
	deputy__end(&maker.deputy);
}

static void test_turn(void)
{
	const struct file_options options = {
		.write = "turn.cap",
		.mode = "0664",
		.files = { .value = 2, .given = true },
	};
	struct maker maker;

	ok(begin(&maker, &options), "--files 2");
	ok(makes(&maker, 3, "turn.cap.1", 0664), "part 3 is FILE.1, with --mode");
	chmod("turn.cap.1", 0600);
	ok(makes(&maker, 5, "turn.cap.1", 0664), "so is part 5, which has --mode again");
	ok(makes(&maker, 4, "turn.cap", 0664), "part 4 is FILE");
	deputy__end(&maker.deputy);
}

/* ---- places ---- */

static void test_links(void)
{
	const struct file_options options = { .write = "links/link.cap" };
	struct maker maker;

	mkdir("links", 0700);
	mkdir("target", 0700);
	if (symlink("../target/real.cap", "links/link.cap") ||
	    symlink("../target/other.cap", "links/link.cap.1"))
		printf("Bail out! symlink: %s\n", strerror(errno)), exit(1);
	ok(begin(&maker, &options), "FILE is a link");
	ok(makes(&maker, 0, "target/real.cap", 0600), "FILE is where the link leads");
	refuses(&maker, 1, "links/link.cap.1': Too many levels of symbolic links",
		"a part that is a link is refused");
	ok(access("target/other.cap", F_OK), "and nothing is created where it leads");
	ok(makes(&maker, 2, "links/link.cap.2", 0600), "parts are beside the link");
	deputy__end(&maker.deputy);
}

static void test_moved(void)
{
	const struct file_options options = { .write = "moved/x.cap" };
	struct maker maker;

	mkdir("moved", 0700);
	mkdir("elsewhere", 0700);
	ok(begin(&maker, &options), "a directory");
	if (rename("moved", "away") || symlink("elsewhere", "moved"))
		printf("Bail out! rename: %s\n", strerror(errno)), exit(1);
	ok(makes(&maker, 1, "away/x.cap.1", 0600), "that was moved is the same directory");
	ok(access("elsewhere/x.cap.1", F_OK), "a link in its place is not followed");
	unlink("away/x.cap.1");
	rmdir("away");
	refuses(&maker, 1, "moved/x.cap.1': No such file or directory",
		"one that was removed is told in one line");
	deputy__end(&maker.deputy);
}

static void test_missing(void)
{
	const struct file_options options = { .write = "none/x.cap" };
	struct maker maker;
	bool began;

	hear();
	began = begin(&maker, &options);
	is_str(heard(), "iosonar: cannot create 'none/x.cap': No such file or directory\n",
	       "a directory that is missing is told in one line");
	ok(!began && !maker.deputy.pid, "and there is no process");
}

static void test_shared(void)
{
	const struct file_options options = { .write = "shared/x.cap" };
	struct maker maker;

	mkdir("shared", 0700);
	chmod("shared", 01777);
	close(open("shared/x.cap.1", O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
	ok(begin(&maker, &options), "a shared directory");
	ok(makes(&maker, 1, "shared/x.cap.1", 0600), "a file of ours is replaced");
	if (geteuid() || chown("shared/x.cap.1", NOBODY, NOBODY))
		ok(true, "a file of another user is refused # SKIP needs root");
	else
		refuses(&maker, 1, "shared/x.cap.1': Permission denied",
			"a file of another user is refused");
	deputy__end(&maker.deputy);
}

/* As sudo does; the run itself has no capability by then. */
static void test_other_user(void)
{
	const struct file_options options = { .write = "theirs/x.cap" };
	struct maker maker;

	mkdir("theirs", 0700);
	if (geteuid() || chown("theirs", NOBODY, NOBODY)) {
		ok(true, "a directory of another user # SKIP needs root");
		return;
	}
	ok(begin(&maker, &options), "a directory of another user");
	ok(makes(&maker, 1, "theirs/x.cap.1", 0600), "a part is created there");
	deputy__end(&maker.deputy);
}

/* ---- the process ---- */

static uint64_t state_of(pid_t pid, const char *key)
{
	char path[64], line[256];
	uint64_t value = UINT64_MAX;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			value = strtoull(line + strlen(key) + 1, NULL, 16);
	if (file)
		fclose(file);
	return value;
}

static size_t nr_open(pid_t pid)
{
	char path[64];
	size_t nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		nr += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return nr;
}

/* A part is closed a moment after it was handed on. */
static size_t nr_left_open(pid_t pid)
{
	for (int i = 0; i < 500 && nr_open(pid) > 3; i++)
		usleep(10000);
	return nr_open(pid);
}

static void test_process(void)
{
	const uint64_t files =
		CAP_TO_MASK(CAP_DAC_OVERRIDE) | CAP_TO_MASK(CAP_FOWNER) | CAP_TO_MASK(CAP_FSETID);
	const struct file_options options = { .write = "process.cap" };
	struct maker maker;
	pid_t pid;

	ok(begin(&maker, &options) && makes(&maker, 1, "process.cap.1", 0600), "a process");
	pid = maker.deputy.pid;
	is_u64(state_of(pid, "CapPrm"), state_of(getpid(), "CapPrm") & files,
	       "it keeps the capabilities that concern files");
	is_u64(state_of(pid, "NoNewPrivs"), 1, "and gains none");
#ifndef TAP_SANITIZED
	is_u64(state_of(pid, "Seccomp"), 2, "its system calls are filtered");
#endif
	is_u64(nr_left_open(pid), 3, "two directories and a socket are open, and nothing else");
	ok(!kill(pid, SIGTERM) && makes(&maker, 2, "process.cap.2", 0600),
	   "signals are not for it");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	refuses(&maker, 3, "process.cap.3': the process that creates the files of -w has ended",
		"one that is gone is told in one line");
	deputy__end(&maker.deputy);
}

/* Each was forked with what was open: neither waits for the other. */
static void test_neighbours(void)
{
	const struct file_options options = { .write = "neighbour.cap" };
	struct renamer renamer = { .from = "neighbour.partial", .to = "neighbour" };
	struct maker maker;

	ok(!renamer__fork(&renamer) && begin(&maker, &options), "a renamer and a maker");
	deputy__end(&renamer.deputy);
	ok(makes(&maker, 1, "neighbour.cap.1", 0600), "the renamer ends while the maker works");
	deputy__end(&maker.deputy);
}

/* It ends with its parent: the pipe that both have closes. */
static void test_orphan(void)
{
	const struct file_options options = { .write = "orphan.cap" };
	struct maker maker;
	pid_t parent, pid = 0;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		printf("Bail out! pipe2: %s\n", strerror(errno)), exit(1);
	parent = fork();
	if (!parent) {
		bool began = begin(&maker, &options);

		_exit(!began || write(ends[1], &maker.deputy.pid, sizeof(pid)) != sizeof(pid));
	}
	close(ends[1]);
	ok(read(ends[0], &pid, sizeof(pid)) == sizeof(pid) && pid > 0, "a parent that ends");
	waitpid(parent, NULL, 0);
	for (int i = 0; i < 500 && !kill(pid, 0); i++)
		usleep(10000);
	ok(kill(pid, 0) && errno == ESRCH, "its process ends, too");
	close(ends[0]);
}

int main(void)
{
	char command[64];

	signal(SIGPIPE, SIG_IGN); /* as main does */
	if (!mkdtemp(folder) || chdir(folder))
		printf("Bail out! %s: %s\n", folder, strerror(errno)), exit(1);
	test_parts();
	test_turn();
	test_links();
	test_moved();
	test_missing();
	test_shared();
	test_other_user();
	test_process();
	test_neighbours();
	test_orphan();
	snprintf(command, sizeof(command), "rm -r %s", folder);
	ok(!system(command), "all of it is removed");
	return done_testing();
}
