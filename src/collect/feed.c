/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/feed.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/btf.h>
#include "base/log.h"
#include "collect/file_names.h"
#include "collect/io.h"
#include "collect/kernel.h"
#include "collect/target.h"
#include "collect/types.h"

/* ---- the start ---- */

int feed__begin(struct feed *f)
{
	int err = 0;

	io__hush_libbpf();
	f->nr_cpus = (uint32_t)libbpf_num_possible_cpus();
	f->btf = kernel__load_btf(&err);
	if (!f->btf)
		return obstacle__say(&(struct start){ START_BTF, err });
	mounts__read(&f->mounts, "/proc/self/mountinfo");
	return 0;
}

static int feed_size(const struct feed *f, uint64_t buffer_bytes)
{
	uint32_t power = (uint32_t)sysconf(_SC_PAGESIZE);
	int err = bpf_map__set_max_entries(f->counts, f->nr_cpus);

	if (err || !buffer_bytes)
		return err;
	while (power < buffer_bytes)
		power *= 2;
	return bpf_map__set_max_entries(f->records, power);
}

static int feed_open(const struct feed_steps *steps, void *owner, const char *types_path)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = types_path);
	int err = steps->open(owner, &opts);

	return err ? log_err(err, "cannot open the BPF object: %s", strerror(-err)) : 0;
}

int feed__load(struct feed *f, const struct feed_steps *steps, void *owner, uint64_t buffer_bytes,
	       struct start *start)
{
	struct types types;
	int err = targets__take_over();

	if (err)
		return start->err = err;
	err = feed_open(steps, owner, types__open(&types));
	err = err ?: steps->set(owner);
	err = err ?: feed_size(f, buffer_bytes);
	if (!err) {
		start->step = START_PROGRAMS;
		start->err = steps->choose(owner);
		start->err =
			start->err
				?: types__fill(&types, f->btf, bpf_object__btf(*f->skeleton->obj));
		start->err = start->err ?: bpf_object__load_skeleton(f->skeleton);
	}
	types__close(&types);
	return err ?: start->err;
}

/* ---- programs ---- */

int feed__keep(struct feed *f, struct bpf_link *link)
{
	if (!link)
		return -errno;
	f->links[f->nr_links++] = link;
	return 0;
}

void feed__unlink(struct feed *f)
{
	while (f->nr_links)
		bpf_link__destroy(f->links[--f->nr_links]);
}

/* ---- tables ---- */

static size_t feed_bytes(const struct bpf_map *map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);

	return (bytes + page - 1) / page * page;
}

static int feed_map(void **to, const struct bpf_map *map)
{
	void *cells = mmap(NULL, feed_bytes(map), PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);

	if (cells == MAP_FAILED)
		return log_err(-errno, "cannot map the tables: %s", strerror(errno));
	*to = cells;
	return 0;
}

int feed__map(struct feed *f, ring_buffer_sample_fn fn, void *arg)
{
	int err = feed_map(&f->counted, f->counts) ?: feed_map(&f->named, f->files);

	btf__free(f->btf);
	f->btf = NULL;
	if (err)
		return err;
	f->ring = ring_buffer__new(bpf_map__fd(f->records), fn, arg, NULL);
	return f->ring ? 0 : log_err(-errno, "cannot map the ring: %s", strerror(errno));
}

/* ---- the end ---- */

void feed__detach(struct feed *f)
{
	if (!f->nr_links)
		return;
	feed__unlink(f);
	io__wait_for_programs();
	io__count_skipped(*f->skeleton->obj, &f->skipped);
}

void feed__free(struct feed *f)
{
	feed__unlink(f);
	ring_buffer__free(f->ring);
	if (f->counted)
		munmap(f->counted, feed_bytes(f->counts));
	if (f->named)
		munmap(f->named, feed_bytes(f->files));
	mounts__free(&f->mounts);
	btf__free(f->btf);
}

/* ---- reading ---- */

int feed__take(struct feed *f)
{
	int err = ring_buffer__consume(f->ring);

	return err < 0 ? err : 0;
}

void feed__count(const struct feed *f, uint64_t *to, size_t nr)
{
	const uint64_t *from = f->counted;

	for (uint32_t cpu = 0; cpu < f->nr_cpus; cpu++)
		for (size_t i = 0; i < nr; i++)
			to[i] += __atomic_load_n(&from[cpu * nr + i], __ATOMIC_RELAXED);
}

char *feed__file(const struct feed *f, uint64_t inode, uint64_t place)
{
	const struct io_file *file = io_file__find(f->named, inode, place);

	return file_names__text(&f->mounts, file, inode, (uint32_t)place);
}

const char *feed__fs(const struct feed *f, uint64_t inode, uint32_t dev)
{
	const struct mount *mount;

	if (inode == FILE_METADATA)
		return "bdev";
	mount = mounts__of_dev(&f->mounts, dev);
	return mount ? mount->type : "";
}
