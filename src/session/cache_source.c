/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/cache_source.h"

#include "session/source.h"

const struct cache_about *cache_source__about(const struct session *s)
{
	return s->inside->source->cache->about(s);
}

void cache_source__read(const struct session *s, cache_row_fn fn, void *arg)
{
	s->inside->source->cache->read(s, fn, arg);
}

void cache_source__losses(const struct session *s, struct cache_losses *losses)
{
	s->inside->source->cache->losses(s, losses);
}
