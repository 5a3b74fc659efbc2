/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/content.h"

#include <errno.h>
#include <stdlib.h>
#include "base/clock.h"
#include "capture/bytes.h"
#include "serve/commands.h"
#include "serve/gzip.h"
#include "session/recorder.h"

static const uint64_t content_long_ns = 5000000; /* what takes longer must not come at once again */

static int content_write(struct content *c, const struct http_request *request, FILE *out)
{
	int err;

	if (request->page == ANSWER_METRICS)
		return reading__write_metrics(c->reading, request->format, out);
	if (request->page == ANSWER_DEVICES)
		return interval__put_devices(c->reading, out);
	if (request->page == ANSWER_COMMANDS)
		return commands__put(c->session, request->query, out);
	err = reading__take(c->reading);
	if (err)
		return err;
	if (request->page == ANSWER_LEDGER)
		return interval__put_ledger(c->reading, out);
	return interval__put_latency(c->interval, c->reading, clock__mono_ns(), out);
}

static int content_make_zipped(struct content *c, const struct http_request *request, char **bytes,
			       size_t *len)
{
	FILE *out;
	struct gzip *gzip = gzip__new(&out);
	int err, zip_err;

	if (!gzip)
		return -ENOMEM;
	err = content_write(c, request, out);
	zip_err = gzip__end(gzip, bytes, len);
	if (err && !zip_err) {
		free(*bytes);
		*bytes = NULL;
	}
	return err ?: zip_err;
}

static int content_make_plain(struct content *c, const struct http_request *request, char **text,
			      size_t *len)
{
	FILE *out = open_memstream(text, len);
	int err;

	if (!out)
		return -ENOMEM;
	err = content_write(c, request, out);
	if (fclose(out))
		err = -ENOMEM;
	if (err) {
		free(*text);
		*text = NULL;
	}
	return err;
}

static int content_make_text(struct content *c, const struct http_request *request, char **text,
			     size_t *len)
{
	return request->zips ? content_make_zipped(c, request, text, len)
			     : content_make_plain(c, request, text, len);
}

static int content_make_capture(struct content *c, uint64_t from_ns, char **bytes, size_t *len)
{
	struct byte_out out = { 0 };
	int err = recorder__copy(session__recorder(c->session), from_ns, "asked for", &out);

	if (err) {
		byte_out__free(&out);
		return err;
	}
	*bytes = (char *)out.bytes;
	*len = out.len;
	return 0;
}

/* Of records: rings are not emptied meanwhile, so nobody can have it done again and again. */
static int content_make_long(struct content *c, const struct http_request *request, char **text,
			     size_t *len)
{
	const uint64_t begin_ns = clock__mono_ns(), last_ns = request->query->ns[QUERY_LAST];
	uint64_t took_ns;
	int err;

	if (begin_ns < c->rests_until_ns)
		return -EBUSY;
	if (request->page == ANSWER_CAPTURE)
		err = content_make_capture(c, last_ns < begin_ns ? begin_ns - last_ns : 0, text,
					   len);
	else
		err = content_make_text(c, request, text, len);
	took_ns = clock__mono_ns() - begin_ns;
	if (took_ns > content_long_ns)
		c->rests_until_ns = begin_ns + 10 * took_ns;
	return err;
}

int content__make(void *arg, const struct http_request *request, char **text, size_t *len)
{
	return request->query ? content_make_long(arg, request, text, len)
			      : content_make_text(arg, request, text, len);
}
