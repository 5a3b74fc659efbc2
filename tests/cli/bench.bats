#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# tests/bench/report and cited: of made-up results the report has every table, and cited finds in it all that README.md and the
# manuals cite. Nothing is measured.

bats_require_minimum_version 1.5.0

setup() {
	results=$BATS_FILE_TMPDIR
	report=$results/benchmarks.md
}

# every_tool: the names that tests/bench/run uses.
every_tool() { bash -c 'iosonar=true; . tests/bench/tools.sh; tools; [ "$1" = one ] || stage_tools' - "${1:-}"; }

# guest ARCH MISSED: as `run guest ARCH` leaves it; the tracepoint misses so many of 1,009 reads.
guest() {
	local form tool n=1000
	echo "# measured 0123456789ab 2026-01-01"
	echo "# kernel 6.12.1-$1"
	for tool in $(every_tool one); do
		for form in all one; do
			echo "# cost $form $tool $((n += 7)) 2"
		done
	done
	for form in none mq-deadline; do
		for tool in $(bash -c '. tests/bench/tools.sh; floors "$1"' - $form) $(every_tool); do
			echo "# cost $form $tool $((n += 7)) 2"
		done
	done
	echo "# cost beside floor-beside 301 4"
	echo "# cost beside latency 555 4"
	for tool in none floor iosonar-cache; do
		echo "# cachecost $tool $((n += 7)) $((100 * n))"
	done
	for tool in nothing function_graph bpftrace floor-calls iosonar; do
		echo "# tracecost calls $tool $((n += 700)) 1"
		echo "# tracecost class $tool $((n += 700)) 1"
	done
	for tool in $(bash -c '. tests/bench/tools.sh; wait_tools'); do
		echo "# waitcost $tool read $((n += 700)) 3"
		echo "# waitcost $tool fsync $((n += 700)) 20"
	done
	echo "# waitstart 70"
	for tool in nothing $(bash -c '. tests/bench/tools.sh; read_tools'); do
		echo "# readcost $tool $((n += 700))"
	done
	for tool in fio latency latency-again trace bpftrace-raw; do
		echo "# beside $tool 1009"
	done
	echo "# beside bpftrace-classic $((1009 - $2))"
}

# host ARCHITECTURE: as `run host` leaves it; no tool takes time of its own.
host() {
	local tool n=100
	echo "# measured 0123456789ab 2026-01-01"
	echo "# machine Linux 6.18.1, $1, 2 CPUs (a model)"
	echo "# seconds 2"
	echo "# start 9100 8200"
	echo "1 none 200000 400000 0 0 400000 0 0 400000"
	for tool in $(every_tool) trace-w latency-one; do
		echo "1 $tool 200000 400000 0 0 400000 $((400000 * (n += 50))) 800000 400000"
	done
}

events() {
	local what
	echo "# measured 0123456789ab 2026-01-01"
	for what in "count, by comm" "count, by probe" histogram "histogram, by comm" start memory; do
		printf '%s\tiosonar\t700\n%s\tbpftrace\t1400\n' "$what" "$what"
	done
}

replay() {
	local view
	echo "# machine Linux 6.18.1, x86_64, 2 CPUs (a model)"
	for view in latency "trace -o text" "trace -o csv" "trace -o json" pattern report "sql, 4 columns"; do
		printf '%-22s %6.2f M records/s %5.0f ns/record %5.2f  iosonar\n' "$view" 7 143 1
	done
	printf '%-22s %5.2f times as fast with -j 2: %.3f s, then %.3f s\n' latency 1.85 0.37 0.2 "trace -o csv" 1.5 0.9 0.6
}

analysis() {
	local view
	echo "# machine Linux 6.18.1, x86_64, 2 CPUs (a model)"
	echo "# measured 0123456789ab 2026-01-01"
	for view in {blame,why,drives}{,", 500 tasks",", stages"}; do
		case $view in why,\ s*) set -- 1.9 ;; why) set -- 2.00 ;; *) set -- 7 ;; esac
		printf '%-22s %6.2f M records/s %5.0f ns/record %5.2f  iosonar\n' "$view" "$1" 143 1
	done
}

setup_file() {
	results=$BATS_FILE_TMPDIR
	mkdir "$results/peers"
	echo "libbpf-tools 1 (Debian sid)" >"$results/peers/versions"
	guest arm64 17 >"$results/guest-arm64.tap"
	guest amd64 19 >"$results/guest-amd64.tap"
	host x86_64 >"$results/host.tsv"
	events >"$results/events.tsv"
	replay >"$results/replay.txt"
	analysis >"$results/analysis.txt"
	echo "# start 128 128 64 242 48: CPUs, online, drives, MiB, ms of CPU time" >"$results/tables.txt"
	tests/bench/report "$results" "$results/peers" >"$results/benchmarks.md"
}

@test "a report has every table, and names the architecture that the host is not" {
	grep -qF "| bpftrace, tracepoint | 992 | 17 | 990 | 19 |" "$report"
	grep -qF -- "- guests: Linux 6.12.1-arm64 and 6.12.1-amd64, " "$report"
	grep -qF -- "- host: Linux 6.18.1, x86_64, 2 CPUs (a model), " "$report"
	grep -q "nanoseconds on arm64[.]$" "$report"
}

@test "each goal is there, met or missed" {
	grep -qF "| iosonar latency, a disk beside that is not NVMe | 600 | 555 | met | 555 | met | four empty programs | 301 | 301 |" "$report"
	grep -q "^| iosonar layers, none | 1000 | [0-9]* | \*\*missed\*\* | .* | seven programs that read the clock | [0-9]* | [0-9]* |$" "$report"
	grep -qE "^\| iosonar layers, mq-deadline \| .* \| eight programs that read the clock \| [0-9]+ \| [0-9]+ \|$" "$report"
	grep -qE "^\| iosonar stacks, none \| .* \| four programs that read the clock \| [0-9]+ \| [0-9]+ \|$" "$report"
	grep -qE "^\| two programs that submit the time \| [0-9]+ \| [0-9]+ \| [0-9]+ \| [0-9]+ \| 3.00 \| 3.00 \| 1.50 \| 1.50 \|$" "$report"
	for what in "iosonar "{latency,trace,record} "iosonar "{layers,stacks,slow}", none" "iosonar layers, mq-deadline" \
		"iosonar slow --stack none, none" {arm64,x86_64}": class to "{bpftrace,function_graph} "count, by comm, to bpftrace"; do
		grep -q "^| $what | [0-9.]* | .*\(met\|missed\)" "$report" || { echo "no goal: $what"; return 1; }
	done
	grep -qE "^\| x86_64: waits, a read of one I/O \| 3000 \| [0-9]+ \| \*\*missed\*\* \|$" "$report"
	grep -qF "| arm64: waits is attached: ms, at an instruction a nanosecond | 80 | 70 | met |" "$report"
	grep -qE "^\| perf record, issues and ends \| [0-9]+ \| [0-9]+ \| 4200 \| 4200 \| 1.00 \| 1.00 \| 0.86 \| 0.86 \|$" "$report"
	grep -qF "| pattern | 6 | 7.00 | met |" "$report"
	grep -qF "| sql, 4 columns | 4 | 7.00 | met |" "$report"
	grep -qF "| trace -o csv | 12 | 7.00 | **missed** |" "$report"
	grep -qF "| why | 2.0 | 2.00 | met |" "$report"
	grep -qF "| why, stages | 2.0 | 1.90 | **missed** |" "$report"
	grep -qF "| drives, stages | 2.0 | 7.00 | met |" "$report"
	grep -qF "| tables of latency on 128 CPUs with 64 drives: MiB | 256 | 242 | met |" "$report"
	grep -qF "| the same: ms of CPU time until they are made | 150 | 48 | met |" "$report"
	grep -qF "| iosonar trace -w: us of CPU time of its process per record | 0.06 | 0.000 | met |" "$report"
	grep -qF "| a whole start of latency on this machine: ms until its COMMAND runs | 150 | 9.1 | met |" "$report"
	grep -qF "| the same, and the end: ms of CPU time | 150 | 8.2 | met |" "$report"
	grep -qF "| latency | 1.7 | 1.85 | met | 0.370 | 0.200 |" "$report"
	grep -qF "| trace -o csv | 1.7 | 1.50 | **missed** | 0.900 | 0.600 |" "$report"
	grep -qE "^\| latency, two jobs to one job on one CPU \| 1.10 \| 0\.[0-9]* \| met" "$report"
	! grep -E '(met|missed\*\*) \|' "$report" | grep -E '\| *\||\| (-|-?nan|inf) \|' || return 1
}

@test "the section of one architecture has its tools, goals and floors" {
	tests/bench/report_guest "$results" amd64 >"$results/section.md"
	grep -qF "## Instructions on x86_64" "$results/section.md"
	grep -q "^Measured 0123456789ab 2026-01-01, in a guest of Linux 6.12.1-amd64" "$results/section.md"
	grep -qF "| iosonar latency, a disk beside that is not NVMe | 600 | 555 | met | four empty programs | 301 |" "$results/section.md"
	grep -q "^| iosonar layers, none | 1000 | [0-9]* | \*\*missed\*\* | seven programs that read the clock | [0-9]* |$" "$results/section.md"
	[ "$(grep -c '^| \(biosnoop\|iosonar stacks\) | [0-9]* | 2 | [0-9]* | [0-9.]* | [0-9.]* |$' "$results/section.md")" -eq 6 ]
	[ "$(grep -c '^| x86_64: .* \(met\|\*\*missed\*\*\) |$' "$results/section.md")" -eq 10 ]
	grep -q "at the classic one 19[.]$" "$results/section.md"
	sed '/^# beside bpftrace-classic/d' "$results/guest-amd64.tap" >"$results/guest-none.tap"
	run -1 tests/bench/report_guest "$results" none
	[[ $output == *"not whole"* ]]
}

@test "the section of analysis has each view, and none that was not measured" {
	tests/bench/report_analysis "$results" >"$results/section.md"
	grep -qx "## Records a second that are analysed" "$results/section.md"
	[ "$(grep -cE '^\| (why|blame|drives)(, stages)? \| 2.0 \| [0-9.]+ \| (met|\*\*missed\*\*) \|$' "$results/section.md")" -eq 6 ]
	mkdir "$results/part"
	sed '/^drives, stages/d' "$results/analysis.txt" >"$results/part/analysis.txt"
	run -1 tests/bench/report_analysis "$results/part"
	[[ $output == *"does not have 'drives, stages'"* ]]
}

@test "the sections of this machine and of replay need nothing of a guest" {
	mkdir "$results/here"
	cp "$results"/{host.tsv,tables.txt,replay.txt} "$results/here/"
	tests/bench/report_host "$results/here" >"$results/section.md"
	grep -q "^Measured 0123456789ab 2026-01-01 on Linux 6.18.1, x86_64, 2 CPUs (a model)[.]" "$results/section.md"
	grep -qE "^\| iosonar trace -w \| [0-9]+ \| 2 \|" "$results/section.md"
	sed -i '/^1 biosnoop /d; s/^# seconds/# absent biosnoop failed to attach: -2\n&/' "$results/here/host.tsv"
	tests/bench/report_host "$results/here" >"$results/section.md"
	grep -qF 'biosnoop does not start on this kernel: '"\`failed to attach: -2\`." "$results/section.md"
	grep -qF "| trace to biosnoop | 0.20 | - | not measured |" "$results/section.md"
	tests/bench/report_replay "$results/here" >"$results/section.md"
	grep -qF "| pattern | 6 | 7.00 | met |" "$results/section.md"
	sed -i '/-j 2/d' "$results/here/replay.txt"
	run -1 tests/bench/report_replay "$results/here"
	[[ $output == *"no view with -j 2"* ]]
}

@test "cited finds in a report all that is cited" {
	run -1 tests/bench/cited "$report" # these figures are made up: no text has them
	[[ $output == *"README.md has to say: counted 1,009 of 1,009 reads at the same time"* ]]
	[[ $output == *"README.md has to say: missed 17 of them"* ]]
	[[ $output == *"README.md has to say: | \`iosonar trace\` | 1,035 |"* ]]
	[[ $output == *"README.md has to say: | \`iosonar trace\` | 250 |"* ]]
	[[ $output != *"cited: $report"* ]]
	sed '/^| bpftrace, tracepoint /d' "$report" >"$results/without.md"
	run -1 tests/bench/cited "$results/without.md"
	[[ $output == *"does not say what bpftrace's tracepoint counted"* ]]
}

@test "results without the machine that they are from make no report" {
	sed -i '/^# machine/d' "$results/host.tsv"
	run -1 tests/bench/report "$results" "$results/peers"
	[[ $output == *"host.tsv does not say on which machine"* ]]
	sed -i '/^# kernel/d' "$results/guest-amd64.tap"
	run -1 tests/bench/report "$results" "$results/peers"
	[[ $output == *"guest-amd64.tap is not whole"* ]]
}
