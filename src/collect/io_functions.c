/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_functions.c: where are the functions whose addresses our programs compare with? /proc/kallsyms
 * has them, and takes 20 ms and more to read, so it is read once for all of them, and only if one
 * is asked for.
 */
#include "collect/io_inside.h"

#include "symbol/kallsyms.h"

/* In the order of enum io_function, which begins with that of enum file_sender. */
static const char *const io_function_names[NR_IO_FUNCTIONS] = {
	"iomap_dio_bio_end_io",	 "dio_bio_end_io",	     "dio_bio_end_aio",
	"blkdev_bio_end_io",	 "blkdev_bio_end_io_simple", "blkdev_bio_end_io_async",
	"submit_bio_wait_endio", "bio_wait_end_io",	     "end_swap_bio_read",
	"end_swap_bio_write",	 "rq_qos_wake_function",     "iolat_acquire_inflight",
};

int io_find_functions(struct io *io)
{
	if (!io->functions_are_read)
		io->functions_err = kallsyms__find("/proc/kallsyms", io_function_names,
						   io->functions, NR_IO_FUNCTIONS);
	io->functions_are_read = true;
	return io->functions_err;
}
