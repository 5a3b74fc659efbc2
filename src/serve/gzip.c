/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* fopencookie */
#include "serve/gzip.h"

#include <errno.h>
#include <zlib.h>
#include "capture/bytes.h"

/* Lines are much alike: higher levels take four times as long for 1 % less. */
enum {
	GZIP_LEVEL = 1,
	GZIP_WINDOW = 15 + 16, /* 32 KiB; 16: with the head and end of gzip */
	GZIP_MEMORY = 5,       /* of tables: a fifth less time than with 8 */
	GZIP_STEP_BYTES = 65536,
};

struct gzip {
	z_stream stream;
	struct byte_out out;
	FILE *file;
	char text[GZIP_STEP_BYTES]; /* the file's buffer */
};

/* Until all input is taken, and with Z_FINISH until the end is written. */
static int gzip_run(struct gzip *gzip, int flush)
{
	z_stream *z = &gzip->stream;

	do {
		uint8_t *at = byte_out__room(&gzip->out, GZIP_STEP_BYTES);

		if (!at)
			return -ENOMEM;
		z->next_out = at;
		z->avail_out = GZIP_STEP_BYTES;
		deflate(z, flush);
		gzip->out.len += GZIP_STEP_BYTES - z->avail_out;
	} while (!z->avail_out);
	return 0;
}

static ssize_t gzip_write(void *arg, const char *text, size_t len)
{
	struct gzip *gzip = arg;

	gzip->stream.next_in = (Bytef *)text;
	gzip->stream.avail_in = (uInt)len;
	return gzip_run(gzip, Z_NO_FLUSH) ? 0 : (ssize_t)len; /* 0: an error */
}

static struct gzip *gzip_free(struct gzip *gzip)
{
	if (gzip->file)
		fclose(gzip->file);
	deflateEnd(&gzip->stream);
	byte_out__free(&gzip->out);
	free(gzip);
	return NULL;
}

struct gzip *gzip__new(FILE **out)
{
	struct gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return NULL;
	if (deflateInit2(&gzip->stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return gzip_free(gzip);
	gzip->file = fopencookie(gzip, "w", (cookie_io_functions_t){ .write = gzip_write });
	if (!gzip->file)
		return gzip_free(gzip);
	setvbuf(gzip->file, gzip->text, _IOFBF, sizeof(gzip->text));
	*out = gzip->file;
	return gzip;
}

int gzip__end(struct gzip *gzip, char **bytes, size_t *len)
{
	int err = fclose(gzip->file) ? -ENOMEM : 0;

	gzip->file = NULL;
	err = err ?: gzip_run(gzip, Z_FINISH);
	if (!err) {
		*bytes = (char *)gzip->out.bytes;
		*len = gzip->out.len;
		gzip->out.bytes = NULL;
	}
	gzip_free(gzip);
	return err;
}
