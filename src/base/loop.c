/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loop.c: epoll over file descriptors, timerfds, one signalfd and a child's pidfd. Everything that
 * can happen is a source with a callback; a source lives as long as the loop. Costs one
 * epoll_wait per batch of events, and nothing while nothing happens.
 */
#define _GNU_SOURCE 1
#include "base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define LOOP_EVENTS_MAX	   16
#define LOOP_CHILD_WAIT_MS 1000 /* for a child to end after SIGTERM */
#define LOOP_NSEC_PER_SEC  1000000000ULL

struct loop_source {
	struct loop_source *next;
	int fd;
	bool is_timer, is_signal;
	bool is_ours; /* close it with the loop */
	loop_fn fn;
	void *arg;
};

struct loop_child {
	pid_t pid;   /* 0: none, or it was reaped */
	int pid_fd;  /* readable when it has ended */
	int gate_fd; /* a byte lets the child go on to exec; if closed, it gives up */
	int exec_fd; /* the errno of a failed exec; end of file: exec was done */
	int status;  /* as loop__child_status */
	char *name;
};

struct loop {
	int epoll_fd;
	int signal_fd;
	struct loop_source *sources;
	struct loop_child child;
	bool stopped;
	bool interrupted;	  /* by a signal */
	sigset_t taken, old_mask; /* taken: those that end the loop */
	sigset_t asked;		  /* those of loop__on_signal */
	sigset_t handled;	  /* those of taken that loop_on_late_signal handles */
	struct sigaction old_pipe, old_chld;
};

/* ---- Sources ---- */

static int loop_add(struct loop *loop, const struct loop_source *model)
{
	struct loop_source *source = malloc(sizeof(*source));
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = source };

	if (!source)
		return -ENOMEM;
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, model->fd, &event)) {
		free(source);
		return -errno;
	}
	*source = *model;
	source->next = loop->sources;
	loop->sources = source;
	return 0;
}

/* The loop owns the descriptor, or it is closed; below 0: errno says why there is none. */
static int loop_add_own(struct loop *loop, const struct loop_source *model)
{
	int err = model->fd < 0 ? -errno : loop_add(loop, model);

	if (err && model->fd >= 0)
		close(model->fd);
	return err;
}

int loop__add_fd(struct loop *loop, int fd, loop_fn fn, void *arg)
{
	struct loop_source source = { .fd = fd, .fn = fn, .arg = arg };
	int err = loop_add(loop, &source);

	return err ? log_err(err, "cannot wait for events: %s", strerror(-err)) : 0;
}

static int loop_add_timer(struct loop *loop, const struct itimerspec *when, loop_fn fn, void *arg)
{
	struct loop_source source = { .is_timer = true, .is_ours = true, .fn = fn, .arg = arg };
	int err;

	source.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	err = loop_add_own(loop, &source);
	if (!err && timerfd_settime(source.fd, 0, when, NULL))
		err = -errno;
	return err ? log_err(err, "cannot set a timer: %s", strerror(-err)) : 0;
}

static struct timespec loop_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / LOOP_NSEC_PER_SEC),
		.tv_nsec = (long)(ns % LOOP_NSEC_PER_SEC),
	};
}

int loop__every(struct loop *loop, uint64_t ns, loop_fn fn, void *arg)
{
	struct itimerspec when = { .it_value = loop_timespec(ns),
				   .it_interval = loop_timespec(ns) };

	if (!ns)
		return log_err(-EINVAL, "the interval of a timer must be greater than 0");
	return loop_add_timer(loop, &when, fn, arg);
}

int loop__after(struct loop *loop, uint64_t ns, loop_fn fn, void *arg)
{
	/* 0 would disarm the timer */
	struct itimerspec when = { .it_value = loop_timespec(ns ? ns : 1) };

	return loop_add_timer(loop, &when, fn, arg);
}

/* ---- Signals ---- */

/* Takes every pending signal, so that none is delivered when they are unblocked. */
static int loop_on_signal(void *arg)
{
	struct signalfd_siginfo info;
	struct loop *loop = arg;

	while (read(loop->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		loop->interrupted = true;
		loop->stopped = true;
	}
	return 0;
}

/*
 * SIGHUP stays ignored under nohup. SIGINT is taken even if it is ignored: shell scripts start
 * background jobs that way, and end them with kill -INT.
 */
static void loop_choose_signals(struct loop *loop)
{
	struct sigaction old;

	sigemptyset(&loop->taken);
	sigaddset(&loop->taken, SIGINT);
	sigaddset(&loop->taken, SIGTERM);
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaddset(&loop->taken, SIGHUP);
}

int loop__on_signal(struct loop *loop, int signal, loop_fn fn, void *arg)
{
	struct loop_source source = { .is_signal = true, .is_ours = true, .fn = fn, .arg = arg };
	sigset_t one;
	int err;

	sigemptyset(&one);
	sigaddset(&one, signal);
	sigaddset(&loop->asked, signal);
	sigprocmask(SIG_BLOCK, &one, NULL);
	source.fd = signalfd(-1, &one, SFD_NONBLOCK | SFD_CLOEXEC);
	err = loop_add_own(loop, &source);
	return err ? log_err(err, "cannot wait for a signal: %s", strerror(-err)) : 0;
}

bool loop__is_interrupted(struct loop *loop)
{
	loop_on_signal(loop);
	return loop->interrupted;
}

static int loop_take_signals(struct loop *loop)
{
	struct loop_source source = { .is_ours = true, .fn = loop_on_signal, .arg = loop };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, plain = { .sa_handler = SIG_DFL };

	loop_choose_signals(loop);
	sigemptyset(&loop->asked);
	sigemptyset(&loop->handled);
	sigprocmask(SIG_BLOCK, &loop->taken, &loop->old_mask);
	sigaction(SIGPIPE, &ignore, &loop->old_pipe);
	/* Where SIGCHLD is ignored, a child's status is thrown away. */
	sigaction(SIGCHLD, &plain, &loop->old_chld);
	loop->signal_fd = signalfd(-1, &loop->taken, SFD_NONBLOCK | SFD_CLOEXEC);
	if (loop->signal_fd < 0)
		return -errno;
	source.fd = loop->signal_fd;
	return loop_add(loop, &source);
}

/*
 * While a run writes its summary, a second Ctrl-C kills it. A signal within a second of the run's
 * end is dropped: timeout(1) sends its signal twice, to us and to our process group.
 */
static uint64_t loop_ended_ns;
static const uint64_t loop_second_ns = 1000000000;

static void loop_on_late_signal(int number)
{
	if (clock__mono_ns() - loop_ended_ns >= loop_second_ns)
		_exit(128 + number);
}

static void loop_watch_late_signals(struct loop *loop)
{
	const struct sigaction late = { .sa_handler = loop_on_late_signal, .sa_flags = SA_RESTART };
	const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction old;

	loop_ended_ns = clock__mono_ns();
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (!sigismember(&loop->taken, numbers[i]) || sigaction(numbers[i], NULL, &old) ||
		    old.sa_handler != SIG_DFL)
			continue;
		sigaction(numbers[i], &late, NULL);
		sigaddset(&loop->handled, numbers[i]);
	}
}

static void loop_restore_signals(struct loop *loop)
{
	const struct sigaction plain = { .sa_handler = SIG_DFL };
	struct timespec now = { 0 };

	for (int number = 1; number < NSIG; number++)
		if (sigismember(&loop->handled, number) == 1)
			sigaction(number, &plain, NULL);
	/* Those of our signals that are still pending would kill us when they are unblocked. */
	while (sigtimedwait(&loop->asked, NULL, &now) > 0)
		;
	sigaction(SIGPIPE, &loop->old_pipe, NULL);
	sigaction(SIGCHLD, &loop->old_chld, NULL);
	sigprocmask(SIG_SETMASK, &loop->old_mask, NULL);
}

/* ---- The child ---- */

static void loop_reap(struct loop_child *child)
{
	int wait_status;

	if (waitpid(child->pid, &wait_status, WNOHANG) != child->pid)
		return;
	child->pid = 0;
	if (child->status >= 0)
		child->status = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status)
							 : WEXITSTATUS(wait_status);
}

static void loop_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The child has written why exec failed, or has closed the pipe by becoming the command. */
static int loop_on_exec(void *arg)
{
	struct loop *loop = arg;
	struct loop_child *child = &loop->child;
	int err;
	ssize_t len;

	if (child->exec_fd < 0)
		return 0;
	len = read(child->exec_fd, &err, sizeof(err));
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	loop_close(&child->exec_fd);
	if (len != (ssize_t)sizeof(err))
		return 0;
	child->status = -err;
	return log_err(-err, "cannot run '%s': %s", child->name, strerror(err));
}

static int loop_on_child_end(void *arg)
{
	struct loop *loop = arg;
	int err = loop_on_exec(loop);

	loop_reap(&loop->child);
	loop->stopped = true;
	return err;
}

/* In the child. Returns only by exec or _exit. */
__attribute__((noreturn)) static void loop_become(const struct loop *loop, char **argv, int gate_fd,
						  int report_fd)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	ssize_t len;
	char go;
	int err;

	sigaction(SIGPIPE, &plain, NULL);
	sigaction(SIGXFSZ, &plain, NULL);
	sigaction(SIGCHLD, &loop->old_chld, NULL);
	sigprocmask(SIG_SETMASK, &loop->old_mask, NULL);
	do {
		len = read(gate_fd, &go, 1);
	} while (len < 0 && errno == EINTR);
	if (len != 1)
		_exit(127); /* the parent has gone */
	execvp(argv[0], argv);
	err = errno;
	while (write(report_fd, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(127);
}

static int loop_watch_child(struct loop *loop)
{
	struct loop_source end = { .fn = loop_on_child_end, .arg = loop };
	struct loop_source exec = { .fd = loop->child.exec_fd, .fn = loop_on_exec, .arg = loop };
	int err;

	loop->child.pid_fd = (int)syscall(SYS_pidfd_open, loop->child.pid, 0);
	if (loop->child.pid_fd < 0)
		return -errno;
	end.fd = loop->child.pid_fd;
	err = loop_add(loop, &end);
	return err ?: loop_add(loop, &exec);
}

static int loop_fork(struct loop *loop, char **argv)
{
	int gate[2] = { -1, -1 }, report[2] = { -1, -1 };
	int err = 0;

	if (pipe2(gate, O_CLOEXEC) || pipe2(report, O_CLOEXEC | O_NONBLOCK))
		err = -errno;
	if (!err) {
		loop->child.pid = fork();
		err = loop->child.pid < 0 ? -errno : 0;
	}
	if (!err && !loop->child.pid) {
		/* Else the gate would never close, and the report would stay in our epoll. */
		close(gate[1]);
		close(report[0]);
		loop_become(loop, argv, gate[0], report[1]);
	}
	loop_close(&gate[0]);
	loop_close(&report[1]);
	loop->child.gate_fd = gate[1];
	loop->child.exec_fd = report[0];
	return err;
}

/* Returns why the child does not end; NULL: it ended. */
static const char *loop_end_child(struct loop_child *child)
{
	struct pollfd end = { .fd = child->pid_fd, .events = POLLIN };

	if (kill(child->pid, SIGTERM) && errno == EPERM)
		return "changed its user (with --keep-privileges iosonar can end it)";
	poll(&end, 1, LOOP_CHILD_WAIT_MS);
	loop_reap(child);
	return child->pid > 0 ? "did not end on SIGTERM" : NULL;
}

/* Ends the child if it still runs; a child that does not end is left alone, logged. */
static void loop_forget_child(struct loop *loop)
{
	struct loop_child *child = &loop->child;
	const char *why = NULL;

	loop_close(&child->gate_fd);
	loop_close(&child->exec_fd);
	if (child->pid > 0)
		why = loop_end_child(child);
	loop_close(&child->pid_fd);
	if (why)
		log_warn("'%s' (process %d) %s and still runs", child->name, (int)child->pid, why);
	child->pid = 0;
	free(child->name);
	child->name = NULL;
}

int loop__start_child(struct loop *loop, char **argv)
{
	int err;

	if (loop->child.name)
		return log_err(-EBUSY, "the loop already has a child, '%s'", loop->child.name);
	loop->child.name = strdup(argv[0]);
	err = loop->child.name ? loop_fork(loop, argv) : -ENOMEM;
	err = err ?: loop_watch_child(loop);
	if (!err)
		return 0;
	loop_forget_child(loop);
	return log_err(err, "cannot start '%s': %s", argv[0], strerror(-err));
}

/* A child that Ctrl-C ended together with us did not fail. */
int loop__child_status(const struct loop *loop)
{
	return loop->interrupted && loop->child.status > 128 ? 0 : loop->child.status;
}

pid_t loop__child_pid(const struct loop *loop)
{
	return loop->child.pid;
}

/* ---- The loop ---- */

struct loop *loop__new(void)
{
	struct loop *loop = calloc(1, sizeof(*loop));
	int err;

	if (!loop)
		return NULL;
	loop->signal_fd = -1;
	loop->child = (struct loop_child){ .pid_fd = -1, .gate_fd = -1, .exec_fd = -1 };
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0) {
		free(loop);
		return NULL;
	}
	err = loop_take_signals(loop);
	if (!err)
		return loop;
	if (!loop->sources)
		loop_close(&loop->signal_fd);
	loop__free(loop);
	errno = -err;
	return NULL;
}

void loop__free(struct loop *loop)
{
	if (!loop)
		return;
	loop_forget_child(loop);
	while (loop->sources) {
		struct loop_source *source = loop->sources;

		loop->sources = source->next;
		if (source->is_ours)
			close(source->fd);
		free(source);
	}
	close(loop->epoll_fd);
	loop_restore_signals(loop);
	free(loop);
}

void loop__stop(struct loop *loop)
{
	loop->stopped = true;
}

static int loop_dispatch(const struct loop_source *source)
{
	struct signalfd_siginfo info;
	uint64_t expired;

	/* Several grid points may have passed while a callback ran: they become one call. */
	if (source->is_timer && read(source->fd, &expired, sizeof(expired)) < 0)
		return 0;
	if (source->is_signal && read(source->fd, &info, sizeof(info)) < 0)
		return 0;
	return source->fn(source->arg);
}

static int loop_turn(struct loop *loop)
{
	struct epoll_event events[LOOP_EVENTS_MAX];
	int nr = epoll_wait(loop->epoll_fd, events, LOOP_EVENTS_MAX, -1);
	int err = 0;

	if (nr < 0)
		return errno == EINTR
			       ? 0
			       : log_err(-errno, "cannot wait for events: %s", strerror(errno));
	for (int i = 0; i < nr && !err && !loop->stopped; i++)
		err = loop_dispatch(events[i].data.ptr);
	return err;
}

int loop__run(struct loop *loop)
{
	sigset_t left;
	int err = 0;

	sigprocmask(SIG_BLOCK, &loop->taken, NULL);
	loop->stopped = false;
	if (loop->child.gate_fd >= 0 && write(loop->child.gate_fd, "", 1) < 0)
		log_verbose("'%s' exited before the run started", loop->child.name);
	loop_close(&loop->child.gate_fd);
	while (!err && !loop->stopped)
		err = loop_turn(loop);
	loop_on_signal(loop);
	loop_watch_late_signals(loop);
	sigorset(&left, &loop->old_mask, &loop->asked);
	sigprocmask(SIG_SETMASK, &left, NULL);
	return err;
}
