/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_query.c: is a query taken exactly as it is meant, and everything else refused? Nothing in
 * it may overflow, repeat, or be read past its end.
 */
#include <string.h>
#include "serve/query.h"
#include "tap.h"

static struct query of_one(enum answer_page page, const char *key, const char *value)
{
	struct query q = query__new();

	query__add(&q, page, key, value);
	return q;
}

static void test_good(void)
{
	struct query q = query__new();

	ok(q.ns[QUERY_LAST] == UINT64_MAX && q.ns[QUERY_FROM] == 0 && q.ns[QUERY_MAX] == UINT64_MAX,
	   "nothing is asked: all is meant");
	is_u64(of_one(ANSWER_CAPTURE, "last", "60s").ns[QUERY_LAST], 60000000000, "last=60s");
	is_u64(of_one(ANSWER_CAPTURE, "last", "1.5m").ns[QUERY_LAST], 90000000000, "last=1.5m");
	query__add(&q, ANSWER_COMMANDS, "from", "5s");
	query__add(&q, ANSWER_COMMANDS, "to", "6000000001ns");
	query__add(&q, ANSWER_COMMANDS, "min", "0ns");
	query__add(&q, ANSWER_COMMANDS, "max", "2ms");
	query__add(&q, ANSWER_COMMANDS, "dev", "loop0%232");
	ok(!q.refusal, "five arguments");
	ok(q.ns[QUERY_FROM] == 5000000000 && q.ns[QUERY_TO] == 6000000001 && !q.ns[QUERY_MIN] &&
		   q.ns[QUERY_MAX] == 2000000,
	   "their times");
	is_str(q.dev, "loop0#2", "and a device, unescaped");
	ok(!of_one(ANSWER_METRICS, "anything", NULL).refusal, "other pages take any query");
	is_u64(of_one(ANSWER_COMMANDS, "number", "17").number, 17, "number=17");
	ok(!of_one(ANSWER_COMMANDS, "number", "999999999999999999").refusal, "18 digits");
}

static void test_bad(void)
{
	static const char *const times[] = { "",
					     "60",
					     "-1s",
					     "+1s",
					     " 1s",
					     "1s ",
					     "1x",
					     "0x1s",
					     "1e3s",
					     "inf",
					     "%31s",
					     "1s%00",
					     "s",
					     ".5s",
					     "99999999999999999999s",
					     "18446744073709551616ns",
					     "600000000000d",
					     "1..5s",
					     "\xff" };
	static const char *const devs[] = { "",	     "%",  "%4", "%zz", "%00",
					    "a%00b", "%4", "a%", "%%",	"%-1" };
	static const char *const numbers[] = { "",   "0",  "-1",   "+1",
					       " 1", "1 ", "0x1",  "1e3",
					       "x",  "1s", "1%30", "1000000000000000000" };
	char longest[65];
	struct query q;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		ok(of_one(ANSWER_COMMANDS, "number", numbers[i]).refusal, "number=%s", numbers[i]);
	ok(of_one(ANSWER_CAPTURE, "number", "1").refusal, "a capture has no number");
	q = of_one(ANSWER_COMMANDS, "number", "1");
	query__add(&q, ANSWER_COMMANDS, "number", "1");
	ok(q.refusal, "a number twice");
	q = of_one(ANSWER_COMMANDS, "number", "1");
	query__add(&q, ANSWER_COMMANDS, "min", "1s");
	ok(q.refusal, "a number stands alone");
	q = of_one(ANSWER_COMMANDS, "dev", "sda");
	query__add(&q, ANSWER_COMMANDS, "number", "1");
	ok(q.refusal, "also behind others");

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		ok(of_one(ANSWER_CAPTURE, "last", times[i]).refusal, "last=%s", times[i]);
		ok(of_one(ANSWER_COMMANDS, "min", times[i]).refusal, "min=%s", times[i]);
	}
	for (size_t i = 0; i < sizeof(devs) / sizeof(devs[0]); i++)
		ok(of_one(ANSWER_COMMANDS, "dev", devs[i]).refusal, "dev=%s", devs[i]);
	memset(longest, 'a', sizeof(longest));
	longest[64] = 0;
	ok(of_one(ANSWER_COMMANDS, "dev", longest).refusal, "a device of 64 bytes");
	ok(!of_one(ANSWER_COMMANDS, "dev", longest + 1).refusal, "63 are taken");
	ok(of_one(ANSWER_CAPTURE, "last", NULL).refusal, "no value");
	ok(of_one(ANSWER_CAPTURE, "Last", "1s").refusal, "keys have a case");
	ok(of_one(ANSWER_CAPTURE, "from", "1s").refusal, "a key of the other page");
	ok(of_one(ANSWER_COMMANDS, "last", "1s").refusal, "and the other way");
	q = of_one(ANSWER_CAPTURE, "last", "1s");
	query__add(&q, ANSWER_CAPTURE, "last", "1s");
	ok(q.refusal, "twice the same");
	q = of_one(ANSWER_COMMANDS, "dev", "a");
	query__add(&q, ANSWER_COMMANDS, "dev", "b");
	ok(q.refusal, "two devices");
	query__add(&q, ANSWER_COMMANDS, "min", "1s");
	ok(q.refusal, "what was refused stays so");
}

int main(void)
{
	test_good();
	test_bad();
	return done_testing();
}
