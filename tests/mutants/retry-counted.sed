# SPDX-License-Identifier: BSD-2-Clause
# An attempt that is tried again ends its command, so the next one counts as another.
# file: src/bpf/io.bpf.c
# red: vm errors
# case: it is one command
/^int io_requeue(/,/^}/ {
	/^\t\tattempt_failed(&t, slot);$/ {
		n
		s/^\t\tslot->state = IO_RETRY;$/\t\tcommand_fails(\&t, slot, slot->last_ns, settings.stages);/
	}
}
