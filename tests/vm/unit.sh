# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2013 # words
# shape: none
# kernels: none
# timeout: 200
# programs: unit/doctor.t unit/frames.t unit/loop.t unit/maker.t unit/privilege.t unit/probe_find_user.t unit/scout.t unit/symbol_reader.t unit/symbols.t unit/unwind_maps.t unit/unwind_publish.t unit/unwind_table.t
#
# unit: unit tests of the architecture that is not the builder's, each one case: those that need a kernel of that architecture,
# for filters of system calls, other processes and /proc. All others run under emulation of user space alone (other).

# units TEST SECONDS: runs the programs that the header of this test names.
units() {
	for program in $(sed -n 's/^# programs: //p' "/tests/$1.sh"); do
		timeout "$2" "/$program" >/tmp/tap 2>/tmp/err
		status=$?
		[ $status -eq 0 ] && ! grep -q '^not ok' /tmp/tap && grep -q '^1\.\.' /tmp/tap
		ok $? "${program##*/}" || note "status $status: $(grep -A3 '^not ok' /tmp/tap | head -20; tail -3 /tmp/err)"
	done
}

[ -n "${is_long:-}" ] || { units unit 100 && done_testing; }
