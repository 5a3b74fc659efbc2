/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/log.h"
#include "base/text.h"
#include "capture/about.h"

/* Words that the kernel separates by NULs, with spaces. */
static char *origin_command_line(char *buf, size_t size)
{
	FILE *in = fopen("/proc/self/cmdline", "re");
	size_t len = in ? fread(buf, 1, size - 1, in) : 0;

	if (in)
		fclose(in);
	while (len && !buf[len - 1])
		len--;
	buf[len] = 0;
	for (size_t i = 0; i < len; i++)
		if (!buf[i])
			buf[i] = ' ';
	return buf;
}

/* ---- the name of the machine ---- */

bool origin__is_name(const char *host)
{
	return host && *host && strlen(host) < ORIGIN_HOST;
}

/* The kernel gives its first UTS namespace this number (PROC_UTS_INIT_INO). */
static bool origin_is_first(const char *namespace)
{
	char to[32];
	ssize_t len = readlink(namespace, to, sizeof(to) - 1);

	to[len < 0 ? 0 : len] = 0;
	return !strcmp(to, "uts:[4026531838]");
}

/* In a container: where another name than its own can be found. */
static const char *origin_node(char buf[ORIGIN_HOST])
{
	const char *told = getenv("NODE_NAME");

	if (origin__is_name(told))
		return told;
	if (origin_is_first("/proc/1/ns/uts") &&
	    text__read_line("/proc/1/root/etc/hostname", buf, ORIGIN_HOST) && *buf)
		return buf;
	return NULL;
}

static bool origin_is_contained(void)
{
	return !access("/proc/self/ns/uts", F_OK) && !origin_is_first("/proc/self/ns/uts");
}

void origin__init(struct origin *origin, const char *host)
{
	char buf[ORIGIN_HOST];

	if (uname(&origin->host))
		memset(&origin->host, 0, sizeof(origin->host));
	if (!host && origin_is_contained()) {
		host = origin_node(buf);
		if (!host)
			log_note_once("the capture names the host %s, as this container is called; "
				      "--host NAME names another",
				      origin->host.nodename);
	}
	snprintf(origin->name, sizeof(origin->name), "%s", host ? host : origin->host.nodename);
	text__read_line("/proc/sys/kernel/random/uuid", origin->id, sizeof(origin->id));
}

/* ---- what a capture says ---- */

/* Files of one boot still belong together. */
void origin__names(const struct origin *origin, const struct alias *alias,
		   struct origin_names *names)
{
	char as[ALIAS_NAME];

	snprintf(names->host, sizeof(names->host), "%s", origin->name);
	text__read_line("/proc/sys/kernel/random/boot_id", names->boot_id, sizeof(names->boot_id));
	if (!alias)
		return;
	snprintf(names->host, sizeof(names->host), "%s",
		 alias__name(alias, ALIAS_HOST, names->host, as));
	snprintf(names->boot_id, sizeof(names->boot_id), "%s",
		 alias__name(alias, ALIAS_HOST, names->boot_id, as));
}

int origin__put(const struct origin *origin, struct capture_writer *writer,
		const struct alias *alias)
{
	const struct utsname *host = &origin->host;
	char clock[64], zone[16] = "", command[4096];
	struct origin_names names;
	time_t now = time(NULL);
	struct tm tm;

	origin__names(origin, alias, &names);
	text__read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", clock,
			sizeof(clock));
	if (localtime_r(&now, &tm))
		strftime(zone, sizeof(zone), "%z", &tm);
	struct capture_info info[] = {
		{ CAPTURE_INFO_VERSION, VERSION },
		{ CAPTURE_INFO_KERNEL, host->release },
		{ CAPTURE_INFO_MACHINE, host->machine },
		{ CAPTURE_INFO_HOST, names.host },
		/* The command line may contain any name. */
		{ CAPTURE_INFO_COMMAND,
		  alias ? "iosonar --anonymous" : origin_command_line(command, sizeof(command)) },
		{ CAPTURE_INFO_BOOT_ID, names.boot_id },
		{ CAPTURE_INFO_ID, origin->id },
		{ CAPTURE_INFO_TIMEZONE, zone },
		{ CAPTURE_INFO_CLOCK, clock },
	};
	return capture_writer__info(writer, info, sizeof(info) / sizeof(info[0]));
}
