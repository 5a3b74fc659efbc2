/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uevent.h: the pure half of uevent.c, for its tests. A message is "ACTION@DEVPATH" and then
 * KEY=VALUE, each ended by a NUL.
 */
#ifndef IOSONAR_DEVICE_UEVENT_H
#define IOSONAR_DEVICE_UEVENT_H

#include <stddef.h>

#include "device/device.h"

/* 1 and *event; 0: a message of no interest; -EBADMSG: the kernel does not write such messages. */
int uevent__parse(const char *buf, size_t len, struct uevent *event);

#endif
