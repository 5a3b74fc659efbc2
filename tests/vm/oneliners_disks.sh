# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154,SC2317 # the libraries set variables; they call what is defined here
# shape: null-latency scsi
# timeout: 200
# kernels: 7.2
# brings: docs/one-liners.md tests/vm/oneliners_lib.sh
#
# oneliners_disks: the sections "Disks" and "NVMe" of docs/one-liners.md: every line runs as it stands there, its ledger
# balances, and its figure is that of a second source. A line that this machine cannot run is refused in the words that
# stand below it. All disks take 2 ms: no completion interrupts a program of its own submission, which would be skipped.

# shellcheck source-path=SCRIPTDIR source=oneliners_lib.sh
. /tests/oneliners_lib.sh
page Disks NVMe
load virtio_scsi
load sd_mod
wait_for 20 test -b /dev/sda
ok $? "there is a SCSI disk"
null_disk nullb0 irqmode=2 completion_nsec=2000000 && echo +2048-2055 >/sys/kernel/config/nullb/nullb0/badblocks
nvme=$(disk io0)
read_lists_once

# The page's program with marks is not here: ours takes its place, and the page's own line is refused.
sed 's,/usr/sbin/mysqld:mysql:command__start,/usr/bin/calls:calls:begin,;s,/usr/sbin/mysqld:mysql:command__done,/usr/bin/calls:calls:end,' \
	/tmp/lines/N10.line >/tmp/lines/N10b.line

befores() {
	sync && echo 3 >/proc/sys/vm/drop_caches && sleep 0.5
	start_calls
}
afters() { finish_calls; }
hears() {
	hear all '' 'block scsi nvme' \
		'blk_start_plug __blk_flush_plug blk_mq_start_request scsi* nvme* blk_mq_*issue* submit_bio bio_endio'
}
copy() { dd "$@" bs=4k status=none 2>/dev/null; }
stat_all() { echo $(($(stat_of "$nvme" "$1") + $(stat_of sda "$1") + $(stat_of nullb0 "$1"))); }
loads() {
	reads=$(stat_all reads) flushes=$(stat_all flushes) nvme_reads=$(stat_of "$nvme" reads)
	read_sectors=$(stat_all read_sectors) write_sectors=$(stat_all write_sectors)
	copy if="/dev/$nvme" of=/dev/null count=17 iflag=direct
	copy if=/dev/zero of="/dev/$nvme" count=13 oflag=direct conv=fsync,notrunc
	copy if="/dev/$nvme" of=/dev/null count=64
	nvme read "/dev/$nvme" -s 999999999 -c 0 -z 512 >/dev/null 2>&1 # no such block
	copy if=/dev/sda of=/dev/null count=11 iflag=direct
	copy if=/dev/zero of=/dev/sda count=7 oflag=direct conv=fsync
	for _ in 1 2 3; do
		copy if=/dev/nullb0 of=/dev/null skip=256 count=1 iflag=direct
	done
	run_calls
	sleep 0.3
	reads=$(($(stat_all reads) - reads)) flushes=$(($(stat_all flushes) - flushes))
	read_sectors=$(($(stat_all read_sectors) - read_sectors)) write_sectors=$(($(stat_all write_sectors) - write_sectors))
	nvme_reads=$(($(stat_of "$nvme" reads) - nvme_reads))
}
issued() { heard all block_rq_issue | sed -n "s/.*: [0-9]*,[0-9]* \([A-Z]*\) \([0-9]*\) .*/$1/p"; }
check_disks() {
	same 49 "events of the block layer" "$(table 49 probe block)" "$(events_of all block)"
	same 52 "kinds of requests" "$(table 52 rwbs)" "$(issued '\1' | each_name)"
	is "$(total 52 '"rwbs":"R') $(total 52 '"rwbs":"W') $(total 52 '"rwbs":"F')" "$reads $((13 + 7)) $flushes" "52: as /sys/block and dd count them"
	same 100 "their bytes" "$(rows 100 | sed 's/.*"rwbs":"\([A-Z]*\)".*"sum":\([0-9]*\).*/\1 \2/' | by_name)" "$(issued '\1 \2' | by_name)"
	is "$(total 100 '"rwbs":"R' sum) $(total 100 '"rwbs":"W' sum)" "$((read_sectors * 512)) $((write_sectors * 512))" "100: as /sys/block counts them"
	is "$(total 50) $(bucket 50 4096)" "$(issued '\2' | grep -c .) $(issued '\2' | awk '$1 >= 4096 && $1 < 8192' | grep -c .)" "50: their sizes"
	is "$(total 51)" "$(happened all block_rq_issue)" "51: each has a row"
	is "$(lines 17)" "$(($(happened all block_rq_insert) + $(happened all block_rq_issue) + $(happened all block_rq_complete)))" "17: a line for each"
	is "$(lines 53 '"dev_dev":"nullb0".*"sector":2048,"error":-5')" 3 "53: reads that failed"
	is "$(lines 53)" "$(happened all block_rq_complete '\[-[0-9]')" "53: and no others"
	is "$(term 102 begun)" "$(called all blk_start_plug)" "102: plugs"
	is "$(($(term 102 added) + $(term 102 no_start)))" "$(called all __blk_flush_plug)" "102: and their ends"
	is "$(bucket 105 0) $(bucket 105 1)" \
		"$(called all blk_mq_start_request '.* 000$') $(called all blk_mq_start_request '.* 001$')" "105: requests by CPU"
}
check_scsi() {
	is "$(total 54 '"opcode":40,') $(total 54 '"opcode":42,')" "11 7" "54: SCSI commands that read and write"
	is "$(total 54)" "$(happened all scsi_dispatch_cmd_start)" "54: all"
	is "$(total 55 '"result":0,')" "$(happened all scsi_dispatch_cmd_done)" "55: their results"
	is "$(lines 18)" "$(($(happened all scsi_dispatch_cmd_start) + $(happened all scsi_dispatch_cmd_done)))" "18: a line for each"
	same 106 "functions" "$(table 106 func)" "$(calls_of all scsi)"
}
check_nvme() {
	nvme_commands=$(happened all nvme_setup_cmd)
	same 56 "functions" "$(table 56 func)" "$(calls_of all nvme)"
	same N2 "events" "$(rows N2 | sed 's/.*"probe":"nvme:\([a-z_]*\)".*/\1/' | each_name)" "$(events_of all nvme)"
	same N9 "the same, exactly" "$(table N9 probe raw)" "$(events_of all nvme)"
	is "$(total N5)" "$(happened all block_rq_issue)" "N5: requests by stack"
	is "$(($(total N5) + $(term N5 no_start)))" "$(happened all block_rq_complete)" "N5: and a write that only waited for its flush"
	rows N5 | grep -q 'nvme_queue_rq'
	ok $? "N5: where they were issued" || note "$(rows N5)"
	is "$(lines N5b '"latency_ns"')" 10 "N5b: the slowest"
	is "$(total N6)" "$(called all nvme_queue_rq)" "N6: requests by stack"
	same N7 "the functions that issue" "$(table N7 func)" \
		"$(grep -E '^(blk_mq_.*issue|nvme_queue_rq |nvme_commit_rqs )' /tmp/heard/all.calls | cut -d' ' -f1 | each_name)"
	is "$(total N8 '"fn:nvme_setup_cmd"') $(total N8 '"ret:nvme_setup_cmd"') $(total N8b)" \
		"$nvme_commands $nvme_commands $nvme_commands" "N8: entries, returns, times between" || note "$(rows N8)"
	is "$(total N11 "\"$nvme\"") $(total N11)" "$((nvme_reads + 1)) $((nvme_reads + 1))" "N11: reads alone, and the one that failed"
	is "$(term N12 begun)" "$(called all submit_bio)" "N12: bios that begin"
	is "$(($(lines N12) + $(term N12 no_start)))" "$(called all bio_endio)" "N12: a line for each that ends"
	between "$(lines N12)" $((17 + 13)) 1000 "N12: some are ours"
	is "$(lines N4 '"type":"errors".*"what":"failed"') $(lines N4 "\"dev\":\"$nvme\".*\"lba\":999999999,.*LBA out of range")" "4 1" \
		"N4: a command that failed, and three of the other disk" || note "$(cat /tmp/runs/N4)"
	is "$(total N10b) $(term N10b no_start)" "$(did read_whole) 0" "N10: from mark to mark"
}
check_lists() {
	is "$(cat /tmp/runs/N3.status /tmp/runs/N3b.status | tr '\n' ' ')" "0 0 " "N3: exits 0"
	is "$(sed -n 's/^nvme:\([a-z_]*\) .*/\1/p' /tmp/runs/N3.out)" \
		"$(cd "$tracefs/events/nvme" && echo * | tr ' ' '\n' | grep -v '^enable$\|^filter$')" "N3: events of NVMe"
	is "$(sed -n 's/^fn:\([a-z0-9_.]*\) .*/\1/p' /tmp/runs/N3b.out | sort)" \
		"$(sed -n 's/^\(nvme[a-z0-9_.]*cmd[a-z0-9_.]*\) .*/\1/p' "$tracefs/available_filter_functions" | sort -u)" "N3b: functions"
}
checks() {
	check_disks
	check_scsi
	check_nvme
	check_lists
	refused N7b 2
	refused N10 2
}
of_process=N10b
besides='N3 N3b N7b N10'
watch 56 106 N7 N12 N8 N8b N6 102 105 N5 N5b N2 N9 N11 N4 N10b 17 49 50 51 52 100 53 54 55 18

page_is_done
done_testing
