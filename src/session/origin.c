/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/origin.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
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

/* The command line may contain any name; files of one boot still belong together. */
static void origin_alias(const struct alias *alias, struct capture_info *info, size_t nr,
			 char names[2][ALIAS_NAME])
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(info[i].key, CAPTURE_INFO_COMMAND))
			info[i].value = "iosonar --anonymous";
		else if (!strcmp(info[i].key, CAPTURE_INFO_HOST))
			info[i].value = alias__name(alias, ALIAS_HOST, info[i].value, names[0]);
		else if (!strcmp(info[i].key, CAPTURE_INFO_BOOT_ID) && info[i].value)
			info[i].value = alias__name(alias, ALIAS_HOST, info[i].value, names[1]);
	}
}

void origin__init(struct origin *origin)
{
	if (uname(&origin->host))
		memset(&origin->host, 0, sizeof(origin->host));
	text__read_line("/proc/sys/kernel/random/uuid", origin->id, sizeof(origin->id));
}

int origin__put(const struct origin *origin, struct capture_writer *writer,
		const struct alias *alias)
{
	const struct utsname *host = &origin->host;
	char boot[64], clock[64], zone[16] = "", command[4096], names[2][ALIAS_NAME];
	time_t now = time(NULL);
	struct tm tm;

	text__read_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	text__read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", clock,
			sizeof(clock));
	if (localtime_r(&now, &tm))
		strftime(zone, sizeof(zone), "%z", &tm);
	struct capture_info info[] = {
		{ CAPTURE_INFO_VERSION, VERSION },
		{ CAPTURE_INFO_KERNEL, host->release },
		{ CAPTURE_INFO_MACHINE, host->machine },
		{ CAPTURE_INFO_HOST, host->nodename },
		{ CAPTURE_INFO_COMMAND, origin_command_line(command, sizeof(command)) },
		{ CAPTURE_INFO_BOOT_ID, boot },
		{ CAPTURE_INFO_ID, origin->id },
		{ CAPTURE_INFO_TIMEZONE, zone },
		{ CAPTURE_INFO_CLOCK, clock },
	};
	if (alias)
		origin_alias(alias, info, sizeof(info) / sizeof(info[0]), names);
	return capture_writer__info(writer, info, sizeof(info) / sizeof(info[0]));
}
