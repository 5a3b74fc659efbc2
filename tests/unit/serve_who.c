/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_who.c: is every command of an interval counted for one task, however many there are and
 * whatever their names?
 */
#include "serve/who.h"
#include <inttypes.h>
#include <stdlib.h>
#include "tap.h"

static void add(struct who *who, const char *comm, uint64_t lat_ns, uint8_t what)
{
	struct io_record record = { .first_ns = 5, .end_ns = 5 + lat_ns, .bytes = 4096 };

	record.what = what;
	memcpy(record.comm, comm, strnlen(comm, sizeof(record.comm)));
	who__add(who, &record);
}

static char *told(struct who *who, double seconds)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ok(!who__end(who, seconds, out), "told");
	fclose(out);
	return text;
}

static uint64_t sum_counts(const char *text, size_t *lines)
{
	uint64_t sum = 0;

	*lines = 0;
	while ((text = strstr(text, "\"count\":"))) {
		text += strlen("\"count\":");
		sum += strtoull(text, NULL, 10);
		++*lines;
	}
	return sum;
}

static void test_tasks(void)
{
	struct who who = { 0 };
	char *text;

	add(&who, "fio", 1000, RECORD_END);
	add(&who, "dd", 100, RECORD_END);
	add(&who, "fio", 3000, RECORD_END);
	add(&who, "fio", 9000, RECORD_ATTEMPT);
	add(&who, "\"0123456789abcde", 10, RECORD_END); /* 16 bytes: it has no end */
	text = told(&who, 2);
	is_str(text,
	       "{\"type\":\"who\",\"comm\":\"fio\",\"count\":2,\"iops\":1,\"mb_per_s\":0.004,"
	       "\"mean_ns\":2000,\"max_ns\":3000}\n"
	       "{\"type\":\"who\",\"comm\":\"\\\"0123456789abcde\",\"count\":1,\"iops\":0.5,"
	       "\"mb_per_s\":0.002,\"mean_ns\":10,\"max_ns\":10}\n"
	       "{\"type\":\"who\",\"comm\":\"dd\",\"count\":1,\"iops\":0.5,\"mb_per_s\":0.002,"
	       "\"mean_ns\":100,\"max_ns\":100}\n",
	       "most commands first");
	free(text);
	text = told(&who, 1);
	is_str(text, "", "the next interval begins at 0");
	free(text);
}

static void test_many(void)
{
	struct who who = { 0 };
	char comm[16], *text;
	size_t lines;

	for (int i = 0; i < 1000; i++) {
		snprintf(comm, sizeof(comm), "task%d", i);
		add(&who, comm, 10, RECORD_END);
		if (i == 900)
			add(&who, comm, 10, RECORD_END);
	}
	add(&who, "", 10, RECORD_END);
	text = told(&who, 1);
	is_u64(sum_counts(text, &lines), 1002, "a thousand tasks: no command is missing");
	is_u64(lines, WHO_TOLD + 1, "20 of them, and the others in one line");
	ok(strstr(text, "{\"type\":\"who\",\"comm\":null,\"count\":982,"), "which has no name");
	free(text);
	who__free(&who);
}

int main(void)
{
	test_tasks();
	test_many();
	return done_testing();
}
