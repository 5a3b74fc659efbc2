/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dwarf_proto.c: are arguments and results those that the compiler was given? Of functions of this
 * program, which is built with DWARF, asked in this process and in one without rights; of a file
 * that has none, and of answers that make no sense.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>
#include "symbol/dwarf_proto.h"
#include "symbol/elf_image.h"
#include "tap.h"

struct point {
	int x, y;
};
struct large {
	long words[5];
};
typedef unsigned short narrow;
enum color { RED, GREEN };

int numbers(int a, const narrow b, unsigned long c, signed char d, enum color e);
long mixed(double left_out, const char *text, unsigned char byte, bool yes, struct point *at);
void nothing(void *any, int **twice);
double half(int n);
struct large large(int n);
int by_value(int before, struct point p, int behind);
int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, long j, char k, int l,
	 int m);
int floats(double a, double b, double c, double d, double e, double f, double g, double h, int n,
	   double i, int behind);

/* A copy of its own for a caller would have other arguments; clang makes none. */
#ifdef __clang__
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noinline, noclone, used))
#endif

KEPT int numbers(int a, const narrow b, unsigned long c, signed char d, enum color e)
{
	return a + b + (int)c + d + (int)e;
}
KEPT long mixed(double left_out, const char *text, unsigned char byte, bool yes, struct point *at)
{
	return (long)left_out + text[0] + byte + yes + at->x;
}
KEPT void nothing(void *any, int **twice)
{
	*twice = any;
}
KEPT double half(int n)
{
	return n / 2.0;
}
KEPT struct large large(int n)
{
	return (struct large){ { n } };
}
KEPT int by_value(int before, struct point p, int behind)
{
	return before + p.x + p.y + behind;
}

KEPT int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, long j, char k, int l,
	      int m)
{
	return a + b + c + d + e + f + g + h + i + (int)j + k + l + m;
}
KEPT int floats(double a, double b, double c, double d, double e, double f, double g, double h,
		int n, double i, int behind)
{
	return (int)(a + b + c + d + e + f + g + h + n + i + behind);
}

enum { NUMBERS, MIXED, NOTHING, HALF, LARGE, BY_VALUE, MANY, FLOATS, NOBODY, NR };
static uint64_t vaddrs[NR], sorted[NR];
static struct dwarf_proto protos[NR];

static int note_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the first is the program */
}

static int compare(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static const struct dwarf_proto *of(int which)
{
	const uint64_t *at = bsearch(&vaddrs[which], sorted, NR, sizeof(*sorted), compare);

	return &protos[at - sorted];
}

static void find(void)
{
	uint64_t base = 0;

	dl_iterate_phdr(note_base, &base);
	vaddrs[NUMBERS] = (uint64_t)(uintptr_t)numbers - base;
	vaddrs[MIXED] = (uint64_t)(uintptr_t)mixed - base;
	vaddrs[NOTHING] = (uint64_t)(uintptr_t)nothing - base;
	vaddrs[HALF] = (uint64_t)(uintptr_t)half - base;
	vaddrs[LARGE] = (uint64_t)(uintptr_t)large - base;
	vaddrs[BY_VALUE] = (uint64_t)(uintptr_t)by_value - base;
	vaddrs[MANY] = (uint64_t)(uintptr_t)many - base;
	vaddrs[FLOATS] = (uint64_t)(uintptr_t)floats - base;
	vaddrs[NOBODY] = 1;
	memcpy(sorted, vaddrs, sizeof(sorted));
	qsort(sorted, NR, sizeof(*sorted), compare);
}

static bool is_int(const struct dwarf_type *type, int size, bool is_signed)
{
	return type->kind == DWARF_INT && type->size == size && type->is_signed == is_signed;
}

static void check_all(const char *how)
{
	const struct dwarf_proto *p = of(NUMBERS);

	ok(p->is_known && p->nr == 5 && p->has_ret && is_int(&p->ret, 4, true), "%s: numbers", how);
	ok(is_int(&p->params[0].type, 4, true) && is_int(&p->params[1].type, 2, false) &&
		   is_int(&p->params[2].type, 8, false),
	   "by width and sign, through typedef and const");
	ok(p->params[3].type.kind == DWARF_CHAR && p->params[3].type.size == 1 &&
		   p->params[4].type.kind == DWARF_INT && p->params[4].type.size == 4,
	   "a char, an enum");
	is_str(p->params[0].name, "a", "their names");
	is_str(p->params[0].type.name, "int", "and types");
	p = of(MIXED);
	ok(p->is_known && p->nr == 4 && !strcmp(p->params[0].name, "text"), "a double is left out");
	ok(p->params[0].type.kind == DWARF_POINTER && p->params[0].type.to == DWARF_CHAR &&
		   p->params[2].type.kind == DWARF_BOOL && p->params[3].type.to_struct &&
		   !strcmp(p->params[3].type.name, "point"),
	   "texts, a bool, a pointer to a struct");
	p = of(NOTHING);
	ok(p->is_known && p->has_ret && p->ret.kind == DWARF_VOID && p->nr == 2 &&
		   p->params[0].type.kind == DWARF_POINTER && p->params[1].type.size == 8,
	   "void, and pointers to no name");
	p = of(HALF);
	ok(p->is_known && !p->has_ret && p->nr == 1, "what a vector register returns is not had");
	p = of(LARGE);
	ok(p->is_known && !p->has_ret && !p->nr, "where a struct is returned, nothing is");
	p = of(BY_VALUE);
	ok(p->is_known && p->nr == 1, "arguments end at a struct by value");
	p = of(MANY);
	ok(p->is_known && p->nr == 12 && is_int(&p->params[9].type, 8, true) &&
		   !strcmp(p->params[11].name, "l"),
	   "twelve arguments, those on the stack, too");
	p = of(FLOATS);
	ok(p->is_known && p->nr == 1, "a ninth float is on the stack: what follows is not had");
	ok(!of(NOBODY)->is_known, "an address where none begins has none");
}

static void test_program(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	dwarf_protos__read(fd, sorted, NR, protos);
	check_all("read");
	memset(protos, 0, sizeof(protos));
	ok(!dwarf_protos__ask(fd, sorted, NR, protos), "another process is asked");
	check_all("asked");
	close(fd);
}

static void test_no_program(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	memset(protos, 0, sizeof(protos));
	ok(!dwarf_protos__ask(fd, sorted, NR, protos) && !protos[0].is_known,
	   "a file that is none has none");
	close(fd);
}

static void test_nonsense(void)
{
	struct dwarf_proto p = { .is_known = 1, .nr = 255 };

	dwarf_proto__check(&p);
	ok(!p.is_known, "too many arguments");
	p = (struct dwarf_proto){ .is_known = 1, .nr = 1 };
	p.params[0].type = (struct dwarf_type){ .kind = 77, .size = 4 };
	dwarf_proto__check(&p);
	ok(!p.is_known, "a type that there is not");
	p = (struct dwarf_proto){ .is_known = 1, .nr = 1 };
	p.params[0].type = (struct dwarf_type){ .kind = DWARF_INT, .size = 3 };
	dwarf_proto__check(&p);
	ok(!p.is_known, "a size");
	p = (struct dwarf_proto){ .is_known = 1, .nr = 1 };
	p.params[0].type = (struct dwarf_type){ .kind = DWARF_INT, .size = 4 };
	memset(p.params[0].name, 'x', sizeof(p.params[0].name));
	memcpy(p.params[0].type.name, "\033[31m", 6);
	dwarf_proto__check(&p);
	ok(p.is_known && strlen(p.params[0].name) == DWARF_NAME - 1 && !*p.params[0].type.name,
	   "names end, and are words");
}

int main(void)
{
	if (!elf_dwfl__is_built_in()) {
		printf("1..0 # SKIP built without libdw\n");
		return 0;
	}
	find();
	test_program();
	test_no_program();
	test_nonsense();
	return done_testing();
}
