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
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"

#define LOG_PREFIX	"iosonar: "
#define LOG_ESCAPED_MAX 4 /* "\xNN" */

static int log_level;

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

/* lines: our own text, printed below the message; "": none. */
__attribute__((format(printf, 3, 0))) static void log_line(const char *prefix, const char *lines,
							   const char *fmt, va_list args)
{
	char *text = NULL, *line = NULL, *end;
	int saved_errno = errno;
	size_t len;

	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	if (text)
		line = malloc(strlen(prefix) + LOG_ESCAPED_MAX * (strlen(text) + strlen(lines)) +
			      TEXT_ESCAPED + 3);
	if (line) {
		end = stpcpy(line, prefix);
		for (const char *c = text; *c; c += len)
			end = text__escape_one(end, c, &len);
		if (*lines && *text)
			*end++ = '\n';
		end = log_escape_lines(end, lines);
		*end++ = '\n';
		log_write(line, (size_t)(end - line));
	} else {
		log_write(LOG_PREFIX "out of memory\n", strlen(LOG_PREFIX "out of memory\n"));
	}
	free(line);
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

void log_set_verbose(int level)
{
	log_level = level;
}

int log_verbosity(void)
{
	return log_level;
}
