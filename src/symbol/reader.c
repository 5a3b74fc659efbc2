/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "symbol/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "symbol/demangle.h"
#include "symbol/elf_cache.h"
#include "symbol/perf_map.h"
#include "symbol/process_maps.h"
#include "symbol/unwind_files.h"

enum {
	READER_PROCESSES = 1024,
	READER_MAPS_BYTES = 128 << 20, /* with what they compiled themselves */
	READER_FILES = 1024,
	READER_FILES_BYTES = 512 << 20,
	READER_TABLES_BYTES = 512 << 20,
};

static const uint64_t reader_look_again_ns = 100000000; /* until the same process is read again */
static const uint64_t reader_just_now_ns = 1000000;	/* a look that is as good as another one */
static const uint64_t reader_unwind_ns = 1000000000;	/* before the answer: patience is limited */

/* What is known of a mapping's file. */
struct reader_link {
	enum { LINK_UNKNOWN, LINK_KNOWN, LINK_BROKEN } state;
	struct elf_file_id id;
};

struct reader_process {
	struct symbols_process key;
	enum symbol_how how; /* SYMBOL_FOUND: there are maps; else why not */
	struct process_maps maps;
	struct reader_link *links; /* one for each */
	uint64_t looked_ns;
	struct symbol_table compiled; /* by itself, as its perf map says */
	uint64_t compiled_ns;	      /* when that was read; 0: never */
	uint64_t used;		      /* last use, in questions; 0: the place is free */
};

struct symbol_reader {
	struct elf_cache *files;
	struct unwind_files *tables;
	reader_open_fn open;
	void *arg;
	uint64_t questions;
	struct reader_process processes[READER_PROCESSES];
};

static int reader_open_debug(void *arg, const unsigned char *build_id, size_t len)
{
	const struct symbol_reader *r = arg;
	struct opener_request request = { .what = OPENER_DEBUG, .build_id_len = (uint32_t)len };

	if (len > sizeof(request.build_id))
		return -EINVAL;
	memcpy(request.build_id, build_id, len);
	return r->open(r->arg, &request);
}

struct symbol_reader *symbol_reader__new(reader_open_fn open, void *arg)
{
	struct symbol_reader *r = calloc(1, sizeof(*r));
	const struct elf_beside beside = { reader_open_debug, r };

	if (!r)
		return NULL;
	r->open = open;
	r->arg = arg;
	r->files = elf_cache__new(&beside, READER_FILES, READER_FILES_BYTES);
	r->tables = unwind_files__new(READER_TABLES_BYTES);
	if (r->files && r->tables)
		return r;
	symbol_reader__free(r);
	return NULL;
}

static void reader_drop(struct reader_process *p)
{
	process_maps__free(&p->maps);
	symbol_table__free(&p->compiled);
	free(p->links);
	memset(p, 0, sizeof(*p));
}

void symbol_reader__free(struct symbol_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < READER_PROCESSES; i++)
		reader_drop(&r->processes[i]);
	elf_cache__free(r->files);
	unwind_files__free(r->tables);
	free(r);
}

/* ---- processes ---- */

static enum symbol_how reader_why(int err)
{
	switch (err) {
	case -ENOENT:
	case -ESRCH: return SYMBOL_EXITED;
	case -EACCES:
	case -EPERM: return SYMBOL_DENIED;
	case -EPIPE: return SYMBOL_NO_READER;
	default: return SYMBOL_NO_ROOM;
	}
}

/* A process that ends, or a kernel thread, has no mappings at all. */
static int reader_read_maps_of(struct symbol_reader *r, enum opener_what what, uint32_t pid,
			       struct process_maps *maps)
{
	const struct opener_request request = { .what = what, .pid = pid };
	int fd = r->open(r->arg, &request);
	int err;

	if (fd < 0)
		return fd;
	err = process_maps__read(maps, fd);
	close(fd);
	if (!err && !maps->nr) {
		process_maps__free(maps);
		err = -ESRCH;
	}
	return err;
}

static int reader_take_maps(struct reader_process *p, struct process_maps *maps)
{
	struct reader_link *links = calloc(maps->nr, sizeof(*links));

	if (!links) {
		process_maps__free(maps);
		return -ENOMEM;
	}
	process_maps__free(&p->maps);
	free(p->links);
	p->maps = *maps;
	p->links = links;
	p->how = SYMBOL_FOUND;
	return 0;
}

/* Keeps what was seen before if nothing can be seen now. */
static void reader_look(struct symbol_reader *r, struct reader_process *p)
{
	struct process_maps maps;
	int err = reader_read_maps_of(r, OPENER_MAPS, p->key.pid, &maps);

	if (err == -ENOENT || err == -ESRCH)
		err = reader_read_maps_of(r, OPENER_NOTED, p->key.pid, &maps);
	err = err ?: reader_take_maps(p, &maps);
	if (err && !p->maps.nr)
		p->how = reader_why(err);
	p->looked_ns = clock__mono_ns();
}

/* NULL: there is no other process. */
static struct reader_process *reader_oldest_but(struct symbol_reader *r,
						const struct reader_process *kept)
{
	struct reader_process *oldest = NULL;

	for (size_t i = 0; i < READER_PROCESSES; i++) {
		struct reader_process *p = &r->processes[i];

		if (p->used && p != kept && (!oldest || p->used < oldest->used))
			oldest = p;
	}
	return oldest;
}

static size_t reader_bytes(const struct symbol_reader *r)
{
	size_t bytes = 0;

	for (size_t i = 0; i < READER_PROCESSES; i++)
		bytes += process_maps__bytes(&r->processes[i].maps) +
			 symbol_table__bytes(&r->processes[i].compiled) +
			 r->processes[i].maps.nr * sizeof(struct reader_link);
	return bytes;
}

/* The process's own place, else a free one, else that of the least recently asked process. */
static struct reader_process *reader_place(struct symbol_reader *r,
					   const struct symbols_process *key)
{
	struct reader_process *place = &r->processes[0];

	for (size_t i = 0; i < READER_PROCESSES; i++) {
		struct reader_process *p = &r->processes[i];

		if (p->used && p->key.pid == key->pid && p->key.image == key->image)
			return p;
		if (p->used < place->used)
			place = p;
	}
	reader_drop(place);
	return place;
}

static void reader_keep_bounds(struct symbol_reader *r, const struct reader_process *kept)
{
	struct reader_process *oldest;

	while (reader_bytes(r) > READER_MAPS_BYTES && (oldest = reader_oldest_but(r, kept)))
		reader_drop(oldest);
}

static struct reader_process *reader_process(struct symbol_reader *r,
					     const struct symbols_process *key)
{
	struct reader_process *p = reader_place(r, key);
	bool is_new = !p->used;

	p->used = ++r->questions;
	if (!is_new)
		return p;
	p->key = *key;
	reader_look(r, p);
	reader_keep_bounds(r, p);
	return p;
}

/* Something may have been mapped since; or there was no process yet, or no memory. */
static struct process_map *reader_map(struct symbol_reader *r, struct reader_process *p,
				      uint64_t addr)
{
	struct process_map *map = process_maps__find(&p->maps, addr);

	if (map || clock__mono_ns() - p->looked_ns < reader_look_again_ns)
		return map;
	reader_look(r, p);
	return process_maps__find(&p->maps, addr);
}

/* ---- files ---- */

/* The kernel adds " (deleted)" to the name of a file that is no longer there. */
static size_t reader_path_len(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), tail = sizeof(deleted) - 1;

	return len > tail && !strcmp(path + len - tail, deleted) ? len - tail : len;
}

static int reader_open_file(struct symbol_reader *r, const struct reader_process *p,
			    const struct process_map *map)
{
	struct opener_request request = {
		.what = OPENER_FILE,
		.pid = p->key.pid,
		.start = map->start,
		.end = map->end,
		.inode = map->inode,
	};

	snprintf(request.path, sizeof(request.path), "%s", process_maps__path(&p->maps, map));
	return r->open(r->arg, &request);
}

/* Opened once per mapping: only the open file tells which file it is. */
static const struct elf_image *reader_read_file(struct symbol_reader *r, struct reader_process *p,
						const struct process_map *map,
						struct reader_link *link)
{
	const struct elf_image *image = NULL;
	int fd = reader_open_file(r, p, map);

	link->state = LINK_BROKEN;
	if (fd < 0)
		return NULL;
	if (!elf_file_id__of(&link->id, fd)) {
		link->state = LINK_KNOWN;
		image = elf_cache__find(r->files, &link->id)
				?: elf_cache__read(r->files, &link->id, fd);
	}
	close(fd);
	return image;
}

/* NULL: it cannot be opened. */
static const struct elf_image *reader_image(struct symbol_reader *r, struct reader_process *p,
					    const struct process_map *map)
{
	struct reader_link *link = &p->links[map - p->maps.maps];
	const struct elf_image *image = NULL;

	if (link->state == LINK_BROKEN)
		return NULL;
	if (link->state == LINK_KNOWN)
		image = elf_cache__find(r->files, &link->id);
	return image ?: reader_read_file(r, p, map, link);
}

/* ---- code that a process compiled itself ---- */

/* Memory without a file of its own. The kernel's names begin with '[' or "//". */
static bool reader_may_be_compiled(const struct process_maps *maps, const struct process_map *map)
{
	static const char *const begins[] = { "[anon",	 "//anon",    "[heap]", "[stack]",
					      "/memfd:", "/dev/zero", "/SYSV" };
	const char *path = process_maps__path(maps, map);

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(path, begins[i], strlen(begins[i])))
			return true;
	return !*path;
}

static uint32_t reader_inner_pid(struct symbol_reader *r, uint32_t pid)
{
	const struct opener_request request = { .what = OPENER_STATUS, .pid = pid };
	int fd = r->open(r->arg, &request);
	uint32_t inner;

	if (fd < 0)
		return 0;
	inner = perf_map__inner_pid(fd);
	close(fd);
	return inner;
}

/* Keeps what was read before if nothing can be read now. */
static void reader_look_compiled(struct symbol_reader *r, struct reader_process *p)
{
	struct opener_request request = { .what = OPENER_PERF_MAP, .pid = p->key.pid };
	struct symbol_table found;
	int fd;

	p->compiled_ns = clock__mono_ns();
	request.inner_pid = reader_inner_pid(r, p->key.pid);
	fd = request.inner_pid ? r->open(r->arg, &request) : -ESRCH;
	if (fd < 0)
		return;
	if (!perf_map__read(&found, fd)) {
		symbol_table__free(&p->compiled);
		p->compiled = found;
		reader_keep_bounds(r, p);
	}
	close(fd);
}

/* A function may have been compiled since. */
static bool reader_find_compiled(struct symbol_reader *r, struct reader_process *p, uint64_t addr,
				 struct symbol_found *found)
{
	if (symbol_table__find(&p->compiled, addr, found))
		return true;
	if (p->compiled_ns && clock__mono_ns() - p->compiled_ns < reader_look_again_ns)
		return false;
	reader_look_compiled(r, p);
	return symbol_table__find(&p->compiled, addr, found);
}

/* ---- answers ---- */

static void reader_say(struct reader_reply *reply, enum symbol_how how, const char *name)
{
	reply->how = how;
	snprintf(reply->name, sizeof(reply->name), "%s", name);
}

/* "[libfoo.so]" for "/lib/libfoo.so (deleted)". The kernel's own names have brackets already. */
static void reader_say_file(struct reader_reply *reply, const char *path)
{
	size_t len = reader_path_len(path);
	const char *base = memrchr(path, '/', len);

	base = base ? base + 1 : path;
	len -= (size_t)(base - path);
	if (len > SYMBOL_NAME_MAX - 2)
		len = SYMBOL_NAME_MAX - 2;
	reply->how = SYMBOL_FILE;
	snprintf(reply->name, sizeof(reply->name), *base == '[' ? "%.*s" : "[%.*s]", (int)len,
		 base);
}

static void reader_name_in_file(struct symbol_reader *r, struct reader_process *p,
				const struct process_map *map, struct reader_reply *reply)
{
	const struct elf_image *image = reader_image(r, p, map);
	struct symbol_found found;

	if (image && elf_image__vaddr(image, reply->offset, &reply->offset) &&
	    symbol_table__find(&image->functions, reply->offset, &found)) {
		reply->offset = found.offset;
		reply->how = SYMBOL_FOUND;
		demangle__copy(reply->name, sizeof(reply->name), found.name);
		return;
	}
	reader_say_file(reply, process_maps__path(&p->maps, map));
}

static void reader_name(struct symbol_reader *r, struct reader_process *p, uint64_t addr,
			struct reader_reply *reply)
{
	const struct process_map *map = reader_map(r, p, addr);
	struct symbol_found found;

	if (!map) {
		enum symbol_how how = p->maps.nr ? SYMBOL_UNMAPPED : p->how;

		reader_say(reply, how, how == SYMBOL_EXITED ? "[exited]" : "[unknown]");
		return;
	}
	if (reader_may_be_compiled(&p->maps, map) && reader_find_compiled(r, p, addr, &found)) {
		reply->offset = found.offset;
		reader_say(reply, SYMBOL_FOUND, found.name);
		return;
	}
	reply->offset = addr - map->start + map->offset;
	if (map->inode)
		reader_name_in_file(r, p, map, reply);
	else if (*process_maps__path(&p->maps, map))
		reader_say_file(reply, process_maps__path(&p->maps, map));
	else
		reader_say(reply, SYMBOL_ANON, "[anon]");
}

void symbol_reader__answer(struct symbol_reader *r, const struct reader_request *request,
			   struct reader_reply *reply)
{
	struct reader_process *p = reader_process(r, &request->process);

	memset(reply, 0, sizeof(*reply));
	if (request->what == READER_NAME)
		reader_name(r, p, request->addr, reply);
	else
		reply->how = p->how;
}

/* ---- tables ---- */

/* NULL: the file cannot be opened, or there is no room for its table. */
static const struct unwind_file *reader_table(struct symbol_reader *r, struct reader_process *p,
					      const struct process_map *map)
{
	struct reader_link *link = &p->links[map - p->maps.maps];
	const struct unwind_file *file = NULL;
	int fd;

	if (link->state == LINK_KNOWN)
		file = unwind_files__find(r->tables, &link->id);
	if (file || link->state == LINK_BROKEN)
		return file;
	fd = reader_open_file(r, p, map);
	link->state = LINK_BROKEN;
	if (fd < 0)
		return NULL;
	if (!elf_file_id__of(&link->id, fd)) {
		link->state = LINK_KNOWN;
		file = unwind_files__find(r->tables, &link->id)
			       ?: unwind_files__read(r->tables, &link->id, fd);
	}
	close(fd);
	return file;
}

static void reader_unwind_map(struct symbol_reader *r, struct reader_process *p,
			      const struct process_map *map, uint64_t until_ns,
			      struct symbols_unwind *reply)
{
	const struct unwind_file *file = NULL;
	struct symbols_unwind_map *out = &reply->maps[reply->nr++];

	*out = (struct symbols_unwind_map){ map->start, map->end, .file = UNWIND_FILE_NONE };
	if (clock__mono_ns() > until_ns)
		reply->is_partial = 1;
	else if (map->inode)
		file = reader_table(r, p, map);
	if (!strcmp(process_maps__path(&p->maps, map), "[vdso]"))
		out->file = UNWIND_FILE_VDSO;
	if (!file || !file->nr_rows || !elf_image__vaddr(&file->image, map->offset, &out->vaddr))
		return;
	out->file = file->number;
	out->offset = map->offset;
	out->inode = map->inode;
	out->dev = map->dev ? map->dev : elf_file_id__kernel_dev(&file->id);
	out->changed_s = file->id.changed_s;
	out->changed_ns = (uint32_t)file->id.changed_ns;
	reply->by_fp &= file->has_fp;
}

void symbol_reader__unwind(struct symbol_reader *r, const struct symbols_process *process,
			   struct symbols_unwind *reply)
{
	struct reader_process *p = reader_process(r, process);
	uint64_t until_ns = clock__mono_ns() + reader_unwind_ns;

	memset(reply, 0, sizeof(*reply));
	reply->by_fp = 1;
	if (clock__mono_ns() - p->looked_ns > reader_just_now_ns)
		reader_look(r, p);
	for (size_t i = 0; i < p->maps.nr; i++)
		if (reply->nr < UNWIND_MAPS)
			reader_unwind_map(r, p, &p->maps.maps[i], until_ns, reply);
		else
			reply->is_cut = 1;
}

void symbol_reader__rows(struct symbol_reader *r, uint32_t number, uint64_t from,
			 struct reader_rows *reply)
{
	const struct unwind_file *file = unwind_files__at(r->tables, number);
	const struct unwind_table *table = file ? &file->table : NULL;

	memset(reply, 0, sizeof(*reply));
	if (!file)
		return;
	reply->nr_rows = file->nr_rows;
	reply->nr_rules = file->nr_rules;
	for (size_t i = 0; i < READER_CHUNK && from + i < table->nr_rows; i++)
		reply->rows[i] = table->rows[from + i];
	if (from < file->nr_rows && from + READER_CHUNK >= file->nr_rows)
		unwind_files__drop(r->tables, number);
}

void symbol_reader__rules(struct symbol_reader *r, uint32_t number, uint64_t from,
			  struct reader_rules *reply)
{
	const struct unwind_file *file = unwind_files__at(r->tables, number);

	memset(reply, 0, sizeof(*reply));
	for (size_t i = 0; file && i < READER_CHUNK && from + i < file->table.nr_rules; i++)
		reply->rules[i] = file->table.rules[from + i];
}

/* ---- the socket ---- */

union reader_any {
	struct reader_reply name;
	struct symbols_unwind unwind;
	struct reader_rows rows;
	struct reader_rules rules;
};

/* Returns the size of the answer. */
static size_t reader_answer(struct symbol_reader *r, const struct reader_request *request,
			    union reader_any *any)
{
	switch (request->what) {
	case READER_UNWIND:
		symbol_reader__unwind(r, &request->process, &any->unwind);
		return sizeof(any->unwind);
	case READER_ROWS:
		symbol_reader__rows(r, request->file, request->addr, &any->rows);
		return sizeof(any->rows);
	case READER_RULES:
		symbol_reader__rules(r, request->file, request->addr, &any->rules);
		return sizeof(any->rules);
	case READER_FORGET:
		unwind_files__forget(r->tables);
		memset(&any->name, 0, sizeof(any->name));
		return sizeof(any->name);
	default: symbol_reader__answer(r, request, &any->name); return sizeof(any->name);
	}
}

void symbol_reader__serve(struct symbol_reader *r, int socket)
{
	struct reader_request request;
	union reader_any any;
	size_t size;

	do {
		if (recv(socket, &request, sizeof(request), 0) != sizeof(request))
			return;
		size = reader_answer(r, &request, &any);
	} while (write(socket, &any, size) == (ssize_t)size);
}
