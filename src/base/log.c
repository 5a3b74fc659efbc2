/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log.c: messages for people. A message is formatted, escaped and handed to the kernel in one
 * write(2), so the lines of several processes on one terminal or in one journal do not mix.
 * It goes to file descriptor 2 directly: a message must not wait in a buffer while the run hangs.
 */
#define _GNU_SOURCE 1
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"

#define LOG_PREFIX	"iosonar: "
#define LOG_ESCAPED_MAX 4 /* "\xNN" */

#define LOG_INDENT "  " /* of the further lines of a wrapped message */
#define LOG_ONCE   32	/* messages that are remembered; others are repeated */

static int log_level;
static size_t log_columns;
static uint64_t log_said[LOG_ONCE]; /* hashes */
static log_fn log_listener;
static void *log_listener_arg;

/*
 * Returns the end of the copy; dst has LOG_ESCAPED_MAX bytes for each byte of lines, plus one. Line
 * breaks are kept, except those at the end.
 */
static char *log_escape_lines(char *dst, const char *lines)
{
	char *end = dst;
	size_t len;

	for (; *lines; lines += len) {
		len = 1;
		if (*lines == '\n') {
			*dst++ = '\n';
			continue;
		}
		end = dst = text__escape_one(dst, lines, &len);
	}
	return end;
}

static bool log_is_inside(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/*
 * Returns the end of the copy of len bytes; dst has room for an indent in the place of each space.
 * A word that is longer than a line stays whole.
 */
static char *log_wrap(char *dst, const char *text, size_t len)
{
	size_t at = 0, gap, word;

	for (const char *end = text + len; text < end; text += word) {
		size_t width = 0;

		for (gap = 0; text + gap < end && text[gap] == ' ';)
			gap++;
		for (word = gap; text + word < end && text[word] != ' '; word++)
			width += !log_is_inside(text[word]);
		if (at && gap && at + gap + width > log_columns) {
			dst = stpcpy(dst, "\n" LOG_INDENT);
			at = strlen(LOG_INDENT) + width;
			dst = mempcpy(dst, text + gap, word - gap);
			continue;
		}
		at += gap + width;
		dst = mempcpy(dst, text, word);
	}
	return dst;
}

/* If this fails, it cannot be reported. */
static void log_write(const char *line, size_t len)
{
	while (len) {
		ssize_t done = write(STDERR_FILENO, line, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		line += done;
		len -= (size_t)done;
	}
}

/* The message with its prefix, escaped. NULL: no memory. */
static char *log_escape(const char *prefix, const char *text, size_t *len)
{
	char *line = malloc(strlen(prefix) + LOG_ESCAPED_MAX * strlen(text) + TEXT_ESCAPED + 1);
	char *end;
	size_t step;

	if (!line)
		return NULL;
	end = stpcpy(line, prefix);
	for (; *text; text += step)
		end = text__escape_one(end, text, &step);
	*len = (size_t)(end - line);
	return line;
}

/* A message without its last line break; there is room for it. */
static void log_hand_on(char *line, char *end)
{
	if (log_listener) {
		log_listener(log_listener_arg, line);
		return;
	}
	*end++ = '\n';
	log_write(line, (size_t)(end - line));
}

/* lines: our own text, printed below the message; "": none. False: no memory. */
static bool log_put(const char *prefix, const char *lines, const char *text)
{
	char *line = NULL, *end;
	bool done = false;
	size_t len = 0;
	char *message = log_escape(prefix, text, &len);

	if (message)
		line = malloc((1 + strlen(LOG_INDENT)) * len + LOG_ESCAPED_MAX * strlen(lines) +
			      TEXT_ESCAPED + 3);
	if (line) {
		end = log_columns && !log_listener ? log_wrap(line, message, len)
						   : mempcpy(line, message, len);
		if (*lines && *text)
			*end++ = '\n';
		end = log_escape_lines(end, lines);
		*end = '\0';
		log_hand_on(line, end);
		done = true;
	}
	free(message);
	free(line);
	return done;
}

__attribute__((format(printf, 3, 0))) static void log_line(const char *prefix, const char *lines,
							   const char *fmt, va_list args)
{
	char *text = NULL;
	int saved_errno = errno;

	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	if (!text || !log_put(prefix, lines, text))
		log_write(LOG_PREFIX "out of memory\n", strlen(LOG_PREFIX "out of memory\n"));
	free(text);
	errno = saved_errno;
}

/* In a function whose last argument before "..." is fmt. */
#define LOG(prefix, lines)                           \
	do {                                         \
		va_list args_;                       \
		va_start(args_, fmt);                \
		log_line(prefix, lines, fmt, args_); \
		va_end(args_);                       \
	} while (0)

void log_set_listener(log_fn fn, void *arg)
{
	log_listener = fn;
	log_listener_arg = arg;
}

int log_err(int err, const char *fmt, ...)
{
	LOG(LOG_PREFIX, "");
	return err;
}

int log_no_memory(void)
{
	return log_err(-ENOMEM, "out of memory");
}

int log_err_lines(int err, const char *lines, const char *fmt, ...)
{
	LOG(LOG_PREFIX, lines);
	return err;
}

void log_warn(const char *fmt, ...)
{
	LOG(LOG_PREFIX, "");
}

void log_note(const char *fmt, ...)
{
	LOG("", "");
}

/* Was this said before? FNV-1a, never 0. */
static bool log_is_repeated(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	hash |= 1;
	for (size_t i = 0; i < LOG_ONCE; i++) {
		if (log_said[i] == hash)
			return true;
		if (!log_said[i]) {
			log_said[i] = hash;
			return false;
		}
	}
	return false;
}

void log_note_once(const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len < 0)
		return;
	if (!log_is_repeated(text))
		log_note("%s", text);
	free(text);
}

void log_verbose(const char *fmt, ...)
{
	if (log_level)
		LOG("", "");
}

void log_verbose_lines(const char *lines, const char *fmt, ...)
{
	if (log_level)
		LOG("", lines);
}

void log_set_columns(size_t columns)
{
	log_columns = columns;
}

void log_set_verbose(int level)
{
	log_level = level;
}

int log_verbosity(void)
{
	return log_level;
}
