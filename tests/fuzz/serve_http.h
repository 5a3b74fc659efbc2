/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_http.h: one request for the fuzz target `serve`, sent to serve/http.c by a socket, through
 * libmicrohttpd, and what has to be true of every answer: it is whole, has the headers that keep a
 * browser in its bounds, and its body is what its type says: lines of JSON, samples with a label
 * set each, events, a capture.
 */
#ifndef IOSONAR_FUZZ_SERVE_HTTP_H
#define IOSONAR_FUZZ_SERVE_HTTP_H

#define ZLIB_CONST
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zlib.h>
#include "serve/http.h"

enum { EXCHANGE_BYTES = 1 << 20, EXCHANGE_IDLE = 3 };

/* What came back. The head ends with a 0; the body, too. */
struct exchange {
	char *bytes, *head, *body; /* NULL: no whole head came */
	size_t len;		   /* of the body */
	unsigned int status;
	bool is_ours; /* not one of libmicrohttpd's own */
};

/* ---- the wire ---- */

/* Listens on a name that the kernel chooses; *address is that name. */
static int exchange_listen(struct sockaddr_un *address, socklen_t *len)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	*len = sizeof(*address);
	if (fd < 0 || bind(fd, (struct sockaddr *)address, sizeof(address->sun_family)) ||
	    listen(fd, 1) || getsockname(fd, (struct sockaddr *)address, len))
		abort();
	return fd;
}

/* Until the server closes the connection or has nothing more to say. */
static size_t exchange_receive(struct http *http, int fd, char *bytes)
{
	size_t len = 0;
	int idle = 0;

	while (idle < EXCHANGE_IDLE && len < EXCHANGE_BYTES) {
		ssize_t got;

		http__run(http);
		got = recv(fd, bytes + len, EXCHANGE_BYTES - len, MSG_DONTWAIT);
		if (!got)
			break;
		len += got > 0 ? (size_t)got : 0;
		idle = got > 0 ? 0 : idle + 1;
	}
	return len;
}

static size_t exchange_talk(struct http_options *options, const char *request, char *bytes)
{
	struct sockaddr_un address;
	socklen_t address_len;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct http *http;
	size_t len;

	options->fd = exchange_listen(&address, &address_len);
	if (http__new(&http, options) || connect(fd, (struct sockaddr *)&address, address_len))
		abort();
	send(fd, request, strlen(request), MSG_NOSIGNAL);
	len = exchange_receive(http, fd, bytes);
	close(fd);
	http__free(http);
	return len;
}

/* ---- the answer ---- */

/* The value of a header, up to its end; NULL: there is none. */
static const char *exchange_header(const struct exchange *e, const char *name)
{
	const char *line = e->head;
	size_t len = strlen(name);

	while ((line = strstr(line, "\r\n"))) {
		line += 2;
		if (!strncasecmp(line, name, len) && !strncmp(line + len, ": ", 2))
			return line + len + 2;
	}
	return NULL;
}

static bool exchange_says(const struct exchange *e, const char *name, const char *value)
{
	const char *found = exchange_header(e, name);
	size_t len = strlen(value);

	return found && !strncmp(found, value, len) && (!found[len] || found[len] == '\r');
}

/* Chunks become one text. A stream that was left may end between two of them. */
static void exchange_join(struct exchange *e)
{
	char *to = e->body, *at = e->body, *end = e->body + e->len;

	while (at < end) {
		char *data;
		size_t len = strtoul(at, &data, 16);

		if (data == at || strncmp(data, "\r\n", 2))
			abort();
		data += 2;
		if (!len || len > (size_t)(end - data))
			break;
		memmove(to, data, len);
		to += len;
		at = data + len + 2;
	}
	*to = 0;
	e->len = (size_t)(to - e->body);
}

static void exchange_unzip(struct exchange *e)
{
	static char plain[EXCHANGE_BYTES];
	z_stream z = { .next_in = (const Bytef *)e->body,
		       .avail_in = (uInt)e->len,
		       .next_out = (Bytef *)plain,
		       .avail_out = EXCHANGE_BYTES - 1 };

	if (inflateInit2(&z, 15 + 16) != Z_OK || inflate(&z, Z_FINISH) != Z_STREAM_END ||
	    z.avail_in)
		abort();
	inflateEnd(&z);
	e->len = z.total_out;
	memcpy(e->body, plain, e->len);
	e->body[e->len] = 0;
}

/* ---- bodies ---- */

/* Behind the text that begins here; NULL: it is none. Control characters have to be escaped. */
static const char *json_text(const char *at)
{
	if (*at++ != '"')
		return NULL;
	for (; *at != '"'; at++) {
		if ((unsigned char)*at < ' ')
			return NULL;
		if (*at != '\\')
			continue;
		if (!*++at || !strchr("\"\\/bfnrtu", *at))
			return NULL;
		if (*at == 'u' && strspn(at + 1, "0123456789abcdefABCDEF") < 4)
			return NULL;
	}
	return at + 1;
}

static const char *json_value(const char *at);

/* Members or values, after the bracket that opens. */
static const char *json_list(const char *at, char end)
{
	if (*at == end)
		return at + 1;
	for (;; at++) {
		if (end == '}') {
			at = json_text(at);
			if (!at || *at++ != ':')
				return NULL;
		}
		at = json_value(at);
		if (!at || *at == end)
			return at ? at + 1 : NULL;
		if (*at != ',')
			return NULL;
	}
}

static const char *json_value(const char *at)
{
	static const char *const words[] = { "null", "true", "false" };
	size_t len = strspn(at, "0123456789.eE+-");

	if (*at == '{' || *at == '[')
		return json_list(at + 1, *at == '{' ? '}' : ']');
	for (size_t i = 0; i < 3; i++)
		if (!strncmp(at, words[i], strlen(words[i])))
			return at + strlen(words[i]);
	return len ? at + len : json_text(at);
}

static void check_json_line(const char *line)
{
	const char *end = *line == '{' ? json_value(line) : NULL;

	if (!end || *end)
		abort();
}

static void check_json(char *lines)
{
	char *line;

	while ((line = strsep(&lines, "\n")) && lines)
		check_json_line(line);
	if (line && *line)
		abort();
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The end of "name{labels}": a quoted text may hold braces. */
static char *sample_end(char *line)
{
	bool quoted = false;

	for (; *line && (quoted || *line != ' '); line++) {
		if (quoted && *line == '\\' && line[1])
			line++;
		else if (*line == '"')
			quoted = !quoted;
	}
	return line;
}

/* A scraper refuses a page where two samples have one label set. */
static void check_samples(char *page)
{
	static char *samples[16384];
	size_t nr = 0;
	char *line;

	while ((line = strsep(&page, "\n")) && page) {
		if (!strncmp(line, "# ", 2))
			continue;
		if (strncmp(line, "iosonar_", 8) || nr == 16384)
			abort();
		*sample_end(line) = 0;
		samples[nr++] = line;
	}
	qsort(samples, nr, sizeof(*samples), compare_texts);
	for (size_t i = 1; i < nr; i++)
		if (!strcmp(samples[i - 1], samples[i]))
			abort();
	if (!nr || (line && *line))
		abort();
}

/* Nothing of the data ends an event or begins a field of another name. */
static void check_events(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")) && text) {
		if (!strncmp(line, "data: ", 6))
			check_json_line(line + 6);
		else if (*line && strncmp(line, "id: 1f-", 7) && strcmp(line, "retry: 1000") != 0)
			abort();
	}
}

static void check_body(struct exchange *e)
{
	if (exchange_says(e, "Content-Type", "application/x-ndjson"))
		check_json(e->body);
	else if (exchange_says(e, "Content-Type", "text/event-stream"))
		check_events(e->body);
	else if (exchange_says(e, "Content-Type", "application/octet-stream")) {
		if (e->len < 8 || memcmp(e->body, "\211IOSONAR", 8))
			abort();
	} else if (strstr(exchange_header(e, "Content-Type"), "version="))
		check_samples(e->body);
}

/* ---- the whole ---- */

static void check_head(const struct exchange *e)
{
	if (!exchange_says(e, "Connection", "close") ||
	    !exchange_says(e, "Cache-Control", "no-store") ||
	    !exchange_says(e, "X-Content-Type-Options", "nosniff") ||
	    !exchange_says(e, "Cross-Origin-Resource-Policy", "same-origin") ||
	    !exchange_says(e, "Referrer-Policy", "no-referrer") ||
	    !exchange_header(e, "Content-Security-Policy") || !exchange_header(e, "Content-Type"))
		abort();
	if ((e->status == 405) != !!exchange_header(e, "Allow"))
		abort();
}

static void exchange_check(struct exchange *e, bool has_no_body)
{
	const char *bytes = exchange_header(e, "Content-Length");

	check_head(e);
	if (has_no_body ? e->len : bytes && strtoul(bytes, NULL, 10) != e->len)
		abort();
	if (has_no_body)
		return;
	if (exchange_says(e, "Transfer-Encoding", "chunked"))
		exchange_join(e);
	if (exchange_header(e, "Content-Encoding"))
		exchange_unzip(e);
	check_body(e);
}

/* Sends the request and splits what comes back; they stay until the next. */
static struct exchange exchange__of(struct http_options *options, const char *request)
{
	static char bytes[EXCHANGE_BYTES + 1];
	struct exchange e = { .bytes = bytes };
	size_t len = exchange_talk(options, request, e.bytes);
	char *end;

	e.bytes[len] = 0;
	end = strstr(e.bytes, "\r\n\r\n");
	if (!end || strncmp(e.bytes, "HTTP/1.", 7))
		return e;
	*end = 0;
	e.head = e.bytes;
	e.body = end + 4;
	e.len = len - (size_t)(e.body - e.bytes);
	e.status = (unsigned int)strtoul(e.bytes + strlen("HTTP/1.1 "), NULL, 10);
	e.is_ours = exchange_header(&e, "Referrer-Policy");
	if (!e.is_ours && e.status < 400)
		abort();
	return e;
}

#endif
