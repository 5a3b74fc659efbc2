# SPDX-License-Identifier: BSD-2-Clause
# view.py: what the manual says of the records of a capture: names, places, spans of time, percentiles.
import collections
import datetime
import functools
import os
import re

from capture import Capture, MASK, Merged
from golden import Near

SECOND = 10**9
NVME = {0: "flush", 1: "write", 2: "read", 4: "write-uncor", 5: "compare", 8: "write-zeroes", 9: "dsm"}
ADMIN = {2: "get-log-page", 6: "identify", 8: "abort", 9: "set-features", 10: "get-features"}
KINDS = ["namespace", "head", "controller", "disk", "bio-based"]
DISCARDS, MOVES = ("dsm", "discard"), ("read", "write")


# Texts are hostile: JSON and CSV escape what is no letter, CSV disarms what is a formula.
def csv_text(data):
    text = escaped(data)
    return "'" + text if text and text[0] in "=+@" else text


def escaped(data):
    if data is None:
        return None
    return re.sub("[\0-\x1f\x7f\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]",
                  lambda m: "".join(f"\\x{byte:02x}" for byte in m[0].encode(errors="surrogateescape")), data.decode(errors="surrogateescape"))


plain = escaped


# The commands of a capture, each with what views show of it.
class View:
    def __init__(self, capture, text=plain):
        self.c, self.text = capture, text
        times = [head["min"] for head in capture.heads if head["type"] == 5], [head["max"] for head in capture.heads if head["type"] == 5]
        self.start = int(capture.info.get("start_ns", min(times[0], default=0)))
        self.end = int(capture.info.get("end_ns", max(times[1], default=0)))
        self.ended = [r for r in capture.records if r["what"] == 0]
        for r in capture.records:
            r["view"], r["lat"] = self, (r["end_ns"] - r["first_ns"]) & MASK

    def device(self, r):
        return self.c.devices.get(r["device"])

    def dev(self, r):
        device = self.device(r)
        return self.text(device["name"]) if device else None

    def op(self, r):
        names = {0: NVME, 1: ADMIN, 3: self.c.names.get("block_op", {})}.get(r["kind"], {})
        return names.get(r["op"], f"op {r['op']}")

    def sector(self, r):
        if self.op(r) not in ("read", "write", "discard"):
            return None
        device = self.device(r)
        return r["address"] * (device["block"] // 512 if r["kind"] == 0 else 1)

    def comm(self, r):
        return self.text(r["comm"])

    def stage(self, r, name):
        return r["stages"][name] if r["stages"] else None

    def cgroup(self, r):
        number = self.stage(r, "cgroup")
        return None if not number else self.text(self.c.cgroups.get(number, b"cgroup-%d" % number))

    def file(self, r):
        s = r["stages"]
        return self.text(self.c.files.get((s["inode"], s["file_dev"] | s["file_nth"] << 32))) if s and s["inode"] else None

    def stack(self, r, which):
        number = self.stage(r, which + "_stack")
        return self.text(self.c.stacks.get((number, 0 if which == "kernel" else r["pid"]))) if number else None

    def time_s(self, time):
        return f"{(time - self.start) // SECOND}.{(time - self.start) % SECOND:09}"

    def whole(self, r):
        s = r["stages"] or {}
        return (s.get("done_ns") or r["end_ns"]) - (s.get("queued_ns") or r["first_ns"])


@functools.lru_cache(None)
def capture_of(path_):
    return Capture(path_)


# Those of a merged file; of any other file itself.
@functools.lru_cache(None)
def captures_of(path_):
    return Merged(path_).parts if path_.endswith("merged.cap") else [capture_of(path_)]


def wall_text(v, time, digits=0):
    wall = v.c.wall(time)
    if wall is None:
        return None
    text = datetime.datetime.fromtimestamp(wall // SECOND, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    return text + (f".{wall % SECOND:09}"[: digits + 1] if digits else "") + "Z"


# Of a merged file, for each of its captures.
def views(data, name, text=plain):
    return [View(part, text) for part in captures_of(os.path.join(data, name))]


def view(data, name, text=plain):
    return View(capture_of(os.path.join(data, name)), text)


def size_class(nr):
    if not nr:
        return "none"
    nr = 1 << (nr - 1).bit_length()
    for unit, name in ((1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")):
        if nr >= unit:
            return f"{nr / unit:.1f}{name}"
    return str(nr)


KEYS = {"dev": View.dev, "op": View.op, "size_class": lambda v, r: size_class(r["bytes"]), "qid": lambda v, r: r["qid"],
        "pid": lambda v, r: r["pid"], "comm": View.comm, "cpu": lambda v, r: v.stage(r, "cpu"), "cgroup": View.cgroup,
        "file": View.file}


def percentile(values, percent):
    return sorted(values)[max(-(-len(values) * round(percent * 100) // 10000), 1) - 1]


def grouped(records, keys):
    groups = collections.defaultdict(list)
    for r in records:
        groups[tuple(KEYS[key](r["view"], r) for key in keys)].append(r)
    return groups


def percentiles(lats, of=(50, 90, 99, 99.9, 99.99)):
    return {f"p{p}_ns".replace(".", "_"): Near(percentile(lats, p)) for p in of}


def rates(records, ns):
    moved = sum(r["bytes"] for r in records)
    return {"count": len(records), "iops": len(records) * SECOND / ns, "mb_per_s": moved * 1000 / ns}


def latency_row(of, ns):
    lats = [r["lat"] for r in of]
    return {**rates(of, ns), "size_bytes": sum(r["bytes"] for r in of) // len(of), **percentiles(lats),
            "max_ns": max(lats), "mean_ns": sum(lats) // len(lats)}


# Spans of a run: each interval that is whole, and all of it. A record of a time before that of an earlier record counts in
# the interval of that one, which is open when it is read.
def spans(v, records, interval=SECOND, begin=0, end=None):
    length = v.end - v.start if end is None else end
    inside = [r for r in records if begin <= r["time"] - v.start and (end is None or r["time"] - v.start < end)]
    intervals, latest = collections.defaultdict(list), 0
    for r in inside:
        latest = max(latest, r["time"])
        intervals[(latest - v.start - begin) // interval].append(r)
    for at in range((length - begin) // interval):
        yield "interval", begin + (at + 1) * interval, interval, intervals[at]
    yield "total", length, length - begin, inside


def latency(v, keys, records=None, row=latency_row, **how):
    for span, at, ns, of in spans(v, v.ended if records is None else records, **how):
        for key, group in grouped(of, keys).items():
            yield {"span": span, "time_s": round(at / SECOND, 3), **dict(zip(keys, key)), **row(group, ns)}


def without(rows, *columns):
    return [{key: value for key, value in row.items() if key not in columns} for row in rows]
