/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log.h: messages for people, on stderr, one write each, "iosonar: " in front of errors and
 * warnings. An error is said once, where its cause is known, and returned in the same breath:
 *	return log_err(-ENODEV, "no block device named '%s'", name);
 * Control characters in a message are escaped: names come from devices, tasks and files. Only
 * '\n' stays, for an expression with a caret below it.
 */
#ifndef IOSONAR_LOG_H
#define IOSONAR_LOG_H

#define LOG_FORMAT __attribute__((format(printf, 1, 2)))

int log_err(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_warn(const char *fmt, ...) LOG_FORMAT;	   /* something is not as asked, the run goes on */
void log_note(const char *fmt, ...) LOG_FORMAT;	   /* what a person wants to know: header, ledger */
void log_verbose(const char *fmt, ...) LOG_FORMAT; /* only with -v */

void log_set_verbose(int level); /* called by main once: 0, 1 (-v), 2 (-vv: libbpf's words too) */
int log_verbosity(void);

#endif
