# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 7.2
#
# probeable: what `events` says can be probed is what the kernel's own lists say: tracepoints and their fields, functions,
# and why the others are none; arguments are what each kernel's BTF has, of modules, too.

tracing=/sys/kernel/tracing
[ -e $tracing/available_events ] || mount -t tracefs tracefs $tracing

names() { iosonar events --names -o csv "$@" | sed 1d | sort -u; }

sort $tracing/available_events >/tmp/want
names '*' >/tmp/got
cmp -s /tmp/want /tmp/got
ok $? "every event of the kernel's list is listed, $(wc -l <"/tmp/got")"

# fields_of EVENT: as the format file names them.
fields_of() {
	sed -n 's/^\tfield:\([^;]*\);.*/\1/p' "$tracing/events/$1/format" | sed 's/\[[^]]*\]$//; s/.*[ *]//' | grep -v '^common_' | xargs
}
values() { iosonar events -v -o csv "$1" | sed 1d | cut -d, -f2 | grep -v -e '->' | xargs; }
is "$(values nvme:nvme_setup_cmd)" "$(fields_of nvme/nvme_setup_cmd)" "nvme_setup_cmd has the fields of its format file"
is "$(values block:block_rq_complete)" "$(fields_of block/block_rq_complete)" "and so has block_rq_complete"
is "$(values syscalls:sys_enter_openat)" "__syscall_nr dfd filename flags mode" "a system call has its arguments"

# What ftrace lists can be probed; what it does not is no function of its own, or has a reason.
iosonar events -o csv 'fn:nvme_*' 'fn:vfs_*' 2>/tmp/probed.err >/tmp/probed
sed '1d; s/^fn:\([^,]*\),.*/\1/' /tmp/probed | sort -u >/tmp/got
sed 's/ .*//' $tracing/available_filter_functions | grep -e '^nvme_' -e '^vfs_' | sort -u >/tmp/want
cmp -s /tmp/want /tmp/got
ok $? "functions are those that ftrace knows, $(wc -l <"/tmp/got")" || note "$(diff /tmp/want /tmp/got | head)"
grep -q '^[0-9]* more cannot be probed; -v shows which and why$' /tmp/probed.err
ok $? "others are counted"

iosonar events fn:start_kernel fn:perf_trace_block_rq fn:submit_bioo -v fn:submit_bio >/tmp/probed 2>/tmp/probed.err
is $? 2 "a name that is none is wrong usage"
is "$(sed -n 1p /tmp/probed.err)" "iosonar: 'fn:start_kernel' cannot be probed: start_kernel is removed after boot (__init)" \
	"a function that ran at boot is refused"
is "$(sed -n 2p /tmp/probed.err)" "iosonar: 'fn:perf_trace_block_rq' cannot be probed: perf_trace_block_rq is not traceable (notrace)" \
	"so is one that is never traced"
is "$(sed -n 3p /tmp/probed.err)" "iosonar: unknown kernel function 'submit_bioo' (inlined, or in a module that is not loaded); did you mean fn:submit_bio?" \
	"a name that is none gets the nearest"
head -1 /tmp/probed | grep -q '^fn:submit_bio  [a-z_]* submit_bio(struct bio \*bio)$'
ok $? "a function has its prototype"
grep -q '^bio->bi_opf ' /tmp/probed
ok $? "and its argument the members of its struct"
module_btf=/sys/kernel/btf/nvme_core
if [ -e $module_btf ]; then
	is "$(iosonar events -v raw:nvme_setup_cmd | head -1)" \
		"raw:nvme_setup_cmd  void nvme_setup_cmd(struct request *req, struct nvme_command *cmd)  [nvme_core]" \
		"a raw tracepoint of a module has its arguments"
	is "$(values raw:nvme_setup_cmd)" "req cmd" "by name"
else
	is "$(iosonar events -o csv raw:nvme_setup_cmd | tail -1)" "raw:nvme_setup_cmd,raw,,," \
		"a raw tracepoint of a module without BTF is known by name"
	is "$(iosonar events -o csv fn:nvme_setup_cmd | tail -1)" "fn:nvme_setup_cmd,fn,nvme_core,," "and so are its functions"
fi
is "$(values raw:block_rq_issue | sed 's/^q rq$/rq/')" rq "a raw tracepoint of the kernel's has its own"
iosonar events --names '*' -o csv >/dev/null 2>/tmp/probed.err
is "$(cat /tmp/probed.err)" "" "nothing is said that nobody asked for"

umount $tracing
umount /sys/kernel/debug/tracing 2>/dev/null
umount /sys/kernel/debug 2>/dev/null
if [ ! -e $tracing/available_events ] && [ ! -e /sys/kernel/debug/tracing/available_events ]; then
	iosonar events block >/tmp/probed 2>/tmp/probed.err
	is $? 4 "without tracefs it cannot"
	is "$(cat /tmp/probed.err)" "iosonar: tracefs is not mounted; mount -t tracefs tracefs /sys/kernel/tracing" "and says how to get it"
else
	skip "without tracefs it cannot" "it cannot be unmounted"
fi
mount -t tracefs tracefs $tracing
done_testing
