/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lookup.c: queries of a view of any source: the names of ids, on this machine or in a capture, and
 * the time of an event. On this machine an id is looked up once, while its object exists.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "collect/cgroup.h"
#include "session/source.h"

const struct capture_about *session_about(const struct session *s)
{
	return s->inside->source->about ? s->inside->source->about(s) : &s->inside->about;
}

/* "cgroup-1234" is not a path. */
static char *lookup_cgroup(const struct session *s, uint64_t id)
{
	char path[4096];

	if (s->inside->scout.shared)
		cgroup__path_by(&s->inside->scout, id, path, sizeof(path));
	else
		cgroup__path(id, path, sizeof(path));
	return path[0] == '/' ? strdup(path) : NULL;
}

/* An id without a text now will not get one later. */
static const char *lookup_live(const struct session *s, enum glossary_kind kind,
			       struct glossary_id id)
{
	struct glossary *known = &s->inside->known[kind];
	const struct glossary_entry *entry = glossary__find(known, id);
	char *text;

	if (entry)
		return entry->text;
	text = kind == GLOSSARY_CGROUPS ? lookup_cgroup(s, id.words[0])
					: s->inside->source->find_text(s, kind, id);
	entry = glossary__add(known, id, text);
	free(text);
	return entry ? entry->text : NULL;
}

const char *session_text(const struct session *s, enum glossary_kind kind, struct glossary_id id)
{
	return s->inside->source->find_text ? lookup_live(s, kind, id)
					    : capture_about__text(session_about(s), kind, id);
}

bool session__knows(const struct session *s, enum glossary_kind kind)
{
	return s->inside->source->find_text || session_about(s)->glossaries[kind].nr;
}

const char *session__file(const struct session *s, uint64_t inode, uint64_t place)
{
	const struct glossary_id id = { { inode, place } };

	return inode ? session_text(s, GLOSSARY_FILES, id) : NULL;
}

char *session__disk(const struct session *s, uint32_t dev, char *buf, size_t size)
{
	const char *name = session_text(s, GLOSSARY_DISKS, (struct glossary_id){ { dev } });

	if (name)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "%u:%u", dev >> 20, dev & 0xfffff);
	return buf;
}

char *session__cgroup_path(const struct session *s, uint64_t id, char *buf, size_t size)
{
	const char *path = session_text(s, GLOSSARY_CGROUPS, (struct glossary_id){ { id } });

	if (path)
		snprintf(buf, size, "%s", path);
	else
		snprintf(buf, size, "cgroup-%" PRIu64, id);
	return buf;
}

const char *session__about(const struct session *s, const char *key)
{
	/* The command line may contain any name. */
	if (s->inside->alias && !strcmp(key, CAPTURE_INFO_COMMAND))
		return "iosonar --anonymous";
	return capture_about__info(session_about(s), key);
}

uint64_t session__wall_ns(const struct session *s, uint64_t mono_ns)
{
	if (s->inside->source->wall_ns)
		return s->inside->source->wall_ns(s, mono_ns);
	return capture_about__wall_ns(session_about(s), mono_ns);
}

void session__span(const struct session *s, uint64_t *from_ns, uint64_t *to_ns)
{
	const struct file_options *f = &s->options->file;

	*from_ns = session_later(s->start_ns, f->from_ns.value);
	*to_ns = f->to_ns.given ? session_later(s->start_ns, f->to_ns.value) : UINT64_MAX;
}

struct alias *session__alias(const struct session *s)
{
	return s->inside->alias;
}

struct recorder *session__recorder(const struct session *s)
{
	return s->inside->recorder;
}
