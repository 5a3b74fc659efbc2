# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: none
# timeout: 240
# brings: tests/vm/takers.awk
#
# class_list: the functions that `class STRUCT --list` has are those that pfunct finds in this kernel's BTF, and those that
# can be attached are the ones that ftrace lists. pfunct --class leaves out who takes a pointer to const, or returns one:
# these are counted in what bpftool dumps.

tracing=/sys/kernel/tracing
btf=/sys/kernel/btf/vmlinux module_btf=/sys/kernel/btf/nvme_core
[ -e $tracing/available_filter_functions ] || mount -t tracefs tracefs $tracing
command -v pfunct >/dev/null || { echo "1..0 # SKIP no pfunct: install pahole or dwarves" && exit 0; }

# dump: BTF of the kernel and, behind it, of nvme_core, in words
dump() {
	bpftool btf dump file $btf format raw
	[ -e $module_btf ] || return 0
	echo "module [nvme_core]"
	bpftool -B $btf btf dump file $module_btf format raw
}

sed '/ \[/d' $tracing/available_filter_functions | sort -u >/tmp/traceable
dump | awk -v structs="bio request folio inode file" -f /tests/takers.awk >/tmp/takers
between "$(wc -l </tmp/takers)" 500 10000 "bpftool has prototypes"
sed -n 's/^twin of \([^ ]*\)$/\1/p' /tmp/takers >/tmp/twins # nothing says which of their symbols is which

# list STRUCT: its functions in vmlinux into /tmp/list, one a line: NAME|ARGUMENT|ATTACH
list() {
	iosonar class "$1" --list -o json >/tmp/json 2>/tmp/err
	sed -n 's/^{"type":"function","function":"\([^"]*\)","module":null,"argument":"\([^"]*\)","attach":"\([^"]*\)",.*/\1|\2|\3/p' /tmp/json >/tmp/list
}

names() { cut -d'|' -f1 | sort; }
# both A B, less A B: lines of B that are in A, that are not.
both() { awk 'FILENAME == ARGV[1] { known[$0]; next } $0 in known' "$1" "$2"; }
less() { awk 'FILENAME == ARGV[1] { known[$0]; next } !($0 in known)' "$1" "$2"; }
# same NAME: /tmp/want and /tmp/got.
same() {
	cmp -s /tmp/want /tmp/got
	ok $? "$1, $(wc -l </tmp/got)" || note "$(diff /tmp/want /tmp/got | head)"
}

# compare STRUCT
compare() {
	list "$1"
	pfunct -F btf --class="$1" $btf 2>/dev/null | sort >/tmp/want
	sed -n "s/^$1 plain \([^ ]*\)$/\1/p" /tmp/takers | sort >/tmp/got
	same "$1: pfunct --class has what bpftool has without const"
	sed -n "s/^$1 \(plain\|through\) \([^ ]*\)$/\2/p" /tmp/takers | sort >/tmp/want
	grep '|[1-9]' /tmp/list | names >/tmp/got
	same "$1: it has the same functions, and those with const"
	sed -n "s/^$1 ret \([^ ]*\)$/\1/p" /tmp/takers | sort >/tmp/want
	grep '|ret|' /tmp/list | names >/tmp/got
	same "$1: and those that only return one"

	names </tmp/list | uniq >/tmp/all
	both /tmp/traceable /tmp/all >/tmp/listed
	less /tmp/twins /tmp/listed >/tmp/want
	grep '|yes$' /tmp/list | names >/tmp/got
	same "$1: what ftrace lists can be attached"
	grep -v '|yes$' /tmp/list | cut -d'|' -f3 | sed 's/fn:.*/fn:.../' | sort | uniq -c | sed "s/^/# $1: /"

	takes=$(grep -c '"argument":"[0-9]' /tmp/json) returns=$(grep -c '"argument":"ret"' /tmp/json) attaches=$(grep -c '"attach":"yes"' /tmp/json)
	is "$(head -1 /tmp/err)" "$1: $takes functions take it, $returns more only return it; $attaches can be attached" "$1: the sum is of all modules"
}

for struct in bio request inode file; do
	compare $struct
done
if grep -q '^folio ' /tmp/takers; then
	compare folio
else
	iosonar class folio --list >/tmp/out 2>/tmp/err
	is "$? $(wc -c </tmp/out)" "2 0" "this kernel has no folio"
fi

# roles PRESET: how many of its spine are there, births and deaths among them, and can be attached.
roles() {
	iosonar class "$1" --list -o json >/tmp/json 2>/tmp/err
	grep -c '"attach":"yes","role":"[bds]' /tmp/json
}
for preset in bio request nvme_request inode file; do
	spine=$(roles $preset)
	between "$spine" 12 40 "$preset: spine, $spine can be attached"
	grep -q '"attach":"yes","role":"birth"' /tmp/json
	ok $? "$preset: a birth can be attached: $(sed -n 's/.*"function":"\([^"]*\)".*"attach":"yes","role":"birth".*/\1/p' /tmp/json | xargs)"
	grep -q '"attach":"yes","role":"death"' /tmp/json
	ok $? "$preset: so can a death: $(sed -n 's/.*"function":"\([^"]*\)".*"attach":"yes","role":"death".*/\1/p' /tmp/json | xargs)"
	grep '"role":"[bds]' /tmp/json | grep -v '"attach":"yes"' | sed -n 's/.*"function":"\([^"]*\)".*"attach":"\([^"]*\)".*/# '$preset': \1 is \2/p'
done

if [ -e $module_btf ]; then
	iosonar class request --list --module nvme_core -o json >/tmp/json 2>/tmp/err
	sed -n 's/.*"function":"\([^"]*\)","module":"nvme_core",.*"attach":"yes".*/\1 [nvme_core]/p' /tmp/json | sort >/tmp/got
	sed -n 's/.*"function":"\([^"]*\)","module":"nvme_core",.*/\1 [nvme_core]/p' /tmp/json | sort >/tmp/all
	grep ' \[nvme_core\]$' $tracing/available_filter_functions | sort -u >/tmp/traceable
	both /tmp/traceable /tmp/all >/tmp/want
	same "nvme_core: what ftrace lists can be attached, of $(wc -l </tmp/all)"
	sed -n 's/^request [a-z]* \(.* .nvme_core.\)$/\1/p' /tmp/takers | sort >/tmp/want
	cp /tmp/all /tmp/got
	same "nvme_core: it has the functions that bpftool has"
	is "$(grep -c '"module":"[^"]*"' /tmp/json)" "$(wc -l </tmp/all)" "nvme_core: no other module's are listed"
	is "$(sed 's/ functions.*//' /tmp/err)" "request: $(grep -c '"module":"nvme_core","argument":"[1-9]' /tmp/json)" "nvme_core: the sum is its own"
	grep -q '"function":"nvme_complete_rq","module":"nvme_core","argument":"1"' /tmp/json
	ok $? "nvme_core: nvme_complete_rq takes a request"
else
	iosonar class request --list --module nvme_core >/tmp/out 2>/tmp/err
	is "$? $(cat /tmp/err)" "2 iosonar: no module 'nvme_core' with BTF in /sys/kernel/btf" "this kernel's modules have no BTF"
fi
done_testing
