/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_terminal.c: which columns does a narrow terminal show, when do they come back, and which
 * are named on stderr? The terminal is a pseudo terminal that is resized.
 */
#define _GNU_SOURCE 1 /* posix_openpt, memmem */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>
#include "base/terminal.h"
#include "cmd/commands.h"
#include "decode/column.h"
#include "tap.h"

struct line {
	uint64_t n;
	const char *words, *tail;
};

#define AT(name) offsetof(struct line, name)
static const struct column columns[] = {
	{ "key", "key", CELL_COUNT, 3, "", .at = AT(n) },
	{ "first_ns", "first", CELL_COUNT, 5, "", .at = AT(n), .drop = 1 },
	{ "words", "words", CELL_TEXT, 5, "", .at = AT(words), .drop = 3 },
	{ "second", "second", CELL_COUNT, 6, "", .at = AT(n), .drop = 2 },
	{ "tail", "tail", CELL_TEXT, 4, "", .at = AT(tail) },
	{ 0 },
};
static const struct object lines = { "line", { columns } };

static int terminal, said_fd;
static FILE *out;

static void resize(unsigned short to)
{
	struct winsize size = { .ws_col = to, .ws_row = 24 };

	ioctl(terminal, TIOCSWINSZ, &size);
}

static bool open_terminal(void)
{
	struct termios raw;
	int pair[2], fd;

	terminal = posix_openpt(O_RDWR | O_NOCTTY);
	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
		return false;
	fd = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	if (fd < 0 || tcgetattr(fd, &raw))
		return false;
	cfmakeraw(&raw);
	tcsetattr(fd, TCSANOW, &raw);
	out = fdopen(fd, "w");
	if (!out || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) ||
	    dup2(pair[1], STDERR_FILENO) < 0)
		return false;
	said_fd = pair[0];
	return true;
}

/* What the terminal shows since it was last asked. */
static const char *shown(void)
{
	static char text[65536];
	struct pollfd fd = { terminal, POLLIN, 0 };
	size_t len = 0;
	ssize_t got;

	fflush(out);
	while (poll(&fd, 1, 0) == 1 && len < sizeof(text) - 1) {
		got = read(terminal, text + len, sizeof(text) - 1 - len);
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	text[len] = 0;
	return text;
}

/* The next message, "" if there is none. */
static const char *said(void)
{
	static char text[1024];
	ssize_t len = recv(said_fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[len < 0 ? 0 : len] = 0;
	return text;
}

static struct table *table_of(unsigned short wide)
{
	struct table *table = table__of(out, TABLE_TEXT, &lines, NULL, NULL);

	resize(wide);
	table__head_growth(table);
	return table;
}

static void put(struct table *table, const char *words, const char *tail)
{
	const struct line line = { 1, words, tail };

	table__row(table, &line);
}

static void test_order(void)
{
	static const struct {
		unsigned short wide;
		const char *shown, *said;
	} cases[] = {
		{ 0, "key first words second tail\n  1     1 w          1 t\n", "" },
		{ 27, "key first words second tail\n  1     1 w          1 t\n", "" },
		{ 26, "key words second tail\n  1 w          1 t\n",
		  "hidden because the terminal has 26 columns: first (| less -S shows all)\n" },
		{ 20, "key first words tail\n  1     1 w     t\n",
		  "hidden because the terminal has 20 columns: second (| less -S shows all)\n" },
		{ 19, "key words tail\n  1 w     t\n",
		  "hidden because the terminal has 19 columns: first, second (| less -S shows "
		  "all)\n" },
		{ 13, "key tail\n  1 t\n",
		  "hidden because the terminal has 13 columns: first, second, words (| less -S "
		  "shows all)\n" },
		{ 1, "key tail\n  1 t\n",
		  "hidden because the terminal has 1 columns: first, second, words (| less -S "
		  "shows all)\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *table = table_of(cases[i].wide);

		put(table, "w", "t");
		is_str(shown(), cases[i].shown,
		       "columns go in their order, and return if they fit");
		is_str(said(), cases[i].said, "and are named");
		table__free(table);
	}
}

static void test_once(void)
{
	struct table *table = table_of(26);

	put(table, "w", "t");
	is_str(said(), "", "another table does not say the same again");
	table__free(table);
	shown();
}

static void test_chosen(void)
{
	struct table *table = table_of(10);

	table__keep_columns(table);
	put(table, "w", "t");
	is_str(shown(), "key first words second tail\n  1     1 w          1 t\n",
	       "columns that the user chose stay");
	is_str(said(), "", "and nothing is hidden");
	table__free(table);
	table = table_of(15);
	table__keep_column(table, "first");
	put(table, "w", "t");
	is_str(shown(), "key first tail\n  1     1 t\n", "one is kept by its heading");
	said();
	table__free(table);
}

static void test_resize(void)
{
	struct table *table = table_of(200);

	put(table, "w", "t");
	shown();
	resize(14);
	put(table, "w", "t");
	is_str(shown(), "  1     1 w          1 t\n", "a resized terminal waits for a heading");
	table__heading_again(table);
	put(table, "w", "t");
	is_str(shown(), "key words tail\n  1 w     t\n", "which has the columns that fit now");
	said();
	resize(200);
	table__heading_again(table);
	put(table, "w", "t");
	is_str(shown(), "key first words second tail\n  1     1 w          1 t\n",
	       "and all again when there is room");
	table__free(table);
}

/* One long text takes the column away; after some rows without one it is back. */
static void test_growth(void)
{
	struct table *table = table_of(27);

	put(table, "w", "t");
	shown();
	put(table, "a text of more than twenty letters", "t");
	is_str(shown(), "key first second tail\n  1     1      1 t\n",
	       "a cell that does not fit makes a new heading without its column");
	is_str(said(), "hidden because the terminal has 27 columns: words (| less -S shows all)\n",
	       "which is named now");
	for (int i = 0; i < 8; i++)
		put(table, "w", "t");
	ok(!strstr(shown(), "words"), "for some rows it stays so");
	put(table, "w", "t");
	is_str(shown(), "key first words second tail\n  1     1 w          1 t\n",
	       "then there is a heading with the column");
	put(table, "a text of more than twenty letters", "t");
	shown();
	for (int i = 0; i < 16; i++)
		put(table, "w", "t");
	ok(!strstr(shown(), "words"), "the second time it takes twice as long");
	put(table, "w", "t");
	ok(strstr(shown(), "words"), "and it is back");
	is_str(said(), "", "a column is named once");
	table__free(table);
}

/* A text at the end that fits in no way makes no column go. */
static void test_tail(void)
{
	const char *tail = "a text of more than twenty letters";
	struct table *table = table_of(30);

	put(table, "w", tail);
	is_str(shown(), "key words tail\n  1 w     a text of more than twenty letters\n",
	       "a last column of text is wrapped by the terminal");
	said();
	table__free(table);
	table = table_of(44);
	put(table, "w", tail);
	is_str(shown(), "key words tail\n  1 w     a text of more than twenty letters\n",
	       "one that can fit makes others go");
	said();
	table__free(table);
}

static void test_fitted(void)
{
	const struct line line = { 1, "a text of more than twenty letters", "t" };
	struct table *table = table_of(27);

	table__fit(table, &line);
	for (int i = 0; i < 20; i++)
		put(table, "w", "t");
	ok(!strstr(shown(), "words"), "if all rows are known in advance, nothing comes back");
	said();
	table__free(table);
}

static void test_not_a_terminal(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	struct table *table = table__of(memory, TABLE_TEXT, &lines, NULL, NULL);

	put(table, "w", "t");
	table__free(table);
	fclose(memory);
	is_str(text, "key first words second tail\n  1     1 w          1 t\n",
	       "what is no terminal has all columns");
	free(text);
	is_u64(terminal__columns(-1), 0, "a closed descriptor is no terminal");
}

/* The columns of an object that may go have the ranks 1, 2, ... without a gap. */
static bool has_ranks(const struct object *object)
{
	const struct column *all[OBJECT_COLUMNS];
	size_t nr = object__pick(object, TABLE_TEXT, NULL, NULL, all), droppable = 0;
	uint64_t ranks = 0;

	for (size_t i = 0; i < nr; i++) {
		droppable += all[i]->drop > 0;
		ranks |= all[i]->drop ? (uint64_t)1 << (all[i]->drop - 1) : 0;
	}
	return ranks == ((uint64_t)1 << droppable) - 1;
}

static void test_ranks(void)
{
	for (size_t i = 0; commands[i]; i++)
		for (size_t k = 0; commands[i]->objects && commands[i]->objects[k]; k++)
			ok(has_ranks(commands[i]->objects[k]), "%s: order of the columns of %s",
			   commands[i]->name, commands[i]->objects[k]->type);
}

int main(void)
{
	if (!open_terminal()) {
		printf("1..0 # SKIP there is no pseudo terminal here\n");
		return 0;
	}
	test_order();
	test_once();
	test_chosen();
	test_resize();
	test_growth();
	test_tail();
	test_fitted();
	test_not_a_terminal();
	test_ranks();
	fclose(out);
	return done_testing();
}
