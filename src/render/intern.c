/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/intern.h"

#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

const char *intern__bytes(const struct intern *t, uint32_t number, size_t *len)
{
	const size_t start = number ? t->ends[number - 1] : 0;

	*len = t->ends[number] - start;
	return t->bytes + start;
}

struct intern_key {
	const void *bytes;
	size_t len;
};

static bool intern_is(const void *t, uint32_t number, const void *arg)
{
	const struct intern_key *key = arg;
	size_t len;
	const char *bytes = intern__bytes(t, number, &len);

	return len == key->len && (!len || !memcmp(bytes, key->bytes, len));
}

uint32_t intern__number(struct intern *t, const void *bytes, size_t len, bool *is_new)
{
	const struct intern_key key = { bytes, len };
	const uint64_t hash = index__mix_bytes(0, bytes, len);
	uint32_t at = index__find(&t->index, hash, intern_is, t, &key);

	if (is_new)
		*is_new = at == INDEX_NONE;
	if (at != INDEX_NONE)
		return at;
	if (index__reserve(&t->index, &t->ends, sizeof(*t->ends)) ||
	    GROW(t->bytes, t->size, t->len + len + 1))
		return INTERN_NONE;
	if (len)
		memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
	at = index__add(&t->index, hash);
	t->ends[at] = t->len;
	t->nr++;
	return at;
}

void intern__free(struct intern *t)
{
	free(t->bytes);
	free(t->ends);
	index__free(&t->index);
}
