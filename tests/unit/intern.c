/* SPDX-License-Identifier: BSD-2-Clause */
/* intern.c: is what was there before found again, and what was not given the next number? */
#include "render/intern.h"
#include "tap.h"

enum { NR = 20000 };

static uint32_t put(struct intern *t, uint32_t i)
{
	char text[16];

	return intern__number(t, text, (size_t)snprintf(text, sizeof(text), "%u", i * 7919), NULL);
}

static void test_many(struct intern *t)
{
	const size_t known = t->nr;
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < NR; i++)
		wrong += put(t, i) != known + i;
	for (uint32_t i = 0; i < NR; i++)
		wrong += put(t, i) != known + i;
	is_u64(wrong, 0, "20000 texts have their numbers, twice");
	is_u64(t->nr, known + NR, "and are there once");
}

int main(void)
{
	struct intern t = { 0 };
	const char *bytes;
	bool is_new;
	size_t len;

	is_u64(intern__number(&t, "bio", 3, &is_new), 0, "the first is 0");
	ok(is_new, "it is new");
	is_u64(intern__number(&t, "", 0, &is_new), 1, "an empty one is one, too");
	is_u64(intern__number(&t, "bi", 2, &is_new), 2, "a beginning is another");
	is_u64(intern__number(&t, "b\0o", 3, &is_new), 3, "zeros are bytes like others");
	is_u64(intern__number(&t, "bio", 3, &is_new), 0, "the first again");
	ok(!is_new, "it is not new");
	is_u64(intern__number(&t, "", 0, &is_new), 1, "the empty one again");
	test_many(&t);
	bytes = intern__bytes(&t, 3, &len);
	ok(len == 3 && !memcmp(bytes, "b\0o", 3), "bytes are as they came");
	intern__bytes(&t, 1, &len);
	is_u64(len, 0, "so is none");
	intern__free(&t);
	return done_testing();
}
