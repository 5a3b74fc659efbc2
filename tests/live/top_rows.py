# SPDX-License-Identifier: BSD-2-Clause
"""top_rows.py KEY COLUMN... [FIELD=VALUE...] <JSON: the rows of the whole run that `latency -o json` prints, as top has them on
the screen: NAME|NUMBER|..., numbers in three digits with a unit. FIELD=VALUE leaves those rows alone in which the field is so. JSON has
three decimals; where a fourth one would decide between two words, it is the one in $SCREEN, which has rows of this kind."""
import json
import os
import sys

PREFIX = {"qid": "qid ", "pid": "pid "}  # where a number alone would not say what it is


def scaled(value, units):
    """Three digits, and the unit of (units, factor) in which they are fewest."""
    for unit, factor in units:
        number = value / factor
        if number < 999.5 or unit == units[-1][0]:
            return f"{number:.{2 if number < 9.995 else 1 if number < 99.95 else 0}f}{unit}"
    return ""


def duration(ns):
    return f"{ns}ns" if ns < 1000 else scaled(ns, [("us", 1e3), ("ms", 1e6), ("s", 1e9)])


def rate(per_s):
    return f"{per_s:.{1 if per_s < 99.95 else 0}f}" if per_s < 999.5 else scaled(per_s, [("k", 1e3), ("M", 1e6)])


def size(count):
    unit = 0
    while count >= 1023.95 and unit < 4:
        count, unit = count / 1024, unit + 1
    return f"{count:.1f}{'KMGT'[unit - 1]}i" if unit else str(count)


def in_words(column, value, shown):
    if column.endswith("_ns"):
        return duration(value)
    if column == "size_bytes":
        return size(value)
    word = rate if column == "iops" else "{:.1f}".format
    return shown if shown in (word(value - .0005), word(value + .0005)) else word(value)


key, *rest = sys.argv[1:]
columns = [word for word in rest if "=" not in word]
only = dict(word.split("=", 1) for word in rest if "=" in word)
screen = {line.split("|")[0]: line.split("|")[1:] for line in os.environ.get("SCREEN", "").splitlines()}
rows = [json.loads(line) for line in sys.stdin]
for row in sorted((row for row in rows if row["type"] == "latency" and row["span"] == "total"), key=lambda row: -row["iops"]):
    if all(str(row[field]) == value for field, value in only.items()):
        name = "-" if row[key] is None else PREFIX.get(key, "") + str(row[key])
        words = screen.get(name, []) + [None] * len(columns)
        print("|".join([name] + [in_words(column, row[column], words[i]) for i, column in enumerate(columns)]))
