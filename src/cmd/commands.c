/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * commands.c: the list of commands, and how an end becomes an exit code. A command is added or
 * removed by its one line here; help and completion follow.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>

extern const struct cmd cmd_latency, cmd_trace, cmd_layers, cmd_slow, cmd_stacks, cmd_errors,
	cmd_inflight, cmd_pattern, cmd_cache, cmd_record, cmd_info, cmd_diff, cmd_report,
	cmd_export, cmd_sql;
extern const struct cmd cmd_count, cmd_sum, cmd_hist, cmd_print, cmd_pair, cmd_events, cmd_class,
	cmd_calls;
extern const struct cmd cmd_doctor;

const struct cmd *const commands[] = {
	&cmd_latency, &cmd_trace, &cmd_layers, &cmd_slow,   &cmd_stacks, &cmd_errors, &cmd_inflight,
	&cmd_pattern, &cmd_cache, &cmd_count,  &cmd_sum,    &cmd_hist,	 &cmd_print,  &cmd_pair,
	&cmd_events,  &cmd_class, &cmd_calls,  &cmd_record, &cmd_info,	 &cmd_diff,   &cmd_report,
	&cmd_export,  &cmd_sql,	  &cmd_doctor, NULL,
};

const struct cmd *cmd__find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

int cmd__exit_code(int err)
{
	if (err >= 0)
		return err;
	switch (-err) {
	case EPIPE: return EXIT_DONE; /* `iosonar … | head`: the reader has what it wanted */
	case EINVAL:
	case ENODEV: return EXIT_USAGE;
	case EPERM:
	case EACCES:
	case EOPNOTSUPP: return EXIT_CANNOT;
	default: return EXIT_FAILED;
	}
}
