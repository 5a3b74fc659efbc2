/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

const char doctor_ok[] = "ok", doctor_partly[] = "partly", doctor_no[] = "no",
	   doctor_spare[] = "spare", doctor_unknown[] = "unknown", doctor_info[] = "info";

struct finding *doctor_report__add(struct doctor_report *report, const char *section,
				   const char *state)
{
	static struct finding lost;
	struct finding *f = &lost;

	if (GROW_BY_ONE(report->findings, report->nr))
		report->incomplete = true;
	else
		f = &report->findings[report->nr++];
	memset(f, 0, sizeof(*f));
	f->section = section;
	f->state = state;
	f->queues = f->depth = f->bytes = UINT64_MAX;
	return f;
}

void finding__say(struct finding *f, const char *item, const char *format, ...)
{
	va_list args;

	snprintf(f->item, sizeof(f->item), "%s", item);
	va_start(args, format);
	vsnprintf(f->why, sizeof(f->why), format, args);
	va_end(args);
}

void doctor_report__free(struct doctor_report *report)
{
	free(report->findings);
	report->findings = NULL;
	report->nr = 0;
}
