/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alias.c: is nothing left of a name but that it is the same one? SipHash is checked with the
 * numbers of its authors' paper.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "capture/alias.h"
#include "tap.h"

static const struct alias one = { .key = { { 1, 2 } } }, other = { .key = { { 1, 3 } } };

/* Appendix A: key 00 01 … 0f, text 00 01 … 0e. */
static void test_siphash(void)
{
	const struct siphash_key key = { { 0x0706050403020100, 0x0f0e0d0c0b0a0908 } };
	unsigned char text[15];

	for (unsigned char i = 0; i < sizeof(text); i++)
		text[i] = i;
	is_u64(siphash(key, text, sizeof(text)), 0xa129ca6149be45e5, "the paper's example");
	is_u64(siphash(key, text, 0), 0x726fdb47dd0e0e31, "the first of its vectors: no text");
}

static void test_names(void)
{
	char a[ALIAS_NAME], b[ALIAS_NAME];

	alias__name(&one, ALIAS_FILE, "/etc/passwd", a);
	ok(!strncmp(a, "file-", 5) && strlen(a) == 21, "a file is called a file: %s", a);
	is_str(alias__name(&one, ALIAS_FILE, "/etc/passwd", b), a, "and always the same");
	ok(strcmp(alias__name(&one, ALIAS_FILE, "/etc/passwe", b), a) != 0, "another is another");
	ok(strcmp(alias__name(&other, ALIAS_FILE, "/etc/passwd", b), a) != 0,
	   "with another key, too");
	alias__name(&one, ALIAS_HOST, "db7", a);
	alias__name(&one, ALIAS_SERIAL, "db7", b);
	ok(strcmp(strchr(a, '-'), strchr(b, '-')) != 0, "a machine is not called as its drive");
}

static void test_comms(void)
{
	struct alias alias = one;
	char a[16] = "fio", b[16] = "fio", full[16], c[16] = "fiO";
	bool same = true;

	memcpy(full, "sixteen bytes...", 16);
	alias__comm(&alias, a);
	alias__comm(&alias, b);
	alias__comm(&alias, c);
	alias__comm(&alias, full);
	ok(!strncmp(a, "comm-", 5) && strlen(a) == 15, "a task's name fits its field: %s", a);
	ok(!memcmp(a, b, 16) && memcmp(a, c, 16) != 0, "equal stays equal, the rest does not");
	ok(!strncmp(full, "comm-", 5) && !full[15], "one without an end has one now");
	for (int i = 0; i < 1000; i++) { /* more than are remembered */
		char first[16] = "", again[16] = "";

		snprintf(first, sizeof(first), "task%d", i);
		memcpy(again, first, sizeof(again));
		alias__comm(&alias, first);
		alias__comm(&(struct alias){ .key = alias.key }, again);
		same &= !memcmp(first, again, sizeof(first));
	}
	ok(same, "of a thousand, too");
}

static char *text_of(enum glossary_kind kind, uint64_t pid, const char *text)
{
	static char *last;

	free(last);
	last = alias__text(&one, kind, (struct glossary_id){ { 7, pid } }, text);
	return last;
}

static void test_texts(void)
{
	char name[ALIAS_NAME], want[128];

	is_str(text_of(GLOSSARY_CGROUPS, 0, "/"), "/", "the root has no name");
	is_str(text_of(GLOSSARY_CGROUPS, 0, "/a/b"), alias__name(&one, ALIAS_CGROUP, "/a/b", name),
	       "a cgroup");
	is_str(text_of(GLOSSARY_FILES, 0, "[swap]"), "[swap]", "what is no file says so");
	snprintf(want, sizeof(want), "[metadata of %s]",
		 alias__name(&one, ALIAS_FILE, "/home", name));
	is_str(text_of(GLOSSARY_FILES, 0, "[metadata of /home]"), want,
	       "a mount point is called as the file is");
	is_str(text_of(GLOSSARY_FILES, 0, "relative"),
	       alias__name(&one, ALIAS_FILE, "relative", name), "any path");
	snprintf(want, sizeof(want), "main;[%s];[exited]",
		 alias__name(&one, ALIAS_LIBRARY, "[acme.so]", name));
	is_str(text_of(GLOSSARY_STACKS, 42, "main;[acme.so];[exited]"), want,
	       "in a process's stack its files");
	is_str(text_of(GLOSSARY_STACKS, 0, "ext4_read [ext4];vfs_read"),
	       "ext4_read [ext4];vfs_read", "the kernel's stacks stay");
}

static void test_about(void)
{
	struct capture_about about = { 0 };
	struct device device = { .name = "nvme0n1", .serial = "S1", .model = "M" };
	char name[ALIAS_NAME];

	capture_about__set_device(&about, 3, &device);
	glossary__add(&about.glossaries[GLOSSARY_FILES], (struct glossary_id){ { 1, 2 } }, "/x");
	ok(!alias__about(&one, &about), "a whole capture");
	is_str(about.devices[0].serial, alias__name(&one, ALIAS_SERIAL, "S1", name), "its drive");
	is_str(about.devices[0].name, "nvme0n1", "which is still called so,");
	is_str(about.devices[0].model, "M", "and of its kind");
	is_str(capture_about__text(&about, GLOSSARY_FILES, (struct glossary_id){ { 1, 2 } }),
	       alias__name(&one, ALIAS_FILE, "/x", name), "its file");
	capture_about__free(&about);
}

static void test_keys(void)
{
	char path[] = "/tmp/iosonar-alias-XXXXXX", a[ALIAS_NAME], b[ALIAS_NAME];
	int fd = mkstemp(path);
	struct alias alias;

	ok(!alias__init(&alias, NULL), "a key of chance");
	alias__name(&alias, ALIAS_FILE, "x", a);
	ok(!alias__init(&alias, NULL) && strcmp(alias__name(&alias, ALIAS_FILE, "x", b), a) != 0,
	   "each time another");
	ok(alias__init(&alias, path) == -EINVAL, "an empty file is no key");
	ok(write(fd, "0123456789abcdef", 16) == 16 && !alias__init(&alias, path), "16 bytes are");
	alias__name(&alias, ALIAS_FILE, "x", a);
	alias__init(&alias, path);
	is_str(alias__name(&alias, ALIAS_FILE, "x", b), a, "the same file, the same names");
	ok(write(fd, "g", 1) == 1 && !alias__init(&alias, path), "longer");
	ok(strcmp(alias__name(&alias, ALIAS_FILE, "x", b), a) != 0, "every byte counts");
	close(fd);
	unlink(path);
	ok(alias__init(&alias, path) == -EIO, "a file that is not there is said");
}

int main(void)
{
	test_siphash();
	test_names();
	test_comms();
	test_texts();
	test_about();
	test_keys();
	return done_testing();
}
