/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* asprintf */
#include "capture/alias.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/log.h"

enum { ALIAS_KEY_MOST = 4096 };

/* ---- the key ---- */

static int alias_key_err(const char *path, int err)
{
	return log_err(-EIO, "--key: cannot read %s: %s", path, strerror(err));
}

static int alias_read_key(struct alias *a, const char *path)
{
	char bytes[ALIAS_KEY_MOST];
	FILE *in = fopen(path, "re");
	size_t nr;

	if (!in)
		return alias_key_err(path, errno);
	nr = fread(bytes, 1, sizeof(bytes), in);
	if (ferror(in)) {
		int err = errno;

		fclose(in);
		return alias_key_err(path, err);
	}
	fclose(in);
	if (nr < ALIAS_KEY_LEAST)
		return log_err(-EINVAL,
			       "--key: %s has %zu bytes, a key requires at least %d; make one with "
			       "head -c 32 /dev/urandom >%s",
			       path, nr, ALIAS_KEY_LEAST, path);
	for (uint64_t i = 0; i < 2; i++)
		a->key.words[i] = siphash((struct siphash_key){ { i, ~i } }, bytes, nr);
	return 0;
}

int alias__init(struct alias *a, const char *key_path)
{
	*a = (struct alias){ 0 };
	if (key_path)
		return alias_read_key(a, key_path);
	if (getrandom(&a->key, sizeof(a->key), 0) != sizeof(a->key))
		return log_err(-errno, "cannot make a key: %s", strerror(errno));
	return 0;
}

/* ---- a name ---- */

static char *alias_name(const struct alias *a, enum alias_kind kind, const char *text, size_t len,
			char buf[ALIAS_NAME])
{
	static const char *const words[] = {
		[ALIAS_COMM] = "comm",	     [ALIAS_CGROUP] = "/cgroup", [ALIAS_FILE] = "file",
		[ALIAS_LIBRARY] = "library", [ALIAS_SERIAL] = "serial",	 [ALIAS_HOST] = "host",
	};
	struct siphash_key key = a->key;
	uint64_t hash;

	/* The kind is part of the key: a file with the same name as its task reveals nothing. */
	key.words[1] ^= (uint64_t)kind << 56;
	hash = siphash(key, text, len);
	if (kind == ALIAS_COMM)
		snprintf(buf, ALIAS_NAME, "comm-%010" PRIx64, hash >> 24);
	else
		snprintf(buf, ALIAS_NAME, "%s-%016" PRIx64, words[kind], hash);
	return buf;
}

char *alias__name(const struct alias *a, enum alias_kind kind, const char *text,
		  char buf[ALIAS_NAME])
{
	return alias_name(a, kind, text, strlen(text), buf);
}

void alias__comm(struct alias *a, char comm[16])
{
	uint64_t words[2];
	struct alias_memo *memo;
	char name[ALIAS_NAME];

	memcpy(words, comm, sizeof(words));
	memo = &a->memo[(words[0] ^ words[1] * 3) * 0x9e3779b97f4a7c15ULL >> 58];
	_Static_assert(ALIAS_MEMO == 64, "as many as the hash has values");
	if (!memo->as[0] || memcmp(memo->comm, comm, 16)) {
		memcpy(memo->comm, comm, 16);
		alias_name(a, ALIAS_COMM, comm, strnlen(comm, 16), name);
		memcpy(memo->as, name, 15);
	}
	memcpy(comm, memo->as, 16);
}

/* ---- texts ---- */

/* "[metadata of /home]": our own words around a path. */
static char *alias_file(const struct alias *a, const char *text)
{
	const char *path = *text == '[' ? strchr(text, '/') : text;
	size_t before = path ? (size_t)(path - text) : 0;
	size_t len = path ? strlen(path) : 0;
	char name[ALIAS_NAME], *as = NULL;

	if (!path)
		return strdup(text);
	if (before && text[before + len - 1] == ']')
		len--;
	alias_name(a, ALIAS_FILE, path, len, name);
	if (asprintf(&as, "%.*s%s%s", (int)before, text, name, path + len) < 0)
		return NULL;
	return as;
}

static bool alias_is_our_word(const char *frame, size_t len)
{
	static const char *const words[] = { "[exited]", "[unknown]", "[anon]",	 "[kernel]",
					     "[vdso]",	 "[vvar]",    "[stack]", "[heap]" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == len && !memcmp(words[i], frame, len))
			return true;
	return false;
}

/* A frame without a function's name is "[libfoo.so]": its file. */
static char *alias_stack(const struct alias *a, const char *text)
{
	char *as = NULL, name[ALIAS_NAME];
	size_t size, len;
	FILE *out = open_memstream(&as, &size);

	if (!out)
		return NULL;
	for (;; text += len + 1) {
		len = strcspn(text, ";");
		if (*text != '[' || alias_is_our_word(text, len))
			fwrite(text, 1, len, out);
		else
			fprintf(out, "[%s]", alias_name(a, ALIAS_LIBRARY, text, len, name));
		if (!text[len])
			break;
		fputc(';', out);
	}
	if (!fclose(out))
		return as;
	free(as);
	return NULL;
}

char *alias__text(const struct alias *a, enum glossary_kind kind, struct glossary_id id,
		  const char *text)
{
	char name[ALIAS_NAME];

	switch (kind) {
	case GLOSSARY_CGROUPS:
		return strdup(strcmp(text, "/") ? alias__name(a, ALIAS_CGROUP, text, name) : text);
	case GLOSSARY_FILES: return alias_file(a, text);
	case GLOSSARY_STACKS: return id.words[1] ? alias_stack(a, text) : strdup(text);
	default: return strdup(text);
	}
}

/* ---- a whole capture ---- */

void alias__device(const struct alias *a, struct device *device)
{
	char name[ALIAS_NAME];

	if (*device->serial)
		snprintf(device->serial, sizeof(device->serial), "%s",
			 alias__name(a, ALIAS_SERIAL, device->serial, name));
}

int alias__about(const struct alias *a, struct capture_about *about)
{
	for (size_t i = 0; i < about->nr_devices; i++)
		alias__device(a, &about->devices[i]);
	for (int kind = 0; kind < NR_GLOSSARIES; kind++)
		for (size_t i = 0; i < about->glossaries[kind].nr; i++) {
			struct glossary_entry *entry = &about->glossaries[kind].entries[i];
			char *as = entry->text ? alias__text(a, (enum glossary_kind)kind, entry->id,
							     entry->text)
					       : NULL;

			if (entry->text && !as)
				return -ENOMEM;
			free(entry->text);
			entry->text = as;
		}
	return 0;
}
