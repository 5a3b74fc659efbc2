/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * demangle.c: names of C++ and Rust as the source has them, without parameters and hashes; and
 * names that were made to break a demangler: they end, and fit.
 */
#include <stdlib.h>
#include <string.h>
#include "symbol/demangle.h"
#include "symbol/table.h"
#include "tap.h"

static const char *demangled(const char *name)
{
	static char text[SYMBOL_NAME_MAX + 1];

	memset(text, 'x', sizeof(text));
	demangle__copy(text, sizeof(text), name);
	return text;
}

static void check_names(void)
{
	static const struct {
		const char *name, *want;
	} names[] = {
		{ "_ZN3foo3barEv", "foo::bar" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  "std::vector<int, std::allocator<int> >::push_back" },
		{ "_ZN12_GLOBAL__N_16hiddenEv", "(anonymous namespace)::hidden" },
		{ "_ZlsRSoi", "operator<<" },
		{ "_ZN4baseD1Ev", "base::~base" },
		{ "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()" },
		{ "_ZN3foo3barEv.cold", "foo::bar" },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
		{ "_ZN50_$LT$T$u20$as$u20$core..convert..Into$LT$U$GT$$GT$"
		  "4into17h8f1a2b3c4d5e6f70E",
		  "<T as core::convert::Into<U>>::into" },
		{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is_str(demangled(names[i].name), names[i].want, names[i].name);
}

static void check_plain(void)
{
	static const char *const names[] = { "main", "_start", "",
					     "_",    "_Z",     "_ZN3fo",
					     "_R",   "_Zq",    "main.(*File).Read" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is_str(demangled(names[i]), names[i], "as it is");
}

/* f<A, B<A, A>, C<B<A, A>, B<A, A> >, ...>: 2^60 letters, in 1,000. */
static void put_doubled(char *text)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	int len = sprintf(text, "_Z1fI1A"), last = 0;

	for (int i = 0; i < 60; i++) {
		char of[8];

		snprintf(of, sizeof(of), last < 36 ? "S%.0d%c_" : "S%d%c_", last / 36,
			 digits[last % 36]);
		len += sprintf(text + len, "1BI%s%sE", of, of);
		last += 2; /* the template, and this one of it */
	}
	strcpy(text + len, "Evv");
}

static void check_hostile(void)
{
	static char text[SYMBOL_MANGLED_MAX + 1];

	put_doubled(text);
	is_u64(strlen(demangled(text)), SYMBOL_NAME_MAX, "a name that doubles and doubles");
	memset(text, 'P', sizeof(text) - 1);
	memcpy(text, "_Z1f", 4);
	ok(strlen(demangled(text)) <= SYMBOL_NAME_MAX, "pointers without an end");
	for (size_t i = 3; i + 1 < sizeof(text); i++)
		text[i] = "1aI"[i % 3];
	memcpy(text, "_Z", 2);
	ok(strlen(demangled(text)) <= SYMBOL_NAME_MAX, "templates without an end");
	memset(text, 'N', sizeof(text) - 1);
	memcpy(text, "_R", 2);
	ok(strlen(demangled(text)) <= SYMBOL_NAME_MAX, "paths without an end");
}

int main(void)
{
	if (demangle__is_built_in())
		check_names();
	else
		is_str(demangled("_ZN3foo3barEv"), "_ZN3foo3barEv", "without libiberty, as it is");
	check_plain();
	check_hostile();
	return done_testing();
}
