/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* asprintf */
#include "calls/source_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/index.h"
#include "base/log.h"

enum {
	SOURCE_FILE_MOST = 16 << 20, /* bytes: hand-written files are smaller */
	SOURCE_DEPTH_MOST = 16,	     /* depth of nested directories */
	SOURCE_HEAD_MOST = 4096,     /* bytes between a name and its brace */
};

struct source_search {
	int root;
	const char *const *names;
	size_t nr, missing, bytes;
	struct source_text *texts;
	struct index index; /* of names */
};

/* ---- names ---- */

/* Length of the source's name for "foo.isra.0" or "foo.cold". */
static size_t name_len(const char *name)
{
	return strcspn(name, ".");
}

struct source_name {
	const char *name;
	size_t len;
};

static bool search_is_missing(const void *search, uint32_t number, const void *key)
{
	const struct source_search *s = search;
	const struct source_name *n = key;
	const char *name = s->names[number];

	return !s->texts[number].file && name_len(name) == n->len && !memcmp(name, n->name, n->len);
}

/* The name if it is still to be found, or NULL. */
static struct source_text *search_missing(const struct source_search *s, const char *name,
					  size_t len)
{
	const struct source_name key = { name, len };
	uint32_t at =
		index__find(&s->index, index__mix_bytes(0, name, len), search_is_missing, s, &key);

	return at == INDEX_NONE ? NULL : &s->texts[at];
}

/* ---- one file ---- */

struct source_file {
	const char *path, *text, *end;
};

static const char *file_line_end(const struct source_file *f, const char *at)
{
	const char *end = memchr(at, '\n', (size_t)(f->end - at));

	return end ? end : f->end;
}

static const char *file_line_start(const struct source_file *f, const char *at)
{
	while (at > f->text && at[-1] != '\n')
		at--;
	return at;
}

/* "static int foo(": the word before the first parenthesis of a line, or NULL. */
static const char *line_function(const char *line, const char *end, size_t *len)
{
	const char *bracket, *at;

	if (!isalpha((unsigned char)*line) && *line != '_')
		return NULL;
	bracket = memchr(line, '(', (size_t)(end - line));
	if (!bracket)
		return NULL;
	for (at = bracket; at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '_');)
		at--;
	*len = (size_t)(bracket - at);
	return *len ? at : NULL;
}

/* A brace follows a definition's arguments; a semicolon a declaration's, anything a call's. */
static bool function_has_body(const struct source_file *f, const char *bracket)
{
	const char *most =
		f->end - bracket > SOURCE_HEAD_MOST ? bracket + SOURCE_HEAD_MOST : f->end;
	int open = 0;

	for (const char *at = bracket; at < most; at++) {
		open += (*at == '(') - (*at == ')');
		if (!open && *at == '{')
			return true;
		if (!open && (*at == ';' || *at == '=' || *at == '#'))
			return false;
	}
	return false;
}

/* Up to a brace at the left margin, or the line limit. */
static const char *function_end(const struct source_file *f, const char *start, bool *is_cut)
{
	const char *at = start;

	for (int lines = 0; lines < SOURCE_LINES_MOST && at < f->end; lines++) {
		const char *end = file_line_end(f, at);

		if (*at == '}')
			return end;
		at = end < f->end ? end + 1 : end;
	}
	*is_cut = true;
	return at > start && at[-1] == '\n' ? at - 1 : at;
}

/* The type may be on its own line above the name. */
static const char *function_start(const struct source_file *f, const char *name)
{
	const char *start = file_line_start(f, name), *above;

	if (start != name || start == f->text)
		return start;
	above = file_line_start(f, start - 1);
	return isalpha((unsigned char)*above) && !memchr(above, ';', (size_t)(start - above)) &&
			       !memchr(above, ')', (size_t)(start - above))
		       ? above
		       : start;
}

static int search_take(struct source_search *s, const struct source_file *f, const char *name,
		       struct source_text *text)
{
	const char *start = function_start(f, name);
	const char *end = function_end(f, start, &text->is_cut);
	const size_t len = (size_t)(end - start);

	s->missing--;
	text->file = strdup(f->path);
	text->line = 1;
	for (const char *c = f->text; c < start; c++)
		text->line += *c == '\n';
	if (s->bytes + len > SOURCE_BYTES_MOST)
		text->is_cut = true;
	else
		text->text = strndup(start, len);
	s->bytes += len;
	return text->file && (text->text || text->is_cut) ? 0 : -ENOMEM;
}

static int search_lines(struct source_search *s, const struct source_file *f)
{
	int err = 0;

	for (const char *at = f->text; !err && s->missing && at < f->end;) {
		const char *end = file_line_end(f, at);
		size_t len;
		const char *name = line_function(at, end, &len);
		struct source_text *text = name ? search_missing(s, name, len) : NULL;

		if (text && function_has_body(f, name + len))
			err = search_take(s, f, name, text);
		at = end + 1;
	}
	return err;
}

/* Unreadable files are skipped: a tree may contain anything. */
static int search_file(struct source_search *s, int dir, const char *name, const char *path)
{
	const int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	char *text = MAP_FAILED;
	int err = 0;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    st.st_size <= SOURCE_FILE_MOST)
		text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text != MAP_FAILED) {
		const struct source_file file = { path, text, text + st.st_size };

		err = search_lines(s, &file);
		munmap(text, (size_t)st.st_size);
	}
	close(fd);
	return err;
}

/* ---- the tree ---- */

static int search_folder(struct source_search *s, const char *path, int depth);

static int search_entry(struct source_search *s, int dir, const char *path,
			const struct dirent *entry, int depth)
{
	const size_t len = strlen(entry->d_name);
	const bool is_source = len > 2 && !strcmp(entry->d_name + len - 2, ".c");
	char *below;
	int err;

	if (entry->d_name[0] == '.' ||
	    (!is_source && entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
		return 0;
	if (asprintf(&below, "%s%s%s", path, *path ? "/" : "", entry->d_name) < 0)
		return -ENOMEM;
	err = is_source ? search_file(s, dir, entry->d_name, below)
			: search_folder(s, below, depth + 1);
	free(below);
	return err;
}

static int search_folder(struct source_search *s, const char *path, int depth)
{
	struct dirent **entries;
	const int dir = openat(s->root, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	int nr, err = 0;

	if (dir < 0)
		return 0;
	nr = depth < SOURCE_DEPTH_MOST ? scandirat(dir, ".", &entries, NULL, alphasort) : -1;
	for (int i = 0; i < nr; i++) {
		if (!err && s->missing)
			err = search_entry(s, dir, path, entries[i], depth);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	close(dir);
	return err;
}

/* Storage functions are in these directories; others have functions of the same names. */
static int search_tree(struct source_search *s)
{
	static const char *const first[] = { "block",	   "drivers/nvme", "drivers/block",
					     "mm",	   "fs",	   "drivers/scsi",
					     "drivers/md", "lib",	   "kernel" };
	int err = 0;

	for (size_t i = 0; !err && s->missing && i < sizeof(first) / sizeof(first[0]); i++)
		err = search_folder(s, first[i], 0);
	return err || !s->missing ? err : search_folder(s, "", 0);
}

int source_tree__find(const char *dir, const char *const *names, size_t nr,
		      struct source_text *texts)
{
	struct source_search s = { .names = names, .nr = nr, .missing = nr, .texts = texts };
	int err;

	s.root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s.root < 0)
		return log_err(
			-EINVAL,
			"--source: cannot open '%s': %s; give the directory of a kernel's source",
			dir, strerror(errno));
	err = index__make_room(&s.index, nr);
	for (size_t i = 0; !err && i < nr; i++)
		index__add(&s.index, index__mix_bytes(0, names[i], name_len(names[i])));
	err = err ? err : search_tree(&s);
	close(s.root);
	index__free(&s.index);
	return err ? log_err(err, "--source: out of memory") : 0;
}

void source_text__free(struct source_text *text)
{
	free(text->file);
	free(text->text);
}
