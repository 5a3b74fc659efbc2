/* SPDX-License-Identifier: BSD-2-Clause */
/* pairs.c: does a device find itself in another run, whatever it is called there? */
#include "analyse/pairs.h"
#include <errno.h>
#include "tap.h"

enum { MOST = 4 };

static size_t fill(struct pair_ends *list, struct pair_end *ends)
{
	for (list->nr = 0; list->nr < MOST && ends[list->nr].name; list->nr++)
		ends[list->nr].by = PAIR_NONE;
	list->ends = ends;
	return list->nr;
}

static bool is_pair(const struct pair_ends *a, size_t at_a, const struct pair_ends *b, size_t at_b,
		    enum pair_by by)
{
	return a->ends[at_a].by == by && b->ends[at_b].by == by && a->ends[at_a].other == at_b &&
	       b->ends[at_b].other == at_a;
}

static void check_serial_first(void)
{
	struct pair_end in_a[MOST + 1] = { { "nvme0n1", "S1", 1 }, { "nvme1n1", "S2", 1 } };
	struct pair_end in_b[MOST + 1] = { { "nvme0n1", "S2", 1 }, { "nvme1n1", "S1", 1 } };
	struct pair_ends a, b;

	fill(&a, in_a);
	fill(&b, in_b);
	pairs__match(&a, &b);
	ok(is_pair(&a, 0, &b, 1, PAIR_SERIAL) && is_pair(&a, 1, &b, 0, PAIR_SERIAL),
	   "drives that swapped names are still themselves");
}

static void check_namespaces(void)
{
	struct pair_end in_a[MOST + 1] = { { "nvme0", "S1", 0, .is_ctrl = true },
					   { "nvme0n1", "S1", 1 },
					   { "nvme0n2", "S1", 2 } };
	struct pair_end in_b[MOST + 1] = { { "nvme3n2", "S1", 2 },
					   { "nvme3", "S1", 0, .is_ctrl = true } };
	struct pair_ends a, b;

	fill(&a, in_a);
	fill(&b, in_b);
	pairs__match(&a, &b);
	ok(is_pair(&a, 2, &b, 0, PAIR_SERIAL) && is_pair(&a, 0, &b, 1, PAIR_SERIAL),
	   "a serial number is the controller's: the namespace counts, too");
	ok(a.ends[1].by == PAIR_NONE, "and one that is not there has no partner");
}

static void check_names(void)
{
	struct pair_end in_a[MOST + 1] = { { "sda", "" }, { "nvme0n1", "OLD", 1 } };
	struct pair_end in_b[MOST + 1] = { { "nvme0n1", "NEW", 1 }, { "sda", "" } };
	struct pair_ends a, b;

	fill(&a, in_a);
	fill(&b, in_b);
	pairs__match(&a, &b);
	ok(is_pair(&a, 0, &b, 1, PAIR_NAME) && is_pair(&a, 1, &b, 0, PAIR_NAME),
	   "else names decide, even of another drive");
}

static void check_left(void)
{
	struct pair_end in_a[MOST + 1] = { { "nvme0", "A", 0, .is_ctrl = true },
					   { "nvme0n1", "A", 1 } };
	struct pair_end in_b[MOST + 1] = { { "sda", "B" } };
	struct pair_ends a, b;

	fill(&a, in_a);
	fill(&b, in_b);
	pairs__match(&a, &b);
	ok(is_pair(&a, 1, &b, 0, PAIR_LEFT), "the one disk of each run; a controller is none");
	in_b[1] = (struct pair_end){ "sdb", "C" };
	fill(&a, in_a);
	fill(&b, in_b);
	pairs__match(&a, &b);
	ok(a.ends[1].by == PAIR_NONE && b.ends[0].by == PAIR_NONE && b.ends[1].by == PAIR_NONE,
	   "of two it could be either: none is taken");
}

static void check_asked(void)
{
	struct pair_end in_a[MOST + 1] = { { "sda", "X" }, { "sdb", "Y" } };
	struct pair_end in_b[MOST + 1] = { { "sda", "X" }, { "sdb", "Y" } };
	struct pair_ends a, b;

	fill(&a, in_a);
	fill(&b, in_b);
	is_u64((uint64_t)-pairs__ask(&a, &b, "sda", "sdb"), 0, "what is asked for is done");
	is_u64((uint64_t)-pairs__ask(&a, &b, "sda", "sda"), ENODEV, "but once");
	is_u64((uint64_t)-pairs__ask(&a, &b, "sdc", "sda"), ENODEV, "and not of what is not there");
	ok(is_pair(&a, 0, &b, 1, PAIR_ASKED), "whatever their serial numbers say");
}

int main(void)
{
	check_serial_first();
	check_namespaces();
	check_names();
	check_left();
	check_asked();
	return done_testing();
}
