/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_trace.c: nvme_bpf's nvme_trace: a line when a command is built, a line when it completes, in
 * its format, ordered by time, with all losses reported. Each attempt of a retried command has its
 * own two lines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/log.h"
#include "cmd/dropin.h"
#include "session/io_source.h"
#include "session/session.h"
#include "view/nvme_bpf.h"

enum { NVME_TRACE_USERCMD = 2 }; /* NVME_REQ_USERCMD is all we keep of nvme_request.flags */

struct nvme_trace {
	long ctrl_id;
	bool bpf_trace;
	int marker;
};

static const struct dropin_flag nvme_trace_flags[] = {
	{ "ctrl_id", false, offsetof(struct nvme_trace, ctrl_id),
	  "only controller nvmeN; -1: all" },
	{ "bpf_trace", true, offsetof(struct nvme_trace, bpf_trace),
	  "also write the lines to the kernel's trace" },
	{ 0 },
};

static int nvme_trace_run(void *state);

const struct dropin dropin_nvme_trace = {
	.name = "nvme_trace",
	.brief = "Every NVMe command, as nvme_bpf prints it. Part of iosonar: man iosonar-trace",
	.flags = nvme_trace_flags,
	.state_size = sizeof(struct nvme_trace),
	.run = nvme_trace_run,
};

static struct io_wants nvme_trace_wants(void *state, const struct options *options)
{
	(void)state;
	return (struct io_wants){
		.filter = &options->filter,
		.records = true,
		.split = true,
		.troubles = true, /* each attempt */
		.kinds = 1 << IO_NVME | 1 << IO_ADMIN | 1 << IO_FABRICS,
	};
}

static int nvme_trace_on_start(void *state, struct session *s)
{
	(void)state;
	fputs("Successfully started!\n", s->out);
	return 0;
}

static size_t nvme_trace_cdw(const struct io_record *r, char *to)
{
	const uint8_t *bytes = (const uint8_t *)r->cdw10;
	size_t at = 0;

	if (r->kind == IO_NVME)
		return 0;
	at += (size_t)sprintf(to, ", cdw10=0x");
	for (size_t i = 0; i < sizeof(r->cdw10); i++)
		at += (size_t)sprintf(to + at, "%02x", bytes[i]);
	return at;
}

static void nvme_trace_submit(const struct io_record *r, const char *disk, int ctrl, char *line)
{
	unsigned int opcode = r->kind == IO_FABRICS ? 0x7f : r->op;
	int at = sprintf(line,
			 "%" PRIu64 " %s Submit nvme%d: qid=%u, cid=%u, nsid=%u, flags=0x%x, "
			 "meta=0x%x, opcode=%u (%s)",
			 (uint64_t)r->last_ns, disk, ctrl, r->qid, r->cid, r->nsid, r->cmd_flags,
			 !!(r->flags & RECORD_METADATA), opcode, nvme_bpf__op(r->qid == 0, opcode));

	at += (int)nvme_trace_cdw(r, line + at);
	sprintf(line + at, "\n");
}

static unsigned int nvme_trace_sender(const struct io_record *r)
{
	return r->flags & RECORD_PASSTHROUGH && r->flags & RECORD_USER ? NVME_TRACE_USERCMD : 0;
}

static void nvme_trace_complete(const struct io_record *r, const char *disk, int ctrl, char *line)
{
	sprintf(line,
		"%" PRIu64 " %s Complete nvme%d: qid=%u, cid=%u, res=0x%" PRIx64
		", retries=%u, flags=0x%x, status=0x%x\n",
		(uint64_t)r->end_ns, disk, ctrl, r->qid, r->cid, (uint64_t)r->result,
		r->attempts - 1u, nvme_trace_sender(r), r->status);
}

static int nvme_trace_on_record(void *state, struct session *s, const struct io_record *r)
{
	struct nvme_trace *t = state;
	const struct device *device = io_source__device(s, r);
	const char *disk = device && device->kind != DEVICE_NVME_CTRL ? device->name : "";
	int ctrl = device ? device->ctrl : -1;
	char line[320];

	switch (r->what) {
	case RECORD_SUBMIT: nvme_trace_submit(r, disk, ctrl, line); break;
	case RECORD_ATTEMPT:
	case RECORD_END: nvme_trace_complete(r, disk, ctrl, line); break;
	default: return 0; /* events of controllers have no line here */
	}
	fputs(line, s->out);
	nvme_bpf__trace(t->marker, line);
	return 0;
}

static int nvme_trace_on_end(void *state, struct session *s)
{
	(void)state;
	(void)s;
	return 0;
}

static const struct session_view nvme_trace_view = {
	.wants = nvme_trace_wants,
	.on_start = nvme_trace_on_start,
	.on_record = nvme_trace_on_record,
	.counts_records = true,
	.on_end = nvme_trace_on_end,
};

static int nvme_trace_run(void *state)
{
	struct nvme_trace *t = state;
	struct options options = { 0 };
	int err;

	options.filter.ctrl_id.given = t->ctrl_id >= 0;
	options.filter.ctrl_id.value = (uint64_t)t->ctrl_id;
	t->marker = t->bpf_trace ? nvme_bpf__open_trace() : -1;
	err = session__run(&nvme_trace_view, t, &options, NULL);
	if (t->marker >= 0)
		close(t->marker);
	return err;
}
