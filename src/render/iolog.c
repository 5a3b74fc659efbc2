/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/iolog.h"

#include <inttypes.h>
#include <string.h>

/* Our words and fio's; a zone append does not know its location in advance. */
static const struct {
	const char *op, *fio;
} iolog_words[NR_IOLOG_ACTIONS] = {
	[IOLOG_READ] = { "read", "read" },
	[IOLOG_WRITE] = { "write", "write" },
	[IOLOG_TRIM] = { "discard", "trim" },
	[IOLOG_SYNC] = { "flush", "sync" },
};

enum iolog_action iolog__action(const char *op)
{
	int action = 0;

	while (action < NR_IOLOG_ACTIONS && strcmp(iolog_words[action].op, op))
		action++;
	return (enum iolog_action)action;
}

void iolog__begin(FILE *out)
{
	fputs("fio version 3 iolog\n", out);
}

void iolog__open(FILE *out, const char *path)
{
	fprintf(out, "0 %s add\n0 %s open\n", path, path);
}

void iolog__io(FILE *out, const struct iolog_io *io)
{
	fprintf(out, "%" PRIu64 " %s %s %" PRIu64 " %" PRIu64 "\n", io->time_us, io->path,
		iolog_words[io->action].fio, io->offset_bytes, io->bytes);
}

void iolog__close(FILE *out, const char *path, uint64_t time_us)
{
	fprintf(out, "%" PRIu64 " %s close\n", time_us, path);
}
