# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 6.12
# timeout: 60
#
# waits_cost: what waits adds, in instructions of the guest, run-time statistics included: to a switch between tasks that are not
# watched, to their wake-ups, bios, reads and writes, and to a read of one I/O that is watched, as soon as the place where it sleeps
# is known. The bounds hold for 6.12; on other kernels, and where a bound is "-", the figures are printed, not judged.

null_disk nullb0 irqmode=2 completion_nsec=1000000
set_scheduler nullb0 none
# Of a switch, of which an empty program has 67 on arm64; of a read, of which one in 64 walks the stack by chance: on x86_64 it was
# 2,643 to 2,736 in five runs, on arm64 2,972. Then of a wake-up, a bio, and the two ends of a read and of a
# write: 61, 87, 284 and 296 on x86_64.
bounds=''
case $(uname -rm) in
6.12.*aarch64) bounds='92 3000 - - - -' ;;
6.12.*x86_64) bounds='70 2900 70 100 320 330' ;;
esac

# reads N: of one I/O.
reads() { /usr/bin/dd if=/dev/nullb0 of=/dev/null bs=4k count="$1" iflag=direct 2>/dev/null; }
writes() { /usr/bin/dd if=/dev/zero of=/dev/nullb0 bs=4k count="$1" oflag=direct 2>/dev/null; }

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
	bound=$(echo "$bounds" | cut -d' ' -f"$1")
	case $bound in
	'' | -) skip "$3: within its bound" "no bound for this kernel and machine" && return ;;
	esac
	[ "$2" -le "$bound" ] && [ "$2" -gt $((bound / 2)) ]
	ok $? "$3: at most $bound instructions" || note "it costs $2"
}

begin --comm nobody
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.01; done
reads 500
writes 500
end
# cost PROGRAM...: of one run of each; 0: one of them has not run.
cost() {
	sum=0
	for program; do
		one=$(awk -v name="$program" '$1 == name { printf "%d", $2 / $3 }' /tmp/stats)
		[ -n "$one" ] || { echo 0 && return; }
		sum=$((sum + one))
	done
	echo $sum
}
at_most 1 "$(cost waits_switch)" "a switch between tasks that are not watched"
at_most 3 "$(cost waits_wakeup)" "a wake-up of a task that is not watched"
at_most 4 "$(cost waits_bio)" "a bio of a task that is not watched"
at_most 5 "$(cost waits_read waits_read_end)" "a read of a task that is not watched"
at_most 6 "$(cost waits_write waits_write_end)" "a write of a task that is not watched"

begin --comm dd read
reads 500
end
between "$(ledger /tmp/out shown)" 520 524 "reads that waited"
whole /tmp/out "no place was taken for another"
call=$(awk '{ sum += $2 } END { printf "%d", sum / 500 }' /tmp/stats)
at_most 2 "$call" "a read that waits for one I/O"
null_remove nullb0
done_testing
