# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 6.12
# timeout: 60
#
# waits_cost: what waits adds, in instructions of the guest, run-time statistics included: to a switch between tasks that are not
# watched, and to a read of one I/O that is, as soon as the place where it sleeps is known. The bounds hold for 6.12; on other
# kernels the figures are printed, not judged.

null_disk nullb0 irqmode=2 completion_nsec=1000000
set_scheduler nullb0 none
# Of a switch, of which an empty program has 67 on arm64; of a read, of which one in 64 walks the stack by chance: on x86_64 it was
# 2,643 to 2,736 in five runs, on arm64 2,972.
bounds=''
case $(uname -rm) in
6.12.*aarch64) bounds='92 3050' ;;
6.12.*x86_64) bounds='70 2900' ;;
esac

# reads N: of one I/O.
reads() { /usr/bin/dd if=/dev/nullb0 of=/dev/null bs=4k count="$1" iflag=direct 2>/dev/null; }

# begin OPTION...: starts waits, with statistics on.
begin() {
	rm -f /tmp/out.err
	iosonar waits -v -o json "$@" >/tmp/out 2>/tmp/out.err &
	pid=$!
	wait_for 60 grep -q '^programs for .*attached' /tmp/out.err
	reads 20
	sleep 2
	sysctl -w kernel.bpf_stats_enabled=1 >/dev/null
}

# end: what each program cost is in /tmp/stats: NAME NS RUNS.
end() {
	bpftool prog show | awk '/ name waits_/ { runs = 0; for (i = 1; i < NF; i++) { if ($i == "name") name = $(i + 1)
		if ($i == "run_time_ns") ns = $(i + 1); if ($i == "run_cnt") runs = $(i + 1) }
		if (runs) print name, ns, runs }' >/tmp/stats
	sysctl -w kernel.bpf_stats_enabled=0 >/dev/null
	kill -INT $pid
	wait $pid
	is $? 0 "exit status" || note "$(cat /tmp/out.err)"
	note "$(cat /tmp/stats)"
}

# at_most NUMBER COST WHAT
at_most() {
	note "$3: $2 instructions"
	[ -n "$bounds" ] || { skip "$3: within its bound" "bounds are for 6.12 on arm64 and x86_64" && return; }
	bound=$(echo "$bounds" | cut -d' ' -f"$1")
	[ "$2" -le "$bound" ] && [ "$2" -gt $((bound / 2)) ]
	ok $? "$3: at most $bound instructions" || note "it costs $2"
}

begin --comm nobody
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.01; done
end
switch=$(awk '$1 == "waits_switch" { printf "%d", $2 / $3 }' /tmp/stats)
at_most 1 "${switch:-0}" "a switch between tasks that are not watched"

begin --comm dd read
reads 500
end
between "$(ledger /tmp/out shown)" 520 524 "reads that waited"
whole /tmp/out "no place was taken for another"
call=$(awk '{ sum += $2 } END { printf "%d", sum / 500 }' /tmp/stats)
at_most 2 "$call" "a read that waits for one I/O"
null_remove nullb0
done_testing
