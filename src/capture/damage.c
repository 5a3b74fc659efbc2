/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/damage.h"

#include <inttypes.h>
#include "base/log.h"
#include "capture/about.h"

bool capture_damage__is_whole(const struct capture_damage *damage)
{
	return !damage->blocks_corrupt && !damage->records_corrupt && !damage->truncated &&
	       !damage->records_surplus && !damage->records_astray && !damage->calls_missing &&
	       !damage->calls_surplus;
}

/* Blocks are intact, but contradict each other. */
static void damage_tell_contradictions(const struct capture_damage *damage, const char *path)
{
	if (damage->records_surplus)
		log_warn("%s holds %" PRIu64 " more records than were recorded: blocks are "
			 "repeated or added, and their records are counted too",
			 path, damage->records_surplus);
	if (damage->records_astray)
		log_warn("%s is not consistent: the times of %" PRIu64
			 " records are outside the range that their block's header gives",
			 path, damage->records_astray);
	if (damage->calls_missing)
		log_warn("%s lacks %" PRIu64 " records of calls that were recorded: blocks are "
			 "missing",
			 path, damage->calls_missing);
	if (damage->calls_surplus)
		log_warn("%s holds %" PRIu64
			 " more records of calls than were recorded: blocks are repeated or added",
			 path, damage->calls_surplus);
}

void capture_damage__tell(const struct capture_damage *damage, const char *path)
{
	if (damage->truncated)
		log_warn("%s is truncated after %" PRIu64
			 " bytes: its end is missing; the complete blocks were read",
			 path, damage->truncated_at);
	if (damage->blocks_corrupt && !damage->records_corrupt)
		log_warn("%s is damaged: %" PRIu64 " blocks were skipped", path,
			 damage->blocks_corrupt);
	if (damage->records_corrupt)
		log_warn("%s is damaged: %" PRIu64 " blocks with %" PRIu64 " records were skipped",
			 path, damage->blocks_corrupt, damage->records_corrupt);
	damage_tell_contradictions(damage, path);
}

bool capture_damage__tell_lost(const struct capture_damage *damage,
			       const struct capture_counts *lost, const char *path)
{
	bool told = false;

	for (size_t i = 0; i < lost->nr; i++) {
		if (!lost->counts[i].value)
			continue;
		told = true;
		log_warn("%s lacks %" PRIu64 " records: %s", path, lost->counts[i].value,
			 lost->counts[i].name);
	}
	if (!told && damage->records_lost)
		log_warn("%s lacks %" PRIu64 " records: the recorder lost them", path,
			 damage->records_lost);
	return told || damage->records_lost;
}
