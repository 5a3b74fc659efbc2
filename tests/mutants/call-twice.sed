# SPDX-License-Identifier: BSD-2-Clause
# In a graph the time of a call is also that of the call around it.
# file: src/analyse/call_graph.c
# red: unit call_graph
# case: the same function under the same parents is one node
s/^\t\tg->nodes\[outer\]\.self_ns -= ns;$/\t\tg->nodes[outer].self_ns -= 0 * ns;/
