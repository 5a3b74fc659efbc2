# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: two icount
# kernels: 7.2
# timeout: 120
#
# volumes: the bios of a volume are tied to those that it made of them, below: a volume over two drives, one that waits,
# one over another. Each layer has its own time, together they are the whole; a capture says the same. What is not tied
# is named once.

# same FILE CAPTURE NAME: the rows of the whole run from the capture are those that were shown.
same() {
	iosonar layers --at bio -r "$2" -o json --out /tmp/again 2>/tmp/again.err
	grep '"span":"total"' "$1" | sed 's/"time_s":[0-9.]*,//' >/tmp/rows
	[ -s /tmp/rows ] && grep '"span":"total"' /tmp/again | sed 's/"time_s":[0-9.]*,//' | cmp -s - /tmp/rows
	ok $? "$3" || note "$(grep '"span":"total"' /tmp/again; cat /tmp/rows)"
}

# mapped NAME: the device that dmsetup made
mapped() { echo "dm-$(dmsetup info -c --noheadings -o minor "$1")"; }

a=$(disk io0)
b=$(disk io1)
load dm_mod >/dev/null 2>&1
load dm_delay >/dev/null 2>&1
set_scheduler "$a" none
set_scheduler "$b" none

# 1 MiB of each.
printf '0 2048 linear /dev/%s 0\n2048 2048 linear /dev/%s 0\n' "$a" "$b" | dmsetup create pair >&2
ok $? "dm-linear over two drives is there"
pair=$(mapped pair)
started layers /tmp/l --at bio -d "$pair" -d "$a" -d "$b" -w /tmp/l.cap
dd if="/dev/$pair" of=/dev/null bs=4k count=101 iflag=direct 2>/dev/null
measured
ok $? "one drive: exits 0"
is "$(steps /tmp/l "$pair" read)" "Q2V V2E E2C Q2C " "one drive: the steps of a volume"
is "$(step /tmp/l "$pair" read V2E count) $(step /tmp/l "$a" read Q2C count) $(step /tmp/l "$b" read Q2C count)" "101 101 0" \
	"one drive: every bio of the volume became one of the drive"
is "$(step /tmp/l "$pair" read V2E sum_ns)" "$(step /tmp/l "$a" read Q2C sum_ns)" "one drive: below the volume is what the drive has"
adds_up /tmp/l "$pair" read "one drive: the steps are the whole"
whole /tmp/l "one drive: nothing is lost"
same /tmp/l /tmp/l.cap "one drive: the capture says the same"

# 64 KiB across the border: two bios, one on each drive.
started layers /tmp/l --at bio -d "$pair" -d "$a" -d "$b" -w /tmp/l.cap
for _ in 1 2 3 4 5 6 7; do
	dd if="/dev/$pair" of=/dev/null bs=64k count=1 skip=1015808 iflag=direct,skip_bytes 2>/dev/null
done
measured
ok $? "across: exits 0"
is "$(step /tmp/l "$pair" read V2E count) $(step /tmp/l "$a" read Q2C count) $(step /tmp/l "$b" read Q2C count)" "7 7 7" \
	"across: every bio of the volume became two"
[ "$(step /tmp/l "$pair" read V2E sum_ns)" -gt "$(step /tmp/l "$a" read Q2C sum_ns)" ] &&
	[ "$(step /tmp/l "$pair" read V2E sum_ns)" -gt "$(step /tmp/l "$b" read Q2C sum_ns)" ]
ok $? "across: from the first that was submitted to the last that ended"
adds_up /tmp/l "$pair" read "across: the steps are the whole"
whole /tmp/l "across: nothing is lost"
same /tmp/l /tmp/l.cap "across: the capture says the same"

# The volume alone: what is below it is seen and has no rows. A flush goes to both drives.
started layers /tmp/l --at bio -d "$pair"
dd if=/dev/zero of="/dev/$pair" bs=4k count=11 oflag=direct conv=fsync 2>/dev/null
measured
ok $? "alone: exits 0"
is "$(steps /tmp/l "$pair" write)" "Q2V V2E E2C Q2C " "alone: the steps of a volume"
is "$(step /tmp/l "$pair" write V2E count) $(step /tmp/l "$pair" flush V2E count)" "11 1" "alone: writes and their flush"
adds_up /tmp/l "$pair" flush "alone: the steps of a flush are the whole"
is "$(steps /tmp/l "$a" write)" "" "alone: the drives have no rows"
dmsetup remove pair

# 20 ms of a volume, less up to a tick, over 1 ms of a disk; a volume over it has both.
null_disk nullb0 irqmode=2 completion_nsec=1000000 >&2 || ok 1 "null_blk makes a disk"
set_scheduler nullb0 none
sectors=$(cat /sys/block/nullb0/size)
dmsetup create delay --table "0 $sectors delay /dev/nullb0 0 20 /dev/nullb0 0 40" >&2
ok $? "dm-delay is there"
delay=$(mapped delay)
dmsetup create upper --table "0 $sectors linear /dev/$delay 0" >&2
upper=$(mapped upper)
started layers /tmp/l --at bio -d "$upper" -d "$delay" -d nullb0 -w /tmp/l.cap
dd if="/dev/$upper" of=/dev/null bs=4k count=11 iflag=direct 2>/dev/null
dd if=/dev/zero of="/dev/$upper" bs=4k count=7 oflag=direct 2>/dev/null
measured
ok $? "dm-delay: exits 0"
for op in read write; do
	[ $op = read ] && least=16000000 || least=36000000
	between "$(step /tmp/l "$delay" $op Q2V p50_ns)" "$least" $((least + 17000000)) "dm-delay: ${op}s wait in the volume"
	between "$(step /tmp/l "$delay" $op V2E p50_ns)" 1000000 1200000 "dm-delay: the disk below has its 1 ms"
	between "$(step /tmp/l "$delay" $op E2C p50_ns)" 100 60000 "dm-delay: the volume's end takes microseconds"
	is "$(step /tmp/l "$delay" $op V2E sum_ns)" "$(step /tmp/l nullb0 $op Q2C sum_ns)" "dm-delay: below it is the disk"
	is "$(step /tmp/l "$upper" $op V2E sum_ns)" "$(step /tmp/l "$delay" $op Q2C sum_ns)" "over it: below that is the volume"
	between "$(step /tmp/l "$upper" $op Q2V p50_ns)" 100 60000 "over it: its own part takes microseconds"
	adds_up /tmp/l "$delay" $op "dm-delay: the steps are the whole"
	adds_up /tmp/l "$upper" $op "over it: the steps are the whole"
done
whole /tmp/l "dm-delay: nothing is lost"
same /tmp/l /tmp/l.cap "dm-delay: the capture says the same"
is "$(grep -c 'only bios of dm' /tmp/l.err)" 0 "dm: nothing is said of bios that are not tied"

started slow /tmp/s --bio --top 1 --stack none -d "$delay" -d nullb0
dd if="/dev/$delay" of=/dev/null bs=4k count=11 iflag=direct 2>/dev/null
measured
ok $? "slow: exits 0"
grep '"type":"slow"' /tmp/s | grep "\"dev\":\"$delay\"" | grep -q '"steps":{"Q2V":[0-9]*,"V2E":[0-9]*,"E2C":[0-9]*}'
ok $? "slow: the volume's bio has its steps" || note "$(cat /tmp/s)"
grep '"type":"slow"' /tmp/s | grep -q '"sector":\([0-9]*\),.*"below":\[{"dev":"nullb0","sector":\1,"bytes":4096,"whole_ns":1[01][0-9]\{5\}}]'
ok $? "slow: and the disk's bio that was made of it" || note "$(cat /tmp/s)"
dmsetup remove upper
dmsetup remove delay
null_remove nullb0

# Another device that passes bios on, or says so: it stands on something.
load zram >/dev/null 2>&1
echo 16M >/sys/block/zram0/disksize
mount -t tmpfs none /sys/block/zram0/slaves && mkdir /sys/block/zram0/slaves/sda
started layers /tmp/l --at bio -d zram0
dd if=/dev/zram0 of=/dev/null bs=4k count=5 iflag=direct 2>/dev/null
measured
ok $? "others: exits 0"
is "$(grep 'only bios of dm' /tmp/l.err | grep -c zram0)" 1 "others: are named once" || note "$(cat /tmp/l.err)"
is "$(steps /tmp/l zram0 read)" "Q2C Q2C " "others: have one step"
umount /sys/block/zram0/slaves
done_testing
