/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_machine.h: a plan's programs on this kernel without an event: maps are made, programs
 * loaded as raw tracepoints and run by BPF_PROG_TEST_RUN, with 12 words of our own as ctx. These
 * are arguments, or the bytes of a record: the loads are the same.
 */
#ifndef IOSONAR_TESTS_PROBE_MACHINE_H
#define IOSONAR_TESTS_PROBE_MACHINE_H

#define _GNU_SOURCE 1 /* sched_setaffinity */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include "wire/probe_maps.h"
#include "probe/code/program.h"
#include "tap.h"

enum { MACHINE_WORDS = 12, MACHINE_STACK_FRAMES = 32, MACHINE_FOLLOWED = 8, MACHINE_LOG = 1 << 20 };

struct machine {
	const struct plan *plan;
	struct program_maps maps;
	struct ring_buffer *reader;
	int ring;
	int nr_cpus, cpu;
	/* the last record */
	struct probe_record record;
	uint8_t values[PLAN_MAX_SHOWN];
	size_t nr_records;
};

static char machine_log[MACHINE_LOG];

__attribute__((unused)) static bool machine_may_load(void)
{
	const struct bpf_insn nothing[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
					    { .code = BPF_JMP | BPF_EXIT } };
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "nothing", "GPL", nothing, 2, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* So that one CPU's numbers are all there are. */
__attribute__((unused)) static void machine_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int machine_on_record(void *arg, void *data, size_t size)
{
	struct machine *m = arg;

	memcpy(&m->record, data, sizeof(m->record));
	memcpy(m->values, (char *)data + sizeof(m->record), size - sizeof(m->record));
	m->nr_records++;
	return 0;
}

static int machine_map(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries)
{
	int fd = key ? bpf_map_create(type, "test", key, value, entries, NULL) : -1;

	if (key && fd < 0)
		printf("# a map of type %d: %s\n", type, strerror(errno));
	return fd;
}

static bool machine_open_rings(struct machine *m)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	m->ring = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "test", 0, 0, 1 << 18, NULL);
	opts.inner_map_fd = (uint32_t)m->ring;
	m->maps.rings = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "test", 4, 4,
				       (uint32_t)m->nr_cpus, &opts);
	if (m->ring < 0 || m->maps.rings < 0 ||
	    bpf_map_update_elem(m->maps.rings, &m->cpu, &m->ring, BPF_ANY))
		return false;
	m->reader = ring_buffer__new(m->ring, machine_on_record, m, NULL);
	return m->reader;
}

/* cpu: the one we are pinned to. */
__attribute__((unused)) static bool machine_open(struct machine *m, const struct plan *plan,
						 int cpu)
{
	memset(m, 0, sizeof(*m));
	m->plan = plan;
	m->cpu = cpu;
	m->nr_cpus = libbpf_num_possible_cpus();
	m->ring = m->maps.rings = -1;
	m->maps.cells = machine_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct probe_cell),
				    (uint32_t)plan->nr_probes);
	m->maps.rows = machine_map(BPF_MAP_TYPE_PERCPU_HASH, plan__row_key_bytes(plan),
				   sizeof(struct probe_row), 64);
	m->maps.starts = machine_map(BPF_MAP_TYPE_HASH, plan__start_key_bytes(plan),
				     plan__start_bytes(plan), 8);
	m->maps.cgroup = machine_map(BPF_MAP_TYPE_CGROUP_ARRAY, 4, 4, 1);
	m->maps.stacks = machine_map(BPF_MAP_TYPE_STACK_TRACE, 4, 8 * MACHINE_STACK_FRAMES, 64);
	m->maps.followed =
		machine_map(BPF_MAP_TYPE_HASH, plan->is_calls ? 8 : 0, 8, MACHINE_FOLLOWED);
	m->maps.gate = machine_map(BPF_MAP_TYPE_ARRAY, plan->is_calls ? 4 : 0, 8, 1);
	return !plan__has_records(plan) || machine_open_rings(m);
}

__attribute__((unused)) static void machine_close(struct machine *m)
{
	const int fds[] = { m->maps.cells,    m->maps.rows,  m->maps.starts,
			    m->maps.stacks,   m->maps.rings, m->maps.cgroup,
			    m->maps.followed, m->maps.gate,  m->ring };
	size_t i;

	ring_buffer__free(m->reader);
	for (i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void machine_show_log(const struct program *program, const char *log)
{
	const struct value *blamed = program__blame(program, log);
	size_t len = strlen(log);
	const char *line = len > 3000 ? log + len - 3000 : log;

	if (blamed && blamed->source)
		printf("# refused for '%.*s'\n", (int)blamed->len, blamed->source + blamed->at);
	while (*line) {
		printf("# %.*s\n", (int)strcspn(line, "\n"), line);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
}

/* Made and loaded as a raw tracepoint. -1: refused, and why is shown. */
__attribute__((unused)) static int machine_load(struct machine *m, struct program_wants wants)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	struct program program;
	int fd;

	wants.plan = m->plan;
	wants.maps = &m->maps;
	wants.cell = (uint32_t)wants.probe;
	if (program__make(&program, &wants))
		return -1;
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "test", "GPL", program.insns, program.nr,
			   &opts);
	if (fd < 0) {
		opts.log_buf = machine_log;
		opts.log_size = sizeof(machine_log);
		opts.log_level = 1;
		machine_log[0] = 0;
		printf("# not loaded: %s\n", strerror(errno));
		if (bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "test", "GPL", program.insns,
				  program.nr, &opts) < 0)
			machine_show_log(&program, machine_log);
	}
	program__free(&program);
	return fd;
}

__attribute__((unused)) static bool machine_run(struct machine *m, int fd, const void *words)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = words, .ctx_size_in = 8 * MACHINE_WORDS);
	int err = bpf_prog_test_run_opts(fd, &opts);

	if (err)
		printf("# it was not run: %s\n", strerror(-err));
	if (m->reader)
		ring_buffer__consume(m->reader);
	return !err;
}

/* Of this CPU. */
__attribute__((unused)) static struct probe_cell machine_cell(const struct machine *m,
							      uint32_t program)
{
	struct probe_cell *cells = calloc((size_t)m->nr_cpus, sizeof(*cells)), cell = { 0 };

	if (cells && !bpf_map_lookup_elem(m->maps.cells, &program, cells))
		cell = cells[m->cpu];
	free(cells);
	return cell;
}

/* Of this CPU; false: there is no such row. */
__attribute__((unused)) static bool machine_row(const struct machine *m, const void *key,
						struct probe_row *row)
{
	struct probe_row *rows = calloc((size_t)m->nr_cpus, sizeof(*rows));
	bool found = rows && !bpf_map_lookup_elem(m->maps.rows, key, rows);

	if (found)
		*row = rows[m->cpu];
	free(rows);
	return found;
}

__attribute__((unused)) static void machine_forget_rows(const struct machine *m)
{
	uint8_t key[PLAN_MAX_KEY + 8];

	while (!bpf_map_get_next_key(m->maps.rows, NULL, key))
		if (bpf_map_delete_elem(m->maps.rows, key))
			break;
}

/* What all rows of the table count, on all CPUs. */
static uint64_t machine_in_rows(const struct machine *m)
{
	struct probe_row *rows = calloc((size_t)m->nr_cpus, sizeof(*rows));
	uint8_t key[PLAN_MAX_KEY + 8];
	bool is_first = true;
	uint64_t count = 0;

	while (rows && m->maps.rows >= 0 &&
	       !bpf_map_get_next_key(m->maps.rows, is_first ? NULL : key, key)) {
		is_first = false;
		if (!bpf_map_lookup_elem(m->maps.rows, key, rows))
			for (int cpu = 0; cpu < m->nr_cpus; cpu++)
				count += rows[cpu].count;
	}
	free(rows);
	return count;
}

/* Of all programs, as run__counts adds them up. */
__attribute__((unused)) static void machine_counters(const struct machine *m, uint64_t *counters)
{
	uint64_t in_rows = machine_in_rows(m);

	memset(counters, 0, NR_PROBE_COUNTERS * sizeof(*counters));
	for (uint32_t i = 0; i < m->plan->nr_probes; i++) {
		struct probe_cell cell = machine_cell(m, i);

		for (int j = 0; j < NR_PROBE_COUNTERS; j++)
			counters[j] += cell.counters[j];
		counters[PROBE_ADDED] += cell.row.count;
	}
	counters[PROBE_ADDED] += in_rows;
	if (program__hits_are_rows(m->plan))
		counters[PROBE_HITS] += in_rows;
}

/* Every hit is somewhere. */
__attribute__((unused)) static bool machine_balances(const struct machine *m)
{
	uint64_t c[NR_PROBE_COUNTERS];

	machine_counters(m, c);
	return c[PROBE_HITS] == c[PROBE_REFUSED] + c[PROBE_ADDED] + c[PROBE_SENT] + c[PROBE_BEGUN] +
					c[PROBE_NO_START] + c[PROBE_DROPPED] + c[PROBE_LOST_KEY] +
					c[PROBE_LOST_RING] + c[PROBE_LOST_START];
}

#endif
