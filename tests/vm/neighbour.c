/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * neighbour.c: another BPF tool on the same machine, of the old kind: classic tracepoint programs
 * at every system call and every NVMe event. The kernel skips such a program when another one runs
 * on the CPU; ours must not be skipped because of it. Runs until it is killed.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NEIGHBOUR_CALLS = 64 }; /* clock reads per event: long enough to be interrupted */

static int neighbour_program(void)
{
	static const char license[] = "GPL";
	struct bpf_insn insns[NEIGHBOUR_CALLS + 2];
	union bpf_attr attr;
	int n = 0;

	for (; n < NEIGHBOUR_CALLS; n++)
		insns[n] = (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
					      .imm = BPF_FUNC_ktime_get_ns };
	insns[n++] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K };
	insns[n++] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	attr.insns = (unsigned long)insns;
	attr.insn_cnt = (unsigned int)n;
	attr.license = (unsigned long)license;
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int neighbour_attach(const char *event, int program, int cpu)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT,
					.size = sizeof(attr),
					.sample_period = 1 };
	char path[128];
	unsigned int id;
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", event);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%u", &id) != 1)
		return -1;
	fclose(file);
	attr.config = id;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!cpu && ioctl(fd, PERF_EVENT_IOC_SET_BPF, program)) /* one program serves all CPUs */
		return -1;
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

int main(void)
{
	const char *events[] = { "raw_syscalls/sys_enter", "nvme/nvme_setup_cmd",
				 "nvme/nvme_complete_rq" };
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	setrlimit(RLIMIT_MEMLOCK, &unlimited); /* 5.10 */
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		int program = neighbour_program();

		for (int cpu = 0; cpu < cpus; cpu++) {
			if (program < 0 || neighbour_attach(events[i], program, cpu)) {
				fprintf(stderr, "neighbour: %s: %s\n", events[i], strerror(errno));
				return 1;
			}
		}
	}
	puts("running");
	fflush(stdout);
	pause();
	return 0;
}
