/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hdr.c: does a log of HdrHistograms hold what was put in? It is taken apart by a decoder of the
 * test's own, written from the published description of the format, value by value.
 */
#include <stdlib.h>
#include <zlib.h>
#include "render/hdr.h"
#include "tap.h"

enum { BYTES = 1 << 19 };

struct decoded {
	uint32_t digits;
	uint64_t lowest, highest;
	double ratio;
	uint64_t count, first, last; /* lowest values equivalent to the least and the largest */
	double sum;		     /* of the middles of the ranges */
};

static char *log_of(const struct hdr_interval *interval, const struct hdr *hdr)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (hdr_log__put(out, interval, hdr))
		fputs("no memory", out);
	fclose(out);
	return text;
}

static size_t from_base64(const char *text, unsigned char *bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	uint32_t bits = 0, nr_bits = 0;
	size_t nr = 0;

	for (; *text && *text != '=' && *text != '\n'; text++) {
		bits = bits << 6 | (uint32_t)(strchr(digits, *text) - digits);
		nr_bits += 6;
		if (nr_bits >= 8) {
			nr_bits -= 8;
			bytes[nr++] = (unsigned char)(bits >> nr_bits);
		}
	}
	return nr;
}

static uint64_t big(const unsigned char *bytes, size_t nr)
{
	uint64_t value = 0;

	while (nr--)
		value = value << 8 | *bytes++;
	return value;
}

static const unsigned char *zig_zag(const unsigned char *at, int64_t *value)
{
	uint64_t n = 0;

	for (int i = 0; i < 9; i++) {
		unsigned char byte = *at++;

		n |= (uint64_t)(i == 8 ? byte : byte & 0x7f) << 7 * i;
		if (i == 8 || !(byte & 0x80))
			break;
	}
	*value = (int64_t)(n >> 1) ^ -(int64_t)(n & 1);
	return at;
}

/* Index to the lowest value, with 2048 sub-buckets. */
static uint64_t lowest_of(uint64_t index, uint64_t *width)
{
	uint64_t bucket = index >> 10, sub = (index & 1023) + 1024;

	if (!bucket) {
		*width = 1;
		return index;
	}
	*width = 1ull << (bucket - 1);
	return sub << (bucket - 1);
}

static void count_values(const unsigned char *at, const unsigned char *end, struct decoded *d)
{
	uint64_t index = 0, width;
	int64_t value;

	while (at < end) {
		at = zig_zag(at, &value);
		if (value < 0) {
			index += (uint64_t)-value;
			continue;
		}
		if (value) {
			d->last = lowest_of(index, &width);
			d->first = d->count ? d->first : d->last;
			d->count += (uint64_t)value;
			d->sum += (double)value * ((double)d->last + (double)(width / 2));
		}
		index++;
	}
}

static bool decode(const char *line, struct decoded *d)
{
	static unsigned char packed[BYTES], bytes[BYTES];
	size_t nr = from_base64(strrchr(line, ',') + 1, packed);
	uLongf len = BYTES;
	uint64_t ratio;

	*d = (struct decoded){ 0 };
	if (big(packed, 4) != 0x1c849314 || big(packed + 4, 4) != nr - 8 ||
	    uncompress(bytes, &len, packed + 8, nr - 8) != Z_OK)
		return false;
	if (big(bytes, 4) != 0x1c849313 || big(bytes + 4, 4) != len - 40 || big(bytes + 8, 4))
		return false;
	d->digits = (uint32_t)big(bytes + 12, 4);
	d->lowest = big(bytes + 16, 8);
	d->highest = big(bytes + 24, 8);
	ratio = big(bytes + 32, 8);
	memcpy(&d->ratio, &ratio, sizeof(ratio));
	count_values(bytes + 40, bytes + len, d);
	return true;
}

static void test_values(void)
{
	static const uint64_t values[] = {
		0,    1,    2,	    1023,   1024,      2047,	      2048,
		2049, 4095, 123456, 123457, 999999999, 3600000000000, HDR_HIGHEST
	};
	const struct hdr_interval interval = { .start_s = 1, .length_s = 0.5, .tag = "t" };
	size_t nr = sizeof(values) / sizeof(values[0]), near = 0;
	struct decoded d;

	for (size_t i = 0; i < nr; i++) {
		struct hdr *hdr = hdr__new();
		char *line;

		hdr__add(hdr, values[i]);
		hdr__add(hdr, values[i]);
		line = log_of(&interval, hdr);
		/* Three digits: what differs is less than a thousandth. */
		near += decode(line, &d) && d.count == 2 && d.first == d.last &&
			d.first <= values[i] && values[i] - d.first <= values[i] / 1000;
		free(line);
		hdr__free(hdr);
	}
	is_u64(near, nr, "every value comes back, to three digits");
	ok(d.digits == 3 && d.lowest == 1 && d.highest == HDR_HIGHEST && d.ratio == 1.0,
	   "what a reader has to know is in the head");
}

static void test_many(void)
{
	const struct hdr_interval interval = { .start_s = 0, .length_s = 1, .tag = "many" };
	struct hdr *hdr = hdr__new();
	uint64_t ns = 1;
	double sum = 0;
	struct decoded d;
	char *line;

	for (int i = 0; i < 100000; i++) {
		ns = ns * 6364136223846793005u + 1442695040888963407u;
		hdr__add(hdr, ns >> 24);
		sum += (double)(ns >> 24 < HDR_HIGHEST ? ns >> 24 : HDR_HIGHEST);
	}
	line = log_of(&interval, hdr);
	ok(decode(line, &d) && d.count == 100000, "all of many are there");
	ok(d.sum > sum * 0.999 && d.sum < sum * 1.001, "and their sum, to three digits");
	free(line);
	hdr__clear(hdr);
	line = log_of(&interval, hdr);
	ok(decode(line, &d) && !d.count && !hdr__count(hdr), "cleared, it is empty");
	free(line);
	hdr__free(hdr);
}

static void test_line(void)
{
	const struct hdr_interval interval = { .start_s = 2.5, .length_s = 1, .tag = "a,b \n=%é" };
	struct hdr *hdr = hdr__new();
	char *line;

	hdr__add(hdr, 1500000);
	line = log_of(&interval, hdr);
	ok(!strncmp(line, "Tag=a%2Cb%20%0A%3D%25%C3%A9,2.500,1.000,1.500,HISTFAAAA", 54),
	   "a tag cannot end itself, times are s, the maximum is ms");
	is_u64((uint64_t)(strchr(line, '\n') - line), strlen(line) - 1, "it is one line");
	free(line);
	hdr__free(hdr);
	hdr__free(NULL);
}

static void test_begin(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	hdr_log__begin(out, "iosonar 9", 1700000000123456789);
	fclose(out);
	is_str(text,
	       "#[Logged with iosonar 9]\n#[Histogram log format version 1.3]\n"
	       "#[StartTime: 1700000000.123 (seconds since epoch), 2023-11-14T22:13:20Z]\n"
	       "#[BaseTime: 1700000000.123 (seconds since epoch)]\n"
	       "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
	       "\"Interval_Compressed_Histogram\"\n",
	       "the log begins as every one does");
	free(text);
}

int main(void)
{
	test_values();
	test_many();
	test_line();
	test_begin();
	return done_testing();
}
