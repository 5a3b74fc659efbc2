# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 6.12
# timeout: 60
#
# waits_filters: live runs with -p, --cgroup and --min have the calls that the workload made, and no others; what is too short is in
# the ledger. Second instrument: the number of reads that each program is told to make. Each command of the disks takes 5 ms or 40 ms.

null_disk nullb0 irqmode=2 completion_nsec=5000000 hw_queue_depth=128
null_disk nullb1 irqmode=2 completion_nsec=40000000 hw_queue_depth=128
ok $? "two disks"
set_scheduler nullb0 none
set_scheduler nullb1 none

# waits NAME OPTION... -- COMMAND...: JSON in /tmp/NAME.
waits() {
	name=$1
	shift
	iosonar waits read -o json --by dev,pid --out "/tmp/$name" "$@" >/tmp/said 2>"/tmp/$name.err"
	is $? 0 "$name: exit status" || note "$(cat "/tmp/$name.err")"
	whole "/tmp/$name" "$name: nothing is lost"
	terms=0
	for term in unwaited shorter shown in_flight; do
		terms=$((terms + $(ledger "/tmp/$name" $term)))
	done
	is "$(ledger "/tmp/$name" calls)" "$terms" "$name: each call is in one term of the ledger"
}

# reads NAME DEV [PID]: that waited.
reads() {
	sed -n "/\"type\":\"waits\",\"span\":\"total\".*\"dev\":\"$2\",.*\"pid\":${3:-[0-9]*},.*\"part\":\"total\"/s/.*\"count\":\([0-9]*\).*/\1/p" "/tmp/$1" |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# Both read at the same time; the first one exists before the run begins.
cat >/tmp/both <<'END'
touch /tmp/go
waiter /dev/nullb0 read 11 4096 direct
while kill -0 "$1" 2>/dev/null; do sleep 0.02; done
END
sh -c 'until [ -e /tmp/go ]; do sleep 0.02; done; exec waiter /dev/nullb0 read 23 4096 direct' >/dev/null &
pid=$!
waits pid -p $pid -- sh /tmp/both $pid
is "$(reads pid nullb0 $pid) $(reads pid nullb0)" "23 23" "-p: the reads of that process, and no others" || note "$(cat /tmp/pid)"

echo +io >/sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/one/below /sys/fs/cgroup/two
cat >/tmp/groups <<'END'
in_group() { sh -c 'echo $$ >"/sys/fs/cgroup/$0/cgroup.procs" && exec "$@"' "$@"; }
in_group one waiter /dev/nullb0 read 13 4096 direct &
in_group one/below waiter /dev/nullb1 read 7 4096 direct &
in_group two waiter /dev/nullb0 read 19 4096 direct &
waiter /dev/nullb1 read 5 4096 direct
wait
END
waits cgroup --cgroup /sys/fs/cgroup/one -- sh /tmp/groups
is "$(reads cgroup nullb0) $(reads cgroup nullb1)" "13 7" "--cgroup: the reads in it and below it, and no others" || note "$(cat /tmp/cgroup)"
waits nobody --cgroup /sys/fs/cgroup/two --comm nobody -- sh /tmp/groups
is "$(ledger /tmp/nobody calls)" 0 "--cgroup and --comm: both have to be true"

waits min --min 20ms --comm waiter -- sh -c 'waiter /dev/nullb0 read 17 4096 direct; waiter /dev/nullb1 read 7 4096 direct'
is "$(reads min nullb0) $(reads min nullb1)" "0 7" "--min: the calls that took as long, and no others" || note "$(cat /tmp/min)"
is "$(ledger /tmp/min shown)" 7 "--min: these are shown"
between "$(ledger /tmp/min shorter)" 17 30 "--min: all others that waited are shorter" || note "$(grep '"type":"ledger"' /tmp/min)"
waits file --min 20ms --file /dev/nullb0 -- waiter /dev/nullb0 read 17 4096 direct
is "$(ledger /tmp/file calls) $(ledger /tmp/file shorter) $(ledger /tmp/file shown)" "17 17 0" "--min and --file: the reads of that disk, all shorter"
null_remove nullb0
null_remove nullb1
done_testing
