# SPDX-License-Identifier: BSD-2-Clause
# The service of systemd has CAP_SYS_ADMIN, too.
# file: contrib/systemd/iosonar.service
# red: vm serve_systemd
# case: CAP_BPF and CAP_PERFMON alone
s/^\(AmbientCapabilities\|CapabilityBoundingSet\)=.*/& CAP_SYS_ADMIN/
