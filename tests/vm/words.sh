# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: sorts
# kernels: 6.12
#
# words: every command that the emulated drive and the kernel know goes past trace once, and what trace says of it is what
# the kernel's own text of nvme_setup_cmd and nvme_complete_rq says: name, ids, every field, status, result.

plain=$(disk io0 1) guarded=$(disk io0 2) zoned=$(disk io0 3)
ctrl=${plain%n*}

# Admin commands: queues of number 0, which the drive refuses; identify, log pages, features, abort; what it does not know.
admin_commands() {
	for cns in 0x00 0x01 0x02 0x03 0x05 0x06 0x07 0x10 0x11 0x12 0x13 0x1c 0x77; do
		echo "admin /dev/$ctrl 0x06 1 4096 0 $cns"
	done
	echo "admin /dev/$ctrl 0x06 3 4096 0 0x05 0x02000000"
	for lid in 01 02 03 04 05 0c c1; do
		echo "admin /dev/$ctrl 0x02 0xffffffff 512 0 0x007f00$lid"
	done
	for fid in 01 02 04 05 06 07 08 09 0a 0b 0c 81; do
		echo "admin /dev/$ctrl 0x0a 0 0 0 0x0$fid"
		echo "admin /dev/$ctrl 0x0a 0 0 0 0x3$fid"
	done
	echo "admin /dev/$ctrl 0x09 0 0 0 0x04 0x0157"
	echo "admin /dev/$ctrl 0x09 0 0 0 0x80000004 0x0157"
	echo "admin /dev/$ctrl 0x08 0 0 0 0x00070001"
	for opcode in 0x00 0x01 0x04 0x05 0x0d 0x10 0x11 0x14 0x18 0x1c 0x1d 0x20 0x24 0x81 0x84 0x85 0xc0 0xc5; do
		echo "admin /dev/$ctrl $opcode 1 0 0 0x00030009 0x00010203 0x12 0x13 0x14 0x80000015"
	done
	for opcode in 0x19 0x1a 0x1e 0x82 0x86 0xc2; do
		echo "admin /dev/$ctrl $opcode 1 4096 0 0x000003ff 1 0x12 0x13 0x14 0x80000015"
	done
	echo "admin /dev/$ctrl 0x80 1"
}

# I/O commands. Compare with what is not there fails; past the end is refused; so is what the drive does not know.
io_commands() {
	echo "io /dev/$plain 0x00 1"
	for opcode in 0x01 0x02 0x05; do
		echo "io /dev/$plain $opcode 1 4096 0 8 0 7"
	done
	echo "io /dev/$plain 0x02 1 4096 0 16 0 0xc0000007 0x45"
	echo "io /dev/$plain 0x05 1 4096 1 8 0 7"
	echo "io /dev/$plain 0x02 1 4096 0 8 1 7"
	for opcode in 0x04 0x08 0x0c; do
		echo "io /dev/$plain $opcode 1 0 0 24 0 15"
	done
	echo "io /dev/$plain 0x09 1 16 0 0 4"
	echo "io /dev/$plain 0x19 1 32 0 64"
	echo "io /dev/$plain 0x0d 1 16 0 0x40000008"
	echo "io /dev/$plain 0x0e 1 4096 0 1023 1"
	echo "io /dev/$plain 0x11 1 16 0 0x0101"
	echo "io /dev/$plain 0x15 1 8 0 0x0100"
	for opcode in 0x12 0x90; do
		echo "io /dev/$plain $opcode 1 0 0 10 11 12 13 14 0x80000015"
	done
	echo "io /dev/$zoned 0x7a 3 4096 0 0 0 1023 0x00010000"
	echo "io /dev/$zoned 0x7a 3 4096 0 0x8000 0 1023 0x00000100"
	echo "io /dev/$zoned 0x79 3 0 0 0x8000 0 0 0x003"
	for again in 1 2; do
		echo "io /dev/$zoned 0x7d 3 4096 $again 0x8000 0 7"
	done
	echo "io /dev/$zoned 0x01 3 4096 0 0x8000 0 7"
	for action in 0x001 0x002 0x004 0x104; do
		echo "io /dev/$zoned 0x79 3 0 0 0x8000 0 0 $action"
	done
}

ftrace_start nvme/nvme_setup_cmd nvme/nvme_complete_rq
ftrace_settle
traced /tmp/t --cdw
ftrace_clear
admin_commands | passthru >/tmp/sent
io_commands | passthru >>/tmp/sent
cat /tmp/sent >&2
nvme id-ctrl "/dev/$ctrl" >/dev/null
dd if=/dev/zero of="/dev/$plain" bs=8k count=2 oflag=direct,sync 2>/dev/null
blkdiscard -o 8192 -l 4096 "/dev/$plain"
dd if=/dev/zero of="/dev/$guarded" bs=4k seek=3 count=2 oflag=direct 2>/dev/null
dd if="/dev/$guarded" of=/dev/null bs=4k skip=3 count=2 iflag=direct 2>/dev/null
dd if=/dev/zero of="/dev/$zoned" bs=4k seek=4096 count=2 oflag=direct 2>/dev/null
ftrace_settle
printf 'admin /dev/%s 0x15 2 4096 1 %s\n' "$ctrl" 1 "$ctrl" 0 | passthru >/dev/null
echo 1 >"/sys/class/nvme/$ctrl/reset_controller"
ftrace_settle
char=/dev/ng${plain#nvme}
fio --name=ring --filename="$char" --rw=randrw --bs=4k --ioengine=io_uring_cmd --cmd_type=nvme --iodepth=4 --number_ios=31 \
	--norandommap --output-format=json --output=/tmp/ring.json >&2
ftrace_settle
measured
ok $? "exits 0"
ftrace_stop /tmp/events
whole /tmp/t "nothing is lost"
ftrace_commands /tmp/events >/tmp/theirs
trace_commands /tmp/t qid cid nsid status_code result lba bytes op cdw >/tmp/ours
tail -n +1 /tmp/events /tmp/t >&2 # to the console: what the differences are about
is "$(wc -l </tmp/ours)" "$(wc -l </tmp/theirs)" "as many commands as ftrace saw: $(wc -l </tmp/theirs)"

# differences: what trace and the kernel do not say alike. Theirs are the words of the kernel's enums; a number is an
# opcode that this kernel has no word for.
differences() {
	awk '
	function hex(text, i, value) {
		for (i = 1; i <= length(text); i++)
			value = 16 * value + index("0123456789abcdef", substr(text, i, 1)) - 1
		return value + 0
	}
	function number(text) { return text ~ /^0x/ ? hex(substr(text, 3)) : text + 0 }
	function power(of, i, value) { # busybox has no ^
		value = 1
		for (i = 0; i < of; i++)
			value *= 2
		return value
	}
	function bits(dword, from, nr) { return int(dword / power(from)) % power(nr) }
	function word(name, admin) {
		if (name in exceptions)
			return exceptions[name]
		if (name ~ /^0x/)
			return (admin, hex(substr(name, 3))) in numbers ? numbers[admin, hex(substr(name, 3))] : "op-" name
		sub(/^nvme_(cmd|admin)_/, "", name)
		gsub(/_/, "-", name)
		return name
	}
	# What the kernel calls `key` in the command `name`, from our dwords.
	function field(name, key) {
		if (key == "slba") return d[1] * power(32) + d[0]
		if (key == "len") return bits(d[2], 0, 16)
		if (key == "ctrl") return bits(d[2], 16, 16)
		if (key == "dsmgmt") return d[3]
		if (key == "reftag") return d[4]
		if (key == "cns" || key == "fid") return bits(d[0], 0, 8)
		if (key == "ctrlid" || key == "qsize") return bits(d[0], 16, 16)
		if (key == "sel") return bits(d[0], 8, 3)
		if (key == "sv") return bits(d[0], 27, 1) * 8 # meant is bit 31: nvme_trace_admin_set_features masks 0x8
		if (key == "cdw11") return d[1]
		if (key == "nr") return d[0]
		if (key == "attributes") return d[1]
		if (key == "cqid" && name ~ /create_sq/) return bits(d[1], 16, 16)
		if (key == "sqid" || key == "cqid") return bits(d[0], 0, 16)
		if (key == "sq_flags" || key == "cq_flags") return bits(d[1], 0, 16)
		if (key == "irq_vector") return bits(d[1], 16, 16)
		if (key == "numd") return name ~ /resv/ ? d[0] : d[2]
		if (key == "eds") return bits(d[1], 0, 1)
		if (key == "zra" || key == "zsa") return bits(d[3], 0, 8)
		if (key == "zrasf") return bits(d[3], 8, 8)
		if (key == "pr") return bits(d[3], 16, 1)
		if (key == "all") return bits(d[3], 8, 1)
		if (key == "lbaf") return bits(d[0], 0, 4)
		if (key == "mset") return bits(d[0], 4, 1)
		if (key == "pi") return bits(d[0], 5, 3)
		if (key == "pil") return bits(d[0], 8, 1)
		if (key == "ses") return bits(d[0], 9, 3)
		if (key == "rrega" || key == "racqa" || key == "rrela") return bits(d[0], 0, 3)
		if (key == "iekey") return bits(d[0], 3, 1)
		if (key == "ptpl") return bits(d[0], 30, 2)
		if (key == "rtype") return bits(d[0], 8, 8)
		if (key == "mndw") return d[2]
		if (key == "rl") return bits(d[3], 0, 16)
		if (key == "atype") return bits(d[3], 24, 8)
		return "unknown"
	}
	function swapped(text) { return substr(text, 7, 2) substr(text, 5, 2) substr(text, 3, 2) substr(text, 1, 2) }
	function differ(what, ours, theirs) {
		if (ours != theirs)
			print kernel " " what ": ours " ours ", theirs " theirs
	}
	BEGIN {
		exceptions["nvme_cmd_write_uncor"] = "write-uncorrectable"
		exceptions["nvme_admin_abort_cmd"] = "abort"
		exceptions["nvme_admin_activate_fw"] = "firmware-commit"
		exceptions["nvme_admin_download_fw"] = "firmware-download"
		exceptions["nvme_admin_dev_self_test"] = "self-test"
		exceptions["nvme_admin_nvme_mi_send"] = "mi-send"
		exceptions["nvme_admin_nvme_mi_recv"] = "mi-recv"
		exceptions["nvme_admin_dbbuf"] = "doorbell-buffer"
		exceptions["nvme_admin_format_nvm"] = "format"
		exceptions["nvme_admin_sanitize_nvm"] = "sanitize"
		nr = split("0c verify 12 io-mgmt-recv 19 copy 79 zone-mgmt-send 7a zone-mgmt-recv 7d zone-append", list)
		for (i = 1; i < nr; i += 2)
			numbers[0, hex(list[i])] = list[i + 1]
		nr = split("14 self-test 1c virtual-mgmt 1d mi-send 1e mi-recv 20 capacity-mgmt 24 lockdown 85 load-program " \
			"86 get-lba-status", list)
		for (i = 1; i < nr; i += 2)
			numbers[1, hex(list[i])] = list[i + 1]
	}
	FNR == NR { # ours; a command id comes back, so it is the n-th with that id
		key = $1 "/" $2
		ours[key "/" ++seen[key]] = $0
		next
	}
	{
		kernel = $0
		key = $3 "/" $4
		key = key "/" ++met[key]
		if (!(key in ours)) {
			print kernel " is not there"
			next
		}
		split(ours[key], o, " ")
		for (i = 0; i < 6; i++)
			d[i] = hex(o[9 + i])
		differ("nsid", o[3], $5)
		differ("status", o[4], number($6))
		if (o[4] == 0)
			differ("result", o[5], number($7))
		differ("word", o[8], word($8, $3 == 0))
		nr = split($9, list, ",")
		for (i = 1; i <= nr; i++) {
			split(list[i], pair, "=")
			if (pair[1] == "cdw10" && length(pair[2]) == 48) {
				text = ""
				for (j = 0; j < 6; j++)
					text = text swapped(o[9 + j])
				differ("dwords", text, pair[2])
				nr_fields += 6
				continue
			}
			sub(/:.*/, "", pair[2])
			differ(pair[1], field($8, pair[1]), number(pair[2]))
			if (pair[1] == "slba")
				differ("lba", o[6], number(pair[2]))
			if (pair[1] == "len")
				differ("bytes", o[7], 512 * (number(pair[2]) + 1))
			nr_fields++
		}
	}
	END { print "compared", FNR, nr_fields }' /tmp/ours /tmp/theirs
}
differences >/tmp/differences
is "$(grep -vc "^compared" /tmp/differences) $(sed -n 's/^compared \([0-9]*\).*/\1/p' /tmp/differences)" "0 $(wc -l </tmp/theirs)" \
	"name, ids, fields, status and result as the kernel has them" || note "$(head -20 /tmp/differences)"
between "$(sed -n 's/^compared [0-9]* //p' /tmp/differences)" 500 9999 "and the kernel names 500 fields and more"

# said OP PATTERN NAME: is there such a line?
said() {
	grep "\"op\":\"$1\"" /tmp/t | grep -qE "$2"
	ok $? "$3" || note "$(grep "\"op\":\"$1\"" /tmp/t | head -5)"
}

column /tmp/t op | sort -u >/tmp/words
for word in identify get-log-page get-features set-features abort delete-sq create-sq delete-cq create-cq format ns-attach ns-mgmt \
	doorbell-buffer firmware-commit firmware-download self-test keep-alive directive-send directive-recv virtual-mgmt mi-send \
	mi-recv capacity-mgmt lockdown security-send security-recv sanitize load-program get-lba-status op-0xc0 op-0xc2 op-0xc5 \
	flush write read compare write-uncorrectable write-zeroes dsm verify copy resv-register resv-report resv-acquire \
	resv-release io-mgmt-recv op-0x90 zone-mgmt-send zone-mgmt-recv zone-append; do
	echo $word
done | sort >/tmp/wanted
cmp -s /tmp/words /tmp/wanted
ok $? "every command the drive knows, and $(wc -l </tmp/wanted) in all, was there" ||
	note "$(diff /tmp/words /tmp/wanted)"

said identify 'cns=csi-namespace csi=zns passthrough' "identify by its CNS and command set"
said identify 'cns=controller passthrough".*"comm":"nvme"' "a command of nvme-cli"
said get-log-page 'lid=smart len=512 passthrough' "a log page by its name"
said set-features 'fid=temperature-threshold .*temp=70C passthrough' "a feature by its name, with its value"
said get-features 'fid=number-of-queues .*-> nsq=64 ncq=64 passthrough' "and what the drive answered"
said abort 'sqid=1 cid=7 -> not-aborted' "an abort and how it went"
said ns-attach 'sel=detach passthrough' "a namespace is detached"
said read 'lba=16 nlb=8 len=4Ki fua lr freq=reads-writes seq passthrough' "a read that asks for more"
said compare '"status":"compare failure \(2/85\)' "a compare that fails"
said read '"lba":4294967304.*"status":"LBA out of range \(0/80\) DNR"' "a read past the end"
said write 'lba=0 nlb=16 len=8Ki fua"' "a write through the block layer, to stable storage"
said dsm 'ranges=1 deallocate"' "a discard"
said write-zeroes 'lba=24 nlb=16 len=8Ki passthrough' "zeroes"
said create-sq 'qid=2 size=1024 cqid=2 prio=urgent contiguous by-driver' "the driver's queues after a reset"
said identify 'cns=controller by-driver' "and its identify"
said doorbell-buffer by-driver "and its doorbells"

if [ -e "/sys/block/$guarded/integrity/format" ]; then
	for op in read write; do
		said $op '"nsid":2,.*lba=32 nlb=8 len=4Ki prchk=guard,ref reftag=0x20 metadata"' "protection: a $op carries guard and reference tag"
	done
else
	skip "protection" "this kernel has no integrity profile for such a namespace"
fi

said zone-mgmt-recv 'lba=0 action=report state=all partial len=4Ki passthrough' "zones: a report"
said zone-mgmt-send 'lba=32768 action=open passthrough' "zones: open"
said zone-append '"dev":"nvme[0-9c]*n'"${zoned##*n}"'".*lba=32768 nlb=8 len=4Ki -> lba=32776 passthrough' "zones: append, and where it went"
said write '"nsid":3.*"status":"zone invalid write \(1/bc\) DNR"' "zones: a write that is not at the write pointer"
said zone-mgmt-send 'lba=32768 action=reset all passthrough' "zones: reset of all"

if [ -e "$char" ] && grep -qw io_uring_cmd /tmp/ring.json; then
	for op in read write; do
		is "$(grep '"comm":"fio"' /tmp/t | grep "\"op\":\"$op\"" | grep -c passthrough)" "$(fio_ios /tmp/ring.json $op)" \
			"io_uring: ${op}s past the block layer as fio counts them"
	done
else
	skip "io_uring past the block layer" "no $char: this kernel is older than 5.19"
fi
done_testing
