#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# serve on this machine: are the counts that a scraper gets those of the load, and does it go on answering whatever is sent
# to it? Second instruments: fio's own count, `iosonar latency` beside it, promtool, and a real Prometheus.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
disk='' full='' pids=()

# shellcheck disable=SC2317 # called by the trap
clean() {
	exec 9>&-
	local pid
	for pid in ${pids[@]+"${pids[@]}"}; do kill "$pid" 2>/dev/null; done
	wait
	[ -n "$disk" ] && losetup -d "$disk"
	[ -n "$full" ] && losetup -d "$full"
	[ -n "$tmp" ] && mountpoint -q "$tmp/full" && umount "$tmp/full"
	[ -n "$tmp" ] && rm -rf "$tmp"
}

# serve NAME OPTION...: in the background; its port in $port, its pid in $pid, its words in $tmp/NAME.err
serve() {
	local as=$1
	shift
	: >"$tmp/$as.err"
	"$IOSONAR" serve --listen 127.0.0.1:0 "$@" 2>>"$tmp/$as.err" </dev/null >"$tmp/$as.out" &
	pid=$!
	pids+=("$pid")
	await_line "$tmp/$as.err" '^serving '
	port=$(sed -n 's,^serving http://127.0.0.1:\([0-9]*\)$,\1,p' "$tmp/$as.err")
}
await_line() {
	for _ in $(seq 100); do
		grep -q "$2" "$1" && return
		sleep 0.1
	done
	sed 's/^/# /' "$1"
}

# ends PID NAME: by SIGTERM, with exit code 0 and a ledger without a loss. On some machines the kernel runs no program at a few of
# many thousand ends of a loop device's requests: these are lost, are the only loss, and make it 3.
ends() {
	local code=0 unseen issued completed
	kill -TERM "$1"
	wait "$1" || code=$?
	unseen=$(sed -n 's/^  lost \([0-9]*\): completion never seen$/\1/p' "$tmp/$2.err")
	if [ -z "$unseen" ] || [ "$(grep -c '^  lost ' "$tmp/$2.err")" -ne 1 ]; then
		is "$code" 0 "$2: SIGTERM ends it, exit 0"
		is "$(tail -n 1 "$tmp/$2.err" | grep -c 'nothing lost$')" 1 "$2: with a ledger"
		return
	fi
	read -r issued completed < <(sed -n 's/^issued \([0-9]*\) = completed \([0-9]*\) + in flight 0.*/\1 \2/p' "$tmp/$2.err" | tail -n 1)
	is "$code" 3 "$2: SIGTERM ends it, exit 3: the kernel did not show $unseen ends"
	is "$issued" $((completed + unseen)) "$2: with a ledger that has them"
}

scrape() { curl -sS --max-time 10 "http://127.0.0.1:$port/metrics" "$@"; }
# value METRIC LABELS: of the page in $tmp/page
value() { sed -n "s/^$1$2 //p" "$tmp/page"; }
unseen() { value iosonar_lost_total '{reason="completion"}'; } # as ends has them
series() { echo "{device=\"$name\",op=\"$1\"}"; }

fio_load() { # fio_load READ|WRITE NUMBER [OPTION...]
	local rw=$1 n=$2
	shift 2
	fio --name=load --filename="$disk" --direct=1 --ioengine=psync --rw="rand$rw" --bs=4k --size=16M \
		--io_size=$((n * 4096)) --norandommap --output-format=json --output="$tmp/fio" "$@" 2>>"$tmp/fio.err" >/dev/null
	python3 -c 'import json, sys; j = json.load(open(sys.argv[1]))["jobs"][0]; print(j[sys.argv[2]]["total_ios"])' "$tmp/fio" "$rw"
}

# ---- counts ----

check_counts() {
	local reads writes
	serve counts -d "$name"
	scrape >"$tmp/page" 2>"$tmp/err"
	is "$(value iosonar_commands_total "$(series read)") $(value iosonar_commands_total "$(series write)")" "0 0" "before the first command: 0"
	reads=$(fio_load read 1009) writes=$(fio_load write 997)
	scrape >"$tmp/page" 2>"$tmp/err"
	if [ "$(value iosonar_lost_total '{reason="completion"}')" != 0 ]; then # as in latency.t
		again serve "$(grep completion "$tmp/page")"
		ends "$pid" counts
		serve counts -d "$name"
		reads=$(fio_load read 1009) writes=$(fio_load write 997)
		scrape >"$tmp/page"
	fi
	is "$reads $writes" "1009 997" "fio's own count"
	is "$(value iosonar_commands_total "$(series read)")" "$reads" "as many reads"
	is "$(value iosonar_commands_total "$(series write)")" "$writes" "as many writes"
	is "$(value iosonar_command_latency_seconds_count "$(series read)")" "$reads" "the same in the histogram"
	is "$(value iosonar_bytes_total "$(series write)")" $((writes * 4096)) "bytes"
	is "$(grep -c "_bucket{device=\"$name\",op=\"read\"" "$tmp/page")" 98 "97 buckets and the last one"
	is "$(value iosonar_in_flight '') $(value iosonar_failed_commands_total '')" "0 0" "nothing in flight, nothing failed"
	is "$(grep '^iosonar_lost_total' "$tmp/page" | grep -cv ' 0$')" 0 "nothing lost"
	promtool check metrics <"$tmp/page" >"$tmp/err" 2>&1
	is "$? $(wc -c <"$tmp/err")" "0 0" "promtool has nothing to say"
	scrape -H 'Accept: application/openmetrics-text;version=1.0.0' -D "$tmp/head" >"$tmp/open"
	is "$(tail -n 1 "$tmp/open") $(grep -c '^Content-Type: application/openmetrics-text; version=1.0.0' "$tmp/head")" "# EOF 1" "OpenMetrics"
	is "$(grep -v '^#' "$tmp/open" | grep -v seconds)" "$(grep -v '^#' "$tmp/page" | grep -v seconds)" "with the same samples"
	is "$(scrape -I | tr -d '\r' | grep -cE '^(HTTP/1.1 200 OK|Connection: close|X-Content-Type-Options: nosniff|Content-Security-Policy: default-src .none.;.*)$')" 4 "HEAD"
	is "$(scrape -I | grep -ci '^access-control')" 0 "no CORS"
	check_gzip
	check_api "$reads" "$writes"
}

# Compressed for those who ask for it: the same text, a quarter of it at most.
check_gzip() {
	scrape -H 'Accept-Encoding: gzip' -D "$tmp/head" >"$tmp/zipped"
	is "$(grep -ci '^Content-Encoding: gzip' "$tmp/head")" 1 "gzip: for one who accepts it"
	is "$(gzip -dc <"$tmp/zipped" | grep -v seconds)" "$(grep -v seconds "$tmp/page")" "gzip: the same text"
	[ $(($(stat -c %s "$tmp/zipped") * 4)) -lt "$(stat -c %s "$tmp/page")" ]
	ok $? "gzip: less than a quarter ($(stat -c %s "$tmp/zipped") of $(stat -c %s "$tmp/page"))"
	scrape -H 'Accept-Encoding: br, gzip;q=0' -D "$tmp/head" >"$tmp/plain"
	is "$(grep -ci '^Content-Encoding' "$tmp/head") $(grep -c '^iosonar_build_info' "$tmp/plain")" "0 1" "gzip: not for one who does not"
}

api() { curl -sS --max-time 10 "http://127.0.0.1:$port$1"; }
# json KEY: of the JSON line on standard input
json() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
check_api() {
	api /api/latency >"$tmp/api"
	is "$(grep '"op":"read"' "$tmp/api" | json count) $(grep '"op":"write"' "$tmp/api" | json count)" "$1 $2" "/api/latency: as many"
	is "$(grep '"op":"read"' "$tmp/api" | python3 -c 'import json, sys; print(*json.load(sys.stdin))')" \
		"$("$IOSONAR" latency -r "$here/../data/nvme.cap" -o json 2>/dev/null | grep '"span":"total"' | head -n 1 | python3 -c 'import json, sys; r = json.load(sys.stdin); r.pop("wall", 0); print(*r)')" \
		"with the names of latency -o json"
	is "$(api /api/ledger | json completed) $(api /api/ledger | json lost_ring)" "$(($1 + $2)) 0" "/api/ledger: the sum"
	is "$(api /api/devices | json dev)" "$name" "/api/devices: the disk"
	timeout 1.5 curl -sSN "http://127.0.0.1:$port/api/events" >"$tmp/events"
	is "$(sed -n 's/^data: //p' "$tmp/events" | grep '"type":"latency"' | grep '"op":"read"' | python3 -c 'import json, sys; print(sum(json.loads(l)["count"] for l in sys.stdin))')" \
		"$1" "/api/events: all intervals add up to the reads"
	is "$(api / | grep -c '^<!DOCTYPE html>$')" 1 "/: a page"
	is "$(curl -sSI "http://127.0.0.1:$port/" | grep -c "^Content-Security-Policy: default-src 'none';.*script-src 'sha256-.*connect-src 'self'; frame-ancestors 'none'")" 1 "with a policy of its own"
}

# check_filter PID CALLS NAME: of the calls that reach files, sockets or programs; the older forms of these are not counted.
check_filter() {
	local calls
	calls=$(python3 "$here/serve_filter.py" "$1" 2>&1 | sed -E 's/\b(open|stat|lstat|readlink) //g')
	if [ "$calls" = unknown ]; then
		skip "$3" "this kernel does not show filters"
		return
	fi
	is "$calls" "$2" "$3"
}

# No capability, none to gain, system calls filtered. Calls that the filter refuses: tests/unit/privilege.c.
check_privileges() {
	is "$(sed -nE 's/^(CapPrm|CapEff|NoNewPrivs|Seccomp):[[:space:]]*0*([0-9a-f]+)$/\2/p' "/proc/$pid/status" | xargs)" "0 0 1 2" \
		"it serves without privileges"
	check_filter "$pid" none "it opens nothing, makes no socket, runs no program"
	check_filter "$(cat "/proc/$pid/task/$pid/children")" "openat getdents64 readlinkat statx" "its scout only reads"
	check_memory 50021
	is "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" 1 "and without threads"
}

# Pages that watch and scrapes, thousands of them: the memory of the process stays. The first hundred fill what is kept.
rss() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB$/\1/p' "/proc/$pid/status"; }
ask_often() { # ask_often NUMBER
	python3 - "$port" "$1" <<-'EOF'
		import http.client, sys
		for i in range(int(sys.argv[2])):
		    c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=10)
		    c.request("GET", ["/metrics", "/api/latency", "/api/events", "/", "/capture", "/api/commands"][i % 6])
		    c.getresponse().read(1000)
		    c.close()
	EOF
}
check_memory() { # check_memory [IOS [REQUESTS]]
	local before after requests=${2:-4000}
	ask_often $((requests / 2)) # as many connections at once as there will be
	before=$(rss)
	ask_often "$requests"
	[ -z "${1:-}" ] || fio_load read "$1" --ioengine=libaio --iodepth=32 --iodepth_batch=16 >"$tmp/done"
	after=$(rss)
	[ $((after - before)) -lt 512 ]
	ok $? "$requests requests${1:+ and $1 reads}: the process grows by less than 512 KiB ($before to $after)"
}

# make soak-serve: instead of all other cases, with and without a flight recorder; and a minute in front of a Prometheus.
check_soak() {
	local with before
	for with in '' '--keep 1h --keep-size 8Mi'; do # none is too old, so what is kept stays full
		# shellcheck disable=SC2086
		serve soak -d "$name" $with
		[ -z "$with" ] || fio_load read 5000003 --ioengine=libaio --iodepth=32 --iodepth_batch=16 >"$tmp/done" # fills what is kept
		sleep 0.2
		before=$(reads_told)
		check_memory "$SERVE_IOS" "$SERVE_REQUESTS"
		sleep 0.2
		is "$(($(reads_told) - before))" "$(cat "$tmp/done")" "every read is counted${with:+, $with}"
		kill -TERM "$pid"
		wait "$pid"
	done
	start_prometheus
	check_prometheus 36007 60 5m
}
# reads_told: those that were counted, and those whose end the kernel did not show.
reads_told() {
	scrape >"$tmp/page"
	echo $(($(value iosonar_commands_total "$(series read)") + $(unseen)))
}

# ---- the flight recorder ----

capture() { curl -sS --max-time 30 --retry 9 --retry-delay 1 -o "$tmp/cap" "http://127.0.0.1:$port/capture${1:-}"; }
records() { "$IOSONAR" trace -r "$tmp/cap" -o json 2>/dev/null | grep -c '"type":"trace"'; }
status_of() { curl -sS --max-time 10 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port$1"; }

# same_commands API: are its commands the first ones of the trace on standard input? The wall clock is read again for each.
same_commands() {
	python3 -c 'if True:
		import datetime, json, sys
		trace = [json.loads(line) for line in sys.stdin]
		api = [one for one in map(json.loads, open(sys.argv[1])) if one["type"] == "trace"]
		def wall(one):
		    return datetime.datetime.fromisoformat(one.pop("wall")[:26])
		nr = 0
		for a, t in zip(api, trace):
		    assert a.pop("time_s") > 0 and list(a) == list(t), (list(a), list(t))
		    assert abs(wall(a) - wall(t)) < datetime.timedelta(milliseconds=10) and a == t, (a, t)
		    nr += 1
		print("the same", nr)' "$1"
}

check_keep() {
	local reads writes
	is "$(status_of /capture) $(status_of '/api/commands?from=0s')" "404 404" "without --keep there is no capture"
	ends "$pid" counts
	serve keep -d "$name" --keep 1m
	reads=$(fio_load read 1009) writes=$(fio_load write 997)
	sleep 0.2
	capture '?last=60s'
	is "$(records)" $((reads + writes)) "--keep: the capture has every command"
	"$IOSONAR" latency -r "$tmp/cap" -o json >"$tmp/json" 2>"$tmp/err"
	is "$? $(grep '"span":"total"' "$tmp/json" | grep '"type":"latency"' | sed 's/.*"op":"\([a-z]*\)","count":\([0-9]*\).*/\1 \2/' | sort | xargs)" \
		"0 read $reads write $writes" "latency -r counts the same, exit 0"
	is "$("$IOSONAR" info --verify "$tmp/cap" >"$tmp/out" 2>&1 && echo whole)" whole "info --verify finds it whole"
	python3 "$here/serve_readers.py" "$IOSONAR" "$tmp/cap" "$tmp" >"$tmp/readers.tap" 2>"$tmp/err"
	is "$? $(grep -c '^ok - ' "$tmp/readers.tap")" "0 28" "the capture was given to every command with -r"
	say_tap "the capture:" "$tmp/readers.tap"
	is "$(api /api/commands | tail -n 1)" "{\"type\":\"commands\",\"matched\":$((reads + writes)),\"shown\":200,\"all\":true}" "/api/commands: as many, 200 of them shown"
	api /api/commands >"$tmp/api"
	"$IOSONAR" trace -r "$tmp/cap" -o json 2>/dev/null | same_commands "$tmp/api" >"$tmp/compared" 2>&1
	is "$(cat "$tmp/compared")" "the same 200" "/api/commands: key by key the commands of trace -o json, and time_s"
	is "$(api "/api/commands?dev=$name&min=1ns&max=100s" | tail -n 1 | json matched) $(api '/api/commands?dev=nothing' | tail -n 1 | json matched)" \
		"$((reads + writes)) 0" "of this disk, and of no other"
	is "$(api '/api/commands?max=1ms' | tail -n 1 | json matched) $(api '/api/commands?min=1ms' | tail -n 1 | json matched)" \
		"$("$IOSONAR" trace -r "$tmp/cap" -o json 2>/dev/null | python3 -c 'import json, sys; l = [r["lat_ns"] for r in map(json.loads, sys.stdin) if r["type"] == "trace"]; print(sum(x < 10**6 for x in l), sum(x >= 10**6 for x in l))')" \
		"those below 1 ms, and the others"
	is "$(scrape | sed -n 's/^iosonar_failed_commands_total//p')" " 0" "no failure, no status"
	check_exemplars
	check_memory
	ends "$pid" keep
}

# Each exemplar is a command of its bucket that the recorder has, and none of the bucket is slower.
check_exemplars() {
	is "$(scrape | grep -c ' # {')" 0 "exemplars: not in the older format"
	python3 - "$port" "$name" "$tmp/cap" "$IOSONAR" >"$tmp/exemplars" 2>&1 <<-'EOF'
		import http.client, json, re, subprocess, sys
		port, name, cap, iosonar = sys.argv[1:]
		def get(path, **headers):
		    c = http.client.HTTPConnection("127.0.0.1", int(port), timeout=10)
		    c.request("GET", path, headers=headers)
		    return c.getresponse().read().decode()
		lats = {"read": [], "write": []}
		trace = subprocess.run([iosonar, "trace", "-r", cap, "-o", "json"], capture_output=True, text=True).stdout
		for r in map(json.loads, trace.splitlines()):
		    if r["type"] == "trace": lats[r["op"]].append(r["lat_ns"])
		seen, low, filled = 0, {"read": 0, "write": 0}, 0
		page = get("/metrics", Accept="application/openmetrics-text;version=1.0.0")
		for m in re.finditer(r'_bucket\{device="%s",op="(\w+)",le="([^"]+)"\} \d+(?: # \{record="(\d+)"\} (\S+) (\S+))?\n' % name, page):
		    op, le, number, value, when = m.groups()
		    high = 2**63 if le == "+Inf" else round(float(le) * 1e9)
		    mine = [x for x in lats[op] if low[op] < x <= high]
		    low[op] = high
		    filled += bool(mine)
		    if not number: continue
		    command = json.loads(get("/api/commands?number=" + number).splitlines()[0])
		    assert command["type"] == "trace" and command["op"] == op and command["lat_ns"] == round(float(value) * 1e9) == max(mine), (m.group(0), command, max(mine))
		    seen += 1
		assert filled == seen > 0, (filled, seen)
		assert json.loads(get("/api/commands?number=999999999"))["matched"] == 0
		print("every bucket")
	EOF
	is "$(cat "$tmp/exemplars")" "every bucket" "exemplars: each filled bucket has its slowest command, by its number"
}

# What is too old falls out, which is no loss.
check_forgets() {
	serve forgets -d "$name" --keep 1s
	fio_load read 101 >/dev/null
	sleep 3.5
	capture
	is "$(records)" 0 "--keep 1s: after three seconds they are gone"
	ends "$pid" forgets
	serve small -d "$name" --keep 1h --keep-size 1Mi
	is "$(tail -n 1 "$tmp/small.err")" "keeping the last 1h in memory, at most 1.0Mi" "the start says what is kept"
	fio_load read 200003 --ioengine=libaio --iodepth=16 >/dev/null
	sleep 0.2
	capture
	[ "$(stat -c %s "$tmp/cap")" -lt 1100000 ] && [ "$(records)" -gt 50000 ] && [ "$(records)" -lt 200003 ]
	ok $? "--keep-size 1Mi: no more than that, the newest ($(records) in $(stat -c %s "$tmp/cap") bytes)"
	ends "$pid" small
}

# A ring that is too small: dropped records are counted, to the last one, and a Prometheus has the same number.
check_overflow() {
	local code=0 dropped growth='max_over_time(iosonar_lost_total[1m]) - min_over_time(iosonar_lost_total[1m])'
	serve overflow -d "$name" --keep 1m --buffer 4096
	scrape_with_prometheus
	fio_load read 50021 --ioengine=libaio --iodepth=32 >/dev/null
	sleep 0.2
	scrape >"$tmp/page"
	capture
	dropped=$(value iosonar_lost_total '{reason="ring"}')
	[ "$dropped" -gt 0 ]
	ok $? "a ring of 4 KiB drops records ($dropped)"
	await_query 'iosonar_lost_total{reason="ring"}' "$dropped"
	is "$(ask 'iosonar_lost_total{reason="ring"}') $(ask "sum($growth)") $(ask "sum by (instance) (iosonar_commands_total{op=\"read\"})")" \
		"$dropped $((dropped + $(unseen))) $(value iosonar_commands_total "$(series read)")" "Prometheus has this loss and these counts"
	kill "$prometheus"
	wait "$prometheus"
	is "$(($(value iosonar_commands_total "$(series read)") + $(unseen))) $(($(records) + dropped + $(unseen)))" "50021 50021" "counts are right, and what is dropped is what is missing"
	"$IOSONAR" latency -r "$tmp/cap" >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -c "lacks $dropped records" "$tmp/err")" "3 1" "latency -r knows, exit 3"
	kill -TERM "$pid"
	wait "$pid" || code=$?
	is "$code" 3 "so does serve"
}

# A disk on a full tmpfs: its writes fail.
check_failures() {
	local keep
	mkdir "$tmp/full"
	mount -t tmpfs -o size=64k none "$tmp/full" && truncate -s 1M "$tmp/full/disk" && full=$(losetup -f --show "$tmp/full/disk")
	if [ -z "$full" ]; then
		skip "failures by status" "no tmpfs, or no loop device"
		return
	fi
	head -c 1M /dev/zero >"$tmp/full/rest" 2>/dev/null
	for keep in '' '--keep 1m'; do
		# shellcheck disable=SC2086
		serve failures -d "${full#/dev/}" $keep
		for _ in 1 2 3 4; do dd if=/dev/zero of="$full" bs=4k seek=100 count=1 oflag=direct status=none 2>/dev/null; done
		sleep 2.5 # in the second after the next one it is clear that none lacks a status
		scrape >"$tmp/page"
		is "$(grep '^iosonar_failed_commands_total' "$tmp/page" | awk '{ n += $NF } END { print NR, n }')" "2 $(api /api/ledger | json failed)" \
			"failed commands, by status: as many as the ledger has${keep:+, $keep}"
		is "$(sed -n "s/^iosonar_failed_commands_total{device=\"${full#/dev/}\",op=\"write\",status=\"no space (ENOSPC)\"} //p" "$tmp/page")" 4 \
			"the status in words${keep:+, $keep}"
		is "$(value iosonar_failed_commands_total '')" 0 "none has no status${keep:+, $keep}"
		promtool check metrics <"$tmp/page" >"$tmp/err" 2>&1
		is "$? $(wc -c <"$tmp/err")" "0 0" "promtool has nothing to say to it${keep:+, $keep}"
		ends_with_failures
	done
	losetup -d "$full"
	full=''
	umount "$tmp/full"
}
ends_with_failures() {
	local code=0
	kill -TERM "$pid"
	wait "$pid" || code=$?
	is "$code $(grep -c 'nothing lost$' "$tmp/failures.err")" "0 1" "failures are no losses"
}

# A loop device that is removed: its series are in one more scrape.
check_gone() {
	local other labels
	truncate -s 1M "$tmp/other" && other=$(losetup -f --show "$tmp/other" 2>"$tmp/err")
	if [ -z "$other" ]; then
		skip "a device that goes" "no second loop device: $(head -1 "$tmp/err")"
		return
	fi
	serve gone -d "${other#/dev/}" -d "$name"
	dd if="$other" of=/dev/null bs=4k count=13 iflag=direct status=none
	scrape >"$tmp/page"
	labels="{device=\"${other#/dev/}\",op=\"read\"}"
	losetup -d "$other"
	for _ in $(seq 20); do
		python3 -c 'import fcntl, sys; fcntl.ioctl(open("/dev/loop-control"), 0x4c81, int(sys.argv[1]))' "${other#/dev/loop}" 2>"$tmp/err" && break
		sleep 0.1
	done
	sleep 1
	scrape >"$tmp/last"
	scrape >"$tmp/after"
	is "$(value iosonar_commands_total "$labels")" 13 "a device that goes: it is there"
	is "$(sed -n "s/^iosonar_commands_total$labels //p" "$tmp/last")" 13 "a device that goes: in one more scrape"
	is "$(grep -c "\"${other#/dev/}\"" "$tmp/after") $(grep -c "^iosonar_commands_total{device=\"$name\"" "$tmp/after")" "0 2" "and in none after it; the other one is"
	ends "$pid" gone
}

# Disks that come, are read and go, without number: what is kept of them goes, too. The events of these seconds stay for five minutes.
come_and_go() { # come_and_go NUMBER; adds to $came
	local other i
	for ((i = 0; i < $1; i++)); do
		other=$(losetup -f --show "$tmp/other") || return
		dd if="$other" of=/dev/null bs=4k count=3 iflag=direct status=none && came=$((came + 1))
		losetup -d "$other"
		scrape >"$tmp/page"
	done
	sleep 1.5 # the second of the last scrape ends
}
check_many_gone() {
	local before after lost issued completed came=0
	if ! truncate -s 1M "$tmp/other"; then
		skip "disks that come and go" "no room"
		return
	fi
	serve many_gone --keep 1m --keep-size 1Mi
	come_and_go 60
	before=$(rss)
	come_and_go 60
	after=$(rss)
	is "$came" 120 "disks that come and go: each was read"
	[ $((after - before)) -lt 1024 ]
	ok $? "disks that come and go: 60 more take less than 1 MiB ($before to $after)"
	api /api/latency >"$tmp/api"
	[ "$(grep -c '"dev":"loop[^"]*#' "$tmp/api")" -lt 5 ]
	ok $? "disks that come and go: the lists do not have all of them"
	kill -TERM "$pid"
	wait "$pid"
	lost=$(sed -n 's/^  lost \([0-9]*\): completion never seen$/\1/p' "$tmp/many_gone.err") # as ends has them
	read -r issued completed < <(sed -n 's/^issued \([0-9]*\) = completed \([0-9]*\) + in flight 0.*/\1 \2/p' "$tmp/many_gone.err")
	is "$issued $(grep -c '^  lost ' "$tmp/many_gone.err")" "$((completed + ${lost:-0})) $((lost > 0))" "disks that come and go: the ledger has them"
}

# 50 pages that watch: counts stay exact, and the server needs less than 5 % of a CPU.
cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
check_many_pages() {
	local before watchers reads
	serve many -d "$name"
	python3 - "$port" <<-'EOF' &
		import socket, sys, time
		pages = []
		for _ in range(50):
		    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
		    s.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
		    pages.append(s)
		end = time.monotonic() + 8
		got = [0] * 50
		while time.monotonic() < end:
		    for i, s in enumerate(pages):
		        s.settimeout(0.02)
		        try: got[i] += s.recv(65536).count(b"\nid: ")
		        except TimeoutError: pass
		sys.exit(min(got) < 4)
	EOF
	watchers=$!
	sleep 1.5
	before=$(cpu_ticks)
	reads=$(fio_load read 5003 --rate_iops=1000)
	before=$(($(cpu_ticks) - before))
	wait "$watchers"
	ok $? "50 pages: each gets its events"
	scrape >"$tmp/page"
	is "$(($(value iosonar_commands_total "$(series read)") + $(value iosonar_lost_total '{reason="completion"}')))" "$reads" "50 pages: every read is counted"
	[ "$before" -lt $((5 * $(getconf CLK_TCK) / 20)) ]
	ok $? "50 pages: the server takes less than 5 % of a CPU ($before ticks in 5 s)"
	kill -TERM "$pid"
	wait "$pid"
}

# ---- other sockets, limits ----

# With --budget some commands are timed and all are counted. 1 ppm cannot be kept: one of 1024 is timed, which is the least.
budget_load() {
	serve budget -d "$name" --budget 1ppm
	fio_load read 1009 >/dev/null
	await_line "$tmp/budget.err" "^$name: 1 of 1024 commands is timed"
	reads=$(($(fio_load read 3001) + 1009))
	scrape >"$tmp/page"
}
check_budget() {
	local reads timed
	budget_load
	if [ "$(value iosonar_lost_total '{reason="completion"}')" != 0 ]; then # as in latency.t
		again serve "$(grep completion "$tmp/page")"
		kill -TERM "$pid"
		budget_load
	fi
	timed=$(value iosonar_timed_commands_total "$(series read)")
	is "$(value iosonar_commands_total "$(series read)") $(value iosonar_bytes_total "$(series read)")" "$reads $((reads * 4096))" "budget: all are counted"
	is "$(value iosonar_command_latency_seconds_count "$(series read)")" "$reads" "budget: the histogram has all"
	[ "$timed" -gt 0 ] && [ "$timed" -lt $((reads - 2000)) ]
	ok $? "budget: some are timed: $timed of $reads"
	is "$(grep -c ^iosonar_timed "$tmp/page") $(promtool check metrics <"$tmp/page" 2>&1 | wc -c)" "2 0" "budget: promtool has nothing to say"
	api /api/latency >"$tmp/api"
	is "$(grep '"op":"read"' "$tmp/api" | json timed) $(grep '"op":"read"' "$tmp/api" | json one_of)" "$timed 1024" "budget: /api/latency has them and their share"
	is "$(api /api/ledger | json completed)" "$(grep '^iosonar_commands_total' "$tmp/page" | awk '{ n += $2 } END { print n }')" "budget: the ledger has all"
	ends "$pid" budget
}

check_unix() {
	for _ in 1 2; do # the second run replaces the file of the first
		: >"$tmp/unix.err"
		"$IOSONAR" serve -d "$name" --listen "unix:$tmp/sock" 2>>"$tmp/unix.err" </dev/null &
		pid=$!
		pids+=("$pid")
		await_line "$tmp/unix.err" "^serving unix:$tmp/sock\$"
		is "$(curl -sS --max-time 10 --unix-socket "$tmp/sock" http://any.host/healthz)" ok "a unix socket, whatever the Host"
		ends "$pid" unix
	done
}

check_activation() {
	: >"$tmp/passed.err"
	cat >"$tmp/pass.py" <<-'EOF'
		import os, socket, sys
		s = socket.socket()
		s.bind(("127.0.0.1", 0))
		s.listen()
		open(sys.argv[1], "w").write(str(s.getsockname()[1]))
		fd = s.detach()
		os.dup2(fd, 3) if fd != 3 else os.set_inheritable(3, True)
		os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
		os.execv(sys.argv[2], sys.argv[2:])
	EOF
	python3 "$tmp/pass.py" "$tmp/port" "$IOSONAR" serve -d "$name" 2>>"$tmp/passed.err" </dev/null &
	pid=$!
	pids+=("$pid")
	await_line "$tmp/passed.err" '^serving '
	port=$(cat "$tmp/port")
	is "$(curl -sS --max-time 10 "http://127.0.0.1:$port/healthz")" ok "a socket that systemd would pass"
	ends "$pid" passed
}

# An address that others reach, asked by loopback alone: who asks for a name of --allow-host is answered.
answer_to() { curl -sS --max-time 10 -o /dev/null -w '%{http_code}' -H "Host: $1" "http://127.0.0.1:$port/metrics"; }
check_names() {
	local host codes=''
	: >"$tmp/names.err"
	"$IOSONAR" serve -d "$name" --listen 0.0.0.0:0 --allow-host store1.example.org --allow-host 192.0.2.7 2>>"$tmp/names.err" </dev/null &
	pid=$!
	pids+=("$pid")
	await_line "$tmp/names.err" '^serving '
	port=$(sed -n 's,^serving http://0.0.0.0:\([0-9]*\)$,\1,p' "$tmp/names.err")
	for host in store1.example.org "store1.example.org:$port" STORE1.example.org 192.0.2.7 localhost "127.0.0.1:$port" \
		store1 store2.example.org store1.example.org.evil.example.org 192.0.2.8 0.0.0.0; do
		codes+=" $(answer_to "$host")"
	done
	is "$codes" " 200 200 200 200 200 200 403 403 403 403 403" "--allow-host: these names and loopback are answered, no others"
	ends "$pid" names
}

check_series() {
	serve few -d "$name" --series 1 --buckets 1 --by cgroup,path
	fio_load read 101 >/dev/null
	fio_load write 103 >/dev/null
	scrape >"$tmp/page"
	is "$(grep '^iosonar_commands_total' "$tmp/page" | sed 's/.* //' | sort -n | xargs)" "101 103" "--series 1: two series"
	is "$(grep -c '^iosonar_commands_total{device="other",op="other",cgroup="other"}' "$tmp/page")" 1 "one of them is other"
	is "$(grep -c iosonar_bpf_run "$tmp/page")" 0 "--by cgroup: no figure of programs that do not measure themselves"
	is "$(value iosonar_series_dropped '')" 1 "it holds one label set"
	is "$(grep -c "^iosonar_commands_total{device=\"$name\",.*,cgroup=\"$(sed -n 's/^0:://p' /proc/self/cgroup)\"}" "$tmp/page")" 1 \
		"the other one has its cgroup"
	is "$(grep -c '^iosonar_command_latency_seconds_bucket{device="other"' "$tmp/page")" 26 "--buckets 1: 25 and the last one"
	ends "$pid" few
}

# say_tap PREFIX FILE: its lines, which have no numbers, as cases of ours
say_tap() {
	local line
	while read -r line; do
		case $line in
		'ok - '*) ok 0 "$1 ${line#ok - }" ;;
		'not ok - '*) ok 1 "$1 ${line#not ok - }" ;;
		*) echo "# $line" ;;
		esac
	done <"$2"
}

# ---- hostile requests ----

# Beside the rest, with a server of its own: its slow peers take 10 s.
start_hostile() {
	serve hostile -d "$name" --keep 1m
	hostile=$pid hostile_port=$port
	timeout 120 python3 "$here/serve_requests.py" "$port" >"$tmp/hostile.tap" 2>&1 </dev/null &
	requests=$!
	pids+=("$requests")
}
check_hostile() {
	local code=0
	wait "$requests" || code=$?
	say_tap hostile: "$tmp/hostile.tap"
	is "$code" 0 "all hostile requests were sent"
	[ "$(grep -c '^ok - ' "$tmp/hostile.tap")" -ge 60 ]
	ok $? "at least 60 of them"
	port=$hostile_port
	is "$(curl -sS --max-time 10 "http://127.0.0.1:$port/healthz")" ok "it still answers"
	ends "$hostile" hostile
}

# ---- a stalled download ----

# Beside the rest, as above. A unix socket holds 0.2 MB: the capture has to be larger.
start_stalled() {
	: >"$tmp/stalled.err"
	"$IOSONAR" serve -d "$name" --keep 5m --listen "unix:$tmp/stalled" 2>>"$tmp/stalled.err" </dev/null &
	stalled=$!
	pids+=("$stalled")
	await_line "$tmp/stalled.err" '^keeping '
	fio_load read 100003 --ioengine=libaio --iodepth=16 >/dev/null
	sleep 0.2
	timeout 60 python3 "$here/serve_stalled.py" "$tmp/stalled" >"$tmp/stalled.tap" 2>&1 </dev/null &
	stalled_peer=$!
	pids+=("$stalled_peer")
}
check_stalled() {
	local code=0
	wait "$stalled_peer" || code=$?
	say_tap stalled: "$tmp/stalled.tap"
	is "$code $(grep -c '^ok - ' "$tmp/stalled.tap")" "0 6" "a stalled download: six cases"
	kill -TERM "$stalled"
	wait "$stalled"
}

# ---- a page that does not read ----

# Beside the rest, as above.
start_deaf() {
	timeout 120 python3 "$here/serve_deaf.py" "$IOSONAR" "$name" >"$tmp/deaf.tap" 2>"$tmp/deaf.err" </dev/null &
	deaf_peer=$!
	pids+=("$deaf_peer")
}
check_deaf() {
	local code=0
	wait "$deaf_peer" || code=$?
	say_tap "a page that does not read:" "$tmp/deaf.tap"
	is "$code $(grep -c '^ok - ' "$tmp/deaf.tap")" "0 5" "a page that does not read: five cases" || sed 's/^/# /' "$tmp/deaf.err"
}

# ---- Prometheus ----

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# ask QUERY [TIME]: the first value of the answer
ask() {
	curl -sS --max-time 10 --data-urlencode "query=$1" ${2:+--data-urlencode "time=$2"} "http://127.0.0.1:$prometheus_port/api/v1/query" |
		python3 -c 'import json, sys; r = json.load(sys.stdin)["data"]["result"]; print(r[0]["value"][1] if r else "none")'
}
# await_query QUERY VALUE: until a scrape has it
await_query() {
	for _ in $(seq 50); do
		[ "$(ask "$1")" = "$2" ] && return
		sleep 0.1
	done
}
start_prometheus() {
	serve prometheus -d "$name"
	scrape_with_prometheus
}
# scrape_with_prometheus: what serves at $port
scrape_with_prometheus() {
	served=$pid served_port=$port prometheus_port=$(free_port)
	cat >"$tmp/prometheus.yml" <<-EOF
		global: {scrape_interval: 1s, scrape_timeout: 1s}
		scrape_configs: [{job_name: iosonar, static_configs: [{targets: ['localhost:$served_port']}]}]
	EOF
	prometheus --enable-feature=exemplar-storage --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/tsdb.$prometheus_port" --log.level=warn \
		--web.listen-address="127.0.0.1:$prometheus_port" 2>"$tmp/prometheus.log" </dev/null &
	prometheus=$!
	pids+=("$prometheus")
	for _ in $(seq 100); do
		[ "$(ask up 2>/dev/null)" = 1 ] && break
		sleep 0.2
	done
}
# Every query of contrib's dashboard and alerts has data here.
check_contrib() {
	python3 "$here/serve_contrib.py" "$prometheus_port" "$here/../../contrib" "localhost:$served_port" "$name" >"$tmp/contrib.tap" 2>&1
	is "$?" 0 "contrib: all queries were asked"
	say_tap contrib: "$tmp/contrib.tap"
	is "$(promtool check rules "$here/../../contrib/prometheus/iosonar.rules.yml" 2>&1 | grep -c 'SUCCESS: 4 rules')" 1 "contrib: promtool accepts the alerts"
	if ! command -v systemd-analyze >/dev/null; then
		skip "contrib: the unit's exposure is below 3.0" "there is no systemd-analyze"
		return
	fi
	systemd-analyze security --offline=yes --threshold=30 --no-pager "$here/../../contrib/systemd/iosonar.service" >"$tmp/err" 2>&1
	is "$? $(grep -c Unknown "$tmp/err")" "0 0" "contrib: the unit's exposure is below 3.0"
}
# check_prometheus READS SECONDS RANGE: with so many reads in so many seconds; no sample of them is older than RANGE.
check_prometheus() {
	local p99 one own lost reads=$1 seconds=$2
	is "$(ask up)" 1 "Prometheus scrapes it" || sed 's/^/# /' "$tmp/prometheus.log"
	# latency counts the same commands, for a second opinion of their percentile
	timeout $((seconds + 60)) "$IOSONAR" latency -d "$name" -o json --out "$tmp/json" -- fio --name=load --filename="$disk" --direct=1 \
		--ioengine=libaio --iodepth=4 --rw=randread --bs=4k --size=16M --io_size=$((reads * 4096)) --norandommap --rate_iops=$((reads / seconds)) \
		--output-format=json --output="$tmp/fio" >"$tmp/out" 2>"$tmp/err" </dev/null
	sleep 2.2
	lost=$(ask 'sum(iosonar_lost_total{reason="completion"})') # as ends has them
	is "$(($(ask "iosonar_commands_total{device=\"$name\",op=\"read\"}") + lost))" \
		"$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["jobs"][0]["read"]["total_ios"])' "$tmp/fio")" \
		"it has as many reads as fio did"
	one="iosonar_commands_total{device=\"$name\",op=\"read\"}[$3]"
	is "$(($(ask "max_over_time($one) - min_over_time($one)") + lost))" "$reads" "its growth over time is the load"
	# As of the last sample there is nothing to extrapolate: the first one is 0.
	is "$(($(ask "increase($one)" "$(ask "timestamp(iosonar_commands_total{device=\"$name\",op=\"read\"})")") + lost))" "$reads" "increase() is the load"
	is "$(ask 'sum(iosonar_lost_total{reason!="completion"})')" 0 "and no loss of ours"
	is "$(ask "min_over_time(up[${seconds}s])")" 1 "no scrape failed"
	[ "$(ask "count_over_time(up[$3])")" -ge "$seconds" ]
	ok $? "it scraped each second: $(ask "count_over_time(up[$3])") times"
	p99=$(sed -n 's/^{"type":"latency","span":"total".*"p99_ns":\([0-9]*\).*/\1/p' "$tmp/json")
	python3 - "$(ask "histogram_quantile(0.99, iosonar_command_latency_seconds_bucket{device=\"$name\",op=\"read\"})")" "$p99" <<-'EOF'
		import sys
		got, own = float(sys.argv[1]) * 1e9, float(sys.argv[2])
		print("# p99: Prometheus %d ns, latency %d ns" % (got, own))
		# a bucket is at most 1/4 wider than the one below it; 1/32 is what latency's own buckets leave open
		sys.exit(not own / 1.25 / 1.04 <= got <= own * 1.25 * 1.04)
	EOF
	ok $? "histogram_quantile is within one bucket of latency's p99"
	own=$(ask iosonar_bpf_run_seconds_total)
	python3 -c 'import sys; own, run, cpus = map(float, sys.argv[1:]); sys.exit(not 0 < own < run * cpus)' "$own" "$(ps -o etimes= -p "$served")" "$(nproc --all)"
	ok $? "the programs' own time is there, and below the run's time on all CPUs ($own s of $(ps -o etimes= -p "$served" | xargs) s)"
	check_contrib
	is "$(ask "rate(iosonar_commands_total{device=\"$name\",op=\"read\"}[30s]) > bool 100")" 1 "a rate"
	ends "$served" prometheus
}

# Exemplars that Prometheus has stored: each names a record.
exemplars() {
	curl -sS --max-time 10 "http://127.0.0.1:$prometheus_port/api/v1/query_exemplars?query=iosonar_command_latency_seconds_bucket&start=$(($(date +%s) - 600))&end=$(($(date +%s) + 1))" |
		python3 -c 'import json, sys; print(*sorted(e["labels"]["record"] for s in json.load(sys.stdin)["data"] for e in s["exemplars"]))'
}
check_prometheus_exemplars() {
	serve stored -d "$name" --keep 1m
	scrape_with_prometheus
	fio_load read 1 >/dev/null
	for _ in $(seq 50); do
		[ -n "$(exemplars)" ] && break
		sleep 0.1
	done
	is "$(exemplars)" "$(scrape -H 'Accept: application/openmetrics-text;version=1.0.0' | sed -n 's/.* # {record="\([0-9]*\)"} .*/\1/p' | sort | xargs)" \
		"Prometheus stores the exemplars"
	ends "$served" stored
}

# ---- the run ----

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v losetup >/dev/null || skip_all "there is no losetup (util-linux)"
[ -e /dev/loop-control ] || skip_all "this kernel has no loop devices"
[ -r /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
[ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || skip_all "/dev/shm is no tmpfs"
for tool in fio curl python3 promtool prometheus; do
	command -v "$tool" >/dev/null || skip_all "there is no $tool"
done
"$IOSONAR" --version | grep -qw libmicrohttpd || skip_all "built without libmicrohttpd"
trap clean EXIT
trap "exit 1" HUP INT TERM
tmp=$(mktemp -d /dev/shm/iosonar-serve.XXXXXX) || skip_all "no room on /dev/shm"
truncate -s 16M "$tmp/disk"
disk=$(losetup -f --show "$tmp/disk" 2>"$tmp/err") || skip_all "no loop device: $(head -1 "$tmp/err")"
exec 9<>"$disk" && { flock -x 9 || true; }
! command -v udevadm >/dev/null || udevadm settle -t 5
name=${disk#/dev/}
dd if=/dev/zero of="$disk" bs=1M oflag=direct status=none 2>/dev/null

if [ -n "${SERVE_IOS:-}" ]; then
	check_soak
	echo "1..$nr"
	exit $((failed > 0))
fi
start_hostile
start_stalled
start_deaf
check_counts
check_privileges
check_keep
check_forgets
check_overflow
check_failures
check_gone
check_many_gone
check_many_pages
check_unix
check_activation
check_series
check_names
start_prometheus
check_prometheus 5003 8 1m
check_prometheus_exemplars
check_hostile
check_stalled
check_deaf
check_budget
echo "1..$nr"
exit $((failed > 0))
