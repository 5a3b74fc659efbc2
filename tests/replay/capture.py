# SPDX-License-Identifier: BSD-2-Clause
# capture.py: a capture as docs/capture-format.md describes it, read without any code of iosonar. The section numbers are
# those of that page. A capture that breaks one of its rules is refused with a ValueError; contradictions are counted.
import struct
import subprocess

MASK = (1 << 64) - 1
SUBMIT, BIO, STAGES = 1, 2, 32
TIMED = (5, 12, 13, 15)  # types of chunks whose headers have times


def crc_entry(n):
    for _ in range(8):
        n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
    return n


TABLE = [crc_entry(n) for n in range(256)]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def rule(holds, broken):
    if not holds:
        raise ValueError(broken)


# Section 1.
class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, nr):
        rule(nr <= self.left(), "a payload ends too early")
        self.at += nr
        return self.data[self.at - nr : self.at]

    def u8(self):
        return self.take(1)[0]

    def u64(self):
        return struct.unpack("<Q", self.take(8))[0]

    def varint(self):
        value = 0
        for i in range(10):
            byte = self.u8()
            value |= (byte & 127) << 7 * i
            if byte < 128:
                return value & MASK
        raise ValueError("a varint of more than 10 bytes")

    def zigzag(self):
        n = self.varint()
        return (n >> 1) ^ -(n & 1)

    def text(self):
        return self.take(self.varint())

    def entries(self):
        while self.left():
            yield Bytes(self.take(self.varint()))


# Section 5.1.
def unpack_constant(b, nr):
    return [b.varint()] * nr


def unpack_bits(b, nr):
    least, scale, values = b.zigzag(), b.varint(), []
    while len(values) < nr:
        low, width, run = b.varint(), b.u8(), min(128, nr - len(values))
        rule(width <= 64, "a number of more than 64 bits")
        packed = int.from_bytes(b.take((run * width + 7) // 8), "little")
        values += [(least + scale * (low + (packed >> i * width & (1 << width) - 1))) & MASK for i in range(run)]
    return values


def unpack_planes(b, nr):
    least, scale, numbers, planes = b.zigzag(), b.varint(), [0] * nr, b.u8()
    rule(planes <= 8, "more than 8 planes")
    for plane in range(planes):
        how = b.u8()
        rule(how <= 2, "a plane of an unknown kind")
        if how == 2:
            frame = b.take(b.varint())
            data = subprocess.run(["zstd", "-dcq"], input=frame, stdout=subprocess.PIPE, check=True).stdout
            rule(len(data) == nr, "a plane of another size")
        else:
            data = b.take(1) * nr if how else b.take(nr)
        numbers = [n | byte << 8 * plane for n, byte in zip(numbers, data)]
    return [(least + scale * n) & MASK for n in numbers]


def unpack_sparse(b, nr):
    values = []
    while b.left():
        zeros = b.varint()
        rule(len(values) + zeros < nr, "a sparse column that is too long")
        values += [0] * zeros + [b.varint()]
    return values + [0] * (nr - len(values))


class Columns:
    def __init__(self, b):
        self.packed = {}
        while b.left():
            number, packing = b.u8(), b.u8()
            self.packed[number] = (packing, b.take(b.varint()))

    def has(self, number):
        return number in self.packed

    def get(self, number, nr):
        if number not in self.packed or not nr:
            return [0] * nr
        packing, data = self.packed[number]
        b = Bytes(data)
        rule(1 <= packing <= 4, "an unknown packing")
        values = (unpack_constant, unpack_bits, unpack_planes, unpack_sparse)[packing - 1](b, nr)
        rule(not b.left(), "a column that is too long")
        return values

    def table(self, nr, names):
        columns = {name: self.get(number, nr) for number, name in names.items()}
        return [{name: values[i] for name, values in columns.items()} for i in range(nr)]


ONE = {1: "time", 2: "latency", 3: "latency_step", 4: "last", 5: "result", 6: "address", 7: "address_step", 8: "tag",
       9: "generation", 10: "seq", 11: "cdw14", 12: "cdw15", 13: "who", 14: "what"}
WHO = {32: "pid", 33: "comm0", 34: "comm8", 35: "device", 36: "qid", 37: "cpus", 38: "nsid", 39: "kind", 40: "op"}
WHAT = {48: "bytes", 49: "cdw12", 50: "cdw13", 51: "status", 52: "cmd_flags", 53: "attempts", 54: "what", 55: "flags"}
CPUS = {64: "cpu", 65: "seq"}
STAGED = {82: "queued", 83: "got", 84: "inserted", 85: "issued", 86: "reaped", 87: "done", 88: "depth", 89: "nr_bios",
          90: "owner", 91: "file", 92: "flushed", 93: "written"}
OWNERS = {96: "cgroup", 97: "tid", 98: "cpu"}
FILES = {104: "inode", 105: "file_dev", 106: "kernel_stack", 107: "user_stack", 108: "file_nth"}


# Section 5.3: times of stages.
def since(t, n):
    return 0 if n == 0 else (t - 1) & MASK if n == (1 - t) & MASK else (t + n - 1) & MASK


def until(t, n):
    return 0 if n == 0 else (t + 1) & MASK if n == (t + 1) & MASK else (t - n + 1) & MASK


def stages(r, row, owners, files):
    s = {"queued_ns": until(r["first_ns"], row["queued"])}
    s["got_ns"] = since(s["queued_ns"] or r["first_ns"], row["got"])
    s["inserted_ns"] = since(s["got_ns"] or s["queued_ns"] or r["first_ns"], row["inserted"])
    s["issued_ns"] = since(r["last_ns"], row["issued"])
    s["reaped_ns"] = until(r["end_ns"], row["reaped"])
    s["done_ns"] = since(r["end_ns"], row["done"])
    s["flushed_ns"] = until(r["first_ns"], row["flushed"])
    s["written_ns"] = since(r["end_ns"], row["written"])
    rule(row["owner"] < len(owners) and row["file"] < len(files), "a row of owners or files that is not there")
    return {**s, "depth": row["depth"], "nr_bios": row["nr_bios"], **owners[row["owner"]], **files[row["file"]]}


# Section 5.2: the columns of one chunk of records.
class Block:
    def __init__(self, head, payload):
        b = Bytes(payload)
        self.head, sizes = head, [b.varint() for _ in range(3)]
        rule(1 <= head["count"] <= 8192 and max(sizes) <= head["count"], "more rows than records")
        self.columns = columns = Columns(b)
        self.rows = columns.table(head["count"], ONE)
        self.who, self.what, self.cpus = (columns.table(nr, names) for nr, names in zip(sizes, (WHO, WHAT, CPUS)))
        self.time, self.tags, self.stepped, self.seqs = head["min"], [0] * 16384, {}, {}

    # A column, or if it is there the one of steps: from the record before of the same row of `who`.
    def stepping(self, row, name, step_id):
        if not self.columns.has(step_id):
            return row[name]
        key = name, row["who"]
        self.stepped[key] = (self.stepped.get(key, 0) + row[name + "_step"]) & MASK
        return self.stepped[key]

    def cid(self, who, row):
        place = ((((who["device"] * 65536 + who["qid"]) * 0x9E3779B1 & 0xFFFFFFFF) >> 18) + row["tag"]) % 16384
        self.tags[place] = (self.tags[place] + 1 + row["generation"]) % 16
        return row["tag"] | self.tags[place] << 12

    def seq(self, number, row):
        guess = self.seqs[number] + 1 if number in self.seqs else self.cpus[number]["seq"]
        self.seqs[number] = (guess + row["seq"]) & 0xFFFFFFFF
        return self.seqs[number]

    def record(self, row):
        rule(row["who"] < len(self.who) and row["what"] < len(self.what), "a row that is not there")
        who, what = self.who[row["who"]], self.what[row["what"]]
        rule(who["cpus"] < len(self.cpus), "a row of cpus that is not there")
        self.time = (self.time + row["time"]) & MASK
        first = (self.time - self.stepping(row, "latency", 3)) & MASK
        submit, address = what["what"] == SUBMIT, self.stepping(row, "address", 7)
        r = {"first_ns": first, "last_ns": self.time if submit else (first + row["last"]) & MASK,
             "end_ns": row["last"] if submit else self.time, "time": self.time, "result": row["result"],
             "cdw10": address & 0xFFFFFFFF, "cdw11": address >> 32, "cdw14": row["cdw14"], "cdw15": row["cdw15"],
             "address": address, "cid": self.cid(who, row), "seq": self.seq(who["cpus"], row),
             "cpu": self.cpus[who["cpus"]]["cpu"], "stages": None}
        r.update({name: who[name] for name in ("pid", "device", "qid", "nsid", "kind", "op")})
        r.update(what)
        r["comm"] = struct.pack("<QQ", who["comm0"], who["comm8"]).split(b"\0")[0]
        r["astray"] = not self.head["min"] <= self.time <= self.head["max"]
        return r

    def records(self):
        records = [self.record(row) for row in self.rows]
        staged = [r for r in records if r["flags"] & STAGES]
        if staged:
            nr_owners, nr_files = self.columns.get(80, 1)[0] + 1, self.columns.get(81, 1)[0] + 1
            rule(max(nr_owners, nr_files) <= len(staged), "more owners or files than records with stages")
            owners, files = self.columns.table(nr_owners, OWNERS), self.columns.table(nr_files, FILES)
            for r, row in zip(staged, self.columns.table(len(staged), STAGED)):
                r["stages"] = stages(r, row, owners, files)
        return records


# Section 4: the chunks that are not records. Each takes a header and a payload, and adds to the capture.
def take_info(c, head, b):
    while b.left():
        key = b.text()
        c.info.setdefault(key.decode(), b.text())


def take_devices(c, head, b):
    for e in b.entries():
        number = e.varint()
        d = {"name": e.text(), "kind": e.varint(), "diskseq": e.varint(), "size": e.varint(), "block": e.varint(),
             "major": e.varint(), "minor": e.varint(), "ctrl": e.zigzag(), "nsid": e.varint(), "queues": e.varint(),
             "depth": e.varint(), "model": e.text(), "serial": e.text(), "firmware": e.text(), "gone": e.u8(),
             "partitions": None, "unit": None}
        if e.left():
            d["partitions"] = [(e.text(), e.varint(), e.varint()) for _ in range(e.varint())]
        if e.left():
            d["unit"] = e.varint()
        c.devices[number] = d


def take_names(c, head, b):
    names = c.names.setdefault(b.text().decode(), {})
    while b.left():
        number = b.varint()
        names[number] = b.text().decode()


def take_clock(c, head, b):
    c.clocks.append((b.u64(), b.u64(), b.u64()))


def take_cgroups(c, head, b):
    while b.left():
        number = b.varint()
        c.cgroups.setdefault(number, b.text())


def take_stacks(c, head, b):
    while b.left():
        key = b.varint(), b.varint()
        c.stacks.setdefault(key, b.text())


def take_files(c, head, b):
    while b.left():
        key = b.varint(), b.varint()
        c.files.setdefault(key, b.text())


def take_disks(c, head, b):
    while b.left():
        number = b.varint()
        c.disks.setdefault(number, b.text())


def pairs(b):
    values = {}
    while True:
        name = b.text().decode()
        if not name:
            return values
        values[name] = b.varint()


def take_trailer(c, head, b):
    c.trailer = {"size": b.u64(), "records": b.varint(), "why": b.text().decode(), "lost": pairs(b), "ledger": pairs(b)}
    rule(not any(b.take(b.left())), "a trailer has more than zeros behind it")


def take_reserve(c, head, b):
    rule(not any(b.take(b.left())), "a reserve that is not zeros")


# Section 4.1.
COUNTS = ("accesses", "hits", "hits_back", "ra_hits", "misses", "allocated", "added", "demanded", "readahead", "other",
          "dirtied", "written", "removed", "evicted", "truncated", "unused")


def take_cache_rows(c, head, b):
    rows = []
    for e in b.entries():
        row = {"op": e.varint(), "pid": e.varint(), "dev": e.varint(), "inode": e.varint(), "cgroup": e.varint(), "comm": e.text()}
        mask = e.varint()
        counts = {bit: e.varint() for bit in range(64) if mask >> bit & 1}
        row.update({name: counts.get(bit, 0) for bit, name in enumerate(COUNTS)})
        row["nth"] = e.varint() if e.left() else 0
        rows.append(row)
    c.readings.append((head["max"], rows))


def take_cache_events(c, head, b):
    for e in b.entries():
        kind = e.varint()
        if kind > 1:
            continue
        names = ["start", "end", "inode", "dev", "page", "pages", "pid", "tid", "op"]
        event = {"kind": kind, **{name: e.varint() for name in names}, "comm": e.text()}
        if kind == 1:
            names = ["issue", "sector", "command_sector", "disk", "bytes", "command_bytes", "missed", "failed"]
            event.update({name: e.varint() for name in names})
        event["nth"] = e.varint() if e.left() else 0
        for name in ("start", "end", "issue"):
            event[name] = head["min"] + event[name] - 1 if event.get(name) else 0
        c.events.append(event)


# Section 4.2.
def read_place(b):
    bits = b.varint()
    place = {"object": bits & 1, "role": bits >> 1 & 3, "seen": bits >> 3 & 1, "parts": []}
    for _ in range(b.varint()):
        name, how = b.text().decode(), b.varint()
        place["parts"].append({"name": name, "text": how & 1, "signed": how >> 1 & 1, "bytes": b.varint(), "unit": b.varint(),
                               "enum": b.varint()})
    return place


def read_struct(b):
    name, size, members = b.text(), b.varint(), b.varint()
    return name, size, members & 1, [(b.text(), b.varint(), b.varint(), b.varint()) for _ in range(members >> 1)]


def take_functions(c, head, b):
    c.objects = b.text().decode()
    c.members = [b.text().decode() for _ in range(b.varint())]
    c.enums = [[(b.zigzag(), b.text().decode()) for _ in range(b.varint())] for _ in range(b.varint())]
    for _ in range(b.varint()):
        c.functions.append({"name": b.text().decode(), "module": b.text(), "prototype": b.text(), "places": [read_place(b), read_place(b)]})
    if b.left():
        c.structs = [read_struct(b) for _ in range(b.varint())]


def take_calls(c, head, b):
    time, task = head["min"], None
    while b.left():
        time += b.zigzag()
        rule(head["min"] <= time <= head["max"], "a call outside its chunk's times")
        number, cpu = b.varint(), b.varint()
        if not b.u8():
            task = (b.varint(), b.varint(), b.text())
        rule(number >> 1 < len(c.functions) and task, "a call of no function or task")
        place = c.functions[number >> 1]["places"][number & 1]
        call = {"time": time, "function": number >> 1, "leave": number & 1, "cpu": cpu, "pid": task[0], "tid": task[1],
                "comm": task[2], "nth": b.varint(), "place": place}
        call["parts"] = [b.text() if p["text"] else b.zigzag() if p["signed"] else b.varint() for p in place["parts"]]
        c.calls.append(call)


COUNTERS = ("hits", "refused", "added", "sent", "begun", "lost_key", "lost_ring", "lost_start", "no_start", "restarted",
            "divisions_by_zero", "faults", "dropped", "no_kstack", "no_ustack")


def take_counts(c, head, b):
    values = [b.varint() for _ in range(b.varint())]
    c.counters = dict(zip(COUNTERS, values))
    c.not_run, c.all_known = b.varint(), b.u8()
    while b.left():
        address = b.varint()
        c.open_objects[address] = b.varint()


def take_index(c, head, b):
    entries = []
    latest, clock = 0, (0, 0, 0)
    for _ in range(head["count"]):
        e = {"type": b.u8(), "flags": b.u8(), "length": b.varint(), "count": b.varint(), "lost": b.varint()}
        if e["type"] in TIMED:
            e["min"] = (latest + b.zigzag()) & MASK
            e["max"] = latest = (e["min"] + b.varint()) & MASK
        if e["type"] == 4 and e["length"] == 24:
            clock = e["clock"] = tuple((before + b.zigzag()) & MASK for before in clock)
        entries.append(e)
    c.index = {"at": b.u64(), "entries": entries}
    rule(not b.left(), "an index that is too long")


# Section 4.3.
def take_waits(c, head, b):
    base, nr = b.u64(), 0
    for e in b.entries():
        kind = e.varint()
        if kind != 0:
            c.wait_causes.append(kind)
            continue
        nr += 1
        call = {"call": e.varint(), "end": (base + e.zigzag()) & MASK, "whole": e.varint(), "cpu": e.varint(), "runnable": e.varint()}
        call.update({name: e.varint() for name in ("inode", "dev", "nth", "cgroup", "pid", "tid", "bios")})
        call["comm"] = e.text()
        call["sleeps"] = [{name: e.varint() for name in ("ns", "stack", "nr", "io")} for _ in range(e.varint())]
        rule(call["cpu"] + call["runnable"] + sum(s["ns"] for s in call["sleeps"]) == call["whole"], "parts that do not add up")
        rule(head["min"] <= call["end"] <= head["max"], "a call outside its chunk's times")
        c.waits.append(call)
    rule(nr == head["count"], "a chunk with another number of calls")


# Section 4.4.
MOMENTS = ("start", "issue", "return", "punt", "worker", "queued", "ended")


def take_requests(c, head, b):
    base, nr = b.u64(), 0
    for e in b.entries():
        rule(e.varint() == 4, "an entry that is no request")
        nr += 1
        r = {"op": e.varint(), "end": (base + e.zigzag()) & MASK, "whole": e.varint()}
        r["submit"], known = (r["end"] - r["whole"]) & MASK, e.varint()
        rule(known < 1 << len(MOMENTS), "moments that this page does not have")
        r.update({name: (r["submit"] + e.zigzag()) & MASK if known >> bit & 1 else None for bit, name in enumerate(MOMENTS)})
        r.update({name: e.varint() for name in ("user_data", "inode", "dev", "nth", "cgroup", "pid", "tid", "bios", "bios_ended", "flags")})
        r["comm"], r["fs"] = e.text(), e.text() if e.left() else None
        rule(head["min"] <= r["end"] <= head["max"], "a request outside its chunk's times")
        c.requests.append(r)
    rule(nr == head["count"], "a chunk with another number of requests")


TAKES = {1: take_info, 2: take_devices, 3: take_names, 4: take_clock, 6: take_trailer, 7: take_reserve, 8: take_cgroups,
         9: take_stacks, 10: take_files, 11: take_disks, 12: take_cache_rows, 13: take_cache_events, 14: take_functions,
         15: take_calls, 16: take_counts, 17: take_index, 18: take_waits, 20: take_requests}


# Sections 2 and 3: each chunk's header and payload.
def chunks(data, version):
    names = ("magic", "type", "flags", "number", "length", "count", "first", "lost", "min", "max", "crc", "zeros", "own_crc")
    rule(data[:8] == b"\x89IOSONAR" and struct.unpack_from("<HHI", data, 8) == (version, 0, crc32c(data[:12])), "no capture")
    at = 16
    while at < len(data):
        rule(at + 64 <= len(data), "the file was cut")
        head = dict(zip(names, struct.unpack_from("<4sBBHIIQQQQIQI", data, at)), at=at)
        rule(head["magic"] == b"IOC1" and head["own_crc"] == crc32c(data[at : at + 60]), f"no chunk at {at}")
        rule(head["zeros"] == 0 and head["length"] <= 16 << 20, f"a bad header at {at}")
        payload = data[at + 64 : at + 64 + head["length"]]
        rule(len(payload) == head["length"] and crc32c(payload) == head["crc"], f"a damaged chunk at {at}")
        yield head, payload
        at += 64 + head["length"]


class Capture:
    def __init__(self, path=None, data=None):
        if path:
            with open(path, "rb") as file:
                data = file.read()
        self.info, self.devices, self.names, self.clocks, self.cgroups = {}, {}, {}, [], {}
        self.stacks, self.files, self.disks, self.records, self.trailer = {}, {}, {}, [], None
        self.readings, self.events, self.functions, self.calls, self.structs = [], [], [], [], []
        self.counters, self.open_objects, self.index, self.heads = {}, {}, None, []
        self.waits, self.wait_causes, self.requests = [], [], []
        self.surplus = self.lost = 0
        if not data:
            return  # one of a merged file, which hands it its chunks
        self.bytes = len(data)
        for head, payload in chunks(data, version=1):
            rule(head["number"] == 0, f"a bad header at {head['at']}")
            self.take(head, payload)
        rule(self.trailer and self.trailer["size"] == len(data), "the file was cut")
        self.end()
        self.check_index()

    def end(self):
        rule(self.trailer, "the file was cut")
        self.surplus = max(self.surplus, len(self.records) - self.trailer["records"])
        self.astray = sum(r["astray"] for r in self.records)

    def take(self, head, payload):
        self.heads.append(head)
        if head["type"] == 5:
            self.take_records(head, payload)
        elif head["type"] in TAKES:
            TAKES[head["type"]](self, head, Bytes(payload))
        self.lost += head["lost"]

    def take_records(self, head, payload):
        self.surplus += max(0, len(self.records) - self.surplus - head["first"])
        rule(head["first"] <= len(self.records), "records are missing")
        records = Block(head, payload).records()
        rule(bool(head["flags"] & 2) == any(r["stages"] for r in records), "flags bit 1 is about stages")
        self.records += records

    # Section 4: what an index has to say to be believed.
    def check_index(self):
        if not self.index:
            return
        before, index, trailer = self.heads[:-2], self.heads[-2], self.heads[-1]
        rule((index["type"], trailer["type"], self.index["at"]) == (17, 6, index["at"]), "an index at another place")
        rule(len(before) == len(self.index["entries"]), "an index of other chunks")
        clocks = iter(self.clocks)
        for head, entry in zip(before, self.index["entries"]):
            if "clock" in entry:
                rule(entry["clock"] == next(clocks), "an index with other clocks")
            rule(all(head[k] == entry[k] for k in entry if k != "clock"), "an index that contradicts a header")

    def wall(self, time):
        before = [c for c in self.clocks if c[0] <= time] or self.clocks[:1]
        return before[-1][2] + time - before[-1][0] if before else None


# Section 8: a file of several captures.
class Merged:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        parts, records = {}, []
        for head, payload in chunks(data, version=2):
            if head["number"]:
                part = parts.setdefault(head["number"], Capture())
                part.take(head, payload)
                if head["type"] == 5:
                    records.append((part, head))
            elif head["type"] == 6:
                own = Capture()
                own.take(head, payload)
        self.parts = [parts[number] for number in sorted(parts)]
        for part in self.parts:
            part.end()
        rule(head["type"] == 6 and not head["number"] and own.trailer["size"] == len(data), "the file was cut")
        rule(own.trailer["records"] == sum(len(part.records) for part in self.parts), "other records than the trailer has")
        latest, walls = {}, []
        for part, head in records:  # a clock that was set back does not change the order of a capture
            latest[part] = max(latest.get(part, 0), part.wall(head["min"]))
            walls.append(latest[part])
        rule(walls == sorted(walls), "chunks that are not in order of the wall clock")
