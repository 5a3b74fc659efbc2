/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chrome.c: is Trace Event JSON what was asked for, whatever the names? Bytes are compared: times
 * keep their ns, tasks are named when they come or change, idle tasks have a line each.
 */
#include <stdlib.h>
#include "render/chrome.h"
#include "tap.h"

static char *text;
static size_t size;
static FILE *out;
static struct chrome *chrome;

static void begin(void)
{
	out = open_memstream(&text, &size);
	chrome = chrome__begin(out);
}

static void put(const struct chrome_event *event)
{
	if (chrome__put(chrome, event))
		printf("Bail out! no memory\n");
}

static const char *end(void)
{
	chrome__end(chrome);
	chrome__free(chrome);
	fclose(out);
	return text;
}

static size_t times(const char *what)
{
	size_t nr = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		nr++;
	return nr;
}

#define HEAD "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["

static void test_calls(void)
{
	const struct chrome_event outer = {
		.name = "vfs_read",
		.category = "kernel",
		.start_ns = 1234567,
		.duration_ns = 90001,
		.pid = 10,
		.tid = 11,
		.cpu = 1,
		.comm = "dd",
		.args = { { "arguments", "count=4096" }, { "ret", NULL } },
		.nr_args = 2,
	};
	const struct chrome_event mark = {
		.name = "io_schedule",
		.category = "kernel",
		.start_ns = 1300000,
		.duration_ns = CHROME_NO_DURATION,
		.pid = 10,
		.tid = 11,
		.comm = "dd",
	};

	begin();
	is_str(end(), HEAD "\n]}\n", "nothing is an empty list");
	free(text);
	begin();
	put(&outer);
	put(&mark);
	is_str(end(),
	       HEAD "\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":10,\"tid\":11,\"args\":{"
		    "\"name\":\"dd\"}},\n"
		    "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":10,\"tid\":11,\"args\":{"
		    "\"name\":\"dd\"}},\n"
		    "{\"name\":\"vfs_read\",\"cat\":\"kernel\",\"ph\":\"X\",\"ts\":1234.567,"
		    "\"dur\":90.001,\"pid\":10,\"tid\":11,\"args\":{\"cpu\":1,"
		    "\"arguments\":\"count=4096\"}},\n"
		    "{\"name\":\"io_schedule\",\"cat\":\"kernel\",\"ph\":\"i\",\"s\":\"t\","
		    "\"ts\":1300.000,\"pid\":10,\"tid\":11,\"args\":{\"cpu\":0}}\n]}\n",
	       "a call, and one whose return was not seen");
	free(text);
}

static void test_names(void)
{
	struct chrome_event e = { .name = "f", .category = "kernel", .pid = 10, .comm = "worker" };

	begin();
	e.tid = 11;
	put(&e);
	e.tid = 10;
	e.comm = "main";
	put(&e);
	put(&e);
	e.comm = "exec";
	put(&e);
	end();
	is_u64(times("process_name"), 3, "a process: who came first, its first task, execve");
	is_u64(times("thread_name"), 3, "a task: when it comes, and when its name changes");
	free(text);
	begin();
	for (uint32_t tid = 1; tid <= 1000; tid++) {
		e.pid = e.tid = tid;
		put(&e);
		put(&e);
	}
	end();
	is_u64(times("process_name"), 1000, "a thousand processes");
	is_u64(times("\"ph\":\"X\""), 2000, "and what they did");
	free(text);
}

static void test_idle(void)
{
	struct chrome_event e = { .name = "nvme_irq", .category = "kernel", .comm = "swapper/0" };

	begin();
	put(&e);
	e.cpu = 1;
	e.comm = "swapper/1";
	put(&e);
	e.cpu = 0;
	e.comm = "swapper/0";
	put(&e);
	end();
	is_u64(times("\"tid\":4194304,"), 4, "an idle task has the line of its CPU");
	is_u64(times("\"tid\":4194305,"), 2, "which is not another's");
	is_u64(times("process_name"), 1, "they are one process");
	is_u64(times("thread_name"), 2, "of two tasks");
	free(text);
}

static void test_hostile(void)
{
	const struct chrome_event e = {
		.name = "f\"}]\\\n\x01\xff",
		.category = "kernel",
		.pid = 1,
		.tid = 1,
		.comm = "\"},{\\\x1b",
		.args = { { "arguments", "name=\"a\\b\"\t\xc3" } },
		.nr_args = 1,
	};
	bool is_inside = false, is_plain = true;
	int depth = 0, least = 1;

	begin();
	put(&e);
	end();
	for (const char *c = text; *c && *c != 0; c++) {
		is_plain = is_plain && (*c == '\n' ? !is_inside : *c >= 0x20 && *c < 0x7f);
		if (*c == '\\' && is_inside)
			c++;
		else if (*c == '"')
			is_inside = !is_inside;
		else if (!is_inside)
			depth += (*c == '{' || *c == '[') - (*c == '}' || *c == ']');
		if (c[1] && c[1] != '\n')
			least = depth < least ? depth : least;
	}
	ok(!is_inside && !depth && least > 0, "brackets and quotes are ours");
	ok(is_plain, "nothing but plain characters");
	free(text);
}

/* What is no task has a process and a line of its own all the same. */
static void test_counter(void)
{
	begin();
	put(&(struct chrome_event){ .name = "read",
				    .category = "command",
				    .start_ns = 1,
				    .duration_ns = 2,
				    .pid = 3,
				    .tid = 1,
				    .comm = "queue 1",
				    .process = "nvme0n1" });
	chrome__counter(chrome, &(struct chrome_counter){ .name = "in flight",
							  .unit = "comm\"ands",
							  .time_ns = 1500,
							  .value = 7,
							  .pid = 3 });
	is_str(end(),
	       HEAD "\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":3,\"tid\":1,"
		    "\"args\":{\"name\":\"nvme0n1\"}},\n"
		    "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":3,\"tid\":1,"
		    "\"args\":{\"name\":\"queue 1\"}},\n"
		    "{\"name\":\"read\",\"cat\":\"command\",\"ph\":\"X\",\"ts\":0.001,"
		    "\"dur\":0.002,\"pid\":3,\"tid\":1,\"args\":{\"cpu\":0}},\n"
		    "{\"name\":\"in flight\",\"ph\":\"C\",\"ts\":1.500,\"pid\":3,"
		    "\"args\":{\"comm\\\"ands\":7}}\n]}\n",
	       "a process with a name of its own, and a counter");
	free(text);
}

int main(void)
{
	chrome__free(NULL);
	test_calls();
	test_names();
	test_idle();
	test_hostile();
	test_counter();
	return done_testing();
}
