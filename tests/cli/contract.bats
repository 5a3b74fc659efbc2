#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# tests/contract: what the programs rely on in each kernel is what tests/contract.d keeps, and a change is one line. Kernels
# that guests have booted here are looked at; none is fetched.

setup() {
	tmp=$BATS_TEST_TMPDIR
	arch=$(dpkg --print-architecture 2>/dev/null)
	cache=${IOSONAR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/iosonar}/kernels
	kernels=()
	for kernel in 5.10 6.1 6.1-cloud 6.12 6.18 7.2; do
		[ ! -e "$cache/$kernel-$arch/release" ] || [ ! -e "tests/contract.d/$kernel-$arch.txt" ] || kernels+=("$kernel")
	done
	[ -e build/bpf/io.bpf.o ] || skip "nothing is built in build"
}

needs_kernel() { [ "${#kernels[@]}" -gt 0 ] || skip "no guest of $arch has booted here, or tests/contract.d has none of $arch"; }

# changed SED: the lines of a comparison with a copy of what is kept, changed by sed.
changed() {
	sed "$1" "tests/contract.d/$kernel-$arch.txt" >"$tmp/kept"
	cmp -s "$tmp/kept" "tests/contract.d/$kernel-$arch.txt" && { echo "sed changed nothing" >&2 && return 1; }
	local status=0
	tests/contract --kept "$tmp/kept" "$kernel" >"$tmp/out" || status=$?
	[ "$status" -eq 1 ]
	[ "$(wc -l <"$tmp/out")" -eq 2 ] # the change and the sum
	tail -1 "$tmp/out" | grep -q ', 1 changes$'
	head -1 "$tmp/out"
}

@test "what the programs rely on is what is kept" {
	needs_kernel
	tests/contract "${kernels[@]}" >"$tmp/out" || { cat "$tmp/out"; return 1; }
	[ "$(grep -c ', 0 changes$' "$tmp/out")" -eq "${#kernels[@]}" ]
}

@test "an event, a field, a function and an operation that changed are one line each" {
	needs_kernel
	kernel=${kernels[0]}
	[ "$(changed 's/^event block_rq_insert: .*/event block_rq_insert: (int)/')" = "$kernel: event block_rq_insert: was (int), is $(sed -n 's/^event block_rq_insert: //p' "tests/contract.d/$kernel-$arch.txt")" ]
	[ "$(changed 's/^\(field request.tag\): int/\1: absent/')" = "$kernel: field request.tag: was absent, is int" ]
	[[ $(changed 's/^\(function vfs_read: .*\), loff_t \*)/\1)/') == "$kernel: function vfs_read: was ssize_t (struct file *, char *, size_t), is ssize_t (struct file *, char *, size_t, loff_t *)" ]]
	[[ $(changed 's/^\(enum req_op.*\) REQ_OP_DISCARD/\1/') == "$kernel: enum req_op"*" REQ_OP_DISCARD "* ]]
	[[ $(changed '/^field request.timeout:/d') == "$kernel: field request.timeout: programs rely on it now: unsigned int" ]]
	# shellcheck disable=SC2016 # it is sed's
	[ "$(changed '$a field request.gone: int')" = "$kernel: field request.gone: no program relies on it any more" ]
}

@test "the list has every event and function that a section of an object names" {
	local object section name
	tests/contract --print "${kernels[0]:-/sys/kernel/btf/vmlinux}" >"$tmp/list" || skip "no kernel to look at"
	for object in build/bpf/*.bpf.o; do
		readelf -SW "$object" | grep -oE '\] (raw_tp|tp_btf|fentry|fexit|kprobe|kretprobe)/[a-z0-9_]+' || true
	done | cut -c3- | sort -u >"$tmp/sections"
	[ "$(wc -l <"$tmp/sections")" -gt 50 ]
	while IFS=/ read -r section name; do
		case $section in raw_tp | tp_btf) section=event ;; *) section=function ;; esac
		grep -q "^$section $name: " "$tmp/list" || { echo "no $section $name"; return 1; }
	done <"$tmp/sections"
}

# The lines of a struct, each with one space where there are more, and no const.
struct_in_c() { sed -n "/^struct $1 {/,/^}/p" "$tmp/all.h" | sed 's/^[[:space:]]*//; s/\<\(const\|volatile\) //g'; }

@test "bpftool finds no field in the objects that the list lacks, and the same shapes" {
	local btf=/sys/kernel/btf/vmlinux kind name field args nr=0
	[ -r "$btf" ] || skip "this kernel has no BTF"
	bpftool gen min_core_btf "$btf" "$tmp/least" build/bpf/*.bpf.o || skip "this bpftool does not follow relocations"
	tests/contract --print "$btf" >"$tmp/list"
	bpftool btf dump file "$tmp/least" | awk '/^\[/ { gsub("\047", ""); kind = $2; name = $3 } /^\t/ { gsub("\047", ""); print kind, name, $1 }' >"$tmp/fields"
	while read -r kind name field; do
		[ "$kind" != ENUM ] && [ "$field" != "(anon)" ] || continue
		nr=$((nr + 1))
		grep -qE "^field ($name|.*)\.$field(\.|:)" "$tmp/list" || { echo "no $kind $name.$field"; return 1; }
	done <"$tmp/fields"
	[ "$nr" -gt 80 ]
	bpftool btf dump file "$btf" format c >"$tmp/all.h"
	while IFS=: read -r name args; do
		grep -qF "typedef void (*btf_trace_${name#event })(void *, ${args# (};" < <(sed 's/\<const //g' "$tmp/all.h") || { echo "$name is no $args"; return 1; }
	done < <(grep '^event' "$tmp/list" | grep -v ': absent$')
	for name in request bio inode; do
		struct_in_c $name >"$tmp/$name"
		while read -r field args; do
			grep -qxF "${args% }$([[ $args == *\* ]] || echo ' ')$field;" "$tmp/$name" || { echo "$name.$field is no $args"; return 1; }
		done < <(sed -n "s/^field $name\.\([a-z_]*\): \([^=]*\).*/\1 \2/p" "$tmp/list" | grep -vE ' (absent|union .*)$')
	done
}

# says MESSAGE WORD...: it cannot answer, and this is why.
says() {
	local status=0 message=$1
	shift
	"$@" >"$tmp/out" 2>&1 || status=$?
	[ "$status" -eq 2 ]
	[ "$(cat "$tmp/out")" = "contract: $message" ]
}

@test "a file without BTF, one that is not there and a build without objects are refused" {
	says "Makefile has no BTF" tests/contract --print Makefile
	says "no-kernel: No such file or directory" tests/contract --print no-kernel
	[ ! -r /sys/kernel/btf/vmlinux ] || says "no objects in O/bpf: run make" env O=/nonexistent tests/contract --print /sys/kernel/btf/vmlinux
}
