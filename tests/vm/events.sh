# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: sorts
# kernels: 6.18
#
# events: what a controller tells by itself, and namespaces that come and go, in the stream of `errors`.

name=$(disk io0 1)
ctrl=${name%n*}
seen() { grep '"type":"errors"' /tmp/e | grep "\"what\":\"$1\"" | grep -c "${2:-}"; }
has_seen() { [ "$(seen "$@")" -ge 1 ]; }

nvme set-feature "/dev/$ctrl" -f 0x0b -v 0x31f >/dev/null 2>&1 # health, notices of namespaces and more
started errors /tmp/e -d "$ctrl" -w /tmp/e.cap
monitor qom-set /machine/peripheral/nv0 smart_critical_warning 1
wait_for 5 has_seen async health
ok $? "a health event" || note "$(cat /tmp/e)"
ctrl_id=$(nvme id-ctrl "/dev/$ctrl" | sed -n 's/^cntlid *: *//p')
nvme detach-ns "/dev/$ctrl" -n 1 -c $((ctrl_id)) >/dev/null
ok $? "a namespace is taken away"
wait_for 5 has_seen gone "\"dev\":\"nvme[0-9]*c*[0-9]*n${name##*n}\"" # the disk, or the only path to it
ok $? "which is told" || note "$(cat /tmp/e /tmp/e.err)"
has_seen async 'notice: namespace attribute changed, log page 0x04'
ok $? "and so is the controller's notice" || note "$(cat /tmp/e)"
nvme attach-ns "/dev/$ctrl" -n 1 -c $((ctrl_id)) >/dev/null
wait_for 5 has_seen appeared "\"dev\":\"nvme"
ok $? "it comes back"
echo 1 >"/sys/class/nvme/$ctrl/reset_controller"
wait_for 5 has_seen state '"status":"live"' || wait_for 5 has_seen connected
ok $? "a reset by hand" || note "$(cat /tmp/e /tmp/e.err)"
sleep 0.5
measured
ok $? "exits 0"
grep '"what":"async"' /tmp/e | grep -q '"status":"health: '
ok $? "in words" || note "$(grep async /tmp/e)"
whole /tmp/e "the ledger balances"
iosonar errors -r /tmp/e.cap -o json 2>/dev/null | grep '"type":"errors' >/tmp/again
grep '"type":"errors' /tmp/e | cmp -s - /tmp/again
ok $? "a capture says the same" || note "$(diff /tmp/e /tmp/again)"
done_testing
