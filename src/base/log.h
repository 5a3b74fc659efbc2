/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log.h: messages for people, on stderr, one write each, "iosonar: " in front of errors and
 * warnings. An error is logged once, where its cause is known, and returned in one statement:
 *	return log_err(-ENODEV, "no block device named '%s'", name);
 * What a terminal must not see is escaped, line breaks too: names come from devices, tasks and
 * files, and cannot forge a line. Only log_*_lines has lines below the message, for an expression
 * with a caret below it; each line is escaped by itself. On a terminal a message is wrapped at
 * words; its further lines are indented, so that no word of a name begins a line.
 */
#ifndef IOSONAR_BASE_LOG_H
#define IOSONAR_BASE_LOG_H

#include <stddef.h>

#define LOG_FORMAT __attribute__((format(printf, 1, 2)))

int log_err(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int log_no_memory(void); /* "out of memory", -ENOMEM */
/* lines: separated by '\n'; "": none. Never raw text of a device, task or file. */
int log_err_lines(int err, const char *lines, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void log_warn(const char *fmt, ...) LOG_FORMAT; /* something is not as asked, the run goes on */
void log_note(const char *fmt, ...) LOG_FORMAT; /* what a person wants to know: header, ledger */
void log_note_once(const char *fmt, ...) LOG_FORMAT; /* nothing if it was said before */
void log_verbose(const char *fmt, ...) LOG_FORMAT;   /* only with -v */
void log_verbose_lines(const char *lines, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * For a screen that a message would disturb: fn gets each message instead of stderr, escaped and
 * not wrapped, with its lines; NULL: stderr again.
 */
typedef void (*log_fn)(void *arg, const char *message);
void log_set_listener(log_fn fn, void *arg);

/* Called by main once: messages are wrapped at words at this width; 0: they are not. */
void log_set_columns(size_t columns);
void log_set_verbose(int level); /* called by main once: 0, 1 (-v), 2 (-vv: libbpf's messages) */
int log_verbosity(void);

#endif
