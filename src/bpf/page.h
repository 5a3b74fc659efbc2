/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * page.h: which folio does a page belong to? Only the first page of a folio knows its file and its
 * place there.
 */
#ifndef IOSONAR_BPF_PAGE_H
#define IOSONAR_BPF_PAGE_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "bpf/cell.h"
#include "bpf/kernel.h"

/* A tail page names its head: by address, or by a mask since 7.0. */
inline_always struct page *page_head(struct page *page)
{
	struct page___info *newer = (void *)page;
	__u64 info = bpf_core_field_exists(newer->compound_info)
			     ? BPF_CORE_READ(newer, compound_info)
			     : BPF_CORE_READ(page, compound_head);

	if (!(info & 1))
		return page;
	/* A mask has all high bits set; no page lies in the last GiB. */
	return (void *)(~info < 1 << 30 ? (__u64)page & info : info - 1);
}

#endif
