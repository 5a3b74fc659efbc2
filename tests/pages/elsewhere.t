#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""elsewhere.t: what `export` writes for other people's pages, read by such a page: speedscope."""
import base64
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import DATA, ROOT, iosonar, opened, tap  # noqa: E402

READER = 'speedscope@1.25.0'
ROWS = """const table = [...document.querySelectorAll('table')].pop();
return table ? [...table.querySelectorAll('tr')].map(r => [...r.cells].map(c => c.innerText.trim())).filter(r => r.length == 3) : []"""


def fetched():
    """Where the reader is, or why it is not."""
    done = subprocess.run([ROOT / 'tests/npm', READER], capture_output=True, text=True, timeout=90, check=False)
    return (pathlib.Path(done.stdout.strip()), '') if done.returncode == 0 else (None, done.stderr.strip())


def shown(modules, where, name, text):
    """The reader's table of functions, {name: (total, self)}, as it writes them."""
    script = pathlib.Path(where) / f'{name}.js'
    data = base64.b64encode(text.encode()).decode()
    script.write_text(f'speedscope.loadFileFromBase64({json.dumps(name)}, "{data}")')
    with opened(modules / 'speedscope/dist/release/index.html', fragment=f'localProfilePath={script}', size=(1280, 3000)) as b:
        b.wait(f'return document.title.startsWith({json.dumps(name)})', True, 20)
        b.find('body').send_keys('3')
        b.wait(f'return (() => {{ {ROWS} }})().length > 1', True, 20)
        return {row[2]: (row[0].split(' ')[0], row[1].split(' ')[0]) for row in b.run(ROWS) if row[2] != 'Symbol Name'}


def check_folded(modules, where):
    text = iosonar('export', '-r', DATA / 'stacks.cap', '-o', 'folded')
    total, own = collections.Counter(), collections.Counter()
    for line in text.splitlines():
        stack, count = line.rsplit(' ', 1)
        frames = stack.split(';')
        own[frames[-1]] += int(count)
        for frame in set(frames):
            total[frame] += int(count)
    tap.eq(shown(modules, where, 'folded', text), {name: (str(total[name]), str(own[name])) for name in total},
           'folded: speedscope has every frame, with its commands')


def written(us):
    """As the reader writes a time."""
    return f'{us / 1000:.2f}ms' if us >= 1000 else f'{us:.2f}µs'


def check_chrome(modules, where):
    text = iosonar('export', '-r', DATA / 'calls.cap', '-o', 'chrome')
    calls = [event for event in json.loads(text)['traceEvents'] if event['ph'] == 'X']
    seen = shown(modules, where, 'chrome', text)
    tap.eq(sorted((name.split(' ')[0], total) for name, (total, _) in seen.items()),
           sorted((call['name'], written(call['dur'])) for call in calls), 'chrome: speedscope has every call, with its time')


def main():
    modules, why = fetched()
    if why:
        tap.ok(True, f'folded, chrome: speedscope reads them # SKIP {why}')
    else:
        with tempfile.TemporaryDirectory() as where:
            check_folded(modules, where)
            check_chrome(modules, where)
    tap.done()


main()
