# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: debian
# kernels: none
# timeout: 600
# brings: tests/vm/backtrace.py tests/vm/backtrace_lib.sh
#
# backtrace: stacks of Debian's programs, which have no frame pointers on x86_64 and no debugging information, are those of
# gdb: as many frames, the same functions. backtrace_lib.sh has the rule. `make everywhere` runs it; ./check runs a few
# of the programs (backtrace_few), because this takes ten minutes. fio runs its job in a thread: on an arm64 CPU that does not
# note by itself that a page is used, the stack of a forked process is truncated where the process has not used it yet.

# shellcheck source=tests/vm/backtrace_lib.sh
. /tests/backtrace_lib.sh

set_up
ok $? "Debian's programs are there, and a disk"
cat >$debian/tests/prepare <<'PREPARE'
set -e
dd if=/dev/urandom of=/slow/large bs=64k count=100 status=none
cp /slow/large /slow/larger
base64 /slow/large >/slow/text
for i in {1..200}; do
	mkdir -p /slow/tree/$i
	echo $i >/slow/tree/$i/file
done
sqlite3 /slow/base 'create table t(a, b); with recursive n(i) as (select 1 union all select i+1 from n where i<4000)
	insert into t select i, hex(randomblob(100)) from n'
mkdir /slow/pg /slow/my
chown daemon:daemon /slow/pg
chroot --userspec=daemon / /usr/lib/postgresql/15/bin/initdb -D /slow/pg -A trust -N --locale=C >&2
printf 'daemon off; master_process off; pid /tmp/nginx.pid; error_log stderr; user root root; events {}
http { access_log off; client_body_temp_path /tmp/n1; proxy_temp_path /tmp/n2; fastcgi_temp_path /tmp/n3; uwsgi_temp_path /tmp/n4;
scgi_temp_path /tmp/n5; server { listen 127.0.0.1:8080; root /slow; sendfile off; output_buffers 1 4k; } }\n' >/tests/nginx.conf
PREPARE
in_debian bash /tests/prepare >/tmp/prepared 2>&1
ok $? "something to read" || note "$(cat /tmp/prepared)"
slow_down
ok $? "the disk becomes slow"
compared <<'CASES'
dd exec dd if=/slow/large of=/dev/null bs=4k
dd exec dd if=/dev/zero of=/slow/out bs=4k oflag=direct
cp exec cp /slow/large /tmp/copy
cmp exec cmp /slow/large /slow/larger
find exec find /slow/tree -type f
sort exec sort -S 32k /slow/text
grep exec grep -c nothing /slow/text
mawk exec mawk '{ n++ } END { print n }' /slow/text
bash while read -r line; do :; done </slow/text
tar tar cf - /slow/large | cat >/dev/null
gzip exec gzip -c /slow/large
xz exec xz -c /slow/large
zstd exec zstd -c /slow/large
rsync rsync /slow/large /tmp/copy2
git exec git hash-object /slow/large
openssl exec openssl dgst -sha256 /slow/large
fio exec fio --thread --name=t --filename=/slow/large --rw=randread --bs=4k --direct=1 --ioengine=psync --loops=9
sqlite3 exec sqlite3 /slow/base 'select count(b) from t'
sqlite3 exec sqlite3 /slow/base 'update t set a = a + 1'
python3 exec python3 -c 'f = open("/slow/large", "rb", 0); [None for block in iter(lambda: f.read(4096), b"")]'
perl exec perl -e 'open F, "<", "/slow/large"; while (sysread F, $b, 4096) {}'
ruby exec ruby -e 'f = File.open("/slow/large"); loop { f.sysread(4096) }'
lua5.4 exec lua5.4 -e 'f = io.open("/slow/large"); while f:read(4096) do end'
php8.2 exec php8.2 -r '$f = fopen("/slow/large", "r"); while (fread($f, 4096)) ;'
redis-server redis-server --dir /slow --save '' --appendonly yes --appendfsync always --port 0 --unixsocket /tmp/redis & sleep 2; for i in {1..500}; do redis-cli -s /tmp/redis set key$i value; done
nginx nginx -c /tests/nginx.conf & until exec 3<>/dev/tcp/127.0.0.1/8080; do sleep 1; done; printf 'GET /large HTTP/1.0\r\n\r\n' >&3; cat <&3
postgres echo 'select count(*) from pg_class, pg_attribute, pg_proc' | chroot --userspec=daemon / /usr/lib/postgresql/15/bin/postgres --single -D /slow/pg postgres
mariadbd exec mariadbd --no-defaults --user=root --datadir=/slow/my --skip-grant-tables --skip-networking --socket=/tmp/my --innodb-buffer-pool-size=16M --innodb-log-file-size=4M --innodb-use-native-aio=0
CASES
done_testing
