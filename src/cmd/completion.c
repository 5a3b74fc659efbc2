/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * completion.c: writes the completion scripts for bash, fish and zsh. The fixed parts are in
 * src/pages; commands, options and choices come from the tables; the shell looks up devices and
 * processes when the user presses Tab, and asks this program for events and their values. The
 * scripts need only the shell.
 */
#include "cmd/completion.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "render/page.h"

static const char bash_tail[] = "	esac\n"
				"}\n"
				"complete -F _iosonar iosonar\n";

static const char zsh_tail[] = "if [[ $funcstack[1] == _iosonar ]]; then\n"
			       "	_iosonar \"$@\"\n"
			       "else\n"
			       "	compdef _iosonar iosonar\n"
			       "fi\n";

/* How an option's value is completed; every shell has an entry for each source. */
static const struct completion_source {
	const char *completes;
	const char *bash;	/* words for _iosonar_words; a list uses _iosonar_list */
	const char *bash_fills; /* instead: a function that fills COMPREPLY */
	const char *zsh;	/* a function that takes compadd's options */
	const char *fish;	/* a function that prints them; NULL: files */
} completion_sources[] = {
	{ "device", "\"$(_iosonar_names /sys/class/block/* /sys/class/nvme/*)\"", NULL,
	  "_iosonar_devices", "__iosonar_devices" },
	{ "pid", "\"$(_iosonar_names /proc/[0-9]*)\"", NULL, "_pids", "__fish_complete_pids" },
	{ "file", NULL, "_iosonar_files", "_files", NULL },
	{ "event", NULL, "_iosonar_events", "_iosonar_offer_events", "__iosonar_events" },
	/* Events, then clauses. */
	{ "line", NULL, "_iosonar_line", "_iosonar_offer_line", "__iosonar_line" },
	{ "struct", NULL, "_iosonar_structs", "_iosonar_offer_structs", "__iosonar_structs" },
	{ "function", NULL, "_iosonar_functions", "_iosonar_offer_functions",
	  "__iosonar_functions" },
};

typedef void (*completion_fn)(FILE *out, const struct cmd *cmd, const struct option_def *def);

/* Calls fn for every option of a command, in the order of its help. */
static void completion_each(FILE *out, const struct cmd *cmd, completion_fn fn)
{
	const struct option_def *def;

	for (def = cmd->own ? cmd->own->options : NULL; def && def->name; def++)
		if (!def->refuses)
			fn(out, cmd, def);
	for (size_t i = 0; cmd->groups && cmd->groups[i]; i++)
		for (def = cmd->groups[i]->options; def->name; def++)
			if (!def->refuses)
				fn(out, cmd, def);
	for (def = always_group.options; def->name; def++)
		fn(out, cmd, def);
}

static const struct completion_source *completion_source(const struct option_def *def)
{
	for (size_t i = 0;
	     def->completes && i < sizeof(completion_sources) / sizeof(completion_sources[0]); i++)
		if (!strcmp(def->completes, completion_sources[i].completes))
			return &completion_sources[i];
	return NULL;
}

static void completion_put_choices(FILE *out, const struct option_def *def)
{
	const char *words[OPTION_CHOICES_MAX + 1];
	size_t nr = option__choices(def, words);

	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%s", i ? " " : "", words[i]);
}

static void completion_put_commands(FILE *out, const struct cmd *const *commands)
{
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
}

/* Without its first line, the licence. */
static void completion_put_source(FILE *out, const struct page_source *source)
{
	const char *first = (const char *)memchr(source->text, '\n', source->len) + 1;

	fwrite(first, 1, source->len - (size_t)(first - source->text), out);
}

/* ---- bash ---- */

static void bash_put_value(FILE *out, const struct cmd *cmd, const struct option_def *def)
{
	const struct completion_source *source = completion_source(def);
	const char *offer = def->kind == OPTION_LIST ? "_iosonar_list" : "_iosonar_words";

	if (!option__takes_value(def) || def->kind == OPTION_OPERANDS)
		return;
	fprintf(out, "	");
	if (def->letter)
		fprintf(out, "%s/-%c | ", cmd->name, def->letter);
	fprintf(out, "%s/--%s) ", cmd->name, def->name);
	if (def->choices) {
		fprintf(out, "%s \"", offer);
		completion_put_choices(out, def);
		fprintf(out, "\" ");
	} else if (source && source->bash) {
		fprintf(out, "%s %s ", offer, source->bash);
	} else if (source) {
		fprintf(out, "%s ", source->bash_fills);
	}
	fprintf(out, ";;\n");
}

static void bash_put_name(FILE *out, const struct cmd *cmd, const struct option_def *def)
{
	(void)cmd;
	if (def->kind == OPTION_OPERANDS)
		return;
	if (def->letter)
		fprintf(out, "-%c ", def->letter);
	fprintf(out, "--%s ", def->name);
}

/* Completes a word that does not start an option. */
static void bash_put_operands(FILE *out, const struct cmd *cmd, const struct option_def *def)
{
	const struct completion_source *source = completion_source(def);

	if (def->kind != OPTION_OPERANDS)
		return;
	fprintf(out, "	%s/*) if [[ $cur == -* ]]; then _iosonar_words \"", cmd->name);
	completion_each(out, cmd, bash_put_name);
	fprintf(out, "\"; else %s; fi ;;\n",
		source && source->bash_fills ? source->bash_fills : "_iosonar_files");
}

static void bash_print(FILE *out, const struct cmd *const *commands)
{
	completion_put_source(out, &page_source_completion_bash);
	fprintf(out, "	*/) _iosonar_words \"");
	completion_put_commands(out, commands);
	fprintf(out, " help --help --version --completion\" ;;\n");
	fprintf(out, "	help/help) _iosonar_words \"");
	completion_put_commands(out, commands);
	fprintf(out, "\" ;;\n	--completion/--completion) _iosonar_words \"bash fish zsh\" ;;\n");
	for (size_t i = 0; commands[i]; i++) {
		completion_each(out, commands[i], bash_put_value);
		completion_each(out, commands[i], bash_put_operands);
		fprintf(out, "	%s/*) _iosonar_words \"", commands[i]->name);
		completion_each(out, commands[i], bash_put_name);
		fprintf(out, "--\" ;;\n");
	}
	fputs(bash_tail, out);
}

/* ---- zsh ---- */

/* Text inside '…[text]…:text:' of _arguments. */
static void zsh_put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'') {
			fputs("'\\''", out);
			continue;
		}
		if (strchr("[]:\\", *text))
			putc('\\', out);
		putc(*text, out);
	}
}

static void zsh_put_value(FILE *out, const struct option_def *def)
{
	const struct completion_source *source = completion_source(def);
	bool list = def->kind == OPTION_LIST;

	putc(':', out);
	zsh_put_text(out, def->arg ? def->arg : def->name);
	putc(':', out);
	if (def->choices) {
		fputs(list ? "_sequence compadd - " : "(", out);
		completion_put_choices(out, def);
		fputs(list ? "" : ")", out);
	} else if (source) {
		fprintf(out, "%s%s", list ? "_sequence " : "", source->zsh);
	} else {
		putc(' ', out);
	}
}

/* '(-i --interval)'{-i+,--interval=}'[help]:DURATION: ' */
static void zsh_put_option(FILE *out, const struct cmd *cmd, const struct option_def *def)
{
	bool value = option__takes_value(def);

	(void)cmd;
	if (def->kind == OPTION_OPERANDS)
		return;
	fputs("		", out);
	if (option__is_list(def) || def->kind == OPTION_COUNT)
		fputs("'*'", out);
	else if (def->letter)
		fprintf(out, "'(-%c --%s)'", def->letter, def->name);
	if (def->letter)
		fprintf(out, "{-%c%s,--%s%s}", def->letter, value ? "+" : "", def->name,
			value ? "=" : "");
	else
		fprintf(out, "--%s%s", def->name, value ? "=" : "");
	fputs("'[", out);
	zsh_put_text(out, def->help);
	putc(']', out);
	if (value)
		zsh_put_value(out, def);
	fputs("' \\\n", out);
}

static void zsh_put_operands(FILE *out, const struct cmd *cmd, const struct option_def *def)
{
	const struct completion_source *source = completion_source(def);

	(void)cmd;
	if (def->kind == OPTION_OPERANDS)
		fprintf(out, "		'*:%s:%s'\n", def->name, source ? source->zsh : "_files");
}

/* After the options come operands or a COMMAND; zsh supports one of the two. */
static void zsh_put_command(FILE *out, const struct cmd *cmd)
{
	const struct option_def *def = cmd->own ? cmd->own->options : NULL;

	fprintf(out, "\n_iosonar_%s() {\n	_arguments -S \\\n", cmd->name);
	completion_each(out, cmd, zsh_put_option);
	while (def && def->name && def->kind != OPTION_OPERANDS)
		def++;
	if (def && def->name)
		completion_each(out, cmd, zsh_put_operands);
	else
		fprintf(out, "		'*:: :_normal'\n");
	fprintf(out, "}\n");
}

static void zsh_print(FILE *out, const struct cmd *const *commands)
{
	completion_put_source(out, &page_source_completion_zsh);
	for (size_t i = 0; commands[i]; i++)
		zsh_put_command(out, commands[i]);
	fprintf(out, "\n_iosonar() {\n	local -a names\n	names=(\n");
	for (size_t i = 0; commands[i]; i++) {
		fprintf(out, "		'%s:", commands[i]->name);
		zsh_put_text(out, commands[i]->brief);
		fputs("'\n", out);
	}
	fprintf(out, "	)\n"
		     "	if ((CURRENT == 2)); then\n"
		     "		_describe command names\n"
		     "		compadd - help --help --version --completion\n"
		     "		return\n"
		     "	fi\n"
		     "	shift words\n"
		     "	((CURRENT--))\n"
		     "	case $words[1] in\n"
		     "	help) _describe command names ;;\n"
		     "	--completion) compadd - bash fish zsh ;;\n");
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "	%s) _iosonar_%s ;;\n", commands[i]->name, commands[i]->name);
	fprintf(out, "	esac\n}\n\n%s", zsh_tail);
}

/* ---- fish ---- */

static void fish_put_text(FILE *out, const char *text)
{
	putc('\'', out);
	for (; *text; text++) {
		if (strchr("'\\", *text))
			putc('\\', out);
		putc(*text, out);
	}
	putc('\'', out);
}

/* -x: a value and no file; -r -F: a file. */
static void fish_put_value(FILE *out, const struct option_def *def)
{
	const struct completion_source *source = completion_source(def);
	const bool list = def->kind == OPTION_LIST;

	if (source && !source->fish) {
		fputs(" -r -F", out);
		return;
	}
	fputs(" -x", out);
	if (!def->choices && !source)
		return;
	fputs(list ? " -a '(__fish_append , " : " -a '", out);
	if (def->choices)
		completion_put_choices(out, def);
	else
		fprintf(out, "(%s)", source->fish);
	fputs(list ? ")'" : "'", out);
}

static void fish_put_option(FILE *out, const struct cmd *cmd, const struct option_def *def)
{
	const struct completion_source *source = completion_source(def);

	fprintf(out, "complete -c iosonar -n '__iosonar_is %s'", cmd->name);
	if (def->kind == OPTION_OPERANDS && source && source->fish) {
		fprintf(out, " -a '(%s)'\n", source->fish);
		return;
	}
	if (def->kind == OPTION_OPERANDS) {
		fputs(" -F\n", out);
		return;
	}
	if (def->letter)
		fprintf(out, " -s %c", def->letter);
	fprintf(out, " -l %s", def->name);
	if (option__takes_value(def))
		fish_put_value(out, def);
	fputs(" -d ", out);
	fish_put_text(out, def->help);
	putc('\n', out);
}

static void fish_print(FILE *out, const struct cmd *const *commands)
{
	completion_put_source(out, &page_source_completion_fish);
	fputs("complete -c iosonar -n __iosonar_is_first -a help\n"
	      "complete -c iosonar -n __iosonar_is_first -l help\n"
	      "complete -c iosonar -n __iosonar_is_first -l version\n"
	      "complete -c iosonar -n __iosonar_is_first -l completion\n"
	      "complete -c iosonar -n '__iosonar_is --completion' -a 'bash fish zsh'\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		fprintf(out,
			"complete -c iosonar -n '__iosonar_is_first; or __iosonar_is help' -a %s "
			"-d ",
			commands[i]->name);
		fish_put_text(out, commands[i]->brief);
		putc('\n', out);
		completion_each(out, commands[i], fish_put_option);
	}
}

static const struct completion_shell {
	const char *name;
	void (*print)(FILE *out, const struct cmd *const *commands);
} completion_shells[] = {
	{ "bash", bash_print },
	{ "fish", fish_print },
	{ "zsh", zsh_print },
};

int completion__print(FILE *out, const struct cmd *const *commands, const char *shell)
{
	if (!shell)
		return log_err(-EINVAL,
			       "--completion: the shell is missing; give bash, fish or zsh");
	for (size_t i = 0; i < sizeof(completion_shells) / sizeof(completion_shells[0]); i++) {
		if (!strcmp(completion_shells[i].name, shell)) {
			completion_shells[i].print(out, commands);
			return 0;
		}
	}
	return log_err(-EINVAL, "--completion %s: unsupported shell; give bash, fish or zsh",
		       shell);
}
