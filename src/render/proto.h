/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proto.h: fields of a protobuf message, in sequence, in memory of a fixed size. A field that does
 * not fit is left out entirely: the result is always valid.
 */
#ifndef IOSONAR_RENDER_PROTO_H
#define IOSONAR_RENDER_PROTO_H

#include <stddef.h>
#include <stdint.h>

enum { PROTO_ROOM = 8192 };

struct proto {
	size_t nr;
	unsigned char bytes[PROTO_ROOM];
};

/* Makes it empty; the memory need not be zeroed. */
static inline void proto__clear(struct proto *proto)
{
	proto->nr = 0;
}

void proto__number(struct proto *proto, uint32_t field, uint64_t value); /* varint */
void proto__text(struct proto *proto, uint32_t field, const char *text); /* hostile: escaped */
void proto__message(struct proto *proto, uint32_t field, const struct proto *message);

#endif
