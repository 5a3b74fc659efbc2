#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# SQL over captures: rows and sums are those of trace, reckoned a second time in python; bounds that go down to the file
# lose no row; a query can read and nothing else; what is wrong is told in its place. Needs no root.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	cd "$root/tests/data" || return
	"$iosonar" --version | grep -qw sqlite || skip "built without SQLite"
}

# sql WORD...: rows as CSV without a heading; what is said is in $tmp/err.
sql() { "$iosonar" sql -o csv "$@" 2>"$tmp/err" | tail -n +2; }

@test "every row and cell of io is that of trace" {
	columns="start_ns last_ns end_ns dev qid cid op nsid lba sector bytes command status status_code result attempts lat_ns pid comm cpu"
	for file in nvme.cap v1.cap v1-zstd.cap v1-stages.cap errors.cap stacks.cap hang.cap; do
		"$iosonar" trace -r $file -o json 2>/dev/null | grep '"type":"trace"' >"$tmp/trace" || true
		"$iosonar" sql $file -o json "SELECT ${columns// /, } FROM io" >"$tmp/sql" 2>/dev/null || [ $? -eq 3 ]
		[ -s "$tmp/trace" ]
		python3 - "$tmp/trace" "$tmp/sql" "$columns" <<-'EOF'
			import json, sys
			trace, sql = [[json.loads(line) for line in open(f)] for f in sys.argv[1:3]]
			assert len(trace) == len(sql), (len(trace), len(sql))
			for t, s in zip(trace, sql):
			    for c in sys.argv[3].split():
			        want = t[c]
			        if c == "dev" and want == "?" or c == "comm" and want == "": # SQL says NULL of what is not known
			            want = None
			        if isinstance(want, int) and want >= 1 << 63:
			            want = float(want)
			        assert s[c] == want, (c, s[c], t[c])
		EOF
	done
}

@test "sums and percentiles of groups are what python makes of trace" {
	for file in nvme.cap v1.cap v1-stages.cap; do
		"$iosonar" trace -r $file -o json 2>/dev/null | grep '"type":"trace"' >"$tmp/trace"
		"$iosonar" sql $file -o json "SELECT dev, op, count(*) AS n, sum(bytes) AS bytes, max(lat_ns) AS most, p(lat_ns, 0) AS p0,
			p(lat_ns, 0.5) AS p50, p(lat_ns, 0.99) AS p99, p(lat_ns, 1) AS p100, hist(bytes) AS h
			FROM io WHERE lat_ns < 9e18 GROUP BY dev, op" >"$tmp/sql"
		python3 - "$tmp/trace" "$tmp/sql" <<-'EOF'
			import collections, json, math, sys
			groups = collections.defaultdict(list)
			for line in open(sys.argv[1]):
			    r = json.loads(line)
			    if r["lat_ns"] < 9e18:
			        groups[None if r["dev"] == "?" else r["dev"], r["op"]].append(r)
			rows = [json.loads(line) for line in open(sys.argv[2])]
			assert len(rows) == len(groups) > 1
			for row in rows:
			    of = groups[row["dev"], row["op"]]
			    lat = sorted(r["lat_ns"] for r in of)
			    rank = lambda hundredths: lat[max(1, -(-len(lat) * hundredths // 100)) - 1]
			    assert row["n"] == len(of) and row["bytes"] == sum(r["bytes"] for r in of)
			    assert row["most"] == lat[-1] == row["p100"] and row["p0"] == lat[0]
			    assert row["p50"] == rank(50) and row["p99"] == rank(99), (row, rank(50), rank(99))
			    for b in json.loads(row["h"]):
			        assert b["count"] == sum(b["from"] <= r["bytes"] < b["to"] for r in of), b
			    assert sum(b["count"] for b in json.loads(row["h"])) == len(of)
		EOF
	done
}

@test "bounds that go down to the file lose no row" {
	all=$(sql v1.cap 'SELECT count(*) FROM io')
	[ "$all" -gt 100 ]
	read -r first last <<<"$(sql v1.cap 'SELECT min(time_s), max(time_s) FROM io' | tr , ' ')"
	[ "$(sql v1.cap "SELECT count(*) FROM io WHERE time_s BETWEEN $first AND $last")" -eq "$all" ]
	# the first of a block, at which a bound lies
	block=$(sql v1.cap 'SELECT min(end_ns) FROM io')
	[ "$(sql v1.cap "SELECT count(*) FROM io WHERE end_ns <= $block")" -ge 1 ]
	[ "$(sql v1.cap "SELECT count(*) FROM io WHERE end_ns < $block")" -eq 0 ]
	for part in 0.1 0.35 0.5 0.9; do
		at=$(python3 -c "print($first + ($last - $first) * $part)")
		below=$(sql v1.cap "SELECT count(*) FROM io WHERE time_s < $at")
		# the same without a bound: +x is no column
		[ "$below" -eq "$(sql v1.cap "SELECT count(*) FROM io WHERE +time_s < $at")" ]
		[ $((below + $(sql v1.cap "SELECT count(*) FROM io WHERE time_s >= $at"))) -eq "$all" ]
		end=$(sql v1.cap "SELECT end_ns FROM io WHERE time_s >= $at ORDER BY end_ns LIMIT 1")
		[ "$(sql v1.cap "SELECT count(*) > 0 AND count(*) = (SELECT count(*) FROM io WHERE +end_ns = $end) FROM io WHERE end_ns = $end")" -eq 1 ]
	done
	for where in "op = 'read'" "dev = 'nvme0n1'" "dev = 'NVME0N1' COLLATE NOCASE" "op = 'read' OR op = 'write'" "op IN ('read', 'flush')" \
		"dev = 1" "time_s > 'x'" "time_s = NULL" "dev = 'nvme0n1' AND op = 'write' AND time_s > 0" "capture = 'v1.cap'" "capture = 'none'"; do
		plain=$(echo "$where" | sed -E 's/(dev|op|time_s|capture)( =| >| IN)/+\1\2/g')
		[ "$(sql v1.cap "SELECT count(*) FROM io WHERE $where")" -eq "$(sql v1.cap "SELECT count(*) FROM io WHERE $plain")" ] || { echo "$where"; return 1; }
	done
	[ "$(sql v1.cap "SELECT count(*) FROM io WHERE dev = 'NVME0N1' COLLATE NOCASE")" -gt 0 ]
}

@test "a span is that of --from and --to" {
	for span in "0s 1s" "1s 2s" "500ms 1500ms"; do
		read -r from to <<<"$span"
		seconds() { python3 -c "t = '$1'; print(float(t[:-2]) / 1000 if t.endswith('ms') else t[:-1])"; }
		[ "$(sql nvme.cap "SELECT count(*) FROM io WHERE time_s >= $(seconds "$from") AND time_s < $(seconds "$to")")" -eq \
			"$("$iosonar" trace -r nvme.cap --from "$from" --to "$to" -o json 2>/dev/null | grep -c '"type":"trace"')" ] || { echo "$span"; return 1; }
	done
}

@test "what hist tells is a table for SQLite" {
	# each bucket holds the values from its beginning to its end
	[ "$(sql nvme.cap "SELECT count(*) > 1 AND total(value->>'count' != (SELECT count(*) FROM io WHERE bytes >= value->>'from' AND bytes < value->>'to')) = 0
		FROM (SELECT hist(bytes) AS h FROM io WHERE bytes > 0), json_each(h)")" -eq 1 ]
	[ "$(sql nvme.cap "SELECT sum(value->>'count') FROM (SELECT hist(lat_ns) AS h FROM io), json_each(h)")" -eq "$(sql nvme.cap 'SELECT count(*) FROM io')" ]
}

@test "p(x, 0) is the smallest, p(x, 1) the largest" {
	[ "$(sql nvme.cap 'SELECT p(lat_ns, 0) = min(lat_ns) AND p(lat_ns, 1) = max(lat_ns) AND p(lat_ns, 1.0) = max(lat_ns) FROM io')" -eq 1 ]
}

@test "a device is one row, under however many numbers its records have it" {
	for file in nvme.cap v1-stages.cap stacks.cap returned.cap; do
		"$iosonar" info $file -o json | grep -c '"type":"device"' >"$tmp/devices"
		[ "$(sql $file 'SELECT count(*) FROM device')" -eq "$(cat "$tmp/devices")" ]
		[ "$(sql $file 'SELECT count(DISTINCT dev || diskseq || serial) = count(*) FROM (SELECT dev, ifnull(diskseq, 0) AS diskseq, ifnull(serial, 0) AS serial FROM device)')" -eq 1 ]
	done
	[ "$(sql returned.cap "SELECT count(*) FROM device WHERE dev = 'nvme0n1'")" -eq 2 ] # it came back
}

@test "what was lost is a list of its own" {
	[ "$(sql v1.cap "SELECT count(*) > 0 FROM ledger WHERE list = 'lost'")" -eq 1 ]
	[ "$(sql v1.cap "SELECT list, name, value FROM ledger ORDER BY 1, 2")" = "$("$iosonar" info v1.cap -o json |
		python3 -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin]
print("\n".join(sorted(",".join([r["list"], r["name"], str(r["value"])]) for r in rows if r["type"] == "count")))')" ]
}

@test "of several captures come the rows of all, each with its file" {
	each() { for file; do sql "$file" 'SELECT capture, count(*) FROM io'; done; }
	[ "$(sql nvme.cap v1.cap errors.cap 'SELECT capture, count(*) FROM io GROUP BY capture ORDER BY capture')" = "$(each nvme.cap v1.cap errors.cap | sort)" ]
	[ "$(sql nvme.cap v1.cap "SELECT count(*) FROM io WHERE capture = 'v1.cap'")" -eq "$(sql v1.cap 'SELECT count(*) FROM io')" ]
	[ "$(sql nvme.cap v1.cap 'SELECT count(DISTINCT rowid) = count(*) FROM io')" -eq 1 ]
	# each row finds its device, in its own file
	[ "$(sql nvme.cap v1-stages.cap 'SELECT count(*) FROM io JOIN device USING (capture, dev)')" -eq \
		"$(sql nvme.cap v1-stages.cap 'SELECT count(*) FROM io WHERE dev IS NOT NULL')" ]
}

@test "calls are those of calls and class" {
	for file in calls class; do
		"$iosonar" class -r $file.cap --calls -o json 2>/dev/null | grep '"type":"call"' >"$tmp/calls"
		"$iosonar" sql $file.cap -o json 'SELECT * FROM call' >"$tmp/sql"
		[ -s "$tmp/calls" ]
		python3 - "$tmp/calls" "$tmp/sql" <<-'EOF'
			import json, sys
			calls, sql = [[json.loads(line) for line in open(f)] for f in sys.argv[1:]]
			assert len(calls) == len(sql), (len(calls), len(sql))
			for c, s in zip(calls, sql):
			    for key in c.keys() - {"type", "time_s", "wall"}:
			        assert c[key] == s[key], (key, c[key], s[key])
			    assert abs(c["time_s"] - s["time_s"]) < 1e-8
		EOF
	done
}

@test "stacks are those that commands name, the ledger is that of info" {
	[ "$(sql stacks.cap 'SELECT count(*) > 0 AND count(*) = count(frames) FROM io LEFT JOIN stack ON id = kernel_stack AND stack.pid IS NULL
		WHERE kernel_stack IS NOT NULL')" -eq 1 ]
	[ "$(sql nvme.cap "SELECT list, name, value FROM ledger ORDER BY 1, 2")" = "$("$iosonar" info nvme.cap -o json |
		python3 -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin]
print("\n".join(sorted(",".join([r["list"], r["name"], str(r["value"])]) for r in rows if r["type"] == "count")))')" ]
}

@test "a query only reads" {
	mkdir "$tmp/empty" && cp nvme.cap "$tmp/empty" && cd "$tmp/empty"
	for query in "ATTACH 'x.db' AS x" "VACUUM INTO 'x.db'" "CREATE TABLE x(a)" "CREATE TEMP TABLE x AS SELECT 1" "CREATE VIEW v AS SELECT 1" \
		"CREATE VIRTUAL TABLE x USING io" "INSERT INTO io DEFAULT VALUES" "DELETE FROM io" "UPDATE device SET dev = 1" "DROP TABLE io" \
		"PRAGMA journal_mode = wal" "PRAGMA temp_store_directory = '.'" "PRAGMA writable_schema(1)" "SELECT load_extension('./x')" \
		"SELECT readfile('nvme.cap')" "SELECT writefile('x', 1)" "BEGIN; SELECT 1" "SAVEPOINT x; SELECT 1" "ANALYZE io; SELECT 1"; do
		status=0
		"$iosonar" sql nvme.cap "$query" >out 2>err || status=$?
		[ "$status" -eq 2 ] || { echo "$query: exit $status"; return 1; }
		[ ! -s out ]
		grep -q '^iosonar: sql: ' err || { echo "$query: $(cat err)"; return 1; }
		rm out err
		[ "$(ls)" = nvme.cap ] || { echo "$query: left $(ls)"; return 1; }
	done
	"$iosonar" sql nvme.cap "ATTACH 'x.db' AS x" 2>err || true
	[ "$(cat err)" = "iosonar: sql: ATTACH is refused: a query only reads" ]
	[ "$("$iosonar" sql nvme.cap -o csv 'PRAGMA table_info(ledger)' | sed -n 4p | cut -d, -f2)" = list ]
}

# refused QUERY LINE...: exit 2, these lines, nothing else.
refused() {
	local query=$1 status=0
	shift
	"$iosonar" sql nvme.cap "$query" >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 2 ]
	[ ! -s "$tmp/out" ]
	[ "$(cat "$tmp/err")" = "iosonar: $(printf '%s\n' "$@")" ] || { cat "$tmp/err"; return 1; }
}

@test "what is wrong is told, in its place" {
	refused 'SELECT lat FROM io' 'sql: no such column: lat' 'SELECT lat FROM io' '       ^'
	refused '/* first */
SELEC 2; SELECT 3
/* last */' 'sql: near "SELEC": syntax error' 'SELEC 2; SELECT 3' '^'
	refused 'SELECT * FROM ios' 'sql: no such table: ios'
	refused 'SELECT p(lat_ns, 99) FROM io' 'sql: p(x, part): part must be a number from 0 to 1, e.g. p(lat_ns, 0.99)'
	refused "SELECT p(lat_ns, 0.1 * (rowid % 3)) FROM io" 'sql: p(x, part): part must be the same for all rows'
	refused "SELECT p(comm, 0.5) FROM io" 'sql: p(x, part): x must be a number'
	refused "SELECT hist(comm) FROM io" 'sql: hist(x): x must be a number'
	status=0
	"$iosonar" sql 2>"$tmp/err" || status=$?
	[ "$status" -eq 2 ]
	[ "$(cat "$tmp/err")" = "iosonar: sql requires a capture, e.g. iosonar sql FILE 'SELECT ...'" ]
	status=0
	"$iosonar" sql none.cap 'SELECT 1' 2>"$tmp/err" || status=$?
	[ "$status" -eq 1 ]
}

@test "what comes out is what went in, in every format" {
	query="SELECT NULL AS n, 'a,\"b' || char(10) || char(27) || '[2J' AS \"k\"\"1\", -9223372036854775808 AS i, 0.1 AS r, x'00ff' AS b,
		'a' || char(0) AS z, 1 AS type, 2 AS i, 'é' AS u"
	"$iosonar" sql nvme.cap -o json "$query" | python3 -c 'import json, sys
r = json.load(sys.stdin)
assert r == {"type": "row", "n": None, "k\"1": "a,\"b\\x0a\\x1b[2J", "i": -2**63, "r": 0.1, "b": "X\u002700FF\u0027", "z": "X\u00276100\u0027",
	"type_2": 1, "i_2": 2, "u": "é"}, r'
	"$iosonar" sql nvme.cap -o csv "$query" | python3 -c 'import csv, sys
rows = list(csv.reader(sys.stdin))
assert rows[0] == ["n", "k\"1", "i", "r", "b", "z", "type", "i_2", "u"], rows
assert rows[1:] == [["", "a,\"b\\x0a\\x1b[2J", str(-2**63), "0.1", "X\u002700FF\u0027", "X\u00276100\u0027", "1", "2", "é"]], rows'
	[ "$("$iosonar" sql nvme.cap "$query" | grep -c "$(printf '\033')")" -eq 0 ]
	[ "$("$iosonar" sql nvme.cap "$query" | wc -l)" -eq 2 ]
	# names in captures, too
	[ "$("$iosonar" sql v1.cap "SELECT model FROM device" | grep -ac "$(printf '\033')")" -eq 0 ]
}

@test "standard input, commands of its own, and the manual" {
	[ "$(printf '.tables\n' | "$iosonar" sql nvme.cap | cut -d' ' -f1 | xargs)" = "io device stack call ledger" ]
	[ "$(printf 'SELECT count(*)\n  FROM io; SELECT\n1 AS one -- the last has no end' | "$iosonar" sql nvme.cap -o csv | xargs)" = "count(*) 28 one 1" ]
	status=0
	printf 'SELECT x;\nSELECT 1;\n' | "$iosonar" sql nvme.cap >"$tmp/out" 2>/dev/null || status=$?
	[ "$status" -eq 2 ]
	[ ! -s "$tmp/out" ]
	status=0
	"$iosonar" sql .shcema 2>"$tmp/err" || status=$?
	[ "$status" -eq 2 ]
	"$iosonar" sql .schema | sed -nE 's/^CREATE TABLE ([a-z]+)\(.*/.Ss \1/p; s/^  ([a-z_]+) +([A-Z]+),? +-- (.*)/.It Li \1 Ta \2 Ta \3/p' >"$tmp/schema"
	grep -q '^\.Ss ledger' "$tmp/schema"
	sed -n '/^\.Sh TABLES/,/^\.Sh EXIT/p' "$root/man/iosonar-sql.8" | grep -E '^\.(Ss|It) ' | diff - "$tmp/schema"
}

@test "a prompt on a terminal: lines, mistakes, completion, the end" {
	"$iosonar" --version | grep -qw libedit || skip "built without libedit"
	python3 - "$iosonar" <<-'EOF'
		import os, pty, select, sys, termios, time
		pid, fd = pty.fork()
		if not pid:
		    os.environ["TERM"] = "dumb"
		    os.execv(sys.argv[1], [sys.argv[1], "sql", "nvme.cap"])
		said = b""
		end = time.time() + 60
		def take(seconds):
		    global said
		    assert time.time() < end, said[-300:]
		    if select.select([fd], [], [], seconds)[0]:
		        said += os.read(fd, 4096)
		def wait(what):
		    global said
		    while what not in said:
		        assert time.time() < end, (what, said[-300:])
		        take(1)
		    said = said[said.index(what) + len(what):]
		def press(keys): # before the prompt reads keys one by one, some mean something else
		    while termios.tcgetattr(fd)[3] & termios.ICANON:
		        assert time.time() < end
		        time.sleep(.05)
		    os.write(fd, keys)
		wait(b"sql> ")
		press(b".tables\n")
		wait(b"ledger")
		wait(b"sql> ")
		press(b"SELECT nonesuch FROM io;\n")
		wait(b"no such column: nonesuch")
		wait(b"sql> ")
		press(b"SELECT max(status_c\t) AS code,\n")
		wait(b"...> ")
		press(b"4 * 4 AS four FROM io;\n")
		wait(b"code four")
		wait(b"16")
		wait(b"sql> ")
		press(b"SELECT 1 FROM\n")
		wait(b"...> ")
		os.write(fd, b"\x03")
		wait(b"sql> ")
		press(b"SELECT 6 * 7; WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n;\n")
		wait(b"42") # and now the endless one
		os.write(fd, b"\x03")
		wait(b"interrupted")
		wait(b"sql> ")
		press(b"\x04")
		while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
		    assert time.time() < end
		    time.sleep(.05)
		assert ended[1] == 0
	EOF
}

@test "a cut or damaged capture gives what is whole, and exits 3" {
	size=$(stat -c %s v1.cap)
	head -c $((size / 2)) v1.cap >"$tmp/cut.cap"
	status=0
	"$iosonar" sql "$tmp/cut.cap" -o csv 'SELECT count(*) FROM io' >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 3 ]
	grep -q 'cut.cap is truncated' "$tmp/err"
	[ "$(tail -1 "$tmp/out")" -eq "$("$iosonar" trace -r "$tmp/cut.cap" -o json 2>/dev/null | grep -c '"type":"trace"')" ]
}

@test "the table of docs/fleet.md has the columns of export" {
	"$iosonar" help | grep -q '^  export ' || skip "there is no export"
	sed -n '/^) ENGINE/q; /^CREATE TABLE io (/,$s/^    \([a-z_]*\) .*/\1/p' "$root/docs/fleet.md" | grep -vxE 'time|loaded' >"$tmp/table"
	"$iosonar" export -r nvme.cap -o csv 2>/dev/null | head -1 | tr , '\n' | diff "$tmp/table" -
}

@test "the static program has no sql: exit 4 and one line" {
	static=${IOSONAR_STATIC:-$root/build/iosonar-static}
	[ -x "$static" ] || [ -n "${IOSONAR_STATIC:-}" ] || skip "it is not built: make static"
	status=0
	"$static" sql nvme.cap 'SELECT 1' >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 4 ]
	[ ! -s "$tmp/out" ]
	[ "$(wc -l <"$tmp/err")" -eq 1 ]
}

@test "a query ends at its limits of memory and time" {
	blobs='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
		SELECT count(*) FROM (SELECT randomblob(1000000) AS b FROM n ORDER BY b)'
	forever='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;'
	numbers='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 4000000) SELECT p(i, 0.5) FROM n'
	run timeout 60 "$iosonar" sql --limit-memory 32Mi nvme.cap "$blobs"
	[ "$status" -eq 1 ]
	[ "$output" = "iosonar: sql: the query exceeds the memory limit of 32.0Mi: narrow the query, or raise --limit-memory" ]
	run timeout 60 "$iosonar" sql --limit-memory 16Mi nvme.cap "$numbers"
	[ "$status" -eq 2 ]
	[[ $output = *"more memory than --limit-memory allows"* ]]
	run timeout 60 "$iosonar" sql --limit-time 100ms nvme.cap "$forever"
	[ "$status" -eq 3 ]
	[[ $output = *"exceeded the limit of 100ms (--limit-time)"* ]]
	run timeout 60 "$iosonar" sql --limit-time 100ms nvme.cap <<<"$forever"
	[[ $output = *"exceeded the limit of 100ms (--limit-time)"* ]]
}

# As a list, 600,000 rows take more than 16 MiB.
@test "what a query sorts is kept in runs, which take a third of the memory" {
	groups='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 600000)
		SELECT count(*), max(nr) FROM (SELECT i * 7919 % 4000037 AS k, count(*) AS nr FROM n GROUP BY k)'
	run timeout 60 "$iosonar" sql --limit-memory 16Mi nvme.cap -o csv "$groups"
	[ "$status" -eq 0 ]
	[ "${lines[1]}" = 600000,1 ]
}

@test "no text or blob is larger than 64 MiB" {
	run "$iosonar" sql nvme.cap -o csv 'SELECT length(zeroblob(64 * 1024 * 1024))'
	[ "${lines[1]}" -eq $((64 << 20)) ]
	run "$iosonar" sql nvme.cap 'SELECT length(zeroblob(64 * 1024 * 1024 + 1))'
	[ "$status" -eq 2 ]
	[[ $output = *"too big"* ]]
}
