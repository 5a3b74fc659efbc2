# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
#
# waits_lib.sh: calls of waiter, each task under a name of its own, beside the rows that waits has of them in /tmp/out. waits_calls
# and waits_btrfs source it:
#	calls_to /tmp/calls		# then append lines: does NAME WORD...
#	iosonar waits --by comm -o json -- sh /tmp/calls >/tmp/out
#	rows_of null 0.97
#	follows NAME fsync

# calls_to FILE: a script that begins with does NAME WORD...: waiter under that name; what it measured is in /tmp/NAME.
calls_to() {
	cat >"$1" <<'END'
does() {
	ln -s "$(command -v waiter)" "/tmp/bin/$1"
	"/tmp/bin/$1" "$2" "$3" "$4" "$5" $6 $7 >"/tmp/$1"
}
END
}

# rows_of FS LEAST: from here on, of rows with that file system as JSON has it, e.g. null, '"btrfs"'; waits has at least LEAST of the
# time that the caller measures.
rows_of() {
	rows_fs=$1 rows_least=$2
}

# of COMM CALL PART KEY: in the row of the whole run; 0: there is none.
of() {
	grep '"type":"waits","span":"total"' /tmp/out | grep "\"call\":\"$2\",\"fs\":$rows_fs,.*\"comm\":\"$1\",.*\"part\":\"$3\"" | value "$4"
}

# follows COMM CALL: seven times, at least 20 ms each, and as long as the caller says.
follows() {
	is "$(of "$1" "$2" total count)" 7 "$1: seven calls of $2" || note "$(grep "\"$1\"" /tmp/out)"
	awk -v ours="$(of "$1" "$2" total sum_ns)" -v theirs="$(cut -d' ' -f1 "/tmp/$1")" -v least="$rows_least" \
		'BEGIN { exit !(ours <= theirs && ours > least * theirs && theirs > 7 * 20000000) }'
	ok $? "$1: as long as the caller says" || note "$(of "$1" "$2" total sum_ns) ns, the caller $(cat "/tmp/$1")"
}
