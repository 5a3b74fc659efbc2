/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/host_source.h"

#include <errno.h>
#include <stdio.h>
#include "base/log.h"
#include "capture/clock_step.h"
#include "capture/merge.h"
#include "session/source.h"

static const struct capture_merge *host_captures(const struct session *s)
{
	return s->inside->source->captures ? s->inside->source->captures(s) : NULL;
}

bool host_source__are_several(const struct session *s)
{
	const struct capture_merge *merge = host_captures(s);

	return merge && capture_merge__hosts(merge)->nr > 1;
}

uint16_t host_source__here(const struct session *s)
{
	const struct capture_merge *merge = host_captures(s);

	if (!merge)
		return 0;
	return (uint16_t)(capture_merge__hosts(merge)->of[s->inside->source->from(s)] + 1);
}

uint16_t host_source__of(const struct session *s, size_t capture)
{
	if (!host_source__are_several(s))
		return 0;
	return (uint16_t)(capture_merge__hosts(host_captures(s))->of[capture] + 1);
}

const char *host_source__label(const struct session *s, uint16_t number)
{
	const struct capture_merge *merge = host_captures(s);
	const struct capture_hosts *hosts = merge ? capture_merge__hosts(merge) : NULL;

	return hosts && number && number <= hosts->nr ? hosts->hosts[number - 1].label : NULL;
}

char *host_source__disk(const struct session *s, uint16_t host, uint32_t dev, char *buf,
			size_t size)
{
	const char *label = host_source__are_several(s) ? host_source__label(s, host) : NULL;
	char name[64];

	if (!label)
		return session__disk(s, dev, buf, size);
	snprintf(buf, size, "%s:%s", label, session__disk(s, dev, name, sizeof(name)));
	return buf;
}

int host_source__check(const struct options *options, bool is_asked)
{
	if (!is_asked || options->file.read.nr)
		return 0;
	return log_err(-EINVAL, "--by host requires captures: -r FILE");
}

void host_source_tell_steps(const struct capture_merge *merge)
{
	for (size_t i = 0; capture_merge__hosts(merge)->nr > 1 && i < capture_merge__nr(merge);
	     i++) {
		const struct capture_reader *reader = capture_merge__reader(merge, i);

		capture_clock_step__tell(capture_reader__about(reader),
					 capture_reader__label(reader));
	}
}
