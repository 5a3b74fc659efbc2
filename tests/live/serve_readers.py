# SPDX-License-Identifier: BSD-2-Clause
"""serve_readers.py IOSONAR CAPTURE FOLDER: a capture of the flight recorder, given to every command that has -r. Each command counts
as many commands as trace prints, or refuses with exit code 2 and one line that says what the capture lacks. Prints TAP without
numbers.

A command with -r that is in none of the tables below is a case that fails.
"""
import json
import os
import re
import subprocess
import sys

iosonar, capture, folder = sys.argv[1:]
made = os.path.join(folder, "made")


def run(*args):
    """Exit code, output, messages. What an option writes to a file is the output."""
    if made in args and os.path.exists(made):  # to be written
        os.remove(made)
    done = subprocess.run([iosonar, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    text = done.stdout.decode(errors="replace")
    if made in args and os.path.exists(made):
        with open(made, encoding="utf-8", errors="replace") as file:
            text = file.read()
    return done.returncode, text, done.stderr.decode()


def objects(text, kind):
    return [one for one in map(json.loads, text.splitlines()) if one["type"] == kind]


def rows(kind):
    return lambda text: len(objects(text, kind))


def total(kind, field="count", **want):
    """The sum of a field over the objects of this kind that have these values."""
    return lambda text: sum(one[field] for one in objects(text, kind) if want.items() <= one.items())


def told(pattern):
    return lambda text: int(re.search(pattern, text)[1])


def found(pattern):
    return lambda text: len(re.findall(pattern, text, re.M))


def added(pattern):
    return lambda text: sum(map(int, re.findall(pattern, text, re.M)))


READ = ["-r", capture]
COUNTS = [
    ("trace", [*READ, "-o", "json"], rows("trace")),
    ("latency", [*READ, "-o", "json"], total("latency", span="total")),
    ("top", [*READ, "-o", "json"], total("top", span="total")),
    ("layers", [*READ, "-o", "json"], total("layers", span="total", what="total")),
    ("blame", [*READ, "-o", "json"], total("blame_device")),
    ("why", [*READ, "-o", "json"], told(r'"(\d+) commands, median ')),
    ("drives", [*READ, "-o", "json"], total("drives")),
    ("slow", [*READ, "-o", "json", "--top", "10000"], rows("slow")),
    ("pattern", [*READ, "-o", "json"], total("pattern", span="total")),
    ("info", [*READ, "-o", "json"], total("info", "records")),
    ("diff", [*READ, *READ, "-o", "json"], total("shift", "b", what="count")),
    ("report", [*READ, "--out", made], told(r'"type":"pattern","span":"total"[^}]*"count":(\d+)')),
    ("sql", [*READ, "-o", "csv", "SELECT count(*) AS n FROM io"], told(r"(\d+)\s*$")),
    ("export", [*READ, "-o", "json"], rows("io")),
    ("export", [*READ, "-o", "csv"], lambda text: text.count("\n") - 1),
    ("export", [*READ, "-o", "chrome"], found(r'"cat":"command","ph":"X"')),
    ("export", [*READ, "-o", "fio"], found(r"^\d+ \S+ (?:read|write) ")),
    ("export", [*READ, "-o", "openmetrics"], added(r"^iosonar_latency_seconds_count\{.*\} (\d+)$")),
    ("errors", [*READ, "-o", "json"], rows("error")),
    ("merge", [*READ, "-w", made], None),
]
WANT = {"errors": 0}  # of all commands, those that it is about

REFUSALS = [
    ("stacks", [], "this capture has no stacks: record it with --stacks"),
    ("waits", [], f"{capture} contains no waits; waits -w keeps them"),
    ("cache", [], f"{capture} contains no page cache data; record --cache keeps it"),
    ("class", [], f"{capture} contains no calls; class -w and calls -w keep them"),
    ("calls", [], f"{capture} contains no calls; class -w and calls -w keep them"),
    ("inflight", [], f"-r {capture}: a capture contains only commands that have ended; iosonar slow -r shows the slowest"),
    ("export", ["-o", "folded"], "this capture has no stacks: record it with --stacks"),
]


def report(good, what, *details):
    print(("ok - " if good else "not ok - ") + what, flush=True)
    if not good:
        for detail in details:
            print("# " + repr(detail)[:500])


def readers():
    """Every command whose help has -r."""
    names = re.findall(r"^  ([a-z]+)  ", run("help")[1], re.M)
    return {name for name in names if re.search(r"^  (-r,|Read a capture +-r)", run(name, "-h")[1], re.M)}


def check_count(name, args, count, want):
    code, text, said = run(name, *args)
    if count is None:  # a capture again
        count, text = rows("trace"), run("trace", f"-r{made}", "-o", "json")[1]
    try:
        got = count(text)
    except (TypeError, ValueError, KeyError) as error:
        got = error
    how = " -o " + args[args.index("-o") + 1] if name == "export" else ""
    report((code, got) == (0, want), f"{name}{how}: {want}", code, got, said)


def check_refusal(name, args, message):
    code, text, said = run(name, *READ, *args)
    report((code, text, said) == (2, "", f"iosonar: {message}\n"), " ".join([name, *args, "refuses, in one line"]), code, text, said)


def main():
    there, known = readers(), {name for name, *_ in COUNTS + REFUSALS}
    # inflight takes -r to say that no capture has what it shows
    report(there | {"inflight"} == known and len(known) > 20, f"all {len(known)} commands with -r", sorted(there ^ known))
    all_commands = rows("trace")(run("trace", *READ, "-o", "json")[1])
    report(all_commands > 0, f"trace: {all_commands} commands")
    for name, args, count in COUNTS[1:]:
        check_count(name, args, count, WANT.get(name, all_commands))
    for refusal in REFUSALS:
        check_refusal(*refusal)


main()
