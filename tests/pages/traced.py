# SPDX-License-Identifier: BSD-2-Clause
"""traced.py: captures of traced calls that no kernel made, written by docs/capture-format.md alone: many calls, hostile texts,
layouts of structs.

    capture = Capture('bio', FIELDS, FUNCTIONS, LAYOUTS)
    capture.enter(ns, 'submit_bio', task, [0xffff1000], 0xffff1000, members); capture.leave(...)
    capture.write(path)
"""
import struct

PLAIN, POINTER = 0, 4  # units: src/probe/lang/value.h


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ 0x82F63B78 * (byte & 1)
        table.append(byte)
    return table


TABLE = crc_table()


def crc32c(data):
    crc, table = 0xFFFFFFFF, TABLE
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def zigzag(n):
    return varint(n << 1 if n >= 0 else (-n << 1) - 1)


def text(words):
    data = words if isinstance(words, bytes) else words.encode()
    return varint(len(data)) + data


def chunk(kind, payload, count, times=(0, 0)):
    head = struct.pack('<4sBBHIIQQQQI8x', b'IOC1', kind, 0, 0, len(payload), count, 0, 0, *times, crc32c(payload))
    return head + struct.pack('<I', crc32c(head)) + payload


def part(name, is_text=False, size=8, unit=PLAIN):
    return text(name) + varint(1 if is_text else 0) + varint(size) + varint(unit) + varint(0)


class Function:
    """role: None, 'birth', 'death'; arguments: the object is one of them, by name; ret: it returns a number."""

    def __init__(self, name, prototype, arguments, ret=False, role=None, has_object=True):
        self.name, self.prototype, self.arguments, self.ret, self.role = name, prototype, arguments, ret, role
        self.has_object = has_object

    def place(self, fields, is_return):
        role = {None: 0, 'birth': 1, 'death': 2}[None if is_return else self.role]
        own = [part('ret')] * self.ret if is_return else [part(name, unit=POINTER) for name in self.arguments]
        tail = [part('object', unit=POINTER)] if self.has_object else []
        if self.has_object and (is_return or self.role != 'birth'):
            tail += [part(name, is_text, 32 if is_text else 8) for name, is_text in fields]
        parts = own + tail
        return varint(self.has_object | role << 1 | 8) + varint(len(parts)) + b''.join(parts)


class Capture:
    def __init__(self, name, fields, functions, layouts=None, start_ns=1_000_000_000):
        self.name, self.fields, self.functions, self.layouts = name, fields, functions, layouts
        self.number = {f.name: i for i, f in enumerate(functions)}
        self.start_ns, self.nth, self.chunks, self.hits = start_ns, {}, [], 0
        self.begin()

    def begin(self):
        self.out, self.count, self.first, self.last, self.who = bytearray(), 0, 0, 0, None

    def flush(self):
        if self.count:
            self.chunks.append(chunk(15, bytes(self.out), self.count, (self.first, self.last)))
        self.begin()

    def record(self, ns, number, cpu, task, values, whom):
        """A number, or a text as bytes, each; whom it is about counts its records."""
        ns += self.start_ns
        if not self.count:
            self.first = self.last = ns
        self.out += zigzag(ns - self.last) + varint(number) + varint(cpu)
        self.last = max(ns, self.last)
        pid, tid, comm = task
        self.out += b'\1' if task == self.who else b'\0' + varint(pid) + varint(tid) + text(comm)
        self.who = task
        self.nth[whom] = self.nth.get(whom, 0) + 1
        self.out += varint(self.nth[whom])
        for value in values:
            self.out += text(value) if isinstance(value, bytes) else varint(value)
        self.count += 1
        self.hits += 1
        if len(self.out) > 1 << 16:
            self.flush()

    def enter(self, ns, name, cpu, task, arguments, obj=None, members=()):
        f = self.functions[self.number[name]]
        tail = [obj, *([] if f.role == 'birth' else members)] if f.has_object else []
        self.record(ns, 2 * self.number[name], cpu, task, [*arguments, *tail], obj if f.has_object else task)

    def leave(self, ns, name, cpu, task, ret=None, obj=None, members=()):
        f = self.functions[self.number[name]]
        values = [*([ret] if f.ret else []), *([obj, *members] if f.has_object else [])]
        self.record(ns, 2 * self.number[name] + 1, cpu, task, values, obj if f.has_object else task)

    def called(self):
        out = text(self.name) + varint(len(self.fields)) + b''.join(text(name) for name, _ in self.fields) + varint(0)
        out += varint(len(self.functions))
        for f in self.functions:
            out += text(f.name) + text('') + text(f.prototype) + f.place(self.fields, False) + f.place(self.fields, True)
        if self.layouts is None:
            return out
        out += varint(len(self.layouts))
        for name, size, members in self.layouts:
            out += text(name) + varint(size) + varint(2 * len(members))
            for declared, depth, bit, bits in members:
                out += text(declared) + varint(depth) + varint(bit) + varint(bits)
        return out

    def write(self, path, skipped=0):
        """skipped: hits that the kernel did not show us."""
        self.flush()
        info = {'iosonar': '0.1', 'kernel': '6.12 </script><b>', 'machine': 'aarch64', 'command': 'iosonar class bio -w x.cap',
                'start_ns': str(self.start_ns), 'end_ns': str(self.start_ns + 10**12)}
        counts = varint(16) + b''.join(varint(self.hits if i in (0, 3) else 0) for i in range(16)) + varint(skipped) + b'\1'
        counts += b''.join(varint(whom) + varint(nth) for whom, nth in self.nth.items() if isinstance(whom, int))
        head = b'\x89IOSONAR' + struct.pack('<HH', 1, 0)
        body = head + struct.pack('<I', crc32c(head))
        body += chunk(1, b''.join(text(k) + text(v) for k, v in info.items()), len(info))
        body += chunk(4, struct.pack('<QQQ', self.start_ns, self.start_ns, 1_700_000_000_000_000_000), 1)
        body += chunk(14, self.called(), len(self.functions)) + b''.join(self.chunks) + chunk(16, counts, 1)
        trailer = varint(0) + text('done') + b'\0\0'
        size = len(body) + 64 + 8 + len(trailer)
        path.write_bytes(body + chunk(6, struct.pack('<Q', size) + trailer, 1))


# ---- some ----

FIELDS = [('bi_iter.bi_size', False), ('bi_flags', False), ('bi_bdev->bd_disk->disk_name', True)]
FUNCTIONS = [
    Function('bio_init', 'void bio_init(struct bio *bio, struct block_device *bdev)', ['bio', 'bdev'], role='birth'),
    Function('bio_add_page', 'int bio_add_page(struct bio *bio, struct page *page, void (*fn)(int, int))', ['bio', 'page', 'fn'], ret=True),
    Function('submit_bio', 'void submit_bio(struct bio *bio)', ['bio']),
    Function('blk_mq_submit_bio', 'void blk_mq_submit_bio(struct bio *bio)', ['bio']),
    Function('bio_endio', 'void bio_endio(struct bio *bio)', ['bio']),
    Function('bio_uninit', 'void bio_uninit(struct bio *bio)', ['bio'], role='death'),
]
LAYOUTS = [
    ('struct bio', 128, [('struct bio *bi_next', 0, 0, 64), ('struct block_device *bi_bdev', 0, 64, 64),
                         ('struct bvec_iter bi_iter', 0, 128, 160), ('unsigned int bi_flags:4', 0, 288, 4), ('union {', 0, 320, 64),
                         ('void *bi_private', 1, 320, 64), ('void (*bi_end_io)(struct bio *)', 1, 320, 64)]),
    ('struct bvec_iter', 20, [('sector_t bi_sector', 0, 0, 64), ('unsigned int bi_size', 0, 64, 32)]),
    ('struct page', 64, [('</script><script>document.title=1</script>', 0, 0, 64)]),
]


def life(capture, at, address, cpu, task, irq, disk, took=50_000):
    """A bio: 6 calls, 12 records."""
    member = lambda size, flags: (size, flags, disk)  # noqa: E731
    capture.enter(at, 'bio_init', cpu, task, [address, 0xFFFF00], address)
    capture.leave(at + 300, 'bio_init', cpu, task, None, address, member(0, 0))
    capture.enter(at + 500, 'bio_add_page', cpu, task, [address, 0xFFFFFD, 7], address, member(0, 0))
    capture.leave(at + 900, 'bio_add_page', cpu, task, 4096, address, member(4096, 0))
    capture.enter(at + 1000, 'submit_bio', cpu, task, [address], address, member(4096, 0))
    capture.enter(at + 1200, 'blk_mq_submit_bio', cpu, task, [address], address, member(4096, 0))
    capture.leave(at + 1800, 'blk_mq_submit_bio', cpu, task, None, address, member(4096, 4))
    capture.leave(at + 2000, 'submit_bio', cpu, task, None, address, member(4096, 4))
    capture.enter(at + took, 'bio_endio', cpu, irq, [address], address, member(4096, 4))
    capture.leave(at + took + 700, 'bio_endio', cpu, irq, None, address, member(4096, 0))
    capture.enter(at + took + 900, 'bio_uninit', cpu, irq, [address], address, member(4096, 0))
    capture.leave(at + took + 1000, 'bio_uninit', cpu, irq, None, address, member(4096, 0))


HOSTILE = [b'</script><b>x', b'<img src=x>', b'"\'&amp;=', b'\x1b[31mred', '\u202ertl'.encode(), b'\xff\xfe', b'${1}`id`', b'a,b;c']


def hostile(path):
    """Texts that would break out; four CPUs; layouts."""
    capture = Capture('bio', FIELDS, FUNCTIONS, LAYOUTS)
    for i in range(32):
        task = (100 + i % 8, 100 + i % 8, HOSTILE[i % 8][:15])
        life(capture, i * 100_000, 0xFFFF0000_00000000 + 0x100 * i, i % 4, task, (0, 0, b'swapper/%d' % (i % 4)), HOSTILE[i % 8] * 2,
             40_000 + 1000 * i)
    capture.write(path)


def many(path, calls):
    """About so many calls, of bios whose addresses come back."""
    capture = Capture('bio', FIELDS, FUNCTIONS, LAYOUTS)
    for i in range(calls // 6):
        life(capture, i * 5_000, 0xFFFF0000_00000000 + 0x100 * (i % 4096), i % 8, (1000 + i % 8, 1000 + i % 8, b'fio'),
             (0, 0, b'swapper/%d' % (i % 8)), b'nvme%dn1' % (i % 4), 2_500)
    capture.write(path)
