/* SPDX-License-Identifier: BSD-2-Clause */
/* drives_events.c: which records say something about the health of a controller, and of which. */
#include <string.h>
#include "tap.h"
#include "view/drives_events.h"
#include "wire/io_tables.h"

static struct drives_events events;

static void event(const char *host, int ctrl, uint8_t op, uint32_t dword)
{
	const struct io_record r = { .what = RECORD_EVENT, .op = op, .cdw10 = { dword } };

	drives_events__add(&events, host, ctrl, &r);
}

static void says(const char *host, int ctrl, const char *want, const char *what)
{
	char buf[300];

	is_str(drives_events__words(&events, host, ctrl, buf, sizeof(buf)), want, what);
}

int main(void)
{
	const struct io_record timeout = { .what = RECORD_TIMEOUT }, end = { .what = RECORD_END };
	const struct io_record moved = { .what = RECORD_END, .kind = IO_NVME, .status = 0x303 };
	const struct io_record again = { .what = RECORD_ATTEMPT, .kind = IO_NVME, .status = 0x303 };
	const struct io_record failed = { .what = RECORD_END, .kind = IO_NVME, .status = 0x281 };
	char buf[20];

	event("db1", 0, EVENT_ASYNC, 0x020101); /* health: temperature threshold, log page 2 */
	event("db1", 0, EVENT_ASYNC, 0x020101);
	event("db1", 0, EVENT_ASYNC, 0x020201); /* spare below threshold */
	event("db1", 1, EVENT_ASYNC, 0x040002); /* a namespace has changed */
	event("db2", 0, EVENT_CONNECTED, 0);
	event("db2", 0, EVENT_STATE, 2);
	event(NULL, 3, EVENT_ASYNC, 0x020001);
	event("db1", -1, EVENT_ASYNC, 0x020101); /* of no controller */
	drives_events__add(&events, "db2", 0, &timeout);
	drives_events__add(&events, "db2", 0, &end);
	event("db3", 1, EVENT_ASYNC, 0x0c0302);	       /* the states of paths, log page 12 */
	drives_events__add(&events, "db3", 1, &moved); /* its path is in transition */
	drives_events__add(&events, "db3", 1, &moved);
	drives_events__add(&events, "db3", 1, &again);
	drives_events__add(&events, "db3", 2, &failed); /* an unrecovered read error */
	says("db1", 0,
	     "its controller reported a temperature beyond a threshold (2);"
	     "its controller reported bad health (1)",
	     "health events");
	says("db1", 1, "", "other events are no explanation");
	says("db2", 0, "its controller was reset (1);commands of its controller timed out (1)",
	     "resets and time-outs, of this host alone");
	says("db3", 1,
	     "its controller reported a change of the states of paths (ANA) (1);"
	     "commands failed over from its path to another one (2)",
	     "changes of paths");
	says("db3", 2, "", "a command that failed for good did not change its path");
	says(NULL, 3, "its controller reported bad health (1)", "a capture that names no host");
	says("db1", -1, "", "a disk without a controller");
	drives_events__words(&events, "db1", 0, buf, sizeof(buf));
	ok(strlen(buf) == sizeof(buf) - 1, "a text that is too long is cut");
	for (int i = 0; i < 2 * DRIVES_CTRLS; i++)
		event("many", i, EVENT_CONNECTED, 0);
	is_u64(events.nr, DRIVES_CTRLS, "their number is bounded");
	return done_testing();
}
