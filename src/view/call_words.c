/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* asprintf, strerrorname_np */
#include "view/call_words.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *call_words__errno(int64_t number)
{
	const char *name = number > 0 && number < 4096 ? strerrorname_np((int)number) : NULL;
	char *text = NULL;

	if (name || !number)
		return strdup(name ? name : "0");
	return asprintf(&text, "%" PRId64, number) < 0 ? NULL : text;
}

char *call_words__call(int64_t number)
{
	const bool is_compat = number >= 0 && (uint64_t)number & SYSCALL_COMPAT;
	const int64_t plain = is_compat ? (int64_t)((uint64_t)number & ~SYSCALL_COMPAT) : number;
	const char *name = is_compat ? syscall__compat_name(plain) : syscall__name(plain);
	const char *before = is_compat ? "compat:" : "";
	char *text = NULL;
	int len = name ? asprintf(&text, "%s%s", before, name)
		       : asprintf(&text, "%s%" PRId64, before, plain);

	return len < 0 ? NULL : text;
}

/* "3</etc/passwd>" if we may inspect the process and the file is still open; else "3". */
static void call_put_fd(uint32_t pid, FILE *out, int fd, const char *words)
{
	char path[64], target[PATH_MAX];
	ssize_t len = -1;

	fputs(words, out);
	if (fd < 0 || !pid)
		return;
	snprintf(path, sizeof(path), "/proc/%u/fd/%d", pid, fd);
	len = readlink(path, target, sizeof(target));
	if (len > 0)
		fprintf(out, "<%.*s>", (int)len, target);
}

static void call_put_word(uint32_t pid, FILE *out, enum syscall_kind kind, uint64_t number)
{
	char words[256];

	syscall__words(kind, number, words, sizeof(words));
	if (kind == SYSCALL_FD || kind == SYSCALL_DIRFD)
		call_put_fd(pid, out, (int)number, words);
	else
		fputs(words, out);
}

char *call_words__argument(uint32_t pid, enum syscall_kind kind, uint64_t number)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	call_put_word(pid, out, kind, number);
	return fclose(out) ? NULL : text;
}

const char *call_words__name(const struct plan_part *parts, size_t nr, const void *bytes)
{
	int64_t id = -1;

	for (size_t i = 0; i < nr; i++)
		if (parts[i].shape.unit == VALUE_SYSCALL)
			memcpy(&id, (const uint8_t *)bytes + parts[i].at, sizeof(id));
	return syscall__name(id);
}

char *call_words__result(uint32_t pid, enum syscall_kind kind, int64_t number)
{
	return number < 0 && number > -4096 ? call_words__errno(-number)
					    : call_words__argument(pid, kind, (uint64_t)number);
}

static void call_put_quoted(FILE *out, const char *text, size_t most)
{
	size_t i;

	fputc('"', out);
	for (i = 0; i < most && text[i]; i++) {
		if (text[i] == '"' || text[i] == '\\')
			fputc('\\', out);
		fputc(text[i], out);
	}
	fputs(i < most ? "\"" : "\"...", out);
}

/* The call's text `nr`, which is a separate part; NULL: none, or it could not be read. */
static const char *call_text(const struct plan_part *parts, size_t nr_parts, const uint8_t *bytes,
			     unsigned int nr)
{
	for (size_t i = 0; i < nr_parts; i++)
		if (parts[i].shape.unit == VALUE_HIDDEN && !nr--)
			return value__is_unreadable(bytes + parts[i].at, parts[i].shape.size)
				       ? NULL
				       : (const char *)bytes + parts[i].at;
	return NULL;
}

char *call_words__arguments(uint32_t pid, const struct plan_part *parts, size_t nr,
			    const struct plan_part *part, const uint8_t *bytes)
{
	const char *call = call_words__name(parts, nr, bytes), *string;
	unsigned int nr_texts = 0;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (unsigned int i = 0; i < syscall__nr_arguments(call); i++) {
		const enum syscall_kind kind = syscall__argument(call, i);
		uint64_t number;

		memcpy(&number, bytes + part->at + 8 * i, sizeof(number));
		fputs(i ? ", " : "", out);
		string = kind == SYSCALL_TEXT ? call_text(parts, nr, bytes, nr_texts++) : NULL;
		if (string && number)
			call_put_quoted(out, string, VALUE_STR_DEFAULT);
		else
			call_put_word(pid, out, kind, number);
	}
	return fclose(out) ? NULL : text;
}
