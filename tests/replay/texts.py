# SPDX-License-Identifier: BSD-2-Clause
# texts.py: golden texts in other formats, and text for people, whose numbers are rounded.
import collections
import json
import os
import re

from golden import *
from rows import *
from view import *

# --- other formats ---

@case("export-fio")
def _(data, golden):
    v = view(data, "v1-stages.cap")
    records = sorted((r for r in v.ended[:40] if v.op(r) in MOVES and not r["status"]), key=submitted)
    lines = [line.split(" ", 1) for line in golden.out if re.search(" (read|write) ", line)]
    same("accesses", len(records), len(lines))
    for r, (time, text) in zip(records, lines):
        same(f"the access at {time}", f"/dev/{v.dev(r)} {v.op(r)} {v.sector(r) * 512} {r['bytes']}", text)
        after = (submitted(r) - submitted(records[0])) / 1000
        same(f"time of {text} is off", abs(after - int(time) + int(lines[0][0])) > 1, False)


# Times in microseconds, to the nanosecond.
def micro(ns):
    return ns / 1000


@case("export-chrome")
def _(data, golden):
    v = view(data, "v1-stages.cap")
    events = json.loads("".join(golden.out))["traceEvents"]
    want = {kind: [e for e in events if e.get("cat") == kind] for kind in ("command", "step")}
    records = v.ended[:12]
    same("commands", len(records), len(want["command"]))
    for r, e in zip(records, want["command"]):
        begin = path(r)[0][1]
        for what, got, there in (("ts", micro(begin), e["ts"]), ("dur", micro(path(r)[-1][1] - begin), e["dur"]), ("name", v.op(r), e["name"]),
                                 ("cpu", v.stage(r, "cpu") if r["stages"] else r["cpu"], e["args"]["cpu"]), ("bytes", r["bytes"], e["args"]["bytes"]),
                                 ("sector", v.sector(r), e["args"].get("sector")), ("lat_ns", r["lat"], e["args"]["lat_ns"]),
                                 ("pid", r["pid"], e["args"]["pid"]), ("attempts", r["attempts"], e["args"]["attempts"])):
            same(f"{what} of a command", got, there)
    all_steps = [(name, ns) for r in records if r["stages"] for name, ns in steps(r)]
    same("steps", [name for name, _ in all_steps], [e["name"].split()[0] for e in want["step"]])
    cpus = [v.stage(r, "cpu") for r in records if r["stages"] for _ in steps(r)]
    for (name, ns), cpu, e in zip(all_steps, cpus, want["step"]):
        same(f"dur of {name}", micro(ns), e["dur"])
        same(f"cpu of {name}", cpu, e["args"]["cpu"])
    latencies = [e["args"]["ns"] for e in events if e["name"] == "latency"]
    same("latencies", [r["lat"] for r in records], latencies)


@case("calls-chrome")
def _(data, golden):
    v = view(data, "calls.cap")
    events = [e for e in json.loads("".join(golden.out))["traceEvents"] if e["ph"] == "X"]
    calls = [call for call in calls_of(v) if call["depth"] < 3]
    same("calls", [call["function"] for call in calls], [e["name"] for e in events])
    for call, e in zip(calls, events):
        same("ts", micro(call["enter"]["time"] - v.start), e["ts"])
        same("dur", micro(call["ns"]), e["dur"])
        enter = call["enter"]
        for key in ("pid", "tid"):
            same(key, enter[key], e[key])
        same("cpu", enter["cpu"], e["args"]["cpu"])
        same("arguments", " ".join(part_text(p, value) for p, value in zip(enter["place"]["parts"], enter["parts"])), e["args"]["arguments"])
        same("ret", call["leave"]["parts"][0] if call["leave"]["parts"] else None, e["args"].get("ret"))


# The edges of a graph by the labels of its nodes.
def edges(golden):
    nodes = dict(re.fullmatch(r'\t(\w+) \[label="(.*?)".*\];', line).groups() for line in golden.out if re.match(r"\tn\d+ \[", line))
    found = [re.fullmatch(r'\t(\w+) -> (\w+) \[label="(.*?)".*\];', line) for line in golden.out if " -> " in line]
    return [(nodes[e[1]], nodes[e[2]], e[3].split("\\n")) for e in found]


@case("class-dot")
def _(data, golden):
    v, gaps = view(data, "class.cap"), collections.defaultdict(list)
    for of in lives_of(v).values():
        entered = [step for step in of if not step["leave"]]
        for a, b in zip(entered, entered[1:]):
            gaps[a["call"]["function"], b["call"]["function"]].append(b["time"] - a["time"])
    found = edges(golden)
    same("edges", {key for key in gaps}, {(a, b) for a, b, _ in found})
    for a, b, label in found:
        of = gaps.get((a, b), [0])
        same(f"{a} {b}", len(of), label[0])
        p50, p99 = re.fullmatch("p50 (.*), p99 (.*)", label[1]).groups()
        same(f"p50 of {a} {b}", Shown(percentile(of, 50), 1 / 64), p50)
        same(f"p99 of {a} {b}", Shown(percentile(of, 99), 1 / 64), p99)


@case("calls-dot", "export-calls-dot")
def _(data, golden):
    v, pairs_ = view(data, "calls.cap"), collections.Counter()
    for call in calls_of(v):
        names = call["functions"].split(";")
        if len(names) > 1:
            pairs_[names[-2], names[-1]] += 1
    groups = calls_by(calls_of(v), "function")
    for line in golden.out:
        found = re.search(r'label="(\w+)\\n(\d+) calls\\n(\S+), self (\S+)"', line)
        if found:
            of = groups.get(found[1], [])
            for got, text in ((len(of), found[2]), (Shown(sum(c["ns"] for c in of)), found[3]), (Shown(sum(c["self"] for c in of)), found[4])):
                same(f"{text} of {found[1]}", got, text)
    found = edges(golden)
    same("edges", len(pairs_), len(found))
    for a, b, label in found:
        same(f"{a} {b}", pairs_[a.split("\\n")[0], b.split("\\n")[0]], label[0])


@case("export-dot")
def _(data, golden):
    v = view(data, "v1-stages.cap")
    found = edges(golden)
    reckoned = {}
    for (dev, op), of in grouped(v.ended, ["dev", "op"]).items():
        for r in of:
            r["whole"] = path(r)[-1][1] - path(r)[0][1]
        whole, times = sum(r["whole"] for r in of), collections.defaultdict(list)
        for r in of:
            for name, ns in steps(r):
                times[name].append(ns)
        reckoned |= {(f"{dev} {op}", name[0], name[2]): (t, sum(t) * 100 / whole) for name, t in times.items()}
    same("edges", len(reckoned), len(found))
    for a, b, label in found:
        title, letter = a.split("\\n")[0], a.split("\\n")[1][0]
        times, share = reckoned.get((title, letter, b.split("\\n")[1][0]), ([0], 0))
        nr, part = re.fullmatch(r"(\d+), (.*) of the time", label[1]).groups()
        same(f"count of {title} {letter}", len(times), nr)
        same(f"share of {title} {letter}", Shown(share), part)
        mean, p50, p99 = re.fullmatch("mean (.*) p50 (.*) p99 (.*)", label[2]).groups()
        for got, there in ((Shown(sum(times) // len(times), 1e-9), mean), (Shown(percentile(times, 50), 1 / 64), p50), (Shown(percentile(times, 99), 1 / 64), p99)):
            same(f"times of {title} {letter}", got, there)


@case("report-none")
def _(data, golden):
    v = view(data, "cache.cap")
    in_order(golden.of("report"), [{"count": 0, "bytes": 0, "failed": 0, "iops": 0, "seconds": round((v.end - v.start) / SECOND, 3), "captures": 1}])


# --- text ---

LINE = re.compile(r" *(?P<time>\S+) +(?P<dev>\S+) +(?P<qid>\d+|-) +(?P<cid>\d+|-) +(?P<op>\S+) +(?P<nsid>\d+|-|all) (?P<command>.*)"
                  r" +(?P<attempts>\d+) +(?P<lat>[0-9.]+[num]?s) +(?P<pid>\d+) (?P<comm>.*)")


@case("trace-text", "trace-admin", "trace-pid", "trace-if", "trace-span", "trace-failed", "trace-hostile", "trace-staged")
def _(data, golden):
    name = golden.name
    v = view(data, {"trace-hostile": "v1.cap", "trace-staged": "v1-stages.cap"}.get(name, "nvme.cap"), csv_text)
    wanted = {"trace-admin": lambda r: r["kind"] == 1, "trace-pid": lambda r: r["pid"] == 156, "trace-failed": lambda r: r["status"],
              "trace-if": lambda r: r["lat"] > 4 * 10**6 and "r" in v.op(r) or r["status"],
              "trace-span": lambda r: v.op(r) == "write" and 1834727232 <= r["time"] - v.start < 1898492304}.get(name, lambda r: True)
    records = [r for r in v.ended if wanted(r)]
    lines = golden.out[1:]
    if name in ("trace-hostile", "trace-staged"):
        records = records[:40]
    same("lines", len(records), len(lines))
    for r, line in zip(records, lines):
        found, row = LINE.fullmatch(line), trace_row(v, r)
        if not found:
            same("a line", "can be read", line)
            continue
        if name != "trace-failed":
            same("time", v.time_s(r["time"]), found["time"])
        for column in ("dev", "qid", "cid", "op", "nsid", "attempts", "pid"):
            got = "all" if column == "nsid" and row[column] == 2**32 - 1 else row[column]
            same(f"{column} of {line[:30]}", "-" if got is None else got, found[column])
        same(f"latency of {line[:30]}", Shown(r["lat"]), found["lat"])
        same(f"comm of {line[:30]}", row["comm"], found["comm"].strip())
        check_words(v, r, found["command"], found["command"])
        if name == "trace-failed":
            same("wall clock", wall_text(v, r["time"], 9), found["time"])
        if name == "trace-admin":
            dwords = " ".join(f"{r[f'cdw{n}']:08x}" for n in range(10, 16))
            same(f"cdw10-15 of {line[:30]}", dwords in found["command"], True)


@case("trace-duration", "forged-trace")
def _(data, golden):
    v = view(data, "nvme.cap" if golden.name == "trace-duration" else "forged.cap")
    records = v.ended if golden.name == "forged-trace" else [r for r in v.ended if 17 * 10**8 <= r["time"] - v.start < 172 * 10**7]
    same("lines", len(records), len(golden.out) - 1)
    for r, line in zip(records, golden.out[1:]):
        same("time", v.time_s(r["time"]), line.split()[0])
        if golden.name == "trace-duration":
            same("lba", r["address"], line.split()[1])


# A matrix has the shares of the rows of the same capture, in another order.
@case("blame-matrix")
def _(data, golden):
    rows = Golden(os.path.dirname(__file__), "blame").out
    want = {(m[1], m[2], m[3]): m[4] for m in re.finditer(r"(\S+) (.+?) +\d+ +\S+ (.+?) +([0-9.]+%) ", "\n".join(rows))}
    head, got = golden.out[0], {}
    dev = head.split()[0]
    for line in golden.out[1:]:
        ends = [m.end() for m in re.finditer(r" (?:[0-9.]+%|-)(?= |$)", line)]
        for begin, end in zip([len(dev)] + ends, ends):
            victim = line[: ends[0]].rpartition(" ")[0].strip()
            got[dev, victim, head[begin:end].strip()] = line[:end].split()[-1]
    same("shares", got, want)


@case("info-text", "info-hostile", "info-staged", "cache-info", "class-info", "info-repeated", "info-astray", "info-callless", "forged-info")
def _(data, golden):
    v = view(data, golden.out[0])
    c, lines = v.c, dict(re.fullmatch(r" +(\S+) +(.*)", line).groups() for line in golden.out[1:] if line.startswith("  "))
    same("records", len(c.records) or len(c.calls), lines["records"].split()[0])
    same("bytes", Shown(c.bytes), lines["records"].split(" in ")[1].split(",")[0])
    if c.records:
        same("bytes of a record", Shown(c.bytes / len(c.records)), lines["records"].split(", ")[1].split()[0])
    for key, value in c.info.items():
        same(key, "not there" if key in ("start_ns", "end_ns") else escaped(value), lines.get(key, "not there"))
    for key, nr in re.findall(r"(\w+) (\d+)", lines.get("ledger", "")):
        same(f"ledger: {key}", c.trailer["ledger"].get(key), nr)
    devices = [d for number, d in c.devices.items() if number < 4096]

    def numbers_of(d):
        none = d["kind"] == 2
        return (d["block"], None if none else d["major"], None if none else d["minor"], None if d["ctrl"] < 0 else d["ctrl"], d["nsid"] or None,
                d["queues"], d["depth"])

    # A column in which no device has a value is left out.
    shown = [any(value is not None for value in column) for column in zip(*map(numbers_of, devices))]
    for d in devices:
        line = next(line for line in golden.out[1:] if line.startswith(escaped(d["name"]) + " "))
        words_ = re.search(f" {KINDS[d['kind']]} +(.*)", line)[1].split()
        same(f"size of {line[:20]}", Shown(d["size"]), words_[0])
        for value, text in zip((value for value, is_shown in zip(numbers_of(d), shown) if is_shown), words_[1:]):
            same(f"numbers of {line[:20]}", "-" if value is None else value, text)
        for name, first, nr in d["partitions"] or []:
            line = next(line for line in golden.out if line.startswith(escaped(name) + " ")).split()
            same(f"partition {line[0]}", (str(first), str(nr)), tuple(line[2:4]))
            same(f"size of {line[0]}", Shown(nr * 512), line[4])
    if "repeated" in lines:
        same("repeated", c.surplus, lines["repeated"].split()[0])
    if "astray" in lines:
        same("astray", c.astray, lines["astray"].split()[0])
    if "missing" in lines:
        same("missing", c.counters["sent"] - len(c.calls), lines["missing"].split()[0])


@case("latency-text", "latency-wall")
def _(data, golden):
    v = view(data, "nvme.cap")
    is_wall = golden.name == "latency-wall"
    lines = [line.split() for line in golden.out]
    found = [line for line in lines if len(line) == 14 and re.fullmatch(r"20[0-9T:.-]+Z" if is_wall else r"[0-9.]+", line[0])]
    rows = list(latency(v, ["dev", "op"], interval=SECOND // 2 if is_wall else SECOND))
    same("rows", len(rows), len(found))
    want = {(line[0], line[1], line[2], line[3]): line for line in found}
    for row in rows:
        time = wall_text(v, v.start + round(row["time_s"] * SECOND), 3) if is_wall else f"{row['time_s']:.3f}"
        line = want.get((time, row["dev"], row["op"], str(row["count"])))
        if not line:
            same("a row", row, "not there")
            continue
        values = [row["iops"], row["mb_per_s"], row["size_bytes"], *[row[p] for p in percentiles([1])], row["max_ns"], row["mean_ns"]]
        for value, text in zip(values, line[4:]):
            same(f"{text} of {line[:4]}", Shown(value.value, 1 / 64) if isinstance(value, Near) else Shown(value), text)


@case("cache", "cache-pid", "cache-file", "cache-span")
def _(data, golden):
    v = view(data, "cache.cap")
    keep = {"cache-pid": lambda row: row["pid"] == 77, "cache-file": lambda row: row["inode"] == 12,
            "cache-span": lambda row: row["op"]}.get(golden.name, lambda row: True)
    keys = {"cache-pid": ["pid"], "cache-file": ["comm", "op"]}.get(golden.name, [])
    readings = [(time, [row for row in rows if keep(row)]) for time, rows in v.c.readings
                if golden.name != "cache-span" or 15 * 10**8 <= time - v.start < 22 * 10**8]
    end = readings[-1][0] if golden.name == "cache-span" else v.end
    want = [(head, line.split()) for head, line in headed(golden.out, " accesses ")]
    reckoned, every = [], []
    for time, rows in readings:
        every += rows
        reckoned += [(time, key, rows_) for key, rows_ in sorted(cache_groups(v, rows, keys).items(), key=str)] if rows and time < v.end else []
    reckoned.append((end, ("all",) * len(keys), every))
    reckoned += [(end, key, rows_) for key, rows_ in sorted(cache_groups(v, every, keys).items(), key=str)] if keys else []
    same("rows", len(reckoned), len(want))
    names = {"hit%": "hit_percent", "ahead": "readahead", "~unused": "unused", "missed": "miss_bytes"}
    for (time, key, rows), (head, line) in zip(reckoned, want):
        sums = {**cache_counts(v, rows), "time": (time - v.start) / SECOND, **dict(zip(keys, key))}
        for name, text in zip(head, line):
            value = sums[names.get(name, name)]
            same(f"{name} of {line[:2]}", value if name in keys else Shown(value), text)


# The lines of tables, each with the words of its heading.
def headed(lines, mark):
    head = None
    for line in lines:
        if mark in line:
            head = line.split()
        elif not line.strip() or line.startswith("in "):
            head = None
        elif head:
            yield head, line


@case("calls")
def _(data, golden):
    v = view(data, "calls.cap")
    calls = calls_of(v)
    lines = [re.fullmatch(r" *(\S+) +(\d+) (\S+) +(\d+) +(\S+) ( *)(\w+)\((.*)\)(?: = (.*))?", line) for line in golden.out[1:]]
    same("calls", len(calls), len([line for line in lines if line]))
    for call, found in zip(calls, [line for line in lines if line]):
        enter = call["enter"]
        for what, got, there in (("time", v.time_s(enter["time"]), found[1]), ("cpu", enter["cpu"], found[2]), ("pid", enter["pid"], found[4]),
                                 ("duration", Shown(call["ns"]), found[5]), ("depth", call["depth"] * 2, str(len(found[6]))),
                                 ("function", call["function"], found[7]), ("ret", call["leave"]["parts"][0] if call["leave"]["parts"] else None, found[9])):
            same(f"{what} of {found[1]}", got, there)


# The runs that a golden text compares, the device of B that is one of A, and the operations.
DIFFS = {"diff-itself": ("after.cap", "after.cap", {"nvme1n1": "nvme1n1"}),
         "diff-lost": ("v1-stages.cap", "v1.cap", {"nvme0n1": "nvme0n1", "nvme0n2": "nvme0n2"}),
         "diff-pair": ("v1-stages.cap", "v1.cap", {"nvme0n1": "nvme0n2", "sda": "nvme0n1"})}


@case("diff-text", "diff-all", "diff-itself", "diff-fail-if-noise", "diff-if", "diff-lost", "diff-pair")
def _(data, golden):
    a, b, devices = DIFFS.get(golden.name, ("before.cap", "after.cap", {"nvme0n1": "nvme1n1"}))
    runs = []
    for name in (a, b):
        v = view(data, name)
        records = v.ended
        if golden.name == "diff-if":
            records = [r for r in v.ended if r["bytes"] > 4096 and 10**8 <= r["time"] - v.start < 5 * 10**8]
            v.start, v.end = v.start + 10**8, v.start + 5 * 10**8
        runs.append({key: numbers(v, of) for key, of in grouped(records, ["dev", "op"]).items()})
        head = re.fullmatch(r"[AB]  (\S+): (\d+) commands in (\S+) s", golden.out[len(runs) - 1])
        wanted = [r for r in records if v.op(r) == "read" or golden.name in ("diff-text", "diff-all", "diff-itself", "diff-lost")]
        same(f"commands of {name}", len(wanted), head[2])
        same(f"seconds of {name}", Shown((v.end - v.start) / SECOND), head[3])
    for line in golden.out:
        found = re.match(r"(\S+) +(\S+) +(count|p[0-9.]+|mean|iops|size(?: [0-9.]+\w+)?|errors|step \w+) +(\S+) +(\S+) ", line)
        if not found:
            continue
        keys = (found[1], found[2]), (devices.get(found[1]), found[2])
        for run, key, text in zip(runs, keys, (found[4], found[5])):
            got = run.get(key, {"count": 0}).get(found[3], "-")
            got = Shown(got.value, got.within) if isinstance(got, Near) else Shown(got) if isinstance(got, (int, float)) else got
            same(line[:40], got, text)


@case("stacks-text", "stacks-both", "stacks-hist")
def _(data, golden):
    v, name = view(data, "stacks.cap"), golden.name
    of = [r for r in v.ended if name != "stacks-hist" or v.comm(r) == "fio"]
    groups = collections.defaultdict(list)
    for r in of:
        stacks = (v.stack(r, "kernel"), v.stack(r, "user"), r["pid"]) if name == "stacks-both" else (v.stack(r, "kernel"),)
        groups[(v.comm(r),) + stacks].append(r)
    found = [line.split() for line in golden.out if re.match(r" *\d+ +\d+ .*%", line)]
    weight = (lambda g: sum(v.whole(r) for r in g)) if name == "stacks-both" else len
    whole, ranked = sum(weight([r]) for r in of), sorted(groups.values(), key=weight, reverse=True)
    reckoned = []
    for group in ranked:
        times = [v.whole(r) for r in group]
        reckoned.append([Shown(value) for value in (len(group), sum(r["bytes"] for r in group), sum(times), sum(times) // len(times),
                                                    max(times), weight(group) * 100 / whole)])
    # Those of the same rank come in any order.
    for line in found:
        fits = [row for row in reckoned if all(value.agrees(text) for value, text in zip(row, line[1:]))] or reckoned[:1]
        reckoned.remove(fits[0])
        for value, text in zip(fits[0], line[1:]):
            same(f"{text} of rank {line[0]}", value, text)


@case("errors-text", "errors-hang", "errors-device")
def _(data, golden):
    v = view(data, "errors.cap" if golden.name == "errors-text" else "hang.cap")
    rows = [row for row in troubles(v) if golden.name != "errors-device" or row["what"] != "abort"]
    lines = [line.split() for line in golden.out if re.match(r" *\d+\.\d{9} ", line)]
    same("lines", len(rows), len(lines))
    names = ("time_s", "dev", "what", "op", "sector", "bytes", "qid", "cid", "attempts", "lat_ns", "pid", "comm")
    for row, line in zip(rows, lines):
        for name, text in zip(names, line):
            value = row.get(name)
            value = "-" if value is None else Shown(value) if name in ("bytes", "lat_ns") else value
            same(f"{name} of {line[0]}", value, text)


@case("slow-stacks")
def _(data, golden):
    v = view(data, "stacks.cap")
    lines = [line.split() for line in golden.out if re.match(r" *\d+ +\d+\.\d{9} ", line)]
    ways = [re.findall(r"(\w2\w) (\S+)", line) for line in golden.out if re.match(r" +\w2\w \d", line)]
    names = ("rank", "time_s", "whole_ns", "lat_ns", "dev", "op", "sector", "bytes", "depth", "attempts", "pid", "comm")
    for row, line, way in zip(slow(v, v.ended), lines, ways):
        for name, text in zip(names, line):
            same(f"{name} of rank {line[0]}", Shown(row[name]) if name in ("whole_ns", "lat_ns", "bytes") else row[name], text)
        reckoned = list(row["steps"].value.items())
        same(f"steps of rank {line[0]}", [name for name, _ in reckoned], [name for name, _ in way])
        for (name, ns), (_, text) in zip(reckoned, way):
            same(f"{name} of rank {line[0]}", Shown(ns), text)


# Both of class-if and of class are of all objects.
@case("class", "class-if")
def _(data, golden):
    v, gaps = view(data, "class.cap"), collections.defaultdict(list)
    for of in lives_of(v).values():
        entered = [step for step in of if not step["leave"]]
        for a, b in zip(entered, entered[1:]):
            gaps[a["call"]["function"], b["call"]["function"]].append(b["time"] - a["time"])
    whole = sum(sum(of) for of in gaps.values())
    lines = [line.split() for line in golden.out if re.fullmatch(r"\w+ +\w+ +\d+ .*%", line)]
    if golden.name == "class-if":
        same("transitions", len(gaps), len(lines))
    for line in lines:
        of = gaps.get((line[0], line[1]), [0])
        for value, text in zip((Shown(len(of)), Shown(percentile(of, 50), 1 / 64), Shown(percentile(of, 99), 1 / 64), Shown(max(of)),
                                Shown(sum(of)), Shown(sum(of) * 100 / whole)), line[2:]):
            same(f"{text} of {line[0]} {line[1]}", value, text)


@case("diff-calls", "diff-calls-graph")
def _(data, golden):
    key = "functions" if golden.name == "diff-calls-graph" else "function"
    a, b = (calls_by(calls_of(view(data, name)), key) for name in ("calls.cap", "class.cap"))
    outer, at = [], golden.out[0].index("function")
    for line in golden.out[1:]:
        found = re.match(r" *(\d+) +(\d+) +(\S+) +(\S+) +(\S+) +(\S+) ", line)
        if not found:
            continue
        function = line[at:].strip()
        outer = outer[: (len(line) - at - len(function)) // 2] + [function]
        name = ";".join(outer) if key == "functions" else function
        for of, nr, total, other in ((a.get(name, []), found[1], found[3], found[5]), (b.get(name, []), found[2], found[4], found[6])):
            ns = sum(call["ns"] for call in of)
            mine = sum(call["self"] for call in of) if key == "functions" else ns // max(len(of), 1)
            same(f"count of {name}", len(of), nr)
            same(f"total of {name}", Shown(ns) if of else "-", total)
            same(f"self or each of {name}", Shown(mine) if of else "-", other)


# What stands in the messages of commands that show no rows.
@case("class-pid", "class-span", "errors-none", "calls-callless", "errors-kernel")
def _(data, golden):
    said = " ".join(golden.err + golden.out)
    if golden.name.startswith("class"):
        v = view(data, "class.cap")
        begin = 2 * SECOND if golden.name == "class-span" else 0
        lives = [of for of in lives_of(v).values() if of[-1]["time"] - v.start >= begin]
        shown = [of for of in lives if golden.name != "class-pid" or of[0]["pid"] == 1]
        found = re.search(r"objects (\d+) = shown (\d+) \+ filtered out (\d+)", said)
        for got, text in zip((len(lives), len(shown), len(lives) - len(shown)), found.groups()):
            same("objects", got, text)
    elif golden.name == "errors-none":
        same("commands", len(view(data, "stacks.cap").ended), re.search(r"in (\d+) commands", said)[1])
    elif golden.name == "calls-callless":
        c = view(data, "callless.cap").c
        same("calls that are missing", c.counters["sent"] - len(c.calls), re.search(r"lacks (\d+) records", said)[1])
    else:
        r = [r for r in view(data, "errors.cap").ended if r["status"]][0]
        found = re.search(r"\(0x(\w+)\) @ LBA (\d+), (\d+) blocks, .*sct 0x(\w+) / sc 0x(\w+)", said)
        for got, text in zip((f"{r['op']:x}", r["address"], (r["cdw12"] & 0xFFFF) + 1, f"{r['status'] >> 8 & 7:x}", f"{r['status'] & 255:x}"), found.groups()):
            same("the kernel's words", got, text)


# --- the ledgers that all commands end with ---

def check_ends(data, golden, arguments):
    keys = [arguments[nr + 1] for nr, word in enumerate(arguments) if word == "--key"]
    names = [word for word in arguments if word.endswith(".cap") and word not in keys and os.path.exists(os.path.join(data, word))]
    now = names
    for line in golden.err:
        if line.endswith(".cap:"):
            now = [line[:-1]]
        captures = [c for name in now for c in captures_of(os.path.join(data, name))]
        found = re.match(r"issued (\d+) = completed (\d+) \+ in flight (\d+)", line)
        for key, text in zip(("issued", "completed", "in_flight"), found.groups() if found else ()):
            same(f"{key} of the ledger", sum(c.trailer["ledger"].get(key, 0) for c in captures), text)
        found = re.match(r"hits (\d+) = sent (\d+)", line)
        for key, text in zip(("hits", "sent"), found.groups() if found else ()):
            same(f"{key} of the ledger", sum(c.counters[key] for c in captures), text)
