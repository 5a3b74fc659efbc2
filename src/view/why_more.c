/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/why_more.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "capture/hosts.h"
#include "session/host_source.h"
#include "view/records.h"

/* What a shell would change is quoted; a quote in it, escaped. */
static void more_put(FILE *out, const char *option, const char *value)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,-";

	fprintf(out, " %s ", option);
	if (*value && strspn(value, plain) == strlen(value)) {
		fputs(value, out);
		return;
	}
	fputc('\'', out);
	for (; *value; value++)
		fputs(*value == '\'' ? "'\\''" : (char[]){ *value, 0 }, out);
	fputc('\'', out);
}

/* Its files are not of this machine alone. */
static void more_put_host(FILE *out, const char *label)
{
	char condition[CAPTURE_HOST + 32];

	snprintf(condition, sizeof(condition),
		 strchr(label, '"') ? "host == '%s'" : "host == \"%s\"", label);
	more_put(out, "--if", condition);
}

/* What the rule wants to be shown, of the tasks that were asked about. */
static void more_put_whose(FILE *out, const struct why_view *v, const struct why_finding *f)
{
	const struct filter_options *asked = &v->whose.asked;
	const bool is_blame = !strcmp(f->more, "blame");

	if (is_blame && asked->pid.given) {
		fprintf(out, " --by comm,pid,op --victim %" PRIu64, asked->pid.value);
		return;
	}
	fputs(f->more_args, out);
	if (is_blame)
		return;
	if (asked->pid.given)
		fprintf(out, " -p %" PRIu64, asked->pid.value);
	if (asked->comm)
		more_put(out, "--comm", asked->comm);
	if (asked->cgroup)
		more_put(out, "--cgroup", asked->cgroup);
}

/* The span is that of all captures: a command that gets only some of them would shift it. */
static void more_put_source(FILE *out, const struct session *s, int32_t device)
{
	const struct file_options *file = &s->options->file;
	const bool live = !file->read.nr;

	for (size_t i = 0; i < file->read.nr; i++)
		more_put(out, "-r", file->read.words[i]);
	if (live || file->read.nr > 1 || host_source__are_several(s) ||
	    s->options->filter.devices.nr)
		more_put(out, "-d", records__device_name(s, device));
	if (live)
		fputs(" -t 10s", out);
	if (file->from_ns.given)
		fprintf(out, " --from %" PRIu64 "ns", file->from_ns.value);
	if (file->to_ns.given)
		fprintf(out, " --to %" PRIu64 "ns", file->to_ns.value);
}

static void more_put_line(FILE *out, const struct why_view *v, const struct session *s,
			  const struct why_finding *f)
{
	const uint16_t host = records__host_number(s, f->device);
	const char *path;
	size_t nr = 0;

	fprintf(out, "iosonar %s", f->more);
	for (; (path = why_beside__path(&v->beside, f->more, host, nr)); nr++)
		more_put(out, "-r", path);
	if (nr) { /* it takes only such captures */
		fputs(f->more_args, out);
		if (why_beside__is_shared(&v->beside, f->more, host))
			more_put_host(out, host_source__label(s, host));
		return;
	}
	more_put_source(out, s, f->device);
	more_put_whose(out, v, f);
}

char *why_more__line(const struct why_view *v, const struct session *s, const struct why_finding *f)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed;

	if (!out)
		return NULL;
	more_put_line(out, v, s, f);
	failed = ferror(out);
	if (!fclose(out) && !failed)
		return text;
	free(text);
	return NULL;
}
