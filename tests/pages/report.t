#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""report: is its page whole and true? Numbers are compared with what other views say of the same capture, in a terminal's
words and as JSON; what is clicked and typed is looked at; text that would break out is looked for as text."""
import itertools
import os
import subprocess
import tempfile

from browser import CAPTURES, DATA, Keys, iosonar, json_lines, opened, tap

tmp = tempfile.TemporaryDirectory()


def report(capture, *arguments):
    path = os.path.join(tmp.name, f'{len(os.listdir(tmp.name))}.html')
    iosonar('report', '-r', capture, '--out', path, *arguments)
    return path


def of(rows, kind):
    return [{key: value for key, value in row.items() if key != 'type'} for row in rows if row['type'] == kind]


# ---- the data: as other views have it ----

def same_numbers(name):
    """Every row of the other view is in the report, with the same number in every column that both have."""
    capture = DATA / name
    rows = json_lines('report', '-r', capture)
    others = {
        'latency': json_lines('latency', '-r', capture, '-i', '60m'),
        'why': json_lines('why', '-r', capture),
        'layers': json_lines('layers', '-r', capture, '-i', '60m'),
        'pattern': json_lines('pattern', '-r', capture, '-i', '60m'),
        'slow': json_lines('slow', '-r', capture, '--top', '25', '--stack', 'both'),
        'errors': json_lines('errors', '-r', capture, '--top', '25'),
    }
    for kind in ['why', 'latency', 'layers', 'pattern', 'pattern_size', 'pattern_heat', 'pattern_depth', 'slow', 'errors', 'errors_sum',
                 'ledger']:
        other = of(others[kind.split('_')[0] if kind != 'ledger' else 'slow'], kind)
        other = [row for row in other if row.get('span', 'total') == 'total']
        tap.ok(other or kind.startswith('errors'), f'{name}: {kind} has rows to compare')
        tap.eq(sorted(of(rows, kind), key=str), sorted(other, key=str), f'{name}: {kind} as its own view has it')
    return rows


def sums_agree(name, rows):
    """Of the whole, by device, by time, by cell, by process: the same commands."""
    count = of(rows, 'report')[0]['count']
    tap.ok(count > 0, f'{name}: has commands')
    heat = of(rows, 'heat')
    for kind, part in [('latency', of(rows, 'latency')), ('moment', of(rows, 'moment')), ('process', of(rows, 'process')),
                       ('heat of all', [cell for cell in heat if cell['dev'] is None]),
                       ('heat of each', [cell for cell in heat if cell['dev'] is not None])]:
        tap.eq(sum(row['count'] for row in part), count, f'{name}: every command is once in {kind}')
    for row in of(rows, 'latency'):
        curve = {p['percentile']: p['lat_ns'] for p in of(rows, 'percentile') if (p['dev'], p['op']) == (row['dev'], row['op'])}
        tap.eq([curve[50], curve[90], curve[99], curve[99.9], curve[99.99], curve[100]],
               [row[key] for key in ['p50_ns', 'p90_ns', 'p99_ns', 'p99_9_ns', 'p99_99_ns', 'max_ns']],
               f"{name}: the curve of {row['op']} goes through its percentiles")


def tasks_agree(name):
    rows = json_lines('report', '-r', DATA / name)
    others = [row for row in json_lines('latency', '-r', DATA / name, '--by', 'pid,comm', '-i', '60m')
              if row['type'] == 'latency' and row['span'] == 'total']
    keys = ['pid', 'comm', 'count', 'max_ns', 'mean_ns']
    tap.eq(sorted([row[key] for key in keys] for row in of(rows, 'process')),
           sorted([row[key] for key in keys] for row in others), f'{name}: processes as latency --by has them')


# ---- the page ----

def terminal_rows(capture):
    """The whole run, in the words of the terminal: device, operation, count, IO/s, MB/s, size, p50 ... mean."""
    text = iosonar('latency', '-r', capture, '-i', '60m').split('the whole run')[1].splitlines()[2:]
    rows = [line.split()[1:] for line in itertools.takewhile(str.strip, text)]
    return [row for row in rows if row[0] != 'dev']  # the heading again, where a column has grown


def in_words(rows):
    return [[cell.replace(',', '') for cell in row] for row in rows]


def check_page(b, rows):
    titles = b.texts('section h2')
    tap.eq(titles, ['Why it is slow', 'Summary', 'Latency over time', 'Percentiles', 'Where the time goes', 'Workload', 'Processes and files', 'Slowest I/Os',
                    'Errors'], 'a section for each question')
    tap.eq(in_words(b.rows('#latency')), terminal_rows(DATA / 'stacks.cap'), "latencies in the terminal's words")
    heat = [cell for cell in of(rows, 'heat') if cell['dev'] is None]
    tap.eq(len(b.all('#heat .cells rect')), len(heat), 'the heat map has a rectangle for each cell')
    tap.eq(len(b.all('#section-percentiles .chart .curve')), len(of(rows, 'latency')), 'a curve for each operation')
    tap.eq(len(b.rows('#slow')), 2 * len(of(rows, 'slow')), 'the slowest, each with what lies below it')
    tap.eq(b.run('return document.documentElement.scrollWidth <= innerWidth'), True, 'nothing sticks out')
    tap.eq(b.run("return [...document.querySelectorAll('.chart')].every(c => c.getBoundingClientRect().width > 300)"), True,
           'charts have room')
    tap.eq(b.run("return [...document.querySelectorAll('.chart rect, .chart path')].some(n => /NaN|undefined/.test(n.outerHTML))"),
           False, 'every place is a number')


def column(b, table, place):
    return [row[place] for row in b.rows(table)]


def check_sorting(b):
    head = b.all('#latency th button')[2]
    head.click()
    counts = [int(cell) for cell in column(b, '#latency', 2)]
    tap.eq(counts, sorted(counts, reverse=True), 'a click sorts, the largest first')
    tap.eq(b.all('#latency th')[2].get_attribute('aria-sort'), 'descending', 'and says so')
    tap.ok('sort.latency=-count' in b.run('return location.hash'), 'and the address knows')
    head.send_keys(Keys.ENTER)
    counts = [int(cell) for cell in column(b, '#latency', 2)]
    tap.eq(counts, sorted(counts), 'Enter sorts the other way')
    head.send_keys(Keys.SPACE)
    tap.eq(b.all('#latency th')[2].get_attribute('aria-sort'), 'none', 'and the space bar back')
    b.all('#latency th button')[1].click()
    tap.eq(column(b, '#latency', 1), sorted(column(b, '#latency', 1)), 'text from A on')


def check_cursor(b, rows):
    cells = [cell for cell in of(rows, 'heat') if cell['dev'] is None]
    chart = b.find('#heat .chart')
    hint = b.text('#heat .readout')
    b.run('arguments[0].focus()', chart)
    tap.eq(b.run('return document.activeElement === arguments[0]', chart), True, 'a chart takes the focus')
    chart.send_keys(Keys.ARROW_RIGHT)
    first = b.text('#heat .readout')
    tap.ok(first != hint and first.endswith('1 I/O'), 'an arrow key goes to the first cell')
    chart.send_keys(Keys.END)
    last = b.text('#heat .readout')
    tap.ok(last.startswith(f"{cells[-1]['begin_s']:.3f} – "), 'End to the last, in words')
    chart.send_keys(Keys.ARROW_LEFT)
    tap.ok(b.text('#heat .readout') not in [first, last], 'and back from there')
    rect = b.all('#heat .cells rect')[0]
    b.run("""const box = arguments[0].getBoundingClientRect();
        arguments[1].dispatchEvent(new PointerEvent('pointermove', {clientX: box.x + box.width / 2, clientY: box.y + box.height / 2}))""",
          rect, chart)
    tap.eq(b.text('#heat .readout'), first, 'the pointer says the same')


def check_choice(b, rows):
    name = 'nvme0n1 write'
    cells = [cell for cell in of(rows, 'heat') if cell['op'] == 'write']
    b.run("const s = document.querySelector('#section-time select'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", name)
    tap.eq(len(b.all('#heat .cells rect')), len(cells), 'the heat map of one operation')
    b.find('#heat summary').send_keys(Keys.ENTER)
    tap.eq(sum(int(count) for count in column(b, '#heat-table', 4)), sum(cell['count'] for cell in cells), 'its numbers as a table')


def check_details(b, rows):
    first = of(rows, 'slow')[0]
    tap.ok(not b.find('#slow tr.detail').is_displayed(), 'a stack is folded')
    b.find('#slow button.more').send_keys(Keys.ENTER)
    detail = b.find('#slow tr.detail')
    tap.ok(detail.is_displayed() and 'submit_bio' in detail.text, 'and opens by Enter, with its frames')
    tap.eq([node.text for node in detail.find_elements('css selector', 'ol.frames li')], first['kernel_stack'] + first['user_stack'],
           'each frame on a line of its own')
    tap.eq([word for word in detail.text.split() if '2' in word and len(word) == 3 and word.isupper()], list(first['steps']),
           'after its steps')
    for node in b.all('details:not([open]) > summary'):
        node.send_keys(Keys.ENTER)
    bare = "return [...document.querySelectorAll('details')].filter(d => !d.querySelector('tbody tr')).map(d => d.innerText)"
    tap.eq(b.wait(bare, []), [], 'every chart has its numbers')


def check_theme(b):
    auto = b.run("return page.color('--paper')")
    seen = []
    for _ in range(3):
        b.find('button.theme').click()
        seen.append(b.run("return page.color('--paper')"))
    tap.eq([seen[0] != seen[1], seen[2]], [True, auto], 'the button goes through light, dark and automatic')
    return auto


def check_print(b):
    b.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'media': 'print'})
    tap.eq(b.run("return getComputedStyle(document.querySelector('nav')).display + getComputedStyle(document.body).backgroundColor"),
           'nonergb(255, 255, 255)', 'on paper there is no menu, and it is white')
    b.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'media': ''})
    pdf = b.driver.execute_cdp_cmd('Page.printToPDF', {'printBackground': True})
    tap.ok(len(pdf['data']) > 20000, 'and it prints')


def test_page(rows):
    with opened(report(DATA / 'stacks.cap')) as b:
        check_page(b, rows)
        check_sorting(b)
        check_cursor(b, rows)
        check_choice(b, rows)
        check_details(b, rows)
        light = check_theme(b)
        check_print(b)
        tap.quiet(b)
    with opened(report(DATA / 'stacks.cap'), fragment='sort.latency=-max_ns&heat=nvme0n1+write&at=slowest', dark=True) as b:
        tap.eq(b.all('#latency th')[11].get_attribute('aria-sort'), 'descending', 'an address brings its order along')
        tap.eq(b.run("return document.querySelector('#section-time select').value"), 'nvme0n1 write', 'and what was chosen')
        tap.ok(b.run('return scrollY') > 500, 'and where one was')
        tap.ok(b.run("return page.color('--paper')") != light, 'where dark is preferred it is dark')
        tap.quiet(b, ', dark')


# The menu stays at the top: what one of its links leads to must not be under it.
UNDER_MENU = """
    return [...document.querySelectorAll('nav a')].filter(link => {
        link.click();
        const menu = document.querySelector('nav').getBoundingClientRect(), title = document.querySelector(`#section-${link.hash.slice(4)} h2`).getBoundingClientRect();
        return title.top < Math.max(0, menu.bottom) || title.bottom > innerHeight;
    }).map(link => link.textContent);"""


def test_phone():
    for name in 'stacks.cap', 'hostile.cap':
        with opened(report(DATA / name), phone=True) as b:
            for node in b.all('details:not([open]) > summary'):
                node.send_keys(Keys.ENTER)
            b.run("document.querySelectorAll('button.more[aria-expanded=false]').forEach(button => button.click())")
            tap.fits_phone(b, f'the report of {name}')
            tap.eq(b.run(UNDER_MENU), [], 'each link of its menu brings its section into sight')
            tap.ok(b.run("return document.querySelector('nav').offsetHeight * 5 < innerHeight"), 'and the menu leaves room for it')


# ---- what is odd ----

def test_hostile():
    with opened(report(DATA / 'hostile.cap')) as b:
        rows = json_lines('report', '-r', DATA / 'hostile.cap')
        tap.eq(b.driver.title, 'iosonar report: hostile.cap', 'no script of the capture ran')
        tap.eq(b.run("return document.querySelectorAll('img, b, i:not(.way i), iframe').length"), 0, 'no element came of it')
        tap.eq(len(b.all('script:not([type])')), 3, 'no script but ours')
        names = {row['comm'] for row in of(rows, 'process')}
        tap.ok({'</script><b>', '<img src=x>', '"\'&amp;=1+1'} <= names, 'names are as they were')
        shown = set(column(b, '#processes', 0))
        tap.ok({'</script><b>', '<img src=x>', '"\'&amp;=1+1', '\\xe2\\x80\\xae rtl', '\\x1b[31mred'} <= shown, 'and shown as text')
        tap.ok("/</script><script>document.title='broken out'</script>" in column(b, '#files', 0), 'so are files')
        tap.ok('</script><script>alert(1)' in b.text('#slow .frames'), 'and frames')
        tap.ok("sh -c '</script><script>alert(1)</script>'" in b.text('header'), 'and the command line')
        tap.quiet(b, ', hostile')


def test_empty():
    with opened(report(DATA / 'cache.cap')) as b:
        tap.eq(len(b.all('section')), 9, 'a capture without commands has its sections')
        tap.ok(len(b.all('.empty')) >= 6, 'that say why they are empty')
        tap.quiet(b, ', empty')


def test_old():
    with opened(report(DATA / 'v1.cap', '--allow-loss')) as b:
        tap.ok('unaccounted 1' in b.text('#section-summary strong.bad'), 'a ledger that is not whole is red')
        tap.ok('--stages' in b.text('#section-stages .empty'), 'what is not in the capture is said')
        tap.eq(len(b.rows('#errors')), 9, 'errors')
        tap.quiet(b, ', old')


def test_filters():
    rows = json_lines('report', '-r', DATA / 'stacks.cap', '--op', 'read', '--if', 'lat > 1ms')
    reads = [row for row in json_lines('trace', '-r', DATA / 'stacks.cap', '--op', 'read', '--if', 'lat > 1ms') if row['type'] == 'trace']
    tap.ok(0 < len(reads) < 17, 'some reads took longer than 1 ms')
    tap.eq([of(rows, 'report')[0]['count'], {row['op'] for row in of(rows, 'latency')}, len(of(rows, 'slow'))],
           [len(reads), {'read'}, len(reads)], '--op and --if choose')
    rows = json_lines('report', '-r', DATA / 'stacks.cap', '--from', '5s', '--top', '3')
    tap.eq([len(of(rows, 'slow')), of(rows, 'report')[0]['from_s'], of(rows, 'moment')[0]['begin_s']], [3, 5, 5], '--from and --top, too')


def test_waits():
    """Beside a capture of commands: the rows that waits has of its own capture."""
    captures = ['-r', DATA / 'stacks.cap', '-r', DATA / 'waits.cap']
    span = ['span', 'time_s', 'wall']
    rows, own = ([{key: value for key, value in row.items() if key not in span} for row in of(lines, 'waits')]
                 for lines in (json_lines('report', *captures), json_lines('waits', '-r', DATA / 'waits.cap')))
    tap.ok(len(own) > 9, 'a capture of waits has rows')
    tap.eq(rows, own, 'calls as waits has them')
    whole = [row for row in json_lines('report', *captures) if row['type'] == 'why']
    tap.eq(whole, [row for row in json_lines('why', *captures) if row['type'] == 'why'], 'and why has read them, too')
    tap.eq(of(json_lines('report', *captures, '--op', 'read'), 'waits'), [], 'calls are of no operation')
    path = os.path.join(tmp.name, 'waits.html')
    iosonar('report', *captures, '--out', path)
    with opened(path) as b:
        tap.ok('What calls waited for' in b.texts('section h2'), 'a section of its own')
        tap.eq(column(b, '#waits', 1), [row['part'] for row in own], 'each part is a row')
        tap.quiet(b, ', waits')
    alone = [{key: value for key, value in row.items() if key not in span} for row in of(json_lines('report', '-r', DATA / 'waits.cap'), 'waits')]
    tap.eq(alone, own, 'so it has without a capture of commands')
    iosonar('report', '-r', DATA / 'waits.cap', '--out', path)
    with opened(path) as b:
        tap.eq(column(b, '#waits', 1), [row['part'] for row in own], 'each part is a row')
        tap.quiet(b, ', waits alone')


def test_many():
    capture = os.path.join(tmp.name, 'many.cap')
    subprocess.run([CAPTURES, 'many', capture], check=True)
    path = report(capture)
    tap.ok(os.path.getsize(path) < 4e6, f'150,000 commands of 24 devices: {os.path.getsize(path)} bytes, not more than 4 MB')
    with opened(path) as b:
        tap.eq(b.text('.tiles dd'), '150,000', 'are all counted')
        tap.eq(column(b, '#processes', 0)[-1], 'other', 'processes beyond the table share a row')
        tap.quiet(b, ', many')


data = same_numbers('stacks.cap')
same_numbers('errors.cap')
sums_agree('stacks.cap', data)
tasks_agree('nvme.cap')
test_page(data)
test_phone()
test_hostile()
test_empty()
test_old()
test_filters()
test_waits()
test_many()
tap.done()
