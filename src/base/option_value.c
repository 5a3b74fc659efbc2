/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option_value.c: the value of an option, checked and stored in the field of its command, as its
 * table states. A value that is wrong costs one line, which names the option, the value and what
 * would be right.
 */
#define _GNU_SOURCE 1
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/option_inside.h"
#include "base/units.h"

int option_use__refuse(const struct option_use *use, const char *fmt, ...)
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
		return option_use__refuse(use, "too small; give at least %s", min);
	return option_use__refuse(use, "out of range; give %s to %s", min, max);
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
		return option_use__refuse(use, "write a unit, %ss or %sms", use->value, use->value);
	if (err == -ERANGE && use->slot->def->max)
		return option_check_range(use, UINT64_MAX);
	if (err)
		return option_use__refuse(use, "%s", err == -ERANGE ? "too large" : kind->right);
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
		return option_use__refuse(use, "too long; at most %llu bytes are allowed",
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
		return option_use__refuse(use, "unknown value '%s'; expected one of %s", word, all);
	return option_use__refuse(use, "unknown value '%s'; did you mean %s? expected one of %s",
				  word, near, all);
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
			err = option_use__refuse(use, "empty item in the list");
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

int option_use__store(const struct option_use *use)
{
	return option_stores[use->slot->def->kind](use);
}

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
