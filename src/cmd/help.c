/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * help.c: the list of commands by group, a command's page, and the version. Everything that a
 * table knows comes from the table; only the exit codes are written out here, in the words of
 * the manual.
 */
#include "cmd/help.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include <bpf/libbpf.h>

#include "capture/zip.h"
#include "cmd/cmd.h"
#include "screen/screen.h"
#include "serve/http.h"
#include "sql/sql.h"
#include "symbol/symbols.h"

#define HELP_COLUMN	12 /* where briefs start */
#define HELP_GROUPS_MAX 16

static const struct help_code {
	enum exit_code code;
	const char *meaning;
} help_codes[] = {
	{ EXIT_DONE, "success, and the output is complete" },
	{ EXIT_FAILED, "failed" },
	{ EXIT_USAGE, "unknown command, option, value or device" },
	{ EXIT_LOST, "done, but events were lost; the reasons are printed (--allow-loss: 0)" },
	{ EXIT_CANNOT, "not possible on this kernel or with these privileges" },
	{ EXIT_CAME_TRUE, "a --fail-if condition was true" },
	{ EXIT_FOUND, "a watch found something, or the runs are too short to tell" },
};

/* A group is printed where its first command stands. */
static bool help_group_is_new(const struct cmd *const *commands, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(commands[i]->group, commands[nr]->group))
			return false;
	return true;
}

static void help_print_group(FILE *out, const struct cmd *const *commands, const char *group)
{
	fprintf(out, "\n%s\n", group);
	for (size_t i = 0; commands[i]; i++) {
		char left[64];

		if (strcmp(commands[i]->group, group))
			continue;
		snprintf(left, sizeof(left), "  %s", commands[i]->name);
		option__print_entry(out, left, HELP_COLUMN, commands[i]->brief);
	}
}

static void help_print_codes(FILE *out)
{
	fprintf(out, "\nExit status\n");
	for (size_t i = 0; i < sizeof(help_codes) / sizeof(help_codes[0]); i++) {
		char left[16];

		snprintf(left, sizeof(left), "  %d", (int)help_codes[i].code);
		option__print_entry(out, left, 5, help_codes[i].meaning);
	}
}

void help__print_commands(FILE *out, const struct cmd *const *commands)
{
	fprintf(out, "Usage: iosonar COMMAND [options]\n"
		     "       iosonar help [COMMAND] | --version | --completion bash|fish|zsh\n\n"
		     "Shows what the Linux storage stack does with every I/O.\n");
	for (size_t i = 0; commands[i]; i++)
		if (help_group_is_new(commands, i))
			help_print_group(out, commands, commands[i]->group);
	help_print_codes(out);
	fprintf(out, "\nManual: man iosonar, man iosonar-COMMAND\n");
}

static size_t help_groups(const struct cmd *cmd, const struct option_group *groups[])
{
	size_t nr = 0;

	/* Its own options first: they matter most to the reader. */
	if (cmd->own)
		groups[nr++] = cmd->own;
	for (size_t i = 0; cmd->groups && cmd->groups[i] && nr < HELP_GROUPS_MAX; i++)
		groups[nr++] = cmd->groups[i];
	return nr;
}

void help__print_cmd(FILE *out, const struct cmd *cmd, enum help_size size)
{
	const struct option_group *groups[HELP_GROUPS_MAX];
	size_t nr = help_groups(cmd, groups);
	char usage[256];

	snprintf(usage, sizeof(usage), "iosonar %s %s", cmd->name, cmd->synopsis);
	option__print_entry(out, "Usage:", strlen("Usage: "), usage);
	putc('\n', out);
	option__print_entry(out, "", 0, cmd->brief);
	if (size == HELP_ALL)
		option__print_help(out, groups, nr);
	else
		option__print_short_help(out, groups, nr, cmd->own ? 1 : 0);
	fprintf(out, "\nManual: man iosonar-%s\n", cmd->name);
}

const char *help__parts(char buf[HELP_PARTS])
{
	const char *zstd = capture_zip__is_built_in() ? " zstd" : "";
	const char *libdw = symbols__has_libdw() ? " libdw" : "";
	const char *iberty = symbols__has_demangler() ? " libiberty" : "";
	const char *sqlite = sql__is_built_in() ? " sqlite" : "";
	const char *libedit = sql__has_line_editing() ? " libedit" : "";
	const char *http = http__is_built_in() ? " libmicrohttpd" : "";
	const char *ncurses = screen__is_built_in() ? " ncurses" : "";

	snprintf(buf, HELP_PARTS, "%s%s%s%s%s%s%s", zstd, libdw, iberty, sqlite, libedit, http,
		 ncurses);
	return *buf ? buf + 1 : "none";
}

/* A program that the kernel starts without a loader names none. */
static bool help_is_static(void)
{
	const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	unsigned long nr = getauxval(AT_PHNUM);

	for (unsigned long i = 0; header && i < nr; i++)
		if (header[i].p_type == PT_INTERP)
			return false;
	return header;
}

void help__print_version(FILE *out, const char *commit)
{
	char parts[HELP_PARTS];

	fprintf(out, "iosonar %s\ncommit %s\nlibbpf %s\noptional parts: %s\nlinked: %s\n", VERSION,
		commit, libbpf_version_string(), help__parts(parts),
		help_is_static() ? "static" : "dynamic");
}
