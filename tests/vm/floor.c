/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * floor.c: what the kernel's run-time statistics show for a program that does nothing. Attaches an
 * empty raw tracepoint program to each EVENT and stays until it is killed. A tool's programs cost
 * what is shown for them minus this for each run.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int floor_load(void)
{
	static const char license[] = "GPL";
	const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (unsigned long)nothing;
	attr.insn_cnt = sizeof(nothing) / sizeof(nothing[0]);
	attr.license = (unsigned long)license;
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int floor_attach(const char *event, int program)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (unsigned long)event;
	attr.raw_tracepoint.prog_fd = (unsigned int)program;
	return (int)syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &unlimited); /* 5.10 */
	signal(SIGINT, SIG_DFL); /* a shell starts what runs in the background with it ignored */
	for (int i = 1; i < argc; i++) {
		int program = floor_load();

		if (program < 0 || floor_attach(argv[i], program) < 0) {
			fprintf(stderr, "floor: %s: %s\n", argv[i], strerror(errno));
			return 1;
		}
	}
	pause();
	return 0;
}
