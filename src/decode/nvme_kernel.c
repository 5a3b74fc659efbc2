/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include "decode/nvme.h"

enum { NVME_MORE = 0x2000 };

/* "unrecovered read error", "write-zeroes": capitalises each word. */
static void kernel_title(struct words *w, const char *text)
{
	bool first = true;

	for (; *text; text++) {
		char c = *text == '-' ? ' ' : *text;

		words__char(w, first ? (char)toupper((unsigned char)c) : c);
		first = c == ' ';
	}
}

/* Where the kernel's word differs from ours. */
static const char *kernel_op(const struct io_record *r)
{
	const char *op = nvme_command__name(r->kind, r->op);

	if (r->kind == IO_NVME && r->op == 0x09)
		return "dataset-management";
	return op ? op : "unknown";
}

static void kernel_place(struct words *w, const struct io_record *r, uint32_t block_size)
{
	uint64_t lba;

	if (r->kind != IO_NVME || !nvme_command__lba(r, &lba))
		return;
	words__str(w, " @ LBA ");
	words__u64(w, lba);
	words__str(w, ", ");
	words__u64(w, block_size ? r->bytes / block_size : 0);
	words__str(w, " blocks");
}

void nvme_kernel__line(struct words *w, const struct io_record *r, const char *dev,
		       uint32_t block_size)
{
	const char *status = nvme_status__name((enum io_kind)r->kind, r->status);

	words__str(w, dev);
	words__str(w, ": ");
	kernel_title(w, kernel_op(r));
	words__char(w, '(');
	words__hex(w, r->op, 1);
	words__char(w, ')');
	kernel_place(w, r, block_size);
	words__str(w, ", ");
	kernel_title(w, status ? status : "unknown");
	words__str(w, " (sct ");
	words__hex(w, r->status >> 8 & 7, 1);
	words__str(w, " / sc ");
	words__hex(w, r->status & 0xff, 1);
	words__str(w, ") ");
	if (r->status & NVME_MORE)
		words__str(w, "MORE ");
	if (r->status & NVME_DNR)
		words__str(w, "DNR ");
}
