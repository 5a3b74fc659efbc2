/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uevent.c: did a disk or an NVMe controller come, go or change? The kernel says so on a netlink
 * socket, at no cost between events. It does not report hidden multipath legs; and when the socket
 * overflows uevent__read returns -ENOBUFS: messages were lost, every device must be read again.
 */
#define _GNU_SOURCE
#include "device/uevent.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

enum { UEVENT_GROUP_KERNEL = 1 };	/* 2 is udev's, in a format of its own */
enum { UEVENT_BUFFER_BYTES = 1 << 20 }; /* a bus of drives reset at once: some thousand messages */

static const char *const uevent_actions[] = {
	[UEVENT_ADD] = "add",
	[UEVENT_REMOVE] = "remove",
	[UEVENT_CHANGE] = "change",
};

/* The values of one message, as pointers into it; NULL when it has no such key. */
struct uevent_values {
	const char *action, *devpath, *subsystem, *devtype, *nvme_event;
};

/* The text behind "KEY=", or NULL when the pair has another key. */
static const char *uevent_value(const char *pair, const char *key)
{
	size_t len = strlen(key);

	return !strncmp(pair, key, len) && pair[len] == '=' ? pair + len + 1 : NULL;
}

static void uevent_take(struct uevent_values *values, const char *pair)
{
	const struct {
		const char *key;
		const char **value;
	} wanted[] = {
		{ "ACTION", &values->action },	       { "DEVPATH", &values->devpath },
		{ "SUBSYSTEM", &values->subsystem },   { "DEVTYPE", &values->devtype },
		{ "NVME_EVENT", &values->nvme_event },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!*wanted[i].value)
			*wanted[i].value = uevent_value(pair, wanted[i].key);
}

/* Every string must end inside the message: a truncated message is refused. */
static int uevent_split(const char *buf, size_t len, struct uevent_values *values)
{
	const char *end = buf + len, *next;
	bool is_head = true;

	memset(values, 0, sizeof(*values));
	for (; buf < end; buf = next + 1, is_head = false) {
		next = memchr(buf, '\0', (size_t)(end - buf));
		if (!next || (is_head && !strchr(buf, '@')))
			return -EBADMSG;
		if (!is_head)
			uevent_take(values, buf);
	}
	return values->action && values->devpath && values->subsystem ? 0 : -EBADMSG;
}

static int uevent_copy_action(struct uevent *event, const char *action)
{
	for (size_t i = 0; i < sizeof(uevent_actions) / sizeof(uevent_actions[0]); i++) {
		if (!strcmp(action, uevent_actions[i])) {
			event->action = i;
			return 1;
		}
	}
	return 0; /* bind, move, online, … */
}

/* DEVPATH's last part is the name in /sys; DEVNAME may differ from it (cciss/c0d0). */
static int uevent_copy_name(struct uevent *event, const char *devpath)
{
	const char *name = strrchr(devpath, '/');
	size_t len = name ? strlen(++name) : 0, i;

	if (!len || len >= sizeof(event->name) || name[0] == '.')
		return -EBADMSG;
	for (i = 0; i < len; i++)
		if (name[i] <= ' ' || name[i] >= 0x7f)
			return -EBADMSG;
	memcpy(event->name, name, len + 1);
	return 1;
}

static bool uevent_is_wanted(const struct uevent_values *values)
{
	if (!strcmp(values->subsystem, "nvme"))
		return true;
	return !strcmp(values->subsystem, "block") && values->devtype &&
	       !strcmp(values->devtype, "disk");
}

int uevent__parse(const char *buf, size_t len, struct uevent *event)
{
	struct uevent_values values;
	int err;

	memset(event, 0, sizeof(*event));
	err = uevent_split(buf, len, &values);
	if (err)
		return err;
	if (!uevent_is_wanted(&values) || !uevent_copy_action(event, values.action))
		return 0;
	strcpy(event->subsystem, values.subsystem); /* one of two short words */
	event->connected = values.nvme_event && !strcmp(values.nvme_event, "connected");
	return uevent_copy_name(event, values.devpath);
}

int uevent__open(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = UEVENT_GROUP_KERNEL };
	int size = UEVENT_BUFFER_BYTES;
	int fd, err;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
	if (fd < 0)
		return log_err(-errno, "cannot watch for new devices: %s", strerror(errno));
	/* The first needs CAP_NET_ADMIN; the second gives what net.core.rmem_max allows. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	err = log_err(-errno, "cannot watch for new devices: %s", strerror(errno));
	close(fd);
	return err;
}

/* Length of the next message, 0: skip it, or -errno. */
static ssize_t uevent_receive(int fd, char *buf, size_t size)
{
	struct sockaddr_nl from = { .nl_family = AF_UNSPEC };
	struct iovec part = { .iov_base = buf, .iov_len = size };
	struct msghdr msg = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &part,
		.msg_iovlen = 1,
	};
	ssize_t len;

	do {
		len = recvmsg(fd, &msg, MSG_DONTWAIT);
	} while (len < 0 && errno == EINTR);
	if (len < 0)
		return -errno;
	/*
	 * A process with CAP_NET_ADMIN may write to this socket, but port 0 is the kernel's alone.
	 * The sender's uid would say less: in a user namespace the kernel's shows as 65534.
	 */
	if (msg.msg_namelen != sizeof(from) || from.nl_pid != 0 ||
	    from.nl_groups != UEVENT_GROUP_KERNEL)
		return 0;
	return msg.msg_flags & MSG_TRUNC ? 0 : len;
}

int uevent__read(int fd, struct uevent *event)
{
	char buf[8192]; /* the kernel's limit is 2 KiB of pairs and the path in front */
	ssize_t len;

	for (;;) {
		len = uevent_receive(fd, buf, sizeof(buf));
		if (len == -EAGAIN)
			return 0;
		if (len < 0)
			return (int)len;
		if (len > 0 && uevent__parse(buf, (size_t)len, event) == 1)
			return 1;
	}
}
