# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154,SC2317 # the libraries set variables; they call what is defined here
# shape: files
# timeout: 200
# kernels: 6.12
# brings: docs/one-liners.md tests/vm/oneliners_lib.sh
#
# oneliners_files: the sections "Memory" and "File systems" of docs/one-liners.md: every line runs as it stands there, its
# ledger balances, and its figure is that of a second source. A line that this machine cannot run is refused in the words
# that stand below it.

# shellcheck source-path=SCRIPTDIR source=oneliners_lib.sh
. /tests/oneliners_lib.sh
page Memory 'File systems'
load ext4
load xfs
null_disk nullb0
read_lists_once
nvme=$(disk io0)
mkdir -p /tmp/fs
mke2fs "/dev/$nvme" >/dev/null 2>&1 && mount -t ext4 "/dev/$nvme" /tmp/fs
ok $? "there is an ext4"

# x86_64 alone has this event.
user_faults=
[ ! -e "$tracefs/events/exceptions/page_fault_user" ] || user_faults=exceptions/page_fault_user

befores() {
	rm -f /tmp/fs/file && sync && echo 3 >/proc/sys/vm/drop_caches && sleep 0.5
	start_calls
	mkfifo /tmp/calls/pipe
	exec 4<>/tmp/calls/pipe # full before the 17th page: who reads the file lives until it was named
}
afters() {
	finish_calls
	kill "$dd_pid"
	wait "$dd_pid"
	exec 4<&-
}
hears() {
	hear calls "$calls_pid" "$user_faults" 'vfs_* lookup_fast hugepage_madvise'
	hear all '' 'ext4 xfs vmscan migrate compaction' 'ext4_file_read_iter read_pages ext4_readahead'
}
loads() {
	run_calls
	dd if=/dev/zero of=/tmp/fs/file bs=4k count=19 conv=fsync status=none
	echo 1 >/proc/sys/vm/compact_memory
	echo 3 >/proc/sys/vm/drop_caches
	/usr/bin/dd if=/tmp/fs/file of=/tmp/calls/pipe bs=4k count=17 status=none 2>/dev/null &
	dd_pid=$!
	wait_for 20 grep -qx 'wchar: 65536' /proc/$dd_pid/io
	mount -t xfs /dev/nullb0 /mnt 2>/dev/null # it looks for one there
	sync
	sleep 0.5
}
check_calls() {
	is "$(total 27 '"comm":"calls"')" "$(did brk)" "27: calls of brk"
	rows 27 | grep -q calls_do # libc's own frame hides who called it
	ok $? "27: and who made them" || note "$(rows 27)"
	is "$(total 72 "\"comm\":\"calls\",\"pid\":$calls_pid")" "$(did faults)" "72: page faults, as the kernel counts them"
	is "$(total 28b '"comm":"calls"')" "$(did faults)" "28b: the same, by stack"
	rows 28b | grep -q '"calls_touch","calls_do'
	ok $? "28b: with names" || note "$(rows 28b)"
	is "$(lines 30 '"comm":"calls"') $(called calls hugepage_madvise)" "$(did madvise) $(did madvise)" "30: advices"

	is "$(lines 79 '"comm":"calls".*"str_filename":"\(opened\|created\)"')" "$(did openat)" "79: every file that was opened"
	is "$(lines 34 '"str_filename":"created"') $(lines 34)" "$(did create) $(did create)" "34: every one that was made"
	is "$(lines 33 '"str_entry_filename":"\(opened\|created\)","ret":[0-9]')" "$(did openat)" "33: with what came of it"
	is "$(total 35 '"str_filename":"opened"') $(total 35)" "$(did newfstatat) $(did newfstatat)" "35: by name"
	is "$(total 93 '"comm":"calls"')" "$(called calls lookup_fast)" "93: lookups"
	is "$(total 36 'sys_enter_read"') $(total 36)" "$(did read) $(did read)" "36: reads, and no other kind of them"
	is "$(total 37 'sys_enter_write"') $(total 37)" "$(did write) $(did write)" "37: writes, and no other kind of them"
	is "$(total 38) $(bucket 38 512)" "$(did read) $(did read)" "38: all of 512 bytes"
	is "$(total 39) $(bucket 39 512)" "$(did read) $(did read_whole)" "39: those that read so much"
	is "$(total 40 '"errno_ret":"EBADF"') $(total 40)" "$(did read_failed) $(did read_failed)" "40: those that failed, by errno"
	same 87 "functions, by probe" "$(table 87 probe fn)" "$(calls_of calls vfs_)"
}
check_memory() {
	same 29 "events of reclaim" "$(table 29 probe vmscan)" "$(events_of all vmscan)"
	is "$(total 31)" "$(happened all mm_migrate_pages)" "31: migrations"
	is "$(lines 32)" "$(happened all mm_compaction_begin)" "32: compactions"
}
check_ext4() {
	same 15 "events of ext4" "$(table 15 probe ext4)" "$(events_of all ext4)"
	same 43 "events of XFS" "$(table 43 probe xfs)" "$(events_of all xfs)"
	is "$(lines 16 '"len":4096') $(bucket 78 4096) $(happened all ext4_da_write_begin)" "19 19 19" "16, 78: writes"
	for key in 44 45 90 90b; do
		is "$(total $key) $(called all ext4_file_read_iter)" "17 17" "$key: reads"
	done
	rows 45 '"comm":"dd"' | grep -q '"ustack":\["[^"]*read' # that of libc
	ok $? "45: and who asked for them" || note "$(rows 45)"
	between "$(called all read_pages)" 1 17 "reads go ahead"
	is "$(total 47 '"comm":"dd"')" "$(called all read_pages dd)" "47: readahead" || note "$(cat /tmp/runs/47.err)"
	is "$(total 48 '"comm":"dd"')" "$(called all ext4_readahead dd)" "48: of ext4"
}
checks() {
	check_calls
	check_memory
	check_ext4
	refused 46 2
	# ftrace hears the first thread alone; the kernel's counter has the faults of system calls, too.
	[ -z "$user_faults" ] || between "$(total 28 '"comm":"calls"')" "$(happened calls page_fault_user)" "$(did faults)" "28: page faults"
	[ -n "$user_faults" ] || refused 28 2
}
of_process='27 28 28b 72 30 79 34 33 35 93 36 37 38 39 40 87'
besides='46 28'
here='87 93 27 28b 72 30 79 34 33 35 36 37 38 39 40 29 31 32 15 16 78 43 44 45 90 90b 47 48'
[ -z "$user_faults" ] || besides=46 here="$here 28"
# shellcheck disable=SC2086 # words are words
watch $here
umount /tmp/fs

# ---- faults of the whole machine, alone: whoever starts has faults ----

faults() { awk '$1 == "pgfault" { print $2 }' /proc/vmstat; }
befores() { outer=$(faults); }
hears() { :; }
loads() {
	inner=$(faults)
	head -c 8m /dev/zero | tail -c 6m >/dev/null # keeps them, and moves them at each read
	inner=$(($(faults) - inner))
}
afters() { outer=$(($(faults) - outer)); }
checks() {
	between "$inner" 100 10000000 "there are faults" # few, where the kernel gives large pages
	between "$(total 6 'page-faults')" $((inner * 99 / 100)) "$outer" "6: between those of the load and those of all, as /proc/vmstat has them"
}
of_process='' besides=''
watch 6

page_is_done
null_remove nullb0
ok $? "its disks are as they were, for the tests behind it"
done_testing
