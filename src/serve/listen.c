/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/log.h"

enum { LISTEN_BACKLOG = 64, LISTEN_FIRST_FD = 3 /* sd_listen_fds(3) */ };

static struct sockaddr_in *listen_v4(const struct listen_address *a)
{
	return (struct sockaddr_in *)&a->address;
}

static struct sockaddr_in6 *listen_v6(const struct listen_address *a)
{
	return (struct sockaddr_in6 *)&a->address;
}

static struct sockaddr_un *listen_un(const struct listen_address *a)
{
	return (struct sockaddr_un *)&a->address;
}

/* ---- what --listen says ---- */

static int listen_parse_path(struct listen_address *a, const char *path)
{
	struct sockaddr_un *un = listen_un(a);

	if (!*path || strlen(path) >= sizeof(un->sun_path))
		return log_err(-EINVAL, "--listen unix:%s: expected a path of 1 to %zu bytes", path,
			       sizeof(un->sun_path) - 1);
	un->sun_family = AF_UNIX;
	strcpy(un->sun_path, path);
	a->len = sizeof(*un);
	return 0;
}

static bool listen_parse_port(const char *text, in_port_t *port)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long value = strtoul(text, NULL, 10);

	*port = htons((uint16_t)value);
	return digits && digits <= 5 && !text[digits] && value <= UINT16_MAX;
}

/* host: without the port. */
static bool listen_parse_host(struct listen_address *a, const char *host, in_port_t port)
{
	struct sockaddr_in *v4 = listen_v4(a);
	struct sockaddr_in6 *v6 = listen_v6(a);
	char inner[INET6_ADDRSTRLEN + 1] = "";
	size_t len = strlen(host);

	if (*host == '[' && len > 2 && len - 2 < sizeof(inner) && host[len - 1] == ']') {
		memcpy(inner, host + 1, len - 2);
		v6->sin6_family = AF_INET6;
		v6->sin6_port = port;
		a->len = sizeof(*v6);
		return inet_pton(AF_INET6, inner, &v6->sin6_addr) == 1;
	}
	v4->sin_family = AF_INET;
	v4->sin_port = port;
	a->len = sizeof(*v4);
	return inet_pton(AF_INET, strcmp(host, "localhost") ? host : "127.0.0.1", &v4->sin_addr) ==
	       1;
}

int listen_address__parse(struct listen_address *a, const char *text)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 3] = "";
	in_port_t port = 0;

	memset(a, 0, sizeof(*a));
	if (!strncmp(text, "unix:", 5))
		return listen_parse_path(a, text + 5);
	if (colon && (size_t)(colon - text) < sizeof(host)) {
		memcpy(host, text, (size_t)(colon - text));
		if (listen_parse_port(colon + 1, &port) && listen_parse_host(a, host, port))
			return 0;
	}
	return log_err(-EINVAL,
		       "--listen %s: expected ADDRESS:PORT or unix:PATH, e.g. " LISTEN_DEFAULT
		       " or [::1]:9936",
		       text);
}

bool listen_address__is_unix(const struct listen_address *a)
{
	return a->address.ss_family == AF_UNIX;
}

bool listen_address__is_local(const struct listen_address *a)
{
	switch (a->address.ss_family) {
	case AF_UNIX: return true;
	case AF_INET: return ntohl(listen_v4(a)->sin_addr.s_addr) >> 24 == 127;
	case AF_INET6: return IN6_IS_ADDR_LOOPBACK(&listen_v6(a)->sin6_addr);
	default: return false;
	}
}

char *listen_address__text(const struct listen_address *a, char *buf, size_t size)
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (listen_address__is_unix(a)) {
		const struct sockaddr_un *un = listen_un(a);

		snprintf(buf, size, "unix:%s%.*s", *un->sun_path ? "" : "@",
			 (int)sizeof(un->sun_path) - 1, un->sun_path + !*un->sun_path);
	} else if (a->address.ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &listen_v6(a)->sin6_addr, host, sizeof(host));
		snprintf(buf, size, "http://[%s]:%u", host, ntohs(listen_v6(a)->sin6_port));
	} else {
		inet_ntop(AF_INET, &listen_v4(a)->sin_addr, host, sizeof(host));
		snprintf(buf, size, "http://%s:%u", host, ntohs(listen_v4(a)->sin_port));
	}
	return buf;
}

/* ---- the socket ---- */

static int listen_say(int err, const struct listen_address *a)
{
	char text[160];

	listen_address__text(a, text, sizeof(text));
	if (err == -EADDRINUSE)
		return log_err(err, "cannot listen on %s: it is taken; choose another --listen",
			       text);
	if (err == -EADDRNOTAVAIL)
		return log_err(-EINVAL, "cannot listen on %s: this machine has no such address",
			       text);
	return log_err(err, "cannot listen on %s: %s", text, strerror(-err));
}

/* Of an earlier run: the run ends without the right to remove it. */
static void listen_remove_stale(const struct listen_address *a)
{
	const struct sockaddr_un *un = listen_un(a);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)un, a->len) && errno == ECONNREFUSED &&
	    !lstat(un->sun_path, &st) && S_ISSOCK(st.st_mode) && st.st_uid == geteuid())
		unlink(un->sun_path);
	close(fd);
}

static int listen_bind(int fd, const struct listen_address *a)
{
	const int on = 1;

	if (a->address.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (listen_address__is_unix(a))
		listen_remove_stale(a);
	else
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&a->address, a->len) || listen(fd, LISTEN_BACKLOG))
		return -errno;
	return 0;
}

static int listen_look(int fd, struct listen_address *a)
{
	memset(a, 0, sizeof(*a));
	a->len = sizeof(a->address);
	return getsockname(fd, (struct sockaddr *)&a->address, &a->len) ? -errno : 0;
}

int listen__open(struct listen_address *a)
{
	int fd = socket(a->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return listen_say(-errno, a);
	err = listen_bind(fd, a);
	if (err) {
		close(fd);
		return listen_say(err, a);
	}
	err = listen_look(fd, a);
	return err ? listen_say(err, a) : fd;
}

/* ---- passed on ---- */

static bool listen_is_passed(void)
{
	const char *pid = getenv("LISTEN_PID");

	return pid && getenv("LISTEN_FDS") && strtol(pid, NULL, 10) == getpid();
}

static int listen_option(int fd, int option)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &len) ? -1 : value;
}

/* It must not block us, nor reach the COMMAND. */
static int listen_take_over(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return log_err(-errno, "LISTEN_FDS: %s", strerror(errno));
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return fd;
}

int listen__inherit(struct listen_address *a)
{
	const int fd = LISTEN_FIRST_FD;

	if (!listen_is_passed())
		return -ENOENT;
	if (strcmp(getenv("LISTEN_FDS"), "1"))
		return log_err(-EINVAL, "LISTEN_FDS is %s: serve takes one socket",
			       getenv("LISTEN_FDS"));
	if (listen_look(fd, a) || listen_option(fd, SO_TYPE) != SOCK_STREAM ||
	    listen_option(fd, SO_ACCEPTCONN) != 1)
		return log_err(-EINVAL,
			       "LISTEN_FDS: descriptor %d is not a stream socket that listens", fd);
	return listen_take_over(fd);
}
