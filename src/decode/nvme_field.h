/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_field.h: a command is a list of bit fields, and a list is a table. A row says where the bits
 * are and how to say them; what depends on another field is a function of its own.
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
	FIELD_DWORDS,	 /* bytes, of a number of dwords that counts from 0 */
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

/* What else there is to know about a field. */
enum nvme_field_note {
	FIELD_QUIET = 1,  /* not worth a word when 0 */
	FIELD_VENDOR = 2, /* 0xc0 and above are the vendor's */
	FIELD_SELECT = 4, /* of a feature: selects a value, is not the value */
	FIELD_SET = 8,	  /* of a feature: only Set Features has it */
};

struct nvme_field {
	const char *key;
	uint8_t how, dword, shift, bits; /* enum nvme_how, enum nvme_dword; up to 64 bits */
	uint8_t note;			 /* enum nvme_field_note */
	const struct nvme_word *words;	 /* of FIELD_NAME; of FIELD_BITS, by bit number */
};

const char *nvme_word__find(const struct nvme_word *words, uint32_t value);

/* The bits of one field. */
uint64_t nvme_field__value(const struct nvme_field *field, const struct io_record *r);

void nvme_field__print(struct words *w, const struct nvme_field *field, uint64_t value);

/* All fields up to FIELD_END. Those of RESULT follow an arrow, if there is an answer. */
void nvme_fields__print(struct words *w, const struct nvme_field *fields,
			const struct io_record *r);

/* Has the controller answered this command, so that its result means something? */
bool nvme_result__is_there(const struct io_record *r);

void nvme_result__arrow(struct words *w);

/* Lists where they are used, with the row that ends them. */
#define WORDS(...)  ((const struct nvme_word[]){ __VA_ARGS__, { 0, NULL } })
#define FIELDS(...) ((const struct nvme_field[]){ __VA_ARGS__, { 0 } })

/* What a command is called and made of. Neither fields nor more: we know its name only. */
struct nvme_shape {
	const char *name; /* NULL: no such command */
	const struct nvme_field *fields;
	/* After the fields: what a table cannot say. */
	void (*more)(struct words *w, const struct io_record *r);
	uint8_t has; /* enum nvme_has */
};

enum nvme_has {
	NVME_LBA = 1,	/* CDW10 and CDW11: first logical block */
	NVME_PLAIN = 2, /* no options if CDW12's upper half and CDW13 are 0 */
};

extern const struct nvme_shape nvme_admin_shapes[256];

/* Set Features and Get Features: what each feature is made of. */
void nvme_feature__set(struct words *w, const struct io_record *r);
void nvme_feature__get(struct words *w, const struct io_record *r);

#endif
