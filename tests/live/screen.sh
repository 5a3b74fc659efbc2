# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# screen.sh: a terminal for tests of screens: keys go in, lines come out. Lines, modes and status are in files below $tmp.
tmp=${tmp:-}
socket=ascii

tm() { tmux -u -S "$tmp/$socket" -f /dev/null "$@"; }
shown() { tm capture-pane -p 2>/dev/null; }
keys() { tm send-keys "$@"; }
# The first line of the screen that has this, within five seconds.
wait_for() {
	for _ in $(seq 100); do
		shown | grep -m1 -E -- "$1" && return 0
		sleep 0.05
	done
	return 1
}
wait_gone() {
	for _ in $(seq 100); do
		shown | grep -qE -- "$1" || return 0
		sleep 0.05
	done
	return 1
}

shows() { # shows PATTERN WHAT
	wait_for "$1" >/dev/null
	ok $? "$2" || shown | sed 's/^/# /'
}

# is_red WORD WHAT [0]: this word is on the screen in red; with 0: it is there, and is not.
is_red() {
	is "$(shown | grep -c "$1") $(tm capture-pane -e -p | grep -cE $'\e\\[([0-9;]*;)?31m(\e\\[[0-9;]*m)*'"$1")" "1 ${3:-1}" "$2"
}

# It has ended: wait until the shell says so.
ended() {
	for _ in $(seq 300); do
		[ -s "$tmp/after" ] && return 0
		sleep 0.05
	done
	return 1
}

is_sane() { # is_sane WHAT: the terminal is as it was
	is "$(cat "$tmp/after")" "$(cat "$tmp/before")" "$1: the modes of the terminal are as before"
	is "$(tm display-message -p '#{alternate_on} #{cursor_flag}')" "0 1" "$1: the normal screen, with a cursor"
}
