/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/host.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

enum { HOST_MOST = 255 }; /* a name of DNS has no more bytes */

static bool host_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_';
}

/* The length of the name in "name", "name:9936", "[::1]" or "[::1]:9936"; 0: none of these. */
static size_t host_name_length(const char *host)
{
	size_t len = 0;

	if (*host == '[') {
		len = 1 + strspn(host + 1, "0123456789abcdefABCDEF:.");
		return len > 1 && host[len] == ']' ? len + 1 : 0;
	}
	while (host_is_letter(host[len]))
		len++;
	return len;
}

static bool host_is_port(const char *text)
{
	size_t digits = strspn(text + (*text == ':'), "0123456789");

	return !*text || (*text == ':' && digits && digits <= 5 && !text[1 + digits]);
}

static bool host_is_loopback(const char *name)
{
	char text[INET6_ADDRSTRLEN + 2] = "";
	size_t len = strlen(name);
	struct in6_addr v6;
	struct in_addr v4;

	if (!strcasecmp(name, "localhost"))
		return true;
	if (inet_pton(AF_INET, name, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	if (*name != '[' || len > sizeof(text))
		return false;
	memcpy(text, name + 1, len - 2);
	return inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool host__is_name(const char *name)
{
	size_t len = host_name_length(name);

	return len && len <= HOST_MOST && !name[len];
}

bool host_list__allows(const struct host_list *list, const char *host)
{
	size_t len = host ? host_name_length(host) : 0;
	char name[HOST_MOST + 1] = "";

	if (list->any)
		return true;
	if (!len || len > HOST_MOST || !host_is_port(host + len))
		return false;
	memcpy(name, host, len);
	for (size_t i = 0; i < list->nr; i++)
		if (!strcasecmp(name, list->names[i]))
			return true;
	return host_is_loopback(name);
}
