/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/accept.h"

#include <string.h>
#include <strings.h>

/* A part of the header: a media type or one of its parameters. */
struct accept_part {
	const char *text;
	size_t len;
};

/* The part up to a separator, without spaces around it; *at moves behind the separator. */
static struct accept_part accept_next(const char **at, const char *separators)
{
	struct accept_part part = { *at + strspn(*at, " \t") };
	const char *end = part.text + strcspn(part.text, separators);

	*at = end;
	while (end > part.text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	part.len = (size_t)(end - part.text);
	return part;
}

static bool accept_part_is(struct accept_part part, const char *text)
{
	return part.len == strlen(text) && !strncasecmp(part.text, text, part.len);
}

static bool accept_part_begins(struct accept_part part, const char *text)
{
	return part.len >= strlen(text) && !strncasecmp(part.text, text, strlen(text));
}

/* "0", "0.75", "1.000" in thousandths; what is not a weight is 0: not wanted. */
static unsigned int accept_weight(struct accept_part part)
{
	unsigned int weight, unit = 100;

	if (part.len < 3 || part.len > 7 || (part.text[2] != '0' && part.text[2] != '1'))
		return 0;
	weight = part.text[2] == '1' ? 1000 : 0;
	if (part.len > 3 && part.text[3] != '.')
		return 0;
	for (size_t i = 4; i < part.len; i++, unit /= 10) {
		if (part.text[i] < '0' || part.text[i] > '9')
			return 0;
		weight += (unsigned int)(part.text[i] - '0') * unit;
	}
	return weight <= 1000 ? weight : 0;
}

/* The weight of one media range. is_1_0: its version, if it has one, is OpenMetrics 1.0. */
static unsigned int accept_parameters(const char **at, bool *is_1_0)
{
	unsigned int weight = 1000;

	*is_1_0 = true;
	while (**at == ';') {
		struct accept_part part;

		(*at)++;
		part = accept_next(at, ",;");
		if (accept_part_begins(part, "q="))
			weight = accept_weight(part);
		else if (accept_part_begins(part, "version="))
			*is_1_0 = accept_part_is(part, "version=1.0.0");
	}
	return weight;
}

enum openmetrics_format accept__format(const char *accept)
{
	unsigned int open = 0, plain = 0;

	while (accept && *accept) {
		struct accept_part type = accept_next(&accept, ",;");
		bool is_1_0;
		unsigned int weight = accept_parameters(&accept, &is_1_0);

		if (accept_part_is(type, "application/openmetrics-text") && is_1_0 && weight > open)
			open = weight;
		else if (accept_part_is(type, "text/plain") && weight > plain)
			plain = weight;
		accept += *accept == ',';
	}
	return open && open >= plain ? OPENMETRICS_1_0 : OPENMETRICS_TEXT_0_0_4;
}

/* The first one that names it decides. "*" does not name it: who wants it, says so. */
bool accept__zips(const char *encoding)
{
	while (encoding && *encoding) {
		struct accept_part coding = accept_next(&encoding, ",;");
		bool is_1_0;
		unsigned int weight = accept_parameters(&encoding, &is_1_0);

		if (accept_part_is(coding, "gzip"))
			return weight;
		encoding += *encoding == ',';
	}
	return false;
}

const char *accept__content_type(enum openmetrics_format format)
{
	return format == OPENMETRICS_1_0
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}
