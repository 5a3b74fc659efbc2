# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: icount polled
# kernels: 6.12
# timeout: 150
#
# why_polling: a task that is woken up for each of its short reads is told that it could poll; one that polls is not, nor one on a
# disk without queues for that, nor one with long reads. trace says which commands of an NVMe drive were polled.

dev=nullb0

# judged NAME FIO_OPTION...: what is found while this runs, in /tmp/NAME, with a capture.
judged() {
	judged_name=$1
	shift
	iosonar why -d "$dev" -o json --out "/tmp/$judged_name" -w "/tmp/$judged_name.cap" -- fio --name=a --direct=1 --ioengine=io_uring \
		--rw=randread --bs=4k --norandommap --number_ios=2003 --output=/dev/null --filename="/dev/$dev" "$@" >/tmp/said 2>&1
	ok $? "$judged_name: exits 0" || note "$(cat /tmp/said)"
	whole "/tmp/$judged_name" "$judged_name: nothing is lost"
	note "$(iosonar why -r "/tmp/$judged_name.cap" 2>&1)"
}
# rank NAME CAUSE: of a finding in /tmp/NAME; 0: it is not found.
rank() { grep "\"finding\":\"$2\"" "/tmp/$1" | sed 's/.*"nr":\([0-9]*\).*/\1/' | grep . || echo 0; }

# disk_of NSEC POLL_QUEUES
disk_of() {
	null_disk "$dev" size=64 irqmode=2 completion_nsec="$1" memory_backed=1 hw_queue_depth=64 submit_queues=1 poll_queues="$2"
	ok $? "a disk that takes $1 ns, with $2 queues for polling"
	set_scheduler "$dev" none
}

disk_of 3000 1
judged interrupts
between "$(rank interrupts polling)" 1 2 "interrupts: polling is first or second" || note "$(cat /tmp/interrupts)"
iosonar why -r /tmp/interrupts.cap -o json >/tmp/again 2>/dev/null
is "$(rank again polling)" 1 "interrupts: in a capture it is first"
judged polled --hipri
is "$(rank polled polling)" 0 "polled: not found" || note "$(cat /tmp/polled)"
null_remove "$dev"
disk_of 1000000 1
judged long --number_ios=307
is "$(rank long polling)" 0 "long: not found" || note "$(cat /tmp/long)"
null_remove "$dev"
disk_of 3000 0
judged without
is "$(rank without polling)" 0 "without queues: not found" || note "$(cat /tmp/without)"
null_remove "$dev"

dev=$(disk io0)
is "$(cat "/sys/block/$dev/queue/io_poll")" 1 "an NVMe drive with a queue for polling"
for way in "--hipri --number_ios=53" "--number_ios=31"; do
	# shellcheck disable=SC2086
	iosonar trace -d "$dev" -o json --out /tmp/trace -- fio --name=a --direct=1 --ioengine=io_uring --rw=randread --bs=4k --norandommap \
		--output=/dev/null --filename="/dev/$dev" $way >/tmp/said 2>&1
	ok $? "trace: $way" || note "$(cat /tmp/said)"
	is "$(grep -c 'polled' /tmp/trace)" "$(case "$way" in --hipri*) echo 53 ;; *) echo 0 ;; esac)" "$way: which were polled" ||
		note "$(head -3 /tmp/trace)"
done
done_testing
