/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c: the entry point. Finds the command, fills its options, runs it, and turns the result into
 * an exit code. Nothing below calls exit(); only this file decides whether stdout was delivered.
 */
#include <errno.h>
#include <sys/resource.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/nearest.h"
#include "base/terminal.h"
#include "cmd/commands.h"
#include "cmd/completion.h"
#include "cmd/dropin.h"
#include "cmd/help.h"
#include "decode/column.h"

#define MAIN_SETS_MAX  8
#define MAIN_WORDS_MAX 64

static void *main_group_values(const struct option_group *group, struct options *options)
{
	if (group == &filter_group || group == &device_group || group == &task_group)
		return &options->filter;
	if (group == &write_group || group == &keep_group || group == &read_group ||
	    group == &alias_group)
		return &options->file;
	if (group == &run_group || group == &whole_group || group == &lasting_group)
		return &options->run;
	return &options->output;
}

/* The option tables of a command, each with the struct it fills; returns how many. */
static size_t main_fill_sets(const struct cmd *cmd, void *view, struct options *options,
			     struct option_set *sets)
{
	size_t nr = 0;

	if (cmd->own)
		sets[nr++] = (struct option_set){ cmd->own, view };
	for (size_t i = 0; cmd->groups && cmd->groups[i] && nr < MAIN_SETS_MAX; i++)
		sets[nr++] = (struct option_set){ cmd->groups[i],
						  main_group_values(cmd->groups[i], options) };
	return nr;
}

/* argv[0] is the command's name. */
static int main_run_cmd(const struct cmd *cmd, int argc, char **argv)
{
	struct option_set sets[MAIN_SETS_MAX];
	struct options options = { .commands = commands };
	struct option_result result;
	void *view;
	size_t nr;
	int err;

	view = calloc(1, cmd->view_size ? cmd->view_size : 1);
	if (!view)
		return log_no_memory();
	nr = main_fill_sets(cmd, view, &options, sets);
	err = option__parse(sets, nr, argc, argv, &result);
	log_set_verbose(options.run.verbose);
	if (err == -ECANCELED) {
		help__print_cmd(stdout, cmd, result.short_help ? HELP_SHORT : HELP_ALL);
		err = 0;
	} else if (!err && result.json_schema && !cmd->objects) {
		err = log_err(-EINVAL, "%s prints no JSON: it has no schema", cmd->name);
	} else if (!err && result.json_schema) {
		object__print_schema(stdout, cmd->name, cmd->objects);
	} else if (!err) {
		err = cmd->run(view, &options, argv + result.rest);
	}
	option__free(sets, nr);
	free(view);
	return err;
}

/* Names that users of other tools type, and the command that answers the same question here. */
static const struct main_habit {
	const char *word, *ours;
} main_habits[] = {
	{ "iotop", "top --by pid,comm,op" },
	{ "iostat", "latency" },
	{ "stat", "latency" },
	{ "biotop", "top --by pid,comm,dev,op" },
	{ "biolatency", "latency" },
	{ "biosnoop", "trace" },
	{ "biopattern", "pattern" },
	{ "bitesize", "pattern" },
	{ "biostacks", "stacks" },
	{ "blktrace", "record -w FILE --stages" },
	{ "blkparse", "trace FILE" },
	{ "btt", "layers FILE" },
	{ "cachestat", "cache" },
	{ "cachetop", "cache --by pid,comm" },
	{ "filetop", "cache --by comm,file" },
	{ "fincore", "cache --residency PATH" },
	{ "nvme_trace", "trace" },
	{ "nvme_latency", "latency" },
	{ "syscalls", "count raw_syscalls:sys_enter by 'comm, id'" },
	{ "strace", "print 'syscalls:sys_enter_*' -p PID" },
	{ "syscount", "count raw_syscalls:sys_enter by id" },
	{ "funccount", "count fn:NAME" },
	{ "funclatency", "hist fn:NAME of latency" },
	{ "profile", "stacks profile:99" },
	{ "ftrace", "calls FUNCTION" },
	{ "trace-cmd", "calls FUNCTION" },
	{ "bpftrace", "count, sum, hist, print or pair" },
	{ "list", "events" },
	{ "replay", "trace FILE" },
	{ "watch", "inflight --older 5s" },
	{ "flamegraph", "stacks -o svg --out FILE" },
};

static const char *main_habit_of(const char *word)
{
	for (size_t i = 0; i < sizeof(main_habits) / sizeof(main_habits[0]); i++)
		if (!strcmp(main_habits[i].word, word))
			return main_habits[i].ours;
	return NULL;
}

static int main_unknown(const char *word)
{
	const char *ours = main_habit_of(word);
	const char *words[MAIN_WORDS_MAX] = { "help", "--help", "--version", "--completion" };
	const char *what = *word == '-' ? "option" : "command";
	const char *near;
	size_t nr = 4;

	if (ours)
		return log_err(-EINVAL, "unknown command '%s'; use iosonar %s", word, ours);
	if (strchr(word, ':') && strcmp(word, ":"))
		return log_err(-EINVAL,
			       "unknown command '%s'; to count this event: iosonar count %s", word,
			       word);
	for (size_t i = 0; commands[i] && nr < MAIN_WORDS_MAX; i++)
		words[nr++] = commands[i]->name;
	near = nearest__word(word, words, nr);
	if (near)
		return log_err(-EINVAL, "unknown %s '%s'; did you mean %s?", what, word, near);
	return log_err(-EINVAL, "unknown %s '%s'; %s", what, word,
		       *word == '-' ? "a command's options come after its name"
				    : "'iosonar help' lists the commands");
}

static int main_print_help(const char *name)
{
	const struct cmd *cmd = name ? cmd__find(name) : NULL;

	if (name && !cmd)
		return main_unknown(name);
	if (cmd)
		help__print_cmd(stdout, cmd, HELP_ALL);
	else
		help__print_commands(stdout, commands);
	return 0;
}

static int main_print_list(const char *unused)
{
	(void)unused;
	return main_print_help(NULL);
}

static int main_print_version(const char *unused)
{
	(void)unused;
	help__print_version(stdout, COMMIT);
	return 0;
}

/* One single write, so that the errno of a failure is known at the end. */
static int main_print_completion(const char *shell)
{
	static char buffer[1 << 17];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	return completion__print(stdout, commands, shell);
}

/* Requests that main answers itself. */
static const struct main_word {
	const char *word;
	int max_args;
	int (*print)(const char *arg);
} main_words[] = {
	{ "help", 1, main_print_help },		{ "-h", 0, main_print_list },
	{ "--help", 0, main_print_list },	{ "-V", 0, main_print_version },
	{ "--version", 0, main_print_version }, { "--completion", 1, main_print_completion },
};

static int main_dispatch(int argc, char **argv)
{
	const struct cmd *cmd;

	if (argc < 2)
		return main_print_help(NULL);
	for (size_t i = 0; i < sizeof(main_words) / sizeof(main_words[0]); i++) {
		const struct main_word *own = &main_words[i];

		if (strcmp(argv[1], own->word))
			continue;
		if (argc - 2 > own->max_args)
			return log_err(-EINVAL, "unexpected argument '%s' after %s",
				       argv[2 + own->max_args], argv[1]);
		return own->print(argv[2]);
	}
	cmd = cmd__find(argv[1]);
	return cmd ? main_run_cmd(cmd, argc - 1, argv + 1) : main_unknown(argv[1]);
}

/*
 * Installed setuid or setgid it would give every user access to its owner's files: -r, -w and --out
 * take any path. File capabilities (setcap) grant only what they name.
 */
static bool main_is_lent(void)
{
	return getuid() && (geteuid() != getuid() || getegid() != getgid());
}

/*
 * A closed 0, 1 or 2 would become the number of the next opened file, e.g. a BPF map. It is opened
 * in the wrong direction, so that using it still fails.
 */
static void main_occupy_std_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* stdio forgets the errno of an earlier failed write; the pipe remembers. */
static bool main_reader_is_gone(int err)
{
	struct pollfd fd = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return err == EPIPE || (poll(&fd, 1, 0) == 1 && fd.revents & (POLLERR | POLLHUP));
}

/* Output counts only once it is written. The exit code of a usage error stays. */
static int main_finish_stdout(int code)
{
	bool failed;
	int err;

	errno = 0;
	failed = fflush(stdout) != 0;
	err = errno;
	failed = failed || ferror(stdout);
	if (failed && main_reader_is_gone(err))
		return code;
	if (!failed && close(STDOUT_FILENO)) {
		err = errno;
		failed = true;
	}
	if (!failed)
		return code;
	log_err(-err, "cannot write the output%s%s", err ? ": " : "", err ? strerror(err) : "");
	return code == EXIT_USAGE ? code : EXIT_FAILED;
}

/* Whatever resource ran out, the message names the limit. */
static int main_exit_code(int err)
{
	struct rlimit limit;

	if (err == -EMFILE && !getrlimit(RLIMIT_NOFILE, &limit))
		log_warn("the limit of %llu open files is too low: run ulimit -n 1024",
			 (unsigned long long)limit.rlim_cur);
	if (err == -ENFILE)
		log_warn("too many files are open on this machine: raise fs.file-max");
	if (err == -ENOMEM && !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
		log_warn("the limit of %llu KiB of memory is too low: run ulimit -v unlimited",
			 (unsigned long long)limit.rlim_cur >> 10);
	return exit_code__of(err);
}

int main(int argc, char **argv)
{
	const struct dropin *dropin;

	main_occupy_std_fds();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a write beyond ulimit -f fails with EFBIG instead */
	if (main_is_lent())
		return exit_code__of(log_err(-EPERM, "must not be installed setuid or setgid: run "
						     "chmod u-s,g-s on it, then use sudo or "
						     "setcap"));
	/* Only LC_CTYPE: JSON needs a decimal point in every locale. */
	setlocale(LC_CTYPE, "");
	log_set_columns(terminal__columns(STDERR_FILENO));
	dropin = dropin__find(argv[0]);
	return main_finish_stdout(main_exit_code(dropin ? dropin__main(dropin, argc, argv)
							: main_dispatch(argc, argv)));
}
