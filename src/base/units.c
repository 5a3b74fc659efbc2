/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct unit units_plain[] = { { "", 1 }, { 0 } };
const struct unit units_duration[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "m", 60000000000ULL },
	{ "h", 3600000000000ULL },
	{ "d", 86400000000000ULL },
	{ 0 },
};
const struct unit units_size[] = {
	{ "", 1 },
	{ "k", 1000 },
	{ "K", 1000 },
	{ "Ki", 1024 },
	{ "M", 1000000 },
	{ "Mi", 1 << 20 },
	{ "G", 1000000000 },
	{ "Gi", 1ULL << 30 },
	{ "T", 1000000000000ULL },
	{ "Ti", 1ULL << 40 },
	{ 0 },
};
const struct unit units_share[] = { { "ppm", 1 }, { "%", 10000 }, { 0 } };

const struct unit *units__find(const struct unit *units, const char *name, size_t len)
{
	for (; units->name; units++)
		if (strlen(units->name) == len && !strncmp(units->name, name, len))
			return units;
	return NULL;
}

/* Reads the digits at *text and moves it past them. -EINVAL: none; -ERANGE: too many. */
static int units_read_digits(const char **text, int base, uint64_t *value)
{
	char *end;

	/* strtoull would take blanks, a sign and a second "0x". */
	if (base == 16 ? !isxdigit((unsigned char)**text) : !isdigit((unsigned char)**text))
		return -EINVAL;
	if (base == 16 && tolower((unsigned char)(*text)[1]) == 'x')
		return -EINVAL;
	errno = 0;
	*value = strtoull(*text, &end, base);
	*text = end;
	return -errno;
}

/* Reads the fraction at *text as part of 10^18, cut off there; moves *text past it. */
static int units_read_fraction(const char **text, uint64_t *part)
{
	uint64_t weight = 100000000000000000ULL;

	*part = 0;
	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); (*text)++, weight /= 10)
		*part += (uint64_t)(**text - '0') * weight;
	return 0;
}

static int units_read(const char *text, const struct unit *units, uint64_t *value)
{
	const struct unit *unit;
	uint64_t whole, part = 0;
	unsigned __int128 sum;
	bool has_part;
	int err;

	err = units_read_digits(&text, 10, &whole);
	has_part = !err && *text == '.';
	if (has_part) {
		text++;
		err = units_read_fraction(&text, &part);
	}
	if (err)
		return err;
	unit = units__find(units, text, strlen(text));
	/* A value finer than the smallest unit is a mistake: 1.5ns, half a byte. */
	if (!unit || (has_part && unit->scale == 1))
		return -EINVAL;
	sum = (unsigned __int128)whole * unit->scale;
	sum += (unsigned __int128)part * unit->scale / 1000000000000000000ULL;
	if (sum > UINT64_MAX)
		return -ERANGE;
	*value = (uint64_t)sum;
	return 0;
}

int units__read_number(const char *text, uint64_t *value)
{
	int base = text[0] == '0' && tolower((unsigned char)text[1]) == 'x' ? 16 : 10;
	uint64_t number;
	int err;

	text += base == 16 ? 2 : 0;
	err = units_read_digits(&text, base, &number);
	if (err || *text)
		return err ?: -EINVAL;
	*value = number;
	return 0;
}

int units__read_duration(const char *text, uint64_t *ns)
{
	return units_read(text, units_duration, ns);
}

int units__read_size(const char *text, uint64_t *bytes)
{
	return units_read(text, units_size, bytes);
}

int units__read_share(const char *text, uint64_t *millionths)
{
	return units_read(text, units_share, millionths);
}

const char *units__format(char *buf, size_t size, uint64_t value, const struct unit *units)
{
	const struct unit *best = units;

	for (const struct unit *u = units; u->name; u++)
		if (value && value % u->scale == 0 && u->scale > best->scale)
			best = u;
	snprintf(buf, size, "%llu%s", (unsigned long long)(value / best->scale), best->name);
	return buf;
}
