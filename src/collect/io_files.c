/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_files.c: which file was it? What the programs need to identify the files of direct I/O, and
 * the meaning of the names they noted.
 */
#include "collect/io_inside.h"

#include <string.h>
#include "base/log.h"
#include "bpf/io.skel.h"

/* Without the addresses the files of direct I/O are unknown. */
int io_prepare_files(struct io *io)
{
	int err = io_find_functions(io);

	memcpy(io->senders, io->functions, sizeof(io->senders));
	if (err)
		log_warn("files of direct I/O are shown as [direct]: /proc/kallsyms: %s; its "
			 "addresses require CAP_SYSLOG, and kernel.kptr_restrict must not be 2",
			 strerror(-err));
	err = mounts__read(&io->mounts, "/proc/self/mountinfo");
	return err ? log_err(err, "out of memory") : 0;
}

char *io__file(const struct io *io, uint64_t inode, uint64_t place)
{
	const struct io_file *file = io_file__find(io->file_cells.cells, inode, place);

	return file_names__text(&io->mounts, file, inode, (uint32_t)place);
}

uint64_t io__files_missed(const struct io *io)
{
	return io->skel->bss->counters.no_file;
}
