# SPDX-License-Identifier: BSD-2-Clause
# iosonar completion for bash: eval "$(iosonar --completion bash)"
_iosonar_names()
{
	local path
	for path; do
		[[ -e $path ]] && printf '%s\n' "${path##*/}"
	done
}

_iosonar_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

# words with commas between them: only what stands behind the last one is completed
_iosonar_list()
{
	local head=
	[[ $cur == *,* ]] && head=${cur%,*},
	mapfile -t COMPREPLY < <(compgen -P "$head" -W "$1" -- "${cur##*,}")
}

_iosonar_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

# bash cuts words at colons: the word that ends at place $1, put together again, is in $word
_iosonar_joined()
{
	word=${COMP_WORDS[$1]}
	for ((first = $1; first > 2; first--)); do
		[[ ${COMP_WORDS[first]} == :* || ${COMP_WORDS[first - 1]} == *: ]] || break
		word=${COMP_WORDS[first - 1]}$word
	done
}

# adds those words that begin with $1; names come from files: nothing in them is expanded
_iosonar_offer()
{
	local begin=$1 word
	shift
	for word; do
		[[ $word == "$begin"* ]] && COMPREPLY+=("$head$word")
	done
}

# events: the program knows them; before the first colon, which systems and kinds there are
_iosonar_events()
{
	local word first head= names kinds='fn: ret: raw: user: userret: usdt: profile: interval: soft: hw:'
	_iosonar_joined "$COMP_CWORD"
	if [[ $word =~ ^(user|userret|usdt):[^:]*$ ]]; then
		cur=${cur#:}
		_iosonar_files
		return
	fi
	mapfile -t names < <("${COMP_WORDS[0]}" events --names -o csv "$word*" 2>/dev/null | tail -n +2)
	if [[ $word == *:* ]]; then
		_iosonar_offer "$word" "${names[@]}"
		COMPREPLY=("${COMPREPLY[@]#"${word%:*}:"}")
	else
		compopt -o nospace 2>/dev/null
		mapfile -t names < <(printf '%s:\n' "${names[@]%%:*}" | sort -u)
		_iosonar_offer "$word" "${names[@]}" $kinds
	fi
}

# what the events before place $1 know, and what every event knows
_iosonar_values()
{
	local word first at values events=() head= breaks='*[ ,(]'
	for ((at = $1 - 1; at > 1; at = first - 1)); do
		_iosonar_joined "$at"
		[[ $word == -* ]] || events+=("${word//[\'\"]/}")
	done
	cur=${cur#[\'\"]}
	head=${cur%"${cur##$breaks}"}
	mapfile -t values < <("${COMP_WORDS[0]}" events -v -o csv "${events[@]}" 2>/dev/null | tail -n +2 | cut -d, -f2)
	_iosonar_offer "${cur##$breaks}" "${values[@]}" \
		pid tid uid comm cpu cgroup nsecs time probe func kstack ustack latency
}

# the clauses that the command has and the line has not, but not right behind a clause's word
_iosonar_clauses()
{
	local clause head= clauses='of by if show on'
	case ${COMP_WORDS[1]} in
	count | stacks) clauses='by if' ;;
	sum | hist) clauses='of by if' ;;
	print) clauses='show if' ;;
	pair) clauses='on by if' ;;
	esac
	((COMP_CWORD > 2)) || return 0
	[[ ${COMP_WORDS[COMP_CWORD - 1]} =~ ^(of|by|if|show|on)$ ]] && return 0
	for clause in $clauses; do
		[[ " ${COMP_WORDS[*]:2} " == *" $clause "* ]] || _iosonar_offer "$cur" $clause
	done
}

# EVENT... of VALUE by KEYS if CONDITION: events, then the values of those
_iosonar_line()
{
	local i
	_iosonar_clauses
	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} =~ ^(of|by|if|show|on)$ ]] || continue
		_iosonar_values "$i"
		return
	done
	_iosonar_events
}

# structs of the kernel, by their beginning; the program knows them
_iosonar_structs()
{
	local head= names
	mapfile -t names < <("${COMP_WORDS[0]}" class --names -o csv "$cur" 2>/dev/null | tail -n +2)
	_iosonar_offer "$cur" "${names[@]}"
}

# kernel functions, by their beginning, and those of files
_iosonar_functions()
{
	local word first head= names
	_iosonar_joined "$COMP_CWORD"
	if [[ $word == user:* ]]; then
		_iosonar_events
		return
	fi
	mapfile -t names < <("${COMP_WORDS[0]}" events --names -o csv "fn:$cur*" 2>/dev/null | tail -n +2)
	_iosonar_offer "$cur" "${names[@]#fn:}"
}

_iosonar()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i
	COMPREPLY=()
	# bash cuts --name=value at the "="
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] || continue
		((i + 1 < COMP_CWORD)) && { _iosonar_files; return; }
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		return
	done
	((COMP_CWORD > 1)) || prev=
	case ${COMP_WORDS[1]}/$prev in
