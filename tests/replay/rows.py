# SPDX-License-Identifier: BSD-2-Clause
# rows.py: golden texts in JSON and CSV, and tables of sql.
import collections
import csv
import json
import re

from capture import SUBMIT
from golden import *
from view import *

# --- latency ---

def check_latency(golden, v, keys, rows):
    match(golden.of("latency") if golden.of("latency") else golden.rows, rows, ["span", "time_s"] + keys)


# Buckets of --lat_min_us 1000 --lat_shift 6: iosonar-latency(8), HISTOGRAMS.
ENDS = [0, 10**6] + [10**6 + 1000 * 2 ** (6 + n) for n in range(27)] + [0]
ZOOM = list(zip(ENDS, ENDS[1:]))


# Each bucket holds as many as lie between its ends, and no command is in none of them.
def check_hist(golden, v, keys):
    groups = {tuple(str(k) for k in key): [r["lat"] for r in of] for key, of in grouped(v.ended, keys).items()}
    left = {key: len(lats) for key, lats in groups.items()}
    before = collections.Counter()
    for row in golden.of("bucket"):
        key = tuple(str(row[k]) for k in keys)
        nr = sum(row["from_ns"] <= lat and (lat < row["to_ns"] or not row["to_ns"]) for lat in groups[key])
        row.seen = row.seen | set(keys) | {"from_ns", "to_ns"}
        if golden.name == "latency-zoom":
            same("a bucket", (row["from_ns"], row["to_ns"]) in ZOOM, True)
        else:
            same("a bucket", (bucket(row["from_ns"]), row["from_ns"] + width(row["from_ns"])), (row["from_ns"], row["to_ns"]))
        row.check("time_s", round((v.end - v.start) / SECOND, 3))
        row.check("count", nr)
        left[key] -= nr
        before[key] += nr
        row.check("cumulative_percent", before[key] * 100 / len(groups[key]))
    same("commands that are in no bucket", sum(left.values()), 0)


# The ledger is that of the recording: what its trailer does not name is 0.
def check_ledger(golden, *views):
    for row in golden.of("ledger"):
        sums = {key: sum(v.c.trailer["ledger"].get(key, 0) for v in views) for key in row if key != "type"}
        lost = sum(value for key, value in sums.items() if key.startswith("lost_"))
        sums["unaccounted"] = sums["issued"] - sums["completed"] - sums["in_flight"] - lost
        for key, value in sums.items():
            row.check(key, value)


@case("latency-json", "latency-zoom")
def _(data, golden):
    v = view(data, "nvme.cap")
    keys = ["op"] if golden.name == "latency-zoom" else ["dev", "op", "size_class"]
    rows = latency(v, keys)
    check_latency(golden, v, keys, without(rows, *percentiles([1])) if golden.name == "latency-zoom" else rows)
    check_hist(golden, v, keys)
    check_ledger(golden, v)


@case("latency-tasks", "latency-span", "latency-count", "latency-fail-if", "latency-cpu", "latency-in-cgroup", "latency-file",
      "latency-hostile", "latency-repeated", "forged-latency-csv")
def _(data, golden):
    name, default = golden.name, ["dev", "op"]
    captures = {"latency-cpu": "v1-stages", "latency-in-cgroup": "v1-stages", "latency-file": "stacks", "latency-hostile": "v1",
                "latency-repeated": "repeated", "forged-latency-csv": "forged"}
    keys = {"latency-tasks": ["qid", "pid", "comm"], "latency-cpu": ["cpu"], "latency-file": ["op", "file"],
            "latency-hostile": default + ["size_class"], "forged-latency-csv": ["comm"]}.get(name, default)
    how = {"latency-tasks": {"interval": SECOND // 2}, "latency-hostile": {"interval": 2 * 10**6},
           "latency-span": {"interval": 50 * 10**6, "begin": 1700 * 10**6, "end": 1800 * 10**6},
           "latency-count": {"end": 2 * SECOND}}.get(name, {})
    v = view(data, captures.get(name, "nvme") + ".cap", csv_text)
    if name == "latency-in-cgroup":
        how["records"] = [r for r in v.ended if v.cgroup(r) == "/system.slice/a.service"]
    check_latency(golden, v, keys, latency(v, keys, **how))


@case("latency-merged")
def _(data, golden):
    v = view(data, "nvme.cap")
    check_latency(golden, v, ["dev", "op"], latency(v, ["dev", "op"], records=sorted(v.ended * 2, key=lambda r: r["time"])))


# --- trace ---

TRACE = {"start_ns": "first_ns", "last_ns": "last_ns", "end_ns": "end_ns", "qid": "qid", "nsid": "nsid", "bytes": "bytes",
         "status_code": "status", "result": "result", "attempts": "attempts", "pid": "pid", "cpu": "cpu"}


# A block device has no namespaces, command identifiers and results.
# Blocks of the namespace for NVMe, sectors of 512 bytes for all; an NVMe device that is not known has no size of a block.
def place(v, r):
    if v.op(r) not in MOVES + ("discard",):
        return {"lba": None, "sector": None}
    if r["kind"] == 3:
        return {"lba": None, "sector": r["address"]}
    block = (v.device(r) or {"block": 0})["block"]
    sector = r["address"] * (block // 512) if block else None
    return {"lba": r["address"], "sector": sector if sector is None or sector < 2**64 else None}


def trace_row(v, r):
    row = {column: r[field] for column, field in TRACE.items()}
    if r["kind"] == 3:
        row["nsid"] = row["result"] = None
    return {**row, "cid": None if r["kind"] == 3 else r["cid"], "lat_ns": r["lat"], "dev": v.dev(r), "op": v.op(r),
            "comm": v.comm(r), "wall": wall_text(v, r["time"], 9), **place(v, r)}


@case("trace-json", "trace-hostile-json", "trace-filters", "trace-of-errors")
def _(data, golden):
    name = golden.name
    captures = {"trace-hostile-json": "v1.cap", "trace-of-errors": "hang.cap"}
    v = view(data, captures.get(name, "nvme.cap"), plain if name.endswith("json") else csv_text)
    records = v.ended[:40] if name == "trace-hostile-json" else v.ended
    if name == "trace-filters":
        records = [r for r in v.ended if v.dev(r) == "nvme0n1" and v.op(r) == "write" and r["qid"] == 1 and r["lat"] >= 1600000]
    rows = golden.of("trace") if golden.of("trace") else golden.rows
    in_order(rows, [trace_row(v, r) for r in records])
    for r, row in zip(records, rows):
        check_words(v, r, row["command"], row["status"])
    check_ledger(golden, v)


# What stands in words of a command: its place and length, and the status as type and code.
def check_words(v, r, command, status=""):
    words_ = dict(re.findall(r"\b(lba|nlb|sqid|cid|sector)=(\d+)", command or ""))
    block = (v.device(r) or {"block": 0})["block"]
    blocks = (r["cdw12"] & 0xFFFF) + 1
    reckoned = {"lba": r["address"], "sector": r["address"], "nlb": blocks, "sqid": r["cdw10"] & 0xFFFF, "cid": r["cdw10"] >> 16}
    for key, text in words_.items():
        same(f"{key} in {command}", reckoned[key], text)
    length = re.search(r"nlb=\d+ len=(\S+)", command or "")
    if length:
        same(f"len in {command}", Shown(blocks * block), length[1])
    length = re.search(r"sector=\d+ len=(\S+)", command or "")
    if length:
        same(f"len in {command}", Shown(r["bytes"]), length[1])
    code = re.search(r"\(([0-9a-f]+)/([0-9a-f]+)\)", status or "")
    if code:
        same(f"code in {status}", (r["status"] >> 8 & 7, r["status"] & 255), (int(code[1], 16), int(code[2], 16)))


def in_partition(v, r, name):
    return any(part == name and first <= v.sector(r) < first + nr for part, first, nr in v.device(r)["partitions"] or [])


@case("trace-split", "trace-io", "trace-count", "trace-partition", "trace-astray", "forged-trace-csv")
def _(data, golden):
    name = golden.name
    captures = {"trace-partition": "v1-stages", "trace-astray": "astray", "forged-trace-csv": "forged"}
    v = view(data, captures.get(name, "nvme") + ".cap", csv_text)
    records = {"trace-split": v.c.records, "trace-io": [r for r in v.ended if r["kind"] == 0], "trace-count": v.ended[:3],
               "trace-partition": [r for r in v.ended if v.op(r) == "write" and in_partition(v, r, b"nvme0n2p1")]}.get(name, v.ended)
    rows = []
    for r in records:
        submit = r["what"] == SUBMIT
        row = {**trace_row(v, r), "time_s": v.time_s(r["time"]), "event": "submit" if submit else "end"}
        row["lat_ns"] = None if submit else r["lat"]
        rows.append({key: row[key] for key in golden.rows[0] if key in row})
    in_order(golden.rows, rows)


# --- errors ---

EVENTS = {1: "async", 2: "state", 3: "timeout", 4: "gone", 5: "appeared", 6: "connected"}


# What went wrong, in its order. An attempt that failed is told by the command's end.
def troubles(v):
    tries, cancelled = collections.defaultdict(list), set()
    for r in v.c.records:
        command = r["device"], r["first_ns"], r["pid"]
        what = None
        if r["what"] == 3:
            tries[command].append((r["end_ns"] - r["last_ns"], r["status"]))
        elif r["what"] == 4:
            cancelled.add(command)
        elif r["what"] == 5:
            what = "timeout"
        elif r["what"] == 6:
            yield {"what": EVENTS[r["op"]], "time_s": v.time_s(r["time"]), "dev": v.dev(r), "end_ns": r["end_ns"], "lat_ns": None}
        elif r["what"] == 0:
            what = "abort" if (r["kind"], r["op"]) == (1, 8) else "timed-out" if command in cancelled else "failed" if r["status"] \
                else "recovered" if r["attempts"] > 1 else None
        if not what:
            continue
        row = trace_row(v, r)
        row = {key: row[key] for key in ("dev", "op", "lba", "sector", "bytes", "qid", "cid", "attempts", "lat_ns", "pid", "comm",
                                         "start_ns", "end_ns", "status_code")}
        if what == "abort":
            row["bytes"] = None
        if what == "timeout":
            row["status_code"] = None
        of = tries[command]
        yield {**row, "time_s": v.time_s(r["time"]), "what": what,
               "tries": Joined(" ".join(f"{ns}=0x{status:x}" for ns, status in of),
                               [{"attempt_ns": ns, "status_code": status} for ns, status in of]) if of else None}


@case("errors-json", "errors-csv", "errors-failed", "errors-hostile", "errors-top")
def _(data, golden):
    captures = {"errors-csv": "hang", "errors-hostile": "v1"}
    v = view(data, captures.get(golden.name, "errors") + ".cap", csv_text)
    rows = list(troubles(v))
    sums = [(key, [r for r in rows if (r["dev"], r["what"]) == key]) for key in dict.fromkeys((r["dev"], r["what"]) for r in rows)]
    if golden.name in ("errors-failed", "errors-top"):
        rows = [r for r in rows if r["what"] == "failed"]
    if golden.name.endswith(("json", "top")):
        for row in rows:
            row["time_s"] = float(row["time_s"])
        match(golden.of("errors_sum"), [{"dev": key[0], "what": key[1], "count": len(of), "max_ns": max(r["lat_ns"] for r in of)}
                                        for key, of in sums], ["dev", "what"])
    in_order(golden.of("errors") if golden.of("errors") else golden.rows, rows)
    check_ledger(golden, v)


# --- layers, slow ---

# The events that a command passed, in their order: iosonar-layers(8).
def path(r):
    s, nvme = r["stages"] or {}, r["kind"] != 3
    events = [("Q", s.get("queued_ns")), ("G", s.get("got_ns")), ("F", s.get("flushed_ns")), ("I", s.get("inserted_ns")),
              ("S" if nvme else "D", r["first_ns"]), ("A", r["last_ns"] if r["attempts"] > 1 else 0)]
    if nvme:
        events += [("D", s.get("issued_ns")), ("K", s.get("reaped_ns")), ("N", r["end_ns"])]
    # Of other disks done_ns is behind a flush; without one the request ends with the command.
    done = s.get("done_ns") if nvme or s.get("written_ns") else r["end_ns"]
    events += [("W", s.get("written_ns")), ("C", done)]
    return [(letter, time) for letter, time in events if time]


def steps(r):
    events = path(r)
    return [(a + "2" + b, end - begin) for (a, begin), (b, end) in zip(events, events[1:])]


def bucket(ns):
    return ns if ns < 64 else ns >> ns.bit_length() - 6 << ns.bit_length() - 6


def width(ns):
    return 1 if ns < 64 else 1 << ns.bit_length() - 6


# The slowest hundredth: whole buckets, until they are enough.
def tail_of(of):
    buckets = sorted((bucket(r["whole"]) for r in of), reverse=True)
    least = buckets[max(-(-len(of) // 100), 1) - 1]
    return [r for r in of if bucket(r["whole"]) >= least]


def layers_of(of):
    for r in of:
        r["steps"], r["whole"] = steps(r), path(r)[-1][1] - path(r)[0][1]
    tail = tail_of(of)
    whole, slowest = sum(r["whole"] for r in of), sum(r["whole"] for r in tail)
    names = dict.fromkeys(name for r in of for name, _ in r["steps"])
    for name in names:
        times = [ns for r in of for step, ns in r["steps"] if step == name]
        in_tail = sum(ns for r in tail for step, ns in r["steps"] if step == name)
        yield {"step": name, "count": len(times), "bytes": None, **percentiles(times, (50, 99, 99.9)), "max_ns": max(times),
               "sum_ns": sum(times), "share_percent": sum(times) * 100 / whole, "tail_percent": in_tail * 100 / slowest}
    times = [r["whole"] for r in of]
    yield {"step": path(of[0])[0][0] + "2" + path(of[0])[-1][0], "count": len(of), "bytes": sum(r["bytes"] for r in of),
           **percentiles(times, (50, 99, 99.9)), "max_ns": max(times), "sum_ns": whole, "share_percent": 100.0, "tail_percent": 100.0}


def layers(v, records, only=("interval", "total")):
    for span, at, ns, inside in spans(v, records):
        for (dev, op), of in grouped(inside, ["dev", "op"]).items() if span in only else ():
            for row in layers_of(of):
                yield {"span": span, "time_s": round(at / SECOND, 3), "dev": dev, "op": op, **row}


@case("layers-file")
def _(data, golden):
    v = view(data, "stacks.cap", csv_text)
    match(golden.rows, list(layers(v, v.ended)), ["span", "time_s", "dev", "op", "step"])


def slow(v, records):
    for rank, r in enumerate(sorted(records, key=lambda r: (-v.whole(r), r["end_ns"])), 1):
        s = r["stages"] or {}
        yield {"rank": rank, "time_s": v.time_s(r["time"]), "whole_ns": v.whole(r), "lat_ns": r["lat"], "dev": v.dev(r),
               "op": v.op(r), "sector": v.sector(r), "bytes": r["bytes"], "depth": s.get("depth") or None,
               "attempts": r["attempts"], "pid": r["pid"], "tid": s.get("tid") or None, "comm": v.comm(r), "cgroup": v.cgroup(r),
               "file": v.file(r), "start_ns": r["first_ns"], "end_ns": r["end_ns"],
               "steps": Joined(" ".join(f"{name}={ns}" for name, ns in steps(r)), dict(steps(r))),
               "kernel_stack": joined(v.stack(r, "kernel")), "user_stack": joined(v.stack(r, "user"))}


@case("slow-file", "slow-json")
def _(data, golden):
    v = view(data, "stacks.cap", csv_text)
    rows = golden.of("slow") if golden.of("slow") else golden.rows
    in_order(rows, [{**row, "time_s": float(row["time_s"])} for row in without(list(slow(v, v.ended))[:3], "user_stack")])


# --- stacks ---

# Folded lines begin with the task and go from the outermost function to the innermost.
def folded(v, records, which, amount):
    lines = collections.Counter()
    for r in records:
        stacks = [v.stack(r, w) for w in which]
        parts = [name for stack in stacks if stack for name in reversed(stack.split(";"))]
        lines[";".join([v.comm(r)] + parts)] += amount(r)
    return {line: nr for line, nr in lines.items() if nr}


def check_folded(golden, lines):
    want = dict(line.rsplit(" ", 1) for line in golden.out)
    same("lines", len(lines), len(golden.out))
    for key in sorted(set(lines) | set(want)):
        same(key[-60:], lines.get(key), want.get(key, "no such line"))


@case("stacks-folded", "stacks-merged", "export-folded")
def _(data, golden):
    v = view(data, "stacks.cap")
    if golden.name == "stacks-folded":
        check_folded(golden, folded(v, v.ended, ("user", "kernel"), lambda r: r["bytes"]))
    elif golden.name == "stacks-merged":
        check_folded(golden, folded(v, v.ended * 2, ("kernel",), lambda r: 1))
    else:
        check_folded(golden, folded(v, [r for r in v.ended if v.op(r) == "write"], ("user", "kernel"), lambda r: 1))


@case("stacks-json")
def _(data, golden):
    v = view(data, "stacks.cap")
    groups = collections.defaultdict(list)
    for r in v.ended:
        stack = v.stack(r, "user")
        groups[r["pid"] if stack else None, v.comm(r), stack].append(r)
    rows = []
    for (pid, comm, stack), of in groups.items():
        times = [v.whole(r) for r in of]
        rows.append({"pid": pid, "comm": comm, "user_stack": joined(stack), "count": len(of), "bytes": sum(r["bytes"] for r in of),
                     "total_ns": sum(times), "mean_ns": sum(times) // len(times), "max_ns": max(times),
                     "share_percent": len(of) * 100 / len(v.ended)})
    match(golden.of("stacks"), rows, ["pid", "comm", "user_stack"])
    same("ranks", sorted(row["rank"] for row in golden.of("stacks")), list(range(1, len(rows) + 1)))
    counts = [row["count"] for row in golden.of("stacks")]
    same("order", counts, sorted(counts, reverse=True))
    check_ledger(golden, v)


# --- export ---

EXPORT = {"queued_ns", "got_ns", "inserted_ns", "issued_ns", "reaped_ns", "done_ns"}


def export_row(v, r, shift=0):
    s, device, nvme = r["stages"] or {}, v.device(r), r["kind"] != 3
    times = {name: s.get(name) for name in EXPORT} | {"start_ns": r["first_ns"], "last_ns": r["last_ns"], "end_ns": r["end_ns"]}
    return {**{name: time + shift if time else None for name, time in times.items()}, "wall_ns": v.c.wall(r["end_ns"]),
            "host": v.text(v.c.info["host"]) if "host" in v.c.info else None, "dev": v.dev(r), "model": v.text(device["model"]),
            "serial": v.text(device["serial"]), "op": v.op(r), "nsid": r["nsid"] if nvme else None, "qid": r["qid"],
            "cid": r["cid"] if nvme else None, "sector": v.sector(r), "bytes": r["bytes"], "status_code": r["status"],
            "attempts": r["attempts"], "lat_ns": r["lat"], "depth": s.get("depth") or None, "nr_bios": s.get("nr_bios") or None,
            "pid": r["pid"], "tid": s.get("tid") or None, "comm": v.comm(r), "cgroup": v.cgroup(r), "file": v.file(r),
            "issue_cpu": s.get("cpu"), "cpu": r["cpu"], "kernel_stack": joined(v.stack(r, "kernel")),
            "user_stack": joined(v.stack(r, "user")),
            **{key: v.text(v.c.info[key]) if key in v.c.info else None for key in ("boot_id", "capture_id")}}


@case("export-json", "export-csv", "export-failed")
def _(data, golden):
    name = golden.name
    captures = {"export-json": "stacks.cap", "export-csv": "v1-stages.cap", "export-failed": "errors.cap"}
    v = view(data, captures[name], plain if name == "export-json" else csv_text)
    records = {"export-json": v.ended[:3], "export-csv": v.ended[:5], "export-failed": [r for r in v.ended if r["status"]]}[name]
    in_order(golden.rows, [export_row(v, r) for r in records])


# Times of a second capture are moved onto the clock of the first, by their wall clocks.
@case("export-csv-merged")
def _(data, golden):
    rows = []
    views = [view(data, name, csv_text) for name in ("nvme.cap", "stacks.cap")]
    for v in views:
        records = [r for r in v.ended if v.op(r) in ("flush", "write")]
        zero, other = views[0].c.clocks[0], v.c.clocks[0]
        rows += [export_row(v, r, zero[0] - zero[2] + other[2] - other[0]) for r in records]
    in_order(golden.rows, rows)


# Rows of all captures of a merged file, each with the host, the drive and the wall clock of its own. They are in the order that
# they would have if no wall clock had been set.
@case("merged-export")
def _(data, golden):
    records = [(v.c.clocks[0][2] + r["end_ns"] - v.c.clocks[0][0], nr, v, r)
               for nr, v in enumerate(views(data, "merged.cap", csv_text)) for r in v.ended]
    rows = [export_row(v, r) for _, _, v, r in sorted(records, key=lambda record: record[:2])]
    for row in rows:
        for name in EXPORT | {"start_ns", "last_ns", "end_ns"}:
            del row[name]
    in_order(golden.rows, rows)


# Disks of equal names are two: each has the commands of its own host.
def merged_counts(data):
    counts = {}
    for v in views(data, "merged.cap", csv_text):
        dev = f"{v.text(v.c.info['host'])}:nvme0n1"
        counts[dev] = counts.get(dev, 0) + len(v.ended)
    return counts


@case("merged-layers")
def _(data, golden):
    rows = [{"dev": dev, "what": what, "count": nr, "op": "read", "step": "S2N", "sum_ns": nr * 70000}
            for dev, nr in merged_counts(data).items() for what in ("device", "total")]
    match(golden.rows, rows, ("dev", "what"))


@case("merged-report")
def _(data, golden):
    for kind in ("latency", "pattern"):
        match(golden.of(kind), [{"dev": dev, "count": nr} for dev, nr in merged_counts(data).items()], ("dev",))


def merged_name(nr, v):
    return f"merged.cap ({nr + 1}: {v.text(v.c.info['host'])})"


@case("merged-sql-ledger")
def _(data, golden):
    rows = []
    for nr, v in enumerate(views(data, "merged.cap", csv_text)):
        for which in ("ledger", "lost"):
            rows += [{"capture": merged_name(nr, v), "list": which, "name": name, "value": value}
                     for name, value in v.c.trailer[which].items()]
    in_order(golden.rows, rows)


@case("merged-sql")
def _(data, golden):
    rows = []
    for nr, v in enumerate(views(data, "merged.cap", csv_text)):
        walls = [v.c.wall(r["end_ns"]) for r in v.ended]
        rows.append({"capture": merged_name(nr, v), "n": len(walls), "since": min(walls), "until": max(walls)}
                    | {key: v.text(v.c.info[key]) for key in ("host", "boot_id", "capture_id")})
    in_order(golden.rows, rows)


@case("export-openmetrics")
def _(data, golden):
    v = view(data, "nvme.cap")
    of = [r for r in v.ended if v.op(r) == "read"]
    values = {"latency_seconds": [r["lat"] / SECOND for r in of], "size_bytes": [r["bytes"] for r in of]}
    single = {"failed_commands": sum(r["status"] != 0 for r in of), "retries": sum(r["attempts"] - 1 for r in of)}
    for line in golden.out:
        found = re.fullmatch(r'iosonar_(\w+?)(_bucket|_sum|_count|)\{device="nvme0n1",op="read"(?:,le="(.*)")?\} (.*)', line)
        if found and found[1] in values:
            of = values[found[1]]
            nr = sum(value <= float(found[3]) for value in of) if found[3] else len(of) if found[2] == "_count" else float(sum(of))
            same(line, nr, found[4])
        elif found and found[1] in single:
            same(line, single[found[1]], found[4])
        elif line.startswith("iosonar_ledger"):
            same(line, v.c.trailer["ledger"].get(re.search('="(.*)"', line)[1], 0), line.rsplit(" ", 1)[1])


# --- info ---

def info_row(v, verified):
    c, times = v.c, [r["time"] for r in v.c.records]
    return {"bytes": c.bytes, "records": len(c.records), "calls": len(c.calls), "devices": len([n for n in c.devices if n < 4096]),
            "bytes_per_record": c.bytes / len(c.records), "seconds": (max(times) - min(times)) / SECOND, "clocks": len(c.clocks),
            "begin": wall_text(v, min(times)), "end": wall_text(v, max(times)), "ended": c.trailer["why"], "verified": verified, "truncated": 0, "truncated_at": None, "blocks_corrupt": 0,
            "records_corrupt": 0, "records_lost": c.lost, "records_surplus": c.surplus, "records_astray": c.astray, "calls_missing": 0, "calls_surplus": 0}


@case("info-json", "info-staged-json", "info-repeated-json")
def _(data, golden):
    v = view(data, {"info-json": "nvme.cap", "info-staged-json": "v1-stages.cap", "info-repeated-json": "repeated.cap"}[golden.name])
    in_order(golden.of("info"), [info_row(v, int(golden.name == "info-json"))])
    match(golden.of("text"), [{"name": key, "text": plain(value)} for key, value in v.c.info.items()], ["name"])
    match(golden.of("count"), [{"list": which, "name": key, "value": value} for which in ("ledger", "lost")
                               for key, value in v.c.trailer[which].items()], ["list", "name"])
    devices = [d for number, d in v.c.devices.items() if number < 4096]
    rows = []
    for d in devices:
        none = d["kind"] == 2
        rows.append({"dev": plain(d["name"]), "kind": KINDS[d["kind"]], "size_bytes": d["size"], "block_bytes": d["block"],
                     "major": None if none else d["major"], "minor": None if none else d["minor"], "queues": d["queues"],
                     "ctrl": None if d["ctrl"] < 0 else d["ctrl"], "nsid": d["nsid"] or None, "depth": d["depth"],
                     "model": plain(d["model"]), "serial": plain(d["serial"]), "firmware": plain(d["firmware"])})
    match(golden.of("device"), rows, ["dev"])
    match(golden.of("partition"), [{"partition": plain(name), "dev": plain(d["name"]), "from_sector": first, "sectors": nr,
                                    "size_bytes": nr * 512} for d in devices for name, first, nr in d["partitions"] or []], ["partition", "dev"])
    match(golden.of("cgroup"), [{"id": number, "cgroup": plain(name)} for number, name in v.c.cgroups.items()], ["id"])


@case("info-csv", "forged-info-csv")
def _(data, golden):
    names = {"info-csv": ("nvme.cap", "v1.cap"), "forged-info-csv": ("forged.cap",)}[golden.name]
    in_order(golden.rows, [info_row(view(data, name), 0) for name in names])


# --- sql ---

# A table of text: columns begin where their headings do, or end where they do.
def words(golden):
    return [line.split() for line in golden.out[1:]]


@case("sql-groups")
def _(data, golden):
    v, rows = view(data, "v1-stages.cap"), {tuple(row[:2]): row[2:] for row in words(golden)}
    groups = grouped(v.ended, ["dev", "op"])
    same("groups", sorted(groups), sorted(rows))
    for key, of in groups.items():
        lats = [r["lat"] for r in of]
        for what, got, want in zip(("n", "p50", "p99"), (len(of), percentile(lats, 50), percentile(lats, 99)), rows[key]):
            same(f"{what} of {key}", got, want)


@case("sql-json")
def _(data, golden):
    v = view(data, "nvme.cap")
    r = [r for r in v.ended if r["status"]][0]
    row = {**trace_row(v, r), "wall_ns": v.c.wall(r["end_ns"]), **{name: None for name in EXPORT}, "tid": None, "depth": None}
    in_order(golden.rows[:1], [{**without([row], "wall")[0], "time_s": float(v.time_s(r["end_ns"]))}])
    in_order(golden.rows[1:], [{"dev": plain(d["name"]), "model": plain(d["model"]), "serial": plain(d["serial"])}
                               for number, d in v.c.devices.items() if number < 4096])


@case("sql-csv")
def _(data, golden):
    for row in golden.rows:
        v = view(data, row["capture"])
        hist = json.loads(row["hist(bytes)"])
        for cell in hist:
            same(f"{row['capture']}: from {cell['from']}", sum(cell["from"] <= r["bytes"] < cell["to"] for r in v.ended), cell["count"])
        same(f"{row['capture']}: all", sum(cell["count"] for cell in hist), len(v.ended))


@case("sql-files")
def _(data, golden):
    v = view(data, "stacks.cap")
    groups = grouped(v.ended, ["comm", "file"])
    rows = [re.split("  +", re.sub(r" (\d+)$", r"  \1", line)) for line in golden.out[1:]]
    rows = [row if len(row) == 3 else row[0].split(" ", 1) + row[1:] for row in rows]
    same("groups", len(groups), len(rows))
    for comm, path_, nr in rows:
        same(f"{comm} {path_}", len(groups.get((comm, None if path_ == "-" else path_), [])), nr)


@case("sql-repeated")
def _(data, golden):
    same("count", len(view(data, "repeated.cap").ended), golden.out[1].strip())


@case("sql-forged")
def _(data, golden):
    v = view(data, "forged.cap", csv_text)
    groups = grouped(v.ended, ["comm"])
    for row in golden.rows[: len(groups)]:
        same(f"n of {row['comm']}", len(groups.get((row["comm"],), [])), row["n"])
    head, values = list(csv.reader(golden.out[len(groups) + 1 :]))
    d = [d for number, d in v.c.devices.items() if number < 4096][0]
    row = dict(zip(head, values))
    for column, key in {"size_bytes": "size", "block_bytes": "block", "major": "major", "minor": "minor", "diskseq": "diskseq",
                        "ctrl": "ctrl", "nsid": "nsid", "queues": "queues", "depth": "depth", "gone": "gone"}.items():
        same(column, d[key], row[column])
    for column in ("model", "serial", "firmware"):
        same(column, csv_text(d[column]), row[column])


# --- cache ---

CACHE_OPS = ["read", "write", "mmap", "readahead", "none"]
CACHE_COLUMNS = ("accesses", "ra_hits", "misses", "allocated", "readahead", "unused", "dirtied", "written", "evicted", "truncated",
                 "other", "added", "removed")
CACHE_BYTES = {"access": "accesses", "hit": "hits", "ra_hit": "ra_hits", "miss": "misses", "readahead": "readahead", "unused": "unused",
               "dirtied": "dirtied", "written": "written", "evicted": "evicted"}


def cache_file(v, e):
    return v.text(v.c.files.get((e["inode"], e["dev"] | e["nth"] << 32)))


CACHE_KEYS = {"pid": lambda v, row: row["pid"], "comm": lambda v, row: v.text(row["comm"]), "file": cache_file, "op": lambda v, row: CACHE_OPS[row["op"] - 1],
              "dev": lambda v, row: v.text(v.c.disks[row["dev"]]), "cgroup": lambda v, row: v.text(v.c.cgroups[row["cgroup"]])}


def cache_counts(v, rows):
    sums = {key: sum(row[key] for row in rows) for key in CACHE_COLUMNS}
    sums["hits"] = sum(row["hits"] - row["hits_back"] for row in rows)
    page = int(v.c.info["cache_page_bytes"])
    sums |= {f"{name}_bytes": sums[key] * page for name, key in CACHE_BYTES.items()}
    found = sums["hits"] + sums["ra_hits"]
    return {**sums, "hit_percent": found * 100 / sums["accesses"] if sums["accesses"] else None}


# Op 0 is what found no room for a row of its own: other.
def cache_groups(v, rows, keys):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(CACHE_KEYS[key](v, row) if row["op"] else "other" for key in keys)].append(row)
    return groups


def cache_rows(v, keys, interval=1):
    every, since = [], []
    for i, (time, rows) in enumerate(v.c.readings):
        every += rows
        since += rows
        if (i + 1) % interval == 0 and time < v.end:
            for key, of in cache_groups(v, since, keys).items():
                yield {"span": "interval", "time_s": round((time - v.start) / SECOND, 3), **dict(zip(keys, key)), **cache_counts(v, of)}
            since = []
    total = {"span": "total", "time_s": round((v.end - v.start) / SECOND, 3)}
    yield {**total, "span": "sum" if keys else "total", **{key: None for key in keys}, **cache_counts(v, every)}
    for key, of in cache_groups(v, every, keys).items() if keys else ():
        yield {**total, **dict(zip(keys, key)), **cache_counts(v, of)}


def check_cache_ledger(golden, v):
    every = [row for _, rows in v.c.readings for row in rows]
    info = {key: int(value) for key, value in v.c.info.items() if key.startswith("cache_") and value.isdigit()}
    for row in golden.of("ledger"):
        for key in ("accesses", "ra_hits", "misses", "added", "demanded", "readahead", "other", "removed", "evicted", "truncated"):
            row.check(key, sum(r[key] for r in every))
        row.check("hits", sum(r["hits"] - r["hits_back"] for r in every))
        for key, name in {"cached_before": "before", "cached_after": "after", "lost_requests": "lost_requests", "lost_rows": "lost_rows",
                          "lost_ends": "lost_ends", "lost_skipped": "lost_skipped", "lost_readahead": "lost_readahead",
                          "lost_events": "lost_events", "lost_commands": "lost_causes"}.items():
            row.check(key, info.get("cache_" + name, 0))
    for row in golden.of("method"):
        row.check("page_bytes", info["cache_page_bytes"])
        row.check("method", plain(v.c.info["cache_method"]))
        row.check("unseen", plain(v.c.info["cache_unseen"]).split(", "))


@case("cache-by", "cache-by-csv", "cache-long")
def _(data, golden):
    v = view(data, "cache.cap", csv_text)
    keys = {"cache-by": ["comm", "file", "dev", "op"], "cache-by-csv": ["file", "cgroup"], "cache-long": []}[golden.name]
    rows = golden.of("cache") if golden.of("cache") else golden.rows
    match(rows, list(cache_rows(v, keys, 2 if golden.name == "cache-long" else 1)), ["span", "time_s"] + keys)
    check_cache_ledger(golden, v)


# --- waits ---
WAIT_CALLS = ["read", "write", "fsync", "syncwrite", "fdatasync", "syncrange", "fault", "open"]


def wait_file(v, call):
    return v.text(v.c.files.get((call["inode"], call["dev"] | call["nth"] << 32)))


# The parts that need no kernel function to be told apart.
def wait_rows(v, calls, keys=()):
    groups = collections.defaultdict(list)
    names = {"dev": lambda w: v.text(v.c.disks[w["dev"]]), "file": lambda w: wait_file(v, w), "comm": lambda w: v.text(w["comm"])}
    for call in calls:
        groups[(WAIT_CALLS[call["call"]],) + tuple(names[key](call) for key in keys)].append(call)
    for key, of in groups.items():
        for part, name in (("total", "whole"), ("cpu", "cpu"), ("runnable", "runnable")):
            times = [w[name] for w in of if w[name]]
            if times:
                yield {**dict(zip(("call",) + tuple(keys), key)), "part": part, "count": len(times), "sum_ns": sum(times), "max_ns": max(times),
                       "share_percent": sum(times) * 100 / sum(w["whole"] for w in of)}


def wait_slept(v, calls):
    return sum(s["ns"] for w in calls for s in w["sleeps"])


@case("waits-json", "waits-csv", "waits-filters", "waits-fs")
def _(data, golden):
    v = view(data, "waits.cap")
    calls, keys = v.c.waits, ["dev", "file", "comm"] if golden.name == "waits-json" else []
    if golden.name == "waits-filters":
        calls = [w for w in calls if w["call"] == 2 and w["whole"] >= 2000000]
    if golden.name == "waits-fs":
        calls = [w for w in calls if w["call"] == 2]
    rows = golden.of("waits") if golden.of("waits") else golden.rows
    rows = [row for row in rows if row["span"] == "total"]
    known = [row for row in rows if row["part"] in ("total", "cpu", "runnable")]
    match(known, list(wait_rows(v, calls, keys)), ["call", "part"] + keys)
    same("time asleep", wait_slept(v, calls), sum(int(row["sum_ns"]) for row in rows if row not in known))
    for row, mine in zip(golden.of("wait"), sorted(calls, key=lambda w: -w["whole"])):
        for key, value in (("whole_ns", mine["whole"]), ("pid", mine["pid"]), ("tid", mine["tid"]), ("end_ns", mine["end"]), ("bios", mine["bios"])):
            row.check(key, value)
    for row in golden.of("ledger"):
        row.check("calls", int(v.c.info["waits_begun"]))
        row.check("shown", len(calls))
        row.check("left_out", len(v.c.waits) - len(calls))


# What needs no knowledge of the order of the steps: the whole time, and that of the bios.
REQUEST_OPS = {3: "fsync", 22: "read"}


def request_rows(v, requests):
    groups = collections.defaultdict(list)
    for r in requests:
        groups[REQUEST_OPS[r["op"]], v.text(v.c.disks[r["dev"]]), wait_file(v, r), v.text(r["comm"])].append(r)
    for (op, dev, file, comm), of in groups.items():
        for step, times in (("total", [r["whole"] for r in of]), ("device", [r["ended"] - r["queued"] for r in of if r["queued"]])):
            if times:
                yield {"op": op, "dev": dev, "file": file, "comm": comm, "step": step, "count": len(times), "sum_ns": sum(times), "max_ns": max(times)}


@case("requests-json", "requests-filters")
def _(data, golden):
    v = view(data, "requests.cap")
    requests = v.c.requests
    if golden.name == "requests-filters":
        requests = [r for r in requests if r["op"] == 22 and r["comm"] == b"postgres" and r["end"] >= v.start + 10**9 and r["end"] < v.start + 2 * 10**9]
        requests = [r for r in requests if r["whole"] >= 920000]
    rows = [row for row in golden.of("async") if row["span"] == "total"]
    match([row for row in rows if row["step"] in ("total", "device")], list(request_rows(v, requests)), ["op", "dev", "file", "comm", "step"])
    same("sum of the steps", sum(int(row["sum_ns"]) for row in rows if row["step"] != "total"), sum(r["whole"] for r in requests))
    for row, mine in zip(golden.of("async_request"), sorted(requests, key=lambda r: -r["whole"])):
        for key, value in (("whole_ns", mine["whole"]), ("tid", mine["tid"]), ("end_ns", mine["end"]), ("user_data", mine["user_data"]), ("bios", mine["bios"])):
            row.check(key, value)
    for row in golden.of("async_ledger"):
        row.check("requests", int(v.c.info["requests_submitted"]))
        row.check("shown", len(requests))
        row.check("left_out", len(v.c.requests) - len(requests))


# Machines with equal disks: each has the rows that it has alone, with its name before that of the disk.
HOSTS = ("db7", "db8")


def of_host(host, rows):
    return [{**row, "dev": row["dev"] if row["dev"] in (None, "other") else f"{host}:{row['dev']}"} for row in rows]


@case("waits-hosts-json")
def _(data, golden):
    rows = [row for row in golden.of("waits") if row["span"] == "total" and row["part"] in ("total", "cpu", "runnable")]
    views_ = [(host, view(data, f"waits-{host}.cap")) for host in HOSTS]
    mine = [row for host, v in views_ for row in of_host(host, wait_rows(v, v.c.waits, ["dev", "comm"]))]
    match(rows, mine, ["call", "part", "dev", "comm"])
    for row in golden.of("ledger"):
        row.check("shown", sum(len(v.c.waits) for _, v in views_))
        row.check("calls", sum(int(v.c.info["waits_begun"]) for _, v in views_))


# Each reading counts in the interval that ends next to it; the second machine began 0.3 s later.
@case("cache-hosts-json")
def _(data, golden):
    keys, mine = ["dev", "op"], []
    views_ = [(host, view(data, f"cache-{host}.cap", csv_text)) for host in HOSTS]
    for host, v in views_:
        mine += of_host(host, [row for row in cache_rows(v, keys) if row["span"] != "sum"])
    every = [row for _, v in views_ for _, rows in v.c.readings for row in rows]
    mine.append({"span": "sum", "dev": None, "op": None, **cache_counts(views_[0][1], every)})
    match(golden.of("cache"), [{**row, "time_s": 2.8} if row["span"] != "interval" else row for row in mine], ["span", "time_s"] + keys)
    for row in golden.of("ledger"):
        row.check("accesses", sum(r["accesses"] for r in every))
        row.check("cached_before", sum(int(v.c.info["cache_before"]) for _, v in views_))


def cache_event(v, e):
    page = int(v.c.info["cache_page_bytes"])
    row = {"time_s": v.time_s(e["start"]), "pid": e["pid"], "tid": e["tid"], "comm": v.text(e["comm"]), "op": CACHE_OPS[e["op"]],
           "pages": e["pages"], "offset_bytes": e["page"] * page, "dev": v.text(v.c.disks[e["dev"]]), "file": cache_file(v, e)}
    if e["kind"] == 0:
        return {**row, "wait_ns": e["end"] - e["start"] if e["end"] else None, "miss_bytes": e["pages"] * page}
    return {**row, "lat_ns": e["end"] - e["issue"] if e["issue"] else None, "queue_ns": e["issue"] - e["start"] if e["issue"] else None,
            "missed": e["missed"], "bytes": e["bytes"], "disk": v.text(v.c.disks[e["disk"]]), "sector": e["sector"],
            "command_sector": e["command_sector"], "command_bytes": e["command_bytes"], "status": "failed" if e["failed"] else "ok"}


@case("cache-events-csv", "cache-tid-events", "cache-then-io-csv", "cache-then-io-json")
def _(data, golden):
    v = view(data, "cache.cap", csv_text)
    events = [[cache_event(v, e) for e in v.c.events if e["kind"] == kind] for kind in (0, 1)]
    if golden.name != "cache-then-io-json":
        in_order(golden.rows, events[golden.name == "cache-then-io-csv"])
        return
    for row in events[0] + events[1]:
        row["time_s"] = float(row["time_s"])
    in_order(golden.of("miss"), events[0])
    in_order(golden.of("command"), events[1])
    match(golden.of("cache"), [row for row in cache_rows(v, []) if row["span"] == "total"], ["span", "time_s"])
    check_cache_ledger(golden, v)


# --- calls ---

# Calls of a task are one in the other. Each has its own time: what its calls did not take.
def calls_of(v):
    calls, stacks = [], collections.defaultdict(list)
    for step in v.c.calls:
        stack, name = stacks[step["tid"]], v.c.functions[step["function"]]["name"]
        if not step["leave"]:
            call = {"function": name, "enter": step, "depth": len(stack), "leave": None, "below": 0,
                    "functions": ";".join([c["function"] for c in stack] + [name])}
            step["call"] = call
            calls.append(call)
            stack.append(call)
            continue
        call = stack.pop()
        holds("the innermost call that ends", call["function"], name)
        step["call"], call["leave"], call["ns"] = call, step, step["time"] - call["enter"]["time"]
        if stack:
            stack[-1]["below"] += call["ns"]
    for call in calls:
        call["self"] = call["ns"] - call["below"]
    return calls


def calls_by(calls, key):
    groups = collections.defaultdict(list)
    for call in calls:
        groups[call[key]].append(call)
    return groups


def check_event_ledger(golden, v):
    for row in golden.of("event_ledger"):
        for key in row:
            if key in v.c.counters:
                row.check(key, v.c.counters[key])
        row.check("sent", len(v.c.calls))


def part_text(part, value):
    return f"{part['name']}=" + (f"0x{value:x}" if part["unit"] == 4 else plain(value) if part["text"] else str(value))


@case("calls-json")
def _(data, golden):
    v, rows = view(data, "calls.cap"), []
    for call in calls_of(v):
        enter, leave = call["enter"], call["leave"]
        arguments = " ".join(part_text(p, value) for p, value in zip(enter["place"]["parts"], enter["parts"]))
        row = {"time_s": float(v.time_s(enter["time"])), "cpu": enter["cpu"], "comm": v.comm(enter), "pid": enter["pid"],
               "tid": enter["tid"], "depth": call["depth"], "duration_ns": call["ns"], "function": call["function"],
               "arguments": arguments, "ret": str(leave["parts"][0]) if leave["parts"] else None}
        if call["ns"] >= 10**7:
            rows.append(row)
    in_order(golden.of("call"), rows)
    check_event_ledger(golden, v)


@case("calls-graph", "calls-graph-json", "calls-folded")
def _(data, golden):
    v = view(data, "calls.cap")
    calls = calls_of(v)
    if golden.name == "calls-folded":
        sums = collections.Counter()
        for call in calls:
            sums[f"{v.comm(call['enter'])};{call['functions']}"] += call["self"]
        check_folded(golden, sums)
        return
    whole, rows = sum(call["ns"] for call in calls if not call["depth"]), []
    for path_, of in calls_by(calls, "functions").items():
        ns = [call["ns"] for call in of]
        rows.append({"functions": joined(path_), "depth": of[0]["depth"], "function": of[0]["function"], "count": len(of), "total_ns": sum(ns),
                     "self_ns": sum(call["self"] for call in of), "avg_ns": sum(ns) // len(ns), "min_ns": min(ns), "max_ns": max(ns),
                     "share": sum(ns) * 100 / whole})
    match(golden.of("graph") if golden.of("graph") else golden.rows, rows, ["functions"])


@case("sql-call")
def _(data, golden):
    groups = calls_by(calls_of(view(data, "calls.cap")), "function")
    rows = sorted(groups.items(), key=lambda item: -max(call["ns"] for call in item[1]))
    for (function, of), want in zip(rows, words(golden)):
        same("function", function, want[0])
        same(f"n of {function}", len(of), want[1])
        same(f"most_ns of {function}", max(call["ns"] for call in of), want[2])


def call_sums(of, letter):
    ns = sum(call["ns"] for call in of)
    return {f"count_{letter}": len(of), f"total_{letter}_ns": ns if of else None, f"mean_{letter}_ns": ns // len(of) if of else None,
            f"self_{letter}_ns": sum(call["self"] for call in of) if of else None}


@case("diff-calls-json", "diff-calls-csv", "diff-calls-graph-json")
def _(data, golden):
    names, key = (("calls.cap", "calls.cap"), "function") if golden.name == "diff-calls-json" else (("class.cap", "calls.cap"), "functions")
    a, b = (calls_by(calls_of(view(data, name)), key) for name in names)
    rows = golden.of("function") + golden.of("path") if "type" in golden.rows[0] else golden.rows
    match(rows, [{key: joined(k) if key == "functions" else k, **call_sums(a.get(k, []), "a"), **call_sums(b.get(k, []), "b")} for k in dict.fromkeys([*a, *b])], [key])
    for row in rows:
        if "depth" in row:
            row.check("depth", row["functions"].count(";") if isinstance(row["functions"], str) else len(row["functions"]) - 1)
        elif row["mean_a_ns"] and row["mean_b_ns"]:
            row.check("shift", row["mean_b_ns"] * 100 / row["mean_a_ns"] - 100)


# --- class ---

# Behind the arguments, or what was returned, are the object's address and its members; at an entry that is a birth the address.
def nr_members(v, step):
    return 0 if step["place"]["role"] == 1 and not step["leave"] else len(v.c.members)


def object_of(v, step):
    return step["parts"][len(step["parts"]) - nr_members(v, step) - 1]


# The members of the object in hand; None: they are not told here.
def members_of(v, step):
    names = [name.rsplit("->", 1)[-1].removesuffix(".counter").rsplit(".", 1)[-1] for name in v.c.members]
    nr = nr_members(v, step)
    return dict(zip(names, step["parts"][-nr:])) if nr else None


# Of the flags of a bio, what an enum says of a number or of its bits; the first text of a number holds.
def bio_words(v, name, value):
    names = [{}, {}]
    for number, text in reversed([pair for enum in v.c.enums for pair in enum]):
        if name == "bi_opf" and text.startswith("REQ_OP_"):
            names[0][number] = text.removeprefix("REQ_OP_")
        elif text.startswith("__REQ_" if name == "bi_opf" else "BIO_") and not text.startswith("BIO_MERGE_"):
            names[1][number] = text.removeprefix("__REQ_").removeprefix("BIO_")
    if name not in ("bi_opf", "bi_flags"):
        return plain(value) if isinstance(value, bytes) else str(value)
    low = 8 if name == "bi_opf" else 0
    words_ = [names[0][value & 255]] if low else []
    return "|".join(words_ + [names[1][bit] for bit in range(low, 32) if value >> bit & 1]) or "0"


# The data of a step: `bi_size 0 -> 4096`, or all members, `bi_size=4096`.
def check_data(v, row, before, now_):
    for name, old, new in re.findall(r"(\w+) (\S+) -> ([^\s,]+)", row["data"] or ""):
        same(f"{name} before {row.name}", bio_words(v, name, (before or {})[name]), old)
        same(f"{name} at {row.name}", bio_words(v, name, now_[name]), new)
    for name, value in re.findall(r"(\w+)=(\S+)", row["data"] or ""):
        same(f"{name} at {row.name}", bio_words(v, name, now_[name]), value)


def lives_of(v):
    calls_of(v)
    lives = collections.defaultdict(list)
    for step in v.c.calls:
        lives[object_of(v, step)].append(step)
    return lives


def class_steps(v, rows):
    reckoned, data = [], []
    for number, of in enumerate(lives_of(v).values(), 1):
        before, last = None, of[0]["time"]
        for nth, step in enumerate(of, 1):
            holds("records that an object has had", step["nth"], nth)
            reckoned.append({"time_s": v.time_s(step["time"]), "number": number, "since_ns": step["time"] - of[0]["time"],
                             "gap_ns": step["time"] - last, "cpu": step["cpu"], "comm": v.comm(step), "pid": step["pid"], "tid": step["tid"],
                             "what": "leave" if step["leave"] else "enter", "duration_ns": step["call"]["ns"],
                             "function": v.c.functions[step["function"]]["name"]})
            now = members_of(v, step)
            data.append((before, now or {}))
            before, last = now or before, step["time"]
    for row, (before, now) in zip(rows, data):
        check_data(v, row, before, now)
    return reckoned


@case("class-json", "class-csv")
def _(data, golden):
    v = view(data, "class.cap")
    if golden.name == "class-csv":
        in_order(golden.rows, class_steps(v, golden.rows))
        return
    steps_ = class_steps(v, golden.of("step"))
    in_order(golden.of("step"), [{**row, "time_s": float(row["time_s"])} for row in steps_])
    rows, gaps = [], collections.defaultdict(list)
    for number, (address, of) in enumerate(lives_of(v).items(), 1):
        rows.append({"time_s": float(v.time_s(of[0]["time"])), "number": number, "object": f"0x{address:x}", "comm": v.comm(of[0]),
                     "pid": of[0]["pid"], "steps": len(of), "total_ns": of[-1]["time"] - of[0]["time"]})
        holds("records by the counts", v.c.open_objects.get(address), len(of))
        entered = [step for step in of if not step["leave"]]
        for a, b in zip(entered, entered[1:]):
            gaps[a["call"]["function"], b["call"]["function"]].append(b["time"] - a["time"])
    in_order(golden.of("life"), rows)
    whole = sum(sum(of) for of in gaps.values())
    match(golden.of("transition"), [{"from": key[0], "to": key[1], "count": len(of), **percentiles(of, (50, 99)), "max_ns": max(of),
                                     "total_ns": sum(of), "share": sum(of) * 100 / whole} for key, of in gaps.items()], ["from", "to"])
    paths = collections.Counter(";".join(s["call"]["function"] for s in of if not s["leave"]) for of in lives_of(v).values())
    match(golden.of("path"), [{"functions": joined(p), "count": nr, "share": nr * 100 / len(rows), "length": p.count(";") + 1}
                              for p, nr in paths.items()], ["functions"])
    check_event_ledger(golden, v)


# --- pattern ---

def submitted(r):
    return (r["stages"] or {}).get("queued_ns") or r["first_ns"]


def percent(part, of):
    return part * 100 / of if of else None


def reach(v, r):
    return v.sector(r), v.sector(r) + r["bytes"] // 512


def aligned(v, r, unit):
    return all(sector * 512 % unit == 0 for sector in reach(v, r))


# What a row says of its commands, in any order.
def mix(v, of, ns):
    ops = collections.Counter(v.op(r) for r in of)
    moves = [r for r in of if v.op(r) in MOVES]
    discards, rest = sum(ops[op] for op in DISCARDS), len(of) - len(moves)
    row = {"count": len(of), "iops": len(of) * SECOND / ns, "mb_per_s": sum(r["bytes"] for r in moves) * 1000 / ns,
           "read_percent": percent(ops["read"], len(of)), "write_percent": percent(ops["write"], len(of)),
           "discard_percent": percent(discards, len(of)), "flush_percent": percent(ops["flush"], len(of)),
           "other_percent": percent(rest - discards - ops["flush"], len(of)), "rest_percent": percent(rest, len(of)),
           "aligned_percent": percent(sum(aligned(v, r, 4096) for r in moves), len(moves))}
    for name, some in (("", moves), ("read_", [r for r in moves if v.op(r) == "read"]), ("write_", [r for r in moves if v.op(r) == "write"])):
        row[name + "size_bytes"] = sum(r["bytes"] for r in some) // len(some) if some else None
        if name:
            row[f"misaligned_{name[:-1]}s"] = sum(not aligned(v, r, 4096) for r in some)
    unit = v.device(of[0])["unit"]
    row |= {"unit_bytes": unit or None, "unit_percent": percent(sum(aligned(v, r, unit) for r in moves), len(moves)) if unit else None}
    return row


# The part of the device that was touched since the start.
def touched(v, of):
    size = v.device(of[0])["size"] // 512
    parts = [reach(v, r) for r in of if v.op(r) in MOVES and reach(v, r)[1] <= size]
    return {"first_sector": min((p[0] for p in parts), default=None), "after_sector": max((p[1] for p in parts), default=None)}


def in_flight(of):
    return [sum(submitted(other) <= submitted(r) < other["end_ns"] for other in of) for r in of]


# Sequential: where one of the last 64 other places of this operation ended.
def sequential(v, of):
    ends, found = collections.defaultdict(dict), collections.Counter()
    for r in of:
        if v.op(r) in MOVES:
            first, after = reach(v, r)
            places = ends[v.op(r)]
            found[v.op(r)] += places.pop(first, 0)
            places.pop(after, None)
            places[after] = 1
            while len(places) > 64:
                places.pop(next(iter(places)))
    return found


# What depends on the order of submission.
def order(v, of):
    of = sorted(of, key=submitted)
    gaps = [submitted(b) - submitted(a) for a, b in zip(of, of[1:])]
    depths, ops, found = in_flight(of), collections.Counter(v.op(r) for r in of), sequential(v, of)
    row = {"seq_percent": percent(sum(found.values()), ops["read"] + ops["write"]), "depth_mean": sum(depths) / len(depths),
           "read_seq_percent": percent(found["read"], ops["read"]), "write_seq_percent": percent(found["write"], ops["write"]),
           "depth_p50": percentile(depths, 50), "depth_p99": percentile(depths, 99), "depth_max": max(depths)}
    if gaps:
        row |= {"gap_p50_ns": Near(percentile(gaps, 50)), "gap_p99_ns": Near(percentile(gaps, 99)), "gap_mean_ns": sum(gaps) // len(gaps)}
    return {**row, **({} if gaps else {f"gap_{name}_ns": None for name in ("p50", "p99", "mean")})}, gaps, depths


def patterns(v, records, keys, **how):
    so_far, keys = collections.defaultdict(list), ["dev"] + keys
    for span, at, ns, inside in spans(v, records, **how):
        for key, of in grouped(inside, keys).items():
            so_far[key] = of if span == "total" else so_far[key] + of
            row = {"span": span, "time_s": round(at / SECOND, 3), **dict(zip(keys, key)), **mix(v, of, ns), **touched(v, so_far[key])}
            yield {**row, **order(v, of)[0]} if span == "total" else row


# Buckets and cells: as many as lie between their ends, and their share.
def check_parts(v, rows, values, begin, end, whole=None):
    for row in rows:
        row.seen = row.seen | {begin, end}
        row.check("time_s", round((v.end - v.start) / SECOND, 3))
        if begin == "from_ns":
            same("a bucket", (bucket(row[begin]), row[begin] + width(row[begin])), (row[begin], row[end]))
        nr = sum(row[begin] <= value and (value < row[end] or not row[end]) for value in values)
        row.check("count", nr)
        row.check("share_percent", nr * 100 / (whole or len(values)))
    if not whole:
        same(f"in no row of {begin}", sum(row["count"] for row in rows), len(values))


def check_pattern_parts(golden, v, records):
    for (dev,), of in grouped(records, ["dev"]).items():
        def rows(kind, op=None):
            return [row for row in golden.of(kind) if row["dev"] == dev and (op is None or row["op"] == op)]

        _, gaps, depths = order(v, of)
        check_parts(v, rows("pattern_gap"), gaps, "from_ns", "to_ns")
        check_parts(v, rows("pattern_depth"), depths, "from_depth", "to_depth")
        ops = grouped(of, ["op"])
        match(rows("pattern_op"), [{"op": op, "count": len(some), "share_percent": len(some) * 100 / len(of)} for (op,), some in ops.items()], ["op"])
        for op in MOVES:
            some = ops.get((op,), [])
            sizes = collections.Counter(r["bytes"] for r in some)
            match(rows("pattern_size", op), [{"size_bytes": size, "count": nr, "share_percent": nr * 100 / len(some)}
                                             for size, nr in sizes.items()], ["size_bytes"])
            check_parts(v, rows("pattern_heat", op), [v.sector(r) for r in some], "from_sector", "to_sector", len(some))


@case("pattern-json", "pattern-tasks", "pattern-cgroups", "pattern-fail-if")
def _(data, golden):
    v = view(data, "v1-stages.cap" if golden.name == "pattern-cgroups" else "nvme.cap", csv_text)
    keys = {"pattern-tasks": ["pid", "comm"], "pattern-cgroups": ["cgroup"]}.get(golden.name, [])
    how = {"pattern-json": {"interval": SECOND // 2}, "pattern-cgroups": {"interval": 5 * 10**6}}.get(golden.name, {})
    records = [r for r in v.ended if v.op(r) in MOVES] if golden.name == "pattern-json" else v.ended
    rows = golden.of("pattern") if golden.of("pattern") else golden.rows
    match(rows, list(patterns(v, records, keys, **how)), ["span", "time_s", "dev"] + keys)
    if golden.name == "pattern-json":
        check_pattern_parts(golden, v, records)
        check_ledger(golden, v)


# --- diff ---

# Percentiles of a comparison are read from buckets of 0.4 % of the latency.
def numbers(v, of):
    lats, n = [r["lat"] for r in of], len(of)
    mean, size = sum(lats) / n, sum(r["bytes"] for r in of) / n
    values = {"count": n, "mean": int(mean + 0.5), "iops": n * SECOND / (v.end - v.start), "size": int(size + 0.5),
              "errors": percent(sum(r["status"] != 0 for r in of), n)}
    values |= {f"p{p}": Near(percentile(lats, p), 0.004) for p in (50, 90, 99, 99.9)}
    for size, nr in collections.Counter(size_class(r["bytes"]) for r in of).items():
        values[f"size {size}"] = nr * 100 / n
    for row in list(layers_of(of))[:-1]:
        values[f"step {row['step']}"] = row["share_percent"]
    return values


@case("diff-json", "diff-csv", "diff-fail-if", "diff-unsure", "diff-zstd", "forged-diff")
def _(data, golden):
    names = {"diff-zstd": ("v1.cap", "v1-zstd.cap"), "forged-diff": ("forged.cap", "forged.cap")}.get(golden.name, ("before.cap", "after.cap"))
    runs = []
    for name in names:
        v = view(data, name, csv_text)
        runs.append({key: numbers(v, of) for key, of in grouped(v.ended, ["dev", "op"]).items()})
    rows = golden.of("shift") if golden.of("shift") else golden.rows
    same("devices and operations", {(row["dev"], row["op"]) for row in rows} <= set(runs[0]), True)
    for row in rows:
        for column, key, run in (("a", "dev", runs[0]), ("b", "dev_b", runs[1])):
            row.check(column, run[row[key], row["op"]].get(row["what"]))
        a, b = float(row["a"]), float(row["b"])
        if row["shift_unit"]:
            points = row["shift_unit"] == "points"
            row.seen = row.seen | {"shift"}
            off = float(row["shift"]) - (b - a if points else b * 100 / a - 100)
            same(f"shift of {row.name} that a and b as they are printed do not explain", abs(off) > (0.0015 if points else 100 / a + 0.001), False)


# --- report ---

def check_who(rows, groups, keys, whole):
    for row in rows:
        of = groups.get(tuple(row[key] for key in keys), [])
        row.seen = row.seen | set(keys)
        lats = [r["lat"] for r in of] or [0]
        for column, value in {"count": len(of), "bytes": sum(r["bytes"] for r in of), "failed": sum(r["status"] != 0 for r in of),
                              "mean_ns": sum(lats) // len(lats), "max_ns": max(lats), "sum_ns": sum(lats),
                              "share_percent": sum(lats) * 100 / whole}.items():
            row.check(column, value)


def check_times(golden, v, records):
    # The last one ends with the run, and has what happens at its very end.
    def within(row, of):
        begin, end = round(row["begin_s"] * SECOND), round(row["end_s"] * SECOND)
        row.seen = row.seen | {"begin_s", "end_s"}
        return [r for r in of if begin <= r["time"] - v.start < end + (end == v.end - v.start)], end - begin

    moments = golden.of("moment")
    same("where moments begin", [row["begin_s"] for row in moments[1:]], [row["end_s"] for row in moments[:-1]])
    same("lengths of moments", len({round((row["end_s"] - row["begin_s"]) * SECOND) for row in moments[:-1]}), 1)
    for row in moments:
        of, ns = within(row, records)
        row.check("count", len(of))
        row.check("max_ns", max((r["lat"] for r in of), default=None))
        if row["iops"] is not None:
            row.check("iops", len(of) * SECOND / ns)
            row.check("mb_per_s", sum(r["bytes"] for r in of) * 1000 / ns)
    same("commands of all moments", sum(row["count"] for row in golden.of("moment")), len(records))
    groups = {**grouped(records, ["dev", "op"]), (None, None): records}
    columns = {(row["begin_s"], row["end_s"]) for row in moments}
    for row in golden.of("heat"):
        of, _ = within(row, groups[row["dev"], row["op"]])
        row.seen = row.seen | {"from_ns", "to_ns"}
        same(f"{row.name} is a column of time", (row["begin_s"], row["end_s"]) in columns, True)
        quarter = 1 << row["from_ns"].bit_length() - 3
        same(f"ends of {row.name}", (row["from_ns"] // quarter * quarter, row["from_ns"] + quarter), (row["from_ns"], row["to_ns"]))
        row.check("count", sum(row["from_ns"] <= r["lat"] and (r["lat"] < row["to_ns"] or not row["to_ns"]) for r in of))
    same("commands of all cells", sum(row["count"] for row in golden.of("heat") if row["dev"] is None), len(records))


def check_whole(golden, v, records, begin):
    lats, ns = [r["lat"] for r in records], v.end - v.start - begin
    files = [v.file(r) for r in records]
    in_order(golden.of("report"), [{
        "captures": 1, "wall_s": float(v.c.wall(v.start)) / SECOND, "from_s": begin // SECOND, "seconds": round(ns / SECOND, 3), "count": len(records),
        "failed": sum(r["status"] != 0 for r in records), "bytes": sum(r["bytes"] for r in records), "iops": len(records) * SECOND / ns,
        "mb_per_s": sum(r["bytes"] for r in records) * 1000 / ns, "p50_ns": Near(percentile(lats, 50)), "p99_ns": Near(percentile(lats, 99)),
        "max_ns": max(lats), "staged": sum(bool(r["stages"]) for r in records), "fileless": files.count(None),
        "processes": len(grouped(records, ["pid", "comm"])), "files": len(set(files) - {None})}])


@case("report-json", "report-errors", "report-hostile", "report-filtered")
def _(data, golden):
    name = golden.name
    v = view(data, {"report-json": "stacks.cap", "report-errors": "errors.cap", "report-hostile": "hostile.cap"}.get(name, "nvme.cap"))
    records, begin = v.ended, 0
    if name == "report-filtered":
        begin = SECOND
        records = [r for r in v.ended if v.op(r) == "read" and r["lat"] > 10**6 and r["time"] - v.start >= begin]
    total = [row for row in latency(v, ["dev", "op"], records, begin=begin) if row["span"] == "total"]
    match(golden.of("latency"), total, ["span", "time_s", "dev", "op"])
    match(golden.of("layers"), list(layers(v, records, ["total"])), ["span", "time_s", "dev", "op", "step"])
    match(golden.of("pattern"), [row for row in patterns(v, records, [], begin=begin) if row["span"] == "total"], ["span", "time_s", "dev"])
    check_pattern_parts(golden, v, records)
    check_whole(golden, v, records, begin)
    check_times(golden, v, records)
    for row in golden.of("percentile"):
        lats = [r["lat"] for r in records if (v.dev(r), v.op(r)) == (row["dev"], row["op"])]
        row.seen = row.seen | {"percentile"}
        row.check("lat_ns", Near(percentile(lats, row["percentile"])))
    check_who(golden.of("process"), grouped(records, ["pid", "comm"]), ["pid", "comm"], sum(r["lat"] for r in records))
    check_who(golden.of("file"), grouped(records, ["file"]), ["file"], sum(r["lat"] for r in records))
    slowest = list(slow(v, records))[: len(golden.of("slow"))]
    in_order(golden.of("slow"), [{**row, "time_s": float(row["time_s"])} for row in slowest])
    devices = {plain(d["name"]): d for number, d in v.c.devices.items() if number < 4096}
    for row in golden.of("device"):
        for column, key in {"size_bytes": "size", "block_bytes": "block", "queues": "queues", "depth": "depth"}.items():
            row.check(column, devices[row["dev"]][key])
    wrong = [{**row, "time_s": float(row["time_s"])} for row in troubles(v)] if golden.of("errors") else []
    in_order(golden.of("errors"), wrong[: len(golden.of("errors"))])
    match(golden.of("errors_sum"), [{"dev": dev, "what": what, "count": len(of), "max_ns": max(of)} for (dev, what), of in longest(wrong).items()],
          ["dev", "what"])
    check_ledger(golden, v)


def longest(wrong):
    groups = collections.defaultdict(list)
    for row in wrong:
        groups[row["dev"], row["what"]].append(row["lat_ns"])
    return groups
