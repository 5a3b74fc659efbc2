/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen.h: the socket that `serve` answers on: of --listen, or passed on by systemd (LISTEN_FDS).
 * Opened before the privileges are dropped. An address is a number: no name is looked up.
 */
#ifndef IOSONAR_SERVE_LISTEN_H
#define IOSONAR_SERVE_LISTEN_H

#include <stdbool.h>
#include <sys/socket.h>

#define LISTEN_DEFAULT "127.0.0.1:9936"

struct listen_address {
	struct sockaddr_storage address;
	socklen_t len;
};

/* "127.0.0.1:9936", "[::1]:9936", "localhost:9936" or "unix:PATH". 0, or -EINVAL, said. */
int listen_address__parse(struct listen_address *address, const char *text);
bool listen_address__is_unix(const struct listen_address *address);
/* Nobody on another machine reaches it: a unix socket, or an address of loopback. */
bool listen_address__is_local(const struct listen_address *address);
/* "http://127.0.0.1:9936" or "unix:/run/iosonar"; returns buf. */
char *listen_address__text(const struct listen_address *address, char *buf, size_t size);

/*
 * A socket that listens; *address becomes that which it has. The file of a unix socket to which
 * nobody listens any more is replaced. A descriptor, or a negative errno, said.
 */
int listen__open(struct listen_address *address);
/* The socket that systemd passed to this process. -ENOENT: none, nothing is said. */
int listen__inherit(struct listen_address *address);

#endif
