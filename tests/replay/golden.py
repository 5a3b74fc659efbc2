# SPDX-License-Identifier: BSD-2-Clause
# golden.py: golden texts, and what of them agrees with what was reckoned: exactly, to the width of a bucket, or to the digits
# that text has. Counts what was compared and keeps every difference.
import collections
import csv
import json
import os
import re
import types

CASES = []
checks, faults = collections.Counter(), []
now = types.SimpleNamespace(golden=None)


# A percentile that is read from a histogram: the middle of a bucket is at most 1/64 from any value in it.
class Near:
    def __init__(self, value, within=1 / 64):
        self.value, self.within = value, within

    def __repr__(self):
        return f"about {self.value}"


UNITS = {"": 1, "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "k": 1000, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "%": 1}


# A number as text shows it, rounded, and perhaps read from a histogram before.
class Shown:
    def __init__(self, value, within=0):
        self.value, self.within = value, within

    def __repr__(self):
        return f"about {self.value}"

    def agrees(self, text):
        found = re.fullmatch(r"([+-]?[0-9]+)(\.[0-9]+)?([a-zA-Z%]*)", text)
        if not found or found[3] not in UNITS:
            return False
        unit, digits = UNITS[found[3]], len(found[2] or ".") - 1
        shown = float(found[1] + (found[2] or "")) * unit
        return abs(shown - self.value) <= 0.51 * unit / 10**digits + abs(self.value) * self.within


# Values that CSV joins to one text, and that JSON has as an array or an object.
class Joined:
    def __init__(self, text, value):
        self.text, self.value = text, value

    def __repr__(self):
        return f"{self.text!r} in CSV, {self.value!r} in JSON"


# Functions, as a stack or a path has them.
def joined(functions):
    return Joined(functions, functions.split(";")) if functions else None


def agrees(got, want):
    if isinstance(got, Joined):
        return want == (got.text if isinstance(want, str) else got.value)
    if isinstance(got, Shown):
        return got.agrees(want)
    if want is None or want == "":
        return got is None or got == ""
    if isinstance(got, Near):
        return abs(float(want) - got.value) <= got.value * got.within + 1
    if isinstance(got, float):
        return abs(float(want) - got) < 0.00051
    if isinstance(got, int) and isinstance(want, str):
        return re.fullmatch("-?[0-9]+", want) is not None and int(want) == got
    return got == want


# What has to be so within a capture; it is no number of a golden text.
def holds(what, got, want):
    if got != want:
        faults.append(f"{now.golden}: {what}: {got!r}, not {want!r}")


def same(what, got, want):
    checks[now.golden] += 1
    if not agrees(got, want):
        faults.append(f"{now.golden}: {what}: {got!r} by the reader, {want!r} in the golden text")


# A row of a golden text, which knows what of it was compared.
class Row(dict):
    seen = frozenset()

    def check(self, what, got):
        self.seen = self.seen | {what}
        same(f"{what} of {self.name}", got, self.get(what, "no such column"))


class Golden:
    def __init__(self, replay, name):
        self.name = name
        with open(os.path.join(replay, name + ".golden"), encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
        self.out = [line for line in lines if not line.startswith(("stderr: ", "exit: "))]
        self.err = [line[8:] for line in lines if line.startswith("stderr: ")]
        while self.out and not self.out[-1]:
            self.out.pop()
        # A heading stands again where a column has grown.
        self.out = self.out[:1] + [line for line in self.out[1:] if line.split() != self.out[0].split() or not line]
        if self.out and self.out[0].startswith('{"type"'):
            self.rows = [Row(json.loads(line)) for line in self.out]
        else:
            self.rows = [Row(row) for row in csv.DictReader(self.out)]
        for i, row in enumerate(self.rows):
            row.name = f"row {i + 1}"

    def of(self, kind):
        return [row for row in self.rows if row.get("type") == kind]

    def unseen(self):
        numbers = collections.Counter()
        for row in self.rows:
            for key, value in row.items():
                number = isinstance(value, (int, float)) or isinstance(value, str) and re.fullmatch(r"-?[0-9.]+", value)
                if number and key not in row.seen and value is not None:
                    numbers[f"{row.get('type', 'csv')}.{key}"] += 1
        return numbers


# The rows of a golden text against those that were reckoned, by the columns that tell them apart.
def match(rows, reckoned, keys):
    def text(value):
        if isinstance(value, Joined):
            value = value.value if rows and "type" in rows[0] else value.text
        return json.dumps(value) if isinstance(value, list) else "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)

    want = collections.defaultdict(list)
    for row in rows:
        want[tuple(text(row[key]) for key in keys)].append(row)
    got = collections.defaultdict(list)
    for row in reckoned:
        got[tuple(text(row[key]) for key in keys)].append(row)
    same(f"rows, told apart by {','.join(keys)}", {k: len(v) for k, v in got.items()}, {k: len(v) for k, v in want.items()})
    for key, many in want.items():
        for row, mine in zip(many, got.get(key, [])):
            row.seen = row.seen | set(keys)
            for column, value in mine.items():
                if column not in keys:
                    row.check(column, value)


# The same, in their order.
def in_order(rows, reckoned):
    same("rows", len(reckoned), len(rows))
    for row, mine in zip(rows, reckoned):
        for column, value in mine.items():
            row.check(column, value)


def case(*names):
    def add(function):
        CASES.append((names, function))
        return function

    return add
