/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.c: do hostile names come out harmless and numbers rounded to the right word? Every escape is
 * compared byte by byte; every rounding at the value where the unit changes and just below.
 */
#include <stdlib.h>
#include "decode/column.h"
#include "tap.h"

typedef void (*put_fn)(FILE *out, const char *text);

static void check_put(put_fn put, const char *text, const char *want, const char *what)
{
	char *got = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&got, &size);

	put(out, text);
	fclose(out);
	is_str(got, want, what);
	if (put == text__put_terminal)
		is_u64(text__width(text), strlen(want) - (strstr(want, "\xc3\xa9") ? 1 : 0),
		       "and its width");
	free(got);
}

/* A character from its number, by the definition; returns its bytes. */
static size_t utf8_put(char *at, uint32_t c)
{
	size_t nr = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = nr - 1; i > 0; i--, c >>= 6)
		at[i] = (char)(0x80 | (c & 0x3f));
	at[0] = (char)(nr == 1 ? c : (0xf00 >> nr & 0xff) | c);
	at[nr] = 0;
	return nr;
}

static void check_terminal(void)
{
	check_put(text__put_terminal, "", "", "nothing");
	check_put(text__put_terminal, "nvme0n1", "nvme0n1", "plain");
	check_put(text__put_terminal, "a \"b\", c\\d", "a \"b\", c\\d", "quotes stay");
	check_put(text__put_terminal, "caf\xc3\xa9", "caf\xc3\xa9", "UTF-8 stays");
	check_put(text__put_terminal, "\033[2J", "\\x1b[2J", "escape sequences do not");
	check_put(text__put_terminal, "a\nb\t\r\x7f", "a\\x0ab\\x09\\x0d\\x7f", "nor C0 and DEL");
	check_put(text__put_terminal, "\xc2\x9b;m", "\\xc2\\x9b;m", "nor C1, two bytes");
	check_put(text__put_terminal, "\x9b;m", "\\x9b;m", "nor C1, one byte");
	check_put(text__put_terminal, "\xff", "\\xff", "no lead byte");
	check_put(text__put_terminal, "a\xc3", "a\\xc3", "cut off");
	check_put(text__put_terminal, "\xc3(", "\\xc3(", "not continued");
	check_put(text__put_terminal, "\xc0\xaf", "\\xc0\\xaf", "overlong");
	check_put(text__put_terminal, "\xe0\x80\xaf", "\\xe0\\x80\\xaf", "overlong, three bytes");
	check_put(text__put_terminal, "\xed\xa0\x80", "\\xed\\xa0\\x80", "surrogate");
	check_put(text__put_terminal, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "past the last");
}

/* Every character that is invisible or moves what others show, by its number. */
static void check_unseen(void)
{
	static const struct {
		uint32_t from, to;
	} unseen[] = { { 0x202a, 0x202e }, { 0x2066, 0x2069 }, { 0x200b, 0x200f },
		       { 0x61c, 0x61c },   { 0x2028, 0x2029 }, { 0x2060, 0x2064 },
		       { 0xfeff, 0xfeff }, { 0xad, 0xad },     { 0xe0001, 0xe007f } };
	static const uint32_t seen[] = { 0x20,	 0x7e,	 0xa0,	 0xae,	 0xe9,	  0x61d,
					 0x200a, 0x2010, 0x2027, 0x202f, 0x2070,  0x20ac,
					 0x4e2d, 0xfefe, 0xff00, 0xfffc, 0x1f600, 0xe1000 };
	char utf8[8];
	uint64_t wrong = 0;
	size_t len, n;

	for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++)
		for (uint32_t c = unseen[i].from; c <= unseen[i].to; c++) {
			char shown[32];

			n = utf8_put(utf8, c);
			wrong += text__escape_one(shown, utf8, &len) != shown + 4 * n || len != n;
			wrong += shown[0] != '\\';
		}
	is_u64(wrong, 0, "what is not seen is escaped");
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
		char shown[32];

		n = utf8_put(utf8, seen[i]);
		wrong += text__escape_one(shown, utf8, &len) != shown + n || len != n ||
			 memcmp(shown, utf8, n);
	}
	is_u64(wrong, 0, "and what is seen is not");
	check_put(text__put_json, "a\xe2\x80\xaez", "\"a\\u202ez\"", "JSON: U+202E");
	check_put(text__put_json, "\xe2\x80\xa8", "\"\\u2028\"", "JSON: U+2028");
	check_put(text__put_json, "\xf3\xa0\x81\x81", "\"\\udb40\\udc41\"", "JSON: U+E0041");
	check_put(text__put_csv, "a\xe2\x80\xaez", "a\\xe2\\x80\\xaez", "CSV: U+202E");
}

static void check_json(void)
{
	check_put(text__put_json, "", "\"\"", "JSON: nothing");
	check_put(text__put_json, "a \"b\" c\\d/e", "\"a \\\"b\\\" c\\\\d/e\"", "JSON: quotes");
	check_put(text__put_json, "\n\t\x1f\x7f", "\"\\u000a\\u0009\\u001f\\u007f\"", "JSON: C0");
	check_put(text__put_json, "\xc2\x85", "\"\\u0085\"", "JSON: C1");
	check_put(text__put_json, "caf\xc3\xa9", "\"caf\xc3\xa9\"", "JSON: UTF-8");
	check_put(text__put_json, "a\xff\xfe.", "\"a\\ufffd\\ufffd.\"", "JSON: invalid bytes");
	check_put(text__put_json, "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"", "JSON: four bytes");
	check_put(text__put_json, "\xf0\x9f\x98", "\"\\ufffd\\ufffd\\ufffd\"",
		  "JSON: three of four");
}

static void check_csv(void)
{
	check_put(text__put_csv, "plain text", "plain text", "CSV: plain");
	check_put(text__put_csv, "a,b", "\"a,b\"", "CSV: a comma");
	check_put(text__put_csv, "say \"hi\"", "\"say \"\"hi\"\"\"", "CSV: quotes");
	check_put(text__put_csv, "a\r\nb,\"", "\"a\\x0d\\x0ab,\"\"\"",
		  "CSV: line ends are escaped");
	check_put(text__put_csv, "=1+1", "'=1+1", "CSV: no formula");
	check_put(text__put_csv, "=1,\"", "\"'=1,\"\"\"", "CSV: no formula in quotes");
	check_put(text__put_csv, "\t=1", "\\x09=1", "CSV: a tab is no way around it");
	check_put(text__put_csv, "-bash", "-bash", "CSV: what begins so and is none stays");
	check_put(text__put_csv, "", "\"\"", "CSV: an empty text is not nothing");
}

static void check_duration(uint64_t ns, const char *want)
{
	char buf[32];

	is_str(text__duration(buf, sizeof(buf), ns), want, want);
}

static void check_durations(void)
{
	check_duration(0, "0ns");
	check_duration(850, "850ns");
	check_duration(999, "999ns");
	check_duration(1000, "1.00us");
	check_duration(9994, "9.99us");
	check_duration(9995, "10.0us");
	check_duration(12345, "12.3us");
	check_duration(99949, "99.9us");
	check_duration(99950, "100us");
	check_duration(999499, "999us");
	check_duration(999500, "1.00ms");
	check_duration(1000000, "1.00ms");
	check_duration(999500000, "1.00s");
	check_duration(2500000000, "2.50s");
	check_duration(67108884000, "67.1s");
	check_duration(275000000000, "275s");
	check_duration(1234000000000, "1234s");
	check_duration(UINT64_MAX, "18446744074s");
}

static void check_bytes(uint64_t bytes, const char *want)
{
	char buf[32];

	is_str(text__bytes(buf, sizeof(buf), bytes), want, want);
}

static void check_rate(double per_s, const char *want)
{
	char buf[32];

	is_str(text__rate(buf, sizeof(buf), per_s), want, want);
}

static void check_sizes_and_rates(void)
{
	check_bytes(0, "0");
	check_bytes(512, "512");
	check_bytes(1023, "1023");
	check_bytes(1024, "1.0Ki");
	check_bytes(4096, "4.0Ki");
	check_bytes(131072, "128.0Ki");
	check_bytes(1048524, "1023.9Ki");
	check_bytes(1048575, "1.0Mi");
	check_bytes(1572864, "1.5Mi");
	check_bytes(UINT64_MAX, "16.0Ei");
	check_rate(0, "0.0");
	check_rate(0.5, "0.5");
	check_rate(99.94, "99.9");
	check_rate(99.95, "100");
	check_rate(999, "999");
	check_rate(999.6, "1.00k");
	check_rate(12345, "12.3k");
	check_rate(1.2e6, "1.20M");
	check_rate(3e9, "3.00G");
	check_rate(1e300, "1.00e+300");
	check_rate(__builtin_nan(""), "-");
	check_rate(__builtin_inf(), "-");
}

/* Who opens a CSV file in a spreadsheet must not run what a task calls itself. */
static void test_formulas(void)
{
	static const char *const formulas[] = { "=1+1",
						"@SUM(A1)",
						"+cmd|' /C calc'!A0",
						"-1+1|x",
						"=",
						"-(1)",
						"\xef\xbc\x9d"
						"1+1",
						"\xef\xbc\x8b"
						"1" };
	static const char *const texts[] = { "fio", "-bash", "", "+x", "a=1", "--", "-sh:0" };
	bool all = true, none = true;

	for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++)
		all &= text__is_formula(formulas[i]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		none &= !text__is_formula(texts[i]);
	ok(all, "a formula is one");
	ok(none, "a login shell is none");
}

static void test_buffer(void)
{
	char buf[12];

	is_str(text__terminal(buf, sizeof(buf), "a\n\xffz"), "a\\x0a\\xffz", "escapes into memory");
	is_str(text__terminal(buf, 7, "abc\n\n"), "abc", "never half an escape");
	is_str(text__terminal(buf, 3, "a\xc3\xa9"), "a", "nor half a character");
	is_str(text__terminal(buf, 4, "a\xc3\xa9"), "a\xc3\xa9", "which fits if there is room");
}

static void put_three(FILE *out, const char *text)
{
	text__put_json_escaped(out, text, 3);
}

static void check_parts(void)
{
	char text[] = ";a;;b;";

	check_put(put_three, "abc;d", "\"abc\"", "JSON: a part");
	check_put(put_three, "a\"\n;", "\"a\\\"\\\\x0a\"", "JSON: a part with escapes");
	check_put(put_three, "ab\xc3;\xa9", "\"ab\\\\xc3\"",
		  "JSON: a part ends inside a character");
	is_str(text__replace(text, ';', ':'), ":a::b:", "every character is replaced");
	is_str(text__replace(text, 'x', 'y'), ":a::b:", "or none");
}

int main(void)
{
	char small[4];

	check_terminal();
	check_json();
	check_parts();
	check_unseen();
	check_csv();
	check_durations();
	check_sizes_and_rates();
	is_str(text__duration(small, sizeof(small), 12345), "12.", "a small buffer is not overrun");
	test_formulas();
	test_buffer();
	return done_testing();
}
