# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC1091,SC2034 # the guest has unit.sh, which reads is_long
# shape: none
# kernels: none
# timeout: 2400
# programs: unit/calls.t unit/capture_damage.t unit/capture_index.t unit/capture_size.t unit/expr.t unit/expr_tree.t unit/number.t unit/recorder.t unit/shift.t unit/table.t
# brings: tests/vm/unit.sh
#
# unit_long: unit tests that try very many inputs, or measure, and take minutes each in an emulated guest. `make everywhere`
# runs them.

is_long=1
. /tests/unit.sh
units unit_long 900
done_testing
