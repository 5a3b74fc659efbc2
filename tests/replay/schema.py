#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# schema.py IOSONAR REPLAY: every line of a golden text in JSON is what --json-schema of its command states: its type is known, and
# so is each key, with a value of the stated type. Says every difference; exit 1 if there is one.
import json
import os
import shlex
import subprocess
import sys

TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict, "null": type(None)}


def is_of(value, names):
    names = names if isinstance(names, list) else [names]
    return any(isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool)) for name in names)


# The first difference, or None.
def difference(value, schema):
    if "const" in schema:
        return None if value == schema["const"] else f"{value!r} is not {schema['const']!r}"
    if not is_of(value, schema["type"]):
        return f"{value!r} is not of {schema['type']}"
    if isinstance(value, list):
        return next(filter(None, (difference(element, schema["items"]) for element in value)), None)
    if not isinstance(value, dict):
        return None
    known, other = schema.get("properties", {}), schema.get("additionalProperties")
    for key, member in value.items():
        if key not in known and not other:
            return f"{key} is not known"
        found = difference(member, known.get(key, other))
        if found:
            return f"{key}: {found}"
    return None


def main(iosonar, replay):
    schemas, nr, kinds, faults = {}, 0, set(), 0
    with open(os.path.join(replay, "cases"), encoding="utf-8") as file:
        cases = [shlex.split(line) for line in file if line.strip() and not line.startswith("#")]
    for name, command, *_ in cases:
        with open(os.path.join(replay, name + ".golden"), encoding="utf-8", errors="replace") as file:
            lines = [line for line in file if line.startswith('{"type":"')]
        if not lines or command == "sql":  # its keys are those of the query
            continue
        if command not in schemas:
            said = subprocess.run([iosonar, command, "--json-schema"], stdout=subprocess.PIPE, check=True).stdout
            schemas[command] = json.loads(said)["oneOf"]
        for row in map(json.loads, lines):
            found = [difference(row, schema) for schema in schemas[command] if schema["title"] == row["type"]]
            nr += 1
            kinds |= {type(value).__name__ for value in row.values()}
            if None not in found:
                faults += 1
                print(f"{name}: {row['type']}: {found or 'the schema does not know it'}")
    print(f"{nr} lines have values of {', '.join(sorted(kinds))}; {faults} differ from the schema")
    return 1 if faults or not nr else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
