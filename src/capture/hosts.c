/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *hosts_info(const struct capture_reader *reader, const char *key)
{
	const char *text = capture_about__info(capture_reader__about(reader), key);

	return text && *text ? text : "?";
}

static bool hosts_span(const struct capture_reader *reader, uint64_t *from_ns, uint64_t *to_ns)
{
	const struct capture_about *about = capture_reader__about(reader);

	if (!about->nr_clocks || !capture_reader__run(reader, from_ns, to_ns))
		return false;
	*from_ns = capture_about__wall_ns(about, *from_ns);
	*to_ns = capture_about__wall_ns(about, *to_ns);
	return true;
}

/* No machine runs twice at the same time. */
static bool hosts_run_at_once(const struct capture_reader *a, const struct capture_reader *b)
{
	uint64_t from[2], to[2];

	return hosts_span(a, &from[0], &to[0]) && hosts_span(b, &from[1], &to[1]) &&
	       from[0] < to[1] && from[1] < to[0];
}

static bool hosts_is_same(const struct capture_reader *a, const struct capture_reader *b)
{
	if (strcmp(hosts_info(a, CAPTURE_INFO_HOST), hosts_info(b, CAPTURE_INFO_HOST)))
		return false;
	return !strcmp(hosts_info(a, CAPTURE_INFO_BOOT_ID), hosts_info(b, CAPTURE_INFO_BOOT_ID)) ||
	       !hosts_run_at_once(a, b);
}

static void hosts_add(struct capture_hosts *hosts, const char *name, size_t nth)
{
	char *label = hosts->hosts[hosts->nr++].label;

	if (nth > 1)
		snprintf(label, CAPTURE_HOST, "%.255s#%zu", name, nth);
	else
		snprintf(label, CAPTURE_HOST, "%.255s", name);
}

/* The number of a capture's host, which may be a new one. */
static uint16_t hosts_number(struct capture_hosts *hosts, struct capture_reader *const *readers,
			     size_t nr)
{
	const char *name = hosts_info(readers[nr], CAPTURE_INFO_HOST);
	uint16_t last = 0;
	size_t nth = 1;

	for (size_t i = 0; i < nr; i++) {
		if (hosts_is_same(readers[i], readers[nr]))
			return hosts->of[i];
		if (strcmp(hosts_info(readers[i], CAPTURE_INFO_HOST), name))
			continue;
		if (nth == 1 || hosts->of[i] > last)
			nth++;
		last = hosts->of[i];
	}
	hosts_add(hosts, name, nth);
	return (uint16_t)(hosts->nr - 1);
}

int capture_hosts__find(struct capture_hosts *hosts, struct capture_reader *const *readers,
			size_t nr)
{
	*hosts = (struct capture_hosts){
		.hosts = calloc(nr + 1, sizeof(*hosts->hosts)),
		.of = calloc(nr + 1, sizeof(*hosts->of)),
	};
	if (!hosts->hosts || !hosts->of) {
		capture_hosts__free(hosts);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++)
		hosts->of[i] = hosts_number(hosts, readers, i);
	return 0;
}

void capture_hosts__free(struct capture_hosts *hosts)
{
	free(hosts->hosts);
	free(hosts->of);
	*hosts = (struct capture_hosts){ 0 };
}

void capture_hosts__alias(struct capture_hosts *hosts, const struct alias *alias)
{
	char name[ALIAS_NAME];

	for (size_t i = 0; i < hosts->nr; i++)
		snprintf(hosts->hosts[i].label, CAPTURE_HOST, "%s",
			 alias__name(alias, ALIAS_HOST, hosts->hosts[i].label, name));
}
