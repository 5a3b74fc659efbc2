/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { NEAREST_LETTERS = 64 }; /* no option, choice or command is longer */

static unsigned int nearest_min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static bool nearest_same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edit distance: letters to insert, drop, change or swap with their neighbour. */
static unsigned int nearest_distance(const char *a, const char *b)
{
	unsigned int rows[3][NEAREST_LETTERS + 1];
	size_t len = strlen(b);

	for (size_t j = 0; j <= len; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= strlen(a); i++) {
		unsigned int *now = rows[i % 3];
		const unsigned int *before = rows[(i - 1) % 3], *earlier = rows[(i + 1) % 3];

		now[0] = (unsigned int)i;
		for (size_t j = 1; j <= len; j++) {
			now[j] = nearest_min3(before[j] + 1, now[j - 1] + 1,
					      before[j - 1] +
						      !nearest_same_letter(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && nearest_same_letter(a[i - 1], b[j - 2]) &&
			    nearest_same_letter(a[i - 2], b[j - 1]) && earlier[j - 2] + 1 < now[j])
				now[j] = earlier[j - 2] + 1;
		}
	}
	return rows[strlen(a) % 3][len];
}

const char *nearest__word(const char *word, const char *const *words, size_t nr)
{
	size_t len = strlen(word);
	unsigned int best = (unsigned int)(len + 2) / 3 + 1;
	const char *nearest = NULL;

	if (len < 2 || len > NEAREST_LETTERS)
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		unsigned int distance;

		if (strlen(words[i]) > NEAREST_LETTERS)
			continue;
		/* An abbreviation counts as one wrong letter, however many letters are missing. */
		distance = strncasecmp(word, words[i], len) ? nearest_distance(word, words[i]) : 1;
		if (distance < best && distance < len) {
			best = distance;
			nearest = words[i];
		}
	}
	return nearest;
}
