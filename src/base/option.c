/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option.c: reads a command line by the tables of option.h. It scans argv itself: getopt_long
 * cannot refuse abbreviations, keeps its place in globals and prints its own messages.
 * option_value.c reads the values. Nothing here knows what an option is for.
 */
#define _GNU_SOURCE 1
#include "base/option_inside.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/nearest.h"

#define OPTION_LETTERS 64 /* no option is longer */

struct option_always {
	bool help;
	bool json_schema;
};

static const struct option_def option_always_defs[] = {
	{ .name = "json-schema",
	  .kind = OPTION_FLAG,
	  .offset = offsetof(struct option_always, json_schema),
	  .help = "print the JSON Schema of the output and exit" },
	{ .name = "help",
	  .letter = 'h',
	  .kind = OPTION_FLAG,
	  .offset = offsetof(struct option_always, help),
	  .help = "-h: print the options of this command; --help: all options" },
	{ 0 },
};

const struct option_group always_group = { "Every command", option_always_defs };

struct option_parser {
	struct option_slot *slots;
	size_t nr;
	int argc;
	char **argv;
	int at;		  /* the next word */
	bool opens_value; /* the last one: an expression follows */
};

/* attached: the text after the name in the same word, or NULL. */
static int option_use_slot(struct option_parser *parser, struct option_slot *slot, bool by_letter,
			   const char *attached)
{
	struct option_use use = { slot, by_letter, attached ?: "" };
	char arg[128];

	slot->given = true;
	slot->by_letter = by_letter;
	if (!option__takes_value(slot->def))
		return attached ? option_use__refuse(&use, "the option takes no value")
				: option_use__store(&use);
	if (!attached && parser->at < parser->argc &&
	    strncmp(parser->argv[parser->at], "--", 2) != 0)
		use.value = parser->argv[parser->at++];
	if (!*use.value || slot->def->refuses) {
		if (!*use.value)
			use.value = option__arg(slot->def, arg, sizeof(arg));
		return option_use__refuse(&use, "%s", slot->def->refuses ?: "the value is missing");
	}
	return option_use__store(&use);
}

static bool option_is_called(const char *known, const char *name, size_t len)
{
	return known && strlen(known) == len && !memcmp(known, name, len);
}

static struct option_slot *option_find(struct option_parser *parser, const char *name, size_t len)
{
	for (size_t i = 0; i < parser->nr; i++) {
		const struct option_def *def = parser->slots[i].def;

		if (def->kind != OPTION_OPERANDS && (option_is_called(def->name, name, len) ||
						     option_is_called(def->alias, name, len)))
			return &parser->slots[i];
	}
	return NULL;
}

static struct option_slot *option_find_letter(struct option_parser *parser, char letter)
{
	for (size_t i = 0; i < parser->nr; i++)
		if (parser->slots[i].def->letter == letter)
			return &parser->slots[i];
	return NULL;
}

/* Set if operands are expressions, too: after a word that opens one, a value may begin with a
 * minus. NULL: they are not. */
static bool (*option_opens(const struct option_parser *parser))(const char *word)
{
	for (size_t i = 0; i < parser->nr; i++)
		if (parser->slots[i].def->opens)
			return parser->slots[i].def->opens;
	return NULL;
}

static int option_unknown_letter(const struct option_parser *parser, const char *word, char letter)
{
	if (option_opens(parser) && (word[2] || !isalpha((unsigned char)letter)))
		return log_err(-EINVAL,
			       "unknown option -%c; write an expression that begins with - in "
			       "parentheses: '(%s)'",
			       letter, word);
	return log_err(-EINVAL, "unknown option -%c; 'iosonar %s -h' lists the options", letter,
		       parser->argv[0]);
}

static int option_unknown(const struct option_parser *parser, const char *name, size_t len)
{
	char word[OPTION_LETTERS + 1];
	const char *near = NULL;

	snprintf(word, sizeof(word), "%.*s", (int)len, name);
	for (size_t i = 0; len <= OPTION_LETTERS && i < parser->nr; i++) {
		const char *pair[] = { near, parser->slots[i].def->name };

		if (parser->slots[i].def->refuses)
			continue;
		near = near ? nearest__word(word, pair, 2) : nearest__word(word, pair + 1, 1);
	}
	if (near)
		return log_err(-EINVAL, "unknown option --%s; did you mean --%s?", word, near);
	return log_err(-EINVAL, "unknown option --%.*s; 'iosonar %s -h' lists the options",
		       (int)len, name, parser->argv[0]);
}

/* "--name" or "--name=value" */
static int option_take_long(struct option_parser *parser, const char *word)
{
	const char *name = word + 2, *end = strchrnul(name, '=');
	struct option_slot *slot = option_find(parser, name, (size_t)(end - name));

	if (!slot)
		return option_unknown(parser, name, (size_t)(end - name));
	return option_use_slot(parser, slot, false, *end ? end + 1 : NULL);
}

/* "-v", "-vv", "-i5s", "-vi 5s" */
static int option_take_letters(struct option_parser *parser, const char *word)
{
	struct option_slot *slot;
	int err = 0;

	if (word[2] && option_find(parser, word + 1, strlen(word + 1)))
		return log_err(-EINVAL, "unknown option %s; did you mean -%s?", word, word);
	for (const char *c = word + 1; *c && !err; c++) {
		slot = option_find_letter(parser, *c);
		if (!slot)
			return option_unknown_letter(parser, word, *c);
		if (option__takes_value(slot->def))
			return option_use_slot(parser, slot, true, c[1] ? c + 1 : NULL);
		err = option_use_slot(parser, slot, true, NULL);
	}
	return err;
}

static struct option_slot *option_find_operands(struct option_parser *parser)
{
	for (size_t i = 0; i < parser->nr; i++)
		if (parser->slots[i].def->kind == OPTION_OPERANDS)
			return &parser->slots[i];
	return NULL;
}

/* --read, if the command has it. */
static struct option_slot *option_find_read(struct option_parser *parser)
{
	struct option_slot *read = option_find(parser, "read", strlen("read"));

	return read && read->def->kind == OPTION_FILES && !read->def->refuses ? read : NULL;
}

/* A command without operands of its own takes captures. */
static int option_take_plain(struct option_parser *parser, const char *word)
{
	struct option_slot *slot = option_find_operands(parser) ?: option_find_read(parser);
	struct option_use use = { slot, false, word };

	if (slot && slot->def->kind == OPTION_FILES && access(word, F_OK))
		return log_err(-EINVAL,
			       "unexpected argument '%s': no such file; write COMMAND after --",
			       word);
	if (slot) {
		slot->given = true;
		return option_use__store(&use);
	}
	if (option_find(parser, "write", strlen("write")))
		return log_err(-EINVAL, "unexpected argument '%s'; use -w %s, or -- COMMAND", word,
			       word);
	return log_err(-EINVAL, "unexpected argument '%s'; write COMMAND after --", word);
}

/* "by -ret": a value follows the word of a clause. */
static int option_take(struct option_parser *parser, const char *word)
{
	bool is_value = parser->opens_value && word[1] != '-';
	bool (*const opens)(const char *) = option_opens(parser);

	parser->opens_value = false;
	if (word[0] == '-' && word[1] == '-')
		return option_take_long(parser, word);
	if (word[0] == '-' && word[1] && !is_value)
		return option_take_letters(parser, word);
	parser->opens_value = opens && opens(word);
	return option_take_plain(parser, word);
}

static int option_exclude(struct option_parser *parser, const struct option_def *def)
{
	const char *name = def->not_with, *end;

	for (; *name; name = *end ? end + 1 : end) {
		const struct option_slot *other;

		end = strchrnul(name, ',');
		other = option_find(parser, name, (size_t)(end - name));
		if (other && other->given)
			return log_err(-EINVAL, "--%s and --%s cannot be combined", def->name,
				       other->def->name);
	}
	return 0;
}

static bool option_excludes_read(const struct option_parser *parser)
{
	for (size_t i = 0; i < parser->nr; i++)
		if (parser->slots[i].given && parser->slots[i].def->not_with &&
		    strstr(parser->slots[i].def->not_with, "read"))
			return true;
	return false;
}

/* A capture among the operands means --read of it. */
static int option_move_captures(struct option_parser *parser)
{
	struct option_slot *from = option_find_operands(parser), *to = option_find_read(parser);
	struct option_list *words = from ? from->field : NULL;
	size_t kept = 0;

	if (!words || !to || !from->def->is_capture || option_excludes_read(parser))
		return 0;
	for (size_t i = 0; i < words->nr; i++) {
		struct option_use use = { to, false, words->words[i] };

		if (!from->def->is_capture(words->words[i])) {
			words->words[kept++] = words->words[i];
			continue;
		}
		to->given = true;
		if (option_use__store(&use))
			return -ENOMEM;
		free((void *)words->words[i]);
		words->words[i] = NULL;
	}
	words->nr = kept;
	return 0;
}

static void option_fill_slots(struct option_parser *parser, const struct option_set *set)
{
	for (const struct option_def *def = set->group->options; def->name; def++)
		parser->slots[parser->nr++] = (struct option_slot){
			.def = def,
			.field = (char *)set->values + def->offset,
		};
}

static size_t option_count(const struct option_group *group)
{
	size_t nr = 0;

	while (group->options[nr].name)
		nr++;
	return nr;
}

static int option_make_slots(struct option_parser *parser, const struct option_set *sets, size_t nr,
			     const struct option_set *always)
{
	size_t nr_slots = option_count(always->group);

	for (size_t i = 0; i < nr; i++)
		nr_slots += option_count(sets[i].group);
	parser->slots = calloc(nr_slots, sizeof(*parser->slots));
	if (!parser->slots)
		return log_no_memory();
	for (size_t i = 0; i < nr; i++)
		option_fill_slots(parser, &sets[i]);
	option_fill_slots(parser, always);
	return 0;
}

int option__parse(const struct option_set *sets, size_t nr, int argc, char **argv,
		  struct option_result *result)
{
	struct option_parser parser = { .argc = argc, .argv = argv, .at = 1 };
	struct option_always always = { 0 };
	struct option_set always_set = { &always_group, &always };
	int err;

	err = option_make_slots(&parser, sets, nr, &always_set);
	while (!err && parser.at < argc) {
		const char *word = argv[parser.at++];

		if (!strcmp(word, "--"))
			break;
		err = option_take(&parser, word);
		if (!err && always.help)
			err = -ECANCELED;
	}
	err = err ?: option_move_captures(&parser);
	for (size_t i = 0; !err && i < parser.nr; i++)
		if (parser.slots[i].given && parser.slots[i].def->not_with)
			err = option_exclude(&parser, parser.slots[i].def);
	*result = (struct option_result){
		.rest = parser.at,
		.json_schema = always.json_schema,
		.short_help = always.help && option_find(&parser, "help", 4)->by_letter,
	};
	free(parser.slots);
	return err;
}
