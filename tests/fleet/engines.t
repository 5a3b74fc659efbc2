#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""engines.t: every block of docs/fleet.md, run as it is there, with the captures of three hosts: ClickHouse (Debian's server, and a
current one as a library of npm), DuckDB (of npm), SQLite, Prometheus. Count, bytes, p50, p99 and max by host, device and operation
are those of `iosonar sql`. A block that no engine runs fails. An engine that cannot be had here is skipped, with the reason."""
import contextlib
import csv
import io
import json
import os
import pathlib
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tap import Tap  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / 'docs/fleet.md'
IOSONAR = pathlib.Path(os.environ.get('IOSONAR', ROOT / 'build/iosonar')).resolve()
DUCKDB, CHDB = '@duckdb/node-api@1.5.5-r.5', '@chdb/lib-linux-x64-gnu@26.5.3'
HOSTS = ['db7', 'db8', 'db9']
PLAIN_BYTES, STAGED_BYTES, PARQUET_BYTES = 21, 42, 24  # most per row of what is invented, texts and stacks included
REAL_BYTES = 21  # most per row of real captures in ClickHouse, with stages, too
REAL = ('plain', 'stages')  # captures of tests/fleet/data: the columns of the document's table

tap = Tap()


class Wrong(Exception):
    """What an engine says."""


class Missing(Exception):
    """Why an engine is not here."""


# ---- the document ----

def blocks():
    """(language, engine, text) of each fenced block, in order."""
    return [(*(head.split() + ['', ''])[:2], text)
            for head, text in re.findall(r'^```([^\n]*)\n(.*?)^```$', DOCUMENT.read_text(), re.M | re.S)]


def statements(text):
    return [s.strip() for s in re.split(r';\s*$', text, flags=re.M) if s.strip()]


def of(engine, language):
    return [text for lang, name, text in blocks() if (lang, name) == (language, engine)]


def check_document():
    run = {('sh', 'record'), ('sh', 'host'), ('sh', 'iosonar'), ('sh', 'merge'), ('sh', 'clickhouse'), ('sql', 'clickhouse'), ('sql', 'duckdb'),
           ('sql', 'sqlite'), ('sh', 'sqlite'), ('sh', 'prometheus'), ('yaml', 'prometheus'), ('promql', 'prometheus')}
    tap.eq(sorted({block[:2] for block in blocks()} ^ run), [], 'every block of docs/fleet.md names who runs it, and is run')
    prose = re.sub(r'^```.*?^```$', '', DOCUMENT.read_text(), flags=re.M | re.S)
    tap.eq(re.findall(r'`(?:SELECT|INSERT|CREATE|iosonar \w+ -)[^`]*`', prose), [], 'and no command is outside of the blocks')


# ---- how much fits ----

def figures():
    """The document's table: bytes per command by line and capture."""
    table = re.findall(r'^\| ([^|]+) \| ([\d.]+) \| ([\d.]+) \|$', DOCUMENT.read_text(), re.M)
    return {(line, capture): float(value) for line, *values in table for capture, value in zip(REAL, values, strict=True)}


def as_documented(line, capture, measured):
    """Within 10 %."""
    value = figures().get((line, capture), 0)
    tap.ok(abs(measured - value) <= value / 10, f'{line}, {capture}: {measured:.1f} bytes per command; the document has {value:g}')


def check_space():
    """What the document computes from its own table, to its three digits."""
    sizes = [figures()[line, 'plain'] for line in ('capture', 'ClickHouse, the table above')]
    seen = 0
    for space, days, captures, rows_ in re.findall(r'^\| (\d+) TB for a ([^|]+) \| ([\d,]+) IOPS[^|]* \| ([\d,]+) IOPS[^|]*\|$', DOCUMENT.read_text(), re.M):
        span = {'day': 1, 'week': 7, 'month (30 days)': 30}[days] * 86400
        for size, text in zip(sizes, (captures, rows_), strict=True):
            seen += abs(int(text.replace(',', '')) / (int(space) * 1e12 / span / size) - 1) < 0.01
    tap.eq(seen, 8, 'the IOPS of the document follow from the bytes per command')


def check_sizes(where):
    """The real captures, and their texts. Leaves the CSV for the engines."""
    for capture in REAL:
        shell(f'cp {ROOT}/tests/fleet/data/{capture}.cap . && for f in csv json; do iosonar export -r {capture}.cap -o $f >{capture}.$f && '
              f'gzip -6k {capture}.$f && zstd -q -3 {capture}.$f; done', where, where.parent / 'bin')
        nr = len((where / f'{capture}.json').read_text().splitlines())
        tap.ok(nr > 8000, f'{capture}.cap has {nr} commands')
        for line, suffix in [('capture', 'cap')] + [(form + how, form + more) for form in ('csv', 'json')
                                                    for how, more in (('', ''), (', gzip -6', '.gz'), (', zstd -3', '.zst'))]:
            as_documented(line, capture, (where / f'{capture}.{suffix}').stat().st_size / nr)


# ---- the captures ----

def shell(text, where, extra_path=None, seconds=120):
    """Standard output. All of it has to succeed."""
    path = os.pathsep.join([*([str(extra_path)] if extra_path else []), str(where / 'bin'), os.environ['PATH']])
    done = subprocess.run(['bash', '-euo', 'pipefail', '-c', text], cwd=where, capture_output=True, text=True, timeout=seconds,
                          env={**os.environ, 'PATH': path}, check=False)
    if done.returncode:
        raise Wrong(f'{text.strip()}: {done.returncode}, {done.stdout[-500:]}{done.stderr[-500:]}')
    return done.stdout


def script(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def rows(text):
    """CSV as lists of texts."""
    return [row for row in csv.reader(io.StringIO(text)) if row]


def prepare(where):
    """Three captures, as CSV, and what `iosonar sql` says of them."""
    script(where / 'bin/iosonar', f'#!/bin/sh\nexec {IOSONAR} "$@"\n')
    for i, host in enumerate(HOSTS):
        subprocess.run([IOSONAR.parent / 'captures', 'fleet', where / f'{host}.cap', str(i)], check=True)
    for text in of('host', 'sh'):
        shell(text, where)
    (want,) = [rows(shell(text, where)) for text in of('iosonar', 'sh')]
    tap.ok(len(want) == 7 and sum(int(row[3]) for row in want[1:]) == 3 * 5003, 'iosonar sql has three hosts, with all of their rows')
    return want[1:]


def check_merge(where, want):
    """One file of all hosts: the same rows, and the same table, as of the files."""
    beside = where / 'merge'
    beside.mkdir()
    for host in HOSTS:
        (beside / f'{host}.cap').symlink_to(where / f'{host}.cap')
    (text,), (query,) = of('merge', 'sh'), of('iosonar', 'sh')
    path = where / 'bin'
    shell(text, beside, path)
    tap.eq(rows(shell(query.replace('db7.cap db8.cap db9.cap', 'fleet.cap'), beside, path))[1:], want, 'merge: the figures are those of the files')
    merged = [json.loads(line) for line in shell('iosonar export -r fleet.cap -o json', beside, path).splitlines()]
    tap.eq([row['wall_ns'] for row in merged], sorted(row['wall_ns'] for row in merged), 'merge: in order of the wall clock')
    alone = [json.loads(line) for host in HOSTS for line in shell(f'iosonar export -r {host}.cap -o json', where).splitlines()]
    key = ('wall_ns', 'host', 'boot_id', 'capture_id', 'dev', 'cpu', 'lat_ns', 'file', 'comm')
    tap.ok(sorted(str([row[k] for k in key]) for row in merged) == sorted(str([row[k] for k in key]) for row in alone),
           'merge: each row has its own host, boot and capture')
    (refused,) = re.findall(r'refused, and so is a capture of ((?:(?:, | or |)`\w+`)+)', DOCUMENT.read_text())
    for kind in ('cache', 'waits', 'calls', 'class'):
        done = subprocess.run([IOSONAR, 'merge', '-w', 'kinds.cap', 'db7.cap', ROOT / f'tests/data/{kind}.cap'], cwd=beside, capture_output=True, check=False)
        tap.eq(done.returncode, 2 if f'`{kind}`' in refused else 0, f'merge: a capture of {kind} is taken or refused as the document says')


def check_record(where):
    """The line that a host runs, until it has written for a second."""
    what = 'record: the line of the document'
    if os.getuid() or not os.access('/sys/kernel/btf/vmlinux', os.R_OK):
        tap.skip(what, 'needs root and a kernel with BTF')
        return
    here = where / 'record'
    here.mkdir()
    script(here / 'bin/iosonar', f"""#!/bin/bash
{IOSONAR} "$@" &
for (( i = 0; i < 600; i++ )); do
	compgen -G '.*.cap.part' >/dev/null && break
	sleep .1
done
sleep 1
kill -INT $!
wait $! || [ $? -eq 3 ]
""")
    try:
        for text in of('record', 'sh'):
            shell(text, here)
        (capture,) = here.glob('*.cap*')
    except (Wrong, ValueError, subprocess.SubprocessError) as wrong:
        tap.ok(False, f'{what}: {wrong}')
        return
    info = subprocess.run([IOSONAR, 'info', capture, '-o', 'json'], capture_output=True, text=True, check=False).stdout
    ids = dict(re.findall(r'"name":"(boot_id|capture_id)","text":"([0-9a-f-]{36})"', info))
    tap.ok(ids.keys() == {'boot_id', 'capture_id'}, f'{what}; the capture has both ids')


def check_texts(where):
    """CSV and JSON carry the same text."""
    differ = []
    for host in HOSTS:
        as_csv = csv.DictReader(io.StringIO(shell(f'zstdcat {host}.cap.csv.zst', where)))
        as_json = map(json.loads, shell(f'iosonar export -r {host}.cap -o json', where).splitlines())
        for left, right in zip(as_csv, as_json, strict=True):
            for key, value in left.items():
                other = right[key]
                other = '' if other is None else ';'.join(other) if isinstance(other, list) else str(other)
                if value not in (other, "'" + other):
                    differ.append((host, key, value, other))
    tap.eq(differ[:3], [], 'CSV and JSON have the same texts')


def check_names(where):
    """Columns of export are columns of sql, with the same values."""
    heading = shell('zstdcat db7.cap.csv.zst | head -1 || true', where).strip().split(',')
    ours = [name for name in heading if not name.endswith('_stack')]
    for host in HOSTS:
        by_sql = json_rows(shell(f'iosonar sql {host}.cap -o json "SELECT {", ".join(ours)} FROM io"', where))
        exported = json_rows(shell(f'iosonar export -r {host}.cap -o json', where))
        tap.ok([[row[name] for name in ours] for row in exported] == [[row[name] for name in ours] for row in by_sql],
               f'{host}: every column of export has its name and its values in sql')


def json_rows(text):
    return [json.loads(line) for line in text.splitlines()]


# ---- engines ----

class Driver:
    """A process that answers statements: clickhouse.c, duckdb.js."""

    def __init__(self, command, where, **environment):
        self.process = subprocess.Popen(command, cwd=where, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env={**os.environ, **environment})

    def ask(self, statement):
        answer = bytearray()
        try:
            self.process.stdin.write(statement.encode() + b'\0')
            self.process.stdin.flush()
        except BrokenPipeError as gone:
            raise Wrong('the engine has ended') from gone
        while not answer.endswith(b'\0'):
            piece = self.process.stdout.read1(1 << 16)
            if not piece:
                raise Wrong(f'the engine has ended, at: {statement[:200]}')
            answer += piece
        text = answer[:-1].decode()
        if text[:1] != '+':
            raise Wrong(f'{text[1:500]}, at: {statement[:200]}')
        return text[1:]

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


def fetched(package):
    done = subprocess.run([ROOT / 'tests/npm', package], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise Missing(done.stderr.strip() or f'npm cannot fetch {package}')
    return pathlib.Path(done.stdout.strip())


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f'{program} is missing')


def summary(engine, language='sql'):
    """The statement that all engines have to agree about."""
    (found,) = [s for text in of(engine, language) for s in statements(text) if re.search(r'\bAS p99\b', s) and 'AS p50' in s]
    return found


def duckdb(where, want):
    needs('node', 'zstd')
    modules = fetched(DUCKDB)
    db = Driver(['node', ROOT / 'tests/fleet/duckdb.js'], where, NODE_PATH=str(modules))
    with contextlib.closing(db):
        try:
            version = db.ask('SELECT version()')
        except Wrong as why:
            raise Missing('DuckDB is not made for this machine') from why
        said = {s: rows(db.ask(s)) for text in of('duckdb', 'sql') for s in statements(text)}
        tap.eq(said[summary('duckdb')], want, f'DuckDB {version.strip()}: all numbers are those of iosonar sql')
        tap.eq([r for s, r in said.items() if 'FROM \'io.parquet\'' in s], [[[host, '5003'] for host in HOSTS]], 'DuckDB: the Parquet file has all rows')
        (insert,) = [s for s in said if s.startswith('INSERT')]
        db.ask(insert)
        tap.eq(rows(db.ask(summary('duckdb'))), want, 'DuckDB: what is loaded twice counts once')
        old = where / 'old'
        old.mkdir()
        shell(f'iosonar export -r {ROOT}/tests/data/nvme.cap -o csv | zstd -q >old/nvme.csv.zst', where)
        for _ in range(2):
            db.ask(insert.replace('*.csv.zst', 'old/*.csv.zst'))
        count = shell(f'iosonar sql {ROOT}/tests/data/nvme.cap -o csv "SELECT count(*) FROM io"', where).split()[-1]
        tap.eq(db.ask("SELECT count(*) FROM io WHERE capture_id = ''").strip(), count, 'DuckDB: a capture without capture_id, too')
        for capture in REAL:
            create, insert_, copy = ([s for s in said if s.startswith(word)][0].replace('io.parquet', f'{capture}.parquet') for word in ('CREATE', 'INSERT', 'COPY'))
            for s in (create, insert_.replace('*.csv.zst', f'sizes/{capture}.csv.zst'), copy):
                db.ask(re.sub(r'(TABLE|INTO|FROM) io\b', rf'\1 {capture}', s))
            nr = int(db.ask(f'SELECT count(*) FROM {capture}'))
            as_documented('Parquet, the file above', capture, (where / f'{capture}.parquet').stat().st_size / nr)
    each = (where / 'io.parquet').stat().st_size / (3 * 5003)
    tap.ok(each <= PARQUET_BYTES, f'Parquet takes {each:.1f} bytes for a row, at most {PARQUET_BYTES}')


def sqlite(where, want):
    needs('sqlite3', 'zstd')

    def run(text):
        return subprocess.run(['sqlite3', '-csv', 'io.db'], input=text, cwd=where, capture_output=True, text=True, timeout=60, check=True).stdout

    create, *others = [s for text in of('sqlite', 'sql') for s in statements(text)]
    run(create + ';')
    for times in ('all numbers are those of iosonar sql', 'what is loaded twice counts once'):
        for text in of('sqlite', 'sh'):
            shell(text, where)
        for s in others:
            tap.eq(rows(run(s + ';')), want, f'SQLite: {times}')


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def until(answers, seconds=20):
    """What the function returns, as soon as it is something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, Wrong):
            got = answers()
            if got:
                return got
        time.sleep(0.1)
    return None


def without_new(create):
    """The table for ClickHouse 18.16, which knows neither codecs nor a TTL."""
    create = re.sub(r' CODEC\((?:[^()]|\([^()]*\))*\)', '', create)
    return re.sub(r'^TTL .*$', '', create, flags=re.M)


def clickhouse_debian(where, want):
    """Debian's server and client. Its quantiles are older than quantileExactLow: sorted arrays say the same."""
    needs('clickhouse-server', 'clickhouse-client', 'zstd')
    port, home = free_port(), where / 'server'
    home.mkdir()
    (home / 'users.xml').write_text('<yandex><profiles><default><allow_experimental_low_cardinality_type>1</allow_experimental_low_cardinality_type>'
                                    '</default></profiles><users><default><password></password><networks><ip>::/0</ip></networks>'
                                    '<profile>default</profile><quota>default</quota></default></users><quotas><default/></quotas></yandex>')
    (home / 'config.xml').write_text(f'<yandex><logger><level>warning</level><log>{home}/log</log><errorlog>{home}/errors</errorlog></logger>'
                                     f'<tcp_port>{port}</tcp_port><listen_host>127.0.0.1</listen_host><path>{home}/data/</path>'
                                     f'<tmp_path>{home}/tmp/</tmp_path><users_config>{home}/users.xml</users_config><mark_cache_size>5368709120</mark_cache_size>'
                                     '<default_profile>default</default_profile><default_database>default</default_database></yandex>')
    client = where / 'debian/clickhouse-client'
    script(client, f'#!/bin/sh\nexec {shutil.which("clickhouse-client")} --host 127.0.0.1 --port {port} "$@"\n')
    server = subprocess.Popen(['clickhouse-server', f'--config-file={home}/config.xml'], cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ask(query):
        done = subprocess.run([client, '--format', 'CSV', '--query', query], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise Wrong(f'{done.stderr.strip()[:500]}, at: {query[:200]}')
        return done.stdout

    try:
        version = until(lambda: ask('SELECT version()'))
        if not version:
            raise Wrong(f'the server does not answer: {(home / "errors").read_text()[-500:] if (home / "errors").exists() else ""}')
        ask(without_new(statements(of('clickhouse', 'sql')[0])[0]))
        exact = 'arrayElement(arraySort(groupArray(lat_ns)), toUInt64(greatest(1, ceil(count() * {} / 100))))'
        refused = []
        for query in statements(of('clickhouse', 'sql')[1]):
            try:
                ask(query)
            except Wrong as wrong:
                refused += re.findall(r'Unknown (?:aggregate )?function (\w+)', str(wrong))
        tap.eq(refused, ['quantileExactLow'] * 2, f'ClickHouse {version.strip()}: both SELECTs are refused, as the document says')
        for times in ('all numbers are those of iosonar sql', 'what is loaded twice counts once'):
            for text in of('clickhouse', 'sh'):
                shell(text, where, client.parent)
            got = ask(f'SELECT host, dev, op, count(), sum(bytes), {exact.format(50)}, {exact.format(99)}, max(lat_ns) FROM io FINAL '
                      'GROUP BY host, dev, op ORDER BY host, dev, op')
            tap.eq(rows(got), want, f'ClickHouse {version.strip()}: {times}')
    finally:
        server.kill()  # asked to end, it takes half a minute
        server.wait(20)


def chdb_command(where):
    """The driver of a current ClickHouse, which npm has for x86_64 only: emulated on other machines."""
    native = platform.machine() == 'x86_64'
    needs(*(['cc'] if native else ['qemu-x86_64', 'x86_64-linux-gnu-gcc']))
    library = fetched(CHDB) / '@chdb/lib-linux-x64-gnu'
    compiler, before = ['cc'], []
    if not native:
        done = subprocess.run([ROOT / 'tests/vm/system', 'amd64'], capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            raise Missing(f'there are no libraries of x86_64: {done.stderr.strip()[-200:]}')
        system = done.stdout.strip()
        compiler, before = ['x86_64-linux-gnu-gcc', f'--sysroot={system}'], ['qemu-x86_64', '-L', system]
    subprocess.run([*compiler, '-O1', ROOT / 'tests/fleet/clickhouse.c', '-o', where / 'chdb', f'-L{library}', '-lchdb', f'-Wl,-rpath,{library}'], check=True)
    return [*before, where / 'chdb', f'--path={where}/chdb.data']


class Client:
    """A clickhouse-client for the driver: a program in `path`, which hands its query and its input to a socket here."""

    TEXT = '''#!/usr/bin/python3
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect({address!r})
s.sendall(sys.argv[sys.argv.index('--query') + 1].encode() + b'\\n' + sys.stdin.buffer.read())
s.shutdown(socket.SHUT_WR)
said = s.makefile('rb').read().decode()
sys.exit(said or 0)
'''

    def __init__(self, where, ask):
        self.path, self.ask = where / 'current', ask
        script(self.path / 'clickhouse-client', self.TEXT.format(address=str(where / 'socket')))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(where / 'socket'))
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            peer, _ = self.listener.accept()
            with peer, peer.makefile('rwb') as stream:
                try:
                    self.ask(stream.read().decode())
                except Wrong as wrong:
                    stream.write(str(wrong).encode())


def clickhouse_current(where, want):
    needs('zstd')
    db = Driver(chdb_command(where), where)
    with contextlib.closing(db):
        try:
            version = db.ask('SELECT version()').strip()
            # Threads cost more than they bring to small files, above all where they are emulated.
            db.ask('SET max_threads = 1, input_format_parallel_parsing = 0')
        except Wrong as why:
            raise Missing(f'libchdb does not run here: {why}') from why
        create, *queries = [s for text in of('clickhouse', 'sql') for s in statements(text)]
        db.ask(create)
        client = Client(where, db.ask)
        for text in of('clickhouse', 'sh'):
            shell(text, where, client.path, 300)
        sizes = rows(db.ask('SELECT host, any(size) FROM (SELECT _part, any(host) AS host FROM io GROUP BY _part) AS h '
                            "JOIN (SELECT name, bytes_on_disk / rows AS size FROM system.parts WHERE table = 'io' AND active) AS p "
                            'ON h._part = p.name GROUP BY host ORDER BY host'))
        for host, size in sizes:
            most = STAGED_BYTES if host == 'db7' else PLAIN_BYTES
            tap.ok(float(size) <= most, f'ClickHouse takes {float(size):.1f} bytes for a row of {host}, at most {most}')
        tap.eq([host for host, _ in sizes], HOSTS, 'ClickHouse keeps a capture of 2023: its rows are as young as their loading')
        for capture in REAL:
            db.ask(create.replace('TABLE io', f'TABLE {capture}'))
            db.ask(f'INSERT INTO {capture} FORMAT CSVWithNames\n' + (where / f'sizes/{capture}.csv').read_text())
            size = float(db.ask(f"SELECT sum(bytes_on_disk) / sum(rows) FROM system.parts WHERE table = '{capture}' AND active"))
            tap.ok(size <= REAL_BYTES, f'ClickHouse takes {size:.1f} bytes for a row of {capture}.cap, at most {REAL_BYTES}')
            as_documented('ClickHouse, the table above', capture, size)
        said = {s: rows(db.ask(s)) for s in queries}
        tap.eq(said.pop(summary('clickhouse')), want, f'ClickHouse {version}: all numbers are those of iosonar sql')
        for s, got in said.items():
            tap.eq(sorted(row[0] for row in got), ['db7', 'db8'], f'ClickHouse: {s.split(" FROM ")[0]}')
        for text in of('clickhouse', 'sh'):
            shell(text, where, client.path, 300)
        tap.eq(rows(db.ask(summary('clickhouse'))), want, 'ClickHouse: what is loaded twice counts once')


def prometheus(where, want):
    needs('prometheus', 'promtool')
    web, port = free_port(), free_port()
    (config,) = of('prometheus', 'yaml')
    (where / 'prometheus.yml').write_text(config.replace('8000', str(web)))
    served = []
    for line in ''.join(of('prometheus', 'sh')).splitlines():
        if line.endswith('&'):  # goes on until we end it
            served.append(subprocess.Popen(line.removesuffix('&').replace('8000', str(web)).split(), cwd=where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        else:
            tap.eq(shell(line, where), '', f'Prometheus: {line}')
    served.append(subprocess.Popen(['prometheus', f'--config.file={where}/prometheus.yml', f'--storage.tsdb.path={where}/tsdb',
                                    f'--web.listen-address=127.0.0.1:{port}', '--log.level=error'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def ask(query):
        with urllib.request.urlopen(f'http://127.0.0.1:{port}/api/v1/query?' + urllib.parse.urlencode({'query': query}), timeout=5) as answer:
            found = json.load(answer)['data']['result']
        return {tuple(s['metric'][key] for key in ('host', 'device', 'op')): float(s['value'][1]) for s in found}

    try:
        counts, sizes, tails = ''.join(of('prometheus', 'promql')).splitlines()
        tap.eq(until(lambda: ask(counts)), {tuple(row[:3]): float(row[3]) for row in want}, f'Prometheus: {counts}')
        tap.eq(ask(sizes), {tuple(row[:3]): float(row[4]) for row in want}, f'Prometheus: {sizes}')
        found = ask(tails)
        tap.ok(len(found) == len(want) and all(0.5 < found[tuple(row[:3])] * 1e9 / int(row[6]) < 2 for row in want), f'Prometheus: {tails}, within a bucket')
    finally:
        for process in served:
            process.terminate()
            process.wait(20)


def main():
    engines = [('DuckDB', duckdb), ('SQLite', sqlite), ('Prometheus', prometheus), ('ClickHouse of Debian', clickhouse_debian),
               ('a current ClickHouse', clickhouse_current)]
    if sys.argv[1:]:  # for one at a time: DuckDB
        engines = [engine for engine in engines if engine[0] in sys.argv[1:]]
    with tempfile.TemporaryDirectory(prefix='iosonar-fleet.') as name:
        where = pathlib.Path(name)
        check_document()
        want = prepare(where)
        check_record(where)
        check_merge(where, want)
        check_texts(where)
        check_names(where)
        check_space()
        (where / 'sizes').mkdir()
        check_sizes(where / 'sizes')
        for title, run in engines:
            begun = time.monotonic()
            try:
                run(where, want)
            except Missing as why:
                tap.skip(f'{title} runs its blocks', why)
            except (Wrong, subprocess.SubprocessError) as wrong:
                tap.ok(False, f'{title} runs its blocks')
                print('\n'.join(f'# {line}' for line in str(wrong).splitlines()))
            print(f'# {title}: {time.monotonic() - begun:.0f} s')
    tap.done()


main()
