# SPDX-License-Identifier: BSD-2-Clause
"""tap.py: cases of a test in Python, as TAP, and the plan at the end."""
import sys


class Tap:
    """Cases, and the plan at the end."""

    def __init__(self):
        self.nr = self.failed = 0

    def ok(self, good, what):
        self.nr += 1
        self.failed += not good
        print(f"{'' if good else 'not '}ok {self.nr} - {what}", flush=True)
        return good

    def eq(self, got, want, what):
        if not self.ok(got == want, what):
            print(f'# got  {got!r}\n# want {want!r}', flush=True)

    def skip(self, what, why):
        self.nr += 1
        print(f'ok {self.nr} - {what} # SKIP {why}', flush=True)

    def done(self):
        print(f'1..{self.nr}')
        sys.exit(self.failed > 0)
