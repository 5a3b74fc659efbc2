/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "capture/ring_file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"
#include "capture/read.h"
#include "capture/sha256.h"

enum { RING_DIGITS = 6 }; /* at least */

static const char ring_end[] = ".cap", ring_part[] = ".part";

/* ---- names ---- */

static void ring_put_name(char *to, const char *text)
{
	size_t i = 0;

	for (; text && text[i] && i < RING_HOST - 1; i++)
		to[i] = isalnum((unsigned char)text[i]) || strchr("-_.", text[i]) ? text[i] : '_';
	to[i] = 0;
	if (!i || to[0] == '.')
		to[0] = '_';
	to[i ? i : 1] = 0;
}

char *ring_name__stem(char buf[RING_NAME], const char *host, const char *boot_id)
{
	char as[2][RING_HOST];

	ring_put_name(as[0], host);
	ring_put_name(as[1], boot_id);
	snprintf(buf, RING_NAME, "%s.%s", as[0], as[1]);
	return buf;
}

char *ring_name__make(char buf[RING_NAME], const char *stem, uint32_t number)
{
	snprintf(buf, RING_NAME, "%.160s.%0*" PRIu32 "%s", stem, RING_DIGITS, number, ring_end);
	return buf;
}

char *ring_name__temporary(char buf[RING_NAME], const char *stem, uint32_t number)
{
	snprintf(buf, RING_NAME, ".%.160s.%0*" PRIu32 "%s%s", stem, RING_DIGITS, number, ring_end,
		 ring_part);
	return buf;
}

/* The number before `end`, and the stem before it. */
static uint32_t ring_parse(const char *name, size_t len, char *stem)
{
	size_t digits = 0;

	while (digits < len && isdigit((unsigned char)name[len - digits - 1]))
		digits++;
	if (digits < RING_DIGITS || digits > 9 || len < digits + 4 ||
	    name[len - digits - 1] != '.' || len - digits > RING_NAME - 32)
		return 0;
	if (!memchr(name, '.', len - digits - 1))
		return 0;
	if (stem)
		snprintf(stem, RING_NAME, "%.*s", (int)(len - digits - 1), name);
	return (uint32_t)strtoul(name + len - digits, NULL, 10);
}

/* Without `end`; 0: it does not end so. */
static size_t ring_without(const char *name, size_t len, const char *end)
{
	size_t nr = strlen(end);

	return len > nr && !memcmp(name + len - nr, end, nr) ? len - nr : 0;
}

uint32_t ring_name__number(const char *name, char *stem)
{
	size_t len = ring_without(name, strlen(name), ring_end);

	return len && name[0] != '.' ? ring_parse(name, len, stem) : 0;
}

uint32_t ring_name__temporary_number(const char *name, char *stem)
{
	size_t len = name[0] == '.' ? ring_without(name + 1, strlen(name + 1), ring_part) : 0;

	len = len ? ring_without(name + 1, len, ring_end) : 0;
	return len ? ring_parse(name + 1, len, stem) : 0;
}

/* ---- the manifest ---- */

static int ring_sum(int fd, char text[SHA256_TEXT])
{
	enum { SOME = 1 << 16 };
	uint8_t *bytes = malloc(SOME);
	struct sha256 sum;
	off_t at = 0;
	ssize_t got = 0;

	if (!bytes)
		return -ENOMEM;
	sha256__begin(&sum);
	while ((got = pread(fd, bytes, SOME, at)) > 0) {
		sha256__add(&sum, bytes, (size_t)got);
		at += got;
	}
	free(bytes);
	sha256__end(&sum, text);
	return got ? -EIO : 0;
}

static void ring_put_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\"%s\":", key);
	if (text)
		text__put_json_escaped(out, text, strlen(text));
	else
		fputs("null", out);
}

static uint64_t ring_lost(const struct capture_trailer *trailer)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < trailer->lost.nr; i++)
		lost += trailer->lost.counts[i].value;
	return lost;
}

static void ring_put_line(FILE *out, const char *name, const struct capture_reader *reader,
			  const char *sum)
{
	const struct capture_about *about = capture_reader__about(reader);
	uint64_t min_ns = 0, max_ns = 0;
	bool spans = capture_reader__span(reader, &min_ns, &max_ns);

	fputs("{\"file\":", out);
	text__put_json_escaped(out, name, strlen(name));
	ring_put_text(out, "host", capture_about__info(about, CAPTURE_INFO_HOST));
	ring_put_text(out, "boot_id", capture_about__info(about, CAPTURE_INFO_BOOT_ID));
	ring_put_text(out, "capture_id", capture_about__info(about, CAPTURE_INFO_ID));
	fprintf(out, ",\"number\":%" PRIu32, ring_name__number(name, NULL));
	fprintf(out, ",\"begin_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64,
		spans ? capture_about__wall_ns(about, min_ns) : 0,
		spans ? capture_about__wall_ns(about, max_ns) : 0);
	fprintf(out, ",\"records\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"bytes\":%" PRIu64,
		capture_reader__nr_records(reader), ring_lost(&about->trailer),
		capture_reader__bytes(reader));
	ring_put_text(out, "ended", about->trailer.ended);
	fprintf(out, ",\"sha256\":\"%s\"}", sum);
}

static char *ring_line(const char *name, const struct capture_reader *reader, const char *sum)
{
	char *line = NULL;
	size_t len;
	FILE *out = open_memstream(&line, &len);

	if (!out)
		return NULL;
	ring_put_line(out, name, reader, sum);
	if (!fclose(out))
		return line;
	free(line);
	return NULL;
}

char *ring_file__line(int fd, const char *name, uint64_t *bytes, int *err)
{
	struct capture_reader *reader = NULL;
	char sum[SHA256_TEXT], *line = NULL;

	*err = ring_sum(fd, sum);
	if (*err) {
		close(fd);
		return NULL;
	}
	*err = capture_reader__open_fd(fd, &reader);
	if (!*err && !capture_damage__is_whole(capture_reader__damage(reader)))
		*err = -EBADMSG;
	if (!*err) {
		*bytes = capture_reader__bytes(reader);
		line = ring_line(name, reader, sum);
		*err = line ? 0 : -ENOMEM;
	} else if (*err == -EINVAL || *err == -EPROTONOSUPPORT) {
		*err = -EBADMSG;
	}
	capture_reader__free(reader);
	return line;
}
