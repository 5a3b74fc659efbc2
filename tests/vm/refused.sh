# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 6.12
# timeout: 360
#
# refused: our own filter of system calls refuses none that a command makes. Every command runs once, under a name of its own,
# and another run counts the system calls of all of them that fail with EPERM.

dev=$(disk io0)
mkdir /tmp/bin /tmp/runs
cp /usr/bin/setpriv /tmp/bin/s-setpriv
mke2fs -b 4096 "/dev/$dev" 8192 >/dev/null 2>&1 && mkdir /tmp/fs && mount -t ext4 "/dev/$dev" /tmp/fs
/usr/bin/dd if=/dev/urandom of=/tmp/fs/file bs=4k count=64 status=none
cat >/tmp/load <<'EOF'
echo 3 >/proc/sys/vm/drop_caches
exec /usr/bin/dd if=/tmp/fs/file of=/dev/null bs=4k count=61 status=none
EOF
cat >/tmp/scrape <<'EOF'
sh /tmp/load
exec wget -qO /tmp/runs/page http://127.0.0.1:9936/metrics
EOF
ifconfig lo 127.0.0.1 up

# line COMMAND: the words of one run of it.
line() {
	load='-- sh /tmp/load'
	case $1 in
	latency | trace | layers | blame | why | drives | slow | errors | pattern) echo "-d $dev $load" ;;
	stacks) echo "-d $dev --stack both $load" ;;
	top) echo "-d $dev -o json $load" ;;
	serve) echo "-d $dev -- sh /tmp/scrape" ;;
	inflight) echo "-d $dev -i 200ms -t 1s" ;;
	cache) echo "--by file $load" ;;
	waits) echo "--slow 3 $load" ;;
	count) echo "block:block_rq_issue by comm,kstack,ustack $load" ;;
	sum | hist) echo "block:block_rq_issue of bytes by comm $load" ;;
	print) echo "syscalls:sys_enter_openat $load" ;;
	pair) echo "raw_syscalls:sys_enter raw_syscalls:sys_exit on tid --each --follow $load" ;;
	class) echo "bio --only submit_bio $load" ;;
	calls) echo "vfs_read user:/usr/bin/operands:operands_many $load" ;;
	record) echo "-d $dev --size 1Mi -w /tmp/runs/cap $load" ;;
	events) echo "block:*" ;;
	info | report | sql) echo "/tmp/runs/cap" ;;
	diff) echo "/tmp/runs/cap /tmp/runs/cap" ;;
	merge) echo "-w /tmp/runs/all /tmp/runs/cap" ;;
	export) echo "/tmp/runs/cap -o csv" ;;
	doctor) echo ;;
	*) return 1 ;;
	esac
}

commands=$(iosonar -h | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')
{
	for c in record $(echo "$commands" | grep -vx record); do
		ln -sf "$(command -v iosonar)" "/tmp/bin/s-$c"
		words=$(line "$c") || { echo "echo $c has no line" && continue; }
		echo "/tmp/bin/s-$c $c $words </dev/null >/tmp/runs/$c 2>/tmp/runs/$c.err; echo $c \$?"
	done
	# SIGUSR1 is pending when the run ends.
	echo "for i in 1 2 3; do /tmp/bin/s-record record -d $dev --last 5s -w /tmp/runs/last -- sh -c 'kill -USR1 \$PPID'" \
		'>/tmp/runs/last.out 2>&1 || echo "last $?"; done'
	echo "/tmp/bin/s-serve serve --keep 10s -d $dev -- sh /tmp/scrape </dev/null >/tmp/runs/keep 2>&1 || echo \"keep \$?\""
	# The kernel refuses to make nobody root: the count sees calls that are refused.
	echo '/tmp/bin/s-setpriv --reuid 65534 /tmp/bin/s-setpriv --reuid 0 true 2>/tmp/runs/setpriv.err || :'
} >/tmp/all
iosonar count raw_syscalls:sys_exit by 'comm, syscall(id)' if 'ret == -1 && (comm like "s-*" || comm like "iosonar-*")' \
	-o json --out /tmp/refused -- sh /tmp/all >/tmp/codes 2>/tmp/err
is "$?" 0 "nothing is lost" || note "$(cat /tmp/err)"
is "$(wc -l </tmp/codes)" "$(echo "$commands" | wc -l)" "every command has run, and every pending signal was taken" || note "$(cat /tmp/codes)"
is "$(grep -v ' 0$' /tmp/codes)" "" "each exits 0" ||
	grep -v ' 0$' /tmp/codes | while read -r c _; do note "$c: $(tail -3 "/tmp/runs/$c.err")"; done
is "$(grep '"type":"count"' /tmp/refused | grep -v '"comm":"s-setpriv"')" "" "no system call is refused"
grep -q '"comm":"s-setpriv"' /tmp/refused
ok $? "one that is refused is seen" || note "$(cat /tmp/refused)"
done_testing
