/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_libnvme.c: libnvme is the second instrument: a status it has words for has words here too.
 * Loaded at run time, so that building needs no libnvme. It says "unrecognized" or "Unknown status"
 * to what it does not know.
 */
#include "decode/nvme.h"

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
	ok(has_words(to_string(0x281, false)) && !has_words(to_string(0x217, false)),
	   "libnvme knows what it does not know");
	dlclose(lib);
	return done_testing();
}
