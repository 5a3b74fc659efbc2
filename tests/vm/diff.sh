# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: none icount
# kernels: 6.12
# timeout: 120
#
# diff: a null_blk that takes 1 ms, and one that takes 1.2 ms, are 20 +- 2 % apart; two runs of the same are noise. Under
# icount time is instructions, so that is the truth, however busy the host is. The first read of a page calls functions
# that the second does not.

# kept FILE NS: 2,003 reads of a disk that takes so long each, in a capture.
kept() {
	null_disk nullb0 irqmode=2 completion_nsec="$2" >&2 || ok 1 "null_blk makes a disk"
	set_scheduler nullb0 none
	iosonar record -d nullb0 -w "$1" -- /usr/bin/dd if=/dev/nullb0 of=/dev/null bs=4k count=2003 iflag=direct status=none \
		>/tmp/said 2>&1
	ok $? "$1: exits 0" || note "$(cat /tmp/said)"
	null_remove nullb0
}

# shift_of FILE WHAT KEY: of the reads, from JSON; shifts in 1,000ths, for the shell has no fractions.
shift_of() {
	grep '"op":"read"' "$1" | grep "\"what\":\"$2\"" | sed -n "s/.*\"$3\":\"\{0,1\}\([^,\"}]*\).*/\1/p" |
		awk '{ if ($1 ~ /^-?[0-9.]+$/) printf "%d\n", $1 * 1000; else print }'
}

kept /tmp/a.cap 1000000
kept /tmp/again.cap 1000000
kept /tmp/slower.cap 1200000

iosonar diff /tmp/a.cap /tmp/slower.cap -o json >/tmp/diff 2>/tmp/said
ok $? "two captures are compared" || note "$(cat /tmp/said)"
note "$(iosonar diff /tmp/a.cap /tmp/slower.cap 2>&1)"
is "$(shift_of /tmp/diff count a)" 2003000 "every read is in it"
for what in p50 p90 p99 mean; do
	between "$(shift_of /tmp/diff $what shift)" 18000 22000 "$what: 20 +- 2 % slower"
	is "$(shift_of /tmp/diff $what verdict)" slower "$what: and called so"
	between "$(shift_of /tmp/diff $what low)" 10000 20500 "$what: its interval begins below"
	between "$(shift_of /tmp/diff $what high)" 19500 30000 "$what: and ends above"
done
is "$(shift_of /tmp/diff iops verdict)" less "so there are fewer in a second"
is "$(shift_of /tmp/diff size verdict)" noise "which are as large"
is "$(shift_of /tmp/diff errors verdict)" noise "and do not fail"

iosonar diff /tmp/a.cap /tmp/again.cap -o json >/tmp/diff 2>/dev/null
note "$(iosonar diff /tmp/a.cap /tmp/again.cap 2>&1)"
for what in p50 p90 p99 mean size errors; do
	is "$(shift_of /tmp/diff $what verdict)" noise "$what: two runs of the same are noise"
done
iosonar diff /tmp/a.cap /tmp/a.cap -o json >/tmp/diff 2>/dev/null
is "$(sed 's/.*"shift":\([^,]*\),.*/\1/' /tmp/diff | sort -u | xargs)" "0 null" "of a run with itself every shift is 0"
is "$(sed 's/.*"verdict":\([^}]*\)}.*/\1/' /tmp/diff | sort -u | xargs)" "noise null" "and noise"

iosonar diff /tmp/a.cap /tmp/slower.cap --fail-if 'p99 > +10%' >/dev/null 2>&1
is $? 5 "--fail-if finds it"
iosonar diff /tmp/a.cap /tmp/again.cap --fail-if 'p99 > +10%' >/dev/null 2>&1
is $? 0 "and not what is not there"

# What latency -o json saved says the same, as far as its buckets of 3 % tell.
for file in a slower; do
	iosonar latency -r /tmp/$file.cap -o json --out /tmp/$file.json 2>/dev/null
done
iosonar diff /tmp/a.json /tmp/slower.json -o json >/tmp/diff 2>/dev/null
between "$(shift_of /tmp/diff p50 shift)" 17000 23000 "of what was saved: 20 +- 3 %"
is "$(shift_of /tmp/diff p50 verdict)" slower "and slower"

# The page cache is a disk's as long as somebody has it open.
null_disk nullb0 irqmode=0 memory_backed=1 >&2
exec 9</dev/nullb0
for file in cold warm; do
	iosonar calls --path read -w /tmp/$file.cap -o json --out /tmp/$file -- \
		/usr/bin/dd if=/dev/nullb0 of=/dev/null bs=4k count=1 status=none >/tmp/said 2>&1
	ok $? "a $file read" || note "$(tail -3 /tmp/said)"
done
iosonar diff /tmp/cold.cap /tmp/warm.cap -o json >/tmp/diff 2>/tmp/said
ok $? "calls are compared" || note "$(cat /tmp/said)"
note "$(iosonar diff /tmp/cold.cap /tmp/warm.cap --graph 2>&1)"
count_of() { grep "\"function\":\"$1\"" /tmp/diff | value "$2"; }
for file in cold warm; do
	key=count_a
	[ $file = cold ] || key=count_b
	is "$(count_of filemap_read $key)" "$(grep -c '"function":"filemap_read"' /tmp/$file)" "filemap_read: as often as calls says, $file"
done
is "$(count_of submit_bio count_b)" 0 "the second read sends no bio"
[ "$(count_of submit_bio count_a)" -gt 0 ]
ok $? "the first one does"
grep '"function":"submit_bio"' /tmp/diff | grep -q '"verdict":"only A"'
ok $? "and that is what diff says"
exec 9<&-
null_remove nullb0
done_testing
