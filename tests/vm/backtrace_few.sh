# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: debian
# kernels: 6.12
# timeout: 90
# brings: tests/vm/backtrace.py tests/vm/backtrace_lib.sh
#
# backtrace_few: stacks of Debian's programs are those of gdb; a few of those of backtrace.

# shellcheck source=tests/vm/backtrace_lib.sh
. /tests/backtrace_lib.sh

set_up
ok $? "Debian's programs are there, and a disk"
in_debian sqlite3 /slow/base 'create table t(a, b); with recursive n(i) as (select 1 union all select i+1 from n where i<4000)
	insert into t select i, hex(randomblob(100)) from n'
ok $? "something to read"
in_debian dd if=/dev/urandom of=/slow/large bs=64k count=100 status=none
slow_down
ok $? "the disk becomes slow"
compared <<'CASES'
dd exec dd if=/slow/large of=/dev/null bs=4k
sqlite3 exec sqlite3 /slow/base 'select count(b) from t'
git exec git hash-object /slow/large
CASES
done_testing
