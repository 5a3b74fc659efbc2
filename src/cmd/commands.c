/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * commands.c: the list of commands. One line here adds or removes a command; help, completion and
 * doctor follow: main passes them the list, so no command depends on it.
 */
#include "cmd/commands.h"

#include <string.h>

extern const struct cmd cmd_latency, cmd_trace, cmd_layers, cmd_slow, cmd_stacks, cmd_errors,
	cmd_inflight, cmd_pattern, cmd_cache, cmd_serve, cmd_record, cmd_info, cmd_diff, cmd_report,
	cmd_export, cmd_sql, cmd_top, cmd_waits, cmd_blame, cmd_drives, cmd_why, cmd_merge;
extern const struct cmd cmd_count, cmd_sum, cmd_hist, cmd_print, cmd_pair, cmd_events, cmd_class,
	cmd_calls;
extern const struct cmd cmd_doctor;

const struct cmd *const commands[] = {
	&cmd_latency, &cmd_top,	   &cmd_trace,	&cmd_layers, &cmd_waits,  &cmd_blame,
	&cmd_why,     &cmd_drives, &cmd_slow,	&cmd_stacks, &cmd_errors, &cmd_inflight,
	&cmd_pattern, &cmd_cache,  &cmd_serve,	&cmd_count,  &cmd_sum,	  &cmd_hist,
	&cmd_print,   &cmd_pair,   &cmd_events, &cmd_class,  &cmd_calls,  &cmd_record,
	&cmd_merge,   &cmd_info,   &cmd_diff,	&cmd_report, &cmd_export, &cmd_sql,
	&cmd_doctor,  NULL,
};

const struct cmd *cmd__find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}
