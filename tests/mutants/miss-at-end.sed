# SPDX-License-Identifier: BSD-2-Clause
# A miss that begins exactly at --to is shown.
# file: src/session/cache_replay.c
# red: cli replay
# case: a span begins at --from
s/e->start_ns >= s->inside->span.to_ns/e->start_ns > s->inside->span.to_ns/
