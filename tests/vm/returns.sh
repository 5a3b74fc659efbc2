# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 6.1
# timeout: 120
#
# returns: calls and class show how long each function took, or their first line says that they cannot, why, and which
# option would. For machines whose kernel may have no trampoline (arm64 before 6.4). The static
# program is used, for there may be no other there; calls and class measure all of this on this machine.

dev=$(disk io0)
rm -rf /tmp/calls /tmp/class # of tests before
reads="dd if=/dev/$dev of=/dev/null bs=4k count=17 iflag=direct status=none"

# asks NAME WORD...: iosonar around 17 direct reads, into /tmp/NAME.
asks() {
	asks_name=$1
	shift
	# shellcheck disable=SC2086 # words are words
	iosonar-static "$@" -- $reads >"/tmp/$asks_name" 2>"/tmp/$asks_name.err"
	ok $? "$asks_name: exits 0" || note "$(cat "/tmp/$asks_name.err")"
}
says_so() { head -1 "/tmp/$1.err" | grep -q '^returns are not traced: .*--returns'; }

asks calls calls vfs_read blk_mq_submit_bio -o json
asks class class bio -o json
for view in calls class; do
	if says_so $view; then
		ok 0 "$view: its first line says that it sees no returns, and what would"
		! grep -q '"duration_ns":[0-9]\|"ns":[1-9]' "/tmp/$view"
		ok $? "$view: and no duration is shown" || note "$(head -3 "/tmp/$view")"
	else
		! grep -q 'returns are not traced' "/tmp/$view.err"
		ok $? "$view: it sees returns, and does not say otherwise" || note "$(cat "/tmp/$view.err")"
		[ -s "/tmp/$view" ]
		ok $? "$view: it shows calls"
	fi
	note "$(head -2 "/tmp/$view.err")" "$(head -2 "/tmp/$view" | cut -c1-300)"
done
asks insisted calls vfs_read blk_mq_submit_bio --returns -o json
note "$(cat /tmp/insisted.err)" "$(head -2 /tmp/insisted | cut -c1-300)"
! grep -q 'returns are not traced' /tmp/insisted.err
ok $? "--returns: returns are seen"
done_testing
