#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# nvme_trace and nvme_latency: flags as abseil takes them, told apart from what is no flag. What they print is proved in
# guests (tests/vm/dropins.sh).

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	for name in nvme_trace nvme_latency; do ln -s "$iosonar" "$BATS_TEST_TMPDIR/$name"; done
	cd "$BATS_TEST_TMPDIR" || return
}

# refused WORDS COMMAND...: exit 2, nothing on stdout, one line that has these words.
refused() {
	local words=$1 status=0
	shift
	"$@" >out 2>err || status=$?
	if [ "$status" -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -qF -- "$words" err; then
		return 0
	fi
	echo "$*: exit $status"
	cat out err
	return 1
}

@test "flags of --help and of the manual are the same" {
	for name in nvme_trace nvme_latency; do
		"./$name" --help >help
		grep -q "^Usage: $name " help
		diff <(grep -oE '^  --[a-z_0-9]+' help | tr -d ' ' | sort) \
			<(grep -oE '^\.It Fl -[a-z_0-9]+' "$root/man/$name.8" | sed 's/^.It Fl /-/' | grep -vx -- --help | sort)
	done
}

@test "--x=1, --x 1, --x, --nox and one dash are taken" {
	./nvme_latency --ctrl_id=1 --nsid 2 -lat_min_us=3 --lat_shift -1 --split_size --nosplit_size --lbs512=true --help >out
	./nvme_trace --ctrl_id 0 --bpf_trace=false --help >out
	grep -q '^Usage' out
}

@test "what is wrong is said in one line, with the nearest right one" {
	refused "did you mean --ctrl_id?" ./nvme_trace --ctr_id=1
	refused "did you mean --lat_shift?" ./nvme_latency --lat_shif 1
	refused "--nsid=x: expected a whole number" ./nvme_latency --nsid=x
	refused "--nsid=-2: expected a whole number" ./nvme_latency --nsid -2
	refused "--nsid requires a number" ./nvme_latency --nsid
	refused "--split_size=2: expected true or false" ./nvme_latency --split_size=2
	refused "unexpected argument 'nvme0'" ./nvme_trace nvme0
	refused "--lat_shift=33: expected at most 32" ./nvme_latency --lat_shift=33
	refused "unknown flag '--nsid=1'" ./nvme_trace --nsid=1
}

@test "flags of abseil's log are accepted with a line each" {
	./nvme_latency --stderrthreshold=0 --v 1 --help >out 2>err
	[ "$(wc -l <err)" -eq 2 ]
	grep -q '^Usage' out
}
