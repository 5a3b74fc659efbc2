# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2034 # lib.sh reads ftrace_kb
# shape: nvme
# kernels: 6.18
# timeout: 150
#
# class: every bio of a disk is an object of its own, from birth to death, and has what fio did: 503 direct reads, 509
# buffered writes. Functions that take it as first, second and last argument have the same one in hand; what splitting
# and merging change is seen; ftrace saw as many. A full ring costs whole objects, and the sum says so. Disk, process
# and condition select.

dev=$(disk io0)
null_disk nullb0 irqmode=0 queue_mode=2 badblocks="+2048-2055" # sector 2048 cannot be read
functions=submit_bio,bio_endio,blk_attempt_plug_merge,__rq_qos_track,bio_split,bio_attempt_back_merge

# lives_of FILE: each entry of each life, with its members as they are then, one a line:
#	NUMBER FUNCTION DISK SECTOR BYTES STATUS FLAGS
lives_of() {
	grep -v '"what":"leave".*"data":null' "$1" | awk '
	function text(key, at, rest) { # no regular expressions: busybox compiles each anew
		at = index($0, "\"" key "\":")
		if (!at)
			return ""
		rest = substr($0, at + length(key) + 3)
		if (substr(rest, 1, 1) == "\"")
			return substr(rest, 2, index(substr(rest, 2), "\"") - 1)
		return substr(rest, 1, index(rest, ",") - 1)
	}
	index($0, "\"type\":\"life\"") { split("", is) }
	index($0, "\"type\":\"step\"") {
		nr = split(text("data"), word, " ")
		for (i = 1; i <= nr; i++) {
			sign = index(word[i], "=")
			if (sign)
				is[substr(word[i], 1, sign - 1)] = substr(word[i], sign + 1)
			else if (word[i] == "->") {
				value = word[i + 1]
				if (substr(value, length(value)) == ",")
					value = substr(value, 1, length(value) - 1)
				is[word[i - 2]] = value
			}
		}
		if (text("what") == "enter")
			print text("number"), text("function"), is["disk_name"], is["bi_sector"], is["bi_size"],
				is["bi_status"], is["bi_flags"]
	}'
}
rows() { grep "\"type\":\"$2\"" "$1"; }
words() { sed -n "s/.*\"$1\":\"*\([^,\"}]*\).*/\1/p"; }
event_ledger() { rows "$1" event_ledger | value "$2"; }

# --- all bios of two disks ---

cat >/tmp/load.sh <<END
fio --name=r --filename=/dev/$dev --direct=1 --rw=randread --bsrange=4k-64k --ioengine=libaio --iodepth=4 --size=64m \
	--number_ios=503 --write_iolog=/tmp/reads.log --output=/tmp/fio.out
fio --name=w --filename=/dev/$dev --rw=randwrite --bs=4k --ioengine=psync --offset=128m --size=4m --number_ios=509 \
	--end_fsync=1 --write_iolog=/tmp/writes.log --output=/tmp/fio.out
echo 64 >/sys/block/$dev/queue/max_sectors_kb
/usr/bin/dd if=/dev/$dev of=/dev/null bs=1M count=1 skip=200 iflag=direct status=none
/usr/bin/dd if=/dev/nullb0 of=/dev/null bs=4k count=7 skip=253 iflag=direct conv=noerror status=none
true
END
export ftrace_kb=4096
ftrace_start block/block_bio_queue block/block_split block/block_bio_backmerge block/block_bio_frontmerge
iosonar class bio --only "$functions" -o json --out /tmp/class -v -- sh /tmp/load.sh 2>/tmp/class.err
status=$?
ftrace_stop /tmp/ftrace
ok $? "ftrace saw everything"
note "$(grep -e functions -e attached -e objects -e hits -e lost -e returns /tmp/class.err)"
ok "$status" "a run with all bios of two disks" || note "$(tail -5 /tmp/class.err)"
lives_of /tmp/class >/tmp/lives

# logged OP FILE: sectors and bytes, as fio's log has them.
logged() { sed -n "s/.* $1 \([0-9]*\) \([0-9]*\)\$/\1 \2/p" "$2" | awk '{ print $1 / 512, $2 }' | sort; }
# had FUNCTION FROM TO: those of what it had in hand, of the drive's sectors between.
had() {
	awk -v f="$1" -v disk="$dev" -v from="$2" -v to="$3" '$2 == f && $3 == disk && $4 >= from && $4 < to && $5 { print $4, $5 }' \
		/tmp/lives | sort
}
# same NAME: what is in /tmp/want is in /tmp/got.
same() {
	cmp -s /tmp/want /tmp/got
	ok $? "$1" || note "$(wc -l /tmp/want /tmp/got; diff /tmp/want /tmp/got | head -6)"
}
# With kprobes alone the kernel skips ends that come running another program, and the run has to say so.
by_kprobes() { grep -q '^tracing [0-9]* functions, with returns of 0$' /tmp/class.err; }
ended() {
	if ! by_kprobes; then
		same "$1"
		return
	fi
	is "$(grep -vcxFf /tmp/want /tmp/got)" 0 "$1, as far as they are seen: $(wc -l </tmp/got) of $(wc -l </tmp/want)"
	between "$(wc -l </tmp/got)" 1 "$(wc -l </tmp/want)" "and none ends twice"
}
logged read /tmp/reads.log >/tmp/want
is "$(wc -l </tmp/want)" 503 "fio logged 503 reads"
had submit_bio 0 131072 >/tmp/got
same "submit_bio: sectors and sizes of all reads are fio's"
# What was asked for is told by the entry before: on its way a bio counts down to nothing.
awk '$2 == "submit_bio" { sector[$1] = $4; bytes[$1] = $5 }
	$2 == "bio_endio" && $1 in sector { if ($6 == 0 && bytes[$1]) print sector[$1], bytes[$1]; delete sector[$1] }' /tmp/lives >/tmp/ends
awk '$1 < 131072' /tmp/ends | sort >/tmp/got
awk '$3 == "nullb0" && $2 == "submit_bio" && $4 != 2048 { print $4, $5 }' /tmp/lives | cat /tmp/want - | sort >/tmp/both
mv /tmp/both /tmp/want
ended "bio_endio: each of them ends once, and well"
logged write /tmp/writes.log >/tmp/want
is "$(wc -l </tmp/want)" 509 "fio logged 509 writes"
had submit_bio 262144 270336 >/tmp/got
same "submit_bio: sectors and sizes of all buffered writes, whoever wrote them back"
awk '$1 >= 262144 && $1 < 270336' /tmp/ends | sort >/tmp/got
ended "bio_endio: each of them ends once, and well"
is "$(awk '$2 == "bio_endio" && $6 != 0 { print $3, $6 }' /tmp/lives)" "nullb0 10" "the one that cannot be read ends with its error"

# --- objects ---

# Then births from a pool, which are returns, are not seen either, and objects are addresses.
if by_kprobes; then
	grep -q '^counts are approximate (~): the kernel skips hits without counting them' /tmp/class.err
	ok $? "one line says what a kprobe misses" || note "$(tail -4 /tmp/class.err)"
	is "$(grep -c '^returns are not traced: this kernel has only kretprobes' /tmp/class.err)" 1 "one line says that returns are not seen"
	done_testing
fi

queued=$(ftrace_count /tmp/ftrace block_bio_queue) splits=$(ftrace_count /tmp/ftrace block_split)
merges=$(ftrace_count /tmp/ftrace 'block_bio_(back|front)merge')
note "ftrace: $queued queued, $splits split off, $merges merged"
rows /tmp/class life | words object | sort >/tmp/objects
is "$(wc -l </tmp/objects)" $((queued + splits)) "as many objects as bios"
[ "$(sort -u /tmp/objects | wc -l)" -lt "$(wc -l </tmp/objects)" ]
ok $? "an address that is used again is another object: $(sort -u /tmp/objects | wc -l) addresses"
is "$(rows /tmp/class life | grep -c '"born":false')" 0 "all were born"
# A flush is on the stack of who waits for it, and nobody ends it.
is "$(rows /tmp/class life | grep '"dead":false' | grep -vc 'bi_size=0 ')" 0 "and all died but flushes" ||
	note "$(rows /tmp/class life | grep '"dead":false' | head -3)"
is "$(rows /tmp/class life | words steps | awk '{ sum += $1 } END { print sum + 0 }')" "$(rows /tmp/class step | wc -l)" "a line for each step"

# entered FUNCTION: by how many of the reads, and how often.
entered() {
	awk -v f="$1" -v disk="$dev" '$2 == "submit_bio" && $3 == disk && $4 < 131072 && $5 { reads[$1] }
		$2 == f && $1 in reads { times++; seen[$1] }
		END { for (i in seen) nr++; print nr + 0, times + 0 }' /tmp/lives
}
is "$(entered submit_bio)" "503 503" "the first argument"
is "$(entered blk_attempt_plug_merge)" "503 503" "the second argument is the same object"
is "$(entered __rq_qos_track)" "503 503" "so is the last"

# --- what splitting and merging change ---

i=0
while [ $i -lt 15 ]; do
	echo "$((409600 + 128 * i)) $((1048576 - 65536 * i))"
	i=$((i + 1))
done | sort >/tmp/want
is "$splits" 15 "ftrace: 1 MiB in pieces of 64 KiB is split 15 times"
had bio_split 409600 411648 >/tmp/got
same "at each split the rest begins later and is smaller"
is "$(awk -v disk="$dev" '$2 == "bio_split" && $3 == disk { print $1 }' /tmp/lives | sort -u | wc -l)" 1 "it is one bio"
awk -v disk="$dev" '$2 == "__rq_qos_track" && $3 == disk && $4 >= 409600 && $4 < 411648 { print $5 }' /tmp/lives | sort | uniq -c |
	xargs >/tmp/got
is "$(cat /tmp/got)" "16 65536" "of which there are 16 pieces"
if bpftool btf dump file /sys/kernel/btf/vmlinux | grep -q "'BIO_QOS_MERGED'"; then
	is "$(awk '$2 == "bio_endio" && index($7, "QOS_MERGED") { print $1 }' /tmp/lives | sort -u | wc -l)" "$merges" "those that were merged are marked so"
else
	skip "those that were merged are marked so" "this kernel has no such flag"
fi
[ "$merges" -gt 0 ]
ok $? "and there are some"

# --- a ring that is too small ---

iosonar class bio --only submit_bio,bio_endio --buffer 4096 -o json --out /tmp/tiny -- fio --name=r "--filename=/dev/$dev" --direct=1 \
	--rw=randread --bs=4k --ioengine=psync --number_ios=251 --output=/tmp/fio.out 2>/tmp/tiny.err
is $? 3 "a full ring: incomplete"
note "$(grep -e objects -e hits -e lost -e dropped /tmp/tiny.err)"
sent=$(event_ledger /tmp/tiny sent) lost=$(event_ledger /tmp/tiny lost_ring)
is $((sent + lost)) "$(event_ledger /tmp/tiny hits)" "every hit was sent or lost"
between "$lost" 1 1000000 "some were lost"
# said NAME FILE: a number of the line "objects 503 = shown 401 + not asked for 0 + dropped 102".
said() { sed -n "s/^objects .*[ =+] $1 \([0-9]*\).*/\1/p" "$2"; }
shown=$(rows /tmp/tiny life | wc -l)
is "$(said shown /tmp/tiny.err)" "$shown" "what is shown is told"
steps=$(rows /tmp/tiny life | words steps | awk '{ sum += $1 } END { print sum + 0 }')
dropped=$(sed -n 's/.*dropped [0-9]* objects, \([0-9]*\) records.*/\1/p' /tmp/tiny.err)
is $((steps + dropped)) "$sent" "what was sent is shown, or dropped with its object"
is "$(rows /tmp/tiny life | grep -c '"born":false')" 0 "those that are shown begin with their birth"
between "$(rows /tmp/tiny life | words steps | sort -u | wc -l)" 0 1 "and have all their steps: $(rows /tmp/tiny life | words steps | sort | uniq -c | xargs)"

# --- which ones ---

# Each of the three alone would let others through. The process is there before its number is asked for.
mkfifo /tmp/go
follow_few() {
	rm -f /tmp/few.err # what an earlier run said is no sign of this one
	(
		read -r _ </tmp/go
		exec fio --name=a "--filename=/dev/$dev" --rw=read --bs=8k --number_ios=17 --direct=1 --ioengine=psync --thread --output=/tmp/fio.out \
			--name=b "--filename=/dev/$dev" --rw=read --bs=4k --number_ios=13 --direct=1 --ioengine=psync --thread \
			--name=c --filename=/dev/nullb0 --rw=read --bs=8k --number_ios=11 --direct=1 --ioengine=psync --thread
	) &
	reader=$!
	iosonar class bio --only submit_bio -d "$dev" -p $reader --if 'bi_size == 8Ki && disk_name like "nvme*"' -v \
		-o json --out /tmp/few 2>/tmp/few.err &
	few=$!
	wait_for 60 grep -q '^tables' /tmp/few.err
	echo go >/tmp/go
	wait $reader
	dd "if=/dev/$dev" of=/dev/null bs=8k count=19 iflag=direct status=none
	kill -INT $few
	wait $few
}
follow_few
few_status=$?
# Where a completion interrupts a program of the same kind, the kernel skips its own; that is told, and proves nothing here.
if [ $few_status -eq 3 ] && grep -q 'the kernel was running another program on that CPU' /tmp/few.err; then
	again class "$(grep -m1 'running another program' /tmp/few.err)"
	follow_few
	few_status=$?
fi
is $few_status 0 "-d, -p and --if" || note "$(tail -5 /tmp/few.err)"
is "$(rows /tmp/few life | wc -l) $(rows /tmp/few life | grep "\"pid\":$reader," | grep "disk_name=$dev" | grep -c bi_size=8192)" "17 17" \
	"bios of this process, of this disk, of this size" || note "$(rows /tmp/few life | head -5)"
is "$(said 'filtered out' /tmp/few.err)" 43 "the others are told"

# --- a page ---

# The disk is read for -d, and not shown if --fields do not have it.
iosonar class bio -d "$dev" --only submit_bio --fields bi_iter.bi_size -o json -- \
	dd "if=/dev/$dev" of=/dev/null bs=4k count=5 iflag=direct >/tmp/sized 2>/tmp/sized.err
is "$? $(rows /tmp/sized life | grep -c 'bi_size=4096') $(grep -c disk_name /tmp/sized)" "0 5 0" "-d needs no disk among --fields" ||
	note "$(cat /tmp/sized.err)"

iosonar class bio -d "$dev" -o html --out /tmp/page -w /tmp/page.cap -- dd "if=/dev/$dev" of=/dev/null bs=4k count=3 iflag=direct 2>/tmp/page.err
is $? 0 "a page of a run" || note "$(tail -5 /tmp/page.err)"
is "$(grep -c '^{"name":"struct bio","bytes":' /tmp/page)" 1 "it has the layout of struct bio"
is "$(grep -o '"kernel":"[^"]*"' /tmp/page | head -1)" "\"kernel\":\"$(uname -r)\"" "and the kernel's release"
iosonar class -r /tmp/page.cap -d "$dev" -o html --out /tmp/replayed 2>/tmp/page.err
is "$(sed -n '/^"functions"/,/^"tasks"/p' /tmp/page | cksum)" "$(sed -n '/^"functions"/,/^"tasks"/p' /tmp/replayed | cksum)" \
	"its capture has the same functions, members and layouts"
iosonar class bio -v -- true >/tmp/direct 2>/tmp/direct.err
is "$(grep -c 'cannot be loaded directly' /tmp/direct.err)" 0 "this verifier takes plain loads of members" ||
	note "$(grep -A30 'cannot be loaded directly' /tmp/direct.err | head -40)"

done_testing
