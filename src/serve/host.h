/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host.h: may a request with this Host header be answered? A page of another site can have its name
 * resolve to our address (DNS rebinding), but its browser still sends that name. So the names of
 * this machine and those of --allow-host are answered, also on loopback, and no other name. Pure.
 */
#ifndef IOSONAR_SERVE_HOST_H
#define IOSONAR_SERVE_HOST_H

#include <stdbool.h>
#include <stddef.h>

struct host_list {
	const char *const *names; /* of --allow-host */
	size_t nr;
	bool any; /* a unix socket: no browser connects to it */
};

/*
 * Always allowed: localhost and addresses of loopback. With a port or without, in any case. NULL:
 * the request has no Host.
 */
bool host_list__allows(const struct host_list *list, const char *host);
/* Can a Host header have this name? With a port it cannot be compared. */
bool host__is_name(const char *name);

#endif
