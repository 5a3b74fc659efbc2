# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154 # lib.sh sets tracing
# shape: nvme
# kernels: 5.10 7.2
# timeout: 150
#
# anyevent: count, sum, hist, print, pair and stacks of any event: keys, values, conditions and filters are right and every
# ledger balances, around a load whose numbers are known: 97 direct reads of 4 KiB, 13 of 64 KiB.

dev=$(disk io0)
set_scheduler "$dev" none
cat >/tmp/load <<EOF
dd if=/dev/$dev of=/dev/null bs=4k count=97 iflag=direct status=none
dd if=/dev/$dev of=/dev/null bs=64k count=13 iflag=direct status=none
EOF

# asks NAME COMMAND [WORD]...: runs it around the load, JSON to /tmp/NAME; it exits 0 and its ledger balances.
asks() {
	asks_name=$1
	shift
	iosonar "$@" -o json -- sh /tmp/load >"/tmp/$asks_name" 2>"/tmp/$asks_name.err"
	ok $? "$asks_name: exits 0" || note "$(cat "/tmp/$asks_name.err")"
	asks_left=$(grep '"type":"event_ledger"' "/tmp/$asks_name" | sed 's/[{}"]//g' | tr ',' '\n' | awk -F: '
		$1 == "hits" { left += $2 }
		$1 ~ /^(refused|added|sent|begun|no_start|lost_key|lost_ring|lost_start|lost_text)$/ { left -= $2 }
		$1 ~ /^(unaccounted|skipped|lost_)/ { bad += $2 }
		END { print NR ? left + bad : "none" }')
	is "$asks_left" 0 "$asks_name: the ledger balances"
}

# of NAME PATTERN KEY: the value of that key in the rows that match; several are added.
of() { grep "$2" "/tmp/$1" | grep -v '"type":"event_ledger"' | grep -o "\"$3\":[-0-9.]*" | cut -d: -f2 | awk '{ s += $1 } END { print s + 0 }'; }

# The kernel reports 64 returns of those calls of user functions that a task has open; the entries tell of the others.
f=/usr/bin/nested:nested_call
iosonar count "userret:$f" "user:$f" by probe -o json -- nested 1000 >/tmp/nested 2>/tmp/nested.err
is "$? $(of nested '"userret:' count) $(of nested '"user:' count)" "3 64 1001" "of 1,001 nested calls 64 return for us"
is "$(grep -o '"omitted":[0-9]*' /tmp/nested)" '"omitted":937' "the others are counted" || note "$(cat /tmp/nested.err)"
iosonar count "userret:$f" -o json -- nested 63 5 >/tmp/nested 2>/tmp/nested.err
is "$(grep -o '"omitted":[0-9]*' /tmp/nested)" '"omitted":256' "calls that longjmp ended keep their places if they have all"

asks keys count block:block_rq_issue by 'dev(dev), rwbs, bytes' if 'comm == "dd"'
is "$(of keys "\"dev_dev\":\"$dev\",\"rwbs\":\"R[A-Z]*\",\"bytes\":4096," count)" 97 "97 reads of 4 KiB, by device, kind and bytes"
is "$(of keys "\"dev_dev\":\"$dev\",\"rwbs\":\"R[A-Z]*\",\"bytes\":65536," count)" 13 "13 of 64 KiB"
asks raw count raw:nvme_setup_cmd raw:nvme_complete_rq by probe
is "$(of raw '"probe":"raw:nvme_setup_cmd"' count)" 110 "a raw tracepoint of a module, by probe"
is "$(of raw '"probe":"raw:nvme_complete_rq"' count)" 110 "and another in the same run"
asks sum sum block:block_rq_issue of bytes by rwbs if 'comm like "d?"'
is "$(of sum '"rwbs":"R[A-Z]*"' sum)" $((97 * 4096 + 13 * 65536)) "bytes add up"
asks hist hist syscalls:sys_exit_read of ret if 'ret >= 4096' by comm
is "$(of hist '"type":"hist".*"comm":"dd"' count)" 110 "a histogram has every read that returned as much"
is "$(of hist '"type":"hist".*"comm":"dd"' max)" 65536 "its maximum is exact"
is "$(of hist '"type":"hist".*"comm":"dd"' mean)" $(((97 * 4096 + 13 * 65536) / 110)) "and its mean"
is "$(of hist '"type":"bucket".*"comm":"dd"' count)" 110 "its buckets hold them all"
asks log2 hist block:block_rq_issue of bytes --log2 if 'comm == "dd"'
is "$(of log2 '"type":"bucket".*"from":4096,' count) $(of log2 '"type":"bucket".*"from":65536,' count)" "97 13" "powers of two"
asks linear hist block:block_rq_issue of 'bytes >> 12' --linear 0:8:1 if 'comm == "dd"'
is "$(of linear '"type":"bucket".*"from":1,' count) $(of linear '"type":"bucket".*"from":8,' count)" "97 13" "steps, and what lies above"
asks print print block:block_rq_issue show 'dev(dev), sector, rwbs, bytes / 512' if 'comm == "dd" && sector >= 776'
# The first dd reads 97 * 8 sectors, the second 13 * 128: from sector 776 on only the second has any.
is "$(grep -c '"type":"print"' /tmp/print)" $((13 - 776 / 128 - 1)) "a line for each that meets the condition"
is "$(of print '"sector":896,' bytes_512)" 128 "with what was asked for"
# Bytes 8 and 9 are the number of blocks less one.
asks element count nvme:nvme_setup_cmd by 'cdw10[8]' if 'comm == "dd"'
is "$(of element '"cdw10_8":7,' count) $(of element '"cdw10_8":127,' count)" "97 13" "an element of an array"
asks array print nvme:nvme_setup_cmd show cdw10 if 'comm == "dd" && cdw10[8] == 7'
is "$(grep -c '"cdw10":"\([0-9a-f][0-9a-f] \)\{8\}07 00\( [0-9a-f][0-9a-f]\)*"' /tmp/array)" 97 "the whole array in hexadecimal"
asks member count raw:sched_switch by 'next->comm[0], next->comm[cpu + 16]' if 'next->comm[0] == next->comm[cpu - cpu]'
is "$(of member '"next_comm_cpu_16":0,' count)" "$(of member . count)" "an index that is outside at the hit gives 0"
asks fields print block:block_rq_issue if 'comm == "dd"'
is "$(grep -c '"type":"print".*"nr_sector":8,.*"rwbs":"R[A-Z]*"' /tmp/fields)" 97 "without show every field is there"
# Without BTF of its module a raw tracepoint's arguments have no names.
iosonar events raw:nvme_setup_cmd | grep -q req && key=req || key=arg0
asks pair pair raw:nvme_setup_cmd raw:nvme_complete_rq on "$key"
is "$(of pair '"type":"pair"' count)" 110 "pairs by a pointer that both have"
asks each pair raw:nvme_setup_cmd raw:nvme_complete_rq on "$key" by 'entry.comm' --each if 'latency > 1us'
is "$(grep -c '"type":"each".*"comm":"dd"' /tmp/each)" 110 "a line for each, with who began it" || note "$(head -2 /tmp/each)"
asks slow pair syscalls:sys_enter_read syscalls:sys_exit_read on tid by ret --slow 3 if 'comm == "dd" && ret > 0'
is "$(grep -c '"type":"each"' /tmp/slow)" 3 "the slowest three"
is "$(grep '"type":"each"' /tmp/slow | grep -o '"latency_ns":[0-9]*' | cut -d: -f2 | sort -rnc 2>&1)" "" "the slowest first"
asks stacks stacks raw:block_rq_issue by comm
is "$(of stacks '"comm":"dd"' count)" 110 "stacks count every request"
grep '"comm":"dd"' /tmp/stacks | grep -q 'blk_mq_submit_bio\|blkdev_direct_IO'
ok $? "and name the way it came" || note "$(grep '"comm":"dd"' /tmp/stacks | head -2)"
asks timer count interval:10ms
[ "$(of timer '"type":"count"' count)" -ge 1 ]
ok $? "a timer ticks"

# Which tasks: the shell alone, with what it starts, one that is not there.
cat >/tmp/family <<'EOF'
read -r go </tmp/gate
for i in 1 2 3 4 5; do /usr/bin/dd if=/dev/zero of=/dev/null bs=1 count=7 status=none; done
EOF
mkfifo /tmp/gate
for children in '' --children; do
	sh /tmp/family &
	family=$!
	: >/tmp/tasks.err # what the run before said is no sign of this one
	# shellcheck disable=SC2086 # an option or none
	iosonar count syscalls:sys_enter_write -v if 'count == 1' -p $family $children -o json --out /tmp/tasks 2>/tmp/tasks.err &
	tasks=$!
	wait_for 20 grep -q attached /tmp/tasks.err
	sleep 0.3
	echo go >/tmp/gate
	wait $family
	sleep 0.2
	kill -INT $tasks
	wait $tasks
	ok $? "-p $children: exits 0" || note "$(cat /tmp/tasks.err)"
	[ -n "$children" ] && want=35 || want=0
	is "$(of tasks '"type":"count"' count)" "$want" "-p $children: $want writes of one byte"
done

# COMMAND says only how long; with --follow the line is about it and its children. A process outside, which COMMAND wakes and
# waits for, does what COMMAND's child does.
mkfifo /tmp/over
sed 1d /tmp/family >/tmp/work
echo 'echo go >/tmp/gate; sh /tmp/work; cat /tmp/over' >/tmp/both
for asked in count 'count --follow' 'stacks --follow'; do
	{
		sh /tmp/family
		echo over >/tmp/over
	} &
	# shellcheck disable=SC2086 # an option or none
	iosonar $asked syscalls:sys_enter_write if 'count == 1 && comm == "dd"' -o json -- sh /tmp/both 2>/tmp/tasks.err >/tmp/tasks
	ok $? "$asked -- COMMAND: exits 0" || note "$(cat /tmp/tasks.err)"
	wait $!
	[ "$asked" = count ] && want=70 || want=35
	is "$(of tasks '"type":"\(count\|event_stacks\)"' count)" "$want" "$asked -- COMMAND: $want writes of one byte"
done
# A counter, which no program filters: the reads of the children are its page faults, too.
echo 'for i in 1 2 3 4 5; do cat /tmp/work; done' >/tmp/faults
iosonar count soft:page-faults --follow -o json -- sh /tmp/faults 2>/tmp/tasks.err >/tmp/tasks
children=$(of tasks '"type":"count"' count)
iosonar count soft:page-faults --follow -o json -- sh -c : 2>/tmp/tasks.err >/tmp/tasks
[ "$children" -ge $((3 * $(of tasks '"type":"count"' count))) ]
ok $? "a counter follows children: $children faults" || note "$(cat /tmp/tasks /tmp/tasks.err)"

# Functions, where this kernel lets them be probed.
if grep -qw blk_mq_start_request "$tracing/available_filter_functions"; then
	asks functions count 'fn:blk_mq_start_re*' by func
	is "$(of functions '"func":"blk_mq_start_request"' count)" 110 "a kernel function"
	asks latency hist fn:blkdev_read_iter of latency if 'comm == "dd"'
	[ "$(of latency '"type":"hist"' count)" -ge 110 ]
	ok $? "time from a function's entry to its return" || note "$(cat /tmp/latency /tmp/latency.err)"
	asks argument count fn:submit_bio by 'bio->bi_iter.bi_size' if 'comm == "dd"'
	is "$(of argument '"bio_bi_iter_bi_size":65536,' count)" 13 "members of its argument"
	asks slow count fn:blkdev_read_iter by 'latency / 1000s' if 'latency < 100s && comm == "dd"'
	[ "$(of slow '"latency_1000s":0,' count)" -ge 110 ]
	ok $? "its latency in a key and in a condition" || note "$(cat /tmp/slow /tmp/slow.err)"
fi
# Arguments that point into the process, of which most BTF says nothing; 5.10 has none of a static function.
if grep -qw do_sys_openat2 "$tracing/available_filter_functions" && grep -qw get_timespec64 "$tracing/available_filter_functions"; then
	iosonar print fn:do_sys_openat2 show 'str(arg1)' if 'comm == "cat"' -- cat /tmp/load >/tmp/user 2>/tmp/user.err
	grep -q ' cat .* /tmp/load$' /tmp/user
	ok $? "a text of the process" || note "$(cat /tmp/user /tmp/user.err)"
	iosonar print fn:get_timespec64 show 'uts->tv_sec' if 'comm == "sleep"' -- sleep 2 >/tmp/user 2>/tmp/user.err
	grep -q ' sleep .* 2$' /tmp/user
	ok $? "a member of what lies in the process" || note "$(cat /tmp/user /tmp/user.err)"
fi

# What is wrong is said before anything is loaded.
iosonar count block:block_rq_issue by rwb 2>/tmp/err
is $? 2 "a wrong name exits 2"
grep -q "did you mean rwbs" /tmp/err
ok $? "and names the right one" || note "$(cat /tmp/err)"
done_testing
