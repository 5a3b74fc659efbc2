/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/exporter.h"

#include <errno.h>
#include "base/log.h"
#include "decode/op.h"
#include "decode/record.h"
#include "session/host_source.h"
#include "session/io_source.h"

const char *export__op(const struct session *s, const struct io_record *r, char buf[16])
{
	return op__word(r->kind, r->op, io_source__op_names(s), buf, 16);
}

bool export__sector(struct session *s, const struct io_record *r, uint64_t *sector)
{
	const struct device *device = io_source__device(s, r);
	uint32_t block = device && device->block_size > 512 ? device->block_size : 512;

	if (!record__start(r, io_source__op_names(s), sector))
		return false;
	if (r->kind != IO_BLOCK)
		*sector *= block / 512;
	return true;
}

int export__is_of_host(const struct session *s, const struct device *device, uint16_t *host)
{
	const uint16_t before = *host;

	*host = device->host_number;
	if (!before || before == *host)
		return 0;
	return log_err(-EINVAL,
		       "the disks of %s and %s may have one name, which this format cannot tell "
		       "apart: export the captures of one machine",
		       host_source__label(s, before), host_source__label(s, *host));
}
