/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/proto.h"

#include <string.h>
#include "decode/column.h"

enum { PROTO_VARINT = 0, PROTO_BYTES = 2, PROTO_VARINT_MOST = 10, PROTO_TEXT = 1024 };

static size_t proto_varint(unsigned char *at, uint64_t value)
{
	size_t nr = 0;

	for (; value >> 7; value >>= 7)
		at[nr++] = (unsigned char)(value | 0x80);
	at[nr++] = (unsigned char)value;
	return nr;
}

static void proto_append(struct proto *p, const unsigned char *head, size_t nr_head,
			 const void *bytes, size_t nr)
{
	if (nr_head + nr > PROTO_ROOM - p->nr)
		return;
	memcpy(p->bytes + p->nr, head, nr_head);
	memcpy(p->bytes + p->nr + nr_head, bytes, nr);
	p->nr += nr_head + nr;
}

static void proto_put_bytes(struct proto *p, uint32_t field, const void *bytes, size_t nr)
{
	unsigned char head[2 * PROTO_VARINT_MOST];
	size_t nr_head = proto_varint(head, (uint64_t)field << 3 | PROTO_BYTES);

	nr_head += proto_varint(head + nr_head, nr);
	proto_append(p, head, nr_head, bytes, nr);
}

void proto__number(struct proto *p, uint32_t field, uint64_t value)
{
	unsigned char head[2 * PROTO_VARINT_MOST];
	size_t nr = proto_varint(head, (uint64_t)field << 3 | PROTO_VARINT);

	nr += proto_varint(head + nr, value);
	proto_append(p, head, nr, "", 0);
}

/* A string has to be UTF-8. */
void proto__text(struct proto *p, uint32_t field, const char *text)
{
	char plain[PROTO_TEXT];

	text__terminal(plain, sizeof(plain), text);
	proto_put_bytes(p, field, plain, strlen(plain));
}

void proto__message(struct proto *p, uint32_t field, const struct proto *message)
{
	proto_put_bytes(p, field, message->bytes, message->nr);
}
