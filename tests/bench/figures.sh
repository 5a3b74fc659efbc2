# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # the caller sets results
#
# figures.sh: figures of `run guest` as the reports need them, and the goals for them. Sourced by the reports, which set
# results.

# What functions below that look into a guest's results take: arm64's, or those of the architecture in front of them.
arch=arm64
of() { local arch=$1; shift; "$@"; }

# spread: of numbers on standard input, "median (least-greatest)".
spread() { sort -n | awk '{ v[NR] = $1 } END { if (NR) printf v[1] == v[NR] ? "%s\n" : "%s (%s-%s)\n", v[int((NR + 1) / 2)], v[1], v[NR] }'; }
median() { sort -n | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'; }
# ratio A B: "-" where there is none.
ratio() { awk -v a="${1:--}" -v b="${2:--}" 'BEGIN { if (a == "-" || b == "-" || b + 0 == 0) print "-"; else printf "%.2f\n", a / b }'; }

# in_guest all|one|none|mq-deadline TOOL FIELD: 4 is instructions, 5 runs.
in_guest() { awk -v form="$1" -v tool="$2" -v field="$3" '$2 == "cost" && $3 == form && $4 == tool { print $(field + 1) }' "$results/guest-$arch.tap"; }
guest_tools() { awk '$2 == "cost" && !seen[$4]++ { print $4 }' "$results/guest-$arch.tap"; }

# net FORM TOOL: without what empty programs cost.
net() { echo $(($(guest_median "$1" "$2") - $(guest_median all floor) * $(in_guest "$1" "$2" 5 | median) / 2)); }
guest_ratio() { ratio "$(guest_median "$1" "$2")" "$(guest_median "$1" "$3")"; }

# verdict WHAT OURS THEIRS LIMIT
verdict() {
	awk -v what="$1" -v a="$2" -v b="$3" -v limit="$4" 'BEGIN {
		printf "| %s | %.2f | %.3f | %s |\n", what, limit, a / b, a / b <= limit ? "met" : "**missed**" }'
}
guest_median() { in_guest "$1" "$2" 4 | median; }
guest_verdicts() {
	verdict "$1: latency to biolatency -D, all disks" "$(guest_median all latency)" "$(guest_median all biolatency-D)" 0.30
	verdict "$1: latency to biolatency -D, with \`-d\`" "$(guest_median one latency)" "$(guest_median one biolatency-D)" 0.30
	verdict "$1: trace to biosnoop, all disks" "$(guest_median all trace)" "$(guest_median all biosnoop)" 0.20
	verdict "$1: trace to biosnoop, with \`-d\`" "$(guest_median one trace)" "$(guest_median one biosnoop)" 0.20
}
cache_verdicts() {
	verdict "$1: a read of 4 KiB under cache" "$(in_cache iosonar-cache 2)" "$(in_cache none 2)" 1.20
	verdict "$1: a read of 1 MiB under cache" "$(in_cache iosonar-cache 3)" "$(in_cache none 3)" 1.05
}

class_verdicts() {
	verdict "$1: class to bpftrace" "$(more class iosonar)" "$(more class bpftrace)" 0.50
	verdict "$1: class to function_graph" "$(more class iosonar)" "$(more class function_graph)" 1.00
}

# kept FIGURE LIMIT: "met" or "missed".
kept() { awk -v a="$1" -v limit="$2" 'BEGIN { print a <= limit ? "met" : "**missed**" }'; }

# beside TOOL: what it counted when the tools ran at once; missed TOOL: the difference to fio.
beside() { awk -v tool="$1" '$2 == "beside" && $3 == tool { print $4 }' "$results/guest-$arch.tap"; }
missed() { echo $(($(beside fio) - $(beside "$1"))); }

commit() { sed -n 's/^# measured //p' "$1" | head -1; }
# release: of the guest's kernel.
release() { sed -n 's/^# kernel //p' "$results/guest-$arch.tap" | head -1; }

# host_machine: as `run host` found it: "Linux RELEASE, ARCHITECTURE, N CPUs (MODEL)".
host_machine() { sed -n 's/^# machine //p' "$results/host.tsv"; }

# in_cache WHAT FIELD: instructions of a read, 2 of 4 KiB, 3 of 1 MiB.
in_cache() { awk -v what="$1" -v field="$2" '$2 == "cachecost" && $3 == what { print $(field + 2) }' "$results/guest-$arch.tap" | tail -1; }
cache_ratio() { ratio "$(in_cache "$1" "$2")" "$(in_cache none "$2")"; }

# in_trace calls|class TOOL FIELD: 3 is instructions of a read, 4 calls seen.
in_trace() { awk -v what="$1" -v tool="$2" -v field="$3" '$2 == "tracecost" && $3 == what && $4 == tool { print $(field + 2) }' "$results/guest-$arch.tap" | tail -1; }

# trace_title calls|class TOOL
trace_title() {
	case $2 in
	iosonar) echo "iosonar $1" ;;
	*) title "$2" ;;
	esac
}
# more calls|class TOOL: instructions that it adds to a read.
more() { echo $(($(in_trace "$1" "$2" 3) - $(in_trace "$1" nothing 3))); }
more_ratio() { ratio "$(more "$1" "$2")" "$(more "$1" "$3")"; }

# in_read TOOL: instructions of a whole read.
in_read() { awk -v tool="$1" '$2 == "readcost" && $3 == tool { print $4 }' "$results/guest-$arch.tap" | tail -1; }
read_tools_seen() { awk '$2 == "readcost" && !seen[$3]++ { print $3 }' "$results/guest-$arch.tap"; }
# more_of_read TOOL; more_read_ratio TOOL TOOL
more_of_read() { echo $(($(in_read "$1") - $(in_read nothing))); }
more_read_ratio() { ratio "$(more_of_read "$1")" "$(more_of_read "$2")"; }

# in_wait TOOL read|fsync FIELD: 3 is instructions of a call, 4 runs of programs.
in_wait() { awk -v tool="$1" -v call="$2" -v field="$3" '$2 == "waitcost" && $3 == tool && $4 == call { print $(field + 2) }' "$results/guest-$arch.tap" | tail -1; }
wait_tools_seen() { awk '$2 == "waitcost" && !seen[$3]++ { print $3 }' "$results/guest-$arch.tap"; }
# in_start: milliseconds until waits is attached, at a nanosecond an instruction.
in_start() { awk '$2 == "waitstart" { print $3 }' "$results/guest-$arch.tap" | tail -1; }
wait_verdicts() {
	echo "| $1: waits, a read of one I/O | 3000 | $(in_wait waits read 3) | $(kept "$(in_wait waits read 3)" 3000) |"
	echo "| $1: waits is attached: ms, at an instruction a nanosecond | 80 | $(in_start) | $(kept "$(in_start)" 80) |"
}

# instruction_goals: FORM TOOL LIMIT FLOOR, where FLOOR cannot be had for less.
instruction_goals() {
	cat <<-EOF
		all latency 430 floor
		beside latency 600 floor-beside
		all trace 600 floor
		all record 600 floor
		none layers 1000 floor-clocks
		mq-deadline layers 1180 floor-inserted
		none stacks 2900 floor-few
		none slow 3500 floor-clocks
		none slow-alone 1600 floor-clocks
	EOF
}
# of_form FORM: what the name of such a goal ends with.
of_form() {
	case $1 in
	beside) echo ", a disk beside that is not NVMe" ;;
	none | mq-deadline) echo ", $1" ;;
	esac
}

# whole FILE: a guest's results with all that the reports need.
whole() { grep -q '^# kernel ' "$1" && grep -q '^# cost none floor-few [0-9]' "$1" && grep -q '^# waitstart [0-9]' "$1" && grep -q '^# beside bpftrace-classic [0-9]' "$1"; }
