#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""blame.t: the page of blame: its matrix is what -o json says, darker is worse, a cell shows the commands behind it by kind
and the slowest, keys move between cells, the address keeps the choice, and no text of a capture becomes markup."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
from browser import DATA, Keys, iosonar, json_lines, opened, tap  # noqa: E402

ITSELF = 'device itself'


def page_of(where, capture, *arguments):
    file = pathlib.Path(where) / 'blame.html'
    iosonar('blame', '-r', capture, *arguments, '-o', 'html', '--out', file)
    return file


def blame_rows(capture, *arguments):
    return [row for row in json_lines('blame', '-r', capture, *arguments) if row['type'] == 'blame']


def cell(victim, culprit):
    """The button of a pair, by its title."""
    return f'#matrix-0 button[title^="{victim} because of {culprit}:"]'


def check_matrix(b, rows):
    shown = {}
    for button in b.all('#matrix-0 tbody button'):
        title = button.get_attribute('title').rsplit(':', 1)[0]
        shown[title] = (button.text, int(button.get_attribute('class')[-1]))
    wanted = {f'{row["victim"]} because of {row["culprit"]}': (f'{row["share_percent"]:.1f}%', min(7, int(row['share_percent'] / 12.5)))
              for row in rows if row['sum_ns']}
    tap.eq(shown, wanted, 'every pair has its cell, with its share, and its shade')
    head = b.texts('#matrix-0 thead th')
    tap.eq((head[0], head[-1]), ('victim', ITSELF), 'the device itself is the last column')
    tap.eq(len(b.all('#matrix-0 tbody tr')), len({row['victim'] for row in rows}), 'each victim has a line')
    shades = [b.run('return getComputedStyle(document.documentElement).getPropertyValue(arguments[0])', f'--heat-{i}') for i in range(8)]
    tap.eq(len(set(shades)), 8, 'eight shades')


def check_cell(b, capture, rows):
    worst = max((row for row in rows if row['culprit'] not in (ITSELF, row['victim'])), key=lambda row: row['sum_ns'])
    b.find(cell(worst['victim'], worst['culprit'])).click()
    tap.eq(b.text('#pair-0 h3'), f'{worst["victim"]} waits for {worst["culprit"]}', 'a click shows the pair')
    kinds = [row for row in blame_rows(capture, '--by', 'comm,op,size')
             if row['victim_comm'] == worst['victim_comm'] and row['culprit_comm'] == worst['culprit_comm'] and row['sum_ns']]
    tap.eq(sorted(line[:2] for line in b.rows('#pair-0-kinds')), sorted([row['victim'], row['culprit']] for row in kinds),
           'by operation and size, as --by says')
    total = b.run('const made = page.lines("kinds").filter(r => r.victim_comm === arguments[0] && r.culprit_comm === arguments[1]);'
                  'return made.reduce((sum, r) => sum + r.sum_ns, 0)', worst['victim_comm'], worst['culprit_comm'])
    tap.eq(total, worst['sum_ns'], 'which add up to the cell')
    trace = [row for row in json_lines('trace', '-r', capture) if row.get('comm') == worst['victim_comm']]
    longest = max(row['lat_ns'] for row in trace)
    slowest = b.run('return page.lines("blame").filter(r => r.type === "command" && r.party === arguments[0]).map(r => r.lat_ns - r.wait_ns)',
                    worst['victim'])
    tap.ok(longest in slowest, 'the slowest command is there, as trace has it')
    tap.ok(len(b.rows('#pair-0-victim')) >= 1 and len(b.rows('#pair-0-culprit')) >= 1, 'of the victim and of the culprit')
    tap.eq(len(b.all('#matrix-0 button[aria-pressed="true"]')), 1, 'one cell is chosen')


def check_keys(b):
    first = b.all('#matrix-0 tbody tr:first-child button')[0]
    b.run('arguments[0].focus()', first)
    first.send_keys(Keys.ARROW_RIGHT)
    tap.ok(b.run('return document.activeElement !== arguments[0] && document.activeElement.closest("#matrix-0") !== null', first),
           'an arrow moves to the next cell')
    b.driver.switch_to.active_element.send_keys(Keys.ENTER)
    tap.eq(b.run('return document.activeElement.getAttribute("aria-pressed")'), 'true', 'Enter chooses it')
    return b.run('return location.hash.slice(1)')


def check_all(where):
    capture = DATA / 'blame.cap'
    rows = blame_rows(capture)
    with opened(page_of(where, capture)) as b:
        tap.eq(b.text('h1'), 'Who made whom wait', 'the page has a heading')
        tap.ok('told apart by comm' in b.text('#summary'), 'and says what tells them apart')
        check_matrix(b, rows)
        check_cell(b, capture, rows)
        fragment = check_keys(b)
        chosen = b.text('#pair-0 h3')
        tap.quiet(b)
    with opened(page_of(where, capture), fragment=fragment, dark=True) as b:
        tap.eq(b.text('#pair-0 h3'), chosen, 'an address brings the chosen cell along')
        tap.quiet(b, ', in the dark')
    with opened(page_of(where, capture, '--by', 'comm,op')) as b:
        tap.eq(len(b.all('#matrix-0 tbody tr')), len({row['victim'] for row in blame_rows(capture, '--by', 'comm,op')}),
               '--by tells them apart on the page, too')
        tap.quiet(b)


def check_queues(where):
    arguments = DATA / 'blame-paths.cap', '--by', 'comm,path,queue'
    way = lambda label: ' '.join(label.split()[-3:])  # noqa: E731 # "nvme0c1n1 queue 2"
    with opened(page_of(where, *arguments)) as b:
        for row in blame_rows(*arguments):
            if row['culprit'] in (ITSELF, row['victim']):
                continue
            b.find(cell(row['victim'], row['culprit'])).click()
            tap.eq({(way(line[0]), way(line[1])) for line in b.rows('#pair-0-kinds')}, {(way(row['victim']), way(row['culprit']))},
                   f'{row["victim"]} because of {row["culprit"]}: commands of these paths and queues')
        tap.quiet(b)


def check_hostile(where):
    with opened(page_of(where, DATA / 'hostile.cap')) as b:
        tap.eq(b.all('img, b, main script'), [], 'a hostile name is no markup')
        tap.quiet(b)


def check_phone(where):
    for name in 'blame.cap', 'blame-paths.cap', 'hostile.cap':
        with opened(page_of(where, DATA / name, '--by', 'comm,op,size'), phone=True) as b:
            for button in b.all('.matrix tbody tr:first-child td:last-child button'):
                button.click()
            for node in b.all('details:not([open]) > summary'):
                node.send_keys(Keys.ENTER)
            tap.fits_phone(b, f'blame of {name}')


with tempfile.TemporaryDirectory() as folder:
    check_all(folder)
    check_queues(folder)
    check_hostile(folder)
    check_phone(folder)
browser.tap.done()
