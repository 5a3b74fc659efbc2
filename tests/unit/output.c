/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output.c: what is left of --out when a signal ends a command that does not handle it? The part
 * that was written, told in one line; nothing, if nothing was; an old file as it was. What is asked
 * of a command is in tests/cli/output.bats.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/output.h"
#include "tap.h"

static char directory[] = "/tmp/iosonar-output-XXXXXX";
static char path[64], partial[80], said[PATH_MAX];

/* A process that writes this text, and then gets the signal. Leaves what it said in `said`. */
static int ended_by(int signal, const char *text, bool is_finished)
{
	static struct output output;
	int pipe_fds[2], status = 0;
	ssize_t len;
	pid_t pid;

	if (pipe(pipe_fds))
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(pipe_fds[1], STDERR_FILENO);
		sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
		if (output__open(&output, path, NULL))
			_exit(2);
		fputs(text, output.file);
		fflush(output.file);
		if (is_finished)
			output__finish(&output, 0);
		raise(signal);
		_exit(3);
	}
	close(pipe_fds[1]);
	len = read(pipe_fds[0], said, sizeof(said) - 1);
	said[len > 0 ? len : 0] = 0;
	close(pipe_fds[0]);
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

static bool holds(const char *name, const char *text)
{
	char now[64] = "";
	FILE *in = fopen(name, "re");
	size_t len = in ? fread(now, 1, sizeof(now) - 1, in) : 0;

	now[len] = 0;
	if (in)
		fclose(in);
	return in && !strcmp(now, text);
}

static bool is_there(const char *name)
{
	return !access(name, F_OK);
}

static void check_signal(int signal)
{
	char want[PATH_MAX];

	snprintf(want, sizeof(want), "iosonar: the output is incomplete; it is in %s\n", partial);
	ok(ended_by(signal, "half", false) == signal, "%s ends it", strsignal(signal));
	is_str(said, want, "one line says where the part is");
	ok(holds(partial, "half") && !is_there(path), "it is there, and no whole one");
	unlink(partial);
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/out", directory);
	snprintf(partial, sizeof(partial), "%s.partial", path);
	check_signal(SIGHUP);
	check_signal(SIGINT);
	check_signal(SIGTERM);

	ok(ended_by(SIGTERM, "", false) == SIGTERM && !*said,
	   "nothing was written: nothing is said");
	ok(!is_there(partial) && !is_there(path), "and nothing is left");
	ok(ended_by(SIGTERM, "old", true) == SIGTERM && !*said,
	   "a signal behind its end is not ours");
	ok(holds(path, "old") && !is_there(partial), "the output is whole");
	ok(ended_by(SIGINT, "new", false) == SIGINT && holds(path, "old") && holds(partial, "new"),
	   "an old file stays as it was");

	unlink(partial);
	unlink(path);
	rmdir(directory);
	return done_testing();
}
