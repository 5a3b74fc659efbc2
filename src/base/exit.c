/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/exit.h"

#include <errno.h>

int exit_code__of(int err)
{
	if (err >= 0)
		return err;
	switch (-err) {
	case EPIPE: return EXIT_DONE; /* `iosonar … | head`: the reader has what it wanted */
	case EINVAL:
	case ENODEV: return EXIT_USAGE;
	case EPERM:
	case EACCES:
	case EOPNOTSUPP: return EXIT_CANNOT;
	default: return EXIT_FAILED;
	}
}
