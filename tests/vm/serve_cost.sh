# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: none
# timeout: 240
#
# serve_cost: what serve adds to an I/O, in instructions of the guest: what latency adds, with its own figure of what it costs up to
# 4 % more (x86_64: 3.2 %). With --keep: what record adds, and as much more. Scrapes make no difference to an I/O.

dev=$(disk io0)
set_scheduler "$dev" none
ifconfig lo 127.0.0.1 up

reads() { /usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k count="$1" iflag=direct 2>/dev/null; }
scrape() { wget -qO "$1" http://127.0.0.1:9936/metrics; }

# spent: instructions of all our programs that run for each read
spent() {
	bpftool prog show | awk '/ name io_/ && / run_cnt [0-9][0-9][0-9][0-9]/ { for (i = 1; i < NF; i++) if ($i == "run_time_ns") sum += $(i + 1) }
		END { printf "%d", sum }'
}
# cost: prints the instructions per I/O, times ten, of 1,500 reads
cost() {
	before=$(spent)
	sysctl -w kernel.bpf_stats_enabled=1 >/dev/null
	reads 1500
	sysctl -w kernel.bpf_stats_enabled=0 >/dev/null
	echo $((($(spent) - before) / 150))
}
# start WAIT COMMAND...: in the background, until its standard error has this line
start() {
	line=$1
	shift
	: >/tmp/err
	iosonar "$@" >/tmp/out 2>/tmp/err &
	pid=$!
	wait_for 30 grep -q "$line" /tmp/err || note "$(cat /tmp/err)"
	sleep 0.3
}
end() {
	kill -INT $pid
	wait $pid
	is $? 0 "$1: exit 0" || note "$(cat /tmp/err)"
}
# as NAME COST OTHER THEIRS PERCENT: at most this much more, and not less than 2 % less
as() {
	note "$1: $2 tenths of instructions per I/O, $3: $4"
	[ "$2" -gt 1000 ] && [ $(($2 * 100)) -le $(($4 * (100 + $5))) ] && [ $(($2 * 100)) -ge $(($4 * 98)) ]
	ok $? "$1 costs what $3 costs, and at most $5 % more"
}

start 'from .*_rq' latency -o json -d "$dev"
latency=$(cost)
end latency
start '^serving' serve -d "$dev"
serve=$(cost)
as serve "$serve" latency "$latency" 4
for _ in 1 2 3 4 5; do scrape /tmp/page; done
is "$(sed -n 's/^iosonar_commands_total{.*op="read"} //p' /tmp/page)" 1500 "each read is counted"
as "serve after scrapes" "$(cost)" serve "$serve" 2
end serve
start '^tables' record -v -w /tmp/cap -d "$dev"
record=$(cost)
end record
start '^keeping' serve -d "$dev" --keep 1m
keep=$(cost)
as "serve --keep" "$keep" record "$record" 4
end "serve --keep"
done_testing
