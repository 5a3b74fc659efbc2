# SPDX-License-Identifier: BSD-2-Clause
#
# takers: reads what bpftool dumps of a BTF, raw, and prints "STRUCT HOW FUNCTION" for each function that takes one of the
# structs (-v structs="bio request") by pointer: HOW is plain, or through if only through const, volatile or a typedef; ret
# if it takes none and returns one. What follows a line "module NAME" is of that module, which stands behind its functions.
# "twin of FUNCTION" is one that BTF has more than once. Each type is followed once: a guest is slow.

BEGIN {
	nr = split(structs, word, " ")
	for (w = 1; w <= nr; w++)
		wanted["'" word[w] "'"] = word[w]
	qualifies["CONST"] = qualifies["VOLATILE"] = qualifies["RESTRICT"] = qualifies["TYPEDEF"] = 1
	is_struct["STRUCT"] = is_struct["FWD"] = 1
}

# [12] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1
#	'bio' type_id=11
/^\t/ {
	if (is_proto)
		params[current] = params[current] " " substr($2, 9)
	next
}

/^module / {
	module = " " $2
	next
}

{
	current = substr($1, 2, length($1) - 2)
	is_proto = $2 == "FUNC_PROTO"
	if ($2 == "PTR")
		pointee[current] = substr($4, 9)
	else if ($2 in qualifies)
		below[current] = substr($4, 9)
	else if ($2 in is_struct && $3 in wanted)
		object[current] = wanted[$3]
	else if ($2 == "FUNC") {
		func_name = substr($3, 2, length($3) - 2) module
		proto[func_name, current] = substr($4, 9)
		if (seen[func_name]++ == 1)
			print "twin of", func_name
	}
	else if (is_proto)
		returns[current] = substr($4, 13)
}

function strip(id) {
	while (id in below) {
		id = below[id]
		is_through = 1
	}
	return id
}

# "bio plain": the wanted struct that it points to, and how; or "".
function target(id, of) {
	if (id in targets)
		return targets[id]
	is_through = 0
	of = strip(id)
	of = of in pointee ? strip(pointee[of]) : 0
	return targets[id] = of in object ? object[of] (is_through ? " through" : " plain") : ""
}

# What is said of a function: a plain one counts more than one through something.
function note(id) {
	if (!target(id))
		return
	split(targets[id], said, " ")
	if (how[said[1]] != "plain")
		how[said[1]] = said[2]
}

END {
	for (key in proto) {
		split(key, name, SUBSEP)
		split("", how)
		nr = split(params[proto[key]], param, " ")
		for (p = 1; p <= nr; p++)
			note(param[p])
		if (target(returns[proto[key]])) {
			split(targets[returns[proto[key]]], said, " ")
			if (!how[said[1]])
				how[said[1]] = "ret"
		}
		for (one in how)
			if (how[one])
				print one, how[one], name[1]
	}
}
