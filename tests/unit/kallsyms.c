/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kallsyms.c: is an address named after the function that holds it, and after none if none does?
 * Made-up lists of symbols, with everything a kernel or a bad day puts into them; the table behind
 * them is compared with a search that looks at every entry.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "symbol/kallsyms.h"
#include "draw.h"
#include "tap.h"

static char path[] = "/tmp/iosonar-kallsyms.XXXXXX";

static int read_list(struct symbol_table *table, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		printf("Bail out! %s: %s\n", path, strerror(errno)), exit(1);
	memset(table, 0, sizeof(*table));
	return kallsyms__read(path, table);
}

/* "name+offset", or "-". */
static const char *named(const struct symbol_table *table, uint64_t addr)
{
	static char text[SYMBOL_NAME_MAX + 32];
	struct symbol_found found;

	if (!symbol_table__find(table, addr, &found))
		return "-";
	snprintf(text, sizeof(text), "%s+%#" PRIx64, found.name, found.offset);
	return text;
}

static const char list[] = "ffff800080010000 T _stext\n"
			   "ffff800080010000 t __pi__stext\n"
			   "ffff800080010400 T vfs_read\n"
			   "ffff800080010300 T vfs_write\n"
			   "ffff800080010350 t $x\n"
			   "ffff800080010360 t .Ltmp1\n"
			   "ffff800080010500 W arch_thing\n"
			   "ffff800080010600 D _etext\n"
			   "ffff800080010700 d some_data\n"
			   "ffff800080010800 T after_data\n"
			   "ffff800079000000 t nvme_map_data\t[nvme]\n"
			   "ffff800079000100 t nvme_queue_rq\t[nvme]\n"
			   "ffff800079000100 t $x\t[nvme]\n"
			   "ffff800079000200 t bpf_prog_6deef7357e7b4530_io_setup\t[bpf]\n"
			   "0000000000000000 A fixed_percpu_data\n";

/* Neighbours of the digits in ASCII are none. */
static void check_digits(void)
{
	static const char *const lines[] = { "ffff@000 T f", "ffff`000 T f", "ffffg000 T f",
					     "ffff:000 T f", "ffff/000 T f", "ffffG000 T f" };
	struct kallsyms_line line;
	int nr = 0;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		nr += kallsyms_line__parse(lines[i], &line);
	is_u64((uint64_t)nr, 0, "a line with another character in its address is none");
	ok(kallsyms_line__parse("fFaA09 T f", &line) && line.addr == 0xffaa09,
	   "digits of both cases are read");
}

static void check_list(void)
{
	struct symbol_table t;

	is_u64((uint64_t)read_list(&t, list), 0, "a list is read");
	is_str(named(&t, 0xffff800080010400), "vfs_read+0", "the first byte of a function");
	is_str(named(&t, 0xffff8000800104ff), "vfs_read+0xff", "its last");
	is_str(named(&t, 0xffff8000800103ff), "vfs_write+0xff",
	       "in whatever order they are listed");
	is_str(named(&t, 0xffff800080010370), "vfs_write+0x70", "marks inside it do not end it");
	is_str(named(&t, 0xffff800080010001), "_stext+0x1", "of two names the plainer one");
	is_str(named(&t, 0xffff8000800105ff), "arch_thing+0xff", "a weak one is one, too");
	is_str(named(&t, 0xffff800080010600), "-", "data ends it");
	is_str(named(&t, 0xffff800080010710), "-", "and is no function");
	is_str(named(&t, 0xffff800080010820), "after_data+0x20", "but one after it is");
	is_str(named(&t, 0xffff800079000044), "nvme_map_data [nvme]+0x44", "a module is named");
	is_str(named(&t, 0xffff800079000144), "nvme_queue_rq [nvme]+0x44", "in its next one, too");
	is_str(named(&t, 0xffff800079000210), "bpf_prog_6deef7357e7b4530_io_setup [bpf]+0x10",
	       "a BPF program");
	is_str(named(&t, 0xffff800079000200 + 70000), "-",
	       "70 kB behind the last of them is nothing");
	is_str(named(&t, 0), "-", "so is address 0");
	is_str(named(&t, 0xffff800078ffffff), "-", "and what comes before the first");
	is_str(named(&t, UINT64_MAX), "-", "and after the last");
	symbol_table__free(&t);
}

static void check_refused(void)
{
	struct symbol_table t;

	ok(read_list(&t, "0000000000000000 T _stext\n0000000000000000 t foo\t[nvme]\n") == -EACCES,
	   "addresses that are hidden are told");
	ok(!t.entries && !t.pool, "and leave nothing");
	ok(read_list(&t, "") == -ENODATA, "so is an empty list");
	ok(read_list(&t, "ffff800080010600 D only_data\n") == -ENODATA,
	   "and one without functions");
	ok(!t.entries && !t.pool, "of which nothing is left either");
	unlink(path);
	ok(kallsyms__read(path, &t) == -ENOENT, "and none at all");
	ok(kallsyms__read("/tmp", &t) < 0, "a folder is no list");
}

static void check_hostile(void)
{
	char text[2000], want[300], name[1000];
	struct symbol_table t;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text),
		 "no number T foo\n12\n12 \n12 T\n12 T \n\n \nzz T q\n"
		 "100 T %s\n200 t %.400s\t[%.90s]\n300 T a b c d\n400 Tx foo\n500 T last",
		 name, name, name);
	is_u64((uint64_t)read_list(&t, text), 0, "lines that make no sense are passed over");
	snprintf(want, sizeof(want), "%.*s+0x1", SYMBOL_NAME_MAX, name);
	is_str(named(&t, 0x101), want, "a long name is cut");
	ok(strlen(named(&t, 0x201)) == SYMBOL_NAME_MAX + 4 && strstr(named(&t, 0x201), "n [nnn"),
	   "before its module");
	is_str(named(&t, 0x301), "a b+0x1", "a third word is nothing");
	is_str(named(&t, 0x401), "a b+0x101", "a type has one letter");
	is_str(named(&t, 0x501), "last+0x1", "a last line without an end");
	symbol_table__free(&t);
}

/* ---- the table itself ---- */

enum { NR_FUNCTIONS = 1000 };

static struct {
	uint64_t addr, size_bytes;
} functions[NR_FUNCTIONS];

/* Functions with sizes that leave gaps: the one that holds it, which begins last. */
static int64_t holder_of(uint64_t addr)
{
	int64_t best = -1;

	for (int64_t i = 0; i < NR_FUNCTIONS; i++)
		if (addr >= functions[i].addr &&
		    addr - functions[i].addr < functions[i].size_bytes &&
		    (best < 0 || functions[i].addr > functions[best].addr))
			best = i;
	return best;
}

static void check_search(void)
{
	struct symbol_table t = { 0 };
	char name[32], want[64];
	uint64_t wrong = 0, none = 0;

	for (uint64_t i = 0; i < NR_FUNCTIONS; i++) {
		functions[i].addr = 64 * i + draw(32);
		functions[i].size_bytes = 1 + draw(i % 10 ? 60 : 200);
	}
	for (uint64_t n = 0, i = 0; n < NR_FUNCTIONS; n++, i = (i + 409) % NR_FUNCTIONS) {
		snprintf(name, sizeof(name), "f%" PRIu64, i);
		symbol_table__add(&t, functions[i].addr, functions[i].size_bytes, name,
				  strlen(name));
	}
	symbol_table__sort(&t);
	for (int i = 0; i < 2000; i++) {
		uint64_t addr = draw(64 * NR_FUNCTIONS + 100);
		int64_t holder = holder_of(addr);

		none += holder < 0;
		snprintf(want, sizeof(want), "f%" PRIi64 "+%#" PRIx64, holder,
			 holder < 0 ? 0 : addr - functions[holder].addr);
		wrong += strcmp(named(&t, addr), holder < 0 ? "-" : want) != 0;
	}
	is_u64(wrong, 0, "2,000 addresses: the same as looking at every function");
	ok(none > 100, "of which some are in none");
	ok(symbol_table__bytes(&t) > NR_FUNCTIONS * 16, "it knows what it takes");
	symbol_table__free(&t);
	symbol_table__free(&t);
	symbol_table__sort(&t);
	is_str(named(&t, 5), "-", "an empty table finds nothing");
}

static void check_aliases(void)
{
	static const char *const names[] = { "__libc_read", "read", "_read", "raed", "__read" };
	struct symbol_table t = { 0 };

	for (size_t i = 0; i < 5; i++)
		symbol_table__add(&t, 0x1000, i == 2 ? 0x80 : 0, names[i], strlen(names[i]));
	symbol_table__add(&t, 0x1040, 0x10, "inner", 5);
	symbol_table__sort(&t);
	is_str(named(&t, 0x1008), "raed+0x8", "the fewest dashes, the shortest, the first");
	is_str(named(&t, 0x1048), "inner+0x8", "a function inside another one");
	is_str(named(&t, 0x1060), "raed+0x60", "after which the outer one goes on");
	is_str(named(&t, 0x1080), "-", "to the largest size that a name of it has");
	symbol_table__free(&t);
}

/* Of an address with more names than an order of neighbours looks at, the plainest comes last. */
static void check_many_aliases(void)
{
	struct symbol_table t = { 0 };
	char name[16];

	symbol_table__add(&t, 0x900, 0, "before", 6);
	for (int i = 99; i >= 10; i--) {
		int len = snprintf(name, sizeof(name), "alias%d", i);

		symbol_table__add(&t, 0x1000, 0, name, (size_t)len);
	}
	symbol_table__add(&t, 0x2000, 0, "behind", 6);
	symbol_table__sort(&t);
	is_str(named(&t, 0x908), "before+0x8", "ninety names of one address: the one before it");
	is_str(named(&t, 0x1008), "alias10+0x8", "the first of the ninety");
	is_str(named(&t, 0x2008), "behind+0x8", "and the one behind it");
	symbol_table__free(&t);
}

static void check_self(void)
{
	struct symbol_table t = { 0 };
	int err = kallsyms__read("/proc/kallsyms", &t);

	ok(!err || err == -EACCES || err == -ENOENT, "this kernel's own list is read, or refused");
	if (err)
		printf("# %s\n", strerror(-err));
	symbol_table__free(&t);
}

static void check_find_module(void)
{
	static const char *const names[] = { "clone_endio", "clone_endio [dm_mod]",
					     "clone_endio [dm]", "clone_endio [dm_mod] " };
	struct symbol_table t;
	uint64_t found[4];

	read_list(&t, "ffff800079000100 t clone_endio\t[dm_clone]\n"
		      "ffff800079000200 t clone_endio\t[dm_mod]\n");
	symbol_table__free(&t);
	kallsyms__find(path, names, found, 4);
	ok(found[1] == 0xffff800079000200 && !(found[2] | found[3]), "of a certain module");
	is_u64(found[0], 0xffff800079000100, "of any, the first");
}

static void check_find(void)
{
	static const char *const names[] = { "vfs_write", "nvme_queue_rq [nvme]", "some_data",
					     "vfs" };
	static const char *const kernels[] = { "arch_thing", "after_data", "nvme_queue_rq" };
	struct symbol_table t;
	uint64_t found[4] = { 1, 1, 1, 1 };

	read_list(&t, list);
	symbol_table__free(&t);
	is_u64((uint64_t)-kallsyms__find(path, names, found, 4), 0, "functions are looked for");
	ok(found[0] == 0xffff800080010300 && found[1] == 0xffff800079000100,
	   "found by their names, a module's too");
	is_u64(found[2] | found[3], 0, "data is no function, and a beginning no name");
	kallsyms__find(path, kernels, found, 3);
	ok(found[0] == 0xffff800080010500 && !(found[1] | found[2]),
	   "without a module, up to the end of the kernel's own functions");
	check_find_module();
	read_list(&t, "0000000000000000 T vfs_write\n");
	is_u64((uint64_t)-kallsyms__find(path, names, found, 4), EACCES,
	       "hidden ones are not told");
	is_u64(found[0], 0, "nor is their address");
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	check_find();
	check_digits();
	check_list();
	check_hostile();
	check_refused();
	check_search();
	check_aliases();
	check_many_aliases();
	check_self();
	unlink(path);
	return done_testing();
}
