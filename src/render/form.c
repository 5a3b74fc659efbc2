/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * form.c: which booleans, arrays and objects does JSON make of a text that joins them, and what
 * does the schema say of those? Elements are hostile text, each escaped by itself. Only a column
 * with a form pays for it.
 */
#define _GNU_SOURCE 1 /* memrchr */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "render/form.h"

const struct form form_truth = { FORM_TRUTH };
const struct form form_list = { FORM_TEXTS, .separator = ";" };

struct form_span {
	const char *from, *to;
};

/* Takes the next element off the rest; the last one leaves from NULL. */
static struct form_span form_next(struct form_span *rest, const char *separator)
{
	const char *end = strstr(rest->from, separator);
	const struct form_span element = { rest->from, end ? end : rest->to };

	rest->from = end ? end + strlen(separator) : NULL;
	return element;
}

static bool form_number(struct form_span span, uint64_t *number)
{
	const bool is_hex = span.to - span.from > 2 && !strncmp(span.from, "0x", 2);
	char *end;

	if (span.from == span.to || !isdigit((unsigned char)*span.from))
		return false;
	*number = strtoull(span.from, &end, is_hex ? 16 : 10);
	return end == span.to;
}

static const char *form_last(struct form_span span, char c)
{
	return memrchr(span.from, c, (size_t)(span.to - span.from));
}

static void form_put_text(FILE *out, struct form_span span)
{
	text__put_json_escaped(out, span.from, (size_t)(span.to - span.from));
}

/* "Q2G=1200" */
static void form_put_pair(FILE *out, struct form_span element)
{
	const char *equals = form_last(element, '=');
	const struct form_span name = { element.from, equals ? equals : element.to };
	uint64_t number;

	form_put_text(out, name);
	if (equals && form_number((struct form_span){ equals + 1, element.to }, &number))
		fprintf(out, ":%" PRIu64, number);
	else
		fputs(":null", out);
}

static size_t form_nr_parts(const struct form *form)
{
	size_t nr = 0;

	while (nr < FORM_PARTS && form->parts[nr].key)
		nr++;
	return nr;
}

/* False: it is something else, e.g. "..." for more elements. */
static bool form_take_apart(const struct form *form, size_t nr, struct form_span element,
			    struct form_span parts[FORM_PARTS])
{
	uint64_t number;

	for (size_t i = 0; i < nr; i++) {
		const char *end = i + 1 < nr ? form_last(element, form->parts[i].end) : element.to;

		if (!end)
			return false;
		parts[i] = (struct form_span){ element.from, end };
		if (!form->parts[i].is_text && !form_number(parts[i], &number))
			return false;
		element.from = end + 1;
	}
	return true;
}

static void form_put_object(FILE *out, const struct form *form, struct form_span element)
{
	const size_t nr = form_nr_parts(form);
	struct form_span parts[FORM_PARTS];
	uint64_t number = 0;

	if (!form_take_apart(form, nr, element, parts)) {
		fputs("null", out);
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? "," : "{", out);
		text__put_json(out, form->parts[i].key);
		fputc(':', out);
		if (form->parts[i].is_text)
			form_put_text(out, parts[i]);
		else if (form_number(parts[i], &number))
			fprintf(out, "%" PRIu64, number);
	}
	fputc('}', out);
}

static void form_put_element(FILE *out, const struct form *form, struct form_span element)
{
	if (form->kind == FORM_TEXTS)
		form_put_text(out, element);
	else if (form->kind == FORM_NUMBERS)
		form_put_pair(out, element);
	else
		form_put_object(out, form, element);
}

void form__put(FILE *out, const struct form *form, const char *text)
{
	struct form_span rest = { *text ? text : NULL, text + strlen(text) };
	const char *gap = "";

	if (form->kind == FORM_TRUTH) {
		fputs(strcmp(text, "yes") ? "false" : "true", out);
		return;
	}
	fputc(form->kind == FORM_NUMBERS ? '{' : '[', out);
	for (; rest.from; gap = ",") {
		fputs(gap, out);
		form_put_element(out, form, form_next(&rest, form->separator));
	}
	fputc(form->kind == FORM_NUMBERS ? '}' : ']', out);
}

/* ---- the schema ---- */

static void form_put_parts_schema(FILE *out, const struct form *form)
{
	const size_t nr = form_nr_parts(form);

	for (size_t i = 0; i < nr; i++) {
		fputs(i ? "," : "", out);
		text__put_json(out, form->parts[i].key);
		fputs(form->parts[i].is_text ? ":{\"type\":\"string\"}"
					     : ":{\"type\":\"integer\",\"minimum\":0}",
		      out);
	}
}

void form__put_schema(FILE *out, const struct form *form)
{
	switch (form->kind) {
	case FORM_TRUTH: fputs("[\"boolean\",\"null\"]", out); break;
	case FORM_TEXTS: fputs("[\"array\",\"null\"],\"items\":{\"type\":\"string\"}", out); break;
	case FORM_NUMBERS:
		fputs("[\"object\",\"null\"],\"additionalProperties\":{\"type\":\"integer\","
		      "\"minimum\":0}",
		      out);
		break;
	case FORM_OBJECTS:
		fputs("[\"array\",\"null\"],\"items\":{\"type\":[\"object\",\"null\"],"
		      "\"properties\":{",
		      out);
		form_put_parts_schema(out, form);
		fputs("}}", out);
		break;
	}
}
