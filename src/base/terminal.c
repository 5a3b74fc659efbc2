/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/terminal.h"

#include <sys/ioctl.h>

size_t terminal__columns(int fd)
{
	struct winsize size;

	return fd < 0 || ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}
