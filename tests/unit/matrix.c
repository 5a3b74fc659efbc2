/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * matrix.c: does a matrix show every cell where it belongs, in order of weight, and does what has
 * no room stay in its sum? Every line is measured at every width.
 */
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "render/matrix.h"
#include "tap.h"

enum { MANY = 40 };

static char *draw(struct matrix *m, size_t limit)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (matrix__print(m, out, limit))
		abort();
	fclose(out);
	matrix__free(m);
	return text;
}

static void draws(struct matrix *m, size_t limit, const char *want, const char *what)
{
	char *text = draw(m, limit);

	is_str(text, want, what);
	free(text);
}

static struct matrix *three(void)
{
	struct matrix *m = matrix__new("nvme0n1", "other culprits");

	matrix__add(m, "postgres", "postgres", MATRIX_BY_WEIGHT, 1.25, 5);
	matrix__add(m, "postgres", "backup", MATRIX_BY_WEIGHT, 75, 300);
	matrix__add(m, "postgres", "device itself", MATRIX_LAST, 14.5, 1000);
	matrix__add(m, "backup", "fstrim dsm", MATRIX_BY_WEIGHT, 9.2, 40);
	matrix__add(m, "backup", "device itself", MATRIX_LAST, 90.8, 1000);
	return m;
}

static void check_three(void)
{
	struct matrix *m = three();

	draws(three(), 0,
	      "nvme0n1  backup fstrim dsm postgres device itself\n"
	      "postgres  75.0%          -     1.2%         14.5%\n"
	      "backup        -       9.2%        -         90.8%\n",
	      "the heaviest is first, whatever came first; what is last does not count");
	draws(three(), 48,
	      "nvme0n1  backup other culprits device itself\n"
	      "postgres  75.0%           1.2%         14.5%\n"
	      "backup        -           9.2%         90.8%\n",
	      "what has no room is added up");
	draws(three(), 10,
	      "nvme0n1  backup other culprits device itself\n"
	      "postgres  75.0%           1.2%         14.5%\n"
	      "backup        -           9.2%         90.8%\n",
	      "one column stays");
	matrix__add(m, "backup", "other culprits", MATRIX_OTHER, 3, 1);
	draws(m, 48,
	      "nvme0n1  backup other culprits device itself\n"
	      "postgres  75.0%           1.2%         14.5%\n"
	      "backup        -          12.2%         90.8%\n",
	      "to what was left out before");
}

/* A task may have the name of a column at the end. */
static void check_names(void)
{
	struct matrix *m = matrix__new("d", "other culprits");

	matrix__add(m, "a\033[2J", "device itself", MATRIX_BY_WEIGHT, 30, 1);
	matrix__add(m, "a\033[2J", "/system.slice/a-long-name.service read", MATRIX_BY_WEIGHT, 20,
		    0);
	matrix__add(m, "a\033[2J", "\303\244\303\266\303\274\n", MATRIX_BY_WEIGHT, 10, 0);
	matrix__add(m, "a\033[2J", "device itself", MATRIX_LAST, 40, 0);
	draws(m, 0,
	      "d        device itself ~g-name.service read \303\244\303\266\303\274\\x0a device "
	      "itself\n"
	      "a\\x1b[2J         30.0%                20.0%   10.0%         40.0%\n",
	      "names are escaped, and cut at their beginning; those at the end are others");
}

static struct matrix *many(void)
{
	struct matrix *m = matrix__new("nvme0n1", "other culprits");
	char name[16];

	for (int i = 0; i < 2 * MANY; i++) {
		snprintf(name, sizeof(name), "task%d", i % MANY);
		matrix__add(m, i < MANY ? "a" : "b", name, MATRIX_BY_WEIGHT, 0.5, i);
	}
	return m;
}

static double sum_of(const char *line)
{
	double sum = 0;

	for (line = strchr(line, ' '); line && *line; line = strchr(line, '%') + 1)
		sum += strtod(line, NULL);
	return sum;
}

static void check_widths(void)
{
	bool fits = true, adds_up = true;

	for (size_t limit = 50; limit < 400; limit += 7) {
		char *text = draw(many(), limit), *rest, *line;

		for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
			fits &= text__width(line) <= limit;
			adds_up &= line == text || (sum_of(line) > 19.99 && sum_of(line) < 20.01);
		}
		free(text);
	}
	ok(fits, "no line is wider than the terminal");
	ok(adds_up, "a row adds up at every width");
}

int main(void)
{
	check_three();
	check_names();
	check_widths();
	return done_testing();
}
