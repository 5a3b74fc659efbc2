/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * line.c: which words are events, which clauses? A clause begins with its word and ends where the
 * next one begins, so `by pid, comm` needs no quotes; a word inside a clause that is also a
 * clause's name must be quoted together with its neighbours.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "probe/lang/line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"

enum line_clause { CLAUSE_OF, CLAUSE_BY, CLAUSE_SHOW, CLAUSE_ON, CLAUSE_IF, NR_CLAUSES };

static const struct {
	const char *word;
	size_t at;	     /* of its text in struct line */
	const char *example; /* name of what follows it */
	const char *several; /* how a list of them is written */
} line_clauses[] = {
	[CLAUSE_OF] = { "of", offsetof(struct line, of), "bytes", "it takes one value: of bytes" },
	[CLAUSE_BY] = { "by", offsetof(struct line, by), "'comm, pid'",
			"write commas between keys: by 'comm, pid'" },
	[CLAUSE_SHOW] = { "show", offsetof(struct line, show), "'comm, pid'",
			  "write commas between values: show 'comm, pid'" },
	[CLAUSE_ON] = { "on", offsetof(struct line, on), "tid",
			"write commas between keys: on 'dev, sector'" },
	[CLAUSE_IF] = { "if", offsetof(struct line, condition), "'bytes > 4096'",
			"join conditions with &&: if 'pid == 1 && cpu == 0'" },
};

/* What a command takes: bits of enum line_clause. */
static const struct {
	const char *name;
	unsigned int may, must;
	size_t least_events, most_events;
	const char *example;
} line_grammar[] = {
	[LINE_COUNT] = { "count", 1 << CLAUSE_BY | 1 << CLAUSE_IF, 0, 1, LINE_MAX_EVENTS,
			 "block:block_rq_issue by rwbs" },
	[LINE_SUM] = { "sum", 1 << CLAUSE_OF | 1 << CLAUSE_BY | 1 << CLAUSE_IF, 1 << CLAUSE_OF, 1,
		       LINE_MAX_EVENTS, "block:block_rq_issue of bytes by rwbs" },
	[LINE_HIST] = { "hist", 1 << CLAUSE_OF | 1 << CLAUSE_BY | 1 << CLAUSE_IF, 1 << CLAUSE_OF, 1,
			LINE_MAX_EVENTS, "block:block_rq_issue of bytes" },
	[LINE_PRINT] = { "print", 1 << CLAUSE_SHOW | 1 << CLAUSE_IF, 0, 1, LINE_MAX_EVENTS,
			 "block:block_rq_complete show 'dev(dev), rwbs, error' if error" },
	[LINE_STACKS] = { "stacks", 1 << CLAUSE_BY | 1 << CLAUSE_IF, 0, 1, LINE_MAX_EVENTS,
			  "block:block_rq_issue by comm" },
	[LINE_PAIR] = { "pair", 1 << CLAUSE_ON | 1 << CLAUSE_BY | 1 << CLAUSE_IF, 1 << CLAUSE_ON, 2,
			2, "fn:submit_bio fn:bio_endio on bio" },
};

static char **line_text(struct line *line, int clause)
{
	return (char **)((char *)line + line_clauses[clause].at);
}

static int line_clause_of(const char *word)
{
	for (int i = 0; i < NR_CLAUSES; i++)
		if (!strcmp(word, line_clauses[i].word))
			return i;
	return -1;
}

bool line__opens(const char *word)
{
	return line_clause_of(word) >= 0;
}

static int line_say_usage(const struct line *line, const char *what)
{
	return log_err(-EINVAL, "%s %s, as in: iosonar %s %s", line_grammar[line->action].name,
		       what, line_grammar[line->action].name, line_grammar[line->action].example);
}

/* "it takes 'by' and 'if'": every command takes the last one. */
static int line_say_alien(const struct line *line, int clause)
{
	const char *name = line_grammar[line->action].name;
	char takes[64] = "";

	for (int i = 0; i < NR_CLAUSES; i++) {
		size_t len = strlen(takes);

		if (!(line_grammar[line->action].may >> i & 1))
			continue;
		snprintf(takes + len, sizeof(takes) - len, "%s'%s'",
			 i == CLAUSE_IF ? " and "
			 : len		? ", "
					: "",
			 line_clauses[i].word);
	}
	return log_err(-EINVAL, "%s does not take '%s'; it takes %s, as in: iosonar %s %s", name,
		       line_clauses[clause].word, takes, name, line_grammar[line->action].example);
}

static int line_open(struct line *line, int clause)
{
	if (!(line_grammar[line->action].may >> clause & 1))
		return line_say_alien(line, clause);
	if (*line_text(line, clause))
		return log_err(-EINVAL, "'%s' is given twice; %s", line_clauses[clause].word,
			       line_clauses[clause].several);
	*line_text(line, clause) = strdup("");
	return *line_text(line, clause) ? 0 : log_no_memory();
}

static int line_append(struct line *line, int clause, const char *word)
{
	char **text = line_text(line, clause), *longer;

	if (asprintf(&longer, "%s%s%s", *text, **text ? " " : "", word) < 0)
		return log_no_memory();
	free(*text);
	*text = longer;
	return 0;
}

static int line_check_events(const struct line *line)
{
	if (line->nr_events < line_grammar[line->action].least_events)
		return line_say_usage(line, line->action == LINE_PAIR
						    ? "requires two events, a start and an end"
						    : "requires an event");
	if (line->nr_events > line_grammar[line->action].most_events)
		return line_say_usage(line, "takes only two events, a start and an end");
	return 0;
}

static int line_check_clauses(struct line *line)
{
	char what[64];

	for (int i = 0; i < NR_CLAUSES; i++) {
		const char *text = *line_text(line, i), *word = line_clauses[i].word;

		if (text && !text[strspn(text, " \t\n")])
			return log_err(-EINVAL, "nothing follows '%s'; write e.g. %s %s", word,
				       word, line_clauses[i].example);
		if (text || !(line_grammar[line->action].must >> i & 1))
			continue;
		snprintf(what, sizeof(what), "requires '%s'", word);
		return line_say_usage(line, what);
	}
	return 0;
}

int line__read(struct line *line, enum line_action action, const char *const *words, size_t nr)
{
	int clause = -1, next, err = 0;

	line->action = action;
	for (size_t i = 0; !err && i < nr; i++) {
		next = line_clause_of(words[i]);
		if (next >= 0)
			err = line_open(line, clause = next);
		else if (clause >= 0)
			err = line_append(line, clause, words[i]);
		else if (line->nr_events == LINE_MAX_EVENTS)
			err = log_err(-EINVAL,
				      "too many events: at most %d; a pattern counts as one",
				      LINE_MAX_EVENTS);
		else
			line->events[line->nr_events++] = words[i];
	}
	err = err ?: line_check_events(line);
	return err ?: line_check_clauses(line);
}

void line__free(struct line *line)
{
	for (int i = 0; i < NR_CLAUSES; i++) {
		free(*line_text(line, i));
		*line_text(line, i) = NULL;
	}
}
