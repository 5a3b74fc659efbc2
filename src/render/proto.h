/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proto.h: fields of a protobuf message, one behind the other, in memory of a fixed size. A field
 * that does not fit is left out whole: what is there can always be read.
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

/* Empty; its memory is not looked at, and need not be zeros. */
static inline void proto__clear(struct proto *proto)
{
	proto->nr = 0;
}

void proto__number(struct proto *proto, uint32_t field, uint64_t value); /* varint */
void proto__text(struct proto *proto, uint32_t field, const char *text); /* hostile: escaped */
void proto__message(struct proto *proto, uint32_t field, const struct proto *message);

#endif
