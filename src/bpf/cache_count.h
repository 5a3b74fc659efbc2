/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cache_count.h: is an access wanted, and which row counts it? One row per key and CPU; a key holds
 * only what --by names.
 */
#ifndef IOSONAR_BPF_CACHE_COUNT_H
#define IOSONAR_BPF_CACHE_COUNT_H

#include "bpf/cache_kernel.h"
#include "bpf/cgroup.h"
#include "bpf/names.h"

const volatile struct cache_settings settings;
struct cache_counters counters;

TABLE(cache_keys, struct cache_key, 1);
TABLE(cache_rows, struct cache_row, 1);
TABLE(cache_files, struct io_file, 1);

/* ---- filters ---- */

inline_always bool comm_is_wanted(void)
{
	__u64 comm[2] = {};

	bpf_get_current_comm(comm, sizeof(comm));
	return comm[0] == settings.filter_comm[0] && comm[1] == settings.filter_comm[1];
}

inline_always bool task_is_wanted(void)
{
	if (settings.filter_pid || settings.filter_tid) {
		__u64 id = bpf_get_current_pid_tgid();

		if (settings.filter_pid && settings.filter_pid != id >> 32)
			return false;
		if (settings.filter_tid && settings.filter_tid != (__u32)id)
			return false;
	}
	if (settings.filter_comm[0] && !comm_is_wanted())
		return false;
	return !settings.filter_cgroup ||
	       cgroup_ancestor(settings.filter_cgroup_level) == settings.filter_cgroup;
}

inline_always bool dev_is_wanted(__u32 dev)
{
	for (__u32 i = 0; i < CACHE_DEVS; i++) {
		if (i >= settings.nr_devs)
			return false;
		if (settings.devs[i] == dev)
			return true;
	}
	return false;
}

inline_always bool file_is_wanted(const struct cached_file *f)
{
	if (settings.filter_file &&
	    (f->inode != settings.filter_inode || f->dev != settings.filter_dev))
		return false;
	return !settings.nr_devs || dev_is_wanted(f->dev);
}

inline_always struct cached_file file_of(__u64 mapping)
{
	return file_in((void *)mapping, settings.tells_files, PLAIN);
}

/* ---- names of files ---- */

/* The verifier checks it separately: its arguments are passed as numbers. */
__attribute__((noinline)) int cache_note_file(__u64 host, __u64 inode, __u32 dev)
{
	const struct file_seen seen = { host, inode, dev, inode_generation((void *)host) };

	return file_find_nth(&cache_files, &seen, &counters.no_file);
}

/* Which of the files that had its inode; a new file is named. */
inline_always __u32 cached_file_nth(const struct cached_file *f)
{
	return f->inode && f->inode < FILE_SPECIAL ? cache_note_file(f->host, f->inode, f->dev) : 0;
}

/* ---- keys ---- */

inline_always void key_build(struct cache_key *key, const struct cached_file *f, enum cache_op op)
{
	__builtin_memset(key, 0, sizeof(*key));
	if (settings.by_pid)
		key->pid = bpf_get_current_pid_tgid() >> 32;
	if (settings.by_comm)
		bpf_get_current_comm(key->comm, sizeof(key->comm));
	if (settings.by_cgroup)
		key->cgroup = bpf_get_current_cgroup_id();
	if (settings.by_file)
		key->inode = f->inode;
	if (settings.by_file || settings.by_dev)
		key->dev = f->dev;
	key->what = cache_key_what(settings.by_op ? op + 1 : 1,
				   settings.by_file ? cached_file_nth(f) : 0);
}

inline_always bool key_is(const struct cache_key *cell, const struct cache_key *key)
{
	const __u64 *a = (const void *)cell, *b = (const void *)key;

	_Static_assert(__builtin_offsetof(struct cache_key, what) == 40, "compared in five words");
	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3] && a[4] == b[4] &&
	       fresh(cell->what) == key->what;
}

inline_always __u32 key_home(const struct cache_key *key)
{
	const __u64 *word = (const void *)key;
	__u64 h = 0;

#pragma unroll
	for (__u32 i = 0; i < 5; i++)
		h = (h ^ word[i]) * 0x9e3779b97f4a7c15ULL;
	return (h ^ key->what * 0xd6e8feb86659fd93ULL) >> 32;
}

/* The key's number, from 1; 0: no room. Equal keys may get two numbers: they are added up. */
inline_always __u32 key_find(const struct cache_key *key)
{
	__u32 home = key_home(key);

	for (__u32 i = 0; i < CACHE_PROBES; i++) {
		__u32 nr = (home + i) & settings.key_mask;
		struct cache_key *cell = bpf_map_lookup_elem(&cache_keys, &nr);

		if (!cell || !nr)
			continue;
		if (key_is(cell, key))
			return nr;
		if (!cell->what && cell_claim(&cell->claim)) {
			__builtin_memcpy(cell, key, 40);
			fresh(cell->what) = key->what;
			return nr;
		}
	}
	count_up(counters.no_key);
	return 0;
}

/* ---- rows ---- */

/* remembered: the number of the last key, which is usually the same again. */
inline_always struct cache_row *row_of(const struct cached_file *f, enum cache_op op,
				       __u32 *remembered)
{
	__u32 cpu = bpf_get_smp_processor_id(), nr = 0;
	struct cache_key key, *last;

	if (settings.any_by) {
		key_build(&key, f, op);
		last = bpf_map_lookup_elem(&cache_keys, remembered);
		if (last && *remembered && key_is(last, &key)) {
			nr = *remembered;
		} else {
			nr = key_find(&key);
			*remembered = nr;
		}
	}
	nr = nr * settings.nr_cpus + cpu;
	return bpf_map_lookup_elem(&cache_rows, &nr);
}

#define row_add(row, what, nr) add_to((row)->counts[what], nr)

#endif
