# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount large
# kernels: none
# timeout: 120
#
# cache_cost: what watching the page cache adds to a read that finds everything in it, in instructions of the guest: whole
# reads are timed, with and without; with libbpf-tools' cachestat too, if `make bench` brought it. The bounds are for 6.12 on
# arm64 and x86_64; on other kernels the figure is printed, not judged. Lines "cachecost WHAT SMALL LARGE" are for tests/bench/report.

f=/tmp/file # on tmpfs: its programs are those of other files, at a function of its own
dd if=/dev/zero of=$f bs=1M count=2 2>/dev/null
# Per cent of nothing, of a small read: cache, and with tasks or files. A read is twice as long on x86_64.
bounds=''
case $(uname -rm) in
6.12.*aarch64) bounds='130 150' ;;
6.12.*x86_64) bounds='114 124' ;;
esac

# per_read BS N: instructions, the least of five.
per_read() { for _ in 1 2 3 4 5; do pages - time $f "$1" "$2"; done | sort -n | head -1; }

# bounded NAME WITHOUT WITH PERCENT: WITH is at most so much of WITHOUT.
bounded() {
	ratio=$(($3 * 1000 / $2))
	note "$1: $2 without, $3 with: $((ratio / 1000)).$(printf %03d $((ratio % 1000)))"
	if [ -z "$bounds" ]; then
		skip "$1: within its bound" "bounds are for 6.12 on arm64 and x86_64"
		return
	fi
	[ $(($3 * 100)) -le $(($2 * $4)) ] && [ "$3" -gt "$2" ]
	ok $? "$1: at most $4 %"
}

small=$(per_read 4096 2000)
large=$(per_read 1048576 20)
note "cachecost none $small $large"
# Programs at start and end of a read cost no less than programs that do nothing: 12 to 16 % on arm64, 6 % on x86_64. The file is on tmpfs.
floor fentry:shmem_file_read_iter fexit:shmem_file_read_iter 2>/tmp/floor.err &
floor=$!
sleep 3
kill -0 $floor
ok $? "empty programs at start and end" || note "$(cat /tmp/floor.err)"
note "cachecost floor $(per_read 4096 2000) $(per_read 1048576 20)"
kill $floor
for options in "" "--by pid" "--by pid,file"; do
	most=${bounds#* }
	[ -n "$options" ] || most=${bounds% *} # the short way
	# shellcheck disable=SC2086 # words
	started cache /tmp/out -i 600s $options
	small_with=$(per_read 4096 2000)
	large_with=$(per_read 1048576 20)
	measured
	ok $? "cache $options: exits 0"
	note "cachecost iosonar-cache$(echo "$options" | tr -d ' ') $small_with $large_with"
	bounded "warm reads of 4 KiB, cache $options" "$small" "$small_with" "$most"
	bounded "warm reads of 1 MiB, cache $options" "$large" "$large_with" 105
done
if [ -x /files/peers/cachestat ]; then
	/files/peers/cachestat 600 >/tmp/peer 2>&1 &
	peer=$!
	sleep 5
	kill -0 $peer
	ok $? "cachestat runs" || note "$(cat /tmp/peer)"
	note "cachecost cachestat $(per_read 4096 2000) $(per_read 1048576 20)"
	kill $peer
fi
done_testing
