# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 6.12
# timeout: 150
#
# waits_commands: which commands a slow call waited for. Each command of null_blk takes 20 ms.

slow_ns=20000000
null_disk nullb0 irqmode=2 completion_nsec=$slow_ns memory_backed=1 hw_queue_depth=128 size=256
ok $? "a disk that takes 20 ms for each command"
set_scheduler nullb0 none
echo 0 >/sys/block/nullb0/queue/wbt_lat_usec

# waits NAME OPTION... -- COMMAND...: JSON in /tmp/NAME.
waits() {
	name=$1
	shift
	iosonar waits -o json "$@" >"/tmp/$name" 2>"/tmp/$name.err"
	is $? 0 "$name: exit status" || note "$(cat "/tmp/$name.err")"
	whole "/tmp/$name" "$name: nothing is lost"
}

# commands NAME: one line for each command of each slow call: CALL DEV OP SECTOR BYTES LAT_NS ISSUE_NS.
commands() {
	sed -n '/"type":"wait",/s/.*"call":"\([a-z]*\)".*"commands":\[\([^]]*\)\].*/\1 \2/p' "/tmp/$1" |
		awk '{ nr = split($2, all, "}"); for (i = 1; i < nr; i++) { gsub(/^,|[{]|"[a-z_]*":/, "", all[i])
			gsub(/"/, "", all[i]); gsub(/,/, " ", all[i]); print $1, all[i] } }'
}

# Seven reads, each a command of its own; a read of 512 KiB that is split.
waits reads --comm waiter --slow 20 read -- waiter /dev/nullb0 read 7 65536 direct
commands reads >/tmp/reads.commands
awk '{ sum += $4; bad += $1 != "read" || $2 != "nullb0" || $3 != "read" || $5 != 65536 || $6 < 20000000 || $6 > 21000000 }
	END { exit !(NR == 7 && !bad && sum == 128 * 21) }' /tmp/reads.commands
ok $? "each read waited for one command: disk, operation, sector, length, latency" || note "$(cat /tmp/reads.commands)"
before=$(awk '{ print $1 }' /sys/block/nullb0/stat)
waits large --comm waiter --slow 20 read -- waiter /dev/nullb0 read 1 524288 direct
parts=$(($(awk '{ print $1 }' /sys/block/nullb0/stat) - before))
is "$(grep '"type":"wait",' /tmp/large | value nr_commands)" "$parts" "a read that is split waited for all of its parts"
is "$(commands large | awk '{ sum += $5 } END { print NR, sum }')" "$parts 524288" "and for no other" || note "$(commands large)"
iosonar waits --comm waiter --slow 1 read -- waiter /dev/nullb0 read 1 65536 direct >/tmp/text 2>/dev/null
grep -q '^ *nullb0 *read *sector 0 *64Ki *2[0-9.]*ms, sent after ' /tmp/text
ok $? "text has a line for each command" || note "$(cat /tmp/text)"

# Others' commands are not theirs: dd reads at the same time.
waits alone --comm waiter --slow 20 read -- sh -c 'dd if=/dev/nullb0 of=/dev/null bs=4k count=50 skip=9000 iflag=direct 2>/dev/null & waiter /dev/nullb0 read 7 65536 direct; kill $!'
is "$(commands alone | grep -vc ' 65536 ')" 0 "a command of another task is of no call" || note "$(commands alone)"
is "$(commands alone | wc -l)" 7 "and those of the calls are there"

# Bios that io.max holds back come from a worker.
echo +io >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/limited
echo "$(cat /sys/block/nullb0/dev) rbps=1048576" >/sys/fs/cgroup/limited/io.max
waits held --comm waiter --slow 20 read -- sh -c 'echo $$ >/sys/fs/cgroup/limited/cgroup.procs; exec waiter /dev/nullb0 read 7 65536 direct'
is "$(commands held | wc -l)" 7 "commands that io.max held back"
null_remove nullb0

# A drive with a write cache: fsync sends a flush.
dev=$(disk io0)
waits flush --comm waiter --slow 20 fsync -- waiter "/dev/$dev" fsync 5 4096
is "$(commands flush | awk '$3 == "flush" && $6 > 0' | wc -l)" 5 "each fsync waited for a flush" || note "$(commands flush)"
is "$(commands flush | awk '$3 == "write" && $5 == 4096' | wc -l)" 5 "and for its data" || note "$(commands flush)"
done_testing
