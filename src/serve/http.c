/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/http.h"

#include <errno.h>
#include "base/log.h"

/* The static program has it only if there is an archive of libmicrohttpd. */
#ifdef HAVE_MICROHTTPD

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include "base/clock.h"
#include "serve/accept.h"

enum {
	HTTP_CONNECTIONS = 128,
	HTTP_STREAMS = 64, /* of these, with events: a scraper finds room whoever watches */
	HTTP_CHUNK_BYTES = 16384,
	HTTP_DOWNLOAD_S = 300,
	HTTP_MEMORY_BYTES = 16384, /* of a connection, for its head and ours */
	HTTP_TIMEOUT_S = 10,
	HTTP_ROUNDS = 256, /* at once; what is left waits for the next second */
};
static const uint64_t http_timeout_ns = HTTP_TIMEOUT_S * 1000000000ULL;

/* libmicrohttpd's time-out starts again with every byte; this one does not. */
struct http_guest {
	int fd; /* -1: free */
	uint64_t until_ns;
};

/* A connection that is sent events. */
struct http_stream {
	struct http *http;
	struct MHD_Connection *connection; /* NULL: free */
	struct http_guest *guest;
	struct events_reader reader;
	bool is_waiting; /* it has all events, and libmicrohttpd leaves it alone */
};

/* The one capture that is being sent. */
struct http_download {
	struct http_guest *guest;
	char *bytes; /* NULL: none */
	size_t len;
	uint64_t until_ns;
};

struct http {
	struct http_options options;
	struct MHD_Daemon *daemon;
	struct http_guest guests[HTTP_CONNECTIONS];
	struct http_stream streams[HTTP_STREAMS];
	struct http_download download;
	bool ends;
};

bool http__is_built_in(void)
{
	return true;
}

int http__check(void)
{
	return 0;
}

/* ---- the request ---- */

static enum MHD_Result http_count(void *arg, enum MHD_ValueKind kind, const char *key,
				  const char *value)
{
	struct answer_head *head = arg;

	(void)kind;
	if (!strcasecmp(key, MHD_HTTP_HEADER_HOST)) {
		head->host = value ? value : "";
		head->nr_hosts++;
	}
	if (!strcasecmp(key, "Sec-Fetch-Site"))
		head->site = value ? value : "";
	head->has_body |= !strcasecmp(key, MHD_HTTP_HEADER_TRANSFER_ENCODING) ||
			  (!strcasecmp(key, MHD_HTTP_HEADER_CONTENT_LENGTH) &&
			   (!value || strcmp(value, "0")));
	return MHD_YES;
}

/* ---- the response ---- */

static const struct {
	const char *key, *value;
} http_headers[] = {
	{ MHD_HTTP_HEADER_CONNECTION, "close" }, { MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
	{ "X-Content-Type-Options", "nosniff" }, { "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Referrer-Policy", "no-referrer" },
};

static const char http_policy[] =
	"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* The type, the policy of a page that may do more than be read, and its encoding. */
struct http_kind {
	const char *type, *policy, *encoding;
};

static bool http_add_headers(struct MHD_Response *r, const struct http_kind *kind,
			     unsigned int status)
{
	bool added = MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, kind->type) &&
		     MHD_add_response_header(r, "Content-Security-Policy",
					     kind->policy ? kind->policy : http_policy);

	for (size_t i = 0; i < sizeof(http_headers) / sizeof(http_headers[0]); i++)
		added = added &&
			MHD_add_response_header(r, http_headers[i].key, http_headers[i].value);
	if (kind->encoding)
		added = added && MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING,
							 kind->encoding);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		added = added && MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	return added;
}

/* MHD_NO closes the connection. */
static enum MHD_Result http_respond(struct MHD_Connection *c, struct MHD_Response *r,
				    unsigned int status, const struct http_kind *kind)
{
	enum MHD_Result queued = MHD_NO;

	if (!r)
		return MHD_NO;
	if (http_add_headers(r, kind, status))
		queued = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return queued;
}

static enum MHD_Result http_respond_line(struct MHD_Connection *c, unsigned int status,
					 const char *text)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);

	return http_respond(c, r, status,
			    &(struct http_kind){ "text/plain; charset=utf-8", NULL, NULL });
}

static enum MHD_Result http_respond_page(struct http *http, struct MHD_Connection *c)
{
	const struct http_page *page = &http->options.page;
	struct MHD_Response *r =
		MHD_create_response_from_buffer(page->len, page->text, MHD_RESPMEM_PERSISTENT);

	return http_respond(c, r, MHD_HTTP_OK,
			    &(struct http_kind){ "text/html; charset=utf-8", page->policy, NULL });
}

static enum MHD_Result http_respond_busy(struct MHD_Connection *c)
{
	return http_respond_line(c, MHD_HTTP_SERVICE_UNAVAILABLE, "busy; try again later\n");
}

static enum MHD_Result http_respond_failed(struct MHD_Connection *c, int err)
{
	if (err == -EBUSY)
		return http_respond_busy(c);
	return http_respond_line(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
}

static enum MHD_Result http_respond_made(struct http *http, struct MHD_Connection *c,
					 enum answer_page page, const struct query *query)
{
	const struct http_request request = {
		page,
		accept__format(
			MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT)),
		query,
		accept__zips(MHD_lookup_connection_value(c, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_ACCEPT_ENCODING)),
	};
	struct MHD_Response *r;
	char *text = NULL;
	size_t len = 0;
	int err = http->options.make(http->options.arg, &request, &text, &len);

	if (err)
		return http_respond_failed(c, err);
	r = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
	if (!r)
		free(text);
	return http_respond(c, r, MHD_HTTP_OK,
			    &(struct http_kind){ page == ANSWER_METRICS
							 ? accept__content_type(request.format)
							 : "application/x-ndjson",
						 NULL, request.zips ? "gzip" : NULL });
}

/* ---- events ---- */

static struct http_guest *http_find_guest(struct http *http, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	for (size_t i = 0; info && i < HTTP_CONNECTIONS; i++)
		if (http->guests[i].fd == info->connect_fd)
			return &http->guests[i];
	return NULL;
}

/* Called when the peer has taken what it got: so it has 10 s again. */
static ssize_t http_read_stream(void *arg, uint64_t at, char *buf, size_t size)
{
	struct http_stream *stream = arg;
	struct http *http = stream->http;
	ssize_t len =
		http->ends ? -1 : events__read(http->options.events, &stream->reader, buf, size);

	(void)at;
	stream->guest->until_ns = clock__mono_ns() + http_timeout_ns;
	if (len < 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!len) {
		stream->is_waiting = true;
		MHD_suspend_connection(stream->connection);
	}
	return len;
}

static void http_end_stream(void *arg)
{
	struct http_stream *stream = arg;

	stream->connection = NULL;
	stream->is_waiting = false;
}

static struct http_stream *http_new_stream(struct http *http, struct MHD_Connection *c)
{
	struct http_guest *guest = http_find_guest(http, c);
	const char *last = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Last-Event-ID");

	for (size_t i = 0; guest && i < HTTP_STREAMS; i++) {
		struct http_stream *stream = &http->streams[i];

		if (stream->connection)
			continue;
		*stream = (struct http_stream){
			http, c, guest,
			events__begin(http->options.events, http->options.run, last), false
		};
		return stream;
	}
	return NULL;
}

/* libmicrohttpd ends a body in chunks also if a HEAD has none: as HTTP/1.0 it sends no chunks. */
static enum MHD_Result http_respond_events(struct http *http, struct MHD_Connection *c,
					   const char *method)
{
	struct http_stream *stream = http_new_stream(http, c);
	struct MHD_Response *r;

	if (!stream)
		return http_respond_line(c, MHD_HTTP_SERVICE_UNAVAILABLE,
					 "too many pages watch; try again later\n");
	r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, HTTP_CHUNK_BYTES, http_read_stream,
					      stream, http_end_stream);
	if (!r)
		http_end_stream(stream);
	else
		MHD_add_response_header(r, "X-Accel-Buffering", "no"); /* nginx would keep them */
	if (r && !strcmp(method, MHD_HTTP_METHOD_HEAD))
		MHD_set_response_options(r, MHD_RF_HTTP_VERSION_1_0_ONLY, MHD_RO_END);
	return http_respond(c, r, MHD_HTTP_OK,
			    &(struct http_kind){ "text/event-stream", NULL, NULL });
}

/* ---- a capture ---- */

static ssize_t http_read_download(void *arg, uint64_t at, char *buf, size_t size)
{
	struct http_download *download = arg;
	uint64_t until_ns = clock__mono_ns() + http_timeout_ns;
	size_t len = download->len - at < size ? download->len - (size_t)at : size;

	download->guest->until_ns = until_ns < download->until_ns ? until_ns : download->until_ns;
	memcpy(buf, download->bytes + at, len);
	return (ssize_t)len;
}

static void http_end_download(void *arg)
{
	struct http_download *download = arg;

	free(download->bytes);
	*download = (struct http_download){ NULL, NULL, 0, 0 };
}

static enum MHD_Result http_respond_capture(struct http *http, struct MHD_Connection *c,
					    const struct query *query)
{
	const struct http_request request = { .page = ANSWER_CAPTURE, .query = query };
	struct http_download *download = &http->download;
	struct http_guest *guest = http_find_guest(http, c);
	struct MHD_Response *r;
	int err;

	if (download->bytes || !guest)
		return http_respond_busy(c);
	err = http->options.make(http->options.arg, &request, &download->bytes, &download->len);
	if (err)
		return http_respond_failed(c, err);
	download->guest = guest;
	download->until_ns = clock__mono_ns() + HTTP_DOWNLOAD_S * 1000000000ULL;
	r = MHD_create_response_from_callback(download->len, HTTP_CHUNK_BYTES, http_read_download,
					      download, http_end_download);
	if (!r)
		http_end_download(download);
	else
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_DISPOSITION,
					"attachment; filename=\"iosonar.cap\"");
	return http_respond(c, r, MHD_HTTP_OK,
			    &(struct http_kind){ "application/octet-stream", NULL, NULL });
}

static void http_resume(struct http *http)
{
	for (size_t i = 0; i < HTTP_STREAMS; i++)
		if (http->streams[i].is_waiting) {
			http->streams[i].is_waiting = false;
			MHD_resume_connection(http->streams[i].connection);
		}
}

void http__wake(struct http *http)
{
	http_resume(http);
	http__run(http);
}

/* ---- the answer ---- */

struct http_arguments {
	struct query query;
	enum answer_page page;
};

static enum MHD_Result http_take_argument(void *arg, enum MHD_ValueKind kind, const char *key,
					  const char *value)
{
	struct http_arguments *arguments = arg;

	(void)kind;
	query__add(&arguments->query, arguments->page, key, value);
	return MHD_YES;
}

static enum MHD_Result http_respond_query(struct http *http, struct MHD_Connection *c,
					  enum answer_page page)
{
	struct http_arguments arguments = { query__new(), page };

	if (!http->options.keeps)
		return http_respond_line(c, MHD_HTTP_NOT_FOUND,
					 "no records: serve runs without --keep\n");
	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, http_take_argument, &arguments);
	if (arguments.query.refusal)
		return http_respond_line(c, MHD_HTTP_BAD_REQUEST, arguments.query.refusal);
	if (page == ANSWER_CAPTURE)
		return http_respond_capture(http, c, &arguments.query);
	return http_respond_made(http, c, page, &arguments.query);
}

/* Called when the head is complete. An answer at this point ends the connection: no body is read.
 */
static enum MHD_Result http_answer(void *arg, struct MHD_Connection *c, const char *path,
				   const char *method, const char *version, const char *body,
				   size_t *body_len, void **request)
{
	struct answer_head head = { .method = method, .path = path, .version = version };
	struct http *http = arg;
	struct answer answer;

	(void)body;
	(void)body_len;
	(void)request;
	MHD_get_connection_values(c, MHD_HEADER_KIND, http_count, &head);
	answer = answer__of(&head, &http->options.hosts);
	switch (answer.page) {
	case ANSWER_LINE: return http_respond_line(c, answer.status, answer.text);
	case ANSWER_PAGE: return http_respond_page(http, c);
	case ANSWER_EVENTS: return http_respond_events(http, c, method);
	case ANSWER_COMMANDS:
	case ANSWER_CAPTURE: return http_respond_query(http, c, answer.page);
	default: return http_respond_made(http, c, answer.page, NULL);
	}
}

/* ---- connections ---- */

static void http_greet(struct http *http, int fd)
{
	for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
		if (http->guests[i].fd < 0) {
			http->guests[i] =
				(struct http_guest){ fd, clock__mono_ns() + http_timeout_ns };
			return;
		}
}

static void http_forget(struct http *http, int fd)
{
	for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
		if (http->guests[i].fd == fd)
			http->guests[i].fd = -1;
}

static void http_on_connection(void *arg, struct MHD_Connection *c, void **context,
			       enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	(void)context;
	if (!info)
		return;
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		http_greet(arg, info->connect_fd);
	else
		http_forget(arg, info->connect_fd);
}

/* The end of the connection is an event for libmicrohttpd, which then closes it. */
static void http_dismiss_slow(struct http *http)
{
	uint64_t now_ns = clock__mono_ns();

	for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
		if (http->guests[i].fd >= 0 && now_ns >= http->guests[i].until_ns)
			shutdown(http->guests[i].fd, SHUT_RDWR);
}

/* ---- the server ---- */

/* A path is compared as it was sent: %2f is not a slash, %00 ends nothing. */
static size_t http_unescape(void *arg, struct MHD_Connection *c, char *text)
{
	(void)arg;
	(void)c;
	return strlen(text);
}

__attribute__((format(printf, 2, 0))) static void http_log(void *arg, const char *format,
							   va_list args)
{
	char line[256];

	(void)arg;
	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\n")] = 0;
	log_verbose("libmicrohttpd: %s", line);
}

int http__new(struct http **out, const struct http_options *options)
{
	struct http *http = calloc(1, sizeof(*http));

	*out = http;
	if (!http)
		return log_no_memory();
	http->options = *options;
	for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
		http->guests[i].fd = -1;
	http->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
		http_answer, http, MHD_OPTION_EXTERNAL_LOGGER, http_log, NULL,
		MHD_OPTION_LISTEN_SOCKET, options->fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)HTTP_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HTTP_MEMORY_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)HTTP_TIMEOUT_S, MHD_OPTION_NOTIFY_CONNECTION, http_on_connection,
		http, MHD_OPTION_UNESCAPE_CALLBACK, http_unescape, NULL, MHD_OPTION_END);
	if (http->daemon)
		return 0;
	free(http);
	*out = NULL;
	return log_err(-EIO, "libmicrohttpd cannot start");
}

void http__free(struct http *http)
{
	if (!http)
		return;
	http->ends = true;
	http_resume(http); /* it must not stop while some are suspended */
	MHD_stop_daemon(http->daemon);
	free(http);
}

int http__fd(const struct http *http)
{
	return MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

/* Work that it postponed makes no descriptor readable: a time-out of 0 tells. */
int http__run(void *arg)
{
	struct http *http = arg;
	MHD_UNSIGNED_LONG_LONG wait_ms = 0;

	http_dismiss_slow(http);
	for (int i = 0; i < HTTP_ROUNDS; i++) {
		MHD_run(http->daemon);
		if (MHD_get_timeout(http->daemon, &wait_ms) != MHD_YES || wait_ms)
			break;
	}
	return 0;
}

#else

bool http__is_built_in(void)
{
	return false;
}

int http__check(void)
{
	return log_err(-EOPNOTSUPP,
		       "serve: this iosonar was built without libmicrohttpd; build it where "
		       "libmicrohttpd-dev is installed");
}

int http__new(struct http **http, const struct http_options *options)
{
	*http = NULL;
	(void)options;
	return http__check();
}

void http__free(struct http *http)
{
	(void)http;
}

int http__fd(const struct http *http)
{
	(void)http;
	return -1;
}

int http__run(void *http)
{
	(void)http;
	return 0;
}

void http__wake(struct http *http)
{
	(void)http;
}

#endif
