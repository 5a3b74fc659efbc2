/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job.c: does a job say what the load was? A load of known mix, sizes, order and depth is written
 * and read line by line. Names that a device or a task could have chosen must not become a line of
 * their own.
 */
#include <stdlib.h>
#include "render/job.h"
#include "tap.h"

static const struct pattern_disk disk = { 1ULL << 30, 512, 0 };
static const uint64_t us = 1000;

/* A load: one after the other, so many in flight. */
struct made {
	uint64_t nr, depth;
	uint64_t streams;     /* that take turns */
	uint32_t write_every; /* so many-th is a write; 0: none */
	uint32_t random;      /* of five of a kind */
	uint32_t discard_every, flush_every;
	uint64_t shift_bytes;
};

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static enum pattern_kind made_kind(const struct made *m, uint64_t i)
{
	if (m->discard_every && i % m->discard_every == 0)
		return PATTERN_DISCARD;
	if (m->flush_every && i % m->flush_every == 1)
		return PATTERN_FLUSH;
	return m->write_every && i % m->write_every == 2 ? PATTERN_WRITE : PATTERN_READ;
}

static void make(struct pattern *p, const struct made *m)
{
	static const struct pattern_tags tags = { .device = 0 };
	uint64_t next[16][2] = { { 0 } }, nth[NR_PATTERN_KINDS] = { 0 };
	uint32_t state = 5;

	if (pattern__init(p, 8))
		printf("Bail out! no memory\n");
	for (uint64_t i = 0; i < m->nr; i++) {
		enum pattern_kind kind = made_kind(m, i);
		uint64_t *at = &next[i % m->streams][kind == PATTERN_WRITE];
		struct pattern_io io = { .submit_ns = us * (i + 1),
					 .end_ns = us * (i + m->depth) + us / 2,
					 .from_byte = PATTERN_NOWHERE,
					 .bytes = kind == PATTERN_WRITE ? 16384 : 4096,
					 .kind = kind };

		if (nth[kind]++ % 5 < m->random)
			*at = next_random(&state) % 16384 * 4096;
		if (kind < PATTERN_MOVES)
			io.from_byte = (i % m->streams << 28) + *at % (1 << 28) + m->shift_bytes;
		*at += io.bytes;
		pattern__add(p, &tags, &disk, &io);
	}
	pattern__finish(p);
}

/* The job; the caller frees it. */
static char *written(const struct pattern *p, const char *dev, const char *whose, const char *out,
		     const char *from)
{
	const struct job_part part = { p->nr ? p->rows[0] : NULL, dev, whose, out };
	const struct job job = { from, 2.5, &part, 1 };
	size_t size = 0;
	char *text = NULL;
	FILE *file = open_memstream(&text, &size);

	job__write(file, &job);
	fclose(file);
	return text;
}

/* How many lines are exactly this one. */
static uint64_t lines(const char *text, const char *line)
{
	size_t len = strlen(line);
	uint64_t nr = 0;

	while (*text) {
		size_t end = strcspn(text, "\n");

		nr += end == len && !strncmp(text, line, len);
		text += end + (text[end] == '\n');
	}
	return nr;
}

static void has(const char *text, const char *line)
{
	if (!ok(lines(text, line) == 1, "%s", line))
		printf("# in:\n%s\n", text);
}

static void lacks(const char *text, const char *what)
{
	ok(!strstr(text, what), "no %s", what);
}

static void check_mixed(void)
{
	const struct made m = {
		.nr = 20000, .depth = 8, .streams = 1, .write_every = 4, .random = 2
	};
	struct pattern p;
	char *text;

	make(&p, &m);
	text = written(&p, "nvme0n1", "nvme0n1 fio", "12 write-zeroes", "run.cap");
	has(text, "[global]");
	has(text, "ioengine=libaio");
	has(text, "direct=1");
	has(text, "allow_file_create=0");
	has(text, "runtime=3");
	has(text, "filename=/dev/nvme0n1");
	has(text, "rw=randrw");
	has(text, "percentage_random=40,40");
	has(text, "rwmixread=75");
	has(text, "bssplit=4096/100,16384/100");
	has(text, "blockalign=4096,4096");
	has(text, "iodepth=8");
	has(text, "# left out, fio has no such operation: 12 write-zeroes");
	has(text, "# WARNING: this job writes to /dev/nvme0n1 and DESTROYS the data there; "
		  "fio --readonly refuses to run it");
	lacks(text, "flow=");
	lacks(text, "fdatasync");
	free(text);
	pattern__free(&p);
}

static void check_streams(void)
{
	const struct made m = { .nr = 9000, .depth = 8, .streams = 3 };
	struct pattern p;
	char *text;

	make(&p, &m);
	text = written(&p, "sda", "sda", "", "run.cap");
	is_u64(lines(text, "rw=read"), 3, "three streams: a section each, read only");
	is_u64(lines(text, "iodepth=3"), 2, "that share the depth");
	is_u64(lines(text, "iodepth=2"), 1, "and no more");
	has(text, "offset=0");
	lacks(text, "percentage_random");
	lacks(text, "WARNING");
	lacks(text, "rwmixread");
	free(text);
	pattern__free(&p);
}

static void check_discards_and_flushes(void)
{
	const struct made m = { .nr = 9000,
				.depth = 1,
				.streams = 1,
				.write_every = 4,
				.discard_every = 10,
				.flush_every = 5,
				.random = 5 };
	struct pattern p;
	char *text;

	make(&p, &m);
	text = written(&p, "vda", "vda", "", "run.cap");
	has(text, "rw=randtrim");
	has(text, "fdatasync=1");
	has(text, "flow=900");
	has(text, "flow=100");
	is_u64(lines(text, "flow_id=1"), 2, "discards run in proportion");
	free(text);
	pattern__free(&p);
}

static void check_misaligned(void)
{
	const struct made m = {
		.nr = 1000, .depth = 1, .streams = 1, .random = 5, .shift_bytes = 512
	};
	struct pattern p;
	char *text;

	make(&p, &m);
	text = written(&p, "vda", "vda", "", "run.cap");
	has(text, "blockalign=512");
	free(text);
	pattern__free(&p);
}

/* Every line that is not a comment is one of ours, whatever the names say. */
static bool is_safe(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len > 300 ||
		    (strstr(text, "evil") && text[0] != '#' && strstr(text, "evil") < text + len))
			return false;
		for (size_t i = 0; i < len; i++)
			if ((unsigned char)text[i] < ' ')
				return false;
		text += len + (text[len] == '\n');
	}
	return true;
}

static void check_hostile(void)
{
	static const char *const bad[] = { "",	     "a\nevil=1", "../evil", "a/evil",
					   "a evil", "[evil]",	  "$(evil)", "a!..!evil",
					   "a:evil", "\200evil",  "-evil",   ".evil" };
	const struct made m = { .nr = 1000, .depth = 1, .streams = 1, .write_every = 2 };
	char long_name[9000];
	struct pattern p;
	char *text;

	make(&p, &m);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct job_part part = { p.rows[0], bad[i], "", "" };

		ok(!job_part__is_fit(&part), "no job for the name %zu of those nobody gives", i);
		text = written(&p, bad[i], bad[i], bad[i], bad[i]);
		ok(is_safe(text), "and none of it in the file");
		free(text);
	}
	memset(long_name, 'e', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = 0;
	text = written(&p, "sda", "sda a\nrw=evil\n[evil]", "1 x\n[evil]\nrw=evil", "x\nevil=1");
	ok(is_safe(text), "a task, an operation and a file cannot add a line");
	free(text);
	text = written(&p, "sda", long_name, long_name, long_name);
	ok(is_safe(text), "nor make one that is too long");
	free(text);
	pattern__free(&p);
}

static void check_names(void)
{
	const struct made m = { .nr = 100, .depth = 1, .streams = 1 };
	struct pattern p;
	char *text;

	make(&p, &m);
	text = written(&p, "nvme0c1n1", "x", "", "x");
	has(text, "filename=/dev/nvme0n1");
	free(text);
	text = written(&p, "cciss!c0d0", "x", "", "x");
	has(text, "filename=/dev/cciss/c0d0");
	free(text);
	text = written(&p, "mmcblk0", "x", "", "x");
	has(text, "filename=/dev/mmcblk0");
	free(text);
	pattern__free(&p);
}

/* What percentages of sizes are there, and do they add up? */
static void check_shares(void)
{
	static const struct pattern_tags tags = { .device = 0 };
	struct pattern p;
	char *text, *at;
	unsigned long sum = 0;

	if (pattern__init(&p, 8))
		printf("Bail out! no memory\n");
	for (uint64_t i = 0; i < 7 * 1000; i++) {
		struct pattern_io io = { .submit_ns = us * (i + 1),
					 .end_ns = us * (i + 1) + 1,
					 .from_byte = i * 4096,
					 .bytes = i % 7 == 6 ? 777 : 512 << i % 7 };

		pattern__add(&p, &tags, &disk, &io);
	}
	pattern__finish(&p);
	text = written(&p, "sda", "sda", "", "x");
	at = strstr(text, "bssplit=");
	for (at = at ? strchr(at, '/') : NULL; at; at = *at == ':' ? strchr(at, '/') : NULL)
		sum += strtoul(at + 1, &at, 10);
	is_u64(sum, 100, "six sizes of a sixth each add up to 100 %");
	lacks(text, "777");
	free(text);
	pattern__free(&p);
}

/* So many of a hundred come in batches of that many, the others alone. */
static void check_depth(uint32_t percent, uint64_t batch, const char *want)
{
	static const struct pattern_tags tags = { .device = 0 };
	struct pattern p;
	char *text;

	if (pattern__init(&p, 8))
		printf("Bail out! no memory\n");
	for (uint64_t i = 0, at = us; i < 100 * batch; at += 100 * us)
		for (uint64_t j = 0, nr = i < percent * batch ? batch : 1; j < nr; j++, i++) {
			struct pattern_io io = { .submit_ns = at + j,
						 .end_ns = at + 50 * us + j,
						 .from_byte = i * 4096,
						 .bytes = 4096 };

			pattern__add(&p, &tags, &disk, &io);
		}
	pattern__finish(&p);
	text = written(&p, "sda", "sda", "", "x");
	has(text, want);
	free(text);
	pattern__free(&p);
}

static void check_nothing(void)
{
	static const struct pattern_tags tags = { .device = 0 };
	struct pattern_io io = {
		.submit_ns = 1, .end_ns = 2, .from_byte = PATTERN_NOWHERE, .kind = PATTERN_FLUSH
	};
	struct job_part part = { .dev = "sda", .whose = "", .left_out = "" };
	struct pattern p;

	if (pattern__init(&p, 8))
		printf("Bail out! no memory\n");
	pattern__add(&p, &tags, &disk, &io);
	pattern__finish(&p);
	part.row = p.rows[0];
	ok(!job_part__is_fit(&part), "flushes alone make no job");
	pattern__free(&p);
}

int main(void)
{
	check_mixed();
	check_streams();
	check_discards_and_flushes();
	check_misaligned();
	check_hostile();
	check_names();
	check_shares();
	check_depth(100, 16, "iodepth=16"); /* a queue that is found empty and filled, in turn */
	check_depth(3, 64, "iodepth=1");    /* seldom deep */
	check_depth(0, 64, "iodepth=1");
	check_nothing();
	return done_testing();
}
