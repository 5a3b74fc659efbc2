# SPDX-License-Identifier: BSD-2-Clause
"""daemonset.py MANIFEST PAGE: does the DaemonSet agree with itself, and do the YAML blocks of the page go with it? Says what does
not, and nothing otherwise. What Kubernetes demands of a DaemonSet is here; no cluster is asked."""
import re
import sys

import yaml

PRIVILEGES = {"drop": ["ALL"], "add": ["BPF", "PERFMON"]}


def want(good, what):
    if not good:
        print(what)


def address_of(args):
    return args[args.index("--listen") + 1]


def check_pods(manifest):
    """The controller finds its pods by labels; a pod's template has to have them."""
    spec = manifest["spec"]
    want((manifest["apiVersion"], manifest["kind"]) == ("apps/v1", "DaemonSet"), "the kind is apps/v1 DaemonSet")
    want(set(manifest["metadata"]) >= {"name"}, "it has a name")
    labels = spec["template"]["metadata"]["labels"]
    want(spec["selector"]["matchLabels"] and spec["selector"]["matchLabels"].items() <= labels.items(), "the selector finds the pods")


def check_ports(template):
    """The port of the address, of the container, of the probe and of the scraper are one."""
    container = template["spec"]["containers"][0]
    port = int(address_of(container["args"]).rsplit(":", 1)[1])
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}
    probe = container["readinessProbe"]["httpGet"]
    want(port in ports.values(), f"--listen has port {port}, the container {ports}")
    want(ports.get(probe["port"], probe["port"]) == port, f"the probe asks port {probe['port']}")
    want(probe["path"] == "/healthz", "the probe asks /healthz")
    notes = template["metadata"]["annotations"]
    want(notes["prometheus.io/port"] == str(port) and notes["prometheus.io/path"] == "/metrics", "the scraper asks another port or path")
    want(notes["prometheus.io/scrape"] == "true", "the scraper is not told")


def check_variables(container):
    """Kubernetes replaces $(NAME) by variables of the container only, and leaves others as they are."""
    fields = {one["name"]: one["valueFrom"]["fieldRef"]["fieldPath"] for one in container["env"]}
    used = re.findall(r"\$\((\w+)\)", " ".join(container["args"]))
    want(fields == {"POD_IP": "status.podIP", "NODE_NAME": "spec.nodeName"}, f"the variables are {fields}")
    want(used == ["POD_IP"] and container["args"][container["args"].index("$(POD_IP)") - 1] == "--allow-host", f"the arguments use {used}")


def check_page(page, manifest):
    """A pod that measures, and what is added to the DaemonSet."""
    with open(page, encoding="utf-8") as file:
        blocks = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", file.read(), re.M | re.S)]
    want(len(blocks) == 2, f"{len(blocks)} blocks of YAML in {page}")
    pod, more = blocks[0]["spec"], blocks[1]["spec"]["template"]["spec"]
    want(pod["hostPID"] is True and pod["containers"][0]["command"][:2] == ["iosonar", "latency"], "the first block measures the node")
    want(pod["containers"][0]["securityContext"]["capabilities"] == PRIVILEGES, "the first block has other privileges")
    ours, container = manifest["spec"]["template"]["spec"]["containers"][0], more["containers"][0]
    want(container["name"] == ours["name"], "the second block is of another container")
    want(container["args"][: len(ours["args"])] == ours["args"], "the second block has other arguments")
    mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    want(mounts == {one["name"]: one["hostPath"]["path"] for one in more["volumes"]}, f"volumes and mounts differ: {mounts}")
    want(all(one["readOnly"] for one in container["volumeMounts"]), "a mount can be written to")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        manifest = yaml.safe_load(file)
    template = manifest["spec"]["template"]
    container = template["spec"]["containers"][0]
    want(container["args"][0] == "serve" and "command" not in container, "the image's program runs serve")
    want(container["securityContext"]["capabilities"] == PRIVILEGES, "it has other privileges")
    check_pods(manifest)
    check_ports(template)
    check_variables(container)
    check_page(sys.argv[2], manifest)


main()
