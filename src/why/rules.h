/* SPDX-License-Identifier: BSD-2-Clause */
/* rules.h: the table of rules, and what they ask each other. */
#ifndef IOSONAR_WHY_RULES_H
#define IOSONAR_WHY_RULES_H

#include "why/rule.h"

extern const struct why_rule *const why_rules[]; /* NULL ends it */

bool writeback__is_of(const struct actor *actor); /* a kernel worker's writes */

#endif
