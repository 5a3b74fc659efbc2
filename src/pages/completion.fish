# SPDX-License-Identifier: BSD-2-Clause
# iosonar completion for fish: iosonar --completion fish | source
# or a file iosonar.fish in ~/.config/fish/completions
function __iosonar_is_first
	test (count (commandline -opc)) -eq 1
end

# the command is one of these, and the words are not yet those of a COMMAND after --
function __iosonar_is
	set -l words (commandline -opc)
	set -q words[2]
	and contains -- $words[2] $argv
	and not contains -- -- $words
end

function __iosonar_runs
	contains -- -- (commandline -opc)
end

# what fish itself offers for the words after --
function __iosonar_command
	set -l words (commandline -opc)
	set -l at (contains -i -- -- $words)
	set -l rest
	test $at -lt (count $words)
	and set rest (string escape -- $words[(math $at + 1)..])
	complete -C (string join ' ' -- $rest (commandline -ct | string collect -a))
end

function __iosonar_devices
	for path in /sys/class/block/* /sys/class/nvme/*
		string replace -r '.*/' '' -- $path
	end
end

# events: the program knows them; before the first colon, which systems and kinds there are
function __iosonar_events
	set -l word (commandline -ct)
	set -l program (commandline -opc)[1]
	set -l head (string match -r '^(?:user|userret|usdt):' -- $word)
	if set -q head[1]; and not string match -q '*:*:*' -- $word
		string join \n -- $head(__fish_complete_path (string sub -s (math (string length $head) + 1) -- $word))
		return
	end
	set -l names ($program events --names -o csv "$word*" 2>/dev/null)[2..]
	if string match -q '*:*' -- $word
		string join \n -- $names
	else
		string replace -r ':.*' ':' -- $names | sort -u
		string join \n -- fn: ret: raw: user: userret: usdt: profile: interval: soft: hw:
	end
end

# what these events know, and what every event knows
function __iosonar_values
	set -l program (commandline -opc)[1]
	set -l head (commandline -ct | string replace -r '^[\'"]' '' | string replace -rf '^(.*[ ,(])[^ ,(]*$' '$1')
	set -l values ($program events -v -o csv $argv 2>/dev/null | tail -n +2 | cut -d, -f2)
	string join \n -- "$head"$values "$head"{pid,tid,uid,comm,cpu,cgroup,nsecs,time,probe,func,kstack,ustack,latency}
end

# EVENT... of VALUE by KEYS if CONDITION: events, then clauses, then the values of those events
function __iosonar_line
	set -l words (commandline -opc)
	set -l command $words[2]
	set -e words[1..2]
	set -l all of by if show on
	set -l clauses on by if
	switch $command
		case count stacks
			set clauses by if
		case sum hist
			set clauses of by if
		case print
			set clauses show if
	end
	if set -q words[1]; and not contains -- $words[-1] $all
		for clause in $clauses
			contains -- $clause $words
			or echo $clause
		end
	end
	set -l events
	for word in $words
		if contains -- $word $all
			__iosonar_values $events
			return
		end
		string match -q -- '-*' $word
		or set -a events (string trim -c '\'"' -- $word)
	end
	__iosonar_events
end

# structs of the kernel, by their beginning; the program knows them
function __iosonar_structs
	set -l program (commandline -opc)[1]
	string join \n -- ($program class --names -o csv (commandline -ct) 2>/dev/null)[2..]
end

# kernel functions, by their beginning, and those of files
function __iosonar_functions
	set -l word (commandline -ct)
	set -l program (commandline -opc)[1]
	if string match -q 'user:*' -- $word
		__iosonar_events
		return
	end
	string replace 'fn:' '' -- ($program events --names -o csv "fn:$word*" 2>/dev/null)[2..]
end

complete -c iosonar -f
complete -c iosonar -n __iosonar_runs -a '(__iosonar_command)'
