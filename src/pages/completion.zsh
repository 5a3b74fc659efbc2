# SPDX-License-Identifier: BSD-2-Clause
#compdef iosonar
# iosonar completion for zsh: a file _iosonar in a folder of $fpath, or after compinit
# source <(iosonar --completion zsh)
_iosonar_devices() {
	local -a names
	names=(/sys/class/block/*(N:t) /sys/class/nvme/*(N:t))
	compadd "$@" -a names
}
_iosonar_offer_events() {
	local -a names kinds
	kinds=(fn: ret: raw: user: userret: usdt: profile: interval: soft: hw:)
	if [[ $PREFIX == (user|userret|usdt):[^:]# ]]; then
		compset -P '*:'
		_files
		return
	fi
	names=(${(f)"$(iosonar events --names -o csv "$PREFIX*" 2>/dev/null)"})
	shift names
	if [[ $PREFIX == *:* ]]; then
		compadd "$@" -a names
	else
		names=(${^${(u)names%%:*}}:)
		compadd "$@" -S '' -a names kinds
	fi
}
_iosonar_offer_structs() {
	local -a names
	names=(${(f)"$(iosonar class --names -o csv "$PREFIX" 2>/dev/null)"})
	shift names
	compadd "$@" -a names
}
_iosonar_offer_functions() {
	local -a names
	if [[ $PREFIX == user:* ]]; then
		_iosonar_offer_events "$@"
		return
	fi
	names=(${(f)"$(iosonar events --names -o csv "fn:$PREFIX*" 2>/dev/null)"})
	shift names
	names=(${names#fn:})
	compadd "$@" -a names
}
_iosonar_offer_line() {
	local -a names events clauses
	local at=${words[(i)(of|by|if|show|on)]} dashes=${words[(i)--]}
	if ((dashes < CURRENT)); then
		shift dashes words
		((CURRENT -= dashes))
		_normal
		return
	fi
	case $words[1] in
	count | stacks) clauses=(by if) ;;
	sum | hist) clauses=(of by if) ;;
	print) clauses=(show if) ;;
	*) clauses=(on by if) ;;
	esac
	if ((CURRENT > 2)) && [[ $words[CURRENT-1] != (of|by|if|show|on) ]]; then
		compadd -- ${clauses:|words}
	fi
	if ((at >= CURRENT)); then
		_iosonar_offer_events "$@"
		return
	fi
	events=(${words[2,at-1]:#-*})
	names=(${(f)"$(iosonar events -v -o csv ${(Q)events} 2>/dev/null | cut -d, -f2)"})
	shift names
	compset -P '*[ ,(]'
	compadd -S '' -a names
	compadd -S '' pid tid uid comm cpu cgroup nsecs time probe func kstack ustack latency
}
