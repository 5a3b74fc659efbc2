/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/nvme_field.h"

enum { VENDOR_FROM = 0xc0, ZERO_CELSIUS = 273, NS_PER_MS = 1000000 };

const char *nvme_word__find(const struct nvme_word *words, uint32_t value)
{
	for (; words && words->word; words++)
		if (words->value == value)
			return words->word;
	return NULL;
}

uint64_t nvme_field__value(const struct nvme_field *field, const struct io_record *r)
{
	uint64_t value = r->result;

	if (field->dword < RESULT) {
		value = r->cdw10[field->dword];
		if (field->shift + field->bits > 32)
			value |= (uint64_t)r->cdw10[field->dword + 1] << 32;
	}
	value >>= field->shift;
	return field->bits < 64 ? value & ((1ULL << field->bits) - 1) : value;
}

static void field_name(struct words *w, const struct nvme_field *field, uint64_t value)
{
	const char *word = nvme_word__find(field->words, (uint32_t)value);

	if (word) {
		words__str(w, word);
		return;
	}
	if ((field->note & FIELD_VENDOR) && value >= VENDOR_FROM)
		words__str(w, "vendor-");
	words__hex(w, value, 2);
}

/* Bits without a word come last, as one number. */
static void field_bits(struct words *w, const struct nvme_field *field, uint64_t value)
{
	const char *gap = "";

	for (const struct nvme_word *bit = field->words; bit->word; bit++) {
		if (!(value >> bit->value & 1))
			continue;
		words__str(w, gap);
		words__str(w, bit->word);
		value &= ~(1ULL << bit->value);
		gap = ",";
	}
	if (!value && *gap)
		return;
	words__str(w, gap);
	if (value)
		words__hex(w, value, 1);
	else
		words__str(w, "none");
}

/* All ones plus one does not fit 64 bits, but no field that counts from 0 is that wide. */
static void field_value(struct words *w, const struct nvme_field *field, uint64_t value)
{
	switch ((enum nvme_how)field->how) {
	case FIELD_NUMBER: words__u64(w, value); break;
	case FIELD_PLUS_ONE: words__u64(w, value + 1); break;
	case FIELD_HEX: words__hex(w, value, 1); break;
	case FIELD_NAME: field_name(w, field, value); break;
	case FIELD_BITS: field_bits(w, field, value); break;
	case FIELD_SIZE: words__size(w, value); break;
	case FIELD_DWORDS: words__size(w, (value + 1) * 4); break;
	case FIELD_DWORDS_AT: words__size(w, value * 4); break;
	case FIELD_KELVIN:
		words__i64(w, (int64_t)value - ZERO_CELSIUS);
		words__char(w, 'C');
		break;
	case FIELD_MS: words__duration(w, value * NS_PER_MS); break;
	case FIELD_100MS: words__duration(w, value * 100 * NS_PER_MS); break;
	case FIELD_100US: words__duration(w, value * (NS_PER_MS / 10)); break;
	case FIELD_FLAG:
	case FIELD_END: break;
	}
}

static bool field_is_silent(const struct nvme_field *field, uint64_t value)
{
	return !value && (field->how == FIELD_FLAG || (field->note & FIELD_QUIET));
}

void nvme_field__print(struct words *w, const struct nvme_field *field, uint64_t value)
{
	if (field_is_silent(field, value))
		return;
	if (field->how == FIELD_FLAG) {
		words__item(w, field->key);
		return;
	}
	words__key(w, field->key);
	field_value(w, field, value);
}

bool nvme_result__is_there(const struct io_record *r)
{
	return r->what == RECORD_END && !(r->status & 0x7ff) && !(r->flags & RECORD_NO_STATUS);
}

void nvme_result__arrow(struct words *w)
{
	words__item(w, "->");
}

void nvme_fields__print(struct words *w, const struct nvme_field *field, const struct io_record *r)
{
	bool arrow = false;

	for (; field->how; field++) {
		uint64_t value = nvme_field__value(field, r);

		if (field->dword == RESULT) {
			if (!nvme_result__is_there(r) || field_is_silent(field, value))
				continue;
			if (!arrow)
				nvme_result__arrow(w);
			arrow = true;
		}
		nvme_field__print(w, field, value);
	}
}
