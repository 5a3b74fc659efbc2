/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/errno.h"

#include <errno.h>

/*
 * As in the kernel's blk_errors[] (block/blk-core.c), plus what passthrough or a driver may add.
 * ETIME is a duration limit since Linux 6.5; EOVERFLOW and ETOOMANYREFS come from zoned disks.
 */
static const struct {
	int err;
	const char *name, *words;
} errors[] = {
	{ EIO, "EIO", "I/O error" },
	{ ENODATA, "ENODATA", "medium error" },
	{ EREMOTEIO, "EREMOTEIO", "target error" },
	{ ETIMEDOUT, "ETIMEDOUT", "timed out" },
	{ ENOLINK, "ENOLINK", "transport error" },
	{ ENOSPC, "ENOSPC", "no space" },
	{ EILSEQ, "EILSEQ", "protection error" },
	{ EBADE, "EBADE", "reservation conflict" },
	{ EOPNOTSUPP, "EOPNOTSUPP", "operation not supported" },
	{ ENODEV, "ENODEV", "device offline" },
	{ EAGAIN, "EAGAIN", "would block" },
	{ EBUSY, "EBUSY", "device resource busy" },
	{ ENOMEM, "ENOMEM", "out of kernel resources" },
	{ EREMCHG, "EREMCHG", "requeued by device mapper" },
	{ ETOOMANYREFS, "ETOOMANYREFS", "too many open zones" },
	{ EOVERFLOW, "EOVERFLOW", "too many active zones" },
	{ ETIME, "ETIME", "duration limit exceeded" },
	{ EINVAL, "EINVAL", "invalid request" },
	{ ECANCELED, "ECANCELED", "cancelled" },
	{ EINTR, "EINTR", "interrupted" },
	{ EROFS, "EROFS", "read-only device" },
	{ ENXIO, "ENXIO", "no such device" },
	{ EPERM, "EPERM", "not permitted" },
	{ EFAULT, "EFAULT", "bad address" },
	{ ESHUTDOWN, "ESHUTDOWN", "device shut down" },
};

static int errno_find(int err)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].err == err)
			return (int)i;
	return -1;
}

/* Zone statuses and later ones moved down by one when ZONE_RESOURCE was removed; INVAL stayed. */
uint16_t errno__of_block(uint32_t blk_status, bool zone_resource)
{
	static const uint16_t errnos[] = {
		0,	 EOPNOTSUPP,   ETIMEDOUT, ENOSPC, ENOLINK, EREMOTEIO, EBADE,
		ENODATA, EILSEQ,       ENOMEM,	  EIO,	  EREMCHG, EAGAIN,    EBUSY,
		EBUSY,	 ETOOMANYREFS, EOVERFLOW, ENODEV, ETIME,
	};
	uint32_t nr = blk_status >= 14 && !zone_resource ? blk_status + 1 : blk_status;

	if (blk_status == 19)
		return EINVAL;
	return nr < sizeof(errnos) / sizeof(errnos[0]) ? errnos[nr] : EIO;
}

void errno__describe(struct words *w, int err)
{
	int i = errno_find(err);

	if (!err) {
		words__item(w, "ok");
		return;
	}
	if (i < 0) {
		words__item(w, "error ");
		words__i64(w, err);
		return;
	}
	words__item(w, errors[i].words);
	words__str(w, " (");
	words__str(w, errors[i].name);
	words__char(w, ')');
}
