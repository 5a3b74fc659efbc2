/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scout.c: does a scout answer what is asked, in order and whole, and can it do nothing else? Its
 * own calls are tried in it: files elsewhere, files to write, sockets.
 */
#define _GNU_SOURCE 1
#include "base/scout.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/landlock.h"
#include "tap.h"

static char tree[] = "/tmp/iosonar-scout.XXXXXX";
static const char *const directories[] = { tree, "/nonexistent/folder", NULL };

static void make(const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", tree, name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	ok(fd >= 0, "%.20s is made", name);
	close(fd);
}

/* Each an errno; 0: it was done. */
struct deeds {
	char inside[64], outside[64];
	int reads, reads_outside, writes, connects;
};

static int errno_of(int result)
{
	return result < 0 ? errno : 0;
}

static void try_all(void *shared)
{
	struct deeds *d = shared;

	d->reads = errno_of(open(d->inside, O_RDONLY | O_CLOEXEC));
	d->reads_outside = errno_of(open(d->outside, O_RDONLY | O_CLOEXEC));
	d->writes = errno_of(open(d->inside, O_WRONLY | O_CLOEXEC));
	d->connects = errno_of(socket(AF_UNIX, SOCK_STREAM, 0));
}

static void test_names(const struct scout *scout)
{
	static const char sorted[] = "disk2\0disk10\0zram0";
	char *names = NULL, path[512];
	ssize_t bytes = scout__names(scout, tree, &names);

	ok(bytes == sizeof(sorted) && !memcmp(names, sorted, sizeof(sorted)),
	   "names of a directory, numbers in order");
	free(names);
	snprintf(path, sizeof(path), "%s/empty", tree);
	names = NULL;
	ok(scout__names(scout, path, &names) == -ENOENT && !names, "one that is not there");
}

static void test_deeds(const struct scout *scout)
{
	struct deeds *d = scout->shared;

	snprintf(d->inside, sizeof(d->inside), "%s/disk2", tree);
	snprintf(d->outside, sizeof(d->outside), "/etc/passwd");
	ok(!scout__ask(scout, SCOUT_DEVICE), "it is asked");
	is_u64((uint64_t)d->reads, 0, "it opens a file to read");
	ok(d->writes == EACCES || d->writes == EPERM || landlock__version() < 0, "none to write");
	if (landlock__version() > 0)
		is_u64((uint64_t)d->reads_outside, EACCES, "and none elsewhere");
#if !defined(__SANITIZE_ADDRESS__)
	is_u64((uint64_t)d->connects, EPERM, "it makes no socket");
#endif
	ok(scout__ask(scout, SCOUT_CGROUP) == -ENOSYS, "what it was not taught it does not answer");
}

int main(void)
{
	struct scout scout = { .directories = directories,
			       .answers = { [SCOUT_DEVICE] = try_all } };
	char path[512];

	if (!mkdtemp(tree))
		return 1;
	signal(SIGPIPE, SIG_IGN); /* as a run does */
	make("disk10");
	make("zram0");
	make("disk2");
	ok(!scout__fork(&scout), "a scout goes");
	test_names(&scout);
	test_deeds(&scout);
	kill(scout.deputy.pid, SIGKILL);
	waitpid(scout.deputy.pid, NULL, WNOWAIT);
	ok(scout__ask(&scout, SCOUT_DEVICE) == -ECHILD, "without it there is no answer");
	scout__end(&scout);
	ok(!scout.shared && !scout.deputy.pid, "it ends");
	for (const char *const *name = (const char *const[]){ "disk2", "disk10", "zram0", NULL };
	     *name; name++) {
		snprintf(path, sizeof(path), "%s/%s", tree, *name);
		unlink(path);
	}
	rmdir(tree);
	return done_testing();
}
