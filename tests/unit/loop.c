/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers, descriptors, signals and the child, each ending the loop in its own way; nothing of it
 * may stay behind: no descriptor, no child, no changed signal.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/loop.h"
#include "tap.h"

#define MS 1000000ULL

struct counter {
	struct loop *loop;
	int nr, stop_at, result;
	int fd;
};

static int said_fd;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static const char *hear(void)
{
	static char said[1024];
	ssize_t len = pread(said_fd, said, sizeof(said) - 1, 0);

	said[len < 0 ? 0 : len] = 0;
	if (ftruncate(said_fd, 0))
		said[0] = 0;
	lseek(said_fd, 0, SEEK_SET);
	return said;
}

static int on_count(void *arg)
{
	struct counter *counter = arg;

	if (++counter->nr == counter->stop_at)
		loop__stop(counter->loop);
	return counter->result;
}

static int on_stop(void *arg)
{
	loop__stop(arg);
	return 0;
}

static int on_byte(void *arg)
{
	struct counter *counter = arg;
	char byte;

	return read(counter->fd, &byte, 1) == 1 ? on_count(counter) : -EIO;
}

static int on_sleep(void *arg)
{
	struct timespec ms55 = { .tv_nsec = 55 * (long)MS };
	struct counter *counter = arg;

	if (!counter->nr)
		nanosleep(&ms55, NULL);
	return on_count(counter);
}

static int on_raise(void *arg)
{
	kill(getpid(), *(int *)arg);
	return 0;
}

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int nr = 0;

	while (dir && readdir(dir))
		nr++;
	if (dir)
		closedir(dir);
	return nr;
}

static void test_timers(void)
{
	struct loop *loop = loop__new();
	struct counter every = { .loop = loop, .stop_at = 5 }, never = { .loop = loop };
	uint64_t start = now_ns(), took;

	ok(!loop__every(loop, 10 * MS, on_count, &every), "a timer");
	ok(!loop__after(loop, 5000 * MS, on_count, &never), "and a late one");
	ok(!loop__run(loop), "the loop runs until loop__stop");
	took = now_ns() - start;
	ok(every.nr == 5 && !never.nr, "five ticks, no late one");
	ok(took >= 50 * MS && took < 2000 * MS, "in 50 ms (%" PRIu64 " us)", took / 1000);
	loop__free(loop);
}

static uint64_t grid_run_ns(void)
{
	struct loop *loop = loop__new();
	struct counter every = { .loop = loop, .stop_at = 4 };
	uint64_t start = now_ns();

	loop__every(loop, 20 * MS, on_sleep, &every);
	loop__run(loop);
	loop__free(loop);
	return now_ns() - start;
}

/*
 * A slow callback must not shift the grid: ticks at 20, (75 for 40 and 60), 80, 100 ms. Counted
 * from the callback's end the fourth could not come before 135; a busy machine gets five tries.
 */
static void test_grid(void)
{
	uint64_t took_ns = grid_run_ns();

	for (int i = 0; i < 4 && took_ns >= 130 * MS; i++)
		took_ns = grid_run_ns();
	ok(took_ns >= 100 * MS && took_ns < 130 * MS, "ticks stay on the grid (%" PRIu64 " us)",
	   took_ns / 1000);
}

static void test_after(void)
{
	struct loop *loop = loop__new();
	struct counter once = { .loop = loop };

	loop__after(loop, 0, on_count, &once);
	loop__after(loop, 30 * MS, on_stop, loop);
	ok(!loop__run(loop) && once.nr == 1, "a timer of 0 comes at once, and once");
	once.result = -EXDEV;
	loop__after(loop, 1, on_count, &once);
	ok(loop__run(loop) == -EXDEV, "a callback's error is the loop's; it can run again");
	ok(loop__every(loop, 0, on_count, &once) == -EINVAL, "every 0 ns is refused");
	hear();
	loop__free(loop);
}

static void test_fd(void)
{
	struct loop *loop = loop__new();
	struct counter bytes = { .loop = loop, .stop_at = 7 };
	int ends[2], file = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (pipe(ends))
		return;
	bytes.fd = ends[0];
	ok(!loop__add_fd(loop, ends[0], on_byte, &bytes), "a pipe");
	ok(write(ends[1], "1234567", 7) == 7 && !loop__run(loop) && bytes.nr == 7, "seven bytes");
	close(ends[1]);
	ok(loop__run(loop) == -EIO, "the end of a pipe wakes too");
	ok(loop__add_fd(loop, file, on_byte, &bytes) == -EPERM, "a file cannot be waited for");
	is_str(hear(), "iosonar: cannot wait for events: Operation not permitted\n", "  said once");
	loop__free(loop);
	ok(fcntl(ends[0], F_GETFD) >= 0, "the caller's descriptor stays open");
	close(ends[0]);
	close(file);
}

static void test_signal(int number)
{
	struct loop *loop = loop__new();
	sigset_t mask;

	loop__after(loop, 1, on_raise, &number);
	loop__after(loop, 5000 * MS, on_stop, loop);
	ok(!loop__run(loop), "signal %d ends the loop without an error", number);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	ok(!sigismember(&mask, number), "and is unblocked then");
	loop__free(loop);
}

/* Sent before the loop runs, while probes are being attached, it must not be lost. */
static void test_early_signal(void)
{
	struct loop *loop = loop__new();
	uint64_t start = now_ns();

	loop__after(loop, 5000 * MS, on_stop, loop);
	kill(getpid(), SIGINT);
	kill(getpid(), SIGTERM);
	ok(!loop__run(loop) && now_ns() - start < 2000 * MS, "early signals end it, none kills");
	loop__free(loop);
}

/* How a process ends that Ctrl-C ends, and that another one hits some time later. */
static int end_of_twice(int ms)
{
	int number = SIGINT, status = 0;
	pid_t pid = fork();

	if (!pid) {
		struct loop *loop = loop__new();

		loop__after(loop, 1, on_raise, &number);
		loop__run(loop);
		poll(NULL, 0, ms);
		raise(SIGINT);
		_exit(7);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_second_signal(void)
{
	ok(end_of_twice(0) == 7, "timeout(1) sends its signal twice, and that kills nothing");
	ok(end_of_twice(300) == 7, "nor does the second one if it is late");
	ok(end_of_twice(1100) == 128 + SIGINT, "a second Ctrl-C ends a summary that hangs");
}

/* One that does not end it, and one that comes too late: neither may kill. */
static void test_asked_signal(void)
{
	struct loop *loop = loop__new();
	struct counter heard = { .loop = loop, .stop_at = 2 };
	int number = SIGUSR1;
	sigset_t mask;

	ok(!loop__on_signal(loop, SIGUSR1, on_count, &heard), "SIGUSR1 is taken");
	loop__after(loop, 1, on_raise, &number);
	loop__after(loop, 20 * MS, on_raise, &number);
	loop__after(loop, 5000 * MS, on_stop, loop);
	ok(!loop__run(loop) && heard.nr == 2, "each one is told, none ends the loop");
	ok(!loop__is_interrupted(loop), "nor counts as an end");
	raise(SIGUSR1);
	loop__free(loop);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	ok(!sigismember(&mask, SIGUSR1), "one after the loop is dropped, then it is as it was");
}

static void test_interrupted(void)
{
	struct loop *loop = loop__new();

	ok(!loop__is_interrupted(loop), "nothing came yet");
	raise(SIGINT);
	ok(loop__is_interrupted(loop), "Ctrl-C is seen without running the loop");
	loop__free(loop);
}

static void test_nohup(void)
{
	struct loop *loop;
	struct counter ticks = { .stop_at = 1 };
	int number = SIGHUP;

	signal(SIGHUP, SIG_IGN);
	loop = loop__new();
	ticks.loop = loop;
	loop__after(loop, 1, on_raise, &number);
	loop__after(loop, 20 * MS, on_count, &ticks);
	ok(!loop__run(loop) && ticks.nr == 1, "under nohup SIGHUP is not taken");
	loop__free(loop);
	signal(SIGHUP, SIG_DFL);
}

/* Runs argv in a loop; returns loop__run's result, *status is the child's. */
static int run_child(char **argv, int *status)
{
	struct loop *loop = loop__new();
	int err;

	err = loop__start_child(loop, argv);
	if (!err)
		err = loop__run(loop);
	*status = loop__child_status(loop);
	loop__free(loop);
	return err;
}

static void test_child(void)
{
	char *exit7[] = { "sh", "-c", "exit 7", NULL };
	char *killed[] = { "sh", "-c", "kill -KILL $$", NULL };
	char *piped[] = { "sh", "-c", "kill -PIPE $$; exit 3", NULL };
	char *masked[] = { "grep", "-q", "^SigBlk:.*0000000000000000", "/proc/self/status", NULL };
	char *absent[] = { "/no/such/command", "x", NULL };
	char *folder[] = { "/", NULL };
	int status;

	ok(!run_child(exit7, &status) && status == 7, "a child's exit status");
	ok(!run_child(killed, &status) && status == 137, "a killed child is 128 + signal");
	ok(!run_child(piped, &status) && status == 141, "the child does not ignore SIGPIPE");
	ok(!run_child(masked, &status) && status == 0, "the child has no signal blocked");
	ok(run_child(absent, &status) == -ENOENT && status == -ENOENT, "no such command");
	is_str(hear(), "iosonar: cannot run '/no/such/command': No such file or directory\n",
	       "  one line says so");
	ok(run_child(folder, &status) == -EACCES, "not a command");
	hear();
}

static bool exists_after(const char *path, int ms)
{
	struct timespec pause = { .tv_nsec = ms * (long)MS };
	struct stat st;

	nanosleep(&pause, NULL);
	return !stat(path, &st);
}

static void test_gate(const char *folder)
{
	char path[128];
	char *argv[] = { "touch", path, NULL };
	struct loop *loop = loop__new();

	snprintf(path, sizeof(path), "%s/touched", folder);
	ok(!loop__start_child(loop, argv), "a child starts");
	ok(!exists_after(path, 100), "and waits at the gate");
	ok(loop__start_child(loop, argv) == -EBUSY, "a second child is refused");
	hear();
	ok(!loop__run(loop) && exists_after(path, 0), "until the loop runs");
	loop__free(loop);
	unlink(path);
	loop = loop__new();
	loop__start_child(loop, argv);
	loop__free(loop);
	ok(!exists_after(path, 50), "without a run it is never executed");
	unlink(path);
}

static void test_child_left(void)
{
	char *argv[] = { "sleep", "600", NULL };
	char *stubborn[] = { "sh", "-c", "trap '' TERM; while :; do sleep 0.05; done", NULL };
	struct loop *loop = loop__new();
	uint64_t start = now_ns();
	int pid = 0;
	const char *said;

	loop__start_child(loop, argv);
	loop__after(loop, 50 * MS, on_stop, loop);
	ok(!loop__run(loop) && loop__child_status(loop) == 0, "the loop may end before the child");
	loop__free(loop);
	ok(now_ns() - start < 900 * MS && waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD,
	   "the child is ended and reaped");

	loop = loop__new();
	loop__start_child(loop, stubborn);
	loop__after(loop, 300 * MS, on_stop, loop);
	loop__run(loop);
	loop__free(loop);
	said = hear();
	ok(sscanf(said, "iosonar: 'sh' (process %d) did not end on SIGTERM and still runs\n",
		  &pid) == 1,
	   "one that ignores SIGTERM is named");
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static int on_late_signal(void *arg)
{
	struct timespec ms300 = { .tv_nsec = 300 * (long)MS };

	(void)arg;
	nanosleep(&ms300, NULL);
	return kill(getpid(), SIGINT);
}

/* Ctrl-C reaches the child too; that it died of it, even before we saw ours, is no failure. */
static void test_both_interrupted(void)
{
	char *argv[] = { "sh", "-c", "kill -INT $$; exit 9", NULL };
	struct loop *loop = loop__new();

	loop__start_child(loop, argv);
	loop__after(loop, 1, on_late_signal, NULL);
	ok(!loop__run(loop) && loop__child_status(loop) == 0,
	   "a child that died of the same Ctrl-C did not fail");
	loop__free(loop);
}

static int on_raise_and_stop(void *arg)
{
	loop__stop(arg);
	return kill(getpid(), SIGTERM);
}

static void test_signal_at_end(void)
{
	struct loop *loop = loop__new();

	loop__after(loop, 1, on_raise_and_stop, loop);
	ok(!loop__run(loop), "a signal that comes with the end does not kill");
	loop__free(loop);
}

/* The parent of the waiting child is killed: the child must not wait for ever, nor run. */
static void test_parent_killed(void)
{
	char *argv[] = { "sh", "-c", "exit 5", NULL };
	int status = -1, tries = 200;
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (!pid) {
		loop__start_child(loop__new(), argv);
		raise(SIGKILL);
	}
	waitpid(pid, NULL, 0);
	while (tries-- && waitpid(-1, &status, WNOHANG) == 0)
		poll(NULL, 0, 10);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 127, "kill -9 of iosonar frees the child");
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void test_signals_restored(void)
{
	struct sigaction old;
	struct loop *loop;
	sigset_t mask;

	signal(SIGCHLD, SIG_IGN);
	loop = loop__new();
	sigaction(SIGPIPE, NULL, &old);
	ok(old.sa_handler == SIG_IGN, "SIGPIPE is ignored while there is a loop");
	loop__free(loop);
	sigaction(SIGPIPE, NULL, &old);
	ok(old.sa_handler == SIG_DFL, "and not after it");
	sigaction(SIGCHLD, NULL, &old);
	ok(old.sa_handler == SIG_IGN, "SIGCHLD is as it was");
	sigprocmask(SIG_BLOCK, NULL, &mask);
	ok(!sigismember(&mask, SIGINT), "SIGINT is not blocked");
	sigaction(SIGINT, NULL, &old);
	ok(old.sa_handler == SIG_DFL, "and has its default effect");
	signal(SIGCHLD, SIG_DFL);
	loop__free(NULL);
}

int main(void)
{
	char folder[] = "/tmp/iosonar-loop-XXXXXX";
	int nr_fds;

	said_fd = memfd_create("stderr", MFD_CLOEXEC);
	if (said_fd < 0 || dup2(said_fd, STDERR_FILENO) < 0 || !mkdtemp(folder))
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	nr_fds = count_fds();
	test_timers();
	test_grid();
	test_after();
	test_fd();
	test_signal(SIGINT);
	test_signal(SIGTERM);
	test_signal(SIGHUP);
	test_early_signal();
	test_second_signal();
	test_asked_signal();
	test_interrupted();
	test_nohup();
	test_child();
	test_gate(folder);
	test_child_left();
	test_both_interrupted();
	test_signal_at_end();
	test_parent_killed();
	test_signals_restored();
	ok(count_fds() == nr_fds, "no descriptor is left open");
	rmdir(folder);
	return done_testing();
}
