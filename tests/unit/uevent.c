/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uevent.c: messages of the kernel, cut and forged ones, and a socket that believes no other
 * process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/uevent.h"
#include "tap.h"

static const char added[] = "add@/devices/pci0000:00/0000:00:04.0/nvme/nvme0/nvme0n1\0"
			    "ACTION=add\0"
			    "DEVPATH=/devices/pci0000:00/0000:00:04.0/nvme/nvme0/nvme0n1\0"
			    "SUBSYSTEM=block\0MAJOR=259\0MINOR=0\0DEVNAME=nvme0n1\0DEVTYPE=disk\0"
			    "DISKSEQ=9\0SEQNUM=1234";
static const char removed[] = "remove@/devices/pci0000:00/nvme/nvme0\0ACTION=remove\0"
			      "DEVPATH=/devices/pci0000:00/nvme/nvme0\0SUBSYSTEM=nvme\0SEQNUM=9";
static const char changed[] = "change@/d/block/sr0\0ACTION=change\0DEVPATH=/d/block/sr0\0"
			      "SUBSYSTEM=block\0DISK_MEDIA_CHANGE=1\0DEVTYPE=disk";

static void test_kernels_words(void)
{
	struct uevent event;

	ok(uevent__parse(added, sizeof(added), &event) == 1, "a disk came");
	ok(event.action == UEVENT_ADD, "added");
	is_str(event.subsystem, "block", "a block device");
	is_str(event.name, "nvme0n1", "by its name in /sys");
	ok(uevent__parse(removed, sizeof(removed), &event) == 1, "a controller went");
	ok(event.action == UEVENT_REMOVE && !strcmp(event.subsystem, "nvme") &&
		   !strcmp(event.name, "nvme0"),
	   "nvme0");
	ok(uevent__parse(changed, sizeof(changed), &event) == 1 && event.action == UEVENT_CHANGE,
	   "a medium changed");
}

#define PARSE(text) uevent__parse(text, sizeof(text), &event)

static void test_no_interest(void)
{
	struct uevent event;

	is_u64((uint64_t)PARSE("add@/d/vda1\0ACTION=add\0DEVPATH=/d/vda1\0SUBSYSTEM=block\0"
			       "DEVTYPE=partition"),
	       0, "a partition");
	is_u64((uint64_t)PARSE("add@/d/x\0ACTION=add\0DEVPATH=/d/x\0SUBSYSTEM=block"), 0,
	       "a block device without a type");
	is_u64((uint64_t)PARSE("bind@/d/nvme0\0ACTION=bind\0DEVPATH=/d/nvme0\0SUBSYSTEM=nvme"), 0,
	       "another action");
	is_u64((uint64_t)PARSE("add@/d/eth0\0ACTION=add\0DEVPATH=/d/eth0\0SUBSYSTEM=net"), 0,
	       "another subsystem");
	is_u64((uint64_t)PARSE("add@/d/ng0n1\0ACTION=add\0DEVPATH=/d/ng0n1\0"
			       "SUBSYSTEM=nvme-generic"),
	       0, "a subsystem with a longer name");
}

static void test_hostile(void)
{
	struct uevent event;

	ok(uevent__parse("", 0, &event) == -EBADMSG, "nothing");
	ok(PARSE("") == -EBADMSG, "an empty string");
	ok(PARSE("libudev\0\xfe\xed\xca\xfe") == -EBADMSG, "udev's format");
	ok(PARSE("add@/d/vda\0ACTION=add\0SUBSYSTEM=nvme") == -EBADMSG, "no path");
	ok(PARSE("add@/d/vda\0DEVPATH=/d/vda\0SUBSYSTEM=nvme") == -EBADMSG, "no action");
	ok(PARSE("add@/d/vda\0ACTION=add\0DEVPATH=/d/vda") == -EBADMSG, "no subsystem");
	ok(PARSE("ACTION=add\0DEVPATH=/d/vda\0SUBSYSTEM=nvme") == -EBADMSG, "no head");
	ok(PARSE("add@x\0ACTION=add\0DEVPATH=vda\0SUBSYSTEM=nvme") == -EBADMSG, "no slash");
	ok(PARSE("add@x\0ACTION=add\0DEVPATH=/d/\0SUBSYSTEM=nvme") == -EBADMSG, "no name");
	ok(PARSE("add@x\0ACTION=add\0DEVPATH=/d/..\0SUBSYSTEM=nvme") == -EBADMSG, "a way up");
	ok(PARSE("add@x\0ACTION=add\0DEVPATH=/d/a\033[m\0SUBSYSTEM=nvme") == -EBADMSG,
	   "control characters");
	ok(PARSE("add@x\0ACTION=add\0DEVPATH=/d/a-name-of-thirty-two-characters!\0"
		 "SUBSYSTEM=nvme") == -EBADMSG,
	   "a name too long");
	ok(PARSE("add@x\0ACTION=add\0DEVPATH=/d/nvme0\0SUBSYSTEM=nvme\0SUBSYSTEM=a-very-long-one"
		 "\0\0\0=\0==\0ACTION") == 1 &&
		   !strcmp(event.subsystem, "nvme"),
	   "of two values the first counts");
}

/* Every cut, in memory of exactly that size: the sanitizer sees a read behind it. */
static void test_truncated(void)
{
	int nr_taken = 0, nr_wrong = 0, err;
	struct uevent event;
	size_t len;
	char *buf;

	for (len = 0; len < sizeof(added); len++) {
		buf = malloc(len ? len : 1);
		memcpy(buf, added, len);
		err = uevent__parse(buf, len, &event);
		nr_taken += err == 1;
		nr_wrong += err == 1 && strcmp(event.name, "nvme0n1") != 0;
		nr_wrong += err != 1 && err != 0 && err != -EBADMSG;
		free(buf);
	}
	/* Only cuts right behind a NUL are whole messages: after DEVTYPE= and after DISKSEQ=. */
	is_u64((uint64_t)nr_taken, 2, "cuts at the end of a value are taken, no others");
	is_u64((uint64_t)nr_wrong, 0, "and no cut makes another name");
}

static void test_noise(void)
{
	struct uevent event;
	char buf[sizeof(added)];
	size_t i, k;
	int nr_bad = 0;

	srand(1);
	for (i = 0; i < 20000; i++) {
		memcpy(buf, added, sizeof(buf));
		for (k = 0; k < 4; k++)
			buf[(size_t)rand() % sizeof(buf)] = (char)rand();
		if (uevent__parse(buf, sizeof(buf), &event) == 1)
			nr_bad += !event.name[0] || strlen(event.name) >= sizeof(event.name);
	}
	is_u64((uint64_t)nr_bad, 0, "flipped bytes never make a bad name");
}

/* What root may send us: with the kernel's group in its address, but never from port 0. */
static void test_forged(int fd, unsigned int groups, const char *what)
{
	static const char forged[] = "add@/iosonar/forged\0ACTION=add\0DEVPATH=/iosonar/forged\0"
				     "SUBSYSTEM=nvme";
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	socklen_t size = sizeof(to);
	struct uevent event;
	int other, nr_believed = 0;

	getsockname(fd, (struct sockaddr *)&to, &size);
	to.nl_groups = groups;
	other = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	if (sendto(other, forged, sizeof(forged), 0, (struct sockaddr *)&to, sizeof(to)) < 0) {
		ok(true, "%s # SKIP cannot send one: %s", what, strerror(errno));
	} else {
		while (uevent__read(fd, &event) == 1)
			nr_believed += !strcmp(event.name, "forged");
		is_u64((uint64_t)nr_believed, 0, what);
	}
	close(other);
}

int main(void)
{
	int fd;

	test_kernels_words();
	test_no_interest();
	test_hostile();
	test_truncated();
	test_noise();
	fd = uevent__open();
	if (fd < 0) {
		ok(true, "a socket # SKIP none here: %s", strerror(-fd));
		return done_testing();
	}
	test_forged(fd, 0, "a message of another process is not believed");
	test_forged(fd, 1, "nor one to the kernel's group");
	close(fd);
	return done_testing();
}
