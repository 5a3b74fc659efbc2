# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: mpath
# kernels: 6.12
# timeout: 90
#
# serve_paths: commands of a multipath disk have the disk's name, and that of their path as a label of its own, whether --keep is
# given or not; a scraper gets each command once.

head=$(disk io0)
ifconfig lo 127.0.0.1 up
reads() { dd if="/dev/$head" of=/dev/null bs=4k count="$1" iflag=direct 2>/dev/null; }

for keep in '' '--keep 1m'; do
	# shellcheck disable=SC2086
	iosonar serve -d "$head" $keep 2>/tmp/err &
	pid=$!
	wait_for 30 grep -q '^serving http://127.0.0.1:9936$' /tmp/err
	ok $? "it serves${keep:+, $keep}" || note "$(cat /tmp/err)"
	reads 101
	sleep 0.5
	wget -qO /tmp/page http://127.0.0.1:9936/metrics
	sed -n "s/^iosonar_commands_total{device=\"$head\",.*op=\"read\",path=\"\([^\"]*\)\"} /\1 /p" /tmp/page >/tmp/paths
	is "$(awk '{ n += $2 } END { print n }' /tmp/paths)" 101 "every read, once${keep:+, $keep}" || note "$(grep '^iosonar_commands' /tmp/page)"
	is "$(grep -cv '^nvme[0-9]*c[0-9]*n[0-9]* ' /tmp/paths)" 0 "each with its path: $(xargs </tmp/paths)"
	is "$(grep '^iosonar_commands_total' /tmp/page | grep -cv path=)" 0 "none without"
	is "$(grep -c "^iosonar_command_latency_seconds_count{.*path=" /tmp/page)" "$(grep -c '^iosonar_commands_total' /tmp/page)" "so has the histogram"
	kill -TERM $pid
	wait $pid
	is $? 0 "SIGTERM ends it, exit 0" || note "$(cat /tmp/err)"
done
done_testing
