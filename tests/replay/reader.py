#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# reader.py DIR REPLAY: reads the captures of DIR with capture.py, which follows docs/capture-format.md and has no code of
# iosonar, reckons what the manual says of their records, and compares that with the golden texts in REPLAY. Says every
# difference; exit 1 if there is one. -v: also which numbers of which golden text were not compared.
#
# Not reckoned: the chance in diff's draws (low, high, blocks), pattern's streams, its order within an interval, histograms and
# attempts as text. Where the manual leaves something open the golden texts decided, so they do not prove it: a record that is
# older than the one before it counts in the open interval; depth ends with end_ns; diff rounds means; the last moment of a
# report has the end of the run; a disk that is not NVMe ends with end_ns.
import collections
import os
import re
import shlex
import sys

sys.dont_write_bytecode = True
from capture import Capture
from golden import CASES, Golden, checks, faults, holds, now
import texts
from view import capture_of, captures_of, view, wall_text

# The file of three records that the document has byte by byte: what its text says of it is what is read.
def check_document():
    with open(os.path.join(os.path.dirname(__file__), "../../docs/capture-format.md"), encoding="utf-8") as file:
        lines = re.findall(r"^([0-9a-f]{4})  +((?:[0-9a-f]{2} )*(?:[0-9a-f]{2}|…))(?:  |$)", file.read(), re.M)
    data = b""
    for at, text in lines:
        data += bytes(int(at, 16) - len(data)) + bytes.fromhex(text.removesuffix("…"))
    capture = Capture(data=data)
    rows = [(r["end_ns"] - r["first_ns"], r["address"], r["cid"], r["seq"], r["comm"], r["pid"], r["bytes"], r["cpu"]) for r in capture.records]
    holds("the document's file", (len(data), capture.records[0]["end_ns"], capture.trailer["ledger"]), (264, 1080000, {"issued": 3}))
    holds("the document's records", rows, [(80000 + 100 * i, 4096 + 24 * i, 0x1000 + i, 10 + i, b"fio", 4242, 4096, 2) for i in range(3)])


def check_captures(data):
    for name in sorted(os.listdir(data)):
        if not name.endswith(".cap"):
            continue
        for capture in captures_of(os.path.join(data, name)):
            holds(f"{name}: contradictions", (capture.surplus, capture.astray), {"repeated.cap": (9, 0), "astray.cap": (0, 2)}.get(name, (0, 0)))
    with open(os.path.join(data, "nvme.cap"), "rb") as file:
        whole = file.read()
    for at in range(0, len(whole), 500):
        try:
            Capture(data=whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            faults.append(f"nvme.cap: a wrong byte at {at} is not found")
        except ValueError:
            pass
    plain_, packed = (capture_of(os.path.join(data, name)).records for name in ("v1.cap", "v1-zstd.cap"))
    holds("v1-zstd.cap: records", packed == plain_, True)


# Golden texts that are not compared, and why. Every other one has to be.
TEXT = "text for people, rounded; other golden texts of the same command are compared"
MESSAGE = "a message, without numbers of records"
WHY = "verdicts of rules, which tests/unit/why.c checks"
DRIVES = "services by a model, which tests/unit/drives.c checks"
MODEL = "parts of latencies by a model, which tests/unit/blame.c checks"
CHOICE = "some lines or members of what another golden text of the same capture has, which is compared"
EXCUSED = {
    "pattern-text": TEXT, "pattern-hostile": TEXT, "cache-events": TEXT, "cache-then-io": TEXT, "class-calls": TEXT, "class-graph": TEXT,
    "pattern-fio": "a job: choices of the command, not numbers of records",
    "stacks-none": MESSAGE, "latency-no-file": MESSAGE, "cache-none": MESSAGE, "cache-two": TEXT, "cache-hosts": TEXT,
    "cache-tid": MESSAGE, "cache-no-commands": MESSAGE, "class-if-wrong": MESSAGE,
    "class-none": MESSAGE, "class-struct": MESSAGE, "calls-functions": MESSAGE, "diff-pair-none": MESSAGE, "diff-calls-fail": MESSAGE,
    "diff-mixed": MESSAGE, "diff-cache": MESSAGE, "report-no-capture": MESSAGE, "export-cache": MESSAGE, "sql-wrong": MESSAGE,
    "class-only-none": MESSAGE, "class-fields-none": MESSAGE, "class-recording": MESSAGE, "calls-recording": MESSAGE,
    "info-verbose": CHOICE, "class-only": CHOICE, "class-only-calls": CHOICE, "class-not": CHOICE, "class-fields": CHOICE, "calls-pid": CHOICE,
    "latency-top": CHOICE, "latency-top-fail-if": CHOICE, "cache-top-fail-if": CHOICE,
    "stacks-top-fail-if": CHOICE, "stacks-fail-if-folded": MESSAGE, "latency-sort": CHOICE, "latency-if": CHOICE, "latency-many": CHOICE, "layers-if": CHOICE, "slow-if": CHOICE,
    "stacks-if": CHOICE, "errors-fail-if": CHOICE, "errors-if": CHOICE, "cache-if": CHOICE, "trace-fail-if": CHOICE,
    "blame": MODEL, "blame-by": MODEL, "blame-csv": MODEL, "blame-without": MODEL, "blame-without-op": MODEL, "blame-fail-if": MODEL,
    "blame-hostile": MODEL, "blame-staged": MODEL, "blame-paths": MODEL, "blame-path": MODEL, "blame-queue": MODEL, "blame-queue-culprit": MODEL,
    "blame-special": MODEL, "blame-special-unit": MODEL, "blame-special-csv": MODEL, "blame-special-without": MODEL,
    "blame-same-queue": MODEL, "blame-without-nobody": MESSAGE, "blame-matrix-queues": MODEL, "blame-matrix-without": MESSAGE,
    "why": WHY, "why-json": WHY, "why-csv": WHY, "why-watch": WHY, "why-none": WHY, "why-stageless": WHY, "why-too-few": WHY, "why-hostile": WHY,
    "drives": DRIVES, "drives-csv": DRIVES, "drives-json": DRIVES, "drives-two": DRIVES, "drives-paths": DRIVES, "drives-hostile": DRIVES, "merged-drives": DRIVES,
    "merged-info": TEXT, "merged-latency": TEXT, "merged-disk": TEXT, "merged-unknown-disk": MESSAGE, "merged-trace": TEXT, "merged-errors": TEXT, "merged-diff": TEXT, "merged-slow": TEXT, "merged-stacks": MESSAGE, "merged-pattern": TEXT, "merged-blame": MODEL, "merged-why": WHY, "hosts-stacks": TEXT, "hosts-errors": TEXT,
    "merged-anonymous": CHOICE, "merged-info-json": CHOICE,
    "waits": TEXT, "waits-two": TEXT, "waits-hosts": TEXT, "waits-fault": MESSAGE, "waits-none": MESSAGE, "waits-as-trace": MESSAGE, "waits-report": CHOICE, "waits-why": MESSAGE, "waits-info": CHOICE,
    "requests": TEXT, "requests-info": CHOICE, "requests-as-trace": MESSAGE, "requests-two": TEXT,
    "sql-schema": MESSAGE, "sql-hostile": "names, without numbers", "forged-no-device": MESSAGE,
}


def read_cases(replay):
    with open(os.path.join(replay, "cases"), encoding="utf-8") as file:
        lines = [shlex.split(line) for line in file if line.strip() and not line.startswith("#")]
    return {words_[0]: words_[1:] for words_ in lines}


# Wherever a row has a time, its wall clock is that time on the clock of the capture, to the digits that are shown.
def check_walls(data, golden, arguments):
    captures = [word for word in arguments if word.endswith(".cap")]
    if not captures or "merged.cap" in captures:  # whose rows are on several clocks; merged-export has wall_ns
        return
    v = view(data, captures[0])
    for row in golden.rows:
        if not row.get("time_s") or "wall" not in row or golden.name.startswith("sql-"):
            continue
        whole, _, digits = str(row["time_s"]).partition(".")
        time = v.start + int(whole) * 10**9 + int(digits.ljust(9, "0"))
        row.check("wall", wall_text(v, time, len((row["wall"] or "..Z").partition(".")[2]) - 1))


def main(data, replay, *options):
    now.golden = "captures"
    check_document()
    check_captures(data)
    functions, excused = {name: function for names, function in CASES for name in names}, collections.defaultdict(list)
    for name, arguments in read_cases(replay).items():
        now.golden = name
        golden = Golden(replay, name)
        if name in functions:
            functions[name](data, golden)
            if not checks[name]:
                faults.append(f"{name}: nothing was compared")
        check_walls(data, golden, arguments)
        texts.check_ends(data, golden, arguments)
        if name in EXCUSED:
            excused[EXCUSED[name]].append(name)
        elif name not in functions:
            faults.append(f"{name}: nothing compares it, and EXCUSED in reader.py does not say why")
        if "-v" in options and golden.unseen() and name in functions:
            print(f"{name}: not compared:", ", ".join(f"{key} ({nr})" for key, nr in golden.unseen().items()))
    for why, names in excused.items():
        print(f"not compared but for the ledger: {', '.join(names)}: {why}")
    for fault in faults:
        print(fault)
    print(f"{sum(checks.values())} numbers and names of {len(functions)} golden texts were compared, "
          f"and the ledgers of {len(set(checks) - set(functions))} others; {len(faults)} differ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
