/* SPDX-License-Identifier: BSD-2-Clause */
/* json.c: is a line of -o json read as it was written, and is everything else refused? */
#include "decode/json.h"
#include <math.h>
#include <stdlib.h>
#include "tap.h"

static struct json_line parsed;
static char kept[4096];

static bool takes(const char *text)
{
	snprintf(kept, sizeof(kept), "%s", text);
	return !json_line__parse(&parsed, kept);
}

static void check_values(void)
{
	ok(takes("{\"type\":\"latency\",\"count\":12,\"iops\":0.5,\"x\":-1.5e3,\"no\":null,\"t\":"
		 "true}\n"),
	   "an object of a table is taken");
	is_u64(parsed.nr, 6, "with all that is in it");
	is_str(json_line__text(&parsed, "type"), "latency", "a text");
	ok(json_line__number(&parsed, "count") == 12 && json_line__number(&parsed, "iops") == 0.5 &&
		   json_line__number(&parsed, "x") == -1500,
	   "numbers");
	ok(isnan(json_line__number(&parsed, "no")) && isnan(json_line__number(&parsed, "type")) &&
		   !json_line__text(&parsed, "count") && !json_line__text(&parsed, "none"),
	   "what is not there, or something else, is not made up");
	ok(takes(" { \"a\" : 1 , \"b\" : \"\" } ") && parsed.nr == 2, "spaces do not matter");
}

static void check_escapes(void)
{
	ok(takes("{\"a\":\"q\\\"b\\\\s\\/\\n\\t\\u0041\\u00e4\\u20ac\\ud83d\\ude00\"}"),
	   "escapes are taken");
	is_str(json_line__text(&parsed, "a"), "q\"b\\s/\n\tA\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
	       "and are what they stand for");
}

static void check_refusals(void)
{
	static const char *const wrong[] = {
		"",
		"{",
		"{}",
		"[]",
		"x",
		"{\"a\"}",
		"{\"a\":}",
		"{\"a\":1",
		"{\"a\":1}}",
		"{\"a\":1} x",
		"{\"a\":1,}",
		"{\"a\":{\"b\":1}}",
		"{\"a\":[1]}",
		"{\"a\":nan}",
		"{\"a\":inf}",
		"{\"a\":0x10}",
		"{\"a\":+1}",
		"{\"a\":1e999}",
		"{\"a\":1.2.3}",
		"{\"a\":--1}",
		"{\"a\":\"x}",
		"{\"a\":\"\\x\"}",
		"{\"a\":\"\\u12\"}",
		"{\"a\":\"\\u0000\"}",
		"{\"a\":\"\\ud83d\"}",
		"{\"a\":\"\\ud83dxxxxxx\"}",
		"{\"a\":\"\\",
		"{\"a\":\"\\u",
		"{a:1}",
		"{\"a\":nul}",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ok(!takes(wrong[i]), "refused: %s", wrong[i]);
}

static void check_many(void)
{
	size_t len = 0;

	len += (size_t)snprintf(kept, sizeof(kept), "{\"a\":0");
	for (int i = 1; i < JSON_FIELDS; i++)
		len += (size_t)snprintf(kept + len, sizeof(kept) - len, ",\"a\":%d", i);
	snprintf(kept + len, sizeof(kept) - len, "}");
	ok(!json_line__parse(&parsed, kept), "%d fields are taken", JSON_FIELDS);
	len = 0;
	len += (size_t)snprintf(kept, sizeof(kept), "{\"a\":0");
	for (int i = 0; i < JSON_FIELDS; i++)
		len += (size_t)snprintf(kept + len, sizeof(kept) - len, ",\"a\":%d", i);
	snprintf(kept + len, sizeof(kept) - len, "}");
	ok(json_line__parse(&parsed, kept) != 0, "one more is refused");
}

int main(void)
{
	check_values();
	check_escapes();
	check_refusals();
	check_many();
	return done_testing();
}
