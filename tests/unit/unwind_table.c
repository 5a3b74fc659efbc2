/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_table.c: is the rule at every row of .eh_frame the one that readelf prints? For the
 * program itself, libc and other files of this machine, and of the other architecture where its
 * libraries are installed. Can no section do harm? One is made here: cut at every byte, and every
 * byte of it changed.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "symbol/unwind_table.h"
#include "tap.h"

/* As the program in the kernel searches. NULL: below the first row. */
static const struct unwind_rule *rule_at(const struct unwind_table *t, uint64_t pc)
{
	size_t low = 0, high = t->nr_rows;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->rows[middle].pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &t->rules[t->rows[low - 1].rule] : NULL;
}

/* ---- readelf's opinion ---- */

enum { COLUMNS = 40, CIES = 4096 };

struct opinion {
	char cfa[32], fp[32], ra[32];
};

struct comparison {
	struct unwind_table table;
	bool is_x86;
	char columns[COLUMNS][16];
	size_t nr_columns;
	struct {
		unsigned long at;
		bool is_signal;
		bool is_odd; /* returns by another register than the machine does */
		struct opinion row;
	} cies[CIES];
	size_t nr_cies, cie; /* of the entry that is read */
	bool in_cie, has_row;
	unsigned long start, end;
	size_t rows, wrong, signals, special;
};

static bool is_saved_as(const char *text, uint8_t how, int32_t off)
{
	if (text[0] == 'c')
		return how == UNWIND_SAVED && off == atoi(text + 1);
	if (!strcmp(text, "u") || !strcmp(text, "s") || !*text)
		return how == UNWIND_KEPT || (!strcmp(text, "u") && how == UNWIND_LOST);
	if (!strcmp(text, "exp"))
		return how == UNWIND_SAVED_FP || how == UNWIND_LOST;
	return how == UNWIND_LOST;
}

static bool is_cfa_as(const struct comparison *c, const char *text, const struct unwind_rule *rule)
{
	static const char *const names[2][2] = { { "sp", "x29" }, { "rsp", "rbp" } };
	const char *off = text + strcspn(text, "+-");
	size_t len = (size_t)(off - text);

	if (!strcmp(text, "exp"))
		return rule->cfa == UNWIND_AT_FP || rule->cfa == UNWIND_PLT ||
		       rule->cfa == UNWIND_UNKNOWN;
	for (int i = 0; i < 2; i++) {
		const char *name = names[c->is_x86][i];

		if (len == strlen(name) && !strncmp(text, name, len))
			return rule->cfa == (i ? UNWIND_FP : UNWIND_SP) &&
			       rule->cfa_off == atoi(off);
	}
	return rule->cfa == UNWIND_UNKNOWN;
}

static bool is_as(const struct comparison *c, const struct opinion *row,
		  const struct unwind_rule *rule)
{
	bool no_caller = !strcmp(row->ra, "u");

	if (!rule)
		return false;
	if (c->cies[c->cie].is_odd)
		return rule->cfa == UNWIND_UNKNOWN;
	if (rule->cfa == UNWIND_SIGNAL || c->cies[c->cie].is_signal)
		return rule->cfa == UNWIND_SIGNAL && c->cies[c->cie].is_signal;
	if (rule->cfa == UNWIND_OUTERMOST || (no_caller && c->is_x86))
		return rule->cfa == UNWIND_OUTERMOST && no_caller;
	if (!is_cfa_as(c, row->cfa, rule))
		return rule->cfa == UNWIND_UNKNOWN && !strchr("cus", row->ra[0]);
	return rule->cfa == UNWIND_UNKNOWN || (is_saved_as(row->fp, rule->fp, rule->fp_off) &&
					       is_saved_as(row->ra, rule->ra, rule->ra_off));
}

static void compare_row(struct comparison *c, unsigned long pc, const struct opinion *row)
{
	const struct unwind_rule *rule = rule_at(&c->table, pc);

	c->rows++;
	c->signals += rule && rule->cfa == UNWIND_SIGNAL;
	c->special += rule && (rule->cfa == UNWIND_PLT || rule->cfa == UNWIND_AT_FP);
	if (is_as(c, row, rule))
		return;
	if (c->wrong++ < 5)
		printf("# %lx: readelf has %s fp %s ra %s, we have cfa %d%+d fp %d%+d ra %d%+d\n",
		       pc, row->cfa, row->fp, row->ra, rule ? rule->cfa : -1,
		       rule ? rule->cfa_off : 0, rule ? rule->fp : -1, rule ? rule->fp_off : 0,
		       rule ? rule->ra : -1, rule ? rule->ra_off : 0);
}

/* ---- its output ---- */

static void take_columns(struct comparison *c, char *line)
{
	c->nr_columns = 0;
	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
		if (c->nr_columns < COLUMNS)
			snprintf(c->columns[c->nr_columns++], 16, "%s", word);
}

static struct opinion take_row(const struct comparison *c, char *line, unsigned long *pc)
{
	struct opinion row = { .fp = "", .ra = "u" };
	size_t nr = 0;

	for (char *word = strtok(line, " \n"); word && nr < c->nr_columns;
	     word = strtok(NULL, " \n"), nr++) {
		const char *column = c->columns[nr];

		if (*word == '(') /* the name of a register behind its number */
			nr--;
		else if (!nr)
			*pc = strtoul(word, NULL, 16);
		else if (!strcmp(column, "CFA"))
			snprintf(row.cfa, sizeof(row.cfa), "%s", word);
		else if (!strcmp(column, c->is_x86 ? "rbp" : "x29"))
			snprintf(row.fp, sizeof(row.fp), "%s", word);
		else if (!strcmp(column, "ra"))
			snprintf(row.ra, sizeof(row.ra), "%s", word);
	}
	return row;
}

static size_t find_cie(const struct comparison *c, unsigned long at)
{
	for (size_t i = 0; i < c->nr_cies; i++)
		if (c->cies[i].at == at)
			return i;
	return 0;
}

/* A function without a row of its own has its CIE's. */
static void end_entry(struct comparison *c)
{
	if (c->start && !c->in_cie && !c->has_row)
		compare_row(c, c->start, &c->cies[c->cie].row);
	c->start = 0;
}

static void take_entry(struct comparison *c, const char *line)
{
	const char *fde = strstr(line, " FDE cie="), *pc = strstr(line, " pc=");
	const char *ra = strstr(line, " ra=");

	end_entry(c);
	c->in_cie = !fde;
	c->has_row = false;
	if (fde) {
		c->cie = find_cie(c, strtoul(fde + 9, NULL, 16));
		c->start = pc ? strtoul(pc + 4, NULL, 16) : 0;
		c->end = pc && strstr(pc, "..") ? strtoul(strstr(pc, "..") + 2, NULL, 16) : 0;
	} else if (c->nr_cies < CIES) {
		const char *letters = strchr(line, '"');
		const char *end = letters ? strchr(letters + 1, '"') : NULL;

		c->cie = c->nr_cies++;
		c->cies[c->cie].at = strtoul(line, NULL, 16);
		c->cies[c->cie].is_odd = ra && atoi(ra + 4) != (c->is_x86 ? 16 : 30);
		c->cies[c->cie].is_signal =
			end && memchr(letters, 'S', (size_t)(end - letters)) != NULL;
	}
}

static void take_line(struct comparison *c, char *line)
{
	unsigned long pc = 0;
	struct opinion row;

	if (strstr(line, " CIE ") || strstr(line, " FDE ")) {
		take_entry(c, line);
	} else if (strstr(line, " LOC ")) {
		take_columns(c, line);
	} else if (strspn(line, "0123456789abcdef") == 16) {
		row = take_row(c, line, &pc);
		if (c->in_cie)
			c->cies[c->cie].row = row;
		else if (pc < c->end) /* an empty table may have a row behind its end */
			compare_row(c, pc, &row);
		c->has_row = true;
	}
}

static bool read_machine(int fd, bool *is_x86)
{
	Elf64_Ehdr head;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG))
		return false;
	*is_x86 = head.e_machine == EM_X86_64;
	return *is_x86 || head.e_machine == EM_AARCH64;
}

/* False: the file is not there. */
static bool test_file(const char *path)
{
	static struct comparison c;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char command[512], line[1024];
	bool in_section = false;
	FILE *readelf;

	memset(&c, 0, sizeof(c));
	if (fd < 0 || !read_machine(fd, &c.is_x86) || unwind_table__read(&c.table, fd))
		return false;
	close(fd);
	snprintf(command, sizeof(command),
		 "LC_ALL=C readelf --debug-dump=frames-interp -W '%s' 2>/dev/null", path);
	readelf = popen(command, "r");
	while (readelf && fgets(line, sizeof(line), readelf)) {
		if (!strncmp(line, "Contents of the ", 16))
			in_section = strstr(line, ".eh_frame") != NULL;
		else if (in_section)
			take_line(&c, line);
	}
	end_entry(&c);
	if (readelf)
		pclose(readelf);
	ok(c.rows > 0 && !c.wrong,
	   "%s: %zu rows of %zu are as readelf's; table: %zu rows, %zu rules, %zu of signals, "
	   "%zu special; %u of %u with frame pointer",
	   path, c.rows - c.wrong, c.rows, c.table.nr_rows, c.table.nr_rules, c.signals, c.special,
	   c.table.nr_with_fp, c.table.nr_frames);
	unwind_table__free(&c.table);
	return true;
}

static void test_files(void)
{
	static const char *const paths[] = {
		"/proc/self/exe",
		"/bin/bash",
		"/usr/bin/perl",
		"/usr/bin/gdb",
		"/lib/aarch64-linux-gnu/libc.so.6",
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/usr/x86_64-linux-gnu/lib/libc.so.6",
		"/usr/aarch64-linux-gnu/lib/libc.so.6",
		"/usr/lib/aarch64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	};
	char self[512];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (system("readelf --version >/dev/null 2>&1")) {
		ok(true, "files # SKIP readelf is not installed");
		return;
	}
	self[len > 0 ? len : 0] = '\0';
	ok(test_file(self), "this program has a table");
	for (size_t i = 1; i < sizeof(paths) / sizeof(paths[0]); i++)
		test_file(paths[i]);
}

/* ---- sections made by hand ---- */

enum { MADE_BYTES = 512, MADE_AT = 0x1000, CODE_AT = 0x400000 };

struct made {
	uint8_t bytes[MADE_BYTES];
	size_t nr, entry;
};

static void put(struct made *m, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		m->bytes[m->nr++] = (uint8_t)(value >> 8 * i);
}

static void begin_entry(struct made *m)
{
	m->entry = m->nr;
	put(m, 0, 4);
}

static void end_made(struct made *m)
{
	struct made length = { .nr = m->entry };

	put(&length, m->nr - m->entry - 4, 4);
	memcpy(m->bytes + m->entry, length.bytes + m->entry, 4);
}

/* Addresses are relative, of 4 bytes; letters: behind "zR". */
static void put_cie(struct made *m, bool is_x86, const char *letters, const char *program,
		    size_t size)
{
	begin_entry(m);
	put(m, 0, 4);
	put(m, 1, 1);
	m->nr += (size_t)sprintf((char *)m->bytes + m->nr, "zR%s", letters) + 1;
	put(m, is_x86 ? 1 : 4, 1);
	put(m, 0x78, 1); /* -8 */
	put(m, is_x86 ? 16 : 30, 1);
	put(m, 1, 1);
	put(m, 0x1b, 1);
	memcpy(m->bytes + m->nr, program, size);
	m->nr += size;
	end_made(m);
}

static void put_fde(struct made *m, size_t cie, uint64_t start, uint64_t size, const char *program,
		    size_t program_size)
{
	begin_entry(m);
	put(m, m->nr - cie, 4);
	put(m, start - (MADE_AT + m->nr), 4);
	put(m, size, 4);
	put(m, 0, 1);
	memcpy(m->bytes + m->nr, program, program_size);
	m->nr += program_size;
	end_made(m);
}

static const char *rule_text(const struct unwind_table *table, uint64_t pc)
{
	static const char *const cfas[] = { "nothing", "unknown", "outermost", "signal",
					    "sp",      "fp",	  "*fp",       "plt" };
	static const char *const places[] = { "kept", "c", "f", "lost" };
	static char text[96];
	const struct unwind_rule *rule = rule_at(table, pc);
	int len;

	if (!rule)
		return "none";
	len = snprintf(text, sizeof(text), "%s", cfas[rule->cfa]);
	if (rule->cfa <= UNWIND_SIGNAL)
		return text;
	len += snprintf(text + len, sizeof(text) - (size_t)len, "%+d fp %s", rule->cfa_off,
			places[rule->fp]);
	if (rule->fp == UNWIND_SAVED || rule->fp == UNWIND_SAVED_FP)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "%+d", rule->fp_off);
	len += snprintf(text + len, sizeof(text) - (size_t)len, " ra %s", places[rule->ra]);
	if (rule->ra != UNWIND_KEPT)
		snprintf(text + len, sizeof(text) - (size_t)len, "%+d", rule->ra_off);
	return text;
}

#define PROGRAM(text) text, sizeof(text) - 1

static const char x86_start[] = "\x0c\x07\x08\x90\x01"; /* cfa rsp+8, ra at c-8 */

/* Functions of 0x100 bytes each, in the order that the section does not have. */
static struct made make_x86(void)
{
	struct made m = { .nr = 0 };
	size_t signal;

	put_cie(&m, true, "", PROGRAM(x86_start));
	/* push rbp, mov, and an epilogue in the middle */
	put_fde(&m, 0, CODE_AT + 0x100, 0x100,
		PROGRAM("\x41\x0e\x10\x86\x02\x43\x0d\x06\x02\x20\x0a\xc6\x0c\x07\x08\x41\x0b"));
	/* pushes alone; then the return address in a register, then a frame of 64 KiB */
	put_fde(&m, 0, CODE_AT, 0x100,
		PROGRAM("\x41\x0e\x10\x41\x0e\x18\x83\x03\x44\x09\x10\x05\x44\x06\x10\x0e\x80\x80"
			"\x04"));
	/* the linkage table; the return address undefined; cfa in a word, fp by expression */
	put_fde(&m, 0, CODE_AT + 0x200, 0x100,
		PROGRAM("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22\x03\x20\x00"
			"\x07\x10\x60\xd0\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00"));
	/* expressions that are not supported; then an instruction that nobody knows */
	put_fde(&m, 0, CODE_AT + 0x300, 0x100,
		PROGRAM("\x0f\x02\x77\x08\x50\x0c\x07\x08\x14\x06\x02\x50\x3f\x50\x0e\x10"));
	signal = m.nr;
	put_cie(&m, true, "S", PROGRAM(x86_start));
	put_fde(&m, signal, CODE_AT + 0x400, 0x20, PROGRAM("\x0f\x01\x96"));
	return m;
}

static struct made make_arm64(void)
{
	struct made m = { .nr = 0 };

	put_cie(&m, false, "", PROGRAM("\x0c\x1f\x00"));
	/* paciasp, stp x29, x30, [sp, -32]!; restored */
	put_fde(&m, 0, CODE_AT, 0x100,
		PROGRAM("\x41\x2d\x41\x0e\x20\x9d\x04\x9e\x03\x44\xdd\xde\x0e\x00\x41\x2d"));
	/* a new frame by x29; the return address undefined */
	put_fde(&m, 0, CODE_AT + 0x100, 0x100, PROGRAM("\x41\x0c\x1d\x10\x9e\x01\x41\x07\x1e"));
	/* str x30 alone */
	put_fde(&m, 0, CODE_AT + 0x200, 0x80, PROGRAM("\x41\x0e\x10\x9e\x02"));
	return m;
}

static void is_rule(const struct unwind_table *table, uint32_t at, const char *want,
		    const char *what)
{
	is_str(rule_text(table, CODE_AT + at), want, what);
}

static void test_x86(void)
{
	struct made m = make_x86();
	struct unwind_table t;

	is_u64((uint64_t)-unwind_table__parse(&t, EM_X86_64, m.bytes, m.nr, MADE_AT), 0,
	       "x86_64: parsed");
	is_str(rule_text(&t, CODE_AT - 1), "none", "nothing before the first function");
	is_rule(&t, 0x00, "sp+8 fp kept ra c-8", "at its entry");
	is_rule(&t, 0x01, "sp+16 fp kept ra c-8", "after a push");
	is_rule(&t, 0x05, "sp+24 fp kept ra c-8", "a register that is not followed");
	is_rule(&t, 0x06, "unknown", "the return address in a register");
	is_rule(&t, 0x0a, "sp+65536 fp kept ra c-8", "restored; a large frame");
	is_rule(&t, 0x101, "sp+16 fp c-16 ra c-8", "rbp is pushed");
	is_rule(&t, 0x104, "fp+16 fp c-16 ra c-8", "rbp is the frame pointer");
	is_rule(&t, 0x124, "sp+8 fp kept ra c-8", "an epilogue");
	is_rule(&t, 0x125, "fp+16 fp c-16 ra c-8", "the state before it");
	is_rule(&t, 0x200, "plt+11 fp kept ra c-8", "a linkage table");
	is_rule(&t, 0x220, "outermost", "the return address is undefined");
	is_rule(&t, 0x240, "*fp-8 fp f+0 ra c-8", "the CFA is a word of the frame");
	is_rule(&t, 0x300, "unknown", "another expression");
	is_rule(&t, 0x310, "sp+8 fp lost ra c-8", "a frame pointer that is a value");
	is_rule(&t, 0x320, "unknown", "an unknown instruction");
	is_rule(&t, 0x330, "unknown", "and all after it");
	is_rule(&t, 0x400, "signal", "the frame of a signal");
	is_rule(&t, 0x420, "nothing", "nothing behind the last function");
	ok(!unwind_table__has_fp(&t), "frame pointers are the exception: %u of %u", t.nr_with_fp,
	   t.nr_frames);
	unwind_table__free(&t);
}

static void test_arm64(void)
{
	struct made m = make_arm64();
	struct unwind_table t;

	unwind_table__parse(&t, EM_AARCH64, m.bytes, m.nr, MADE_AT);
	is_rule(&t, 0x00, "sp+0 fp kept ra kept", "arm64: at its entry");
	is_rule(&t, 0x04, "sp+0 fp kept ra kept", "signed");
	is_rule(&t, 0x08, "sp+32 fp c-32 ra c-24", "saved");
	is_rule(&t, 0x18, "sp+0 fp kept ra kept", "restored");
	is_rule(&t, 0x104, "fp+16 fp kept ra c-8", "by x29");
	is_rule(&t, 0x108, "outermost", "the return address is undefined");
	is_rule(&t, 0x204, "sp+16 fp kept ra c-16", "x30 alone");
	is_u64(t.nr_frames, 3, "functions that save the return address");
	is_u64(t.nr_with_fp, 1, "one of them has a frame pointer");
	unwind_table__free(&t);
	is_u64((uint64_t)-unwind_table__parse(&t, EM_386, m.bytes, m.nr, MADE_AT), 0,
	       "another machine");
	is_u64(t.nr_rows, 0, "has no rows");
	unwind_table__free(&t);
}

/* Rows ascend and have rules, and rules have values that programs know. */
static bool is_sound(const struct unwind_table *t)
{
	for (size_t i = 0; i < t->nr_rows; i++)
		if (t->rows[i].rule >= t->nr_rules || (i && t->rows[i].pc <= t->rows[i - 1].pc))
			return false;
	for (size_t i = 0; i < t->nr_rules; i++)
		if (t->rules[i].cfa >= NR_UNWIND_CFA || t->rules[i].fp >= NR_UNWIND_SAVED ||
		    t->rules[i].ra >= NR_UNWIND_SAVED || t->rules[i].pad)
			return false;
	return true;
}

static bool survives(const struct made *m, size_t size, unsigned machine)
{
	uint8_t *copy = malloc(size ? size : 1); /* so that ASan sees a byte too far */
	struct unwind_table t;
	bool good;

	memcpy(copy, m->bytes, size);
	good = !unwind_table__parse(&t, machine, copy, size, MADE_AT) && is_sound(&t);
	unwind_table__free(&t);
	free(copy);
	return good;
}

static void test_damage(struct made m, unsigned machine)
{
	size_t bad = 0;

	for (size_t size = 0; size <= m.nr; size++)
		bad += !survives(&m, size, machine);
	is_u64(bad, 0, "cut at every byte");
	for (size_t at = 0; at < m.nr; at++)
		for (unsigned change = 1; change < 256; change++) {
			m.bytes[at] ^= (uint8_t)change;
			bad += !survives(&m, m.nr, machine);
			m.bytes[at] ^= (uint8_t)change;
		}
	is_u64(bad, 0, "every byte changed to every value");
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		ok(test_file(argv[i]), "%s", argv[i]);
	if (argc > 1)
		return done_testing();
	test_x86();
	test_arm64();
	test_damage(make_x86(), EM_X86_64);
	test_damage(make_arm64(), EM_AARCH64);
	test_files();
	return done_testing();
}
