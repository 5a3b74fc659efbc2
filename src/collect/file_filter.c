/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/file_filter.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "base/log.h"
#include "wire/file_id.h"

int file_filter__read(struct file_filter *filter, const char *path)
{
	struct stat st;
	dev_t dev;

	*filter = (struct file_filter){ 0 };
	if (!path)
		return 0;
	if (stat(path, &st))
		return log_err(-EINVAL, "--file %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return log_err(-EINVAL, "--file %s: expected a regular file or a block device",
			       path);
	dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	filter->is_given = true;
	filter->inode = S_ISBLK(st.st_mode) ? FILE_METADATA : st.st_ino;
	filter->dev = major(dev) << 20 | minor(dev);
	return 0;
}
