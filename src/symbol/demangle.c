/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/demangle.h"

#include <stdio.h>
#include <string.h>

/* _ZN3foo3barEv, _RNvC5crate4main; clones have a suffix: _ZN3fooEv.cold */
bool demangle__is_mangled(const char *name, size_t len)
{
	return len > 2 && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

#ifdef HAVE_IBERTY

#include <libiberty/demangle.h>
#include <setjmp.h>

struct demangle_text {
	char *to;
	size_t len, room;
	jmp_buf full;
};

/* A short name may stand for gigabytes: nothing after what is kept is made. */
static void demangle_add(const char *part, size_t len, void *arg)
{
	struct demangle_text *text = arg;
	size_t fits = text->room - text->len < len ? text->room - text->len : len;

	memcpy(text->to + text->len, part, fits);
	text->len += fits;
	if (fits < len)
		longjmp(text->full, 1);
}

/* Rust's older names look like those of C++, with a hash as their last part. */
static bool demangle_any(const char *name, struct demangle_text *text)
{
	if (setjmp(text->full))
		return true;
	if (rust_demangle_callback(name, DMGL_NO_OPTS, demangle_add, text))
		return true;
	text->len = 0;
	return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, demangle_add, text);
}

void demangle__copy(char *to, size_t size, const char *name)
{
	struct demangle_text text = { .to = to, .room = size - 1 };

	if (demangle__is_mangled(name, strlen(name)) && demangle_any(name, &text) && text.len)
		to[text.len] = '\0';
	else
		snprintf(to, size, "%s", name);
}

bool demangle__is_built_in(void)
{
	return true;
}

#else

void demangle__copy(char *to, size_t size, const char *name)
{
	snprintf(to, size, "%s", name);
}

bool demangle__is_built_in(void)
{
	return false;
}

#endif
