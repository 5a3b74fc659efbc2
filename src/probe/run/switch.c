/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switch.c: starts and stops all programs at once, although attaching and closing is slow: 100 ms
 * for each fentry and kprobe, and these waits cannot be shared. With more than a few, every program
 * first checks a switch, which we set with one store; and a separate process holds the links and
 * closes them when we are done or gone. The check costs three instructions a hit, so a few programs
 * do without it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "base/log.h"
#include "probe/run/inside.h"

enum { SWITCH_FEW = 4 }; /* half a second */

int run_make_switch(struct run *run)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	size_t nr_slow = 0;

	for (size_t i = 0; i < run->nr_groups; i++)
		nr_slow += attach__is_slow_to_close(run->groups[i].way);
	/* An entry seen before the returns are attached would stay open for ever; so would a hit
	 * that is held before what takes it up is attached. */
	if (!run->plan->is_calls && !run_may_hold(run) && nr_slow <= SWITCH_FEW)
		return 0;
	run->switch_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "switch", sizeof(uint32_t),
					sizeof(uint64_t), 1, &opts);
	if (run->switch_fd < 0)
		return log_err(run->switch_fd, "cannot create a BPF map: %s",
			       strerror(-run->switch_fd));
	return run_map_word(run->switch_fd, &run->is_on);
}

/* ---- the process that closes ---- */

static int closer_compare(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* All links, and the pipe, in order; NULL: out of memory. */
static int *closer_keeps(const struct run *run, int pipe_fd, size_t *nr)
{
	int *fds;

	*nr = 1;
	for (size_t i = 0; i < run->nr_groups; i++)
		*nr += run->groups[i].attachment.nr_fds;
	fds = calloc(*nr, sizeof(*fds));
	if (!fds)
		return NULL;
	fds[0] = pipe_fd;
	for (size_t i = 0, at = 1; i < run->nr_groups; i++) {
		const struct attachment *a = &run->groups[i].attachment;

		memcpy(fds + at, a->fds, a->nr_fds * sizeof(*fds));
		at += a->nr_fds;
	}
	qsort(fds, *nr, sizeof(*fds), closer_compare);
	return fds;
}

/* If it held a pipe or terminal open, the other side would wait for its end. */
static void closer_close_others(const struct run *run, int pipe_fd)
{
	unsigned from = 0;
	size_t nr;
	int *fds = closer_keeps(run, pipe_fd, &nr);

	for (size_t i = 0; fds && i < nr; i++) {
		const unsigned fd = (unsigned)fds[i];

		if (fd > from)
			syscall(SYS_close_range, from, fd - 1, 0);
		from = fd + 1;
	}
	if (fds)
		syscall(SYS_close_range, from, ~0u, 0);
	free(fds);
}

/* Until the last copy of the other end is closed, ours or by our death; then exit closes all. */
static _Noreturn void closer_wait(int pipe_fd)
{
	char byte;

	prctl(PR_SET_NAME, "iosonar-close");
	setsid(); /* the terminal's signals are not for it */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while (read(pipe_fd, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* A grandchild: it needs no wait(). It closes its copies before the programs, some of which may
 * trace close, are switched on. */
static int closer_fork(const struct run *run, int pipe_fd)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return -errno;
	if (!child) {
		pid_t closer;

		closer_close_others(run, pipe_fd);
		closer = fork();
		if (!closer)
			closer_wait(pipe_fd);
		_exit(closer < 0);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EAGAIN;
}

/* Without it we close the links ourselves, which is slow. */
static void run_start_closer(struct run *run)
{
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return;
	/* The child must not have a copy of our end. */
	err = closer_fork(run, ends[0]);
	close(ends[0]);
	if (err) {
		log_verbose("cannot start the process that closes probes: %s", strerror(-err));
		close(ends[1]);
		return;
	}
	run->closer = ends[1];
	for (size_t i = 0; i < run->nr_groups; i++)
		attachment__detach(&run->groups[i].attachment);
}

/* ---- on, off ---- */

void run_turn_on(struct run *run)
{
	if (!run->is_on)
		return;
	run_start_closer(run);
	__atomic_store_n(run->is_on, 1, __ATOMIC_SEQ_CST);
}

/* After it no program that began earlier still runs: they run inside an RCU section. */
static void switch_wait_for_programs(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

static void switch_detach(struct run *run, bool ends)
{
	size_t nr = 0;

	for (size_t i = 0; i < run->nr_groups; i++) {
		if (run->groups[i].is_end != ends)
			continue;
		nr += run->groups[i].attachment.nr_fds;
		attachment__detach(&run->groups[i].attachment);
	}
	if (nr)
		switch_wait_for_programs();
}

/* A run that failed while starting has no closer yet; one without privileges cannot fork. */
void run_turn_off(struct run *run)
{
	if (run->is_on) {
		__atomic_store_n(run->is_on, 0, __ATOMIC_SEQ_CST);
		switch_wait_for_programs();
	}
	if (run->is_on && run->closer < 0)
		run_start_closer(run);
	if (run->closer >= 0)
		close(run->closer);
	run->closer = -1;
	switch_detach(run, false);
	switch_detach(run, true);
}

void run_free_switch(struct run *run)
{
	if (run->is_on)
		munmap(run->is_on, (size_t)sysconf(_SC_PAGESIZE));
	if (run->switch_fd >= 0)
		close(run->switch_fd);
}
