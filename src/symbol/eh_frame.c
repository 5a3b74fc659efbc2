/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/eh_frame.h"

/* DW_EH_PE_*: Linux Standard Base, core, 10.5.1. */
enum {
	EH_FORMAT = 0x0f,
	EH_ABSOLUTE = 0x00,
	EH_ULEB = 0x01,
	EH_U2 = 0x02,
	EH_U4 = 0x03,
	EH_U8 = 0x04,
	EH_SLEB = 0x09,
	EH_S2 = 0x0a,
	EH_S4 = 0x0b,
	EH_S8 = 0x0c,
	EH_RELATIVE = 0x70,
	EH_TO_SELF = 0x10,
	EH_OMITTED = 0xff,
};

enum { EH_LETTERS = 16 }; /* of an augmentation; real ones have up to six */

static const uint64_t eh_long_entry = 0xffffffff;

/* ---- bytes ---- */

const uint8_t *eh_bytes__skip(struct eh_bytes *b, uint64_t size)
{
	const uint8_t *from = b->at;

	if (b->failed || size > (uint64_t)(b->end - b->at)) {
		b->failed = true;
		return NULL;
	}
	b->at += size;
	return from;
}

uint64_t eh_bytes__number(struct eh_bytes *b, size_t size)
{
	const uint8_t *from = eh_bytes__skip(b, size);
	uint64_t number = 0;

	for (size_t i = 0; from && i < size; i++)
		number |= (uint64_t)from[i] << 8 * i;
	return number;
}

/* At most 10 bytes, as 64 bits need. shift: that of the last byte + 7. */
static uint64_t eh_leb(struct eh_bytes *b, unsigned *shift, uint8_t *last)
{
	uint64_t number = 0;

	for (*shift = 0; *shift < 70; *shift += 7) {
		*last = (uint8_t)eh_bytes__number(b, 1);
		number |= (uint64_t)(*last & 0x7f) << *shift;
		if (!(*last & 0x80)) {
			*shift += 7;
			return number;
		}
	}
	b->failed = true;
	return 0;
}

uint64_t eh_bytes__uleb(struct eh_bytes *b)
{
	unsigned shift;
	uint8_t last;

	return eh_leb(b, &shift, &last);
}

int64_t eh_bytes__sleb(struct eh_bytes *b)
{
	unsigned shift;
	uint8_t last;
	uint64_t number = eh_leb(b, &shift, &last);

	if (shift < 64 && last & 0x40)
		number |= ~0ULL << shift;
	return (int64_t)number;
}

/* ---- addresses ---- */

static uint64_t eh_signed(uint64_t number, unsigned bits)
{
	return number >> (bits - 1) & 1 ? number | ~0ULL << bits : number;
}

static uint64_t eh_value(struct eh_bytes *b, uint8_t encoding)
{
	switch (encoding & EH_FORMAT) {
	case EH_ABSOLUTE:
	case EH_U8:
	case EH_S8: return eh_bytes__number(b, 8);
	case EH_U4: return eh_bytes__number(b, 4);
	case EH_S4: return eh_signed(eh_bytes__number(b, 4), 32);
	case EH_U2: return eh_bytes__number(b, 2);
	case EH_S2: return eh_signed(eh_bytes__number(b, 2), 16);
	case EH_ULEB: return eh_bytes__uleb(b);
	case EH_SLEB: return (uint64_t)eh_bytes__sleb(b);
	default: b->failed = true; return 0;
	}
}

uint64_t eh_section__pointer(const struct eh_section *s, struct eh_bytes *b, uint8_t encoding)
{
	uint64_t self = s->vaddr + (uint64_t)(b->at - s->bytes);
	uint64_t value = eh_value(b, encoding);

	switch (encoding & EH_RELATIVE) {
	case 0: return value;
	case EH_TO_SELF: return value + self;
	default: b->failed = true; return 0;
	}
}

/* ---- entries ---- */

/* One entry without its length. end: where it ends; id_at: in the section. */
struct eh_entry {
	struct eh_bytes bytes;
	size_t id_at;
	uint64_t id;
};

/* False: there is no more. An entry of length 0 is a terminator; linkers leave some in between. */
static bool eh_next(const struct eh_section *s, size_t *at, struct eh_entry *entry)
{
	struct eh_bytes b = { s->bytes + *at, s->bytes + s->size, false };
	uint64_t size = eh_bytes__number(&b, 4);
	const uint8_t *body;

	if (size == eh_long_entry)
		size = eh_bytes__number(&b, 8);
	body = eh_bytes__skip(&b, size);
	if (!body)
		return false;
	*at = (size_t)(b.at - s->bytes);
	entry->bytes = (struct eh_bytes){ body, b.at, false };
	entry->id_at = (size_t)(body - s->bytes);
	entry->id = size ? eh_bytes__number(&entry->bytes, 4) : 0;
	return true;
}

/* ---- what functions have in common ---- */

static void eh_skip_encoded(const struct eh_section *s, struct eh_bytes *b)
{
	uint8_t encoding = (uint8_t)eh_bytes__number(b, 1);

	if (encoding != EH_OMITTED) /* an indirect pointer has the same size */
		eh_section__pointer(s, b, encoding & (EH_FORMAT | EH_TO_SELF));
}

/* Letters behind the 'z', each with its data. */
static bool eh_take_letters(const struct eh_section *s, struct eh_cie *cie, const char *letters,
			    struct eh_bytes *data)
{
	for (; *letters; letters++)
		switch (*letters) {
		case 'R': cie->encoding = (uint8_t)eh_bytes__number(data, 1); break;
		case 'P': eh_skip_encoded(s, data); break;
		case 'L': eh_bytes__number(data, 1); break;
		case 'S': cie->is_signal = true; break;
		case 'B':	 /* arm64: the other key signs return addresses */
		case 'G': break; /* arm64: the stack is tagged */
		default: return false;
		}
	return !data->failed;
}

static bool eh_take_augmentation(const struct eh_section *s, struct eh_cie *cie,
				 const char *letters, struct eh_bytes *b)
{
	struct eh_bytes data;
	uint64_t size;

	if (!*letters)
		return true;
	if (*letters != 'z')
		return false;
	cie->has_sizes = true;
	size = eh_bytes__uleb(b);
	data.at = eh_bytes__skip(b, size);
	if (!data.at)
		return false;
	data.end = b->at;
	data.failed = false;
	return eh_take_letters(s, cie, letters + 1, &data);
}

/* False: it is none that we understand. */
static bool eh_read_cie(const struct eh_section *s, size_t at, struct eh_cie *cie)
{
	struct eh_entry entry;
	struct eh_bytes *b = &entry.bytes;
	const uint8_t *letters;
	uint64_t version;
	size_t nr = 0;

	*cie = (struct eh_cie){ .at = at };
	if (at >= s->size || !eh_next(s, &at, &entry) || entry.id)
		return false;
	version = eh_bytes__number(b, 1);
	letters = b->at;
	while (nr < EH_LETTERS && eh_bytes__number(b, 1))
		nr++;
	if (b->failed || nr == EH_LETTERS)
		return false;
	if (version == 4 && eh_bytes__number(b, 2) != 8) /* bytes of an address, no segments */
		return false;
	cie->code_align = eh_bytes__uleb(b);
	cie->data_align = eh_bytes__sleb(b);
	cie->ra_reg = version == 1 ? eh_bytes__number(b, 1) : eh_bytes__uleb(b);
	if ((version != 1 && version != 3 && version != 4) ||
	    !eh_take_augmentation(s, cie, (const char *)letters, b))
		return false;
	cie->program = *b;
	return !b->failed;
}

/* ---- functions ---- */

static bool eh_read_fde(const struct eh_section *s, const struct eh_cie *cie, struct eh_bytes *b,
			struct eh_fde *fde)
{
	uint64_t size;

	fde->cie = cie;
	fde->start = eh_section__pointer(s, b, cie->encoding);
	size = eh_value(b, cie->encoding);
	fde->end = fde->start + size;
	if (cie->has_sizes)
		eh_bytes__skip(b, eh_bytes__uleb(b));
	fde->program = *b;
	return !b->failed && fde->end > fde->start;
}

/* The last CIE is kept: neighbours share theirs. */
int eh_section__visit(const struct eh_section *s, eh_fde_fn visit, void *arg)
{
	struct eh_cie cie = { .at = SIZE_MAX };
	bool is_valid = false;
	struct eh_entry entry;
	struct eh_fde fde;
	size_t at = 0;
	int err = 0;

	while (!err && at < s->size && eh_next(s, &at, &entry)) {
		size_t cie_at = entry.id_at - (size_t)entry.id;

		if (!entry.id || entry.id > entry.id_at)
			continue;
		if (cie_at != cie.at)
			is_valid = eh_read_cie(s, cie_at, &cie);
		if (is_valid && eh_read_fde(s, &cie, &entry.bytes, &fde))
			err = visit(arg, &fde);
	}
	return err;
}
