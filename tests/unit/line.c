/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * line.c: are the words of a line told apart as the grammar says, and is what is wrong said? Errors
 * are compared by what stands on stderr.
 */
#include <stdlib.h>
#include <unistd.h>
#include "probe/lang/line.h"
#include "tap.h"

static char said[512];

/* Reads "a b c" as words; what is said goes to `said`. */
static int read_line(struct line *line, enum line_action action, const char *text)
{
	static char words_text[512];
	const char *words[64];
	size_t nr = 0;
	int keep = dup(STDERR_FILENO), err;
	FILE *file = tmpfile();

	snprintf(words_text, sizeof(words_text), "%s", text);
	for (char *word = strtok(words_text, " "); word; word = strtok(NULL, " "))
		words[nr++] = word;
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	*line = (struct line){ 0 };
	err = line__read(line, action, words, nr);
	fflush(stderr);
	dup2(keep, STDERR_FILENO);
	close(keep);
	rewind(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = 0;
	fclose(file);
	return err;
}

static void refuses(enum line_action action, const char *text, const char *why)
{
	struct line line;

	ok(read_line(&line, action, text) < 0, "refused: %s", text);
	if (!ok(strstr(said, why) != NULL, "because: %s", why))
		printf("# said: %s\n", said);
	line__free(&line);
}

static void test_clauses(void)
{
	struct line line;

	ok(!read_line(&line, LINE_HIST, "a:b c:d of ret by comm, pid if ret >= 0"), "a whole line");
	is_u64(line.nr_events, 2, "two events");
	is_str(line.events[1], "c:d", "the second");
	is_str(line.of, "ret", "of");
	is_str(line.by, "comm, pid", "by: two words are one text");
	is_str(line.condition, "ret >= 0", "if");
	ok(!line.on && !line.show, "no other clause");
	line__free(&line);
	ok(!read_line(&line, LINE_COUNT, "a:b if x by y"), "clauses in any order");
	is_str(line.by, "y", "by");
	line__free(&line);
	ok(!read_line(&line, LINE_PAIR, "fn:a fn:b on pid = next_pid"), "a pair");
	is_str(line.on, "pid = next_pid", "on");
	line__free(&line);
	ok(!read_line(&line, LINE_PRINT, "nvme:*"), "print needs no more than an event");
	line__free(&line);
}

static void test_errors(void)
{
	refuses(LINE_COUNT, "", "count requires an event, as in: iosonar count block:");
	refuses(LINE_COUNT, "by comm", "count requires an event");
	refuses(LINE_COUNT, "a:b of x", "count does not take 'of'");
	refuses(LINE_COUNT, "a:b by x by y", "'by' is given twice");
	refuses(LINE_COUNT, "a:b by", "nothing follows 'by'; write e.g. by 'comm, pid'");
	refuses(LINE_SUM, "a:b by x", "sum requires 'of', as in: iosonar sum");
	refuses(LINE_HIST, "a:b", "hist requires 'of'");
	refuses(LINE_PRINT, "a:b by x", "print does not take 'by'");
	refuses(LINE_PAIR, "a:b on x", "pair requires two events, a start and an end");
	refuses(LINE_PAIR, "a:b c:d e:f on x", "pair takes only two events");
	refuses(LINE_PAIR, "a:b c:d", "pair requires 'on'");
	refuses(LINE_COUNT, "a a a a a a a a a a a a a a a a a", "too many events: at most 16");
}

int main(void)
{
	test_clauses();
	test_errors();
	return done_testing();
}
