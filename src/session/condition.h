/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * condition.h: an expression about the columns of a row: --fail-if, --if, --when. Names are the
 * columns' keys without their unit (`p99_ns` is p99, `size_bytes` is size): units belong to the
 * numbers in the expression. Keys and headings are names, too, as column_name.h says.
 */
#ifndef IOSONAR_SESSION_CONDITION_H
#define IOSONAR_SESSION_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include "decode/column.h"

struct condition;

/*
 * option: "--if", for messages. The caller owns the columns and keeps them. 0; -EINVAL or -ENOMEM,
 * said. A NULL text makes no condition, which is never evaluated.
 */
int condition__parse(const char *option, const char *text, const struct column *const *columns,
		     size_t nr, struct condition **condition);
/* Says nothing: an expression with a mistake, for these columns, is -EINVAL and no condition. */
int condition__try(const char *text, const struct column *const *columns, size_t nr,
		   struct condition **condition);
bool condition__is_true(const struct condition *condition, const void *row);
void condition__free(struct condition *condition);

#endif
