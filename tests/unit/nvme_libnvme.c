/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_libnvme.c: libnvme is the second instrument: a status it has words for has words here too,
 * and ours say the same: each of them is in its text, as it stands or by another name. Loaded at
 * run time, so that building needs no libnvme. It says "unrecognized" or "Unknown status" to what
 * it does not know.
 */
#define _GNU_SOURCE /* strcasestr */
#include "decode/nvme.h"

#include <ctype.h>
#include <dlfcn.h>
#include "tap.h"

#if __has_include(<libnvme.h>)
#include <libnvme.h>
/* Its prototype, checked by the compiler. */
static __typeof__(nvme_status_to_string) *to_string;
#else
static const char *(*to_string)(int status, bool fabrics);
#endif

static bool has_words(const char *text)
{
	return text && !strstr(text, "nrecognized") && !strstr(text, "nknown") &&
	       !strstr(text, "Vendor Specific");
}

/* ---- do both say the same? ---- */

/* Words that say nothing by themselves. */
static const char *const fillers[] = {
	"a", "an", "by", "for", "in", "is", "of", "or", "the", "to"
};

/* A word of ours or all of them, and what libnvme says in its place. */
static const struct {
	const char *ours, *theirs;
} synonyms[] = {
	{ "ok", "without error" },
	{ "ANA", "asymmetric access" },
	{ "needs", "requires" },
	/* libnvme explains these; ours are the names that Base 2.0 gives them. */
	{ "invalid discovery information", "Discovery Info Entry not applicable" },
	{ "zoning data structure not found", "Zoning data structure does not exist" },
	{ "insufficient discovery resources", "exceed Discovery Controller's capacity" },
	{ "requested function disabled", "Zoning is not enabled" },
	{ "invalid zone group originator", "ZoneGroup Originator field does not match" },
	{ "discovery has changed", "Discover Restart" },
};

enum { STEM = 5 }; /* "inconsistent" and "inconsistency" share it */

/* Does the text have a word that begins as this one does? */
static bool text_has(const char *text, const char *word)
{
	size_t len = strnlen(word, STEM);

	for (const char *at = text; *at; at++)
		if ((at == text || !isalnum((unsigned char)at[-1])) && !strncasecmp(at, word, len))
			return true;
	return false;
}

static bool is_filler(const char *word)
{
	for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++)
		if (!strcmp(fillers[i], word))
			return true;
	return false;
}

static bool means_by_other_words(const char *ours, const char *theirs)
{
	for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++)
		if (!strcmp(synonyms[i].ours, ours) && strcasestr(theirs, synonyms[i].theirs))
			return true;
	return false;
}

static bool means(const char *word, const char *theirs)
{
	return is_filler(word) || text_has(theirs, word) || means_by_other_words(word, theirs);
}

/* The first of our words that libnvme's text has not; NULL: it has them all. */
static const char *stray(const char *ours, const char *theirs)
{
	static char words[128];
	char *rest = words;

	if (means_by_other_words(ours, theirs))
		return NULL;
	snprintf(words, sizeof(words), "%s", ours);
	for (char *word; (word = strsep(&rest, " :-/"));)
		if (*word && !means(word, theirs))
			return word;
	return NULL;
}

static void check_meaning(int sct, bool fabrics, enum io_kind kind)
{
	int nr = 0, nr_strays = 0;

	for (int sc = 0; sc < 256; sc++) {
		uint16_t status = (uint16_t)(sct << 8 | sc);
		const char *theirs = to_string(status, fabrics);
		const char *ours = nvme_status__name(kind, status), *word;

		if (!has_words(theirs) || !ours)
			continue;
		nr++;
		word = stray(ours, theirs);
		if (!word)
			continue;
		nr_strays++;
		printf("# %d/%02x: \"%s\" of \"%s\"; libnvme: %s\n", sct, sc, word, ours, theirs);
	}
	ok(nr && !nr_strays, "type %d%s: words mean what libnvme says, all %d", sct,
	   fabrics ? ", fabrics" : "", nr);
}

/* ---- are there words at all? ---- */

static void check_type(int sct, bool fabrics, enum io_kind kind)
{
	int nr_words = 0, nr_missing = 0;

	for (int sc = 0; sc < 256; sc++) {
		uint16_t status = (uint16_t)(sct << 8 | sc);
		const char *theirs = to_string(status, fabrics);

		if (!has_words(theirs))
			continue;
		nr_words++;
		if (nvme_status__name(kind, status))
			continue;
		nr_missing++;
		printf("# %d/%02x has no words here; libnvme: %s\n", sct, sc, theirs);
	}
	ok(!nr_missing && (nr_words || sct > 3), "type %d%s: the %d that libnvme has words for",
	   sct, fabrics ? ", fabrics" : "", nr_words);
}

int main(void)
{
	void *lib = dlopen("libnvme.so.1", RTLD_NOW);

	if (lib)
		to_string = (__typeof__(to_string))dlsym(lib, "nvme_status_to_string");
	if (!to_string) {
		printf("1..0 # SKIP %s\n", lib ? "libnvme.so.1 has no nvme_status_to_string"
					       : "libnvme.so.1 is not installed");
		return 0;
	}
	for (int sct = 0; sct < 7; sct++) {
		check_type(sct, false, IO_NVME);
		check_type(sct, true, IO_FABRICS);
	}
	for (int sct = 0; sct < 4; sct++) {
		check_meaning(sct, false, IO_NVME);
		check_meaning(sct, true, IO_FABRICS);
	}
	ok(has_words(to_string(0x281, false)) && !has_words(to_string(0x217, false)),
	   "libnvme knows what it does not know");
	dlclose(lib);
	return done_testing();
}
