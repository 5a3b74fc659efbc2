/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * completion.c: writes the completion scripts for bash and zsh. What never changes is text below;
 * commands, options and choices are filled in from the tables; devices and processes are looked up
 * by the shell at the moment somebody presses Tab, events and their values by the program itself.
 * The scripts need nothing but the shell.
 */
#include "cmd/completion.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"

static const char bash_head[] =
	"# iosonar completion for bash: eval \"$(iosonar --completion bash)\"\n"
	"_iosonar_names()\n"
	"{\n"
	"	local path\n"
	"	for path; do\n"
	"		[[ -e $path ]] && printf '%s\\n' \"${path##*/}\"\n"
	"	done\n"
	"}\n"
	"\n"
	"_iosonar_words()\n"
	"{\n"
	"	mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"# words with commas between them: only what stands behind the last one is completed\n"
	"_iosonar_list()\n"
	"{\n"
	"	local head=\n"
	"	[[ $cur == *,* ]] && head=${cur%,*},\n"
	"	mapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$1\" -- \"${cur##*,}\")\n"
	"}\n"
	"\n"
	"_iosonar_files()\n"
	"{\n"
	"	compopt -o filenames 2>/dev/null\n"
	"	mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"}\n"
	"\n"
	"# bash cuts words at colons: the word that ends at place $1, put together again, is in "
	"$word\n"
	"_iosonar_joined()\n"
	"{\n"
	"	word=${COMP_WORDS[$1]}\n"
	"	for ((first = $1; first > 2; first--)); do\n"
	"		[[ ${COMP_WORDS[first]} == :* || ${COMP_WORDS[first - 1]} == *: ]] || "
	"break\n"
	"		word=${COMP_WORDS[first - 1]}$word\n"
	"	done\n"
	"}\n"
	"\n"
	"# adds those words that begin with $1; names come from files: nothing in them is "
	"expanded\n"
	"_iosonar_offer()\n"
	"{\n"
	"	local begin=$1 word\n"
	"	shift\n"
	"	for word; do\n"
	"		[[ $word == \"$begin\"* ]] && COMPREPLY+=(\"$head$word\")\n"
	"	done\n"
	"}\n"
	"\n"
	"# events: the program knows them; before the first colon, which systems and kinds there "
	"are\n"
	"_iosonar_events()\n"
	"{\n"
	"	local word first head= names kinds='fn: ret: raw: user: userret: usdt: profile: "
	"interval: soft: hw:'\n"
	"	_iosonar_joined \"$COMP_CWORD\"\n"
	"	if [[ $word =~ ^(user|userret|usdt):[^:]*$ ]]; then\n"
	"		cur=${cur#:}\n"
	"		_iosonar_files\n"
	"		return\n"
	"	fi\n"
	"	mapfile -t names < <(\"${COMP_WORDS[0]}\" events --names -o csv \"$word*\" "
	"2>/dev/null | tail -n +2)\n"
	"	if [[ $word == *:* ]]; then\n"
	"		_iosonar_offer \"$word\" \"${names[@]}\"\n"
	"		COMPREPLY=(\"${COMPREPLY[@]#\"${word%:*}:\"}\")\n"
	"	else\n"
	"		compopt -o nospace 2>/dev/null\n"
	"		mapfile -t names < <(printf '%s:\\n' \"${names[@]%%:*}\" | sort -u)\n"
	"		_iosonar_offer \"$word\" \"${names[@]}\" $kinds\n"
	"	fi\n"
	"}\n"
	"\n"
	"# what the events before place $1 know, and what every event knows\n"
	"_iosonar_values()\n"
	"{\n"
	"	local word first at values events=() head= breaks='*[ ,(]'\n"
	"	for ((at = $1 - 1; at > 1; at = first - 1)); do\n"
	"		_iosonar_joined \"$at\"\n"
	"		[[ $word == -* ]] || events+=(\"${word//[\\'\\\"]/}\")\n"
	"	done\n"
	"	cur=${cur#[\\'\\\"]}\n"
	"	head=${cur%\"${cur##$breaks}\"}\n"
	"	mapfile -t values < <(\"${COMP_WORDS[0]}\" events -v -o csv \"${events[@]}\" "
	"2>/dev/null | tail -n +2 | cut -d, -f2)\n"
	"	_iosonar_offer \"${cur##$breaks}\" \"${values[@]}\" \\\n"
	"		pid tid uid comm cpu cgroup nsecs time probe func kstack ustack latency\n"
	"}\n"
	"\n"
	"# the clauses that the command has and the line has not, but not right behind a clause's "
	"word\n"
	"_iosonar_clauses()\n"
	"{\n"
	"	local clause head= clauses='of by if show on'\n"
	"	case ${COMP_WORDS[1]} in\n"
	"	count | stacks) clauses='by if' ;;\n"
	"	sum | hist) clauses='of by if' ;;\n"
	"	print) clauses='show if' ;;\n"
	"	pair) clauses='on by if' ;;\n"
	"	esac\n"
	"	((COMP_CWORD > 2)) || return 0\n"
	"	[[ ${COMP_WORDS[COMP_CWORD - 1]} =~ ^(of|by|if|show|on)$ ]] && return 0\n"
	"	for clause in $clauses; do\n"
	"		[[ \" ${COMP_WORDS[*]:2} \" == *\" $clause \"* ]] || _iosonar_offer "
	"\"$cur\" $clause\n"
	"	done\n"
	"}\n"
	"\n"
	"# EVENT... of VALUE by KEYS if CONDITION: events, then the values of those\n"
	"_iosonar_line()\n"
	"{\n"
	"	local i\n"
	"	_iosonar_clauses\n"
	"	for ((i = 2; i < COMP_CWORD; i++)); do\n"
	"		[[ ${COMP_WORDS[i]} =~ ^(of|by|if|show|on)$ ]] || continue\n"
	"		_iosonar_values \"$i\"\n"
	"		return\n"
	"	done\n"
	"	_iosonar_events\n"
	"}\n"
	"\n"
	"# structs of the kernel, by their beginning; the program knows them\n"
	"_iosonar_structs()\n"
	"{\n"
	"	local head= names\n"
	"	mapfile -t names < <(\"${COMP_WORDS[0]}\" class --names -o csv \"$cur\" "
	"2>/dev/null | tail -n +2)\n"
	"	_iosonar_offer \"$cur\" \"${names[@]}\"\n"
	"}\n"
	"\n"
	"# kernel functions, by their beginning, and those of files\n"
	"_iosonar_functions()\n"
	"{\n"
	"	local word first head= names\n"
	"	_iosonar_joined \"$COMP_CWORD\"\n"
	"	if [[ $word == user:* ]]; then\n"
	"		_iosonar_events\n"
	"		return\n"
	"	fi\n"
	"	mapfile -t names < <(\"${COMP_WORDS[0]}\" events --names -o csv \"fn:$cur*\" "
	"2>/dev/null | tail -n +2)\n"
	"	_iosonar_offer \"$cur\" \"${names[@]#fn:}\"\n"
	"}\n"
	"\n"
	"_iosonar()\n"
	"{\n"
	"	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i\n"
	"	COMPREPLY=()\n"
	"	# bash cuts --name=value at the \"=\"\n"
	"	if [[ $cur == = ]]; then\n"
	"		cur=\n"
	"	elif [[ $prev == = ]]; then\n"
	"		prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"	fi\n"
	"	for ((i = 2; i < COMP_CWORD; i++)); do\n"
	"		[[ ${COMP_WORDS[i]} == -- ]] || continue\n"
	"		((i + 1 < COMP_CWORD)) && { _iosonar_files; return; }\n"
	"		mapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
	"		return\n"
	"	done\n"
	"	((COMP_CWORD > 1)) || prev=\n"
	"	case ${COMP_WORDS[1]}/$prev in\n";

static const char bash_tail[] = "	esac\n"
				"}\n"
				"complete -F _iosonar iosonar\n";

static const char zsh_head[] =
	"#compdef iosonar\n"
	"# iosonar completion for zsh: a file _iosonar in a folder of $fpath, or after compinit\n"
	"# source <(iosonar --completion zsh)\n"
	"_iosonar_devices() {\n"
	"	local -a names\n"
	"	names=(/sys/class/block/*(N:t) /sys/class/nvme/*(N:t))\n"
	"	compadd \"$@\" -a names\n"
	"}\n"
	"_iosonar_offer_events() {\n"
	"	local -a names kinds\n"
	"	kinds=(fn: ret: raw: user: userret: usdt: profile: interval: soft: hw:)\n"
	"	if [[ $PREFIX == (user|userret|usdt):[^:]# ]]; then\n"
	"		compset -P '*:'\n"
	"		_files\n"
	"		return\n"
	"	fi\n"
	"	names=(${(f)\"$(iosonar events --names -o csv \"$PREFIX*\" 2>/dev/null)\"})\n"
	"	shift names\n"
	"	if [[ $PREFIX == *:* ]]; then\n"
	"		compadd \"$@\" -a names\n"
	"	else\n"
	"		names=(${^${(u)names%%:*}}:)\n"
	"		compadd \"$@\" -S '' -a names kinds\n"
	"	fi\n"
	"}\n"
	"_iosonar_offer_structs() {\n"
	"	local -a names\n"
	"	names=(${(f)\"$(iosonar class --names -o csv \"$PREFIX\" 2>/dev/null)\"})\n"
	"	shift names\n"
	"	compadd \"$@\" -a names\n"
	"}\n"
	"_iosonar_offer_functions() {\n"
	"	local -a names\n"
	"	if [[ $PREFIX == user:* ]]; then\n"
	"		_iosonar_offer_events \"$@\"\n"
	"		return\n"
	"	fi\n"
	"	names=(${(f)\"$(iosonar events --names -o csv \"fn:$PREFIX*\" 2>/dev/null)\"})\n"
	"	shift names\n"
	"	names=(${names#fn:})\n"
	"	compadd \"$@\" -a names\n"
	"}\n"
	"_iosonar_offer_line() {\n"
	"	local -a names events clauses\n"
	"	local at=${words[(i)(of|by|if|show|on)]} dashes=${words[(i)--]}\n"
	"	if ((dashes < CURRENT)); then\n"
	"		shift dashes words\n"
	"		((CURRENT -= dashes))\n"
	"		_normal\n"
	"		return\n"
	"	fi\n"
	"	case $words[1] in\n"
	"	count | stacks) clauses=(by if) ;;\n"
	"	sum | hist) clauses=(of by if) ;;\n"
	"	print) clauses=(show if) ;;\n"
	"	*) clauses=(on by if) ;;\n"
	"	esac\n"
	"	if ((CURRENT > 2)) && [[ $words[CURRENT-1] != (of|by|if|show|on) ]]; then\n"
	"		compadd -- ${clauses:|words}\n"
	"	fi\n"
	"	if ((at >= CURRENT)); then\n"
	"		_iosonar_offer_events \"$@\"\n"
	"		return\n"
	"	fi\n"
	"	events=(${words[2,at-1]:#-*})\n"
	"	names=(${(f)\"$(iosonar events -v -o csv ${(Q)events} 2>/dev/null | cut -d, "
	"-f2)\"})\n"
	"	shift names\n"
	"	compset -P '*[ ,(]'\n"
	"	compadd -S '' -a names\n"
	"	compadd -S '' pid tid uid comm cpu cgroup nsecs time probe func kstack ustack "
	"latency\n"
	"}\n";

static const char zsh_tail[] = "if [[ $funcstack[1] == _iosonar ]]; then\n"
			       "	_iosonar \"$@\"\n"
			       "else\n"
			       "	compdef _iosonar iosonar\n"
			       "fi\n";

/* What an option's value is completed with; both shells have an entry for each. */
static const struct completion_source {
	const char *completes;
	const char *bash;	/* words for _iosonar_words; a list uses _iosonar_list */
	const char *bash_fills; /* instead: a function that fills COMPREPLY */
	const char *zsh;	/* a function that takes compadd's options */
} completion_sources[] = {
	{ "device", "\"$(_iosonar_names /sys/class/block/* /sys/class/nvme/*)\"", NULL,
	  "_iosonar_devices" },
	{ "pid", "\"$(_iosonar_names /proc/[0-9]*)\"", NULL, "_pids" },
	{ "file", NULL, "_iosonar_files", "_files" },
	{ "event", NULL, "_iosonar_events", "_iosonar_offer_events" },
	{ "line", NULL, "_iosonar_line", "_iosonar_offer_line" }, /* events, then clauses */
	{ "struct", NULL, "_iosonar_structs", "_iosonar_offer_structs" },
	{ "function", NULL, "_iosonar_functions", "_iosonar_offer_functions" },
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
	for (size_t i = 0; def->choices[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", def->choices[i]);
}

static void completion_put_commands(FILE *out)
{
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
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

/* A word that begins no option is one of these. */
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

static void bash_print(FILE *out)
{
	fputs(bash_head, out);
	fprintf(out, "	*/) _iosonar_words \"");
	completion_put_commands(out);
	fprintf(out, " help --help --version --completion\" ;;\n");
	fprintf(out, "	help/help) _iosonar_words \"");
	completion_put_commands(out);
	fprintf(out, "\" ;;\n	--completion/--completion) _iosonar_words \"bash zsh\" ;;\n");
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

static bool zsh_takes_operands(const struct cmd *cmd)
{
	for (const struct option_def *def = cmd->own ? cmd->own->options : NULL; def && def->name;
	     def++)
		if (def->kind == OPTION_OPERANDS)
			return true;
	return false;
}

/* What stands behind the options is the operands, or a COMMAND; zsh takes one of the two. */
static void zsh_put_command(FILE *out, const struct cmd *cmd)
{
	fprintf(out, "\n_iosonar_%s() {\n	_arguments -S \\\n", cmd->name);
	completion_each(out, cmd, zsh_put_option);
	if (zsh_takes_operands(cmd))
		completion_each(out, cmd, zsh_put_operands);
	else
		fprintf(out, "		'*:: :_normal'\n");
	fprintf(out, "}\n");
}

static void zsh_put_briefs(FILE *out)
{
	for (size_t i = 0; commands[i]; i++) {
		fprintf(out, "		'%s:", commands[i]->name);
		zsh_put_text(out, commands[i]->brief);
		fputs("'\n", out);
	}
}

static void zsh_print(FILE *out)
{
	fputs(zsh_head, out);
	for (size_t i = 0; commands[i]; i++)
		zsh_put_command(out, commands[i]);
	fprintf(out, "\n_iosonar() {\n	local -a names\n	names=(\n");
	zsh_put_briefs(out);
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
		     "	--completion) compadd - bash zsh ;;\n");
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "	%s) _iosonar_%s ;;\n", commands[i]->name, commands[i]->name);
	fprintf(out, "	esac\n}\n\n%s", zsh_tail);
}

static const struct completion_shell {
	const char *name;
	void (*print)(FILE *out);
} completion_shells[] = {
	{ "bash", bash_print },
	{ "zsh", zsh_print },
};

int completion__print(FILE *out, const char *shell)
{
	if (!shell)
		return log_err(-EINVAL, "--completion: the shell is missing; give bash or zsh");
	for (size_t i = 0; i < sizeof(completion_shells) / sizeof(completion_shells[0]); i++) {
		if (!strcmp(completion_shells[i].name, shell)) {
			completion_shells[i].print(out);
			return 0;
		}
	}
	return log_err(-EINVAL, "--completion %s: there is none for it; give bash or zsh", shell);
}
