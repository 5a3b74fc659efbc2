/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_field.h: a command is a list of bit fields, and a list is a table. A row says where the bits
 * are and how to show them; a field that depends on another field has its own function.
 */
#ifndef IOSONAR_DECODE_NVME_FIELD_H
#define IOSONAR_DECODE_NVME_FIELD_H

#include <stdbool.h>
#include <stdint.h>
#include "decode/words.h"
#include "wire/io_record.h"

/* Where a field lives: a command dword, or the completion's first two. */
enum nvme_dword { CDW10, CDW11, CDW12, CDW13, CDW14, CDW15, RESULT };

enum nvme_how {
	FIELD_END = 0,
	FIELD_NUMBER,	 /* key=5 */
	FIELD_PLUS_ONE,	 /* key=6: the specification counts from 0 */
	FIELD_HEX,	 /* key=0x5 */
	FIELD_FLAG,	 /* key, if it is set */
	FIELD_NAME,	 /* key=word; a number without a word as a number */
	FIELD_BITS,	 /* key=word,word: a word per bit */
	FIELD_SIZE,	 /* bytes */
	FIELD_DWORDS,	 /* bytes, from a zero-based number of dwords */
	FIELD_DWORDS_AT, /* bytes, of a number of dwords */
	FIELD_KELVIN,	 /* degrees Celsius: key=70C */
	FIELD_MS,	 /* milliseconds */
	FIELD_100MS,
	FIELD_100US,
};

/* A list of words ends with a NULL word. */
struct nvme_word {
	uint32_t value;
	const char *word;
};

/* Other properties of a field. */
enum nvme_field_note {
	FIELD_QUIET = 1,  /* not shown when 0 */
	FIELD_VENDOR = 2, /* 0xc0 and above are vendor-specific */
	FIELD_SELECT = 4, /* of a feature: selects a value, is not a value */
	FIELD_SET = 8,	  /* of a feature: only Set Features has it */
};

struct nvme_field {
	const char *key;
	uint8_t how, dword, shift, bits; /* enum nvme_how, enum nvme_dword; up to 64 bits */
	uint8_t note;			 /* enum nvme_field_note */
	const struct nvme_word *words;	 /* for FIELD_NAME; for FIELD_BITS, by bit number */
};

const char *nvme_word__find(const struct nvme_word *words, uint32_t value);

/* The bits of one field. */
uint64_t nvme_field__value(const struct nvme_field *field, const struct io_record *r);

void nvme_field__print(struct words *w, const struct nvme_field *field, uint64_t value);

/* All fields up to FIELD_END. Those of RESULT follow an arrow, if there is an answer. */
void nvme_fields__print(struct words *w, const struct nvme_field *fields,
			const struct io_record *r);

/* Did the controller answer this command, so that its result is valid? */
bool nvme_result__is_there(const struct io_record *r);

void nvme_result__arrow(struct words *w);

/* Inline lists, with the terminating row. */
#define WORDS(...)  ((const struct nvme_word[]){ __VA_ARGS__, { 0, NULL } })
#define FIELDS(...) ((const struct nvme_field[]){ __VA_ARGS__, { 0 } })

/* A command's name and fields. Neither fields nor more: only the name is known. */
struct nvme_shape {
	const char *name; /* NULL: no such command */
	const struct nvme_field *fields;
	/* After the fields: what a table cannot express. */
	void (*more)(struct words *w, const struct io_record *r);
	uint8_t has; /* enum nvme_has */
};

enum nvme_has {
	NVME_LBA = 1,	/* CDW10 and CDW11: first logical block */
	NVME_PLAIN = 2, /* no options if CDW12's upper half and CDW13 are 0 */
};

extern const struct nvme_shape nvme_admin_shapes[256];

/* Set Features and Get Features: the fields of each feature. */
void nvme_feature__set(struct words *w, const struct io_record *r);
void nvme_feature__get(struct words *w, const struct io_record *r);

#endif
