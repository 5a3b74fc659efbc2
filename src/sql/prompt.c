/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prompt.c: interactive queries: libedit edits and remembers lines and completes the names of
 * tables and columns. Ctrl-C gives up a line or a query, Ctrl-D ends. No history file is read or
 * written.
 */
#ifdef HAVE_SQLITE

#define _GNU_SOURCE 1 /* asprintf */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#ifdef HAVE_LIBEDIT
#include <histedit.h>
#endif
#include "base/log.h"
#include "sql/engine.h"

enum { PROMPT_STEPS = 10000 }; /* SQLite's VM steps between two checks of Ctrl-C */

static const char prompt_help[] =
	"SELECT ...;      run a query; it may span lines and ends with ';'\n"
	".tables          list the tables\n"
	".schema [TABLE]  list the columns and what they mean\n"
	".help            print this help\n"
	".quit            quit, as Ctrl-D does\n"
	"Functions: p(x, 0.99), the exact 99th percentile; hist(x), counts by powers of two as "
	"JSON;\n"
	"and all functions of SQLite. Example:\n"
	"  SELECT dev, op, count(*), p(lat_ns, 0.99) FROM io GROUP BY dev, op;\n";

static volatile sig_atomic_t prompt_is_interrupted;

static void prompt_on_signal(int signal)
{
	(void)signal;
	prompt_is_interrupted = 1;
}

/* Elsewhere, except in queries, the signal is blocked, so never too early. False: it came. */
static bool prompt_wait(void)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	sigset_t none;

	sigemptyset(&none);
	while (!prompt_is_interrupted && ppoll(&fd, 1, NULL, &none) < 0 && errno == EINTR)
		;
	errno = EINTR;
	return !prompt_is_interrupted;
}

static int prompt_look(void *sql)
{
	return prompt_is_interrupted || sql_query__is_late(sql);
}

/* ---- commands of its own ---- */

static int prompt_print_schema(FILE *out, const char *name)
{
	size_t nr = 0;

	for (size_t i = 0; sql_tables[i]; i++) {
		if (*name && sqlite3_stricmp(name, sql_tables[i]->name))
			continue;
		sql_table__print(sql_tables[i], out);
		nr++;
	}
	return nr ? 0
		  : log_err(-EINVAL, ".schema: unknown table '%s'; .tables lists the tables", name);
}

int sql_prompt__command(FILE *out, const char *line)
{
	char word[32] = "", rest[32] = "";

	sscanf(line, " %31[^ \t\n;] %31[^ \t\n;]", word, rest);
	if (!strcmp(word, ".quit") || !strcmp(word, ".exit"))
		return -ECANCELED;
	if (!strcmp(word, ".schema"))
		return prompt_print_schema(out, rest);
	if (!strcmp(word, ".help"))
		fputs(prompt_help, out);
	else if (!strcmp(word, ".tables"))
		for (size_t i = 0; sql_tables[i]; i++)
			fprintf(out, "%-8s %s\n", sql_tables[i]->name, sql_tables[i]->brief);
	else
		return log_err(-EINVAL, "unknown command '%s'; .help lists the commands", word);
	return 0;
}

/* ---- lines ---- */

/* Without line editing. The caller frees it. */
static char *lines_read(void)
{
	size_t room = 0;
	char *line = NULL;

	if (getline(&line, &room, stdin) > 0)
		return line;
	clearerr(stdin);
	free(line);
	return NULL;
}

#ifdef HAVE_LIBEDIT

struct prompt_lines {
	EditLine *edit;
	History *history;
	bool is_terminal;
	bool is_more; /* the line continues a query */
};

bool sql_prompt__edits_lines(void)
{
	return true;
}

static char *prompt_text(EditLine *edit)
{
	static char first[] = "sql> ", more[] = "...> ";
	struct prompt_lines *lines;

	el_get(edit, EL_CLIENTDATA, &lines);
	return lines->is_more ? more : first;
}

static bool prompt_is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

/* The common prefix of all names that match; their number, and a list of them. */
struct prompt_match {
	const char *begins;
	size_t len, nr, common;
	const char *first;
};

static void match_add(struct prompt_match *m, const char *name, bool lists)
{
	size_t same = 0;

	if (strncmp(name, m->begins, m->len))
		return;
	if (lists)
		fprintf(stderr, "%s%s", m->nr ? "  " : "\n", name);
	if (!m->nr++) {
		m->first = name;
		m->common = strlen(name);
		return;
	}
	while (same < m->common && name[same] == m->first[same])
		same++;
	m->common = same;
}

/* The same column of several tables counts once. */
static bool match_is_known(size_t table, const char *name)
{
	for (size_t i = 0; i < table; i++)
		for (const struct sql_column *c = sql_tables[i]->columns; c->name; c++)
			if (!strcmp(c->name, name))
				return true;
	return false;
}

static void match_all(struct prompt_match *m, bool lists)
{
	static const char *const own[] = { ".tables", ".schema", ".help", ".quit", "hist(", "p(" };

	m->nr = 0;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		match_add(m, own[i], lists);
	for (size_t i = 0; sql_tables[i]; i++) {
		match_add(m, sql_tables[i]->name, lists);
		for (const struct sql_column *c = sql_tables[i]->columns; c->name; c++)
			if (!match_is_known(i, c->name))
				match_add(m, c->name, lists);
	}
}

static unsigned char prompt_complete(EditLine *edit, int key)
{
	const LineInfo *line = el_line(edit);
	struct prompt_match m = { .begins = line->cursor };
	char rest[64];

	(void)key;
	while (m.begins > line->buffer && prompt_is_of_name(m.begins[-1]))
		m.begins--;
	m.len = (size_t)(line->cursor - m.begins);
	if (!m.len)
		return CC_ERROR;
	match_all(&m, false);
	if (!m.nr)
		return CC_ERROR;
	if (m.common > m.len) {
		snprintf(rest, sizeof(rest), "%.*s", (int)(m.common - m.len), m.first + m.len);
		el_insertstr(edit, rest);
		return CC_REFRESH;
	}
	if (m.nr == 1)
		return CC_ERROR;
	match_all(&m, true);
	fputc('\n', stderr);
	return CC_REDISPLAY;
}

/* Bytes of one UTF-8 character. */
static int prompt_read(EditLine *edit, wchar_t *character)
{
	mbstate_t state = { 0 };
	size_t used = 0;
	char byte;

	(void)edit;
	do {
		ssize_t got = prompt_wait() ? read(STDIN_FILENO, &byte, 1) : -1;

		if (got != 1)
			return (int)got;
		used = mbrtowc(character, &byte, 1, &state);
	} while (used == (size_t)-2);
	if (used == (size_t)-1)
		*character = L'?';
	return 1;
}

static int lines_open(struct prompt_lines *lines)
{
	HistEvent event;

	if (!lines->is_terminal)
		return 0;
	lines->edit = el_init("iosonar", stdin, stderr, stderr);
	lines->history = history_init();
	if (!lines->edit || !lines->history)
		return log_err(-ENOMEM, "out of memory");
	history(lines->history, &event, H_SETSIZE, 1000);
	history(lines->history, &event, H_SETUNIQUE, 1);
	el_set(lines->edit, EL_CLIENTDATA, lines);
	el_set(lines->edit, EL_PROMPT, prompt_text);
	el_set(lines->edit, EL_GETCFN, prompt_read);
	el_set(lines->edit, EL_EDITOR, "emacs");
	el_set(lines->edit, EL_HIST, history, lines->history);
	el_set(lines->edit, EL_ADDFN, "complete-name", "names of tables and columns",
	       prompt_complete);
	el_set(lines->edit, EL_BIND, "^I", "complete-name", NULL);
	return 0;
}

static void lines_close(struct prompt_lines *lines)
{
	if (lines->edit)
		el_end(lines->edit);
	if (lines->history)
		history_end(lines->history);
}

static char *lines_edit(struct prompt_lines *lines)
{
	HistEvent event;
	int len;
	const char *line = el_gets(lines->edit, &len);

	if (!line || len <= 0)
		return NULL;
	history(lines->history, &event, H_ENTER, line);
	return strdup(line);
}

#else

struct prompt_lines {
	bool is_terminal, is_more;
};

bool sql_prompt__edits_lines(void)
{
	return false;
}

static int lines_open(struct prompt_lines *lines)
{
	(void)lines;
	return 0;
}

static void lines_close(struct prompt_lines *lines)
{
	(void)lines;
}

static char *lines_edit(struct prompt_lines *lines)
{
	fputs(lines->is_more ? "...> " : "sql> ", stderr);
	return prompt_wait() ? lines_read() : NULL;
}

#endif

/* ---- the prompt ---- */

/* Joins the query so far and this line; takes both. */
static char *prompt_join(char *query, char *line)
{
	char *both = NULL;

	if (!query)
		return line;
	if (asprintf(&both, "%s%s", query, line) < 0)
		both = NULL;
	free(query);
	free(line);
	return both;
}

/* On a terminal it goes on after mistakes; not after a closed pipe. */
static int prompt_forgive(const struct prompt_lines *lines, int err)
{
	prompt_is_interrupted = 0;
	return lines->is_terminal && (err == -EINVAL || err == -EIO) ? 0 : err;
}

static void prompt_block(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(how, &set, NULL);
}

static int prompt_query(struct sql *sql, const struct prompt_lines *lines, const char *query)
{
	int err;

	if (!lines->is_terminal)
		return sql_query__run_to_end(sql, query);
	prompt_block(SIG_UNBLOCK);
	err = sql_query__run(sql, query);
	prompt_block(SIG_BLOCK);
	return prompt_forgive(lines, err);
}

/* Takes one more line. *query holds the query until its ';' has come. */
static int prompt_take(struct sql *sql, const struct prompt_lines *lines, char *line, char **query)
{
	int err;

	if (!*query && line[strspn(line, " \t")] == '.') {
		err = prompt_forgive(lines, sql_prompt__command(sql->run->out, line));
		free(line);
		fflush(sql->run->out);
		return err;
	}
	*query = prompt_join(*query, line);
	if (!*query)
		return log_err(-ENOMEM, "out of memory");
	if ((*query)[strspn(*query, " \t\n")] && !sqlite3_complete(*query))
		return 0;
	err = prompt_query(sql, lines, *query);
	free(*query);
	*query = NULL;
	return err;
}

static int prompt_loop(struct sql *sql, struct prompt_lines *lines)
{
	char *query = NULL, *line;
	int err = 0;

	while (!err) {
		lines->is_more = query;
		/* NULL: the end, or Ctrl-C */
		line = lines->is_terminal ? lines_edit(lines) : lines_read();
		if (line) {
			err = prompt_take(sql, lines, line, &query);
			continue;
		}
		if (!prompt_is_interrupted)
			break;
		prompt_is_interrupted = 0; /* Ctrl-C */
		fputc('\n', stderr);
		free(query);
		query = NULL;
	}
	/* A file may omit its last ';'; a user who quits has dropped the query. */
	if (!err && query && !lines->is_terminal)
		err = prompt_query(sql, lines, query);
	free(query);
	return err;
}

/* The prompt handles Ctrl-C while it runs. */
static int prompt_on_terminal(struct sql *sql, struct prompt_lines *lines)
{
	struct sigaction on_signal = { .sa_handler = prompt_on_signal }, before;
	size_t nr = sql->run->files->nr;
	int err;

	sigaction(SIGINT, &on_signal, &before);
	prompt_block(SIG_BLOCK);
	log_note("%zu capture%s; .help lists the commands", nr, nr == 1 ? "" : "s");
	err = prompt_loop(sql, lines);
	prompt_block(SIG_UNBLOCK);
	sigaction(SIGINT, &before, NULL);
	return err;
}

int sql_prompt__run(struct sql *sql)
{
	struct prompt_lines lines = { .is_terminal = isatty(STDIN_FILENO) };
	int err = lines_open(&lines);

	sqlite3_progress_handler(sql->db, PROMPT_STEPS, prompt_look, sql);
	if (!err)
		err = lines.is_terminal ? prompt_on_terminal(sql, &lines)
					: prompt_loop(sql, &lines);
	sqlite3_progress_handler(sql->db, 0, NULL, NULL);
	lines_close(&lines);
	return err;
}

#endif
