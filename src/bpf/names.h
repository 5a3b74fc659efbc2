/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * names.h: the names of a file, from its inode: its own and those of the directories above it, up
 * to the root of its file system. One of them, if it has several.
 */
#ifndef IOSONAR_BPF_NAMES_H
#define IOSONAR_BPF_NAMES_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "bpf/cell.h"
#include "bpf/kernel.h"
#include "wire/file.h"

/* Names up to the root of the file system. A file without any keeps its number. */
inline_always void file_fill_names(struct io_file *file, struct inode *inode)
{
	void *alias = BPF_CORE_READ(inode, i_dentry.first);
	struct dentry___u *older = 0;
	struct dentry *newer = 0, *dentry, *parent;
	__u32 at = 0, to_alias = bpf_core_field_exists(older->d_u)
					 ? bpf_core_field_offset(older->d_u)
					 : bpf_core_field_offset(newer->d_alias);

	if (!alias)
		return;
	dentry = alias - to_alias;
	for (__u32 i = 0; i < FILE_PARTS; i++) {
		const unsigned char *name = BPF_CORE_READ(dentry, d_name.name);
		long len;

		parent = BPF_CORE_READ(dentry, d_parent);
		if (parent == dentry || at > FILE_NAMES - FILE_PART_MOST - 1)
			break;
		len = bpf_probe_read_kernel_str(file->names + at, FILE_PART_MOST, name);
		if (len <= 1)
			break;
		at += len;
		dentry = parent;
	}
	/* More than fits: an ending that no name can be. */
	if (parent != dentry && at < FILE_NAMES)
		file->names[at] = '/';
}

#endif
