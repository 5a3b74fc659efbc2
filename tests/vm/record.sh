# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 6.12
# timeout: 60
#
# record: what a live view shows and what its capture shows later is the same, byte by byte, and as much as fio did.

dev=$(disk io0)
set_scheduler "$dev" none

# kept COMMAND: a run of that view with a capture, under fio; JSON in /tmp/COMMAND, the capture in /tmp/COMMAND.cap.
kept() {
	iosonar "$1" -d "$dev" -o json --out "/tmp/$1" -w "/tmp/$1.cap" --mode 0644 -- \
		fio --name=r --filename="/dev/$dev" --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=16 \
		--number_ios=1009 --norandommap --output-format=json --output=/tmp/f.json >/tmp/said 2>&1
	ok $? "$1 -w exits 0" || note "$(cat /tmp/said)"
}

kept trace
is "$(grep -c '"op":"read"' /tmp/trace)" "$(fio_ios /tmp/f.json read)" "reads as fio counts them"
is "$(grep -c '"op":"write"' /tmp/trace)" "$(fio_ios /tmp/f.json write)" "writes as fio counts them"
setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all iosonar trace -r /tmp/trace.cap -o json >/tmp/again 2>/tmp/said
ok $? "replayed by nobody: exits 0" || note "$(cat /tmp/said)"
cmp /tmp/trace /tmp/again
ok $? "the same JSON, the ledger too"
iosonar latency -r /tmp/trace.cap -o json >/tmp/again 2>/dev/null
is "$(row /tmp/again "$dev" read count)" "$(fio_ios /tmp/f.json read)" "latency counts its reads"

kept latency
iosonar latency -r /tmp/latency.cap -o json >/tmp/again 2>/tmp/said
ok $? "latency replayed: exits 0" || note "$(cat /tmp/said)"
grep -E '"span":"total"|"ledger"' /tmp/latency >/tmp/live
grep -E '"span":"total"|"ledger"' /tmp/again | cmp - /tmp/live
ok $? "the rows of the whole run are the same, histograms and ledger too"
is "$(row /tmp/latency "$dev" read count)" "$(fio_ios /tmp/f.json read)" "as many reads as fio counts"

# An admin command and a failure: what is decoded and how it ended travels along.
iosonar record -d "${dev%n*}" -w /tmp/two.cap -- \
	sh -c "nvme id-ctrl /dev/${dev%n*} >/dev/null; nvme read /dev/$dev -s 99999999 -c 0 -z 512 >/dev/null" >/tmp/said 2>&1
iosonar trace -r /tmp/two.cap >/tmp/two 2>/dev/null
grep -q 'identify .*cns=controller.* ok ' /tmp/two
ok $? "identify, in words" || note "$(cat /tmp/two /tmp/said)"
is "$(iosonar trace -r /tmp/two.cap --failed --columns op,status -o csv 2>/dev/null | sed 1d)" "read,LBA out of range (0/80) DNR" \
	"the failed one, by --failed"
is "$(iosonar trace -r /tmp/two.cap -d "$dev" --columns op -o csv 2>/dev/null | sed 1d | sort -u)" read "-d of the disk: no admin command"
is "$(iosonar trace -r /tmp/two.cap -d "${dev%n*}" 2>/dev/null | wc -l)" "$(wc -l </tmp/two)" "-d of its controller: all"
is "$(iosonar info --verify /tmp/two.cap | grep -c "^  intact")" 1 "info finds the file whole"

note "$(iosonar info --verify /tmp/trace.cap | grep records)"
done_testing
