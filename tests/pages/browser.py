# SPDX-License-Identifier: BSD-2-Clause
"""browser.py: a page from disk in headless Chromium, and what it did there: console, requests. TAP.

    with opened(path) as b:                 # or opened(path, fragment='theme=dark', dark=True, phone=True)
        tap.eq(b.text('h1'), 'Report', 'has a heading')
        tap.quiet(b)                        # nothing on the console, nothing asked of anybody

It needs Debian's chromium, chromium-driver and python3-selenium.
"""
import atexit
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tap as tap_lines  # noqa: E402
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys  # noqa: F401, for the tests

ROOT = pathlib.Path(__file__).resolve().parents[2]
IOSONAR = os.environ.get('IOSONAR', str(ROOT / 'build/iosonar'))
CAPTURES = pathlib.Path(IOSONAR).resolve().parent / 'captures'  # tests/pages/captures.c
DATA = ROOT / 'tests/data'


PHONE = {'width': 360, 'height': 740, 'deviceScaleFactor': 2, 'mobile': True}  # the narrowest in use; a desktop's window is wider

# What neither the window shows nor anything that scrolls brings into it, and text that is cut off without a title.
OUT_OF_SIGHT = """
    const root = document.documentElement, out = [];
    const style = node => getComputedStyle(node), scrolls = node => node === root || /auto|scroll/.test(style(node).overflowX);
    for (const node of document.body.querySelectorAll('*')) {
        const box = node.getBoundingClientRect();
        if (!box.width || !box.height)
            continue;
        let above = node.parentElement;
        while (!scrolls(above))
            above = above.parentElement;
        const left = box.left - (above === root ? 0 : above.getBoundingClientRect().left) + above.scrollLeft;
        const isCut = style(node).overflowX === 'hidden' && node.scrollWidth > node.clientWidth + 1 && !node.title && !node.matches('.hidden');
        if (left < -1 || left + box.width > above.scrollWidth + 1 || isCut)
            out.push(node.outerHTML.slice(0, 100));
    }
    return out;"""

# What can be used, but is covered by something else when it is scrolled into sight.
OUT_OF_REACH = """
    return [...document.querySelectorAll('a[href], button, select, input, summary, svg.chart')].filter(node => {
        node.scrollIntoView({block: 'nearest', inline: 'center', behavior: 'instant'});
        const box = node.getBoundingClientRect(), at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
        return box.width && !node.contains(at);
    }).map(node => node.outerHTML.slice(0, 100));"""


class Tap(tap_lines.Tap):
    """With what every page has to be."""

    def fits_phone(self, browser, what):
        sizes = browser.run('return [innerWidth, document.documentElement.scrollWidth, visualViewport.scale]')
        self.eq(sizes, [PHONE['width'], PHONE['width'], 1], f'{what} on a phone: as wide as its screen')
        self.eq(browser.run(OUT_OF_SIGHT), [], f'{what} on a phone: everything can be brought into sight')
        self.eq(browser.run(OUT_OF_REACH), [], f'{what} on a phone: whatever can be used can be touched')

    def quiet(self, browser, what=''):
        self.eq(browser.console(), [], f'no word on the console{what}')
        self.eq(browser.strangers(), [], f'no request leaves the page{what}')


tap = Tap()


def iosonar(*arguments, status=0):
    """Its standard output."""
    done = subprocess.run([IOSONAR, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != status:
        print(f'Bail out! iosonar {arguments}: {done.returncode}, {done.stderr}')
        sys.exit(1)
    return done.stdout


def json_lines(*arguments):
    return [json.loads(line) for line in iosonar(*arguments, '-o', 'json').split('\n') if line]


class Browser:
    def __init__(self, driver, url):
        self.driver, self.url, self.said, self.asked = driver, url, [], []

    def find(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def text(self, css):
        """As it is in the document, whether it is on the screen or not."""
        return self.find(css).get_property('textContent')

    def texts(self, css):
        return self.run('return [...document.querySelectorAll(arguments[0])].map(n => n.textContent)', css)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, wanted, seconds=20):
        """What it returns, once it is as wanted, or when nobody waits any longer."""
        end = time.monotonic() + seconds
        while (got := self.run(script)) != wanted and time.monotonic() < end:
            time.sleep(.05)
        return got

    def rows(self, css):
        """A table's cells, as they are shown, once it is there."""
        self.wait(f'return document.querySelector({json.dumps(css)}) != null', True)
        return self.run("return [...document.querySelector(arguments[0]).querySelectorAll('tbody tr')]"
                        '.map(r => [...r.cells].map(c => c.textContent))', css)

    def console(self):
        self.said += [entry['message'] for entry in self.driver.get_log('browser')]
        return self.said

    def strangers(self):
        """Every request but that for the page itself; what a policy forbade was asked for, too."""
        for entry in self.driver.get_log('performance'):
            message = json.loads(entry['message'])['message']
            if message['method'] == 'Network.requestWillBeSent' and not ours(message['params']['documentURL']):
                self.asked.append(message['params']['request']['url'])
        return [url for url in self.asked if url.split('#')[0] != self.url]

    def screenshot(self, path, full=True):
        if full:
            height = self.run('return document.documentElement.scrollHeight')
            self.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
                'width': self.run('return innerWidth'), 'height': height, 'deviceScaleFactor': 1, 'mobile': False})
        return self.driver.save_screenshot(str(path))


def ours(document):
    """The browser has pages of its own, and we begin with an empty one."""
    return document.startswith(('chrome://', 'about:'))


def start(dark, size):
    options = Options()
    profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    options.binary_location = '/usr/bin/chromium'
    for argument in ['--headless=new', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars',
                     '--disable-background-networking', '--disable-component-update', '--no-first-run',
                     f'--window-size={size[0]},{size[1]}', f'--user-data-dir={profile.name}', 'about:blank']:
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument('--no-sandbox')
    if dark:
        options.add_argument('--force-dark-mode')
        options.add_argument('--blink-settings=preferredColorScheme=0')
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
    driver = webdriver.Chrome(service=Service('/usr/bin/chromedriver'), options=options)
    atexit.register(profile.cleanup)
    atexit.register(driver.quit)  # before its profile goes
    return driver


started = {}  # a start takes longer than most pages


def visit(url, fragment='', dark=False, size=(1280, 900), phone=False):
    if (dark, size) not in started:
        started[dark, size] = start(dark, size)
    driver = started[dark, size]
    driver.get('about:blank')
    for kind in ['browser', 'performance']:
        driver.get_log(kind)
    driver.execute_cdp_cmd(f'Emulation.{"set" if phone else "clear"}DeviceMetricsOverride', PHONE if phone else {})
    driver.get(url + ('#' + fragment if fragment else ''))
    return Browser(driver, url)


@contextlib.contextmanager
def opened(path, **how):
    yield visit(pathlib.Path(path).resolve().as_uri(), **how)
