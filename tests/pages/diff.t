#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""diff.t: the page of two runs: its tables are what -o json says, its curves are the numbers below them, keys move through
them, nothing found is told so, calls lie side by side, and no text of a file becomes markup."""
import pathlib
import sys
import tempfile

from selenium.webdriver.support.ui import WebDriverWait

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
from browser import DATA, Keys, iosonar, json_lines, opened, tap  # noqa: E402

FOUND = ('slower', 'faster', 'more', 'less')


def page_of(where, name, *arguments, status=0):
    file = pathlib.Path(where) / f'{name}.html'
    iosonar('diff', *arguments, '-o', 'html', '--out', file, status=status)
    return file


def words(value, unit):
    """As a shift is written on the page."""
    if value is None:
        return '–'
    number = '0.0' if abs(value) < 0.05 else f'{abs(value):.{1 if abs(value) < 1000 else 0}f}'
    sign = '' if abs(value) < 0.05 else '−' if value < 0 else '+'
    return sign + number + ('pt' if unit == 'points' else '%')


def check_tables(b, rows):
    shifts = [row for row in rows if row['what'] != 'count']
    reads = [row for row in shifts if row['op'] == 'read']
    shown = b.rows('#shifts-0')
    tap.eq([line[0] for line in shown], [row['what'] for row in reads], 'every number of the reads has its line')
    tap.eq([line[3:7] for line in shown],
           [[words(row[key], row['shift_unit']) for key in ('shift', 'low', 'high')] + [row['verdict']] for row in reads],
           'with its shift, its interval and its verdict')
    found = [row for row in shifts if row['verdict'] in FOUND]
    tap.eq(len(b.rows('#found')), len(found), 'what shifted comes first')
    tap.ok(b.text('#summary p').startswith(f'{len(found)} of '), 'and is counted')
    tap.eq(len(b.rows('#shifts-1')), len([row for row in shifts if row['op'] == 'write']), 'writes have theirs')
    tap.ok('serial' in b.text('#panel-0 p'), 'and why the two are one drive is said')


def numbers(b, chart):
    return b.run('return page.lines("diff").filter(r => r.type === "curve" && r.op === arguments[0])', chart)


def check_curves(b):
    curve = numbers(b, 'read')
    b.find('#panel-0 summary').send_keys(Keys.ENTER)
    WebDriverWait(b.driver, 20).until(lambda _: b.all('#curve-0'))
    table = b.rows('#curve-0')
    tap.eq([float(line[0]) for line in table], [row['percent'] for row in curve], 'every point of a curve is in its table')
    tap.eq(b.run('return [...document.querySelectorAll("#panel-0 path.a, #panel-0 path.b")].map(p => p.getAttribute("d").split(/[ML]/).length - 1)'),
           [len(curve)] * 2, 'and both curves are drawn through all of them')
    half = [row for row in curve if row['percent'] == 50][0]
    tap.ok(1.18 < half['b_ns'] / half['a_ns'] < 1.22, 'which are 20 % apart in the middle')
    across = b.run('const x = run => document.querySelector(`#panel-0 path.${run}`).getPointAtLength(200).x; return x("b") - x("a")')
    tap.ok(across > 20, 'on the screen, too')
    tap.ok(b.run('return getComputedStyle(document.querySelector("#panel-0 path.b")).strokeDasharray') != 'none',
           'without colours a dash tells them apart')


def check_keys(b):
    chart = b.find('#panel-0 svg.chart')
    b.run('arguments[0].focus()', chart)
    tap.ok(b.text('#panel-0 .readout').startswith('50 % took at most '), 'a chart that has the focus reads its middle')
    chart.send_keys(Keys.ARROW_UP)
    tap.ok(b.text('#panel-0 .readout').startswith('51 % '), 'the next key its next point')
    chart.send_keys(Keys.END)
    tap.ok(b.text('#panel-0 .readout').startswith('100 % '), 'the last one its end')
    tap.eq(b.run('return document.querySelector("#panel-0 svg.chart g").getAttribute("visibility")'), 'visible', 'where dots are drawn')
    before = b.run('return document.querySelector("#panel-0 path.a").getAttribute("d")')
    b.find('header button').send_keys(Keys.ENTER)
    tap.ok(b.run('return document.querySelector("#panel-0 path.a").getAttribute("d")') != before, 'the scale of nines draws them anew')
    tap.ok('scale=nines' in b.run('return location.hash'), 'and is in the address')
    b.find('#shifts-0 th:nth-child(4) button').send_keys(Keys.ENTER)
    tap.eq(b.rows('#shifts-0')[0][0], 'p99', 'a heading sorts: the largest shift first')


def check_io(where):
    rows = json_lines('diff', DATA / 'before.cap', DATA / 'after.cap')
    file = page_of(where, 'diff', DATA / 'before.cap', DATA / 'after.cap')
    with opened(file) as b:
        tap.eq(b.text('h1'), 'Comparison of two runs', 'the page has a heading')
        tap.ok('after.cap' in b.text('.runs'), 'and says which files')
        check_tables(b, rows)
        check_curves(b)
        check_keys(b)
        tap.quiet(b)
    with opened(file, fragment='scale=nines&sort.shifts-0=what', dark=True) as b:
        tap.eq(b.find('header button').get_attribute('aria-pressed'), 'true', 'an address brings its scale along')
        tap.ok(b.text('#panel-0 svg.chart').find('99.9%') >= 0, 'which has nines')
        tap.eq(b.rows('#shifts-0')[0][0], 'errors', 'and its order')
        tap.quiet(b, ', in the dark')


def check_itself(where):
    with opened(page_of(where, 'itself', DATA / 'after.cap', DATA / 'after.cap')) as b:
        tap.ok(b.text('#summary p').startswith('Nothing shifted: '), 'of a run with itself nothing is found')
        tap.eq(b.all('#found'), [], 'and no table of it is shown')
        tap.quiet(b)
    with opened(page_of(where, 'lost', DATA / 'nvme.cap', DATA / 'stacks.cap', status=0)) as b:
        tap.ok('only A' in ' '.join(b.texts('.empty')), 'what only one run has is said')
        tap.quiet(b)


def check_calls(where):
    rows = json_lines('diff', DATA / 'calls.cap', DATA / 'class.cap')
    with opened(page_of(where, 'calls', DATA / 'calls.cap', DATA / 'class.cap')) as b:
        tap.eq([[line[0], line[1], line[2], line[-1]] for line in b.rows('#functions')],
               [[row['function'], str(row['count_a']), str(row['count_b']), row['verdict'] or '–'] for row in rows], 'calls lie side by side')
        tap.quiet(b)
    rows = json_lines('diff', DATA / 'calls.cap', DATA / 'class.cap', '--graph')
    with opened(page_of(where, 'graph', DATA / 'calls.cap', DATA / 'class.cap', '--graph')) as b:
        tap.eq([line[0] for line in b.rows('#functions')], ['  ' * row['depth'] + row['function'] for row in rows], 'or inside one another')
        for _ in range(2):
            b.find('#functions th:nth-child(1) button').send_keys(Keys.ENTER)
        names = [line[0] for line in b.rows('#functions')]
        tap.ok(names[0].startswith('  ') and not names[-1].startswith(' '), 'a heading sorts them by the functions around them')
        tap.quiet(b)


def check_hostile(where):
    evil = '</script><img src=x onerror=alert(1)><b>\\u2028'
    saved = pathlib.Path(where) / 'evil<b>.json'
    lines = iosonar('latency', '-r', DATA / 'before.cap', '-o', 'json').replace('nvme0n1', evil)
    saved.write_text(lines, encoding='utf-8')
    with opened(page_of(where, 'evil', saved, saved)) as b:
        tap.ok(b.text('#panel-0 h2').startswith('</script><img src=x onerror=alert(1)><b>'), 'a hostile name is a text')
        tap.eq(b.all('img, b, main script'), [], 'and no markup')
        tap.ok('evil<b>.json' in b.text('.runs'), 'nor is a file name')
        tap.quiet(b)


with tempfile.TemporaryDirectory() as folder:
    check_io(folder)
    check_itself(folder)
    check_calls(folder)
    check_hostile(folder)
browser.tap.done()
