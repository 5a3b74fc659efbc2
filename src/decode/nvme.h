/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme.h: NVMe numbers into words. A number without a word gives NULL: the caller prints it as a
 * number, never as blank. Words are lower case with hyphens, as --op takes them.
 */
#ifndef IOSONAR_DECODE_NVME_H
#define IOSONAR_DECODE_NVME_H

#include <stdint.h>

const char *nvme_io_opcode(uint8_t opcode);
const char *nvme_admin_opcode(uint8_t opcode);
const char *nvme_fabrics_type(uint8_t fctype);

#endif
