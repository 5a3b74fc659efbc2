#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Does a replay give back what it took? Command lines over all views, formats and kinds of capture, damaged ones among them,
# each in a process of its own with the search for leaks on: the rest of the cli tier runs without it, because on arm64 it
# takes 4 s at each exit. Needs a build with sanitizers, no root.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	cd "$root/tests/data" || return
	ASAN_OPTIONS=help=1 "$iosonar" --version 2>&1 | grep -q detect_leaks || skip "this build has no sanitizers"
}

# lines: EXIT-CODE WORD...
lines() {
	cat <<-'END'
		0 latency -r nvme.cap --hist
		0 latency -r v1-stages.cap -o json --by dev,op,size,cpu,cgroup,comm --hist
		0 latency -r nvme.cap -r stacks.cap -o csv --lat_min_us 100 --fail-if count>1000000
		0 trace -r errors.cap -o json --split
		3 trace -r v1-zstd.cap -o csv --if lat>10us
		0 layers -r v1-stages.cap -o json --at bio
		0 slow -r stacks.cap --top 5 --stack both
		0 stacks -r stacks.cap -o svg --stack both
		0 pattern -r v1-stages.cap -o fio --by comm
		0 errors -r hang.cap -o json
		3 cache -r cache.cap --then-io -o json
		0 calls -r calls.cap --graph -o json
		0 waits -r waits.cap -r waits.cap --slow 5 -o json --by dev,file,comm,cgroup
		0 waits --async -r requests.cap -r requests.cap --slow 5 -o json --by dev,file,comm,cgroup
		0 calls -r calls.cap -o chrome
		0 class -r class.cap -o html
		0 blame -r blame.cap -o html
		0 why -r why.cap -r cache.cap -r waits.cap -p 100 -o json
		0 class -r class.cap -o dot --if bi_size>0
		0 report -r stacks.cap --out OUT
		0 diff before.cap after.cap -o json --fail-if p50>+500%
		0 diff calls.cap calls.cap --graph
		0 info --verify v1.cap v1-stages.cap -o json
		0 export -r v1-stages.cap -o perfetto --out OUT
		0 export -r returned.cap -o blktrace --out OUT
		0 export -r nvme.cap -o openmetrics --anonymous
		0 export -r before.cap -o hdr -i 100ms
		0 export -r returned.cap -o fio
		0 sql nvme.cap stacks.cap -o csv SELECT dev,count(*),hist(lat_ns) FROM io GROUP BY 1
		0 sql class.cap SELECT * FROM call LIMIT 3
		2 sql nvme.cap SELECT nothing FROM io
		3 export -r edges.cap -r nvme.cap -o csv
		3 trace -r CUT -o json
		3 sql CUT SELECT count(*) FROM io
		1 calls -r BAD -o json
		2 trace -r nvme.cap --if lat>>1
	END
}

# try NUMBER EXIT-CODE WORD...: says what is wrong with it, or nothing.
try() {
	local number=$1 want=$2 status=0
	shift 2
	ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=max_leaks=5 timeout 120 "$iosonar" "$@" >"$tmp/$number.out" 2>"$tmp/$number.err" </dev/null || status=$?
	! grep -aqE 'LeakSanitizer|AddressSanitizer' "$tmp/$number.err" || {
		echo "iosonar $*: $(grep -aE 'Sanitizer|^ +#[0-6] ' "$tmp/$number.err" | head -20)"
		return
	}
	[ "$status" -eq "$want" ] || echo "iosonar $*: exit $status, not $want: $(tail -3 "$tmp/$number.err")"
}

@test "25 replays and more leave no memory behind" {
	head -c 9000 v1.cap >"$tmp/cut"
	sed 's/submit_bio_noacct/Xubmit_bio_noacct/' calls.cap >"$tmp/bad"
	# They run at the same time: each has an OUT of its own.
	lines | awk -v tmp="$tmp" '{ sub("CUT", tmp "/cut"); sub("BAD", tmp "/bad"); sub("OUT", tmp "/out-" NR); print NR, $0 }' >"$tmp/lines"
	[ "$(wc -l <"$tmp/lines")" -ge 25 ]
	export iosonar tmp
	export -f try
	# One argument is what stands behind SELECT; the rest are words.
	# shellcheck disable=SC2016 # of the shell that is started
	xargs -P"$(nproc)" -d '\n' -n1 bash -c 'read -r number want words <<<"$1"
		sql=${words#*SELECT}
		if [ "$sql" != "$words" ]; then
			read -ra list <<<"${words%%SELECT*}"
			try "$number" "$want" "${list[@]}" "SELECT$sql"
		else
			read -ra list <<<"$words"
			try "$number" "$want" "${list[@]}"
		fi' try <"$tmp/lines" >"$tmp/wrong" 2>&1
	cat "$tmp/wrong"
	[ ! -s "$tmp/wrong" ]
}
