/* SPDX-License-Identifier: BSD-2-Clause */
/* device_inside.h: what device.c (one device in sysfs) shows device_list.c (all of them). */
#ifndef IOSONAR_DEVICE_DEVICE_INSIDE_H
#define IOSONAR_DEVICE_DEVICE_INSIDE_H

#include "device/device.h"

bool device_name_is_sane(const char *name);	      /* what the kernel would take */
int device_ctrl_number(const char *name);	      /* nvme0 gives 0; anything else -1 */
bool device_name_is_leg(const char *name, int *ctrl); /* nvme0c1n1: *ctrl becomes 1 */
/* -ENOENT when there is no such device (any more). Through the list's scout, if it has one. */
int device_read(const struct device_list *list, const char *name, struct device *device);

#endif
