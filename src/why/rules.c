/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/rules.h"

extern const struct why_rule rule_timeouts, rule_errors, rule_retries, rule_stalls, rule_path,
	rule_tags, rule_scheduler, rule_saturated, rule_slow_alone, rule_culprit, rule_own_writes,
	rule_writeback, rule_swap, rule_discards, rule_flushes, rule_fua, rule_misaligned,
	rule_small, rule_completion, rule_throttled, rule_wbt, rule_frozen, rule_readahead,
	rule_evicted, rule_own_cost, rule_dirty, rule_polling;

const struct why_rule *const why_rules[] = {
	&rule_timeouts,	 &rule_errors,	   &rule_retries,    &rule_stalls,
	&rule_path,	 &rule_throttled,  &rule_wbt,	     &rule_frozen,
	&rule_tags,	 &rule_scheduler,  &rule_culprit,    &rule_own_writes,
	&rule_writeback, &rule_swap,	   &rule_discards,   &rule_flushes,
	&rule_fua,	 &rule_misaligned, &rule_completion, &rule_readahead,
	&rule_evicted,	 &rule_slow_alone, &rule_saturated,  &rule_small,
	&rule_dirty,	 &rule_polling,	   &rule_own_cost,   NULL,
};
