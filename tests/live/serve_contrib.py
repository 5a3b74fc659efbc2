#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""serve_contrib.py PORT CONTRIB: is every query of the dashboard and of the alerts answered with data by the Prometheus there,
which scrapes a run of `iosonar serve` with I/O? Prints TAP without numbers.

An alert that does not fire has no data: its expression is asked without its limit.
"""
import json
import re
import sys
import urllib.parse
import urllib.request


def ask(port, query):
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]["result"]
    except OSError as error:
        return f"{error}: {getattr(error, 'read', lambda: b'')()[:300]}"


def has_data(result):
    """NaN is what a mean of nothing is: no data."""
    return isinstance(result, list) and any(sample["value"][1] != "NaN" for sample in result)


# As Grafana does; a scrape every second makes 20 s enough for a rate.
VARIABLES = {"$__rate_interval": "20s", "$__range": "20s", "$instance": ".*", "$device": ".*"}


def queries_of_dashboard(path):
    with open(path, encoding="utf-8") as file:
        dashboard = json.load(file)
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            query = target["expr"]
            for name, value in VARIABLES.items():
                query = query.replace(name, value)
            yield panel["title"], query


def queries_of_rules(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, query in re.findall(r"alert: (\w+)\n\s+expr: (.*)", text):
        yield name, re.sub(r"\[\d+m\]", "[20s]", re.sub(r" > [0-9.]+$", "", query))


def main():
    port, contrib = sys.argv[1:]
    asked = [("panel", *one) for one in queries_of_dashboard(contrib + "/grafana/iosonar.json")]
    asked += [("alert", *one) for one in queries_of_rules(contrib + "/prometheus/iosonar.rules.yml")]
    for kind, name, query in asked:
        result = ask(port, query)
        print(f"{'ok' if has_data(result) else 'not ok'} - {kind} {name}: data")
        if not has_data(result):
            print(f"# {query}\n# {str(result)[:500]}")
    kinds = [kind for kind, _, _ in asked]
    print(f"{'ok' if kinds.count('panel') >= 14 and kinds.count('alert') == 4 else 'not ok'} - all were asked")


main()
