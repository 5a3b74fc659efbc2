# SPDX-License-Identifier: BSD-2-Clause
# The innermost container counts: a container can take the name of another.
# file: src/decode/cgroup_names.c
# red: unit cgroup_names
s/^\tif (\*walk->names->container)$/\tif (!walk->names)/
