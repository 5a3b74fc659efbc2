/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers with units, every kind of option in every spelling, and every way to get one wrong:
 * each wrong one is -EINVAL and exactly one line that names the option and what would be right.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/units.h"
#include "base/option.h"
#include "base/options.h"
#include "tap.h"

struct own {
	bool hist, heat;
	struct option_list by;
	struct option_number size, shift;
};

static const char *const by_choices[] = { "ctrl", "dev", "queue", NULL };

static const struct option_def own_defs[] = {
	{ .name = "hist", .kind = OPTION_FLAG, .offset = offsetof(struct own, hist), .help = "h" },
	{ .name = "heat",
	  .kind = OPTION_FLAG,
	  .offset = offsetof(struct own, heat),
	  .help = "h",
	  .not_with = "cumulative,hist" },
	{ .name = "by",
	  .kind = OPTION_LIST,
	  .offset = offsetof(struct own, by),
	  .arg = "LIST",
	  .help = "one row for each of a long list of words, so long that it needs two lines at "
		  "least",
	  .choices = by_choices },
	{ .name = "buffer",
	  .kind = OPTION_SIZE,
	  .offset = offsetof(struct own, size),
	  .arg = "SIZE",
	  .help = "h",
	  .min = 4096,
	  .max = 1 << 30 },
	{ .name = "shift",
	  .letter = 's',
	  .kind = OPTION_NUMBER,
	  .offset = offsetof(struct own, shift),
	  .arg = "N",
	  .help = "h" },
	{ .name = "elsewhere",
	  .letter = 'e',
	  .kind = OPTION_STRING,
	  .arg = "FILE",
	  .refuses = "100% not here; try there" },
	{ 0 },
};

static const struct option_group own_group = { "Own", own_defs };

static struct own own;
static struct options options;
static const struct option_set sets[] = {
	{ &own_group, &own },
	{ &filter_group, &options.filter },
	{ &run_group, &options.run },
	{ OUTPUT_IN(OUTPUT_TABLES), &options.output },
	{ &write_group, &options.file },
	{ &read_group, &options.file },
};
#define NR_SETS (sizeof(sets) / sizeof(sets[0]))

static struct option_result result;
static int said_fd;
static char said[4096];

static void hear(void)
{
	ssize_t len = pread(said_fd, said, sizeof(said) - 1, 0);

	said[len < 0 ? 0 : len] = 0;
	if (ftruncate(said_fd, 0))
		said[0] = 0;
	lseek(said_fd, 0, SEEK_SET);
}

/* Parses "iosonar latency LINE"; blanks separate words, '_' alone is an empty word. */
static int parse(const char *line)
{
	static char copy[512];
	static char *argv[32];
	int argc = 0, err;
	char *save = NULL;

	option__free(sets, NR_SETS);
	memset(&own, 0, sizeof(own));
	memset(&options, 0, sizeof(options));
	snprintf(copy, sizeof(copy), "latency %s", line);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = strcmp(w, "_") ? w : w + 1;
	argv[argc] = NULL;
	err = option__parse(sets, NR_SETS, argc, argv, &result);
	hear();
	return err;
}

static void good(const char *line)
{
	int err = parse(line);

	if (!ok(!err && !said[0], "taken: %s", line))
		printf("# %d %s\n", err, said);
}

static void bad(const char *line, const char *message)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "iosonar: %s\n", message);
	ok(parse(line) == -EINVAL, "refused: %s", line);
	is_str(said, whole, "  with its line");
}

typedef int (*reader)(const char *text, uint64_t *value);

static void reads(reader read_fn, const char *text, uint64_t want)
{
	uint64_t value = 4711;
	int err = read_fn(text, &value);

	if (!ok(!err && value == want, "'%s' is %" PRIu64, text, want))
		printf("# %d, %" PRIu64 "\n", err, value);
}

static void reads_not(reader read_fn, const char *text)
{
	uint64_t value = 4711;

	ok(read_fn(text, &value) < 0 && value == 4711, "'%s' is refused", text);
}

static void test_durations(void)
{
	static const char *const wrong[] = {
		"",
		"5",
		"5.5",
		"-5s",
		"+5s",
		" 5s",
		"5 s",
		"5s ",
		"5S",
		"5sec",
		".5s",
		"5.s",
		"s",
		"1.5ns",
		"0x5s",
		"1e3s",
		"5,5s",
		"1s1",
		"nans",
		"1.2.3s",
		"5us5",
		"18446744074s",
		"99999999999999999999ns",
		"307445734562m",
	};

	reads(units__read_duration, "1.5h", 5400000000000);
	reads(units__read_duration, "2d", 172800000000000);
	reads(units__read_duration, "850ns", 850);
	reads(units__read_duration, "10us", 10000);
	reads(units__read_duration, "5ms", 5000000);
	reads(units__read_duration, "1s", 1000000000);
	reads(units__read_duration, "1.5s", 1500000000);
	reads(units__read_duration, "2m", 120000000000);
	reads(units__read_duration, "0.25us", 250);
	reads(units__read_duration, "0s", 0);
	reads(units__read_duration, "007s", 7000000000);
	reads(units__read_duration, "1.00000000000000000000000001s", 1000000000);
	reads(units__read_duration, "18446744073709551615ns", UINT64_MAX);
	reads(units__read_duration, "18446744073.709551615s", UINT64_MAX);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		reads_not(units__read_duration, wrong[i]);
}

static void test_sizes(void)
{
	static const char *const wrong[] = {
		"",    "k",   "1.5", "-1",	    "1kB",	     "1ki",
		"1KI", "1 k", "1g",  "16777216TiB", "17179869184Gi",
	};

	reads(units__read_size, "512", 512);
	reads(units__read_size, "64k", 64000);
	reads(units__read_size, "64K", 64000);
	reads(units__read_size, "64Ki", 65536);
	reads(units__read_size, "16M", 16000000);
	reads(units__read_size, "16Mi", 16777216);
	reads(units__read_size, "1G", 1000000000);
	reads(units__read_size, "1Gi", 1073741824);
	reads(units__read_size, "1.5Ki", 1536);
	reads(units__read_size, "17179869183Gi", 17179869183ULL << 30);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		reads_not(units__read_size, wrong[i]);
}

static void test_numbers(void)
{
	static const char *const wrong[] = {
		"",
		"-1",
		"+1",
		" 1",
		"1 ",
		"0x",
		"0x-1",
		"0x0x1",
		"1.0",
		"1k",
		"18446744073709551616",
	};

	reads(units__read_number, "0", 0);
	reads(units__read_number, "010", 10);
	reads(units__read_number, "0x1F", 31);
	reads(units__read_number, "18446744073709551615", UINT64_MAX);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		reads_not(units__read_number, wrong[i]);
}

static void test_nearest(void)
{
	static const char *const words[] = { "latency", "layers", "trace", "op", "hist", "heat" };
	static const struct {
		const char *word, *near;
	} cases[] = {
		{ "latncy", "latency" }, { "lat", "latency" },
		{ "lay", "layers" },	 { "tarce", "trace" },
		{ "TRACE", "trace" },	 { "ops", "op" },
		{ "po", "op" },		 { "hits", "hist" },
		{ "heatt", "heat" },	 { "latencies", "latency" },
	};
	static const char *const strange[] = { "", "x", "zebra", "--", "serve" };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_str(nearest__word(cases[i].word, words, 6), cases[i].near, cases[i].word);
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
		ok(!nearest__word(strange[i], words, 6), "nothing is near '%s'", strange[i]);
	ok(!nearest__word("latencylatencylatencylatencylatencylatencylatencylatencylatencylatency",
			  words, 6),
	   "nor a very long word");
}

static void test_values(void)
{
	good("");
	ok(!options.run.interval_ns.given && result.rest == 1 && !result.json_schema, "no options");
	good("-d nvme0,sda -d vda --device=vdb --by dev,queue");
	ok(options.filter.devices.nr == 4 && own.by.nr == 2, "lists grow");
	is_str(options.filter.devices.words[3], "vdb", "in the order given");
	good("-i 1s -t2.5s -n 3 -p 0x10 --min 100us --qid 0");
	is_u64(options.run.interval_ns.value, 1000000000, "-i 1s");
	is_u64(options.run.duration_ns.value, 2500000000, "-t2.5s");
	is_u64(options.run.count.value, 3, "-n 3");
	is_u64(options.filter.pid.value, 16, "-p 0x10");
	is_u64(options.filter.min_ns.value, 100000, "--min 100us");
	ok(options.filter.qid.given && !options.filter.qid.value, "a 0 that was given");
	good("-o json --color never --out x.json --comm fio --failed --allow-loss");
	ok(options.output.format == OUTPUT_JSON && options.output.color == COLOR_NEVER, "choices");
	ok(options.filter.failed && options.run.allow_loss, "flags");
	is_str(options.filter.comm, "fio", "a string");
	good("-vvi 5s -v");
	ok(options.run.verbose == 3 && options.run.interval_ns.value == 5000000000, "bundled");
	good("-t 1s -t 2s --buffer 1Gi");
	is_u64(options.run.duration_ns.value, 2000000000, "the last one counts");
	good("--out=--x --cgroup -");
	is_str(options.output.path, "--x", "a value with dashes, by =");
	good("--json-schema");
	ok(result.json_schema, "--json-schema");
}

static void test_rest(void)
{
	good("-t 1s -- fio --name=x -t 5");
	ok(result.rest == 4 && options.run.duration_ns.value == 1000000000, "-- ends the options");
	good("--");
	ok(result.rest == 2, "-- with nothing behind it");
	ok(parse("-h --nonsense") == -ECANCELED && !said[0], "-h ends it at once");
	ok(parse("-vh") == -ECANCELED, "-h in a bundle");
	ok(parse("--help") == -ECANCELED, "--help");
	good("-- -h");
}

static void test_bad_numbers(void)
{
	bad("-i 5", "-i 5: write a unit, 5s or 5ms");
	bad("--interval=0.5", "--interval 0.5: write a unit, 0.5s or 0.5ms");
	bad("-i 5x", "-i 5x: not a duration; write 100us, 5ms, 1.5s, 2m, 1h or 1d");
	bad("-i -5s", "-i -5s: not a duration; write 100us, 5ms, 1.5s, 2m, 1h or 1d");
	bad("-i 10us", "-i 10us: too small; give at least 1ms");
	bad("-t 0s", "-t 0s: too small; give at least 1ns");
	bad("-t 99999999999999s", "-t 99999999999999s: too large");
	bad("-p abc", "-p abc: not a whole number; write 16 or 0x10");
	bad("-p -1", "-p -1: not a whole number; write 16 or 0x10");
	bad("-p 0", "-p 0: out of range; give 1 to 4194304");
	bad("-p 99999999999999999999999",
	    "-p 99999999999999999999999: out of range; give 1 to 4194304");
	bad("-s 99999999999999999999999", "-s 99999999999999999999999: too large");
	bad("--qid 65536", "--qid 65536: out of range; give 0 to 65535");
	bad("-n 0", "-n 0: too small; give at least 1");
	bad("--buffer 1", "--buffer 1: out of range; give 4Ki to 1Gi");
	bad("--buffer 2x", "--buffer 2x: not a size; write 4096, 64k or 1Gi");
}

static void test_bad_words(void)
{
	bad("-o xyz", "-o xyz: unknown value 'xyz'; expected one of text, json, csv");
	bad("-o jsno",
	    "-o jsno: unknown value 'jsno'; did you mean json? expected one of text, json, csv");
	bad("--by dev,qeue", "--by dev,qeue: unknown value 'qeue'; did you mean queue? "
			     "expected one of ctrl, dev, queue");
	bad("--by dev,", "--by dev,: empty item in the list");
	bad("-d ,", "-d ,: empty item in the list");
	bad("--comm sixteen-letters-",
	    "--comm sixteen-letters-: too long; at most 15 bytes are allowed");
	bad("-i", "-i DURATION: the value is missing");
	bad("-i -- fio", "-i DURATION: the value is missing");
	bad("-d --hist", "-d DEV: the value is missing");
	bad("--out=", "--out FILE: the value is missing");
	bad("-d _", "-d DEV: the value is missing");
	bad("-o", "-o text|json|csv: the value is missing");
	bad("--hist=x", "--hist x: the option takes no value");
	bad("--heat --hist", "--heat and --hist cannot be combined");
	bad("--hist --heat", "--heat and --hist cannot be combined");
	bad("fio", "unexpected argument 'fio': no such file; write COMMAND after --");
	bad("-", "unexpected argument '-': no such file; write COMMAND after --");
	bad("_", "unexpected argument '': no such file; write COMMAND after --");
}

static void test_refused(void)
{
	bad("-e x", "-e x: 100% not here; try there");
	bad("--elsewhere=x", "--elsewhere x: 100% not here; try there");
	bad("-e", "-e FILE: 100% not here; try there");
	bad("--elsewher x", "unknown option --elsewher; 'iosonar latency -h' lists the options");
}

static void test_unknown(void)
{
	bad("--intervl 5s", "unknown option --intervl; did you mean --interval?");
	bad("--inter=5s", "unknown option --inter; did you mean --interval?");
	bad("--dev x", "unknown option --dev; did you mean --device?");
	good("--ctrl-id 1");
	good("--ctrl_id 1");
	is_u64(options.filter.ctrl_id.value, 1, "nvme_bpf's name means the same");
	bad("--ctrl-di 1", "unknown option --ctrl-di; did you mean --ctrl-id?");
	bad("--zebra", "unknown option --zebra; 'iosonar latency -h' lists the options");
	bad("--=x", "unknown option --; 'iosonar latency -h' lists the options");
	bad("-x", "unknown option -x; 'iosonar latency -h' lists the options");
	bad("-vx", "unknown option -x; 'iosonar latency -h' lists the options");
	bad("-pid 5", "unknown option -pid; did you mean --pid?");
	bad("-v\x1b", "unknown option -\\x1b; 'iosonar latency -h' lists the options");
}

static void test_files(void)
{
	good("-r one.cap -r two,three.cap --read=four");
	is_u64(options.file.read.nr, 3, "three files");
	is_str(options.file.read.words[1], "two,three.cap", "a comma is part of a name");
	good("-w out.cap --zstd");
	is_str(options.file.write, "out.cap", "-w");
	bad("-r a -w b", "--write and --read cannot be combined");
	bad("-r", "-r FILE: the value is missing");
}

/* Words without an option, where a command takes them. */
static void test_operands(void)
{
	static const struct option_def defs[] = {
		{ .name = "FILE", .kind = OPTION_OPERANDS, .arg = "FILE...", .help = "h" },
		{ 0 },
	};
	static const struct option_group group = { "Files", defs };
	const struct option_group *groups[] = { &group };
	struct option_list files = { 0 };
	const struct option_set set = { &group, &files };
	char *argv[] = { "info", "a", "b,c", "--", "-d", NULL },
	     *wrong[] = { "info", "--FILE", "x" };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ok(!option__parse(&set, 1, 5, argv, &result), "words are taken");
	ok(files.nr == 2 && !strcmp(files.words[1], "b,c"), "each as it is");
	is_u64((uint64_t)result.rest, 4, "what follows -- is not theirs");
	option__free(&set, 1);
	ok(option__parse(&set, 1, 3, wrong, &result) == -EINVAL, "--FILE is no option");
	hear();
	option__free(&set, 1);
	option__print_help(out, groups, 1);
	fclose(out);
	ok(strstr(text, "\n  FILE...") && !strstr(text, "--FILE"), "help shows them as words");
	free(text);
}

static void test_help(void)
{
	const struct option_group *groups[] = { &own_group, &filter_group, &run_group,
						OUTPUT_IN(OUTPUT_TABLES) };
	char *text = NULL, *save = NULL;
	size_t size, longest = 0, nr_lines = 0;
	FILE *out = open_memstream(&text, &size);

	option__print_help(out, groups, 4);
	fclose(out);
	ok(strstr(text, "\n  -i, --interval DURATION ") != NULL, "help shows letter, name, value");
	ok(strstr(text, "\n      --hist ") != NULL, "and a name without a letter");
	ok(strstr(text, "  -o, --format text|json|csv  ") != NULL, "choices stand for the value");
	ok(strstr(text, "ctrl, dev, queue\n") != NULL, "or are listed");
	ok(!strstr(text, "elsewhere"), "what is refused is not");
	ok(strstr(text, "\nWhich I/O\n") && strstr(text, "\nEvery command\n"),
	   "groups have titles");
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		longest = strlen(line) > longest ? strlen(line) : longest;
		nr_lines++;
	}
	ok(longest <= 80 && longest > 70, "lines fit 80 columns and use them (%zu)", longest);
	ok(nr_lines > 30, "all of them (%zu)", nr_lines);
	free(text);
}

static void test_short_help(void)
{
	const struct option_group *groups[] = { &own_group, &filter_group,
						OUTPUT_IN(OUTPUT_TABLES) };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	option__print_short_help(out, groups, 3, 1);
	fclose(out);
	ok(strstr(text, "\n      --hist ") != NULL, "-h explains the options of the command");
	ok(strstr(text, "-d --op -p ") && !strstr(text, "--device DEV"), "and names the others");
	free(text);
	ok(parse("-h") == -ECANCELED && result.short_help, "-h is the short help");
	ok(parse("--help") == -ECANCELED && !result.short_help, "--help is not");
}

/* One table of formats: a command knows some of them. */
static void test_formats(void)
{
	const struct option_set set = { OUTPUT_IN(OUTPUT_TABLES | OUTPUT_BIT(OUTPUT_FIO)),
					&options.output };
	char *fio[] = { "pattern", "-o", "fio", NULL }, *svg[] = { "pattern", "-o", "svg", NULL };

	ok(!option__parse(&set, 1, 3, fio, &result) && options.output.format == OUTPUT_FIO,
	   "a format is its number in every command");
	ok(option__parse(&set, 1, 3, svg, &result) == -EINVAL, "others are refused");
	hear();
	is_str(said, "iosonar: -o svg: unknown value 'svg'; expected one of text, json, csv, fio\n",
	       "with those that are known");
	options.output.format = OUTPUT_TEXT;
}

int main(void)
{
	said_fd = memfd_create("stderr", 0);
	if (said_fd < 0 || dup2(said_fd, STDERR_FILENO) < 0)
		return 1;
	test_durations();
	test_sizes();
	test_numbers();
	test_nearest();
	test_values();
	test_rest();
	test_bad_numbers();
	test_bad_words();
	test_unknown();
	test_refused();
	test_files();
	test_operands();
	test_help();
	test_short_help();
	test_formats();
	option__free(sets, NR_SETS);
	return done_testing();
}
