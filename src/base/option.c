/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option.c: reads a command line by the tables of option.h. It scans argv itself: getopt_long
 * cannot refuse abbreviations, keeps its place in globals and prints its own messages. Nothing here
 * knows what an option is for.
 */
#define _GNU_SOURCE 1
#include "base/option.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/units.h"

#define OPTION_LETTERS 64 /* no option, choice or command is longer */

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

/* An option of this command line's tables, the field it fills, and whether it was given. */
struct option_slot {
	const struct option_def *def;
	void *field;
	bool given, by_letter;
};

struct option_parser {
	struct option_slot *slots;
	size_t nr;
	int argc;
	char **argv;
	int at;		  /* the next word */
	bool opens_value; /* the last one: an expression follows */
};

/* One option as given on the command line. */
struct option_use {
	const struct option_slot *slot;
	bool by_letter;
	const char *value;
};

/* "-i 5: write a unit, 5s or 5ms" */
__attribute__((format(printf, 2, 3))) static int option_refuse(const struct option_use *use,
							       const char *fmt, ...)
{
	const struct option_def *def = use->slot->def;
	char letter[] = { '-', def->letter, 0 };
	char why[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	return log_err(-EINVAL, "%s%s %s: %s", use->by_letter ? "" : "--",
		       use->by_letter ? letter : def->name, use->value, why);
}

struct option_number_kind {
	int (*read)(const char *text, uint64_t *value);
	const struct unit *units;
	const char *right;
};

static const struct option_number_kind option_number_kinds[] = {
	[OPTION_NUMBER] = { units__read_number, units_plain,
			    "not a whole number; write 16 or 0x10" },
	[OPTION_DURATION] = { units__read_duration, units_duration,
			      "not a duration; write 100us, 5ms, 1.5s, 2m, 1h or 1d" },
	[OPTION_SIZE] = { units__read_size, units_size, "not a size; write 4096, 64k or 1Gi" },
	[OPTION_SHARE] = { units__read_share, units_share, "not a share; write 0.5% or 2%" },
};

static int option_check_range(const struct option_use *use, uint64_t value)
{
	const struct option_def *def = use->slot->def;
	const struct unit *units = option_number_kinds[def->kind].units;
	char min[32], max[32];

	if (value >= def->min && (!def->max || value <= def->max))
		return 0;
	units__format(min, sizeof(min), def->min, units);
	units__format(max, sizeof(max), def->max, units);
	if (!def->max)
		return option_refuse(use, "too small; give at least %s", min);
	return option_refuse(use, "out of range; give %s to %s", min, max);
}

static bool option_lacks_unit(const char *text)
{
	return isdigit((unsigned char)*text) && !text[strspn(text, "0123456789.")];
}

static int option_store_number(const struct option_use *use)
{
	const struct option_number_kind *kind = &option_number_kinds[use->slot->def->kind];
	struct option_number *number = use->slot->field;
	uint64_t value;
	int err;

	err = kind->read(use->value, &value);
	if (err == -EINVAL && use->slot->def->kind == OPTION_DURATION &&
	    option_lacks_unit(use->value))
		return option_refuse(use, "write a unit, %ss or %sms", use->value, use->value);
	if (err == -ERANGE && use->slot->def->max)
		return option_check_range(use, UINT64_MAX);
	if (err)
		return option_refuse(use, "%s", err == -ERANGE ? "too large" : kind->right);
	err = option_check_range(use, value);
	if (err)
		return err;
	*number = (struct option_number){ value, true };
	return 0;
}

static int option_store_flag(const struct option_use *use)
{
	*(bool *)use->slot->field = true;
	return 0;
}

static int option_store_count(const struct option_use *use)
{
	++*(int *)use->slot->field;
	return 0;
}

static int option_store_string(const struct option_use *use)
{
	uint64_t max = use->slot->def->max;

	if (max && strlen(use->value) > max)
		return option_refuse(use, "too long; at most %llu bytes are allowed",
				     (unsigned long long)max);
	*(const char **)use->slot->field = use->value;
	return 0;
}

size_t option__choices(const struct option_def *def, const char *words[OPTION_CHOICES_MAX + 1])
{
	size_t nr = 0;

	for (size_t i = 0; i < OPTION_CHOICES_MAX && def->choices[i]; i++)
		if (!def->offered || def->offered & 1u << i)
			words[nr++] = def->choices[i];
	words[nr] = NULL;
	return nr;
}

/* "a, b, c" into buf; what does not fit is left off. */
static const char *option_join(char *buf, size_t size, const struct option_def *def,
			       const char *comma)
{
	const char *words[OPTION_CHOICES_MAX + 1];
	size_t nr = option__choices(def, words), len = 0;

	buf[0] = 0;
	for (size_t i = 0; i < nr && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", i ? comma : "", words[i]);
	return buf;
}

/* Is the word one of those in `words`, which spaces separate? */
static bool option_has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; at && len && (at = strstr(at, word)); at++)
		if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

/* The index of this word among the choices, or -EINVAL, logged. */
static int option_choose(const struct option_use *use, const char *word)
{
	const struct option_def *def = use->slot->def;
	const char *words[OPTION_CHOICES_MAX + 1], *near;
	size_t nr = option__choices(def, words);
	char all[512];

	for (int i = 0; def->choices[i]; i++)
		if ((!def->offered || def->offered & 1u << i) && !strcmp(def->choices[i], word))
			return i;
	for (int i = 0; def->also && def->choices[i]; i++)
		if (!strchr(word, ' ') && option_has_word(def->also[i], word))
			return i;
	option_join(all, sizeof(all), def, ", ");
	near = nearest__word(word, words, nr);
	if (!near)
		return option_refuse(use, "unknown value '%s'; expected one of %s", word, all);
	return option_refuse(use, "unknown value '%s'; did you mean %s? expected one of %s", word,
			     near, all);
}

static int option_store_choice(const struct option_use *use)
{
	int index = option_choose(use, use->value);

	if (index < 0)
		return index;
	*(int *)use->slot->field = index;
	return 0;
}

/* Takes ownership of word, also on failure. */
static int option_list_add(struct option_list *list, char *word)
{
	if (!word || GROW_BY_ONE(list->words, list->nr)) {
		free(word);
		return log_no_memory();
	}
	list->words[list->nr++] = word;
	return 0;
}

static int option_store_list(const struct option_use *use)
{
	const char *rest = use->value;
	int err = 0;

	while (!err) {
		const char *end = strchrnul(rest, ',');
		char *word = strndup(rest, (size_t)(end - rest));

		if (word && !*word)
			err = option_refuse(use, "empty item in the list");
		else if (word && use->slot->def->choices)
			err = option_choose(use, word);
		if (err < 0) {
			free(word);
			return err;
		}
		err = option_list_add(use->slot->field, word);
		if (!*end)
			break;
		rest = end + 1;
	}
	return err;
}

static int option_store_file(const struct option_use *use)
{
	return option_list_add(use->slot->field, strdup(use->value));
}

static int (*const option_stores[])(const struct option_use *use) = {
	[OPTION_FLAG] = option_store_flag,     [OPTION_COUNT] = option_store_count,
	[OPTION_NUMBER] = option_store_number, [OPTION_DURATION] = option_store_number,
	[OPTION_SIZE] = option_store_number,   [OPTION_SHARE] = option_store_number,
	[OPTION_STRING] = option_store_string, [OPTION_CHOICE] = option_store_choice,
	[OPTION_LIST] = option_store_list,     [OPTION_FILES] = option_store_file,
	[OPTION_OPERANDS] = option_store_file,
};

bool option__is_list(const struct option_def *def)
{
	return def->kind == OPTION_LIST || def->kind == OPTION_FILES ||
	       def->kind == OPTION_OPERANDS;
}

bool option__takes_value(const struct option_def *def)
{
	return def->kind != OPTION_FLAG && def->kind != OPTION_COUNT;
}

const char *option__arg(const struct option_def *def, char *buf, size_t size)
{
	if (def->arg || !def->choices)
		return def->arg ?: "VALUE";
	return option_join(buf, size, def, def->kind == OPTION_LIST ? "," : "|");
}

/* attached: the text after the name in the same word, or NULL. */
static int option_use_slot(struct option_parser *parser, struct option_slot *slot, bool by_letter,
			   const char *attached)
{
	struct option_use use = { slot, by_letter, attached ?: "" };
	char arg[128];

	slot->given = true;
	slot->by_letter = by_letter;
	if (!option__takes_value(slot->def))
		return attached ? option_refuse(&use, "the option takes no value")
				: option_stores[slot->def->kind](&use);
	if (!attached && parser->at < parser->argc &&
	    strncmp(parser->argv[parser->at], "--", 2) != 0)
		use.value = parser->argv[parser->at++];
	if (!*use.value || slot->def->refuses) {
		if (!*use.value)
			use.value = option__arg(slot->def, arg, sizeof(arg));
		return option_refuse(&use, "%s", slot->def->refuses ?: "the value is missing");
	}
	return option_stores[slot->def->kind](&use);
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
		return option_store_file(&use);
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
		if (option_store_file(&use))
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

void option__free(const struct option_set *sets, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct option_def *def = sets[i].group->options;

		for (; def->name; def++) {
			struct option_list *list;

			if (!option__is_list(def))
				continue;
			list = (void *)((char *)sets[i].values + def->offset);
			while (list->nr)
				free((void *)list->words[--list->nr]);
			free(list->words);
			list->words = NULL;
		}
	}
}

uint32_t option_list__mask(const struct option_list *list, const char *const *words)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < list->nr; i++)
		for (uint32_t word = 0; words[word]; word++)
			if (!strcmp(list->words[i], words[word]))
				mask |= 1u << word;
	return mask;
}
