/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_programs.c: which programs, and when? Chosen by the kernel's BTF and by what is wanted,
 * completed, loaded, attached ends first, detached starts first.
 */
#include "collect/io_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/privilege.h"
#include "bpf/io.skel.h"
#include "collect/io_complete.h"
#include "collect/target.h"
#include "collect/types.h"

static void io_autoload_stages(const struct io *io, bool nvme, bool block, bool typed_block)
{
	struct io_bpf *s = io->skel;
	bool stages = io->wants.stages, bios = io_knows_bios(io);
	bool between = stages && !io->wants.whole;
	bool typed_bio = typed_block && !io->kernel.bio_queue_argument;
	bool ladder = typed_block && io_has_ladders(io);

	bpf_program__set_autoload(s->progs.io_ladder_queue, ladder);
	bpf_program__set_autoload(s->progs.io_ladder_setup, ladder);
	bpf_program__set_autoload(s->progs.io_ladder_done_c, ladder);
	bpf_program__set_autoload(s->progs.io_ladder_end, ladder);
	bpf_program__set_autoload(s->progs.io_nvme_setup_s, bios && nvme && io->direct && !ladder);
	bpf_program__set_autoload(s->progs.io_nvme_setup_sr, bios && nvme && !io->direct);
	bpf_program__set_autoload(s->progs.io_block_issue_s, bios && block && typed_block);
	bpf_program__set_autoload(s->progs.io_block_issue_sr, bios && block && !typed_block);
	bpf_program__set_autoload(s->progs.io_request_end, stages && typed_block && !ladder);
	bpf_program__set_autoload(s->progs.io_request_end_r, stages && !typed_block);
	bpf_program__set_autoload(s->progs.io_bio_queue, bios && typed_bio && !ladder);
	bpf_program__set_autoload(s->progs.io_bio_queue_r, bios && !typed_bio && !ladder);
	bpf_program__set_autoload(s->progs.io_bio_file,
				  bios && io->wants.files && !io_finds_files_at_end(io));
	bpf_program__set_autoload(s->progs.io_bio_volume, io->volumes.dm_end != 0);
	bpf_program__set_autoload(s->progs.io_bio_getrq, between && !io_names_waits(io));
	bpf_program__set_autoload(s->progs.io_bio_getrq_w, between && io_names_waits(io));
	bpf_program__set_autoload(s->progs.io_bio_split, bios);
	bpf_program__set_autoload(s->progs.io_bio_forget, bios && !io->wants.bios);
	bpf_program__set_autoload(s->progs.io_bios_forget, bios && !stages);
	bpf_program__set_autoload(s->progs.io_bio_ended, io->wants.bios);
	bpf_program__set_autoload(s->progs.io_bios_end, io->wants.bios);
	bpf_program__set_autoload(s->progs.io_insert, between);
	bpf_program__set_autoload(s->progs.io_nvme_issue, between && nvme);
	bpf_program__set_autoload(s->progs.io_nvme_reap, between && nvme);
	io_autoload_waits(io);
}

/* One of the three, if any: the second one measures itself, the third one also times only some. */
static void io_autoload_either(const struct io *io, bool any, struct bpf_program *usual,
			       struct bpf_program *measuring, struct bpf_program *sampling)
{
	bool sampled = io->wants.budget > 0;

	bpf_program__set_autoload(usual, any && !io->wants.own_cost);
	bpf_program__set_autoload(measuring, any && io->wants.own_cost && !sampled);
	bpf_program__set_autoload(sampling, any && io->wants.own_cost && sampled);
}

static void io_autoload(const struct io *io)
{
	struct io_bpf *s = io->skel;
	bool nvme = io__sees_nvme(io), block = !io->nr_choices || io_wants_block(io);
	bool typed_block = io->direct && kernel__may_type_block(&io->kernel);
	bool cast = io_may_cast(io) && !(typed_block && io_has_ladders(io));
	bool plain = !io_knows_bios(io); /* stages and owners have programs of their own */

	io_autoload_either(io, nvme && io->direct && plain, s->progs.io_nvme_setup,
			   s->progs.io_nvme_setup_m, s->progs.io_nvme_setup_b);
	io_autoload_either(io, nvme && io->direct && !io_may_cast(io), s->progs.io_nvme_end,
			   s->progs.io_nvme_end_m, s->progs.io_nvme_end_b);
	io_autoload_either(io, nvme && io->direct && cast, s->progs.io_nvme_end_c,
			   s->progs.io_nvme_end_cm, s->progs.io_nvme_end_cb);
	bpf_program__set_autoload(s->progs.io_nvme_setup_r, plain && nvme && !io->direct);
	bpf_program__set_autoload(s->progs.io_nvme_end_r, nvme && !io->direct);
	io_autoload_either(io, block && typed_block && plain, s->progs.io_block_issue,
			   s->progs.io_block_issue_m, s->progs.io_block_issue_b);
	io_autoload_either(io, block && typed_block && !io->wants.stages, s->progs.io_block_end,
			   s->progs.io_block_end_m, s->progs.io_block_end_b);
	bpf_program__set_autoload(s->progs.io_block_issue_r, plain && block && !typed_block);
	bpf_program__set_autoload(s->progs.io_block_end_r,
				  !io->wants.stages && block && !typed_block);
	bpf_program__set_autoload(s->progs.io_error, nvme && io->kernel.has_rq_error);
	bpf_program__set_autoload(s->progs.io_error_old, nvme && !io->kernel.has_rq_error);
	bpf_program__set_autoload(s->progs.io_nvme_cancelled,
				  nvme && io->wants.troubles && io->wants.only_troubled);
	bpf_program__set_autoload(s->progs.io_nvme_async, nvme && io->wants.troubles);
	io_autoload_stages(io, nvme, block, typed_block);
}

static int io_complete_programs(const struct io *io)
{
	const struct io_completion c = {
		.settings = io_settings(io),
		.table_fds = { [IO_TABLE_SLOTS] = io->slot_cells.fd,
			       [IO_TABLE_ROWS] = io->row_cells.fd,
			       [IO_TABLE_BIOS] =
				       io_knows_bios(io) ? io->bio_cells.fd : io->slot_cells.fd,
			       [IO_TABLE_SAMPLED] = io->wants.budget > 0 ? io->sampled_cells.fd
									 : io->slot_cells.fd,
			       [IO_TABLE_LADDERS] =
				       io_has_cells(io) ? io->ladder_cells.fd : io->slot_cells.fd },
		.rdonly_cast_id = io->kernel.rdonly_cast_id,
	};

	return io_complete__programs(io->skel->obj, &c);
}

/* Functions that the verifier checks separately find the tables as maps. */
static int io_lend_tables(const struct io *io)
{
	struct io_bpf *s = io->skel;
	bool stacks = io->wants.kernel_stacks || io->wants.user_stacks;
	int err = bpf_map__set_max_entries(s->maps.io_files, io->wants.files ? FILES_MOST : 1);

	err = err ?: bpf_map__set_autocreate(s->maps.io_stacks, stacks);
	err = err ?: bpf_map__set_autocreate(s->maps.io_stacks_sent, stacks);
	err = err ?: bpf_map__set_autocreate(s->maps.io_waits, io_names_waits(io));
	err = err ?: io_size_unwind(io);

	if (!err && !io_knows_bios(io)) {
		err = bpf_map__set_autocreate(s->maps.io_slots, false);
		err = err ?: bpf_map__set_autocreate(s->maps.io_rows, false);
		return err ?: bpf_map__set_autocreate(s->maps.io_bios, false);
	}
	err = err ?: bpf_map__reuse_fd(s->maps.io_slots, io->slot_cells.fd);
	err = err ?: bpf_map__reuse_fd(s->maps.io_rows, io->row_cells.fd);
	return err ?: bpf_map__reuse_fd(s->maps.io_bios, io->bio_cells.fd);
}

static int io_size_maps(const struct io *io)
{
	const struct io_bpf *s = io->skel;
	uint32_t nr_chunks = row_plan__nr_chunks(&io->row_plan);
	int err = bpf_map__set_max_entries(s->maps.io_keys, io->row_plan.nr_keys);

	err = err ?: bpf_map__set_max_entries(s->maps.io_chunks, nr_chunks);
	err = err ?: bpf_map__set_max_entries(s->maps.io_rings, io->nr_cpus);
	return err ?: bpf_map__set_autocreate(s->maps.io_rings, io->wants.records);
}

static int io_open_object(struct io *io, const char *types_path)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = types_path);

	io_bpf__destroy(io->skel);
	io->skel = io_bpf__open_opts(&opts);
	if (!io->skel)
		return log_err(-errno, "cannot open the BPF object: %s", strerror(errno));
	return io_set(io);
}

static int io_load_programs(struct io *io)
{
	struct targets targets = targets__of(&io->kernel);
	int err = targets__aim_all(&targets, io->skel->obj);

	err = err ?: io_bpf__load(io->skel);
	targets__close(&targets);
	return err;
}

static int io_load_object(struct io *io, const struct types *types)
{
	int err = types__fill(types, io->kernel.btf, bpf_object__btf(io->skel->obj));

	io_autoload(io);
	err = err ?: io_size_maps(io);
	err = err ?: io_lend_tables(io);
	err = err ?: io_complete_programs(io);
	err = err ?: io_load_programs(io);
	log_verbose("programs with %s pointers: %s", io->direct ? "typed" : "plain",
		    err ? strerror(-err) : "loaded");
	io->typed_err = io->direct ? err : io->typed_err;
	return err;
}

/* Typed pointers first: they are cheaper. Plain ones work without module BTF and SYS_ADMIN. */
int io_load(struct io *io)
{
	struct types types;
	const char *path = types__open(&types);
	int err = -ENOTSUP, failed = targets__take_over();

	for (int direct = kernel__may_type(&io->kernel, io__sees_nvme(io));
	     direct >= 0 && err && !failed; direct--) {
		io->direct = direct;
		failed = io_open_object(io, path);
		err = failed ?: io_load_object(io, &types);
	}
	types__close(&types);
	if (failed)
		return failed;
	/* A lack in the BTF is a better reason than the verifier's error. */
	if (err && io->kernel.missing && err != -EPERM && err != -EACCES)
		return start__stop(&io->start, START_SHAPE, err, io->kernel.missing);
	return err ? start__stop(&io->start, START_PROGRAMS, err, NULL) : 0;
}

/* ---- attach: ends before starts, so that every seen start has its end seen ---- */

/* What is lost if an event cannot be watched. */
enum io_loss {
	IO_LOSES_ALL,
	IO_LOSES_STAGE, /* left out where this kernel lacks it; the rest is useful */
	IO_LOSES_EVENT, /* likewise */
};

/* Where the skeleton has a program and its link. */
struct io_place {
	size_t program, link;
	enum io_loss loss;
};

#define LINK(name)  offsetof(struct io_bpf, links.name)
#define PLACE(name) offsetof(struct io_bpf, progs.name), LINK(name)
#define MUST(name)                        \
	{                                 \
		PLACE(name), IO_LOSES_ALL \
	}
#define STAGE(name)                         \
	{                                   \
		PLACE(name), IO_LOSES_STAGE \
	}
#define EVENT(name)                         \
	{                                   \
		PLACE(name), IO_LOSES_EVENT \
	}

/* The end of every request and its bios, for any kind of disk; then the events before a setup. */
static const struct io_place io_stages[] = {
	MUST(io_bios_end),
	MUST(io_request_end),
	MUST(io_request_end_r),
	MUST(io_ladder_end),
	MUST(io_bio_ended),
	MUST(io_bios_forget),
	STAGE(io_bio_forget),
	STAGE(io_nvme_reap),
	STAGE(io_nvme_issue),
	STAGE(io_insert),
	STAGE(io_bio_getrq),
	STAGE(io_bio_getrq_w),
	STAGE(io_bio_split),
	STAGE(io_bio_queue),
	STAGE(io_bio_queue_r),
	STAGE(io_bio_file),
	STAGE(io_bio_volume),
	STAGE(io_ladder_queue),
	{ 0 },
};
static const struct io_place io_nvme[] = {
	MUST(io_requeue),	 MUST(io_error),	MUST(io_error_old),
	MUST(io_nvme_cancelled), EVENT(io_nvme_async),	MUST(io_nvme_end),
	MUST(io_nvme_end_c),	 MUST(io_nvme_end_r),	MUST(io_nvme_end_m),
	MUST(io_nvme_end_cm),	 MUST(io_nvme_end_b),	MUST(io_nvme_end_cb),
	MUST(io_ladder_done_c),	 MUST(io_nvme_setup),	MUST(io_nvme_setup_b),
	MUST(io_nvme_setup_m),	 MUST(io_nvme_setup_r), MUST(io_nvme_setup_s),
	MUST(io_nvme_setup_sr),	 MUST(io_ladder_setup), { 0 },
};
static const struct io_place io_block[] = {
	MUST(io_requeue),	MUST(io_block_end),	 MUST(io_block_end_m),
	MUST(io_block_end_b),	MUST(io_block_end_r),	 MUST(io_block_issue),
	MUST(io_block_issue_m), MUST(io_block_issue_b),	 MUST(io_block_issue_r),
	MUST(io_block_issue_s), MUST(io_block_issue_sr), { 0 },
};

static int io_attach_one(struct io *io, const struct io_place *place)
{
	struct bpf_program *program = *(struct bpf_program **)((char *)io->skel + place->program);
	struct bpf_link **link = (struct bpf_link **)((char *)io->skel + place->link);
	const char *event = strchr(bpf_program__section_name(program), '/') + 1;

	if (*link || !bpf_program__autoload(program))
		return 0;
	*link = bpf_program__attach(program);
	if (*link)
		return 0;
	if (place->loss == IO_LOSES_ALL)
		return start__stop(&io->start, START_ATTACH, -errno, event);
	log_warn("cannot attach to %s (%s): %s not shown", event, strerror(errno),
		 place->loss == IO_LOSES_STAGE ? "this stage is" : "this event is");
	return 0;
}

static int io_attach_all(struct io *io, const struct io_place *place)
{
	int err = 0;

	for (; place->program && !err; place++)
		err = io_attach_one(io, place);
	return err;
}

bool io_has_block(const struct io *io)
{
	const struct io_bpf *s = io->skel;

	return bpf_program__autoload(s->progs.io_block_issue) ||
	       bpf_program__autoload(s->progs.io_block_issue_m) ||
	       bpf_program__autoload(s->progs.io_block_issue_b) ||
	       bpf_program__autoload(s->progs.io_block_issue_r) ||
	       bpf_program__autoload(s->progs.io_block_issue_s) ||
	       bpf_program__autoload(s->progs.io_block_issue_sr);
}

int io_attach_block(struct io *io)
{
	int err = io_attach_all(io, io_block);

	__atomic_store_n(&io->skel->data->block_attached_ns, clock__mono_ns(), __ATOMIC_SEQ_CST);
	io->block_attached = !err;
	return err;
}

int io_attach(struct io *io)
{
	int err = io_attach_all(io, io_stages);
	bool block_now;

	if (!err)
		io_attach_waits(io);
	if (!err && io__sees_nvme(io)) {
		err = io_attach_all(io, io_nvme);
		io->nvme_attached = !err;
	}
	/*
	 * On a machine with only NVMe the block programs would see only commands that others
	 * measure, at 50 % more instructions: they wait for a disk of theirs. By then the
	 * privileges are dropped; where that prevents attaching, they are attached at once.
	 */
	block_now = io_wants_block(io) || (io_has_block(io) && !privilege__can_attach_without());
	if (!err && block_now)
		err = io_attach_block(io);
	__atomic_store_n(&io->skel->data->attached_ns, clock__mono_ns(), __ATOMIC_SEQ_CST);
	return err;
}

/* ---- detach: starts first, so that ends of started commands are still seen ---- */

static const size_t io_starts[] = {
	LINK(io_nvme_setup),	LINK(io_nvme_setup_r),	LINK(io_block_issue),
	LINK(io_block_issue_r), LINK(io_nvme_setup_s),	LINK(io_nvme_setup_sr),
	LINK(io_ladder_setup),	LINK(io_block_issue_s), LINK(io_block_issue_sr),
	LINK(io_nvme_setup_m),	LINK(io_block_issue_m), LINK(io_nvme_setup_b),
	LINK(io_block_issue_b),
};
/* From /proc: bpf() gives the same, but before 5.19 not to a process without capabilities. */
static int io_count_skips(const struct bpf_program *program, uint64_t *skipped)
{
	unsigned long long nr = 0;
	char path[64], line[128];
	FILE *file;

	if (bpf_program__fd(program) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bpf_program__fd(program));
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "recursion_misses: %llu", &nr) == 1)
			*skipped += nr;
	fclose(file);
	return 0;
}

int io__count_skipped(const struct bpf_object *object, uint64_t *skipped)
{
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, object) err = err ?: io_count_skips(program, skipped);
	return err;
}

/* A run may not be allowed to open them later. */
int io_open_skips(struct io *io)
{
	struct bpf_program *program;
	char path[64];
	int fd;

	bpf_object__for_each_program(program, io->skel->obj)
	{
		if (bpf_program__fd(program) < 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bpf_program__fd(program));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		if (GROW_BY_ONE(io->skip_files, io->nr_skip_files)) {
			close(fd);
			return -ENOMEM;
		}
		io->skip_files[io->nr_skip_files++] = fd;
	}
	return 0;
}

void io_close_skips(struct io *io)
{
	while (io->nr_skip_files)
		close(io->skip_files[--io->nr_skip_files]);
	free(io->skip_files);
	io->skip_files = NULL;
}

int io__recount_skipped(struct io *io)
{
	static const char word[] = "recursion_misses:";
	uint64_t skipped = 0;
	char text[1024];

	if (io->skips_err)
		return io->skips_err;
	for (size_t i = 0; i < io->nr_skip_files; i++) {
		ssize_t len = pread(io->skip_files[i], text, sizeof(text) - 1, 0);
		const char *at;

		if (len < 0)
			return -errno;
		text[len] = '\0';
		at = strstr(text, word);
		if (at)
			skipped += strtoull(at + strlen(word), NULL, 10);
	}
	io->skipped = skipped;
	return 0;
}

void io__wait_for_programs(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	usleep(1000);
}

void io__detach(struct io *io)
{
	struct io_bpf *s = io->skel;
	int err;

	if (!s || !s->links.io_requeue) /* detached already */
		return;
	__atomic_store_n(&s->bss->closing, 1, __ATOMIC_SEQ_CST);
	io__wait_for_programs();
	for (size_t i = 0; i < sizeof(io_starts) / sizeof(io_starts[0]); i++) {
		struct bpf_link **link = (struct bpf_link **)((char *)s + io_starts[i]);

		bpf_link__destroy(*link);
		*link = NULL;
	}
	io__wait_for_programs();
	/*
	 * Whether a command that just failed has ended or is retried shows within 100 ms. Leaving
	 * earlier would count it as in flight and show nothing of it.
	 */
	if (slot_table__is_unsettled(&io->slots, clock__mono_ns()))
		usleep(SLOT_SETTLED_NS / 1000 + 1000);
	io_bpf__detach(s);
	io__wait_for_programs();
	err = io__recount_skipped(io);
	if (err)
		log_warn("cannot tell whether the kernel skipped programs: /proc/self/fdinfo: %s",
			 strerror(-err));
}
