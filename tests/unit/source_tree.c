/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source_tree.c: is a function's definition found, and nothing that looks like one? In a tree of
 * our own: calls, declarations, comments, types on a line of their own, links that lead around.
 */
#define _GNU_SOURCE 1 /* nftw */
#include "calls/source_tree.h"
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tap.h"

static char dir[] = "/tmp/iosonar-source.XXXXXX";

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

static void make_tree(void)
{
	static const char *const folders[] = { "aaa", "block", "fs", "fs/deep" };
	char path[256];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, folders[i]);
		mkdir(path, 0700);
	}
	put("aaa/first.c", "int twice(void)\n{\n\treturn 0;\n}\n");
	put("block/bio.c", "/* plain(x) { no */\nvoid plain(int a);\n"
			   "static int caller(void)\n{\n\tplain(1);\n}\n"
			   "void plain(int a,\n\t   int (*b)(int))\n\t__releases(x)\n{\n"
			   "\tif (a) {\n\t}\n}\nEXPORT(plain);\n\n"
			   "struct ops ops = {\n\t.fn = twice,\n};\nint twice(void)\n{\n}\n");
	put("fs/deep/split.c", "#define X(a) {\nstatic struct bio *\nsplit(void)\n{\n}\n");
	put("fs/text.txt", "void text(void)\n{\n}\n");
	put("fs/short.c", "int cut_off(void)\n{\n\tint i");
	put("fs/empty.c", "");
	snprintf(path, sizeof(path), "%s/fs/loop", dir);
	ok(!symlink("..", path), "a link leads around");
}

static int drop(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

int main(void)
{
	static const char *const names[] = { "plain",	"split",   "twice",	  "text",
					     "missing", "cut_off", "plain.isra.0" };
	enum { NR = sizeof(names) / sizeof(names[0]) };
	struct source_text texts[NR] = { 0 };

	ok(mkdtemp(dir) != NULL, "there is a tree");
	make_tree();
	ok(!source_tree__find(dir, names, NR, texts), "it is searched");
	is_str(texts[0].file, "block/bio.c", "a definition is found");
	is_u64(texts[0].line, 7, "in its line");
	is_str(texts[0].text,
	       "void plain(int a,\n\t   int (*b)(int))\n\t__releases(x)\n{\n\tif (a) {\n\t}\n}",
	       "up to its end");
	is_str(texts[1].text, "static struct bio *\nsplit(void)\n{\n}",
	       "with the type that stands above it");
	is_u64(texts[1].line, 2, "whose line counts");
	is_str(texts[2].file, "block/bio.c", "the block layer comes before others");
	ok(!texts[3].file, "what is no C file is not looked at");
	ok(!texts[4].file, "what is not there is not found");
	is_str(texts[5].text, "int cut_off(void)\n{\n\tint i", "a file that ends too early");
	ok(texts[5].is_cut, "is told to");
	is_str(texts[6].file, "block/bio.c", "what the compiler has renamed is the same");
	ok(source_tree__find("/nonexistent", names, NR, texts) == -EINVAL, "no tree is refused");
	for (size_t i = 0; i < NR; i++)
		source_text__free(&texts[i]);
	nftw(dir, drop, 8, FTW_DEPTH | FTW_PHYS);
	return done_testing();
}
