#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""live.t: the page of `serve`: it draws what the server sends, goes on, filters, survives the server's end, and no name becomes
markup. The server here is played, so that every number is known; then a real one is watched, as root."""
import http.server
import json
import os
import pathlib
import queue
import shutil
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import CAPTURES, IOSONAR, Keys, tap, visit  # noqa: E402

POLICY, HTML = subprocess.run([CAPTURES.parent / 'live_page'], capture_output=True, text=True, check=True).stdout.split('\n', 1)
HOSTILE = "<img src=x onerror=\"document.title='broken out'\">"
LEDGER = ['issued', 'completed', 'in_flight', 'never_sent', 'mid_flight', 'failed', 'retries', 'requeues', 'refused', 'lost_no_slot',
          'lost_completion', 'lost_start', 'lost_clock', 'lost_device', 'lost_skipped', 'lost_row', 'lost_ring', 'lost_write', 'unaccounted']


# ---- a server that is played ----

def measured(count):
    return {'count': count, 'iops': float(count), 'mb_per_s': count * 4096 / 1e6, 'size_bytes': 4096, 'p50_ns': 10000, 'p90_ns': 20000, 'p99_ns': 90000,
            'p99_9_ns': 91000, 'p99_99_ns': 92000, 'max_ns': 100000, 'mean_ns': 12000}


def second(number, devices, run='a1', lost=0, failed=0, keep=0.0, untimed=0):
    """The lines of an event: {device: count}, half of them in each of two cells."""
    rows = [{'type': 'interval', 'run': run, 'number': number, 'time_s': float(number), 'interval_s': 1.0, 'keep_s': keep, 'begin_ns': (number - 1) * 10**9, 'end_ns': number * 10**9, 'in_flight': 3,
             'oldest_ns': 2000000, 'failed': failed, 'retries': 0, 'lost': lost}]
    for dev, count in [*devices.items(), (None, sum(devices.values()))]:
        cells = {'8192': count // 2, '81920': count - count // 2} if count else {}
        rows.append({'type': 'device', 'span': 'interval', 'time_s': float(number), 'dev': dev, **measured(count), 'cells': cells, 'untimed': untimed})
    rows += [{'type': 'latency', 'span': 'interval', 'time_s': float(number), 'dev': dev, 'op': 'read', **measured(count)} for dev, count in devices.items()]
    done = 100 * number
    rows.append({'type': 'ledger', **dict.fromkeys(LEDGER, 0), 'issued': done + 3, 'completed': done, 'in_flight': 3, 'lost_ring': lost, 'failed': failed})
    return [json.dumps(row) for row in rows]


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = allow_reuse_address = True

    def __init__(self, port=0):
        super().__init__(('127.0.0.1', port), Handler)
        self.kept, self.readers, self.asked, self.devices, self.commands = [], [], [], [('nvme0n1', 'Model One'), ('nvme1n1', HOSTILE)], []
        self.ends = False
        threading.Thread(target=self.serve_forever, kwargs={'poll_interval': .02}, daemon=True).start()

    def send(self, lines):
        self.kept.append(lines)
        for reader in self.readers:
            reader.put(lines)

    def stop(self):
        self.ends = True
        for reader in self.readers:
            reader.put(None)
        self.shutdown()
        self.server_close()

    @property
    def url(self):
        return f'http://127.0.0.1:{self.server_address[1]}/'


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, kind, text, policy="default-src 'none'"):
        self.send_response(200)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Security-Policy', policy)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        path = self.path.split('?')[0]
        self.server.asked.append(self.path)
        if path == '/':
            self.answer('text/html; charset=utf-8', HTML, POLICY)
        elif path == '/api/devices':
            self.answer('application/x-ndjson', '\n'.join(json.dumps({'type': 'device', 'dev': dev, 'model': model}) for dev, model in self.server.devices))
        elif path == '/api/commands':
            self.answer('application/x-ndjson', '\n'.join(json.dumps(row) for row in self.server.commands))
        elif path == '/api/events':
            self.events()
        else:
            self.send_error(404)

    def events(self):
        mine = queue.Queue()
        for lines in self.server.kept:
            mine.put(lines)
        self.server.readers.append(mine)
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.end_headers()
        try:
            while not self.server.ends and (lines := mine.get()) is not None:
                self.wfile.write(('retry: 200\n' + ''.join(f'data: {line}\n' for line in lines) + '\n').encode())
                self.wfile.flush()
        except OSError:
            pass
        self.server.readers.remove(mine)


def elsewhere(b):
    """Requests to anybody but the server that the page came from."""
    return [url for url in b.strangers() if not url.startswith((b.url, 'chrome'))]


CELLS = "return document.querySelectorAll('#section-time .cells rect').length"
ISSUED = "return document.querySelector('#ledger').textContent"


# ---- cases ----

def check_draws(b):
    tap.eq(b.wait(CELLS, 6), 6, 'three seconds with two cells each: six rectangles')
    tap.ok(b.text('#status').startswith('Connected'), 'it says that it is connected')
    tap.eq(b.texts('#tiles dd')[:8], ['50.0', '0.2', '10.0us', '90.0us', '100us', '3', '2.00ms', '0'], 'tiles: the last second, in the words of the terminal')
    tap.ok(b.text('#ledger').startswith('Ledger: issued 303 = completed 300 + in flight 3; nothing lost'), 'the ledger')
    tap.eq([row[:3] for row in b.rows('#devices')], [['nvme0n1', 'Model One', '40.0'], ['nvme1n1', HOSTILE, '10.0']], 'devices, with models')
    tap.eq([row[:3] for row in b.rows('#ops')], [['nvme0n1', 'read', '40'], ['nvme1n1', 'read', '10']], 'operations')
    tap.eq(len(b.all('#section-time .chart .curve[d*="H"]')), 4, 'curves of median, p99, max and IO/s')
    tap.eq(b.run("return [...document.querySelectorAll('.chart rect, .chart path')].some(n => /NaN|undefined|Infinity/.test(n.outerHTML))"), False, 'every place is a number')
    right = "return Math.max(...[...document.querySelectorAll('.cells rect')].map(r => r.getBoundingClientRect().right))"
    return b.run(right), right


def check_grows(b, server, edge, right):
    chart = b.find('#section-time .chart')
    b.run('arguments[0].focus()', chart)
    server.send(second(4, {'nvme0n1': 60}))
    tap.eq(b.wait(CELLS, 8), 8, 'the next second arrives')
    tap.ok(b.run(right) > edge + 5, 'and is at the right of the others')
    tap.ok('issued 403' in b.text('#ledger'), 'the ledger goes on')
    tap.eq(b.run('return document.activeElement === arguments[0]', chart), True, 'the focus stays')


def check_filter(b):
    b.run("const s = document.querySelector('#filter'); s.value = 'nvme1n1'; s.dispatchEvent(new Event('change'))")
    tap.eq(b.run(CELLS), 6, 'the heat map of one device')
    tap.eq([row[0] for row in b.rows('#devices')] + [row[0] for row in b.rows('#ops')], ['nvme1n1'], 'its rows alone')
    tap.eq(b.texts('#tiles dd')[0], '0.0', 'its tiles: it was idle in the last second')
    tap.ok('dev=nvme1n1' in b.run('return location.hash'), 'and the address knows')
    b.run("const s = document.querySelector('#filter'); s.value = ''; s.dispatchEvent(new Event('change'))")
    tap.eq(b.run(CELLS), 8, 'and all again')


def check_keys(b):
    chart = b.find('#section-time .chart')
    b.run('arguments[0].focus()', chart)
    chart.send_keys(Keys.END)
    last = b.text('#section-time .readout')
    tap.ok(last.endswith('81.9us – 98.3us: 30 I/Os'), 'End: the last cell, in words')
    chart.send_keys(Keys.ARROW_DOWN)
    tap.ok('8.19us – 10.2us: 30 I/Os' in b.text('#section-time .readout'), 'down: the one below')
    chart.send_keys(Keys.ARROW_LEFT)
    tap.ok('8.19us – 10.2us: 25 I/Os' in b.text('#section-time .readout'), 'left: the second before')
    b.find('#pause').send_keys(Keys.ENTER)
    tap.eq([b.find('#pause').get_attribute('aria-pressed'), b.text('#pause')], ['true', 'Continue'], 'Enter pauses')


def check_pause(b, server):
    server.send(second(5, {'nvme0n1': 20}))
    time.sleep(.5)
    tap.eq(b.run(CELLS), 8, 'paused: nothing moves')
    b.find('#pause').click()
    tap.eq(b.wait(CELLS, 10), 10, 'continued: what came meanwhile is there')


def check_commands(b, server):
    chart = b.find('#section-time .chart')
    b.run('arguments[0].focus()', chart)
    chart.send_keys(Keys.END, Keys.ENTER)
    tap.ok('--keep' in b.text('#commands .empty'), 'without a recorder a cell says what would show its commands')
    server.commands = [{'type': 'trace', 'time_s': 6.5 + i, 'dev': 'nvme0n1', 'op': 'read', 'command': HOSTILE, 'lat_ns': 90000, 'status': 'ok', 'attempts': 1,
                        'comm': HOSTILE, 'pid': 100 + i} for i in range(2)] + [{'type': 'commands', 'matched': 7, 'shown': 2, 'all': True}]
    tap.ok('--keep' in b.text('#who-note') and not b.find('#who').is_displayed(), 'without a recorder nobody is named')
    whose = [{'type': 'who', 'comm': comm, 'count': count, 'iops': float(count), 'mb_per_s': .1, 'mean_ns': 20000, 'max_ns': 90000} for comm, count in ((HOSTILE, 15), (None, 7))]
    server.send(second(7, {'nvme0n1': 20, HOSTILE: 2}, lost=12, failed=2, keep=600.0) +
                [json.dumps(row) for row in [{'type': 'failed', 'dev': 'nvme0n1', 'op': 'read', 'status': HOSTILE, 'count': 2}, *whose]])
    b.wait(CELLS, 14)
    b.run("const s = document.querySelector('#filter'); s.value = 'nvme0n1'; s.dispatchEvent(new Event('change'))")
    b.run('arguments[0].focus()', chart)
    chart.send_keys(Keys.END, Keys.ENTER)
    tap.eq(b.rows('#commands-table'), [[f'{6.5 + i:.9f}', 'nvme0n1', 'read', HOSTILE, '90.0us', 'ok', '1', HOSTILE, str(100 + i)] for i in range(2)],
           'with one, Enter on a cell shows its commands')
    tap.eq(b.text('#commands caption'), '7 commands, the first 2 are shown', 'and how many there are')
    tap.eq([path for path in server.asked if 'commands' in path], ['/api/commands?from=6000000000ns&to=7000000000ns&min=81920ns&max=98304ns&dev=nvme0n1'],
           'it asks for this second, this latency, this device')
    tap.eq(b.rows('#who'), [[HOSTILE, '15', '15.0', '0.1', '20.0us', '90.0us'], ['all others', '7', '7.0', '0.1', '20.0us', '90.0us']], 'processes')
    tap.eq(b.find('#who-note').is_displayed(), False, 'and no word that they are missing')
    tap.eq(b.rows('#failed'), [['nvme0n1', 'read', HOSTILE, '2']], 'failed commands, by status')
    rect = b.all('#section-time .cells rect')[0]
    b.run("""const box = arguments[0].getBoundingClientRect(), at = {clientX: box.x + box.width / 2, clientY: box.y + box.height / 2};
        arguments[1].dispatchEvent(new PointerEvent('pointermove', at)); arguments[1].dispatchEvent(new PointerEvent('click', at))""", rect, chart)
    tap.ok('--keep' in b.text('#commands .empty'), 'a click opens the cell under it')
    b.find('#commands button').click()
    tap.eq(b.run("return [document.querySelector('#commands').hidden, document.activeElement === arguments[0]]", chart), [True, True], 'closed again')
    b.run("const s = document.querySelector('#filter'); s.value = ''; s.dispatchEvent(new Event('change'))")
    tap.eq(b.run("return document.querySelectorAll('img').length"), 0, 'no name became markup')


def check_loss(b, server):
    server.send(second(6, {'nvme0n1': 20}, lost=12, failed=2, untimed=15))
    b.wait("return document.querySelector('#ledger strong').className", 'bad')
    tap.eq(b.text('#ledger strong'), 'LOST: 12: ring full: records dropped', 'a loss is said in words')
    tap.ok('estimated: of 20 commands of the last second 5 were timed' in b.text('#ledger'), 'so is that latencies are estimates')
    tap.ok('2 commands failed' in b.text('#errors') and '2 failed' in b.text('#errors li'), 'so are errors')


def check_restart(b, server):
    port = server.server_address[1]
    server.stop()
    b.wait("return document.querySelector('#status').className", 'bad')
    tap.ok(b.text('#status').startswith('No answer from the server since'), 'the server ends: it says so')
    tap.eq(b.run(CELLS), 14, 'and keeps what it has')
    again = Server(port)
    again.send(second(1, {'nvme0n1': 10}, run='b2'))
    tap.eq(b.wait(CELLS, 2), 2, 'a new server: it begins again')
    tap.ok(b.text('#status').startswith('Connected') and 'restarted' in b.text('#notice'), 'and says that')
    tap.ok('issued 103' in b.text('#ledger'), 'with its ledger')
    return again


def test_played():
    server = Server()
    for number in 1, 2, 3:
        server.send(second(number, {'nvme0n1': 40, 'nvme1n1': 10}))
    b = visit(server.url)
    check_grows(b, server, *check_draws(b))
    check_filter(b)
    check_keys(b)
    check_pause(b, server)
    check_loss(b, server)
    check_commands(b, server)
    tap.eq(b.console(), [], 'no word on the console')
    server = check_restart(b, server)
    tap.eq(elsewhere(b), [], 'nobody else is asked')
    server.stop()


def test_hostile():
    names = [HOSTILE, '</script><script>document.title="broken out"</script>', '\x1b[31mred', '\u202ertl', '__proto__', "a'b\"c&amp;"]
    server = Server()
    server.devices = [(name, name) for name in names]
    server.send(second(1, dict.fromkeys(names, 2)))
    b = visit(server.url)
    tap.eq(b.wait(CELLS, 2), 2, 'hostile names: it draws')
    tap.ok(b.driver.title.startswith('iosonar: '), 'no script of a name ran')
    tap.eq(b.run("return document.querySelectorAll('img, b, iframe').length"), 0, 'no element came of it')
    tap.eq(len(b.all('script:not([type])')), 4, 'no script but ours')
    shown = {row[0] for row in b.rows('#devices')}
    tap.eq(shown, {HOSTILE, names[1], '\\u{1b}[31mred', '\\u{202e}rtl', '__proto__', "a'b\"c&amp;"}, 'names are shown as text')
    tap.eq(b.run("return [...document.querySelectorAll('#filter option')].length"), 7, 'and can be chosen')
    tap.eq(b.console(), [], 'no word on the console, hostile')
    server.stop()


# Where the last tick of time may stand, and its label is cut off.
LATE_LABELS = """
    const node = document.querySelector('#section-time .chart'), cut = [];
    for (let x = 900; x <= 1066; x += 6) {
        const axis = chart.axisX(chart.area(340), () => x, [0], () => '23:59:59');
        node.append(axis);
        if (axis.getBoundingClientRect().right > node.getBoundingClientRect().right + 1)
            cut.push(x);
        axis.remove();
    }
    return cut;"""


def test_phone():
    server = Server()
    server.devices.append(('nvme2n1', 'A model with a long name 1234567890 1234567890'))
    server.commands = [{'type': 'trace', 'time_s': 318.5, 'dev': 'nvme0n1', 'op': 'read', 'command': 'Read', 'lat_ns': 90000, 'status': 'ok', 'attempts': 1, 'comm': 'dd', 'pid': 7},
                       {'type': 'commands', 'matched': 1, 'shown': 1, 'all': True}]
    for number in range(1, 319):
        server.send(second(number, {'nvme0n1': 40}))
    server.send(second(319, {'nvme0n1': 40, 'nvme1n1': 7}, lost=12, failed=2, keep=600.0, untimed=15) + [json.dumps(row) for row in [
        {'type': 'failed', 'dev': 'nvme0n1', 'op': 'read', 'status': 'critical medium error (-61)', 'count': 2},
        {'type': 'who', 'comm': 'kworker/u16:12', 'count': 47, 'iops': 47.0, 'mb_per_s': .1, 'mean_ns': 20000, 'max_ns': 90000}]])
    b = visit(server.url, dark=True, phone=True)
    tap.eq(b.wait(CELLS, 600), 600, '319 seconds: the last 300 are drawn')
    tap.ok(b.run("return [...document.querySelectorAll('.chart')].every(c => c.getBoundingClientRect().right <= innerWidth)"), 'and charts are in sight')
    chart = b.find('#section-time .chart')
    b.run('arguments[0].focus()', chart)
    chart.send_keys(Keys.END, Keys.ENTER)
    tap.eq(len(b.rows('#commands-table')), 1, 'a cell opens')
    tap.fits_phone(b, 'the live page')
    tap.eq(b.run(LATE_LABELS), [], 'and a label of time is in sight at whatever second it stands')
    dark = b.run("return page.color('--paper')")
    b.find('button.theme').click()
    tap.ok(b.run("return page.color('--paper')") != dark, 'dark where that is preferred, light by the button')
    server.stop()


# ---- a real server ----

WHOSE = "return [...document.querySelectorAll('#who tbody tr')].map(row => row.cells[0].textContent + ' ' + row.cells[1].textContent).join()"
HOSTILE_TASK = '<img src=x>'  # 15 bytes at most


def loop_disk(where):
    disk = os.path.join(where, 'disk')
    subprocess.run(['truncate', '-s', '16M', disk], check=True)
    done = subprocess.run(['losetup', '-f', '--show', disk], capture_output=True, text=True, check=False)
    if shutil.which('udevadm'):
        subprocess.run(['udevadm', 'settle', '-t', '5'], check=False)
    return done.stdout.strip()


def start_real(dev, port, log):
    with open(log, 'a', encoding='utf-8') as err:
        server = subprocess.Popen([IOSONAR, 'serve', '-d', pathlib.Path(dev).name, '--listen', f'127.0.0.1:{port}', '--keep', '1m'], stderr=err)
    for _ in range(100):
        if any(line.startswith('serving ') for line in pathlib.Path(log).read_text(encoding='utf-8').split('\n')):
            break
        time.sleep(.1)
    return server, pathlib.Path(log).read_text(encoding='utf-8').split('serving ')[1].split('\n')[0]


def reads(dev, count, program='dd'):
    subprocess.run([program, f'if={dev}', 'of=/dev/null', 'bs=4k', f'count={count}', 'iflag=direct', 'status=none'], check=True)


def check_hostile_task(b, dev, where):
    """A name of a task that is markup, from the kernel through the server to the page: among the tasks, and in a command."""
    program = os.path.join(where, HOSTILE_TASK)
    shutil.copy(shutil.which('dd'), program)
    reads(dev, 13, program)
    tap.ok(b.wait(WHOSE + f".includes('{HOSTILE_TASK} ')", True), 'a hostile task is named as it is')
    chart = b.find('#section-time .chart')
    b.run('arguments[0].focus()', chart)
    chart.send_keys(Keys.END, Keys.ENTER)
    tasks = "return [...document.querySelectorAll('#commands-table tbody tr')].map(row => row.cells[7].textContent)"
    tap.ok(b.wait(tasks + f".includes('{HOSTILE_TASK}')", True), 'so are its commands')
    tap.eq(b.run("return document.querySelectorAll('img').length"), 0, 'and its name becomes no markup')


def real_cases(dev, where):
    server, url = start_real(dev, 0, os.path.join(where, 'log'))
    try:
        b = visit(url + '/')
        tap.ok(b.wait("return document.querySelector('#status').textContent.startsWith('Connected')", True), 'a real server: connected')
        reads(dev, 1009)
        tap.ok(b.wait(WHOSE + ".startsWith('dd ')", True), 'dd is named')
        done = 'Ledger: issued 1,009 = completed 1,009 + in flight 0; nothing lost'
        tap.eq(b.wait(ISSUED, done), done, 'the ledger has every read')
        tap.ok(b.run(CELLS) > 0, 'the heat map has cells')
        chart = b.find('#section-time .chart')
        b.run('arguments[0].focus()', chart)
        chart.send_keys(Keys.END, Keys.ENTER)
        shown = [row[1:3] + row[5:8] for row in b.rows('#commands-table')]
        tap.ok(shown and all(row == [pathlib.Path(dev).name, 'read', 'ok', '1', 'dd'] for row in shown), 'a cell opens the very commands')
        check_hostile_task(b, dev, where)
        server.terminate()
        tap.eq(server.wait(10), 0, 'a page that watches does not keep it from ending')
        b.wait("return document.querySelector('#status').className", 'bad')
        server, _ = start_real(dev, url.rsplit(':', 1)[1], os.path.join(where, 'second'))
        reads(dev, 101)
        done = 'Ledger: issued 101 = completed 101 + in flight 0; nothing lost'
        tap.eq(b.wait(ISSUED, done), done, 'its restart: the page goes on with the new counts')
        tap.eq(elsewhere(b), [], 'nobody else is asked, real')
    finally:
        server.terminate()
        server.wait(10)


def test_real():
    with tempfile.TemporaryDirectory() as where:
        able = os.geteuid() == 0 and os.path.exists('/sys/kernel/btf/vmlinux') and os.path.exists('/dev/loop-control')
        dev = loop_disk(where) if able else ''
        if not dev:
            tap.ok(True, 'a real server # SKIP needs root, BTF and a loop device')
            return
        try:
            real_cases(dev, where)
        finally:
            subprocess.run(['losetup', '-d', dev], check=False)


test_played()
test_hostile()
test_phone()
test_real()
tap.done()
