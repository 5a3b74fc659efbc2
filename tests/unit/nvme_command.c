/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_command.c: is every field of every command said right? Dwords are written here as the
 * specifications lay them out, shifted by hand; lists of words are written down again.
 */
#include "decode/nvme.h"

#include <stdlib.h>
#include <time.h>
#include "tap.h"

enum { NR_RANDOM = 200000, NR_TIMED = 5000000 };

struct sample {
	uint8_t kind, op;
	uint32_t cdw10[6];
	uint64_t result;
	const char *want; /* with blocks of 512 bytes, completed without error */
};

/* ---- I/O ---- */

static const struct sample io_samples[] = {
	{ IO_NVME, 0x00, { 0 }, 0, "" },
	{ IO_NVME, 0x01, { 2048, 0, 7 }, 0, "lba=2048 nlb=8 len=4Ki" },
	{ IO_NVME, 0x01, { 1, 1, 0 }, 0, "lba=4294967297 nlb=1 len=512" },
	{ IO_NVME, 0x01, { 0, 0, 1u << 30 | 0xffff }, 0, "lba=0 nlb=65536 len=32Mi fua" },
	{ IO_NVME, 0x01, { 0, 0, 1 << 20, 5 << 16 }, 0, "lba=0 nlb=1 len=512 stream=5" },
	{ IO_NVME, 0x01, { 0, 0, 2 << 20, 3 << 16 }, 0, "lba=0 nlb=1 len=512 placement=3" },
	{ IO_NVME, 0x01, { 0, 0, 9 << 20, 3 << 16 }, 0, "lba=0 nlb=1 len=512 dtype=9 dspec=3" },
	{ IO_NVME, 0x02, { 2048, 0, 7 }, 0, "lba=2048 nlb=8 len=4Ki" },
	{ IO_NVME, 0x02, { 5, 0, 1u << 31 | 2 }, 0, "lba=5 nlb=3 len=1536 lr" },
	{ IO_NVME,
	  0x02,
	  { 5, 0, 0, 0xd8 },
	  0,
	  "lba=5 nlb=1 len=512 freq=overwritten latency=idle seq incompressible" },
	{ IO_NVME, 0x02, { 5, 0, 0, 0x2f }, 0, "lba=5 nlb=1 len=512 freq=0x0f latency=normal" },
	{ IO_NVME,
	  0x02,
	  { 0x800, 0, 0xfu << 26 | 1 << 24, 0, 0x800, 0xff00a1b2 },
	  0,
	  "lba=2048 nlb=1 len=512 pract prchk=guard,app,ref stc reftag=0x800 "
	  "apptag=0xa1b2/0xff00" },
	{ IO_NVME, 0x02, { 9, 0, 1u << 28, 0, 7, 7 }, 0, "lba=9 nlb=1 len=512 prchk=guard" },
	{ IO_NVME, 0x04, { 9, 0, 3 }, 0, "lba=9 nlb=4 len=2Ki" },
	{ IO_NVME, 0x05, { 9, 0, 3u << 30 }, 0, "lba=9 nlb=1 len=512 fua lr" },
	{ IO_NVME, 0x08, { 9, 0, 1u << 25 | 15 }, 0, "lba=9 nlb=16 len=8Ki deac" },
	{ IO_NVME, 0x08, { 9, 0, 15 }, 0, "lba=9 nlb=16 len=8Ki" },
	{ IO_NVME, 0x09, { 3, 4 }, 0, "ranges=4 deallocate" },
	{ IO_NVME, 0x09, { 0, 3 }, 0, "ranges=1 integral-read integral-write" },
	{ IO_NVME, 0x0c, { 9, 0, 1u << 26, 0, 9 }, 0, "lba=9 nlb=1 len=512 prchk=ref reftag=0x9" },
	{ IO_NVME, 0x0d, { 0 }, 0, "action=register" },
	{ IO_NVME, 0x0d, { 1 | 8 | 2u << 30 }, 0, "action=unregister ignore-key ptpl=clear" },
	{ IO_NVME, 0x0d, { 2 | 3u << 30 }, 0, "action=replace ptpl=set" },
	{ IO_NVME, 0x0e, { 1023, 1 }, 0, "len=4Ki extended" },
	{ IO_NVME, 0x11, { 1 << 8 }, 0, "action=acquire type=write-exclusive" },
	{ IO_NVME, 0x11, { 1 | 2 << 8 | 8 }, 0, "action=preempt type=exclusive-access ignore-key" },
	{ IO_NVME,
	  0x11,
	  { 2 | 3 << 8 },
	  0,
	  "action=preempt-and-abort type=write-exclusive-registrants" },
	{ IO_NVME, 0x11, { 7 | 9 << 8 }, 0, "action=0x07 type=0x09" },
	{ IO_NVME, 0x12, { 1 | 2 << 16, 1023 }, 0, "mo=reclaim-unit-handle-status mos=2 len=4Ki" },
	{ IO_NVME, 0x15, { 4 << 8 }, 0, "action=release type=exclusive-access-registrants" },
	{ IO_NVME, 0x15, { 1 | 5 << 8 }, 0, "action=clear type=write-exclusive-all-registrants" },
	{ IO_NVME, 0x15, { 6 << 8 }, 0, "action=release type=exclusive-access-all-registrants" },
	{ IO_NVME, 0x18, { 3 | 0x1234 << 16, 1 }, 0, "action=multiple sqid=3 cid=4660" },
	{ IO_NVME, 0x19, { 7, 1, 3 | 2 << 8 }, 0, "lba=4294967303 ranges=4 format=2" },
	{ IO_NVME,
	  0x19,
	  { 7, 0, 1u << 30 | 1 << 26 | 3 << 24 | 9 << 12, 0, 7 },
	  0,
	  "lba=7 ranges=1 format=0 pract-read prchk-read=ref stc-read fua prchk=ref stc "
	  "reftag=0x7" },
	{ IO_NVME, 0x1d, { 1 | 3 << 16 }, 0, "mo=reclaim-unit-handle-update pids=4" },
	{ IO_NVME, 0x79, { 16, 0, 0, 1 }, 0, "lba=16 action=close" },
	{ IO_NVME, 0x79, { 16, 0, 0, 2 }, 0, "lba=16 action=finish" },
	{ IO_NVME, 0x79, { 16, 0, 0, 3 | 1 << 9 }, 0, "lba=16 action=open option" },
	{ IO_NVME, 0x79, { 0, 0, 0, 4 | 1 << 8 }, 0, "lba=0 action=reset all" },
	{ IO_NVME, 0x79, { 16, 0, 0, 5 }, 0, "lba=16 action=offline" },
	{ IO_NVME, 0x79, { 16, 0, 0, 16 }, 0, "lba=16 action=set-descriptor-extension" },
	{ IO_NVME, 0x79, { 16, 0, 0, 17 }, 0, "lba=16 action=flush-explicit-zrwa" },
	{ IO_NVME, 0x79, { 16, 0, 0, 0x77 }, 0, "lba=16 action=0x77" },
	{ IO_NVME,
	  0x7a,
	  { 0, 0, 1023, 1 << 16 },
	  0,
	  "lba=0 action=report state=all partial len=4Ki" },
	{ IO_NVME,
	  0x7a,
	  { 0, 0, 0, 1 | 5 << 8 },
	  0,
	  "lba=0 action=extended-report state=full len=4" },
	{ IO_NVME, 0x7d, { 64, 0, 7 }, 71, "lba=64 nlb=8 len=4Ki -> lba=71" },
	{ IO_NVME,
	  0x7d,
	  { 64, 0, 3u << 25 },
	  64,
	  "lba=64 nlb=1 len=512 prchk=ref reftag=0x0 piremap -> lba=64" },
	{ IO_NVME, 0x93, { 1, 0, 0, 0xab }, 7, "vendor cdw10=0x1 cdw13=0xab -> result=0x7" },
	{ IO_NVME, 0x80, { 0 }, 0, "vendor cdw10-15=0" },
	{ IO_NVME, 0x03, { 0, 0, 0, 0, 0, 1 }, 0, "cdw15=0x1" },
	{ IO_NVME, 0x7f, { 0 }, 0, "cdw10-15=0" },
};

/* ---- admin ---- */

static const struct sample admin_samples[] = {
	{ IO_ADMIN, 0x00, { 3 }, 0, "qid=3" },
	{ IO_ADMIN,
	  0x01,
	  { 1 | 1023 << 16, 1 | 2 << 1 | 1 << 16, 5 },
	  0,
	  "qid=1 size=1024 cqid=1 prio=medium contiguous nvmsetid=5" },
	{ IO_ADMIN, 0x01, { 2 | 63 << 16, 3 << 16 }, 0, "qid=2 size=64 cqid=3 prio=urgent" },
	{ IO_ADMIN, 0x02, { 2 | 127u << 16 }, 0, "lid=smart len=512" },
	{ IO_ADMIN,
	  0x02,
	  { 13 | 1 << 8 | 1 << 15 | 0xffffu << 16, 1 | 9 << 16, 4096, 1, 3 | 1 << 23 | 2 << 24 },
	  0,
	  "lid=persistent-event len=512Ki lsp=0x1 rae lsi=9 offset=4294971392 by-index csi=zns "
	  "uuid=3" },
	{ IO_ADMIN, 0x02, { 0xca }, 0, "lid=vendor-0xca len=4" },
	{ IO_ADMIN, 0x04, { 4 }, 0, "qid=4" },
	{ IO_ADMIN,
	  0x05,
	  { 1 | 1023 << 16, 3 | 7 << 16 },
	  0,
	  "qid=1 size=1024 contiguous irq vector=7" },
	{ IO_ADMIN, 0x06, { 1 }, 0, "cns=controller" },
	{ IO_ADMIN, 0x06, { 0x13 | 7 << 16 }, 0, "cns=controllers cntid=7" },
	{ IO_ADMIN, 0x06, { 0x05, 2 << 24, 0, 0, 4 }, 0, "cns=csi-namespace csi=zns uuid=4" },
	{ IO_ADMIN, 0x06, { 0x04, 9 }, 0, "cns=nvm-sets nvmsetid=9" },
	{ IO_ADMIN, 0x06, { 0x19, 2 }, 0, "cns=endurance-groups endgid=2" },
	{ IO_ADMIN, 0x06, { 0x18, 2 }, 0, "cns=domains domain=2" },
	{ IO_ADMIN, 0x06, { 0x09, 2 }, 0, "cns=namespace-format format=2" },
	{ IO_ADMIN, 0x06, { 0x01, 2 | 0x33u << 24 }, 0, "cns=controller csi=0x33 cnssid=2" },
	{ IO_ADMIN, 0x08, { 3 | 0x1234 << 16 }, 0, "sqid=3 cid=4660" },
	{ IO_ADMIN, 0x08, { 3 | 5 << 16 }, 1, "sqid=3 cid=5 -> not-aborted" },
	{ IO_ADMIN, 0x0c, { 0 }, 0x020102, "-> event=notice info=0x1 lid=smart" },
	{ IO_ADMIN, 0x0c, { 0 }, 0xc0ff07, "-> event=vendor info=0xff lid=vendor-0xc0" },
	{ IO_ADMIN, 0x0c, { 0 }, 0x010004, "-> event=0x04 info=0x0 lid=error" },
	{ IO_ADMIN, 0x0d, { 0, 2 << 24 }, 3, "sel=create csi=zns -> nsid=3" },
	{ IO_ADMIN, 0x0d, { 1 }, 0, "sel=delete" },
	{ IO_ADMIN, 0x10, { 2 }, 0, "action=replace slot=2" },
	{ IO_ADMIN, 0x10, { 1 | 1 << 3 }, 0, "action=replace-activate-at-reset slot=1" },
	{ IO_ADMIN, 0x10, { 1 | 2 << 3 }, 0, "action=activate-at-reset slot=1" },
	{ IO_ADMIN, 0x10, { 1 | 3 << 3 }, 0, "action=activate-now slot=1" },
	{ IO_ADMIN, 0x10, { 6 << 3 | 1u << 31 }, 0, "action=replace-boot-partition slot=0 bpid=1" },
	{ IO_ADMIN, 0x10, { 7 << 3 }, 0, "action=activate-boot-partition slot=0" },
	{ IO_ADMIN, 0x10, { 4 << 3 }, 0, "action=0x04 slot=0" },
	{ IO_ADMIN, 0x11, { 1023, 2048 }, 0, "len=4Ki offset=8Ki" },
	{ IO_ADMIN, 0x14, { 1 }, 0, "stc=short" },
	{ IO_ADMIN, 0x14, { 2 }, 0, "stc=extended" },
	{ IO_ADMIN, 0x14, { 14 }, 0, "stc=vendor" },
	{ IO_ADMIN, 0x14, { 15 }, 0, "stc=abort" },
	{ IO_ADMIN, 0x14, { 5 }, 0, "stc=0x05" },
	{ IO_ADMIN, 0x15, { 0 }, 0, "sel=attach" },
	{ IO_ADMIN, 0x15, { 1 }, 0, "sel=detach" },
	{ IO_ADMIN, 0x18, { 0 }, 0, "" },
	{ IO_ADMIN,
	  0x19,
	  { 0, 1, 1 | 1 << 8 },
	  0,
	  "dtype=identify doper=enable type=streams enable=on" },
	{ IO_ADMIN,
	  0x19,
	  { 0, 1 | 1 << 8 | 5 << 16 },
	  0,
	  "dtype=streams dspec=5 doper=release-id" },
	{ IO_ADMIN, 0x19, { 0, 2 | 1 << 8 }, 0, "dtype=streams doper=release-resources" },
	{ IO_ADMIN, 0x19, { 0, 9 | 7 << 8 }, 0, "dtype=0x07 doper=0x09" },
	{ IO_ADMIN, 0x1a, { 1023, 1 }, 0, "dtype=identify doper=parameters len=4Ki" },
	{ IO_ADMIN, 0x1a, { 7, 1 | 1 << 8 }, 0, "dtype=streams doper=parameters len=32" },
	{ IO_ADMIN, 0x1a, { 7, 2 | 1 << 8 }, 0, "dtype=streams doper=status len=32" },
	{ IO_ADMIN,
	  0x1a,
	  { 0, 3 | 1 << 8, 8 },
	  4,
	  "dtype=streams doper=allocate-resources len=4 streams=8 -> streams=4" },
	{ IO_ADMIN,
	  0x1c,
	  { 8 | 1 << 8 | 5 << 16, 2 },
	  2,
	  "action=secondary-assign cntlid=5 resource=vi nr=2 -> nr=2" },
	{ IO_ADMIN, 0x1c, { 1 }, 0, "action=primary-flexible cntlid=0 resource=vq nr=0" },
	{ IO_ADMIN, 0x1c, { 7 }, 0, "action=secondary-offline cntlid=0 resource=vq nr=0" },
	{ IO_ADMIN, 0x1c, { 9 }, 0, "action=secondary-online cntlid=0 resource=vq nr=0" },
	{ IO_ADMIN, 0x1d, { 1 << 11 | 4, 7 }, 0, "type=mi opc=reset" },
	{ IO_ADMIN,
	  0x1e,
	  { 1 << 11 | 4, 0, 0x10, 0x20 },
	  0,
	  "type=mi opc=read-data-structure nmd0=0x10 nmd1=0x20" },
	{ IO_ADMIN,
	  0x20,
	  { 1 | 3 << 16, 0, 1 },
	  4,
	  "oper=create-endurance-group elid=3 capacity=4Gi -> elid=4" },
	{ IO_ADMIN, 0x20, { 0 }, 0, "oper=select-configuration elid=0" },
	{ IO_ADMIN,
	  0x24,
	  { 2 | 1 << 4 | 1 << 5 | 6 << 8 },
	  0,
	  "scope=feature ofi=0x6 prohibit interface=admin-and-out-of-band" },
	{ IO_ADMIN,
	  0x24,
	  { 0x84 << 8, 0, 0, 0, 1 },
	  0,
	  "scope=admin-opcode ofi=0x84 interface=admin uuid=1" },
	{ IO_ADMIN, 0x7c, { 0 }, 0, "" },
	{ IO_ADMIN, 0x80, { 1 }, 0, "lbaf=1" },
	{ IO_ADMIN,
	  0x80,
	  { 5 | 2 << 12 | 1 << 4 | 3 << 5 | 1 << 8 | 1 << 9 },
	  0,
	  "lbaf=37 mset=1 pi=3 pil=1 ses=user-data" },
	{ IO_ADMIN, 0x80, { 2 << 9 }, 0, "lbaf=0 ses=crypto" },
	{ IO_ADMIN,
	  0x81,
	  { 1 | 7 << 8 | 0xeau << 24, 512 },
	  0,
	  "secp=nvme spsp=0x7 nssf=0x1 len=512" },
	{ IO_ADMIN, 0x82, { 1 << 24 | 1 << 8, 2048 }, 0, "secp=tcg-1 spsp=0x1 len=2Ki" },
	{ IO_ADMIN, 0x82, { 0x99u << 24, 0 }, 0, "secp=0x99 spsp=0x0 len=0" },
	{ IO_ADMIN, 0x84, { 2 | 8 | 1 << 9 }, 0, "action=block-erase ause nodas" },
	{ IO_ADMIN,
	  0x84,
	  { 3 | 2 << 4 | 1 << 8, 0xdeadbeef },
	  0,
	  "action=overwrite oipbp owpass=2 pattern=0xdeadbeef" },
	{ IO_ADMIN, 0x84, { 3 }, 0, "action=overwrite owpass=16 pattern=0x00000000" },
	{ IO_ADMIN, 0x84, { 4 }, 0, "action=crypto-erase" },
	{ IO_ADMIN, 0x84, { 1 }, 0, "action=exit-failure" },
	{ IO_ADMIN,
	  0x86,
	  { 8, 1, 1023, 16 | 0x10 << 24 },
	  0,
	  "lba=4294967304 action=scan range=16 len=4Ki" },
	{ IO_ADMIN, 0x86, { 8, 0, 0, 0x11 << 24 }, 0, "lba=8 action=tracked range=0 len=4" },
	{ IO_ADMIN, 0xc1, { 0, 2 }, 0, "vendor cdw11=0x2" },
	{ IO_ADMIN, 0x45, { 5 }, 0, "cdw10=0x5" },
};

/* ---- features: set, with a value; get, with the answer ---- */

static const struct sample feature_samples[] = {
	{ IO_ADMIN,
	  0x09,
	  { 1, 3 | 1 << 8 | 2 << 16 | 3 << 24 },
	  0,
	  "fid=arbitration burst=8 low=2 medium=3 high=4" },
	{ IO_ADMIN, 0x0a, { 1 }, 7, "fid=arbitration -> burst=unlimited low=1 medium=1 high=1" },
	{ IO_ADMIN,
	  0x09,
	  { 2 | 1u << 31, 3 | 1 << 5 },
	  0,
	  "fid=power-management ps=3 workload=1 save" },
	{ IO_ADMIN, 0x0a, { 2 }, 2, "fid=power-management -> ps=2" },
	{ IO_ADMIN, 0x09, { 3, 3 }, 0, "fid=lba-range-type ranges=4" },
	{ IO_ADMIN,
	  0x09,
	  { 4, 343 | 1 << 20 },
	  0,
	  "fid=temperature-threshold sensor=composite type=under temp=70C" },
	{ IO_ADMIN,
	  0x09,
	  { 4, 263 | 15 << 16 },
	  0,
	  "fid=temperature-threshold sensor=all type=over temp=-10C" },
	{ IO_ADMIN,
	  0x0a,
	  { 4, 2 << 16 },
	  353,
	  "fid=temperature-threshold sensor=2 type=over -> temp=80C" },
	{ IO_ADMIN, 0x09, { 5, 15 | 1 << 16 }, 0, "fid=error-recovery tler=1500ms dulbe" },
	{ IO_ADMIN, 0x09, { 6, 1 }, 0, "fid=volatile-write-cache wce=on" },
	{ IO_ADMIN, 0x0a, { 6 }, 0, "fid=volatile-write-cache -> wce=off" },
	{ IO_ADMIN,
	  0x09,
	  { 7, 7 | 7 << 16 },
	  1 | 1 << 16,
	  "fid=number-of-queues nsq=8 ncq=8 -> nsq=2 ncq=2" },
	{ IO_ADMIN, 0x0a, { 7 }, 3 | 4 << 16, "fid=number-of-queues -> nsq=4 ncq=5" },
	{ IO_ADMIN,
	  0x09,
	  { 8, 9 | 5 << 8 },
	  0,
	  "fid=interrupt-coalescing threshold=10 time=500us" },
	{ IO_ADMIN, 0x09, { 9, 3 | 1 << 16 }, 0, "fid=interrupt-vector vector=3 coalescing=off" },
	{ IO_ADMIN, 0x0a, { 9, 3 }, 3, "fid=interrupt-vector vector=3 -> coalescing=on" },
	{ IO_ADMIN, 0x09, { 10, 1 }, 0, "fid=write-atomicity dn=on" },
	{ IO_ADMIN,
	  0x09,
	  { 11, 0x1f | 3 << 8 | 1u << 31 },
	  0,
	  "fid=async-event events=spare,temperature,reliability,read-only,volatile-backup,"
	  "namespace-attributes,firmware-activation,discovery" },
	{ IO_ADMIN, 0x09, { 11, 0 }, 0, "fid=async-event events=none" },
	{ IO_ADMIN, 0x09, { 11, 1 << 20 }, 0, "fid=async-event events=0x100000" },
	{ IO_ADMIN, 0x09, { 11, 1 << 20 | 1 << 11 }, 0, "fid=async-event events=ana,0x100000" },
	{ IO_ADMIN, 0x09, { 12, 1 }, 0, "fid=autonomous-power apst=on" },
	{ IO_ADMIN,
	  0x09,
	  { 13, 3, 4096, 0x1000, 1, 8 },
	  0,
	  "fid=host-memory-buffer hmb=on memory-return pages=4096 descriptors=8 "
	  "list=0x100001000" },
	{ IO_ADMIN, 0x0a, { 13 }, 1, "fid=host-memory-buffer -> hmb=on" },
	{ IO_ADMIN, 0x09, { 14 }, 0, "fid=timestamp" },
	{ IO_ADMIN, 0x09, { 15, 15000 }, 0, "fid=keep-alive-timer kato=15s" },
	{ IO_ADMIN, 0x09, { 16, 343 | 333u << 16 }, 0, "fid=thermal-management tmt1=60C tmt2=70C" },
	{ IO_ADMIN, 0x09, { 17, 1 }, 0, "fid=non-operational-power permissive=on" },
	{ IO_ADMIN, 0x09, { 18, 2, 4 }, 0, "fid=read-recovery-level nvmsetid=2 rrl=4" },
	{ IO_ADMIN, 0x0a, { 18, 2 }, 4, "fid=read-recovery-level nvmsetid=2 -> rrl=4" },
	{ IO_ADMIN, 0x09, { 19, 2, 1 }, 0, "fid=predictable-latency nvmsetid=2 plm=on" },
	{ IO_ADMIN,
	  0x09,
	  { 20, 2, 2 },
	  0,
	  "fid=predictable-latency-window nvmsetid=2 window=non-deterministic" },
	{ IO_ADMIN, 0x09, { 21, 10 | 20 << 16 }, 0, "fid=lba-status-interval report=1s poll=2s" },
	{ IO_ADMIN, 0x09, { 22 }, 0, "fid=host-behavior" },
	{ IO_ADMIN, 0x09, { 23, 1 }, 0, "fid=sanitize-config nodrm=on" },
	{ IO_ADMIN,
	  0x09,
	  { 24, 3 | 5 << 16 },
	  0,
	  "fid=endurance-group-event endgid=3 events=spare,reliability" },
	{ IO_ADMIN, 0x09, { 25, 300 }, 0, "fid=command-set-profile index=300" },
	{ IO_ADMIN, 0x09, { 26, 1 }, 0, "fid=spinup-control spinup-control=on" },
	{ IO_ADMIN, 0x09, { 27, 2 }, 0, "fid=power-loss-signaling mode=forced-quiescence" },
	{ IO_ADMIN, 0x09, { 28, 0xc1 | 1 << 8 }, 0, "fid=performance attribute=0xc1 revert" },
	{ IO_ADMIN, 0x09, { 29, 1, 1 | 2 << 8 }, 0, "fid=fdp endgid=1 fdp=on index=2" },
	{ IO_ADMIN, 0x0a, { 29, 1 }, 1 | 3 << 8, "fid=fdp endgid=1 -> fdp=on index=3" },
	{ IO_ADMIN, 0x09, { 30, 1 | 4 << 16, 1 }, 0, "fid=fdp-events handle=1 types=4 enable=on" },
	{ IO_ADMIN, 0x09, { 31, 5 }, 0, "fid=namespace-admin-label value=0x5" },
	{ IO_ADMIN, 0x09, { 0x7e, 1 << 13 }, 0, "fid=controller-metadata action=delete" },
	{ IO_ADMIN, 0x09, { 0x80, 3 }, 0, "fid=software-progress loads=3" },
	{ IO_ADMIN, 0x0a, { 0x81, 1 }, 0, "fid=host-identifier extended" },
	{ IO_ADMIN,
	  0x09,
	  { 0x82, 0xe },
	  0,
	  "fid=reservation-notification masked=registration-preempted,reservation-released,"
	  "reservation-preempted" },
	{ IO_ADMIN, 0x09, { 0x83, 1 }, 0, "fid=reservation-persistence ptpl=on" },
	{ IO_ADMIN, 0x09, { 0x84, 2 }, 0, "fid=write-protection protect=until-power-cycle" },
	{ IO_ADMIN, 0x09, { 0x84, 6 }, 0, "fid=write-protection protect=0x06" },
	{ IO_ADMIN,
	  0x09,
	  { 0x85, 2 | 1 << 3 },
	  0,
	  "fid=boot-partition-protection bp0=locked bp1=unlocked" },
	{ IO_ADMIN, 0x09, { 0xd0, 0x77, 0, 0, 2 }, 0, "fid=vendor-0xd0 value=0x77 uuid=2" },
	{ IO_ADMIN, 0x0a, { 0x60 }, 9, "fid=0x60 -> value=0x9" },
	{ IO_ADMIN, 0x0a, { 6 | 1 << 8 }, 1, "fid=volatile-write-cache sel=default -> wce=on" },
	{ IO_ADMIN, 0x0a, { 6 | 2 << 8 }, 1, "fid=volatile-write-cache sel=saved -> wce=on" },
	{ IO_ADMIN,
	  0x0a,
	  { 6 | 3 << 8 },
	  5,
	  "fid=volatile-write-cache sel=supported -> capabilities=saveable,changeable" },
	{ IO_ADMIN, 0x0a, { 6 | 7 << 8 }, 1, "fid=volatile-write-cache sel=0x07 -> wce=on" },
};

/* ---- fabrics ---- */

static const struct sample fabrics_samples[] = {
	{ IO_FABRICS, 0x00, { 0, 0x14, 0x460001 }, 0, "property=CC size=4 value=0x460001" },
	{ IO_FABRICS, 0x00, { 0, 0x20, 0x4e564d65 }, 0, "property=NSSR size=4 value=0x4e564d65" },
	{ IO_FABRICS,
	  0x01,
	  { 3 << 16, 127 | 4 << 16, 120000 },
	  9 | 3 << 17,
	  "qid=3 sqsize=128 kato=120s no-sq-flow-control -> cntlid=9 auth=ascr,atr" },
	{ IO_FABRICS,
	  0x01,
	  { 1, 31 | 0xb << 16, 1500 },
	  0,
	  "qid=0 sqsize=32 kato=1500ms prio=low queue-deletion recfmt=1 -> cntlid=0" },
	{ IO_FABRICS, 0x04, { 1, 0 }, 0x2078010fff, "property=CAP size=8 -> value=0x2078010fff" },
	{ IO_FABRICS, 0x04, { 0, 0x08 }, 0x20000, "property=VS size=4 -> value=0x20000" },
	{ IO_FABRICS, 0x04, { 0, 0x1c }, 1, "property=CSTS size=4 -> value=0x1" },
	{ IO_FABRICS, 0x04, { 5, 0x999 }, 1, "property=0x999 size=0x05 -> value=0x1" },
	{ IO_FABRICS,
	  0x05,
	  { 0xe9u << 24 | 1 << 16 | 1 << 8, 4096 },
	  0,
	  "secp=0xe9 spsp=0x101 len=4Ki" },
	{ IO_FABRICS,
	  0x06,
	  { 0xe9u << 24 | 1 << 16 | 1 << 8, 16 },
	  0,
	  "secp=0xe9 spsp=0x101 len=16" },
	{ IO_FABRICS, 0x08, { 0 }, 0, "" },
	{ IO_FABRICS, 0x08, { 1 }, 0, "recfmt=1" },
	{ IO_FABRICS, 0x02, { 3 }, 0, "cdw10=0x3" },
	{ IO_FABRICS, 0xc5, { 3 }, 0, "vendor cdw10=0x3" },
};

#define NR(list) (sizeof(list) / sizeof((list)[0]))

static const struct {
	const struct sample *samples;
	size_t nr;
} lists[] = {
	{ io_samples, NR(io_samples) },
	{ admin_samples, NR(admin_samples) },
	{ feature_samples, NR(feature_samples) },
	{ fabrics_samples, NR(fabrics_samples) },
};

static struct io_record record_of(const struct sample *s)
{
	struct io_record r = { .kind = s->kind, .op = s->op, .result = s->result };

	memcpy(r.cdw10, s->cdw10, sizeof(r.cdw10));
	return r;
}

static const char *describe(char *buf, size_t size, const struct io_record *r)
{
	struct words w = words__on(buf, size);

	nvme_command__describe(&w, r, 512);
	return words__done(&w);
}

static bool is_prefix_at_every_size(const struct io_record *r, const char *whole)
{
	size_t len = strlen(whole);
	bool good = true;

	for (size_t size = 1; size <= len + 2; size++) {
		char *buf = malloc(size);
		size_t fits = size - 1 < len ? size - 1 : len;

		describe(buf, size, r);
		good = good && strlen(buf) == fits && !strncmp(buf, whole, fits);
		free(buf);
	}
	return good;
}

static void check_samples(void)
{
	char buf[512], what[600];
	bool cut = true;

	for (size_t l = 0; l < NR(lists); l++) {
		for (size_t i = 0; i < lists[l].nr; i++) {
			const struct sample *s = &lists[l].samples[i];
			struct io_record r = record_of(s);

			snprintf(what, sizeof(what), "%u %#04x: %s", s->kind, s->op, s->want);
			is_str(describe(buf, sizeof(buf), &r), s->want, what);
			cut = cut && is_prefix_at_every_size(&r, buf);
		}
	}
	ok(cut, "each of them cut at every size: terminated, and a prefix of the whole");
}

static bool is_sampled(uint8_t kind, uint8_t op)
{
	for (size_t l = 0; l < NR(lists); l++)
		for (size_t i = 0; i < lists[l].nr; i++)
			if (lists[l].samples[i].kind == kind && lists[l].samples[i].op == op)
				return true;
	return false;
}

/* Words for Base 2.1's admin commands came without fields: these are not sampled one by one. */
static bool has_no_fields(uint8_t kind, uint8_t op)
{
	static const uint8_t later[] = {
		0x21, 0x22, 0x25, 0x28, 0x29, 0x2a, 0x2d, 0x31, 0x35, 0x38,
		0x39, 0x3d, 0x3e, 0x41, 0x42, 0x45, 0x85, 0x88, 0x89, 0x8c
	};

	return kind == IO_ADMIN && memchr(later, op, sizeof(later));
}

static void check_coverage(void)
{
	int nr[3] = { 0 };

	for (uint8_t kind = 0; kind < 3; kind++) {
		for (int op = 0; op < 256; op++) {
			const char *name = nvme_command__name(kind, (uint8_t)op);

			if (!name)
				continue;
			nr[kind]++;
			if (!is_sampled(kind, (uint8_t)op) && !has_no_fields(kind, (uint8_t)op))
				ok(false, "%s has a sample", name);
		}
	}
	is_u64((uint64_t)nr[IO_NVME], 19, "I/O opcodes with a word, each with a sample");
	is_u64((uint64_t)nr[IO_ADMIN], 29 + 20, "admin opcodes with a word, the 29 of 2.0 sampled");
	is_u64((uint64_t)nr[IO_FABRICS], 6, "fabrics types with a word, each with a sample");
	is_str(nvme_command__name(IO_NVME, 0x18), "cancel", "I/O opcode 0x18 is Cancel");
	is_str(nvme_command__name(IO_ADMIN, 0x18), "keep-alive", "admin opcode 0x18 is Keep Alive");
}

/* ---- lists of words: all 256 numbers of each, those without a word as numbers ---- */

static const char *const cns[256] = {
	[0x00] = "namespace",
	[0x01] = "controller",
	[0x02] = "active-namespaces",
	[0x03] = "namespace-descriptors",
	[0x04] = "nvm-sets",
	[0x05] = "csi-namespace",
	[0x06] = "csi-controller",
	[0x07] = "csi-active-namespaces",
	[0x08] = "independent-namespace",
	[0x09] = "namespace-format",
	[0x0a] = "csi-namespace-format",
	[0x10] = "allocated-namespaces",
	[0x11] = "allocated-namespace",
	[0x12] = "namespace-controllers",
	[0x13] = "controllers",
	[0x14] = "primary-controller",
	[0x15] = "secondary-controllers",
	[0x16] = "namespace-granularity",
	[0x17] = "uuids",
	[0x18] = "domains",
	[0x19] = "endurance-groups",
	[0x1a] = "csi-allocated-namespaces",
	[0x1b] = "csi-allocated-namespace",
	[0x1c] = "command-sets",
	[0x1d] = "underlying-namespaces",
	[0x1e] = "ports",
	[0x1f] = "independent-allocated-namespace",
	[0x20] = "controller-state-formats",
};

static const char *const lid[256] = {
	[0x00] = "supported-log-pages",
	[0x01] = "error",
	[0x02] = "smart",
	[0x03] = "firmware-slot",
	[0x04] = "changed-namespaces",
	[0x05] = "commands-supported",
	[0x06] = "self-test",
	[0x07] = "telemetry-host",
	[0x08] = "telemetry-controller",
	[0x09] = "endurance-group",
	[0x0a] = "predictable-latency-nvm-set",
	[0x0b] = "predictable-latency-events",
	[0x0c] = "ana",
	[0x0d] = "persistent-event",
	[0x0e] = "lba-status",
	[0x0f] = "endurance-group-events",
	[0x10] = "media-unit-status",
	[0x11] = "capacity-configurations",
	[0x12] = "features-supported",
	[0x13] = "mi-commands-supported",
	[0x14] = "lockdown",
	[0x15] = "boot-partition",
	[0x16] = "rotational-media",
	[0x17] = "dispersed-namespace",
	[0x18] = "management-addresses",
	[0x19] = "receiver-eye-opening",
	[0x1a] = "reachability-groups",
	[0x1b] = "reachability-associations",
	[0x1c] = "changed-allocated-namespaces",
	[0x1d] = "device-personalities",
	[0x1e] = "cross-controller-reset",
	[0x1f] = "lost-host-communication",
	[0x20] = "fdp-configurations",
	[0x21] = "reclaim-unit-handle-usage",
	[0x22] = "fdp-statistics",
	[0x23] = "fdp-events",
	[0x25] = "power-measurement",
	[0x70] = "discovery",
	[0x71] = "host-discovery",
	[0x72] = "ave-discovery",
	[0x73] = "pull-model-request",
	[0x7f] = "sanitize-namespaces",
	[0x80] = "reservation-notification",
	[0x81] = "sanitize",
	[0xbf] = "changed-zones",
};

static const char *const fid[256] = {
	[0x01] = "arbitration",
	[0x02] = "power-management",
	[0x03] = "lba-range-type",
	[0x04] = "temperature-threshold",
	[0x05] = "error-recovery",
	[0x06] = "volatile-write-cache",
	[0x07] = "number-of-queues",
	[0x08] = "interrupt-coalescing",
	[0x09] = "interrupt-vector",
	[0x0a] = "write-atomicity",
	[0x0b] = "async-event",
	[0x0c] = "autonomous-power",
	[0x0d] = "host-memory-buffer",
	[0x0e] = "timestamp",
	[0x0f] = "keep-alive-timer",
	[0x10] = "thermal-management",
	[0x11] = "non-operational-power",
	[0x12] = "read-recovery-level",
	[0x13] = "predictable-latency",
	[0x14] = "predictable-latency-window",
	[0x15] = "lba-status-interval",
	[0x16] = "host-behavior",
	[0x17] = "sanitize-config",
	[0x18] = "endurance-group-event",
	[0x19] = "command-set-profile",
	[0x1a] = "spinup-control",
	[0x1b] = "power-loss-signaling",
	[0x1c] = "performance",
	[0x1d] = "fdp",
	[0x1e] = "fdp-events",
	[0x1f] = "namespace-admin-label",
	[0x20] = "key-value",
	[0x21] = "controller-data-queue",
	[0x22] = "device-personality",
	[0x23] = "power-limit",
	[0x24] = "power-threshold",
	[0x25] = "power-measurement",
	[0x78] = "embedded-management-address",
	[0x79] = "host-management-address",
	[0x7d] = "enhanced-controller-metadata",
	[0x7e] = "controller-metadata",
	[0x7f] = "namespace-metadata",
	[0x80] = "software-progress",
	[0x81] = "host-identifier",
	[0x82] = "reservation-notification",
	[0x83] = "reservation-persistence",
	[0x84] = "write-protection",
	[0x85] = "boot-partition-protection",
};

/* Critical warnings and notices, by bit. */
static const char *const events[32] = {
	[0] = "spare",
	[1] = "temperature",
	[2] = "reliability",
	[3] = "read-only",
	[4] = "volatile-backup",
	[5] = "pmr",
	[8] = "namespace-attributes",
	[9] = "firmware-activation",
	[10] = "telemetry",
	[11] = "ana",
	[12] = "predictable-latency",
	[13] = "lba-status",
	[14] = "endurance-group",
	[15] = "shutdown",
	[16] = "temperature-hysteresis",
	[17] = "reachability-association",
	[18] = "reachability-group",
	[19] = "allocated-namespace-attributes",
	[27] = "zone-descriptor",
	[28] = "pull-model-request",
	[29] = "ave-discovery",
	[30] = "host-discovery",
	[31] = "discovery",
};

/* The first item of an admin command whose CDW10 is the number. */
static void check_list(uint8_t op, const char *key, const char *const names[256], int vendor_from)
{
	char buf[512], want[64];
	bool good = true;

	for (uint32_t value = 0; value < 256; value++) {
		struct io_record r = { .kind = IO_ADMIN, .op = op, .cdw10 = { value } };
		char *first = buf;

		describe(buf, sizeof(buf), &r);
		first[strcspn(first, " ")] = '\0';
		if (names[value])
			snprintf(want, sizeof(want), "%s=%s", key, names[value]);
		else
			snprintf(want, sizeof(want), "%s=%s0x%02x", key,
				 (int)value >= vendor_from ? "vendor-" : "", value);
		if (strcmp(first, want)) {
			printf("# got '%s', want '%s'\n", first, want);
			good = false;
		}
	}
	ok(good, "all 256 values of %s", key);
}

static void check_events(void)
{
	char buf[512], want[64];
	bool good = true;

	for (int bit = 0; bit < 32; bit++) {
		struct io_record r = { .kind = IO_ADMIN, .op = 9, .cdw10 = { 11, 1u << bit } };

		describe(buf, sizeof(buf), &r);
		if (events[bit])
			snprintf(want, sizeof(want), "fid=async-event events=%s", events[bit]);
		else
			snprintf(want, sizeof(want), "fid=async-event events=%#x", 1u << bit);
		good = good && !strcmp(buf, want);
	}
	ok(good, "all 32 asynchronous events");
}

/* ---- what does not depend on the fields ---- */

static void check_answers(void)
{
	struct io_record r = { .kind = IO_ADMIN, .op = 0x0a, .cdw10 = { 6 }, .result = 1 };
	char buf[128];

	is_str(describe(buf, sizeof(buf), &r), "fid=volatile-write-cache -> wce=on", "an answer");
	r.status = 0x4002;
	is_str(describe(buf, sizeof(buf), &r), "fid=volatile-write-cache", "none of a failure");
	r.status = 0;
	r.what = RECORD_SUBMIT;
	is_str(describe(buf, sizeof(buf), &r), "fid=volatile-write-cache", "none at submit");
	r.what = RECORD_END;
	r.flags = RECORD_NO_STATUS;
	is_str(describe(buf, sizeof(buf), &r), "fid=volatile-write-cache", "none if not seen");
}

static void check_columns(void)
{
	struct io_record r = { .kind = IO_NVME, .op = 1, .cdw10 = { 8, 0, 1u << 30 | 7 } };
	char buf[128];
	struct words w;
	uint64_t lba = 0;

	ok(nvme_command__lba(&r, &lba), "a write has a block");
	is_u64(lba, 8, "its first block");
	r.cmd_flags = 1;
	is_str(describe(buf, sizeof(buf), &r), "lba=8 nlb=8 len=4Ki fused=first fua", "first half");
	r.cmd_flags = 2;
	r.cdw10[2] = 7;
	is_str(describe(buf, sizeof(buf), &r), "lba=8 nlb=8 len=4Ki fused=second", "second half");
	w = words__on(buf, sizeof(buf));
	r.cmd_flags = 0x40;
	nvme_command__describe(&w, &r, 0);
	is_str(words__done(&w), "lba=8 nlb=8", "no length without a block size");
	r.op = 0x79;
	ok(nvme_command__lba(&r, &lba), "a zone command has one");
	r.op = 0;
	ok(!nvme_command__lba(&r, &lba), "a flush has none");
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Commands with no fields at all may be blank, nothing else; no item is empty. */
static bool is_well_said(const struct io_record *r, const char *text)
{
	static const char *const fieldless[] = { "flush", "keep-alive", "doorbell-buffer",
						 "disconnect", "async-event" };
	const char *word = nvme_command__name(r->kind, r->op);
	bool blank_is_fine = false;

	for (size_t i = 0; word && i < NR(fieldless); i++)
		blank_is_fine = blank_is_fine || !strcmp(word, fieldless[i]);
	return (*text || blank_is_fine) && !strstr(text, "  ") && !strstr(text, "= ") &&
	       !strstr(text, ",,") && (!*text || text[strlen(text) - 1] != '=');
}

static void check_random(void)
{
	uint64_t state = 0x9e3779b97f4a7c15ULL;
	size_t longest = 0;
	char *buf = malloc(1024);
	bool good = true;

	for (int i = 0; i < NR_RANDOM; i++) {
		uint64_t raw[sizeof(struct io_record) / 8];
		struct io_record r;

		for (size_t j = 0; j < NR(raw); j++)
			raw[j] = next_random(&state) & (i & 1 ? next_random(&state) : ~0ULL);
		memcpy(&r, raw, sizeof(r));
		r.kind %= 3;
		r.what = i & 2 ? RECORD_END : RECORD_SUBMIT;
		r.status = i & 4 ? 0 : r.status;
		r.cmd_flags &= i & 8 ? 0 : 3;
		describe(buf, 1024, &r);
		if (strlen(buf) > longest)
			longest = strlen(buf);
		if (!is_well_said(&r, buf) && good) {
			printf("# kind %u, opcode %#x: '%s'\n", r.kind, r.op, buf);
			good = false;
		}
	}
	free(buf);
	ok(good, "%d random commands: no blank, no empty item", NR_RANDOM);
	ok(longest < 512, "none longer than 512 bytes: %zu", longest);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void time_one(const char *what, struct io_record r)
{
	char buf[256];
	uint64_t start_ns = now_ns(), sum = 0;

	for (uint32_t i = 0; i < NR_TIMED; i++) {
		struct words w = words__on(buf, sizeof(buf));

		r.cdw10[0] = i * 2654435761u;
		nvme_command__describe(&w, &r, 512);
		sum += (uint64_t)(w.at - w.start);
	}
	printf("# %s: %.1f ns of CPU each, %.1f bytes\n", what,
	       (double)(now_ns() - start_ns) / NR_TIMED, (double)sum / NR_TIMED);
}

int main(void)
{
	check_samples();
	check_coverage();
	check_list(0x06, "cns", cns, 256);
	check_list(0x02, "lid", lid, 0xc0);
	check_list(0x09, "fid", fid, 0xc0);
	check_events();
	check_answers();
	check_columns();
	check_random();
	time_one("a plain read", (struct io_record){ .op = 2, .cdw10 = { 0, 0, 7 } });
	time_one("a write with FUA", (struct io_record){ .op = 1, .cdw10 = { 0, 0, 1u << 30 } });
	return done_testing();
}
