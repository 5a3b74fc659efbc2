/* SPDX-License-Identifier: BSD-2-Clause */
/* path.c: is the path of each row that of its tree, and is a deep one cut in the middle? */
#include <stdlib.h>
#include "render/path.h"
#include "tap.h"

static void test_tree(void)
{
	struct path path = { 0 };

	path__enter(&path, 0, "read");
	is_str(path.text, "read", "the outermost is its own path");
	path__enter(&path, 1, "ahead");
	path__enter(&path, 2, "bio");
	is_str(path.text, "read;ahead;bio", "those around it come first");
	path__enter(&path, 1, "end");
	is_str(path.text, "read;end", "beside another");
	path__enter(&path, 0, "write");
	is_str(path.text, "write", "beside all");
	path__enter(&path, 1, ";a;");
	path__enter(&path, 2, "b;");
	is_str(path.text, "write;:a:;b:", "no name holds the separator");
	is_u64(path.cut, 0, "none is cut");
	path__free(&path);
	ok(!path.text && !path.len, "freed");
}

static void test_deep(void)
{
	struct path path = { 0 };
	size_t longest = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		path__enter(&path, i, i % 2 ? "odd" : "even");
		longest = strlen(path.text) > longest ? strlen(path.text) : longest;
	}
	ok(strstr(path.text, ";even;odd;...;odd") && path.text[path.len - 1] == 'd',
	   "a deep one has its outermost and itself");
	ok(longest < PATH_MOST * 5 + 16, "and is not longer than that");
	is_u64(path.cut, 1000 - PATH_MOST - 1, "which is counted");
	path__enter(&path, PATH_MOST, "last");
	ok(!strstr(path.text, "...") && !strcmp(path.text + path.len - 9, ";odd;last"),
	   "one of %d and itself is whole", PATH_MOST);
	path__free(&path);
}

int main(void)
{
	test_tree();
	test_deep();
	return done_testing();
}
