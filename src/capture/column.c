/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/column.h"

#include "capture/chunk.h"

enum { COLUMN_LENGTH_BYTES = 4 };

/* The range of a column's values; all arithmetic is modulo 2^64. */
struct column_shape {
	uint64_t least;	  /* as a signed number */
	uint64_t most;	  /* the largest value - least */
	uint64_t factor;  /* common to all value - least */
	uint64_t origin;  /* what to subtract from a value after dividing by factor */
	size_t nr_others; /* values that are not 0 */
	uint8_t id;	  /* of the column */
};

struct column_run {
	uint64_t low, high;
	unsigned int width;
};

static size_t column_run_nr(size_t from, size_t nr)
{
	return nr - from < CAPTURE_RUN ? nr - from : CAPTURE_RUN;
}

static inline size_t column_survey_run(struct column_run *run, const uint64_t *values, size_t nr)
{
	int64_t low = (int64_t)values[0], high = low;
	uint64_t others = 0;

	for (size_t i = 0; i < nr; i++) {
		int64_t value = (int64_t)values[i];

		low = value < low ? value : low;
		high = value > high ? value : high;
		others += value != 0;
	}
	run->low = (uint64_t)low;
	run->high = (uint64_t)high;
	return others;
}

/* The only pass that all columns need: minimum and maximum of each run and of all. */
static void column_survey(struct column_shape *shape, struct column_run *runs,
			  const uint64_t *values, size_t nr)
{
	int64_t least = (int64_t)values[0], most = least;

	for (size_t from = 0; from < nr; from += CAPTURE_RUN, runs++) {
		size_t left = column_run_nr(from, nr);

		/* A constant length lets the compiler do two at a time. */
		if (left == CAPTURE_RUN)
			shape->nr_others += column_survey_run(runs, values + from, CAPTURE_RUN);
		else
			shape->nr_others += column_survey_run(runs, values + from, left);
		least = (int64_t)runs->low < least ? (int64_t)runs->low : least;
		most = (int64_t)runs->high > most ? (int64_t)runs->high : most;
	}
	shape->least = (uint64_t)least;
	shape->most = (uint64_t)most - (uint64_t)least;
}

static uint64_t column_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Coarse clocks and aligned addresses have one. Most columns show early that they have none. */
static void column_find_factor(struct column_shape *shape, const uint64_t *values, size_t nr)
{
	uint64_t factor = shape->most;

	for (size_t i = 0; i < nr && factor > 1; i++) {
		uint64_t value = values[i] - shape->least;
		bool simple = !(factor & (factor - 1));

		if (simple ? value & (factor - 1) : value % factor)
			factor = column_gcd(factor, value);
	}
	shape->factor = factor;
}

/* Most columns have no factor, and are not touched. */
static void column_reduce(struct column_shape *shape, uint64_t *values, size_t nr)
{
	uint64_t factor = shape->factor;
	int shift = __builtin_ctzll(factor);

	shape->origin = factor == 1 ? shape->least : 0;
	if (factor == 1)
		return;
	if (!(factor & (factor - 1))) {
		for (size_t i = 0; i < nr; i++)
			values[i] = (values[i] - shape->least) >> shift;
		return;
	}
	for (size_t i = 0; i < nr; i++)
		values[i] = (values[i] - shape->least) / factor;
}

/*
 * Few retries or failures among many commands: each would widen a whole run. At 4 bytes each, a
 * list pays off at one in 16 or fewer.
 */
static bool column_is_sparse(const struct column_shape *shape, size_t nr)
{
	return shape->nr_others * 16 < nr;
}

static void column_put_sparse(struct byte_out *out, const uint64_t *values, size_t nr)
{
	size_t zeros = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!values[i]) {
			zeros++;
			continue;
		}
		byte_out__varint(out, zeros);
		byte_out__varint(out, values[i]);
		zeros = 0;
	}
}

static size_t column_run_bytes(unsigned int width, size_t nr)
{
	return (width * nr + 7) / 8;
}

/* Chooses low and width of every run; returns the approximate size of all in bytes. */
static size_t column_plan_runs(const struct column_shape *shape, struct column_run *runs, size_t nr)
{
	size_t bytes = 0;

	for (size_t from = 0; from < nr; from += CAPTURE_RUN, runs++) {
		uint64_t low = (runs->low - shape->least) / shape->factor;
		uint64_t high = (runs->high - shape->least) / shape->factor;

		/* A low that saves no bit costs bytes. */
		if (bits__width(high) == bits__width(high - low))
			low = 0;
		runs->low = low;
		runs->width = bits__width(high - low);
		bytes += 2 + bits__width(low) / 7 +
			 column_run_bytes(runs->width, column_run_nr(from, nr));
	}
	return bytes;
}

/* The bits of each value above `low`; also writes up to 7 bytes past the end. */
static uint8_t *column_put_bits(uint8_t *at, unsigned int width, uint64_t low,
				const uint64_t *values, size_t nr)
{
	unsigned int filled = 0;
	uint64_t word = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t value = values[i] - low;

		word |= value << filled;
		filled += width;
		if (filled < 64)
			continue;
		le__put64(at, word);
		at += 8;
		filled -= 64;
		word = filled ? value >> (width - filled) : 0;
	}
	le__put64(at, word);
	return at + (filled + 7) / 8;
}

static void column_put_runs(struct byte_out *out, const struct column_shape *shape,
			    const struct column_run *runs, const uint64_t *values, size_t nr)
{
	for (size_t from = 0; from < nr; from += CAPTURE_RUN, runs++) {
		size_t left = column_run_nr(from, nr);
		uint8_t *at;

		byte_out__varint(out, runs->low);
		byte_out__u8(out, (uint8_t)runs->width);
		if (!runs->width)
			continue;
		at = byte_out__room(out, column_run_bytes(runs->width, left) + 8);
		if (!at)
			return;
		at = column_put_bits(at, runs->width, shape->origin + runs->low, values + from,
				     left);
		out->len = (size_t)(at - out->bytes);
	}
}

static bool column_put_plane(struct byte_out *out, struct capture_zip *zip, const uint8_t *plane,
			     size_t nr)
{
	uint8_t packed[CAPTURE_BLOCK_RECORDS];
	size_t nr_packed;

	if (!memcmp(plane, plane + 1, nr - 1)) {
		byte_out__u8(out, PLANE_FILL);
		byte_out__u8(out, plane[0]);
		return false;
	}
	nr_packed = capture_zip__pack(zip, packed, plane, nr);
	if (!nr_packed) {
		byte_out__u8(out, PLANE_RAW);
		byte_out__put(out, plane, nr);
		return false;
	}
	byte_out__u8(out, PLANE_ZSTD);
	byte_out__varint(out, nr_packed);
	byte_out__put(out, packed, nr_packed);
	return true;
}

static bool column_put_planes(struct byte_out *out, struct capture_zip *zip,
			      const struct column_shape *shape, const uint64_t *values, size_t nr)
{
	unsigned int nr_planes = (bits__width(shape->most / shape->factor) + 7) / 8;
	uint8_t plane[CAPTURE_BLOCK_RECORDS];
	bool zstd = false;

	byte_out__u8(out, (uint8_t)nr_planes);
	for (unsigned int p = 0; p < nr_planes; p++) {
		for (size_t i = 0; i < nr; i++)
			plane[i] = (uint8_t)((values[i] - shape->origin) >> (8 * p));
		zstd |= column_put_plane(out, zip, plane, nr);
	}
	return zstd;
}

/* Writes a column header; returns the position of the length. */
static size_t column_begin(struct byte_out *out, uint8_t id, uint8_t packing)
{
	size_t length_at;

	byte_out__u8(out, id);
	byte_out__u8(out, packing);
	length_at = out->len;
	byte_out__zeros(out, COLUMN_LENGTH_BYTES);
	return length_at;
}

/* The two numbers at the start of bits and planes. */
static void column_put_shape(struct byte_out *out, const struct column_shape *shape)
{
	byte_out__varint(out, zigzag__put((int64_t)shape->least));
	byte_out__varint(out, shape->factor);
}

/* A varint of fixed size: the payload must not move when its length becomes known. */
static void column_end(struct byte_out *out, size_t length_at)
{
	size_t length = out->len - length_at - COLUMN_LENGTH_BYTES;

	if (out->failed)
		return;
	for (int i = 0; i < COLUMN_LENGTH_BYTES; i++, length >>= 7)
		out->bytes[length_at + (size_t)i] = (uint8_t)(length | 0x80);
	out->bytes[length_at + COLUMN_LENGTH_BYTES - 1] &= 0x7f;
}

static void column_put_constant(struct byte_out *out, uint8_t id, uint64_t value)
{
	unsigned int width = bits__width(value);

	if (!value)
		return;
	byte_out__u8(out, id);
	byte_out__u8(out, PACKING_CONSTANT);
	byte_out__u8(out, (uint8_t)((width + 6) / 7));
	byte_out__varint(out, value);
}

/* In bits, or in planes if that is shorter; true: zstd is needed to read it. */
static bool column_put_dense(struct byte_out *out, struct capture_zip *zip,
			     struct column_shape *shape, struct column_run *runs, uint64_t *values,
			     size_t nr)
{
	uint8_t id = shape->id;
	size_t start = out->len, length_at, nr_bits;
	bool zstd;

	column_find_factor(shape, values, nr);
	column_reduce(shape, values, nr);
	nr_bits = column_plan_runs(shape, runs, nr);
	if (zip) {
		length_at = column_begin(out, id, PACKING_PLANES);
		column_put_shape(out, shape);
		zstd = column_put_planes(out, zip, shape, values, nr);
		column_end(out, length_at);
		if (out->failed || out->len - length_at < nr_bits)
			return zstd;
		out->len = start;
	}
	length_at = column_begin(out, id, PACKING_BITS);
	column_put_shape(out, shape);
	column_put_runs(out, shape, runs, values, nr);
	column_end(out, length_at);
	return false;
}

bool capture_column__encode(struct byte_out *out, struct capture_zip *zip, uint8_t id,
			    uint64_t *values, size_t nr)
{
	struct column_run runs[CAPTURE_BLOCK_RECORDS / CAPTURE_RUN];
	struct column_shape shape = { .id = id };
	size_t length_at;

	if (!nr)
		return false;
	column_survey(&shape, runs, values, nr);
	if (!shape.most) {
		column_put_constant(out, id, shape.least);
		return false;
	}
	if (!column_is_sparse(&shape, nr))
		return column_put_dense(out, zip, &shape, runs, values, nr);
	length_at = column_begin(out, id, PACKING_SPARSE);
	column_put_sparse(out, values, nr);
	column_end(out, length_at);
	return false;
}

static bool column_open_plane(struct capture_column *column, struct capture_zip *zip,
			      struct byte_in *in, uint8_t *unpacked, size_t nr)
{
	struct byte_in part;
	const uint8_t *raw;

	switch (byte_in__u8(in)) {
	case PLANE_RAW:
		raw = byte_in__take(in, nr);
		column->planes[column->nr_planes] = raw;
		return raw;
	case PLANE_FILL: memset(unpacked, byte_in__u8(in), nr); break;
	case PLANE_ZSTD:
		part = byte_in__part(in);
		if (part.bad || !zip ||
		    !capture_zip__unpack(zip, unpacked, nr, part.at, byte_in__left(&part)))
			return false;
		break;
	default: return false;
	}
	column->planes[column->nr_planes] = unpacked;
	return !in->bad;
}

static bool column_open_planes(struct capture_column *column, struct capture_zip *zip,
			       struct byte_in *in, size_t nr)
{
	unsigned int nr_planes = byte_in__u8(in);

	if (in->bad || nr_planes > 8)
		return false;
	column->unpacked = malloc(nr_planes * nr + 1);
	if (!column->unpacked)
		return false;
	for (; column->nr_planes < nr_planes; column->nr_planes++)
		if (!column_open_plane(column, zip, in, column->unpacked + column->nr_planes * nr,
				       nr))
			return false;
	return true;
}

/* The next run's bits, after its `low` and `width`; NULL: malformed. */
static const uint8_t *column_take_run(struct byte_in *in, size_t nr, struct column_run *run)
{
	const uint8_t *bits;

	run->low = byte_in__varint(in);
	run->width = byte_in__u8(in);
	if (run->width > 64)
		return NULL;
	bits = byte_in__take(in, column_run_bytes(run->width, nr));
	return in->bad ? NULL : bits;
}

static bool column_has_runs(struct byte_in in, size_t nr)
{
	struct column_run run;

	for (size_t from = 0; from < nr; from += CAPTURE_RUN)
		if (!column_take_run(&in, column_run_nr(from, nr), &run))
			return false;
	return true;
}

/* Pairs up to the end; positions past the last value do no harm. */
static bool column_has_pairs(struct byte_in in)
{
	while (in.at < in.end && !in.bad) {
		byte_in__varint(&in);
		byte_in__varint(&in);
	}
	return !in.bad;
}

static void column_next_pair(struct capture_column *column)
{
	struct byte_in *in = &column->in;

	column->zeros = in->at < in->end ? byte_in__varint(in) : UINT64_MAX;
}

bool capture_column__open(struct capture_column *column, struct capture_zip *zip, uint8_t packing,
			  struct byte_in in, size_t nr)
{
	capture_column__close(column);
	column->packing = packing;
	column->in = in;
	if (packing == PACKING_CONSTANT) {
		column->least = byte_in__varint(&in);
		return !in.bad;
	}
	if (packing == PACKING_SPARSE) {
		column_next_pair(column);
		return column_has_pairs(in);
	}
	column->least = (uint64_t)zigzag__get(byte_in__varint(&in));
	column->scale = byte_in__varint(&in);
	column->in = in;
	if (packing == PACKING_BITS)
		return !in.bad && column_has_runs(in, nr);
	return packing == PACKING_PLANES && column_open_planes(column, zip, &in, nr);
}

void capture_column__close(struct capture_column *column)
{
	free(column->unpacked);
	memset(column, 0, sizeof(*column));
}

/* Wider than 57 bits: a value can reach into a ninth byte. */
static void column_get_wide(uint64_t *values, const uint8_t *at, unsigned int width, size_t nr,
			    uint64_t base, uint64_t scale)
{
	uint64_t mask = ~0ULL >> (64 - width);

	for (size_t i = 0, bit = 0; i < nr; i++, bit += width) {
		const uint8_t *byte = at + (bit >> 3);
		unsigned int skip = bit & 7;
		uint64_t value = le__get64(byte) >> skip;

		if (skip + width > 64)
			value |= (uint64_t)byte[8] << (64 - skip);
		values[i] = base + scale * (value & mask);
	}
}

static void column_get_bits(uint64_t *values, const uint8_t *at, unsigned int width, size_t nr,
			    uint64_t base, uint64_t scale)
{
	uint64_t mask = (1ULL << width) - 1;

	for (size_t i = 0, bit = 0; i < nr; i++, bit += width)
		values[i] = base + scale * ((le__get64(at + (bit >> 3)) >> (bit & 7)) & mask);
}

static void column_fill(uint64_t *values, uint64_t value, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		values[i] = value;
}

static void column_read_bits(struct capture_column *column, uint64_t *values, size_t nr)
{
	uint64_t scale = column->scale, base;
	struct column_run run;
	const uint8_t *at = column_take_run(&column->in, nr, &run);

	base = column->least + scale * run.low;
	if (!run.width || !at) {
		column_fill(values, base, nr);
		return;
	}
	if (run.width > 57)
		column_get_wide(values, at, run.width, nr, base, scale);
	else
		column_get_bits(values, at, run.width, nr, base, scale);
}

static void column_read_planes(struct capture_column *column, uint64_t *values, size_t nr)
{
	memset(values, 0, nr * sizeof(*values));
	for (unsigned int p = 0; p < column->nr_planes; p++) {
		for (size_t i = 0; i < nr; i++)
			values[i] |= (uint64_t)column->planes[p][i] << (8 * p);
		column->planes[p] += nr;
	}
	for (size_t i = 0; i < nr; i++)
		values[i] = column->least + column->scale * values[i];
}

static void column_read_sparse(struct capture_column *column, uint64_t *values, size_t nr)
{
	size_t i = 0;

	memset(values, 0, nr * sizeof(*values));
	while (column->zeros < nr - i) {
		i += column->zeros;
		values[i++] = byte_in__varint(&column->in);
		column_next_pair(column);
	}
	column->zeros -= nr - i;
}

void capture_column__read(struct capture_column *column, uint64_t *values, size_t nr)
{
	switch (column->packing) {
	case PACKING_BITS: column_read_bits(column, values, nr); break;
	case PACKING_PLANES: column_read_planes(column, values, nr); break;
	case PACKING_SPARSE: column_read_sparse(column, values, nr); break;
	default: column_fill(values, column->least, nr);
	}
}

void capture_columns__close(struct capture_columns *columns)
{
	for (int id = 0; id < CAPTURE_COLUMNS; id++)
		capture_column__close(&columns->columns[id]);
}

bool capture_columns__find(struct capture_columns *columns, struct byte_in in)
{
	capture_columns__close(columns);
	memset(columns->found, 0, sizeof(columns->found));
	while (in.at < in.end) {
		uint8_t id = byte_in__u8(&in), packing = byte_in__u8(&in);
		struct byte_in part = byte_in__part(&in);

		if (part.bad)
			return false;
		if (id >= CAPTURE_COLUMNS)
			continue;
		columns->found[id].packing = packing;
		columns->found[id].in = part;
	}
	return true;
}

bool capture_columns__open(struct capture_columns *columns, int from_id, int end_id, size_t nr)
{
	for (int id = from_id; id < end_id; id++)
		if (columns->found[id].in.at &&
		    !capture_column__open(&columns->columns[id], columns->zip,
					  columns->found[id].packing, columns->found[id].in, nr))
			return false;
	return true;
}
