/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message is one write, has the right prefix, and cannot do anything to the terminal it is
 * shown on. stderr is a packet socket here: one packet is one write.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"
#include "tap.h"

static int heard_fd;

/* The next write to stderr, "" if there was none. */
static const char *heard(void)
{
	static char packet[8192];
	ssize_t len = recv(heard_fd, packet, sizeof(packet) - 1, MSG_DONTWAIT);

	packet[len < 0 ? 0 : len] = 0;
	return packet;
}

static void test_prefixes(void)
{
	ok(log_err(-ENODEV, "no block device named '%s'", "nvme9") == -ENODEV,
	   "log_err returns its error");
	is_str(heard(), "iosonar: no block device named 'nvme9'\n",
	       "an error is one prefixed line");
	log_warn("%d lost", 7);
	is_str(heard(), "iosonar: 7 lost\n", "a warning has the prefix too");
	log_note("issued %d", 13);
	is_str(heard(), "issued 13\n", "a note has none");
}

static void test_verbose(void)
{
	log_verbose("attached");
	is_str(heard(), "", "verbose words are not said by default");
	log_set_verbose(1);
	log_verbose("attached");
	is_str(heard(), "attached\n", "with -v they are");
	ok(log_verbosity() == 1, "the level can be asked for");
	log_set_verbose(0);
}

static void test_escapes(void)
{
	static const struct {
		const char *raw, *shown, *what;
	} cases[] = {
		{ "a\x1b[2Jb", "a\\x1b[2Jb\n", "an escape sequence" },
		{ "a\tb\rc\x7f", "a\\x09b\\x0dc\\x7f\n", "tab, return, delete" },
		{ "p99 > x\n      ^", "p99 > x\n      ^\n", "a line break stays, for carets" },
		{ "\xc3\xa4 \xe2\x80\xa6 \xf0\x9f\x90\xac",
		  "\xc3\xa4 \xe2\x80\xa6 \xf0\x9f\x90\xac\n", "UTF-8 stays" },
		{ "\x9b[31m", "\\x9b[31m\n", "a raw C1 control byte" },
		{ "\xc2\x9b[31m", "\\xc2\\x9b[31m\n", "the same in UTF-8" },
		{ "\xc0\xaf \xe0\x80\xaf", "\\xc0\\xaf \\xe0\\x80\\xaf\n", "overlong UTF-8" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80\n", "a surrogate" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80\n", "beyond the last character" },
		{ "a\xe2\x80", "a\\xe2\\x80\n", "a character cut off" },
		{ "\xff\xf8", "\\xff\\xf8\n", "bytes UTF-8 never has" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		log_note("%s", cases[i].raw);
		is_str(heard(), cases[i].shown, cases[i].what);
	}
}

static void test_long_line(void)
{
	char name[1500];

	memset(name, 1, sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	log_warn("%s", name);
	is_u64(strlen(heard()), strlen("iosonar: \n") + 4 * 1499, "a long line is one write");
	is_str(heard(), "", "and nothing follows it");
}

static void test_errno_kept(void)
{
	errno = EXDEV;
	log_warn("x");
	ok(errno == EXDEV, "errno survives a message");
	heard();
}

int main(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) || dup2(pair[1], STDERR_FILENO) < 0)
		return 1;
	heard_fd = pair[0];
	test_prefixes();
	test_verbose();
	test_escapes();
	test_long_line();
	test_errno_kept();
	return done_testing();
}
