#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""class and calls -o html: does the page show what is true, under every filter? Rows on the screen are compared with what
-o json says of the same capture; what is clicked, typed, dragged and hovered is looked at; hostile text is looked for as text;
200,000 calls are loaded and scrolled through."""
import os
import pathlib
import re
import tempfile
import time

import traced
from browser import DATA, Keys, iosonar, json_lines, opened, tap
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.ui import Select

tmp_dir = tempfile.TemporaryDirectory()
tmp = pathlib.Path(tmp_dir.name)


def page_of(command, capture, *arguments):
    path = tmp / f'{len(os.listdir(tmp))}.html'
    iosonar(command, '-r', capture, '-o', 'html', '--out', path, *arguments)
    return path


# ---- the truth: what -o json says ----

def ns(seconds):
    return round(seconds * 1e9)


class Truth:
    """Rows as the page orders them: trees by their beginning."""

    def __init__(self, command, capture):
        words = ['--calls'] if command == 'class' else []
        calls = [row for row in json_lines(command, '-r', capture, *words) if row['type'] == 'call']
        trees = []
        for row in calls:
            if not row['depth']:
                trees.append([])
            row['start'] = ns(row['time_s'])
            trees[-1].append(row)
        trees.sort(key=lambda tree: tree[0]['start'])
        self.rows = [row for tree in trees for row in tree]
        for i, row in enumerate(self.rows):
            row['i'] = i
        self.steps, self.transitions = [], []
        if command == 'class':
            lines = json_lines('class', '-r', capture)
            self.steps = [row for row in lines if row['type'] == 'step']
            self.transitions = [row for row in lines if row['type'] == 'transition']
        self.follow()

    def row_of(self, step):
        for row in self.rows:
            at = row['start'] + (row['duration_ns'] if step['what'] == 'leave' else 0)
            if row['function'] == step['function'] and at == ns(step['time_s']) and row['tid'] == step['tid']:
                return row
        return None

    def follow(self):
        """Which object each row is about, what was known of it before, at its entry and at its return."""
        known = {}
        for row in self.rows:
            row.update(numbers=set(), before=None, entered=None, left=None)
        for step in self.steps:
            row, number = self.row_of(step), step['number']
            row['numbers'].add(number)
            before = known.get(number)
            now = dict(before or {})
            for name, value in re.findall(r'(\S+)=(\S+)', step['data'] or ''):
                now[name] = value
            for name, value in re.findall(r'(\S+) \S+ -> ([^\s,]+)', step['data'] or ''):
                now[name] = value
            if step['what'] == 'enter':
                row['before'] = before
            row['entered' if step['what'] == 'enter' else 'left'] = now or None
            known[number] = now or None

    @staticmethod
    def changed(row, member):
        differs = lambda a, b: a and b and a[member] != b[member]  # noqa: E731
        return differs(row['before'], row['entered']) or differs(row['entered'], row['left'])

    @staticmethod
    def line(row):
        arguments = ', '.join((row['arguments'] or '').split(' '))
        return f"{row['function']}({arguments})" + (f" = {row['ret']}" if row['ret'] is not None else '')

    def children(self, row):
        inside = []
        for other in self.rows[row['i'] + 1:]:
            if other['depth'] <= row['depth']:
                break
            inside.append(other)
        return inside


# ---- the screen ----

COLLECT = """
const done = arguments[arguments.length - 1], grid = document.getElementById('calls'), rows = new Map();
const frame = () => new Promise(next => requestAnimationFrame(() => requestAnimationFrame(next)));
(async () => {
    const was = grid.scrollTop;
    for (let y = 0; y <= grid.scrollHeight; y += grid.clientHeight) {
        grid.scrollTop = y;
        await frame();
        for (const node of grid.querySelectorAll('.row')) {
            const cell = name => node.querySelector('.' + name).textContent;
            rows.set(Number(node.getAttribute('aria-rowindex')), {
                i: Number(node.dataset.row), time: cell('time'), cpu: cell('cpu'), task: cell('task'), delta: cell('delta'),
                duration: cell('duration'), object: cell('object'), call: cell('text'), level: Number(node.getAttribute('aria-level')),
                selected: node.getAttribute('aria-selected') === 'true', data: node.classList.contains('data'),
                expanded: node.getAttribute('aria-expanded'),
            });
        }
    }
    grid.scrollTop = was;
    await frame();
    done([...rows].sort((a, b) => a[0] - b[0]).map(([, row]) => row));
})();
"""


def on_screen(b):
    b.driver.set_script_timeout(60)
    return b.driver.execute_async_script(COLLECT)


def numbers(b):
    return [row['i'] for row in on_screen(b)]


def shows(b, truth, test, what):
    want = [row['i'] for row in truth.rows if test(row)]
    tap.eq(numbers(b), want, f'{what}: {len(want)} rows, those that are meant')
    tap.ok(b.text('#status').startswith(f'{len(want)} of {len(truth.rows)} calls'), f'{what}: their number is told')


def durations(b, values):
    return b.run("return arguments[0].map(v => v === null ? '–' : page.format.duration(v))", values)


def pick(b, name, value):
    Select(b.find(f'#filter-{name}')).select_by_value(value)


def write(b, name, words):
    field = b.find(f'#filter-{name}')
    field.clear()
    field.send_keys(words, Keys.ENTER)


def search(b, words):
    field = b.find('#search')
    field.clear()
    field.send_keys(words or ' ', *([] if words else [Keys.BACKSPACE]))
    time.sleep(.6)


def click_row(b, row, inside='.text'):
    b.run("const grid = document.getElementById('calls'); const n = document.getElementById('row-' + arguments[0]); if (!n) throw 'not there'", row)
    b.find(f'#row-{row} {inside}').click()


def parameters(b):
    return b.run('return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))')


# ---- what is there ----

def all_rows(command, name):
    truth = Truth(command, DATA / name)
    with opened(page_of(command, DATA / name), fragment='types=no') as b:
        rows = on_screen(b)
        tap.eq([row['call'] for row in rows], [truth.line(row) for row in truth.rows], f'{name}: every call, with arguments and return value')
        tap.eq([row['time'] for row in rows], [f"{row['time_s']:.9f}" for row in truth.rows], f'{name}: when')
        tap.eq([(row['cpu'], row['task']) for row in rows], [(str(row['cpu']), f"{row['comm']} [{row['pid']}]") for row in truth.rows],
               f'{name}: where, and who')
        tap.eq([row['duration'] for row in rows], durations(b, [row['duration_ns'] for row in truth.rows]), f'{name}: how long')
        tap.eq([row['level'] - 1 for row in rows], [row['depth'] for row in truth.rows], f'{name}: how deep')
        starts = [row['start'] for row in truth.rows]
        tap.eq([row['delta'].replace('−', '+') for row in rows[1:]],
               ['+' + text for text in durations(b, [abs(y - x) for x, y in zip(starts, starts[1:])])], f'{name}: since the row above')
        b.run("document.getElementById('types').click()")
        typed = b.text('#row-0 .text')
        tap.ok('struct ' in typed and '*' in typed, f'{name}: arguments have their types: {typed[:60]}')
        tap.quiet(b, f': {name}')


# ---- filters ----

def filters(b, truth):
    pick(b, 'function', 'submit_bio')
    shows(b, truth, lambda r: r['function'] == 'submit_bio', 'by function')
    b.find('#reset').click()
    pick(b, 'task', 'swapper/1 [0]')
    shows(b, truth, lambda r: r['comm'] == 'swapper/1', 'by task')
    pick(b, 'function', 'bio_endio')
    shows(b, truth, lambda r: r['comm'] == 'swapper/1' and r['function'] == 'bio_endio', 'by task and function')
    b.find('#reset').click()
    pick(b, 'object', '2')
    shows(b, truth, lambda r: 2 in r['numbers'], 'by object')
    b.find('#reset').click()
    for member in ['bi_iter.bi_size', 'bi_flags', 'bi_opf', 'bi_status']:
        pick(b, 'member', member)
        shows(b, truth, lambda r, m=member.split('.')[-1]: truth.changed(r, m), f'that changed {member}')
    b.find('#reset').click()
    write(b, 'min', '5ms')
    shows(b, truth, lambda r: r['duration_ns'] >= 5_000_000, 'that took at least 5ms')
    write(b, 'max', '50 ms')
    shows(b, truth, lambda r: 5_000_000 <= r['duration_ns'] <= 50_000_000, 'and at most 50ms')
    write(b, 'min', 'soon')
    tap.eq(b.find('#filter-min').get_attribute('aria-invalid'), 'true', 'a duration that is none is refused')
    b.find('#reset').click()
    search(b, 'MERGE')
    shows(b, truth, lambda r: 'merge' in truth.line(r).lower(), 'that a search finds')
    tap.ok(all('merge' in text.lower() for text in b.texts('#calls mark')) and b.texts('#calls mark'), 'what was searched for is marked')
    search(b, 'page_pinned')
    flags = lambda r: [(r[at] or {}).get('bi_flags', '') for at in ('before', 'entered', 'left')]  # noqa: E731
    want = [r['i'] for r in truth.rows if truth.changed(r, 'bi_flags') and any('PAGE_PINNED' in words for words in flags(r))]
    tap.eq(numbers(b), want, 'a search finds values that changed')
    search(b, '')
    b.find('#only-data').click()
    shows(b, truth, lambda r: r['entered'] or r['left'], 'only with data')
    b.find('#only-data').click()


def cpus(truth, path):
    with opened(path) as b:
        b.find('[data-cpu="0"]').click()
        shows(b, truth, lambda r: r['cpu'] != 0, 'without CPU 0')
        b.find('[data-cpu="2"]').click()
        shows(b, truth, lambda r: r['cpu'] in (1, 3), 'without CPU 2')
        hash_ = b.run('return location.hash.slice(1)')
        for cpu in (1, 3):
            b.find(f'[data-cpu="{cpu}"]').click()
        shows(b, truth, lambda r: False, 'without any CPU')
        b.find('#reset').click()
        shows(b, truth, lambda r: True, 'with all CPUs again')
        b.find('#by-time').click()
        starts = [truth.rows[i]['start'] for i in numbers(b)]
        tap.eq(starts, sorted(starts), 'strictly by time')
        tap.quiet(b, ': CPUs')
    with opened(path, fragment=hash_) as b:
        shows(b, truth, lambda r: r['cpu'] in (1, 3), 'CPUs out of the address')


# ---- folding, selecting ----

def folding(b, truth):
    root = next(r for r in truth.rows if r['function'] == 'submit_bio_wait')
    inside = {r['i'] for r in truth.children(root)}
    click_row(b, root['i'], '.twisty')
    shows(b, truth, lambda r: r['i'] not in inside, 'a folded call hides what is inside it')
    tap.ok('1 folded' in b.text('#status'), 'folded calls are counted')
    click_row(b, root['i'], '.twisty')
    shows(b, truth, lambda r: True, 'and unfolds')
    b.find('#fold-all').click()
    shows(b, truth, lambda r: r['depth'] == 0, 'all are folded')
    b.find('#unfold-all').click()
    click_row(b, root['i'])
    grid = b.find('#calls')
    grid.send_keys(Keys.ARROW_LEFT)
    shows(b, truth, lambda r: r['i'] not in inside, 'the left arrow folds')
    grid.send_keys(Keys.ARROW_RIGHT)
    shows(b, truth, lambda r: True, 'the right arrow unfolds')
    grid.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    tap.eq(parameters(b)['row'], str(root['i'] + 2), 'the down arrow goes down')
    grid.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    tap.eq(parameters(b)['row'], str(root['i'] + 1), 'the left arrow folds, then goes to the caller')
    b.find('#unfold-all').click()
    b.find('#clear-selection').click()


def selecting(b, truth):
    selected = lambda: [row['i'] for row in on_screen(b) if row['selected']]  # noqa: E731
    click_row(b, 2)
    click_row(b, 6)
    tap.eq(selected(), [2, 6], 'a click selects')
    b.find('#select-between').click()
    tap.eq(selected(), [2, 3, 4, 5, 6], 'select between takes all between')
    b.find('#only-selected').click()
    shows(b, truth, lambda r: 2 <= r['i'] <= 6, 'only selected ones')
    b.find('#only-selected').click()
    click_row(b, 3)
    tap.eq(selected(), [2, 4, 5, 6], 'another click takes it back')
    b.find('#calls').send_keys(' ', Keys.ARROW_DOWN, Keys.ARROW_DOWN, ' ')
    tap.eq(selected(), [2, 3, 4, 6], 'the space bar does the same')
    b.find('#clear-selection').click()
    tap.eq(selected(), [], 'clear selection')


# ---- members, code ----

def words_of(row):
    """As the table has them: previous -> at entry, at entry -> at return."""
    change = lambda a, b: '–' if b is None else b if a is None or a == b else f'{a} → {b}'  # noqa: E731
    names = list((row['entered'] or row['left']).keys())
    get = lambda s, n: s[n] if s else None  # noqa: E731
    return [[n, '–' if not row['entered'] else change(get(row['before'], n), row['entered'][n])]
            + ([change(get(row['entered'], n), row['left'][n])] if row['left'] else []) for n in names]


def table(b, css):
    return b.run("return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map(r => [...r.cells].map(c => c.textContent))", css)


def members(b, truth):
    rows = [r for r in truth.rows[:14] if r['entered'] or r['left']]
    for row in rows[:8]:
        click_row(b, row['i'])
        tap.eq(table(b, '#panel .members'), words_of(row), f"selected {row['function']}: its members, previous -> now")
        ActionChains(b.driver).move_to_element(b.find('h1')).move_to_element(b.find(f"#row-{row['i']} .text")).perform()
        tap.eq(table(b, '#tip .members'), words_of(row), f"hovered {row['function']}: the same")
    ActionChains(b.driver).move_to_element(b.find('h1')).perform()
    tap.ok(not b.find('#tip').is_displayed(), 'nothing is hovered any more')
    b.find('#clear-selection').click()


def code(b):
    tap.eq(b.text('#panel .prototype'), 'void bio_init(struct bio *bio, struct block_device *bdev)', 'the prototype')
    tap.eq(b.texts('#panel .layout summary code'), ['struct bio'], 'the structs that it takes, as far as they are known')
    lines = b.texts('#panel .layout .line')
    tap.eq(lines[:2] + lines[4:9], ['struct bio {', '    struct bio *bi_next;0 · 8', '    unsigned int bi_flags:4;36 · 0:4', '    union {40 · 8',
                                    '        void *bi_private;40 · 8', '        void (*bi_end_io)(struct bio *);40 · 8', '};'], 'its layout')
    tap.eq(b.texts('#panel .layout .used'), ['    struct block_device *bi_bdev;8 · 8', '    struct bvec_iter bi_iter;16 · 20',
                                             '    unsigned int bi_flags:4;36 · 0:4'], 'members that are followed are marked')


SOURCE = """/* bio_init(struct bio *bio) { is not here */
void bio_init(struct bio *bio, struct block_device *bdev);

static void caller(void)
{
	bio_init(NULL, NULL);
}

void bio_init(struct bio *bio,
	      struct block_device *bdev)
{
	if (bio) { /* </script><b> */
		bio->bi_bdev = bdev;
	}
}
EXPORT_SYMBOL(bio_init);
"""


def source(capture):
    tree = tmp / 'tree'
    (tree / 'block').mkdir(parents=True)
    (tree / 'a').mkdir()
    (tree / 'block/bio.c').write_text(SOURCE)
    (tree / 'a/other.c').write_text('int bio_init(void)\n{\n}\n\nstatic int\nsubmit_bio(struct bio *bio)\n{\n\treturn 0;\n}\n')
    with opened(page_of('class', capture, '--source', tree), fragment='row=0') as b:
        tap.eq(b.text('#panel .mono'), 'block/bio.c:9', 'where it is defined')
        tap.eq(b.texts('#panel .source .line'), SOURCE.splitlines()[8:15], 'and its lines')
        b.run("location.hash = 'row=2'")
        time.sleep(.3)
        tap.eq(b.texts('#panel .source .line'), ['static int', 'submit_bio(struct bio *bio)', '{', '\treturn 0;', '}'], 'a type above the name')
        b.run("location.hash = 'row=4'")
        time.sleep(.3)
        tap.eq(b.all('#panel .source'), [], 'what is not in the tree has no lines')
        tap.quiet(b, ': source')


# ---- time ----

def dragging(b, truth):
    canvas = b.find('#timeline')
    width = b.run("return document.getElementById('timeline').clientWidth")
    for lanes in ['cpu', 'object']:
        b.find(f'#lanes-{lanes}').click()
        ActionChains(b.driver).move_to_element_with_offset(canvas, -width // 8, 0).click_and_hold().move_by_offset(width // 8, 3) \
            .move_by_offset(width // 8, 0).release().perform()
        chosen = parameters(b)
        begin, end = int(chosen['from']), int(chosen['to'])
        span = truth.rows[-1]['start'] - truth.rows[0]['start']
        tap.ok(span / 6 < end - begin < span / 3, f'a quarter of the canvas is about a quarter of the time, by {lanes}: {end - begin} of {span}')
        shows(b, truth, lambda r, f=begin, t=end: f <= r['start'] < t, f'in the range that was dragged, by {lanes}')
    b.find('#all-time').click()
    shows(b, truth, lambda r: True, 'all time again')
    canvas.send_keys(Keys.ARROW_RIGHT)
    first = parameters(b)
    canvas.send_keys(Keys.ARROW_RIGHT)
    second = parameters(b)
    canvas.send_keys(Keys.SHIFT, Keys.ARROW_RIGHT, Keys.NULL)
    third = parameters(b)
    tap.ok(int(first['from']) < int(second['from']) == int(third['from']) and int(second['to']) < int(third['to']), 'arrow keys move the range, Shift widens it')
    shows(b, truth, lambda r: int(third['from']) <= r['start'] < int(third['to']), 'in the range that keys chose')
    canvas.send_keys('z')
    canvas.send_keys(Keys.ESCAPE)
    shows(b, truth, lambda r: True, 'Escape takes it back')
    write(b, 'from', '600ms')
    write(b, 'to', '1s')
    shows(b, truth, lambda r: 600_000_000 <= r['start'] < 1_000_000_000, 'in the range that was written')
    b.find('#reset').click()
    b.find('#lanes-cpu').click()


# ---- sums ----

def percentile(values, percent):
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)]


def statistics(b, truth, test=lambda r: True):
    b.find('#tab-functions').click()
    rows = [r for r in truth.rows if test(r)]
    want = {}
    for name in {r['function'] for r in rows}:
        own = [r for r in rows if r['function'] == name]
        times = [r['duration_ns'] for r in own]
        self_ns = sum(r['duration_ns'] - sum(c['duration_ns'] for c in truth.children(r) if c['depth'] == r['depth'] + 1) for r in own)
        want[name] = [str(len(own)), *durations(b, [sum(times), self_ns, sum(times) / len(times), percentile(times, 50), percentile(times, 99), max(times)])]
    got = {row[0]: row[1:4] + row[5:9] for row in b.rows('#functions')}
    tap.eq(got, want, f'statistics of {len(want)} functions: count, total, self, avg, p50, p99, max')
    b.find('#tab-calls').click()


def transitions(b, truth):
    b.find('#tab-transitions').click()
    want = {(t['from'], t['to']): [str(t['count']), *durations(b, [t['max_ns'], t['total_ns']])] for t in truth.transitions}
    got = {(r[0], r[1]): [r[2], r[5], r[6]] for r in b.rows('#transitions')}
    tap.eq(got, want, f'transitions: the {len(want)} that class counts')
    tap.eq(len(b.all('#ways .edge')), len(want), 'an arrow for each')
    tap.eq(sorted(b.texts('#ways .node title')), sorted({name for pair in want for name in pair}), 'a node for each function')
    b.run("document.querySelector('#ways .node').dispatchEvent(new MouseEvent('click'))")
    tap.eq(parameters(b).get('fn'), b.run("return document.getElementById('filter-function').value"), 'a node shows its calls')
    b.find('#reset').click()
    b.find('#tab-objects').click()
    tap.eq([r[0] for r in b.rows('#objects')], ['bio 1', 'bio 2', 'bio 3'], 'objects')
    b.find('#tab-calls').click()


# ---- the address ----

def restoring(path, truth):
    with opened(path) as b:
        write(b, 'min', '1ms')
        pick(b, 'object', '1')
        search(b, 'bio')
        click_row(b, 4)
        click_row(b, 6)
        click_row(b, 9, '.twisty')
        b.find('#by-time').click()
        before, fragment = on_screen(b), b.run('return location.hash.slice(1)')
    with opened(path, fragment=fragment) as b:
        tap.eq(on_screen(b), before, 'the address restores filters, selection and folding')
        tap.eq((b.find('#search').get_attribute('value'), b.find('#filter-min').get_attribute('value'), b.find('#filter-object').get_attribute('value')),
               ('bio', '1ms', '1'), 'and what the fields hold')
        tap.eq(b.text('#panel h2'), truth.rows[6]['function'], 'and which call is current')
    with opened(path, fragment='sel=5-3,99999,x&row=77777&cpu=%2C&fn=nothing&object=9e9&from=-1&view=<b>&fold=,,&min=NaN') as b:
        tap.eq(on_screen(b), [], 'an address that makes no sense shows nothing')
        b.find('#reset').click()
        shows(b, truth, lambda r: True, 'and is forgotten')
        tap.quiet(b, ': nonsense')


# ---- hostile, many, paper ----

def is_plain(data):
    return re.sub(r'[\x00-\x1f\x7f-\x9f\u202e]', lambda m: '\\u{%x}' % ord(m.group()), data.decode(errors='replace'))


def hostile(path):
    with opened(path) as b:
        tasks = {row['task'] for row in on_screen(b)}
        for comm in traced.HOSTILE[:5]:
            tap.ok(any(task.startswith(is_plain(comm)) for task in tasks), f'{comm!r} is shown as text')
        tap.eq(b.run('return document.title'), 'iosonar class bio', 'no text became a script')
        tap.eq(b.run("return document.querySelectorAll('img, iframe, #calls script, #calls b:not(.chip b), #about b').length"), 0, 'nor an element')
        tap.eq(b.text('#about').count('</script><b>'), 1, 'nor what the capture says of itself')
        tap.quiet(b, ': hostile')


def many(nr):
    capture = tmp / 'many.cap'
    traced.many(capture, nr)
    path = page_of('class', capture)
    calls = nr // 6 * 6
    with opened(path) as b:
        b.wait('return document.documentElement.dataset.ready != null', True)
        ready = int(b.run('return document.documentElement.dataset.ready'))
        tap.ok(ready < 10_000, f'{calls} calls are there after {ready} ms, of {path.stat().st_size >> 20} MiB')
        tap.eq(b.text('#status'), f'{calls:,} of {calls:,} calls', 'all of them')
        tap.ok(len(b.all('#calls .row')) < 100, f"{len(b.all('#calls .row'))} of them are elements")
        took = b.driver.execute_async_script("""
            const done = arguments[0], grid = document.getElementById('calls'), frames = [];
            let step = 0, last = performance.now();
            const next = now => {
                frames.push(now - last);
                last = now;
                grid.scrollTop += 4000;
                step++ < 40 ? requestAnimationFrame(next) : done(frames.sort((a, b) => a - b)[20]);
            };
            requestAnimationFrame(next);""")
        tap.ok(took < 200, f'scrolling takes {took:.0f} ms a frame')
        b.find('#calls').send_keys(Keys.END)
        tap.eq(b.run(f"return document.getElementById('row-{calls - 1}')?.querySelector('.fn').textContent"), 'bio_uninit', 'the last one is at the end')
        pick(b, 'function', 'bio_endio')
        tap.eq(b.text('#status'), f'{calls // 6:,} of {calls:,} calls', 'filtered')
        tap.quiet(b, ': many')


def paper(b, truth):
    b.run("dispatchEvent(new Event('beforeprint'))")
    tap.eq(len(b.all('.printed tbody tr')), len(truth.rows), 'on paper are all rows, not those on the screen')
    b.run("dispatchEvent(new Event('afterprint'))")
    tap.eq(b.all('.printed'), [], 'and nothing of that stays')


# ---- all of it ----

all_rows('class', 'class.cap')
all_rows('calls', 'calls.cap')
class_truth, class_page = Truth('class', DATA / 'class.cap'), page_of('class', DATA / 'class.cap')
with opened(class_page) as browser:
    for part in [filters, folding, selecting, members, dragging, statistics, transitions, paper]:
        part(browser, class_truth)
    tap.eq(browser.text('#no-layout'), 'This capture has no struct layouts. An older version of iosonar recorded it.', 'an older capture says that it has no layout')
    tap.quiet(browser, ': class.cap')
restoring(class_page, class_truth)
hostile_capture = tmp / 'hostile.cap'
traced.hostile(hostile_capture)
hostile_page = page_of('class', hostile_capture)
cpus(Truth('class', hostile_capture), hostile_page)
hostile(hostile_page)
with opened(hostile_page, fragment='row=0') as browser:
    code(browser)
source(hostile_capture)
many(200_000)
tap.done()
