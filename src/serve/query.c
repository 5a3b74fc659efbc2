/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/query.h"

#include <stdlib.h>
#include <string.h>
#include "base/units.h"

static const struct {
	const char *name;
	enum answer_page page;
} query_keys[NR_QUERY_KEYS] = {
	[QUERY_LAST] = { "last", ANSWER_CAPTURE }, [QUERY_FROM] = { "from", ANSWER_COMMANDS },
	[QUERY_TO] = { "to", ANSWER_COMMANDS },	   [QUERY_MIN] = { "min", ANSWER_COMMANDS },
	[QUERY_MAX] = { "max", ANSWER_COMMANDS },
};

static const char query_usage[] = "expected /capture?last=60s or "
				  "/api/commands?from=5s&to=6s&min=1ms&max=2ms&dev=NAME or "
				  "/api/commands?number=17\n";

struct query query__new(void)
{
	return (struct query){
		.ns = { [QUERY_LAST] = UINT64_MAX,
			[QUERY_TO] = UINT64_MAX,
			[QUERY_MAX] = UINT64_MAX },
	};
}

static int query_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "loop0%232" is "loop0#2". False: no escape, an escaped NUL, or too long. */
static bool query_unescape(const char *text, char *buf, size_t size)
{
	size_t len = 0;

	for (; *text; text++) {
		char c = *text;

		if (c == '%') {
			int high = query_digit(text[1]);
			int low = high < 0 ? -1 : query_digit(text[2]);

			if (low < 0)
				return false;
			c = (char)(high * 16 + low);
			text += 2;
		}
		if (!c || len + 1 == size)
			return false;
		buf[len++] = c;
	}
	buf[len] = 0;
	return len;
}

/* Digits only. It stands alone. */
static bool query_take_number(struct query *q, const char *value)
{
	if (q->number || q->given || *q->dev || !*value ||
	    strspn(value, "0123456789") != strlen(value) || strlen(value) > 18)
		return false;
	q->number = strtoull(value, NULL, 10);
	return q->number;
}

static bool query_take(struct query *q, enum answer_page page, const char *key, const char *value)
{
	if (page == ANSWER_COMMANDS && !strcmp(key, "number"))
		return query_take_number(q, value);
	if (q->number)
		return false;
	if (page == ANSWER_COMMANDS && !strcmp(key, "dev"))
		return !*q->dev && query_unescape(value, q->dev, sizeof(q->dev));
	for (int i = 0; i < NR_QUERY_KEYS; i++) {
		if (query_keys[i].page != page || strcmp(key, query_keys[i].name))
			continue;
		if (q->given >> i & 1)
			return false;
		q->given |= 1u << i;
		return !units__read_duration(value, &q->ns[i]);
	}
	return false;
}

void query__add(struct query *q, enum answer_page page, const char *key, const char *value)
{
	if (page != ANSWER_CAPTURE && page != ANSWER_COMMANDS)
		return;
	if (!q->refusal && (!value || !query_take(q, page, key, value)))
		q->refusal = query_usage;
}
