#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""serve_contrib.py PORT CONTRIB INSTANCE DEVICE: is every query of the dashboard and of the alerts answered with data by the
Prometheus there, which scrapes a run of `iosonar serve` at INSTANCE with I/O of DEVICE? Prints TAP without numbers.

An alert that does not fire has no data: its expression is asked without its limit. Whether it fires: tests/data/alerts.yml.
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


def with_values(query):
    for name, value in VARIABLES.items():
        query = query.replace(name, value)
    return query


def queries_of_dashboard(path):
    with open(path, encoding="utf-8") as file:
        dashboard = json.load(file)
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], with_values(target["expr"])


def queries_of_rules(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, query in re.findall(r"alert: (\w+)\n\s+expr: (.*)", text):
        yield name, re.sub(r"\[\d+m\]", "[20s]", re.sub(r" > [0-9.]+$", "", query))


def label_values(port, query):
    """What Grafana asks for label_values(METRIC, LABEL)."""
    metric, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query).groups()
    url = f"http://127.0.0.1:{port}/api/v1/label/{label}/values?" + urllib.parse.urlencode({"match[]": with_values(metric)})
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]
    except OSError as error:
        return f"{error}: {getattr(error, 'read', lambda: b'')()[:300]}"


def check_variables(port, path, want):
    """The lists of the dashboard have the instance and the device of the run, and nothing else."""
    with open(path, encoding="utf-8") as file:
        variables = [one for one in json.load(file)["templating"]["list"] if one["type"] == "query"]
    for one in variables:
        got = label_values(port, one["query"])
        good = got == [want.pop(one["name"], None)]
        print(f"{'ok' if good else 'not ok'} - list of {one['name']}: {got}")
    print(f"{'not ok' if want else 'ok'} - all lists were asked")


def main():
    port, contrib, instance, device = sys.argv[1:]
    check_variables(port, contrib + "/grafana/iosonar.json", {"instance": instance, "device": device})
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
