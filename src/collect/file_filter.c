/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/file_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "base/log.h"
#include "device/mounts.h"
#include "wire/file_id.h"

/* As the inodes of the kernel have it: stat(2) on btrfs gives the device of the subvolume. */
static uint32_t file_system_dev(const char *path, uint32_t by_stat)
{
	const struct mount *mount = NULL;
	char *real = realpath(path, NULL);
	struct mounts mounts = { 0 };
	uint32_t dev;

	if (!mounts__read(&mounts, "/proc/self/mountinfo") && real)
		mount = mounts__find(&mounts, real);
	dev = mount ? mount->dev : by_stat;
	mounts__free(&mounts);
	free(real);
	return dev;
}

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
	if (S_ISREG(st.st_mode) && !major(dev))
		filter->dev = file_system_dev(path, filter->dev);
	return 0;
}
