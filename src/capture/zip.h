/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zip.h: zstd, if iosonar was built with it (HAVE_ZSTD). Bytes that look like noise are sorted out
 * first, by counting them: ten times cheaper than letting zstd find out.
 */
#ifndef IOSONAR_CAPTURE_ZIP_H
#define IOSONAR_CAPTURE_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_zip;

bool capture_zip__is_built_in(void);
/* level 0: to unpack. NULL: no memory, or not built in. */
struct capture_zip *capture_zip__new(int level);
void capture_zip__free(struct capture_zip *zip);

/* Bytes written to `to`, which has room for nr; 0: it would not be smaller. */
size_t capture_zip__pack(struct capture_zip *zip, uint8_t *to, const uint8_t *from, size_t nr);
/* True if `from` held exactly nr bytes. */
bool capture_zip__unpack(struct capture_zip *zip, uint8_t *to, size_t nr, const uint8_t *from,
			 size_t from_nr);

#endif
