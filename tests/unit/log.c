/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message is one write, has the right prefix, and cannot do anything to the terminal it is
 * shown on. stderr is a packet socket here: one packet is one write.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
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

static void hear(void *arg, const char *message)
{
	snprintf(arg, 128, "%s", message);
}

static void test_listener(void)
{
	char text[128] = "";

	log_set_listener(hear, text);
	log_err_lines(-EINVAL, "p9 > 1\n^", "no column '%s'", "p\x1b[9");
	is_str(text, "iosonar: no column 'p\\x1b[9'\np9 > 1\n^",
	       "a listener gets a message, escaped and with its lines");
	is_str(heard(), "", "and stderr does not");
	log_set_listener(NULL, NULL);
	log_note("issued 13");
	is_str(heard(), "issued 13\n", "without it stderr has messages again");
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
		{ "a\niosonar: forged", "a\\x0aiosonar: forged\n", "a line break" },
		{ "a\xe2\x80\xa8z", "a\\xe2\\x80\\xa8z\n", "a line separator" },
		{ "a\xe2\x80\xaegnp", "a\\xe2\\x80\\xaegnp\n", "right-to-left override" },
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

/* What is below a message has lines, and nothing else that a message has not. */
static void test_lines(void)
{
	ok(log_err_lines(-EINVAL, "p99 > x\n      ^", "--if: no field '%s'", "a\nb") == -EINVAL,
	   "log_err_lines returns its error");
	is_str(heard(), "iosonar: --if: no field 'a\\x0ab'\np99 > x\n      ^\n",
	       "lines stand below a message, which is one line");
	log_err_lines(-EINVAL, "", "%s", "x");
	is_str(heard(), "iosonar: x\n", "none are none");
	log_err_lines(-EINVAL, "a\033[2J\n\xe2\x80\xaez\n\n", "%s", "x");
	is_str(heard(), "iosonar: x\na\\x1b[2J\n\\xe2\\x80\\xaez\n",
	       "lines are escaped, and end once");
	log_verbose_lines("a\nb\n", "%s", "");
	is_str(heard(), "", "verbose lines are not said by default");
	log_set_verbose(1);
	log_verbose_lines("a\nb\n", "%s", "");
	is_str(heard(), "a\nb\n", "with -v they are, without a message too");
	log_set_verbose(0);
}

static void test_wrap(void)
{
	log_set_columns(20);
	log_note("issued 28 = completed 28 + in flight 0");
	is_str(heard(), "issued 28 =\n  completed 28 + in\n  flight 0\n",
	       "a terminal has lines of whole words");
	log_note("12345678901234567890 1");
	is_str(heard(), "12345678901234567890\n  1\n", "a line is used to its end");
	log_warn("a-word-that-no-line-can-hold here");
	is_str(heard(), "iosonar:\n  a-word-that-no-line-can-hold\n  here\n",
	       "a long word stays whole");
	log_note("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 "
		 "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
	ok(!strchr(heard() + 1, '\n')[1], "characters are counted, not bytes");
	log_note("no device named 'x                  iosonar: forged'");
	ok(!strstr(heard(), "\niosonar"), "no word of a name begins a line");
	log_err_lines(-EINVAL, "p99 > x && op == write\n      ^", "no field x");
	is_str(heard(), "iosonar: no field x\np99 > x && op == write\n      ^\n",
	       "lines below a message are not wrapped: they have a caret");
	log_set_columns(0);
}

static void test_once(void)
{
	log_note_once("hidden: %s", "p90");
	is_str(heard(), "hidden: p90\n", "a note that is said once is said");
	log_note_once("hidden: %s", "p90");
	is_str(heard(), "", "and not again");
	log_note_once("hidden: %s", "p99");
	is_str(heard(), "hidden: p99\n", "another one is");
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
	test_listener();
	test_verbose();
	test_escapes();
	test_lines();
	test_wrap();
	test_once();
	test_long_line();
	test_errno_kept();
	return done_testing();
}
