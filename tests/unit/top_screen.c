/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_screen.c: what stands where on the screen of top? It is a grid of characters here;
 * tests/live/top.t has the same on a terminal.
 */
#include <math.h>
#include <stdlib.h>
#include "base/log.h"
#include "screen/top.h"
#include "screen_grid.h"
#include "tap.h"
#include "view/latency_by.h"
#include "wire/io_tables.h"

static struct top_model model;
static struct top_screen screen;

/* ---- its contents ---- */

static void label(void *arg, const struct io_tags *tags, uint32_t mask, struct latency_row *row)
{
	static const char *const devices[] = { "?", "nvme0n1", "sda" };

	(void)arg, (void)mask;
	row->dev = devices[tags->device];
	row->op = tags->op ? "write" : "read";
}

static void draw(void)
{
	if (top_model__arrange(&model, label, NULL))
		printf("Bail out! no memory\n");
	top_screen__draw(&screen);
}

static void press(int key)
{
	top_screen__on_key(&screen, key);
	draw();
}

static void type(const char *text)
{
	while (*text)
		press(*text++);
}

/* 1,000 reads of 10 us and 13 slow writes in a second; 3 are in flight. */
static void begin(void)
{
	static const enum breakdown_by keys[] = { BY_DEV, BY_OP };
	const struct io_tags reads = { .device = 1, .kind = IO_BLOCK };
	const struct io_tags writes = { .device = 2, .kind = IO_BLOCK, .op = 1 };
	static struct hist hist;

	top_model__free(&model);
	top_model__init(&model, keys, 2);
	model.knows_open = true;
	screen = (struct top_screen){ .model = &model, .multiple = 1 };
	snprintf(screen.facts.host, sizeof(screen.facts.host), "host");
	snprintf(screen.facts.kernel, sizeof(screen.facts.kernel), "6.12");
	snprintf(screen.facts.clock, sizeof(screen.facts.clock), "12:00:07");
	screen.facts.ledger = (struct ledger){ .issued = 1016, .completed = 1013, .in_flight = 3 };
	screen.facts.cpu_percent = 0.4;
	screen.facts.bpf_percent = NAN;
	top_model__begin(&model);
	for (int i = 0; i < 3; i++)
		top_model__add_open(&model, &reads);
	memset(&hist, 0, sizeof(hist));
	for (int i = 0; i < 1000; i++)
		hist__add(&hist, 10000, 4096);
	top_model__add(&model, &reads, &hist);
	memset(&hist, 0, sizeof(hist));
	for (int i = 0; i < 13; i++)
		hist__add(&hist, 5000000, 8192);
	top_model__add(&model, &writes, &hist);
	top_model__end(&model, 1);
	nr_lines = 24;
	nr_columns = 80;
	draw();
}

static void test_lines(void)
{
	begin();
	is_str(grid[0], "iosonar top  host  Linux 6.12  12:00:07  interval 1.0 s", "first line");
	is_str(grid[1], "IO/s 1.01k  MB/s 4.2  p50 10.1us  p99 5.00ms  max 5.00ms  in flight 3",
	       "all rows");
	is_str(grid[2], "issued 1016 = completed 1013 + in flight 3; nothing lost", "the ledger");
	is_str(grid[3],
	       "all  by dev, largest IO/s first                                        CPU 0.4 %",
	       "the place, and the own cost");
	screen.facts.bpf_percent = 0.3149;
	draw();
	ok(strstr(grid[3], "  CPU 0.4 %  BPF 0.31 %"), "with that of the programs, if known");
	is_str(grid[4],
	       "  dev                      IO/s    MB/s   size     p50     p99     max in flight",
	       "headings");
	is_str(grid[5],
	       "> nvme0n1                 1.00k     4.1  4.0Ki  10.0us  10.0us  10.0us         3",
	       "the busiest device, which is chosen");
	is_str(grid[6],
	       "  sda                      13.0     0.1  8.0Ki  5.00ms  5.00ms  5.00ms         0",
	       "the other one");
	is_str(grid[15], "latency of nvme0n1 over the last 71 intervals, now at the right",
	       "the strip");
	ok(!strncmp(grid[22], "16.4us |", 8) && grid[22][8 + 70] == '@' && grid[22][79] == '|',
	   "all commands of the last interval are below 16.4 us");
	ok(!strncmp(grid[23], "?:help q:quit", 13), "keys are in the last line");
}

static void test_lost(void)
{
	begin();
	ok(alarm_line == -1, "nothing alarms without loss");
	screen.facts.ledger.lost[LOST_NO_SLOT] = 7;
	screen.facts.ledger.lost[LOST_RING] = 5;
	draw();
	is_str(grid[2], "LOST 12  issued 1016 = completed 1013 + in flight 3",
	       "a loss is a word and a number");
	ok(alarm_line == 2, "in a colour, too");
	nr_columns = 40;
	draw();
	is_str(grid[2], "LOST 12  in flight 3", "also in a narrow window");
	is_str(grid[3], "all  by dev, largest IO/s first", "which has no room for the cost");
}

/* The ledger of a capture is the last one of its run. */
static void test_unaccounted(void)
{
	begin();
	screen.facts.ledger.issued += 7;
	draw();
	is_str(grid[2], "issued 1023 = completed 1013 + in flight 3; nothing lost",
	       "while a run goes on, a difference is nothing yet");
	screen.browse.is_on = screen.facts.has_ledger = true;
	draw();
	is_str(grid[2], "UNACCOUNTED 7  issued 1023 = completed 1013 + in flight 3",
	       "at its end it is said");
	ok(alarm_line == 2, "as an alarm");
	screen.facts.ledger.lost[LOST_COMPLETION] = 5;
	draw();
	is_str(grid[2], "LOST 5  UNACCOUNTED 2  issued 1023 = completed 1013 + in flight 3",
	       "after what is lost");
}

/* Each has a word of its own. */
static void test_headings(void)
{
	begin();
	for (int i = 0; i < NR_BY; i++) {
		const enum breakdown_by key = i;
		char want[32];

		top_model__free(&model);
		top_model__init(&model, &key, 1);
		draw();
		snprintf(want, sizeof(want), "all  by %s, ", latency_by_words[i]);
		ok(!strncmp(grid[3], want, strlen(want)), "rows %s", want);
		ok(!strncmp(grid[4] + 2, latency_by_words[i], strlen(latency_by_words[i])),
		   "under this heading");
	}
}

static void test_windows(void)
{
	begin();
	nr_columns = 40;
	nr_lines = 10;
	draw();
	is_str(grid[1], "IO/s 1.01k MB/s 4.2 p99 5.00ms max 5.00m",
	       "40 columns: the important ones");
	is_str(grid[5], "> nvme0n1          1.00k  10.0us  10.0us", "of rows, too");
	ok(!strncmp(grid[9], "?:help", 6), "10 lines: keys in the last one");
	ok(!strstr(grid[7], "latency of") && !strstr(grid[6], "latency of"), "and no strip");
	nr_columns = 39;
	draw();
	ok(!strncmp(grid[0], "window < 40x10", 14) && !*grid[1], "a smaller window says so");
	nr_columns = 300;
	nr_lines = 80;
	draw();
	ok(strlen(grid[5]) == 300 && !strncmp(grid[79], "?:help", 6), "300x80 is used to its ends");
	ok(strstr(grid[70], "last 128 intervals"), "the strip has what is remembered");
}

static void test_keys(void)
{
	begin();
	press('j');
	ok(!strncmp(grid[6], "> sda", 5), "j chooses the next row");
	press(SCREEN_ENTER);
	ok(!strncmp(grid[3], "sda  by op", 10) && !strncmp(grid[5], "> write", 7),
	   "Enter opens it");
	press(SCREEN_ENTER);
	ok(strstr(grid[23], "nothing below"), "what has nothing below says so");
	press(SCREEN_ESCAPE);
	ok(!strncmp(grid[3], "all  by dev", 11), "Escape goes back");
	press('b');
	ok(strstr(grid[3], "all  by op") && !strncmp(grid[5], "> read", 6),
	   "b shows the rows by the next key");
	press(SCREEN_ENTER);
	press('b');
	ok(strstr(grid[23], "no other key"), "which the last level does not have");
	press(SCREEN_ESCAPE);
	press('b');
	ok(strstr(grid[3], "all  by dev") && !strncmp(grid[6], "  sda", 5), "b again: as before");
	press(SCREEN_DOWN);
	press('r');
	ok(strstr(grid[3], "smallest IO/s first") && !strncmp(grid[5], "> sda", 5), "r reverses");
	press('l');
	ok(strstr(grid[4], "p99.9") && !strstr(grid[4], "p50"), "l has other columns");
	press('h');
	ok(!*grid[15], "h hides the strip");
	press('?');
	ok(strstr(grid[0], "keys of iosonar top") && strstr(grid[19], "quit"), "? lists all keys");
	press('q');
	ok(!screen.quits && strstr(grid[4], "dev"), "q leaves the help");
	press('+');
	ok(screen.multiple == 2, "+ makes intervals longer");
	press('-');
	press('-');
	ok(screen.multiple == 1, "- shorter, down to one");
	press(' ');
	ok(screen.is_frozen && strstr(grid[0], "FROZEN"), "Space freezes");
	nr_columns = 40;
	draw();
	ok(strstr(grid[0], "FROZEN"), "a narrow window says so, too");
	press('q');
	ok(screen.quits, "q quits");
}

static void test_troubles(void)
{
	static struct top_troubles troubles;
	int alarm;

	begin();
	troubles.failed[0] = (struct top_trouble){
		.dev = "sda", .op = "write", .status = "I/O error (EIO)", .count = 7, .last_s = 3
	};
	for (size_t i = 1; i < 5; i++)
		troubles.failed[i] = troubles.failed[0];
	screen.troubles = &troubles;
	screen.now_s = 5;
	draw();
	ok(strstr(grid[22], " ms |") || !strstr(grid[22], "FAILED"), "without trouble no line");
	troubles.nr_failed = 1;
	draw();
	alarm = alarm_line;
	is_str(grid[22], "FAILED sda write  7, the last 2 s ago: I/O error (EIO)",
	       "failed commands are above the foot");
	ok(alarm == 22, "with an alarm");
	troubles.stuck[0] = (struct top_trouble){ .dev = "nvme0n1",
						  .op = "read",
						  .status = "sent",
						  .count = 2,
						  .last_s = NAN,
						  .oldest_ns = 3210000000 };
	troubles.nr_stuck = 1;
	draw();
	is_str(grid[21], "STUCK nvme0n1 read  2 for 3.21s: sent", "stuck ones are above those");
	troubles.nr_failed = 5;
	draw();
	ok(!strncmp(grid[19], "STUCK", 5) && strstr(grid[22], "and 2 more kinds"),
	   "four lines at most, and the number of the others");
	nr_lines = 10;
	draw();
	ok(!strncmp(grid[8], "STUCK", 5) && !strncmp(grid[5], "> nvme0n1", 9),
	   "a small window has one line of them, and rows");
	nr_lines = 24;
}

static void test_capture(void)
{
	begin();
	model.knows_open = false;
	top_browse__begin(&screen.browse, 0, 5000000000, 1000000000);
	snprintf(screen.browse.file, sizeof(screen.browse.file), "run.cap");
	screen.facts.has_ledger = true;
	press(SCREEN_RIGHT);
	is_str(grid[0], "iosonar top  run.cap  1.000 s to 2.000 s of 5.000 s  12:00:07",
	       "a capture has the time of its window; Right shows the next one");
	ok(!strstr(grid[1], "in flight"), "not what is in flight");
	ok(!strstr(grid[3], "CPU"), "and not what it costs");
	press(SCREEN_END);
	ok(strstr(grid[0], "4.000 s to 5.000 s"), "End shows the last window");
	press(SCREEN_RIGHT);
	ok(strstr(grid[23], "end of the capture"), "which has no next");
	press('+');
	press(SCREEN_LEFT);
	ok(strstr(grid[0], "2.000 s to 4.000 s"), "+ and Left: a longer window before");
	press(SCREEN_HOME);
	ok(strstr(grid[0], "0.000 s to 2.000 s"), "Home shows the first window");
	press(' ');
	ok(!screen.is_frozen && strstr(grid[0], "PLAYS"), "Space plays");
	nr_lines = 30;
	press('?');
	ok(!strncmp(grid[1], "Left ", 5) && strstr(grid[23], "quit") && !*grid[24],
	   "? has its keys instead of those that it replaces");
	press('q');
	screen.browse.is_damaged = true;
	screen.facts.has_ledger = false;
	draw();
	is_str(grid[2], "DAMAGED  the capture has no ledger", "damage is told");
	ok(alarm_line == 2, "with an alarm");
}

static void hear(void *arg, const char *message)
{
	snprintf(arg, TOP_MESSAGE, "%s", message);
}

static void test_filter(void)
{
	begin();
	log_set_listener(hear, screen.message);
	press('/');
	type("p9x q");
	is_str(grid[23], "/p9x q_", "keys are characters of the filter");
	ok(!screen.quits, "q, too");
	press(SCREEN_ENTER);
	ok(strstr(grid[23], "p9x"), "a mistake is named");
	for (int i = 0; i < 9; i++)
		press(SCREEN_BACK);
	is_str(grid[23], "/_", "Backspace takes characters away");
	type("p99 > 1ms");
	press(SCREEN_ENTER);
	ok(!strncmp(grid[3], "all  by dev, largest IO/s first; if p99 > 1ms ", 46),
	   "the filter is shown");
	ok(!strncmp(grid[5], "> sda", 5) && !*grid[6], "and hides rows");
	press('/');
	press(SCREEN_ESCAPE);
	ok(!screen.types && strstr(grid[3], "if p99"), "Escape leaves it");
	press('/');
	for (int i = 0; i < 200; i++)
		press('x');
	ok(strlen(screen.input) < sizeof(screen.input), "a filter has an end");
	log_set_listener(NULL, NULL);
}

int main(void)
{
	test_lines();
	test_lost();
	test_unaccounted();
	test_headings();
	test_windows();
	test_keys();
	test_filter();
	test_capture();
	test_troubles();
	top_model__free(&model);
	return done_testing();
}
