/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * names.h: which file is an inode, and what is it called? Its own name and those of its parent
 * directories, up to the root of its file system; of several names, one. A file without a name is
 * known by its number alone: it never gets the name of an earlier file with that number.
 */
#ifndef IOSONAR_BPF_NAMES_H
#define IOSONAR_BPF_NAMES_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "bpf/cell.h"
#include "bpf/kernel.h"
#include "wire/file_id.h"

inline_always struct dentry *inode_dentry(struct inode *inode)
{
	void *alias = BPF_CORE_READ(inode, i_dentry.first);
	struct dentry___u *older = 0;
	struct dentry *newer = 0;
	__u32 to_alias = bpf_core_field_exists(older->d_u) ? bpf_core_field_offset(older->d_u)
							   : bpf_core_field_offset(newer->d_alias);

	return alias ? alias - to_alias : 0;
}

/*
 * Tells it from the next file that gets its number. Some file systems (minix, sysv, hfsplus) keep
 * no generation: there only its name does.
 */
inline_always __u32 inode_generation(struct inode *inode)
{
	__u32 generation = BPF_CORE_READ(inode, i_generation);
	struct dentry *dentry;

	if (generation)
		return generation;
	dentry = inode_dentry(inode);
	return dentry ? BPF_CORE_READ(dentry, d_name.hash) : 0;
}

/* Collects names up to the root of the file system. False: the file has none. */
inline_always bool file_fill_names(struct io_file *file, struct inode *inode)
{
	struct dentry *dentry = inode_dentry(inode), *parent;
	__u32 at = 0;

	__builtin_memset(file->names, 0, sizeof(file->names));
	if (!dentry)
		return false;
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
	/* Truncated: marked by an ending that no name can have. */
	if (parent != dentry && at < FILE_NAMES)
		file->names[at] = '/';
	return file->names[0];
}

inline_always __u64 file_hash_names(const struct io_file *file)
{
	const __u64 *words = (const void *)file->names;
	__u64 h = 0;

#pragma unroll
	for (__u32 i = 0; i < FILE_NAMES / sizeof(*words); i++)
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15ULL ^ h >> 29;
	return h;
}

/* A file as a search describes it. */
struct file_seen {
	__u64 address, inode;
	__u32 dev, generation;
};

inline_always bool file_is_of(const struct io_file *file, const struct file_seen *seen)
{
	return file->dev == seen->dev && file->inode == seen->inode;
}

inline_always void file_is_now(struct io_file *file, const struct file_seen *seen)
{
	file->address = seen->address;
	file->generation = seen->generation;
}

/* Searches the names of its inode, in the cells from home on. */
inline_always struct io_file *file_find_hash(void *map, const struct file_seen *seen, __u64 hash)
{
	__u32 home = io_file_home(seen->inode, seen->dev);

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < FILE_PROBES; i++) {
		__u32 nr = (home + i) & (FILES_MOST - 1);
		struct io_file *file = bpf_map_lookup_elem(map, &nr);

		if (!file || !file->dev)
			break;
		if (file_is_of(file, seen) && file->hash == hash)
			return file;
	}
	return 0;
}

/* Fills a free cell that we hold. Returns its nth, or that of a cell with the same names. */
inline_always __u32 file_name(void *map, struct io_file *file, const struct file_seen *seen,
			      __u32 nth)
{
	struct io_file *same;
	__u64 hash;

	if (!file_fill_names(file, (void *)seen->address))
		return FILE_UNNAMED;
	hash = file_hash_names(file);
	same = file_find_hash(map, seen, hash);
	if (same) {
		file_is_now(same, seen);
		return same->nth;
	}
	file_is_now(file, seen);
	file->inode = seen->inode;
	file->nth = nth;
	file->hash = hash;
	fresh(file->dev) = seen->dev;
	return nth;
}

/*
 * Which of the files that had its inode: its nth, or FILE_UNNAMED. A file is named when it is first
 * seen. Cells are never freed, so the first free one ends the search.
 */
inline_always __u32 file_find_nth(void *map, const struct file_seen *seen, __u64 *no_room)
{
	__u32 home = io_file_home(seen->inode, seen->dev), mine = bpf_get_smp_processor_id() + 1;
	__u32 nth = 0;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < FILE_PROBES; i++) {
		__u32 nr = (home + i) & (FILES_MOST - 1);
		struct io_file *file = bpf_map_lookup_elem(map, &nr);

		if (!file)
			return FILE_UNNAMED;
		if (file_is_of(file, seen)) {
			if (file->address == seen->address && file->generation == seen->generation)
				return file->nth;
			nth++;
		}
		if (file->dev || !cell_hold(&file->claim, mine))
			continue;
		if (!fresh(file->dev)) {
			nth = file_name(map, file, seen, nth);
			cell_release(&file->claim, mine);
			return nth;
		}
		cell_release(&file->claim, mine);
	}
	count_up(*no_room);
	return FILE_UNNAMED;
}

#endif
