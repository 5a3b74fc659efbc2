/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log.c: messages for people. A message is formatted, escaped and handed to the kernel in one
 * write(2), so the lines of several processes on one terminal or in one journal do not mix.
 * It goes to file descriptor 2 directly: a message must not wait in a buffer while the run hangs.
 */
#define _GNU_SOURCE 1
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_PREFIX	"iosonar: "
#define LOG_ESCAPED_MAX 4 /* "\xNN" */

static int log_level;

/* Bytes of the UTF-8 character at s, or 0 if it is none that may reach a terminal. */
static size_t log_utf8_len(const unsigned char *s)
{
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;
	unsigned int point = *s & (0xff >> (len + 1));

	if (*s < 0xc0 || *s > 0xf7)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (s[i] & 0x3f);
	}
	/* 0x80 to 0x9f are control characters too: 0x9b alone starts an escape sequence. */
	if (point < least[len] || point < 0xa0 || point > 0x10ffff)
		return 0;
	return point >= 0xd800 && point <= 0xdfff ? 0 : len;
}

/* Bytes at s that a terminal may see as they are; 0: the first one needs an escape. */
static size_t log_plain_len(const unsigned char *s)
{
	if (*s >= 0x80)
		return log_utf8_len(s);
	/* A message may have several lines: an expression with a caret below it. */
	return *s == '\n' || (*s >= 0x20 && *s != 0x7f);
}

/* Returns where the copy ends; dst has LOG_ESCAPED_MAX bytes for each byte of text, and one. */
static char *log_escape(char *dst, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		size_t len = log_plain_len(s);

		if (len) {
			dst = (char *)mempcpy(dst, s, len);
			s += len;
		} else {
			dst += sprintf(dst, "\\x%02x", *s++);
		}
	}
	return dst;
}

/* Nobody is left to tell if this fails. */
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

__attribute__((format(printf, 2, 0))) static void log_line(const char *prefix, const char *fmt,
							   va_list args)
{
	char *text = NULL, *line = NULL, *end;
	int saved_errno = errno;

	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	if (text)
		line = malloc(strlen(prefix) + LOG_ESCAPED_MAX * strlen(text) + 2);
	if (line) {
		end = log_escape(stpcpy(line, prefix), text);
		*end++ = '\n';
		log_write(line, (size_t)(end - line));
	} else {
		log_write(LOG_PREFIX "out of memory\n", strlen(LOG_PREFIX "out of memory\n"));
	}
	free(line);
	free(text);
	errno = saved_errno;
}

int log_err(int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(LOG_PREFIX, fmt, args);
	va_end(args);
	return err;
}

void log_warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(LOG_PREFIX, fmt, args);
	va_end(args);
}

void log_note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line("", fmt, args);
	va_end(args);
}

void log_verbose(const char *fmt, ...)
{
	va_list args;

	if (!log_level)
		return;
	va_start(args, fmt);
	log_line("", fmt, args);
	va_end(args);
}

void log_set_verbose(int level)
{
	log_level = level;
}

int log_verbosity(void)
{
	return log_level;
}
