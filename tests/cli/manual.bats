#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The manual says what the program does: options, usage, exit status, fields and columns are compared with the program's
# own tables, and every line of EXAMPLES that starts with "iosonar" is run, on a loop device on tmpfs under a small load.
# A command's page has the command's own options; those that commands share are in iosonar-options(7), by groups.

setup_file() {
	manual_disk=''
	local file
	[ "$(id -u)" -eq 0 ] && command -v losetup >/dev/null && [ -e /dev/loop-control ] || return 0
	file=$(mktemp /dev/shm/iosonar-manual.XXXXXX) || return 0
	truncate -s 16M "$file"
	manual_disk=$(losetup -f --show "$file") || manual_disk=''
	rm -f "$file" # the device keeps it
	export manual_disk
}

teardown_file() {
	[ -z "$manual_disk" ] || losetup -d "$manual_disk"
}

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	load=''
}

teardown() {
	[ -z "$load" ] || kill "$load" 2>/dev/null || true
}

# page COMMAND: its manual, "" for the program's own, line for the language of the any-event commands, options for the
# options that commands share.
page() {
	case $1 in
	line | options | requests) echo "$root/man/iosonar-$1.7" ;;
	*) echo "$root/man/iosonar${1:+-$1}.8" ;;
	esac
}

# section PAGE NAME: its lines, without macro escapes.
section() { sed -n "/^\.Sh $2\$/,/^\.Sh /p" "$1" | grep -v '^\.Sh ' | sed "s/\\\\-/-/g; s/\\\\(aq/'/g; s/\\\\(dq/\"/g"; }

commands() { "$iosonar" help | awk '/^Exit status/ { exit } /^  [a-z]/ { print $1 }'; }

# names: of the options that help prints, "-d" and "--device", one a line.
names() { grep -E '^  (-.,|   ) --' | grep -oE '^  (-.)?,? *--[a-z0-9-]+' | grep -oE -- '--?[a-zA-Z0-9-]+' | sort; }
help_options() { "$iosonar" "$1" --help | names; }
# -h explains the options of the command itself, then lists those that commands share, by groups; --help explains all.
own_options() { "$iosonar" "$1" -h | sed '/^Options that commands share/,$d' | names; }
groups() { "$iosonar" "$1" -h | sed -n '/^Options that commands share/,/^$/p' | sed -n 's/^  \([A-Z]\)/\1/p' | sed 's/ \+-.*//'; }
group_options() { "$iosonar" "$1" --help | sed -n "/^${2//\//\\/}\$/,/^\$/p" | names; }
# The same of a manual: the options of a page, and the groups of iosonar-options(7) that a command's page says it takes.
manual_names() { grep '^\.It .*Fl ' | grep -oE 'Fl -?[a-zA-Z0-9-]+' | sed 's/^Fl /-/' | sort -u; }
manual_options() { section "$(page "$1")" OPTIONS | manual_names; }
manual_groups() {
	section "$(page "$1")" OPTIONS | sed -n '/^\.Xr iosonar-options 7 :$/,$p' | sed -n 's/^\.Sy //p' | sed 's/ [,.]$//; s/ , /\n/g'
}
manual_group_options() { section "$(page options)" OPTIONS | sed -n "/^\.Ss ${1//\//\\/}\$/,/^\.Ss /p" | manual_names; }

same() { # same WHAT GOT WANT
	[ "$2" = "$3" ] || { diff <(echo "$2") <(echo "$3") | sed "s/^/$1: /"; return 1; }
}

@test "every command has a page, the overview and README name it, and the tour has a section for it" {
	[ -n "$(commands)" ]
	for command in $(commands); do
		[ -e "$(page "$command")" ] || { echo "no $(page "$command")"; return 1; }
		brief=$("$iosonar" help | sed -n "s/^  $command  *//p")
		[ -n "$brief" ]
		grep -qxF ".It Cm $command Ta $brief" "$(page "")" || { echo "the overview does not say '$command: $brief'"; return 1; }
		same "$command" "$(sed -n 's/^\.Nd //p' "$(page "$command")")" "$brief"
		grep -q "Xr iosonar-$command 8" "$(page "")"
		grep -q "iosonar $command" "$root/README.md"
		grep -qx "## $command" "$root/docs/tour.md" || { echo "docs/tour.md has no section $command"; return 1; }
	done
}

@test "no page of a command has more than 300 lines" {
	for file in "$root"/man/*.8; do
		[ "$(wc -l <"$file")" -le 300 ] || { wc -l "$file"; return 1; }
	done
}

@test "every page belongs to a command" {
	for file in "$root"/man/iosonar-*.8; do
		name=${file##*/iosonar-}
		commands | grep -qx "${name%.8}" || { echo "$file: no such command"; return 1; }
	done
}

@test "a command's own options are those of its manual" {
	for command in $(commands); do
		[ -n "$(own_options "$command")" ]
		same "$command" "$(manual_options "$command")" "$(own_options "$command")"
	done
}

@test "the groups of options that a command shares are those of its manual" {
	for command in $(commands); do
		[ -n "$(groups "$command")" ]
		same "$command" "$(manual_groups "$command")" "$(groups "$command")"
		same "$command" "$(help_options "$command")" "$({ own_options "$command"
			groups "$command" | while read -r group; do group_options "$command" "$group"; done; } | sort)"
	done
}

# Some commands take a part of a group: the manual has the whole.
@test "options that commands share are those of iosonar-options(7)" {
	for command in $(commands); do
		groups "$command" | while read -r group; do
			[ -n "$(group_options "$command" "$group")" ] || { echo "$command: nothing in $group"; exit 1; }
			group_options "$command" "$group" | sed "s,^,$group:,"
		done
	done | sort -u >"$tmp/shared"
	[ "$(wc -l <"$tmp/shared")" -gt 40 ]
	section "$(page options)" OPTIONS | sed -n 's/^\.Ss //p' | while read -r group; do manual_group_options "$group" | sed "s,^,$group:,"; done |
		sort -u >"$tmp/manual"
	diff "$tmp/manual" "$tmp/shared"
}

@test "output formats are those of the manual" {
	for command in $(commands); do
		! help_options "$command" | grep -qx -- --format || [ -n "$(choices "$command" --format)" ]
		for format in $(choices "$command" --format); do
			case $command:$format in
			*:text | *:json | *:csv) of=options ;;
			*) of=$command ;;
			esac
			grep -qE "^\.(It )?Cm (.* , )?$format( |\$)" "$(page "$of")" || { echo "$(page "$of"): no $format"; return 1; }
		done
	done
}

@test "the usage of -h is the manual's synopsis" {
	for command in $(commands); do
		same "$command" "Usage: $(section "$(page "$command")" SYNOPSIS |
			sed -E 's/^\.Nm //; s/^\.Op Fl - Ar (.*)/[-- \1]/; s/^\.Op Ar (.*)/[\1]/; s/^\.Fl (\S+) Ar /-\1 /; s/^\.Ar //' | xargs)" \
			"$("$iosonar" "$command" -h | sed '/^$/,$d' | xargs)"
	done
}

@test "the usage of iosonar is the manual's synopsis" {
	usage=$("$iosonar" help | sed '/^$/,$d; s/^Usage://; s/^ *//')
	synopsis=$(section "$(page "")" SYNOPSIS | sed -E 's/^\.(Ar|Cm) //; s/^\.Op Ar (.*)/[\1]/; s/Oo Ar (.*) Oc/[\1]/; s/ Fl -/ --/g
		s/ Ns \| Ns /|/g; s/Cm //g' | tr '\n' ' ' | sed 's/\.Nm /\niosonar /g' | sed '/^ *$/d; s/ *$//')
	same iosonar "$synopsis" "$usage"
}

@test "the exit status of help and of the manual are the same" {
	same status "$(section "$(page options)" 'EXIT STATUS' | sed '/^\.El/,$d' |
		sed -n 's/^\.It \([0-9]\) Ta /\1  /p')" \
		"$("$iosonar" help | sed -n '/^Exit status/,/^$/s/^  \([0-9]\)/\1/p')"
}

@test "words of --by are those of the manual" {
	same by "$(section "$(page latency)" OPTIONS | sed -n '/^\.It Fl -by/,/^\.El/p' | sed -n 's/^\.It Cm //p' |
		sed 's/ Ta .*//; s/ , /\n/g')" "$("$iosonar" latency --by wxyz 2>&1 | sed -n 's/.*expected one of //p' | sed 's/, /\n/g')"
	same "cache --by" "$(manual_choices cache -by)" "$("$iosonar" cache -h | sed -n 's/^ *--by \([a-z,]*\).*/\1/p' | tr , '\n')"
	same "pattern --by" "$(manual_choices pattern -by)" "$("$iosonar" pattern -h | sed -n 's/^ *--by \([a-z,]*\).*/\1/p' | tr , '\n')"
}

# schema_keys COMMAND TYPE: of that object in the command's schema, but for "type" itself.
schema_keys() { "$iosonar" "$1" --json-schema | sed -n "/^{\"title\":\"$2\"/,/^}}/p" | sed -n 's/^"\([^"]*\)":.*/\1/p' | grep -vx type; }
schema_types() { "$iosonar" "$1" --json-schema | sed -n 's/^{"title":"\([^"]*\)","type":.*/\1/p'; }

# choices COMMAND OPTION: its words, as the shell would complete them, one a line; then as the manual has them.
choices() { "$iosonar" --completion bash | sed -n "s,^[[:space:]]*\(.* | \)\?$1/$2) _iosonar_\(words\|list\) \"\(.*\)\" ;;,\3,p" | tr ' ' '\n'; }
manual_choices() {
	section "$(page "$1")" OPTIONS | sed -n "/^\.It Fl $2 /,/^\.\(It\|El\)/p" | sed '1d' | sed -n 's/^\.Cm //p' | sed 's/ , /\n/g' | sed 's/ .*//' | awk '!seen[$0]++'
}

@test "words of an option are those of the manual" {
	for of in "latency --sort" "layers --at" "slow --stack" "stacks --stack" "stacks --sort" "pair --stack" "cache --sort" "calls --path"; do
		read -r command option <<<"$of"
		[ -n "$(choices "$command" "$option")" ]
		same "$of" "$(manual_choices "$command" "${option#-}")" "$(choices "$command" "$option")"
	done
}

events="count sum hist print pair" # of any event
views="latency top trace layers slow stacks errors inflight pattern cache $events"

@test "columns of the schema are those of the manual" {
	for view in $views; do
		[ -n "$(schema_keys "$view" "$view")" ]
		same "$view" "$(section "$(page "$view")" COLUMNS | sed -n 's/^\.It Li \([^ ]*\).*/\1/p')" "$(schema_keys "$view" "$view")"
	done
}

@test "columns of a report are those of the manual" {
	[ -n "$(schema_keys report report)" ]
	same report "$(section "$(page report)" COLUMNS | sed -n 's/^\.It Li \([^ ]*\).*/\1/p')" "$(schema_keys report report)"
}

@test "columns of calls and of their graph are those of the manual" {
	[ -n "$(schema_keys calls call)" ]
	[ -n "$(schema_keys calls graph)" ]
	same calls "$(section "$(page calls)" COLUMNS | sed -n 's/^\.It Li \([^ ]*\).*/\1/p')" "$(schema_keys calls call; schema_keys calls graph)"
}

@test "columns and ledger of requests of io_uring are those of the manual" {
	[ -n "$(schema_keys waits async)" ]
	same requests "$(sed -n 's/^\.It Li \([^ ]*\).*/\1/p' "$(page requests)")" \
		"$(for type in async async_request async_ledger; do schema_keys waits "$type"; done)"
}

@test "columns of diff are those of the manual" {
	for of in shift function path; do
		[ -n "$(schema_keys diff "$of")" ]
	done
	same shift "$(section "$(page diff)" COLUMNS | sed -n 's/^\.It Li \([^ ]*\).*/\1/p')" "$(schema_keys diff shift)"
	same calls "$(section "$(page diff)" CALLS | sed -n 's/^\.It Li \([^ ]*\).*/\1/p' | sort)" "$({ schema_keys diff function; schema_keys diff path; } | sort -u)"
}

@test "fields of diff --fail-if are those of the manual" {
	fields=$(section "$(page diff)" CONDITIONS | sed -n 's/^\.It Li \(.*\) Ta .*/\1/p' | sed 's/ , /\n/g')
	same fields "$(echo "$fields" | sort)" "$("$iosonar" diff x y --fail-if 'q_q == 1' 2>&1 | sed -n 's/.*available: //p' | sed 's/, /\n/g' | sort)"
}

# The step that each event of the pictures begins, and every step it names, is one that the page explains.
@test "the steps of the path are in its table" {
	path=$(section "$(page layers)" DESCRIPTION | grep -oE '^ +\|  [A-Z]2[A-Z]' | grep -oE '[A-Z]2[A-Z]')
	same path "$(echo "$path" | tr '\n' ' ')" "H2Q Q2G G2F G2I I2S S2D D2K K2N N2C W2C Q2V V2E E2C "
	for step in $path; do
		section "$(page layers)" DESCRIPTION | grep '^\.It Li .* Ta ' | sed 's/ Ta .*//' | grep -qw "$step" || { echo "no $step"; return 1; }
	done
}

# What the program proposes when it does not know a word, ten or so of them; the shell completes all.
@test "names and functions of a line are those of the manual" {
	proposed() { "$iosonar" "$@" 2>&1 | sed -n 's/.*available: //p' | sed 's/, /\n/g' | grep -vx '\.\.\.'; }
	names=$(section "$(page line)" VALUES | sed -n '/^\.Ss Names/,/^\.El/s/^\.It Li //p' | sed 's/ , /\n/g' | grep -vE '^(latency|ret|arg0|Li )')
	same names "$(echo "$names" | sort)" "$("$iosonar" --completion bash | sed -n '/^_iosonar_values()/,/^}/s/^\t\t\(pid .*\) latency$/\1/p' | tr ' ' '\n' | sort)"
	[ "$(proposed count profile:99 by q_q_ | wc -l)" -ge 10 ]
	for name in $(proposed count profile:99 by q_q_); do grep -qx -- "$name" <<<"$names"; done
	for name in $names; do # the line is read before the file is opened, which is then the one thing wrong
		"$iosonar" count profile:99 by "$name" --out "$tmp/none/such" 2>"$tmp/err" && return 1
		grep -q "cannot write $tmp/none/such" "$tmp/err" || { cat "$tmp/err"; return 1; }
	done
	functions=$(section "$(page line)" VALUES | sed -n '/^\.Ss Functions/,/^\.El/s/^\.It //p' | grep -oE 'Li [a-z]+' | sed 's/^Li //' | sort -u)
	same functions "$functions" "$(proposed count profile:99 by 'x_y_z()' | sort)"
}

@test "clauses of a command are those of the manual" {
	for command in $events stacks; do
		takes=$("$iosonar" "$command" profile:99 of x show x on x 2>&1 | sed -n "s/.*it takes \(.*\), as in: .*/\1/p" | grep -oE "'[a-z]+'" | tr -d "'" | sort)
		[ -n "$takes" ]
		same "$command" "$(section "$(page line)" SYNOPSIS | sed -n "/^\.Nm iosonar $command\$/,/^\.Nm iosonar [^ ]*\$/p" | sed '1b;/^\.Nm/d' |
			sed -nE 's/^\.(Op )?Cm ([a-z]+) .*/\2/p' | sort)" "$takes"
	done
}

@test "the ledger of any event is in the manual" {
	[ -n "$(schema_keys count event_ledger)" ]
	same ledger "$(section "$(page line)" 'THE LEDGER' | sed -n 's/^\.It Li //p')" "$(schema_keys count event_ledger)"
	for command in $events stacks; do
		same "$command" "$(schema_keys "$command" event_ledger)" "$(schema_keys count event_ledger)"
	done
}

# The condition is read before the device is looked for, which is then the one thing wrong.
@test "fields of --fail-if are those of the manual" {
	fields=$(section "$(page latency)" CONDITIONS | sed -n 's/^\.It Li \(.*\) Ta .*/\1/p' | sed 's/ , /\n/g')
	[ "$(echo "$fields" | wc -l)" -gt 20 ]
	for field in $fields; do
		[ "$field" != host ] || continue # of captures
		status=0
		"$iosonar" latency --by ctrl,ns,dev,op,size,queue,cpu,pid,comm,cgroup,unit,container,file,path -d no-such-disk --fail-if "$field == $field" 2>"$tmp/err" || status=$?
		[ "$status" -eq 2 ]
		grep -q "no block device named 'no-such-disk'" "$tmp/err" || { echo "$field: $(cat "$tmp/err")"; return 1; }
	done
	status=0
	"$iosonar" latency -r "$root/tests/data/merged.cap" --by host --fail-if 'host == db8' >/dev/null 2>&1 || status=$?
	[ "$status" -eq 5 ]
	"$iosonar" latency -d no-such-disk --fail-if "no_such_field == no_such_field" 2>"$tmp/err" || true
	grep -q "unknown field 'no_such_field'" "$tmp/err"
}

# examples PAGE: one a line.
examples() { section "$1" EXAMPLES | grep '^iosonar '; }

@test "options in the examples of manual, README and docs exist" {
	docs=("$root/README.md" "$root"/docs/*.md)
	for command in $(commands); do
		{ examples "$(page "$command")" | grep "^iosonar $command "; sed -n "s/^\(sudo \|\$ \|# \)*\(iosonar $command .*\)/\2/p" "${docs[@]}"
			grep -ohE "\`iosonar $command [^\`]*\`" "${docs[@]}" | tr -d '\`'; } >"$tmp/examples"
		[ -s "$tmp/examples" ]
		# shellcheck disable=SC2016 # $(pidof -s fio) is the example's
		sed 's/ -- .*//; s/ | [a-z].*//; s/\$([^)]*)//g' "$tmp/examples" | grep -oE -- ' --?[a-zA-Z][a-z0-9-]*' | sort -u | while read -r option; do
			help_options "$command" | grep -qx -- "$option" || { echo "iosonar $command has no $option"; exit 1; }
		done
	done
	# Prose may begin a line with the program's name: commands are in backquotes and in blocks of code.
	# shellcheck disable=SC2016 # a backquote of Markdown
	wrong=$({ grep -ohE '(`|sudo )iosonar [a-z]+' "${docs[@]}"; awk '/^```/ { code = !code } code' "${docs[@]}" | grep -oE '^[$#]? ?iosonar [a-z]+'; } |
		awk '{ print $NF }' | sort -u |
		grep -vxE "help|$(commands | paste -sd'|')") || true
	[ -z "$wrong" ] || { echo "README, docs: no such command: $wrong"; return 1; }
}

# runs COMMAND: it goes on until something ends it.
runs() { help_options "$1" | grep -qx -- --duration; }

# here COMMAND-LINE: the example with this test's device, shortened: -t 200ms stands behind the options, but not if a
# capture is read, which has an end.
here() {
	local line=$1 command='' name short=''
	read -r _ name _ <<<"$line"
	! runs "$name" || short=' -t 200ms'
	case $line in *' -r '*) short='' ;; esac
	case $line in *' -- '*) command=" -- ${line#* -- }" line=${line%% -- *} ;; esac
	echo "$line$short$command" | sed "s,/dev/nvme0n1,$manual_disk,g; s,nvme0n1,${manual_disk#/dev/},g"
}

# again REASON: a run proved nothing about the manual and is repeated, once. `./check` lists it. A case of more than a hundred
# runs fails when more than six of them are repeated.
again() {
	echo "# again: manual: $BATS_TEST_DESCRIPTION: $1" >&3
	echo "$1" >>"$tmp/again"
	[ "$(wc -l <"$tmp/again")" -le 6 ] || { echo "more than six runs are repeated:"; cat "$tmp/again"; return 1; }
}

# run_whole COMMAND...: sets status. A kernel that now and then hides a task from every program is told of by the ledger, and
# is no fault of the manual's; nor is a machine so busy that the load got no turn, or iosonar none to read its rings: once more,
# then.
run_whole() {
	run_once "$@"
	case $ended in
	0) why=$(grep -m1 -E '^(issued 0 = |hits 0;)' err) || return 0 ;;
	3) why=$(grep -m1 -E 'lost [0-9]+: (completion never seen|ring full)' err) || return 0 ;;
	*) return 0 ;;
	esac
	again "$why" || return 1
	run_once "$@"
}
run_once() {
	ended=0
	"$@" >out 2>err </dev/null || ended=$?
	status=$ended
}

@test "the examples of the manual run" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	[ -n "$manual_disk" ] || skip "no loop device can be made here"
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	[ -r /sys/kernel/tracing/available_events ] || skip "tracefs cannot be read here"
	cd "$tmp"
	mkdir bin
	ln -s "$iosonar" bin/iosonar
	PATH=$tmp/bin:$PATH
	# With pauses: beside guests iosonar may get no turn for a second, and rings hold some ten thousand records.
	while :; do dd if="$manual_disk" of=/dev/null bs=4k count=64 iflag=direct status=none; sleep 0.01; done 3>&- &
	load=$!
	run_whole "$iosonar" record -d "$manual_disk" -w run.cap -t 600ms
	[ "$status" -eq 0 ] || { cat err; return 1; }
	cp "$root/tests/data/class.cap" bio.cap
	cp "$root/tests/data/waits.cap" .
	cp run.cap before.cap
	cp run.cap after.cap
	for command in $(commands) line ''; do
		[ "$(examples "$(page "$command")" | wc -l)" -ge "$(runs "$command" && echo 5 || echo 3)" ]
		while read -r example; do
			run_whole bash -c "$(here "$example")"
			case $status$example in
			0* | 5*--fail-if* | 6*"--unsure fail"*) ;;
			4*fn:* | 4*"iosonar calls "* | 4*"iosonar class "* | 4*"iosonar waits fault "*) grep -q '^iosonar: functions cannot be probed here: ' err && continue ;;&
			3*:*) # a busy machine, on which the kernel skips some of its tracepoints' programs again and again
				[ "$(grep '^iosonar: lost ' err | grep -vc ': the kernel was running another program on that CPU$')" -eq 0 ] && continue
				;;&
			*) echo "exit $status: $(here "$example")"; cat err; return 1 ;;
			esac
			# The calls of others: there may be none.
			case $example in iosonar\ waits*-t\ * | *--out\ * | *--min* | *--failed* | *'if error' | iosonar\ record* | iosonar\ merge* | iosonar\ errors* | iosonar\ serve*) continue ;; esac
			[ -s out ] || { echo "no output: $(here "$example")"; cat err; return 1; }
		done < <(examples "$(page "$command")")
	done
	kill "$load"
	load=''
	for file in lat.json lat.cap layers.cap io.svg load.fio pattern.cap run.cap; do
		[ -s "$file" ] || { echo "no $file"; return 1; }
	done
}

# keys TYPE FILE: of the JSON objects of that type, not of objects inside them.
keys() { grep "^{\"type\":\"$1\"" "$2" | head -1 | sed 's/\(.\){[^{}]*}/\1/g' | grep -oE '"[a-z0-9_.]+":' | tr -d '":' | grep -vx type; }

# json_of VIEW: into $tmp/json, with every object it has. Nothing goes wrong here; what is in flight has to be met: many
# looks at many I/Os of many readers, until one is.
json_of() {
	unseen='-' # a type of object that this machine cannot show
	case $1 in
	errors) run_whole "$iosonar" errors -r "$root/tests/data/errors.cap" -o json --out "$tmp/json" ;;
	inflight)
		look="for i in {1..8}; do dd if='$manual_disk' of=/dev/null bs=256k count=997 iflag=direct status=none & done; wait"
		look="end=\$((SECONDS + 60)); until $look; grep -qs '\"type\":\"inflight\"' '$tmp/json' || [ \$SECONDS -ge \$end ]; do :; done"
		run_whole "$iosonar" inflight -d "$manual_disk" -i 1ms -o json --out "$tmp/json" -- bash -c "$look"
		if ! grep -q '"type":"inflight"' "$tmp/json"; then
			again "nothing was in flight at any look"
			run_once "$iosonar" inflight -d "$manual_disk" -i 1ms -o json --out "$tmp/json" -- bash -c "$look"
		fi
		;;
	top)
		unseen=trouble # nothing fails here; tests/vm/top_failed.sh compares it
		run_whole "$iosonar" top -d "$manual_disk" -i 10ms -o json --out "$tmp/json" -- \
			bash -c "dd if='$manual_disk' of=/dev/null bs=4k count=7 iflag=direct status=none; sleep 0.1"
		;;
	count | sum | hist | print | pair)
		read -ra words <<<"$(line_of "$1")"
		run_whole "$iosonar" "${words[@]}" -o json --out "$tmp/json" -- \
			dd if="$manual_disk" of=/dev/null bs=4k count=7 iflag=direct status=none
		;;
	cache)
		run_whole "$iosonar" cache --by op -o json --out "$tmp/json" -- dd if="$manual_disk" of=/dev/null bs=4k count=7 status=none
		"$iosonar" cache --residency "$root/README.md" -o json >>"$tmp/json"
		"$iosonar" cache -r "$root/tests/data/cache.cap" --then-io -o json >>"$tmp/json" 2>err || [ $? -eq 3 ]
		;;
	*) run_whole "$iosonar" "$1" -d "$manual_disk" -o json --out "$tmp/json" -- \
		dd if="$manual_disk" of=/dev/null bs=4k count=7 iflag=direct status=none ;;
	esac
	case $1 in # with what the command has in store else
	stacks) words=(stacks raw:block_rq_issue) ;;
	pair) words=(pair raw:block_rq_issue raw:block_rq_complete on rq --each) ;;
	*) return ;;
	esac
	mv "$tmp/json" "$tmp/first"
	run_whole "$iosonar" "${words[@]}" -o json --out "$tmp/json" -- dd if="$manual_disk" of=/dev/null bs=4k count=7 iflag=direct status=none
	cat "$tmp/first" >>"$tmp/json"
}

# line_of COMMAND: one without keys, whose names would be the line's own. Of a pair, from a task's last turn on a CPU to its
# end: dd has one, and most tasks do not end.
line_of() {
	case $1 in
	count) echo "count raw:block_rq_issue" ;;
	sum | hist) echo "$1 raw:block_rq_issue of cpu" ;;
	print) echo "print soft:context-switches:1" ;; # which has no fields
	pair) echo "pair raw:sched_switch raw:sched_process_exit on next->pid=p->pid" ;;
	esac
}

@test "every JSON key is in the manual" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	[ -n "$manual_disk" ] || skip "no loop device can be made here"
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cd "$tmp"
	for view in $views; do
		json_of "$view"
		case $view in
		latency) types="latency bucket ledger" ;;
		top) types="top sample ledger" ;;
		pattern) types="pattern pattern_op pattern_size pattern_gap pattern_depth pattern_heat" ;;
		inflight) types="inflight look" ;;
		stacks) types="stacks event_stacks" ;;
		hist) types="hist bucket" ;;
		pair) types="pair bucket each open" ;;
		cache) types="cache miss command method residency residency_part ledger" ;;
		*) types=$view ;;
		esac
		for type in $types; do
			[ -n "$(keys "$type" "$tmp/json")" ] || { echo "$view: no object of type $type"; return 1; }
			for key in $(keys "$type" "$tmp/json"); do
				case $view:$type in latency:ledger | top:ledger) of='' ;; *) of=$view ;; esac # the ledger of all that observe I/O
				grep -qE "^\.(It )?Li (.* , )?${key//./\\.}( |\$)" "$(page "$of")" || { echo "$view: $type: $key is not there"; return 1; }
			done
		done
	done
}

@test "steps are called what the manual calls them" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	[ -n "$manual_disk" ] || skip "no loop device can be made here"
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cd "$tmp"
	run_whole "$iosonar" layers -d "$manual_disk" -o json --out "$tmp/json" -- \
		dd if="$manual_disk" of=/dev/null bs=4k count=7 iflag=direct status=none
	sed -n 's/.*"step":"\([^"]*\)","what":"\([^"]*\)".*/\1 \2/p' "$tmp/json" | grep -v ' total$' | sort -u >steps
	grep -q '^D2C ' steps
	while read -r step what; do
		section "$(page layers)" DESCRIPTION | grep -qE "^\.It Li (.* , )?$step( , .*)? Ta $what Ta" ||
			{ echo "$step is not '$what'"; return 1; }
	done <steps
}

# A key that is printed and not promised is a hole in the schema, a type that is promised and not printed a lie.
@test "every JSON object is as its schema says" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	[ -n "$manual_disk" ] || skip "no loop device can be made here"
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cd "$tmp"
	for command in $(commands); do
		case " $views " in *" $command "*) ;; *) continue ;; esac
		json_of "$command"
		same "$command: types" "$(grep -oE '^\{"type":"[a-z_]+"' "$tmp/json" | cut -d'"' -f4 | sort -u)" "$(schema_types "$command" | grep -vx "$unseen" | sort)"
		for type in $(schema_types "$command"); do
			missing=$(keys "$type" "$tmp/json" | grep -vxFf <(schema_keys "$command" "$type")) || true
			[ -z "$missing" ] || { echo "$command: the schema of $type has no $missing"; return 1; }
		done
	done
}

@test "the manuals are clean" {
	command -v mandoc >/dev/null || skip "mandoc is missing"
	[ -z "$(mandoc -T lint -W warning "$root"/man/*.[78])" ]
}
