# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 7.2
# timeout: 120
#
# serve_containers: serve --by unit,container,pod names who submitted, without an API: units of systemd and containers by their
# cgroups, pods by the kubelet's links, also by one that appears after the first command. A cgroup of a hostile name harms nothing.
# latency, blame and top --by unit,container add up the cgroups of each.

dev=$(disk io0)
model=$(sed 's/ *$//' "/sys/block/$dev/device/model")
ifconfig lo 127.0.0.1 up
root=/sys/fs/cgroup links=/var/log/containers
a=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
b=fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210
c=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
pods=/kubepods.slice/kubepods-burstable.slice
web=$pods/kubepods-burstable-pod8d2b6e0c_1111_2222_3333_444455556666.slice/cri-containerd-$a.scope
db=$pods/kubepods-burstable-pod8d2b6e0c_1111_2222_3333_444455557777.slice/cri-containerd-$b.scope
docker=/system.slice/docker-$c.scope
evil=$(printf '/system.slice/a"} 1\riosonar_evil{x="\\.service') # the kernel refuses a line feed

# reads CGROUP NUMBER
reads() {
	mkdir -p "$root$1"
	(echo 0 >"$root$1/cgroup.procs" && exec /usr/bin/dd if="/dev/$dev" of=/dev/null bs=4096 count="$2" iflag=direct 2>/dev/null)
}
start() {
	: >/tmp/err
	iosonar serve -d "$dev" --op read "$@" 2>/tmp/err &
	pid=$!
	wait_for 30 grep -q '^serving ' /tmp/err || ok 1 "it serves"
}
ends() {
	kill -TERM $pid
	wait $pid
	is $? 0 "$1: SIGTERM ends it, exit 0" || note "$(cat /tmp/err)"
}
scrape() { wget -qO /tmp/page http://127.0.0.1:9936/metrics; }
# count LABELS: of the series with exactly these labels after the operation
count() { grep -F "iosonar_commands_total{device=\"$dev\",model=\"$model\",op=\"read\"$1} " /tmp/page | sed 's/.* //'; }
has() { scrape && [ "$(count "$1")" = "$2" ]; }

mkdir -p $links
ln -s /nowhere "$links/web-0_shop_nginx-$a.log"
ln -s /nowhere "$links/no link at all"

start --by unit,container,pod
reads $web 11
reads $db 13
reads $docker 17
reads /system.slice/cron.service 19
reads "$evil" 23
reads /kubepods.slice 29
sleep 0.2
scrape
is "$(count ",unit=\"cri-containerd-$a.scope\",namespace=\"shop\",pod=\"web-0\",container=\"nginx\"")" 11 "a pod has its names"
is "$(count ",unit=\"docker-$c.scope\",container=\"001122334455\"")" 17 "a container without names has its id"
is "$(count ',unit="cron.service"')" 19 "a service is in no container"
is "$(count ',unit="kubepods.slice"')" 29 "a slice is a unit"
is "$(count ',unit="a\"} 1\\x0diosonar_evil{x=\"\\.service"')" 23 "a hostile name stays in its label"
is "$(grep -cv -e '^# ' -e '^iosonar_[a-z_]*[{ ]' /tmp/page)$(grep -c '^iosonar_evil' /tmp/page)" 00 "and makes no line"
is "$(grep -c "containerd-$b" /tmp/page)" 0 "a pod without a link waits for it"
ln -s /nowhere "$links/db-0_shop_sql-$b.log"
wait_for 5 has ",unit=\"cri-containerd-$b.scope\",namespace=\"shop\",pod=\"db-0\",container=\"sql\"" 13
ok $? "the link comes, and the series has all its commands" || note "$(grep commands_total /tmp/page)"
ends "by all"

rm -f "$links"/*
start --by pod --series 2
reads $web 7
reads $db 5
reads /system.slice/cron.service 3
sleep 7
scrape
is "$(count ',pod="8d2b6e0c-1111-2222-3333-444455556666"')" 7 "a pod without a link: after 5 s it has its UID"
is "$(count '')" 3 "what is in no pod has no label"
is "$(grep '^iosonar_commands_total' /tmp/page | sed 's/.* //' | sort -n | xargs)" "3 5 7" "--series 2: the third one is added to other"
is "$(sed -n 's/^iosonar_commands_total{device="other",op="other",namespace="other",pod="other"} //p' /tmp/page)" 5 "with its labels"
is "$(sed -n 's/^iosonar_series_dropped //p' /tmp/page)" 1 "and counted"
ends "by pod"
is "$(grep -c '^issued 15 = completed 15 + in flight 0; nothing lost$' /tmp/err)" 1 "the ledger has all" || note "$(cat /tmp/err)"

# Two cgroups of one container, one of another, one of none.
cat >/tmp/four <<END
reads() { (echo 0 >"$root\$1/cgroup.procs" && exec /usr/bin/dd if=/dev/$dev of=/dev/null bs=4096 count="\$2" iflag=direct 2>/dev/null); }
mkdir -p $root$docker/first $root$docker/second
reads $docker/first 7
reads $docker/second 11
reads $db 13
reads /system.slice/cron.service 17
END
containers="001122334455 18 fedcba987654 13 null 17"
units="cri-containerd-$b.scope 13 cron.service 17 docker-$c.scope 18"
# by KEY COMMAND OPTION...: "KEY COUNT" of each row of the whole run, sorted
by() {
	by_key=$1
	shift
	set -- "$@" --by "$by_key" -o json
	case $* in *' -r '*) ;; *) set -- "$@" -- sh /tmp/four ;; esac
	iosonar "$@" 2>/tmp/err | grep -v '"type":"bucket"' |
		sed -n 's/.*"span":"total".*"'"$by_key"'":\([^,]*\),.*"count":\([0-9]*\),.*/\1 \2/p' | tr -d '"' | sort | xargs
}
is "$(by container latency -d "$dev" --op read)" "$containers" "latency --by container adds up the cgroups of a container"
is "$(by unit latency -d "$dev" --op read)" "$units" "--by unit adds up the cgroups of a unit"
iosonar record -d "$dev" --op read --stages -w /tmp/by.cap -- sh /tmp/four 2>/tmp/err
ok $? "recorded" || note "$(cat /tmp/err)"
is "$(by unit latency -r /tmp/by.cap)" "$units" "the same from a capture" || note "$(cat /tmp/err)"
iosonar blame -r /tmp/by.cap --by container -o json 2>/tmp/err |
	sed -n 's/.*"type":"blame".*"victim":\("[^"]*"\),.*"victim_container":\([^,]*\),.*"count":\([0-9]*\),.*/\1 \2 \3/p' |
	tr -d '"' | sort -u >/tmp/victims
is "$(xargs </tmp/victims)" "001122334455 001122334455 18 fedcba987654 fedcba987654 13 no container null 17" \
	"blame --by container has the same victims" || note "$(cat /tmp/err)"
iosonar blame -r /tmp/by.cap --by unit -o json 2>/tmp/err |
	sed -n 's/.*"type":"blame".*"victim_unit":"\([^"]*\)",.*"count":\([0-9]*\),.*/\1 \2/p' | sort -u >/tmp/victims
is "$(xargs </tmp/victims)" "$units" "blame --by unit has the same units" || note "$(cat /tmp/err)"
is "$(by container top -r /tmp/by.cap)" "$containers" "top --by container has the same" || note "$(cat /tmp/err)"
done_testing
