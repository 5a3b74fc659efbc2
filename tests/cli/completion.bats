#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Completion as users meet it: a line is typed into bash, fish and zsh on a terminal (tab.py), Tab is pressed, and the line is read.

setup() {
	tmp=$BATS_TEST_TMPDIR
	iosonar=$(realpath "${IOSONAR:-build/iosonar}")
	mkdir "$tmp/bin"
	ln -s "$iosonar" "$tmp/bin/iosonar"
	PATH=$tmp/bin:$PATH
	touch "$tmp/capture-one"
}

# typed SHELL: each line of stdin is typed, Tab, and what comes of it printed.
typed() {
	local lines
	command -v "$1" >/dev/null || skip "$1 is missing"
	command -v python3 >/dev/null || skip "python3 is missing"
	iosonar --completion "$1" >"$tmp/script"
	mapfile -t lines
	tests/cli/tab.py "$1" "$tmp/script" "${lines[@]}"
}

# completes SHELL END_OF_NAME END_OF_LIST: lines and what they become.
completes() {
	typed "$1" >"$tmp/got" <<-E
		iosonar lat
		iosonar --completion z
		iosonar help lay
		iosonar latency --form
		iosonar latency --format=j
		iosonar latency -o j
		iosonar latency --by dev,qu
		iosonar stacks --unwind dw
		iosonar latency --out $tmp/capture-o
		iosonar latency -t 1s -- hostna
		iosonar latency -t 1s -- cat $tmp/capture-o
		iosonar latency -t 1s qqzzqq
	E
	diff "$tmp/got" - <<-E
		iosonar latency
		iosonar --completion zsh
		iosonar help layers
		iosonar latency --format$2
		iosonar latency --format=json
		iosonar latency -o json
		iosonar latency --by dev,queue$3
		iosonar stacks --unwind dwarf
		iosonar latency --out $tmp/capture-one
		iosonar latency -t 1s -- hostname
		iosonar latency -t 1s -- cat $tmp/capture-one
		iosonar latency -t 1s qqzzqq
	E
}

@test "bash completes what is typed" { completes bash "" ""; }
@test "fish completes what is typed" { completes fish "" ""; }
@test "zsh completes what is typed" { completes zsh = ,; }

# What the program has to be asked for.
asks() {
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	typed "$1" >"$tmp/got" <<-E
		iosonar count raw:sched_switc
		iosonar print raw:sched_switch sho
		iosonar sum raw:sched_switch of preem
		iosonar class bio_ve
	E
	sed -i 's/ *$//' "$tmp/got"
	diff "$tmp/got" - <<-E
		iosonar count raw:sched_switch
		iosonar print raw:sched_switch show
		iosonar sum raw:sched_switch of preempt
		iosonar class bio_vec
	E
}

@test "bash asks the program for events, clauses, values and structs" { asks bash; }
@test "fish asks the program for events, clauses, values and structs" { asks fish; }
@test "zsh asks the program for events, clauses, values and structs" { asks zsh; }

@test "fish knows the options of bash, with their help" {
	iosonar --completion fish >"$tmp/fish"
	iosonar --completion bash >"$tmp/bash"
	local command nr=0
	for command in $(iosonar --completion bash | sed -n 's/^\thelp\/help) _iosonar_words "\(.*\)" ;;/\1/p'); do
		nr=$((nr + 1))
		diff <(sed -n "s/^complete -c iosonar -n '__iosonar_is $command'.* -l \([a-z0-9-]*\).* -d '.*[a-z].*'$/--\1/p" "$tmp/fish" | sort) \
			<(sed -n "s/^\t$command\/\*) _iosonar_words \"\(.*\)\" ;;/\1/p" "$tmp/bash" | tr ' ' '\n' | grep -- '--[a-z]' | sort)
	done
	[ "$nr" -gt 20 ]
}

@test "the fish completion parses, and a name in it cannot end a word" {
	command -v fish >/dev/null || skip "fish is missing"
	iosonar --completion fish >"$tmp/script"
	fish --no-config -n "$tmp/script"
	[ -z "$(fish --no-config -c "source $tmp/script" 2>&1)" ]
}
