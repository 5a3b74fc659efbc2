/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * form.h: a joined text as JSON: a boolean, an array or an object, as the form of its column says
 * (decode/column.h). For tables and their schema.
 */
#ifndef IOSONAR_RENDER_FORM_H
#define IOSONAR_RENDER_FORM_H

#include "decode/column.h"

/* Any text gives valid JSON. */
void form__put(FILE *out, const struct form *form, const char *text);
/* What follows "type": in the schema. */
void form__put_schema(FILE *out, const struct form *form);

#endif
