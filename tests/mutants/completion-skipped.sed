# SPDX-License-Identifier: BSD-2-Clause
# One completion in 1,000 is not seen: the ledger has to show it as lost.
# file: src/bpf/life.h
# red: vm counts
# case: nothing is lost
/^inline_always int nvme_complete(/,/^}/ {
	s/^\tstruct outcome o = {};$/\tstatic __u32 seen;\n&/
	s/^\tif (!slot || slot->state != IO_OPEN) {$/\tif (++seen % 1000 == 0)\n\t\treturn 0;\n&/
}
