/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sql.c: any question about captures, in SQL: commands, devices, stacks, calls and the ledger are
 * tables, read from the file directly. Costs one read of the file, or of the time span that WHERE
 * names. It cannot change anything, nor see what the capture does not hold.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "sql/sql.h"

enum { SQL_MEMORY_BYTES = 1 << 30 };

struct sql_cmd {
	/* options */
	struct option_list words;
	struct option_number limit_memory, limit_time;
	/* state */
	struct sql_files files;
};

static const struct option_def sql_options[] = {
	{ "FILE", 0, OPTION_OPERANDS, offsetof(struct sql_cmd, words), "FILE... [QUERY]",
	  "captures, then 'SELECT ...'; without a query: a prompt, or queries from stdin",
	  .completes = "file" },
	{ "read", 'r', OPTION_FILES, offsetof(struct sql_cmd, words), "FILE", "the same as FILE",
	  .completes = "file" },
	{ "limit-memory", 0, OPTION_SIZE, offsetof(struct sql_cmd, limit_memory), "SIZE",
	  "memory that a query may use (default 1Gi)", .min = 16 << 20, .max = 1ULL << 46 },
	{ "limit-time", 0, OPTION_DURATION, offsetof(struct sql_cmd, limit_time), "DURATION",
	  "stop a query that takes longer (default: no limit)", .min = 1 },
	{ 0 },
};
static const struct option_group sql_group = { "What is queried", sql_options };

/* Its keys are those of the query. */
static const struct object sql_row = { "row", { NULL } };

static int sql_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_sql = {
	.name = "sql",
	.group = "captures",
	.brief = "query captures with SQL",
	.synopsis = "[options] FILE... [QUERY]",
	.groups = CMD_GROUPS(OUTPUT_IN(OUTPUT_TABLES)),
	.own = &sql_group,
	.view_size = sizeof(struct sql_cmd),
	.objects = CMD_OBJECTS(&sql_row),
	.run = sql_run,
};

/* The last word, unless it names a file: a query contains a space or a parenthesis. */
static bool sql_is_query(const char *word)
{
	bool looks_so =
		strpbrk(word, " \t\n(") || (word[0] == '.' && isalpha((unsigned char)word[1]));

	return looks_so && access(word, F_OK);
}

/* -r FILE may follow the query. */
static void sql_move_query(struct option_list *words)
{
	for (size_t i = 0; i + 1 < words->nr; i++) {
		const char *word = words->words[i];

		if (!sql_is_query(word))
			continue;
		memmove(&words->words[i], &words->words[i + 1],
			(words->nr - i - 1) * sizeof(*words->words));
		words->words[words->nr - 1] = word;
		return;
	}
}

static int sql_ask(struct sql_cmd *c, const struct output_options *o, const char *query)
{
	struct sql_run run = { &c->files,
			       stdout,
			       (enum table_format)o->format,
			       query,
			       c->limit_memory.given ? c->limit_memory.value : SQL_MEMORY_BYTES,
			       c->limit_time.given ? c->limit_time.value : 0 };
	struct output output;
	int err = output__open(&output, o->path, &c->words);

	if (err)
		return err;
	run.out = output.file;
	return output__finish(&output, sql__run(&run));
}

static int sql_run(void *state, const struct options *options, char **argv)
{
	struct sql_cmd *c = state;
	size_t nr = c->words.nr;
	const char *query = NULL;
	bool broken = false;
	int err;

	if (argv[0])
		return log_err(-EINVAL, "sql takes no COMMAND (got '%s')", argv[0]);
	sql_move_query(&c->words);
	if (nr && sql_is_query(c->words.words[nr - 1]))
		query = c->words.words[--nr];
	if (!nr && (!query || *query != '.')) /* .schema is the same for all captures */
		return log_err(-EINVAL,
			       "sql requires a capture, e.g. iosonar sql FILE 'SELECT ...'");
	if (!sql__is_built_in())
		return sql__run(NULL);
	err = sql_files__open(&c->files, c->words.words, nr);
	err = err ?: sql_ask(c, &options->output, query);
	if (!err)
		broken = sql_files__tell(&c->files);
	sql_files__free(&c->files);
	if (err == -EINTR) /* said; the output is incomplete */
		return EXIT_LOST;
	return err ? err : broken ? EXIT_LOST : EXIT_DONE;
}
