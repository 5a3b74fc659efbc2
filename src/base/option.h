/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option.h: typed option tables. A table fills a plain struct; help, completion, the manual's
 * SYNOPSIS test and the parser read the same table. Shared groups (filter, run, output) make an
 * option mean one thing in every command. Spelling is getopt_long's, except that long names are
 * never abbreviated: a new option must not change what an old script says.
 */
#ifndef IOSONAR_BASE_OPTION_H
#define IOSONAR_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
	OPTION_FLAG = 1, /* bool */
	OPTION_COUNT,	 /* int, one more each time it is given (-v) */
	OPTION_NUMBER,	 /* struct option_number */
	OPTION_DURATION, /* struct option_number, ns; "10us" "1.5s"; a bare number is refused */
	OPTION_SIZE,	 /* struct option_number, bytes; "64k" "1Gi" */
	OPTION_SHARE,	 /* struct option_number, millionths; "0.5%" */
	OPTION_STRING,	 /* const char * */
	OPTION_CHOICE,	 /* int, index into choices */
	OPTION_LIST, /* struct option_list; repeatable, commas separate; choices limit the words */
	OPTION_OPERANDS, /* struct option_list: words without an option; its name is theirs */
	OPTION_FILES,	 /* struct option_list; repeatable, a comma is part of a name */
};

struct option_number {
	uint64_t value;
	bool given;
};

struct option_list {
	const char **words; /* owned: option__free */
	size_t nr;
};

/* A table ends with an entry whose name is NULL. */
struct option_def {
	const char *name; /* "interval" for --interval */
	char letter;	  /* 'i' for -i, 0 for none */
	enum option_kind kind;
	size_t offset;			 /* of the field in the group's values */
	const char *arg;		 /* "DURATION" in help; NULL: its choices, "a|b" or "a,b" */
	const char *help;		 /* one line, lower case, no full stop */
	const char *const *choices;	 /* NULL-terminated, for CHOICE and LIST */
	const char *const *also;	 /* of each choice: other words for it, or NULL */
	const char *const *choice_helps; /* a text for each choice, or NULL */
	uint32_t offered;		 /* bit i: choices[i] may be given; 0: all may */
	const char *alias;		 /* another long name, which help does not list, or NULL */
	uint64_t min, max;     /* numbers, durations, sizes; max: bytes of a string; 0 = no bound */
	const char *not_with;  /* "name,name": options that exclude this one */
	const char *completes; /* what a shell offers: "device", "file", "pid", NULL */
	bool (*opens)(const char *word); /* operands: is an expression after this word? Or NULL */
	/* operands: is this word a file for --read? Or NULL */
	bool (*is_capture)(const char *word);
	/* Other commands have it; this command's own table says why it cannot: not listed. */
	const char *refuses;
};

struct option_group {
	const char *title; /* "Which I/O", printed above its options by -h */
	const struct option_def *options;
};

/* One group and the struct it fills. */
struct option_set {
	const struct option_group *group;
	void *values;
};

/*
 * Parses argv[1..] (argv[0] is the command's name). The words after "--" start at *rest; a plain
 * word before it is refused unless a table has OPTION_OPERANDS, and so is a value that starts with
 * "--" (write --name=--value). 0, or -EINVAL after one line that names the value and what would be
 * right (for an unknown option: the nearest known one). -ECANCELED: -h was given. json_schema is
 * set if --json-schema was. Both are always_group: every command has them. Strings point into argv;
 * option__free frees lists, also after a failure.
 */
struct option_result {
	int rest; /* index of COMMAND after "--", or argc */
	bool json_schema;
	bool short_help; /* -ECANCELED was -h, not --help */
};
extern const struct option_group always_group;
int option__parse(const struct option_set *sets, size_t nr, int argc, char **argv,
		  struct option_result *result);
void option__free(const struct option_set *sets, size_t nr);
bool option__is_list(const struct option_def *def);	/* its field is a struct option_list */
bool option__takes_value(const struct option_def *def); /* all but flags and counts do */
/* Bit i: the list has word i. words: NULL-terminated. */
uint32_t option_list__mask(const struct option_list *list, const char *const *words);
#define OPTION_CHOICES_MAX 32
/* The choices that may be given; returns how many. NULL ends words. */
size_t option__choices(const struct option_def *def, const char *words[OPTION_CHOICES_MAX + 1]);
/* The placeholder for an option's value: buf, or a text of the table. */
const char *option__arg(const struct option_def *def, char *buf, size_t size);

/* Prints the table below "Usage:", fitted to the terminal; always_group is added at the end. */
void option__print_help(FILE *out, const struct option_group *const *groups, size_t nr);
/* The same, but groups after the first `full` ones list only the names of their options. */
void option__print_short_help(FILE *out, const struct option_group *const *groups, size_t nr,
			      size_t full);
/* One entry of a help table: text starts at this column and is wrapped there. */
void option__print_entry(FILE *out, const char *left, size_t column, const char *text);

#endif
