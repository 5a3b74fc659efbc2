#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# class: what --list has is the same in each format; wrong names get the nearest right one; shells complete structs. What
# needs BTF is skipped where there is none.

setup() {
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
}

# Runs it with these words; leaves $status, $out, $err.
class() {
	status=0
	"$iosonar" class "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	out=$(cat "$tmp/out")
	err=$(cat "$tmp/err")
}

# refused CODE MESSAGE WORD...: exactly this line on stderr, nothing on stdout
refused() {
	local code=$1 message=$2
	shift 2
	class "$@"
	[ "$status" -eq "$code" ] || { echo "$*: exit $status, not $code: $err"; return 1; }
	[ -z "$out" ] || { echo "$*: stdout: $out"; return 1; }
	[ "$err" = "iosonar: $message" ] || { echo "$*: said '$err'"; return 1; }
}

needs_btf() { [ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"; }

@test "wrong words are refused" {
	refused 2 "class requires a STRUCT, e.g. bio, request or any other struct of the kernel" --list
	refused 2 "class takes only one STRUCT (also got 'request')" bio request --list
	refused 2 "class --list and --names take no COMMAND (got 'true')" bio --list -- true
	refused 2 "--names and --list cannot be combined" bio --list --names
	refused 2 "-d: unknown disk 'nvme77n1'; /sys/block lists the disks" bio -d /dev/nvme77n1
	needs_btf
	refused 2 "unknown struct 'reqest'; did you mean request?" --list reqest
	refused 2 "unknown struct 'q_q_q_q_q': this kernel and its modules do not have it" --list 'struct q_q_q_q_q'
	# its functions are all inline
	refused 2 "no function of this kernel takes or returns a pointer to struct hlist_bl_head" --list hlist_bl_head
	[[ $("$iosonar" class --list bio --module q_q_q_q 2>&1) == "iosonar: no module 'q_q_q_q' with BTF"* ]]
	class --list bio --only 'q_*'
	[ "$status" -eq 2 ]
	[[ $err =~ ^"iosonar: --only q_* matches none of the "[0-9]+" functions of struct bio"$ ]]
	refused 2 "--with q_q_* matches no kernel function" --list bio --with 'q_q_*'
}

@test "what decides what is recorded is refused with a capture" {
	local option
	for option in "--with x" "--module x" "--birth x" "--death x" --all --list --names --returns --addresses "--buffer 64Ki" \
		"--max-rate 1" --emit; do
		# shellcheck disable=SC2086 # an option and its value
		refused 2 "class -r does not support ${option%% *}: it applies to recording" -r tests/data/class.cap $option
	done
}

@test "-d without --fields of a disk wants a struct that has one" {
	needs_btf
	[ -d /sys/block ] && set -- /sys/block/*
	[ -e "$1" ] || skip "needs a disk"
	refused 2 "-d: the disk of struct file is unknown; name a member disk_name with --fields" file -d "${1##*/}"
}

@test "adding a page to a bio is on its way" {
	needs_btf
	class bio --list --only __bio_add_page -o csv
	[ "$status" -eq 0 ] || { echo "$err"; return 1; }
	grep -q '^__bio_add_page,,1,.*,spine,' "$tmp/out" || { echo "$out"; return 1; }
}

@test "text, JSON and CSV have the same functions" {
	needs_btf
	class bio --list -o csv
	[ "$status" -eq 0 ]
	[ "$(head -1 "$tmp/out")" = function,module,argument,attach,role,prototype ]
	cut -d, -f1 "$tmp/out" | sed 1d >"$tmp/csv"
	grep -qx submit_bio "$tmp/csv"
	LC_ALL=C sort -c "$tmp/csv"
	class bio --list
	diff <(sed 1d "$tmp/out" | cut -d' ' -f1) "$tmp/csv"
	grep -qE '^submit_bio +- +1 +.* +spine void submit_bio\(struct bio \*bio\)$' "$tmp/out"
	class bio --list -o json
	diff <(sed 's/.*"function":"\([^"]*\)".*/\1/' "$tmp/out") "$tmp/csv"
	takes=$(grep -c '"argument":"[1-9]' "$tmp/out")
	returns=$(grep -c '"argument":"ret"' "$tmp/out")
	[[ $(head -1 "$tmp/err") == "bio: $takes functions take it, $returns more only return it; "* ]]
}

# pfunct leaves out those that take a pointer to const only, and knows no modules.
@test "the functions are pfunct's" {
	needs_btf
	command -v pfunct >/dev/null || skip "pfunct is missing"
	for struct in bio request; do
		class $struct --list -o json
		sed -n 's/.*"function":"\([^"]*\)","module":null,"argument":"[1-9].*"prototype":"\([^"]*\)".*/\1 \2/p' "$tmp/out" |
			sed 's/(\*[a-z_]*)([^()]*)//g' | grep -E "[(,] *struct $struct \*[A-Za-z0-9_]*[,)]" | cut -d' ' -f1 | sort >"$tmp/ours"
		pfunct -F btf --class=$struct /sys/kernel/btf/vmlinux 2>/dev/null | sort >"$tmp/theirs"
		[ -s "$tmp/theirs" ]
		diff "$tmp/ours" "$tmp/theirs"
	done
}

@test "globs choose, and births stay" {
	needs_btf
	class bio --list -o csv --only 'submit_*' --not submit_bio_wait --with 'ksys_rea*'
	[ "$status" -eq 0 ]
	grep -q '^submit_bio,' "$tmp/out"
	[ "$(grep -cE '^(submit_bio_wait|blk_mq_submit_bio),' "$tmp/out")" -eq 0 ]
	grep -q '^bio_alloc_bioset,,ret,.*,birth,' "$tmp/out"
	grep -qE '^ksys_read(ahead)?,,,.*,with,' "$tmp/out"
}

# completes WORD...: what bash would offer for the last word, on one line
completes() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_iosonar
	echo "${COMPREPLY[*]}"
}

@test "bash completes structs" {
	needs_btf
	# shellcheck disable=SC1090
	source <("$iosonar" --completion bash)
	[ "$(completes "$iosonar" class nvme_req)" = nvme_request ]
	[[ " $(completes "$iosonar" class request_qu) " == *" request_queue "* ]]
	[ "$(completes "$iosonar" class --on)" = --only ]
}
