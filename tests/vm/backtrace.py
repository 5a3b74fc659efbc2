#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""backtrace.py SLOW <CASES: stops programs while they wait for an I/O, asks gdb for their stacks, and compares iosonar's.

A line of CASES is "NAME COMMAND": bash runs the command, and NAME is the program that is stopped. SLOW is the file that
`iosonar slow -o json` writes meanwhile. Prints TAP without numbers.

A thread that waits for an I/O is in state D. SIGSTOP does not wake it: it stops when the system call returns, with the same
user stack. So the I/O of that thread that was in flight when the signal was sent has the stack that gdb sees.
"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

# ---- stop and ask gdb ----


def read(path):
    try:
        with open(path, encoding="latin-1") as file:
            return file.read()
    except OSError:
        return ""


def state_of(path):
    """One letter; empty: it has ended."""
    return read(path + "/stat").rpartition(")")[2][1:2]


# What a program starts is in its cgroup, whatever session and name it takes.
GROUP = "/sys/fs/cgroup/backtrace"


def members():
    return [int(pid) for pid in read(GROUP + "/cgroup.procs").split()]


def processes(name):
    """A program may be a link: redis-server is one."""
    program = os.path.basename(os.path.realpath(shutil.which(name) or name))
    for pid in members():
        try:
            if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == program:
                yield pid
        except OSError:
            pass


def waiting(name):
    """The threads that wait for I/O, with their process."""
    for pid in processes(name):
        for task in glob.glob(f"/proc/{pid}/task/[0-9]*"):
            if state_of(task) == "D":
                yield pid, int(os.path.basename(task))


def is_stopped(pid):
    return all(state_of(task) in "Tt" for task in glob.glob(f"/proc/{pid}/task/[0-9]*"))


def until(seconds, condition):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    return None


class Slow:
    """The I/Os that iosonar has written so far."""

    def __init__(self, path):
        self.file = open(path, encoding="utf-8", errors="replace")
        self.rest, self.ios = "", []

    def of(self, pid, tid=0):
        *lines, self.rest = (self.rest + self.file.read()).split("\n")
        self.ios += [io for io in map(json.loads, lines) if io["type"] == "slow"]
        return [io for io in self.ios if io["pid"] == pid and tid in (0, io["tid"])]


def stop(slow, pid, tid):
    """The I/O that it was waiting for; None: it waited for none of its own, and goes on."""
    began = time.monotonic_ns()
    os.kill(pid, signal.SIGSTOP)
    if state_of(f"/proc/{pid}/task/{tid}") == "D" and until(60, lambda: is_stopped(pid)):
        found = until(10, lambda: [io for io in slow.of(pid, tid) if io["end_ns"] >= began])
        if found:
            return max(found, key=lambda io: io["start_ns"])
    os.kill(pid, signal.SIGCONT)
    return None


def is_known(slow, pid):
    """The tables of its files are read at its first I/O. Until then its stacks are not complete."""
    return any(io["user_truncated"] is False for io in slow.of(pid))


def stop_one(slow, name):
    """Process, thread and I/O. One whose stacks are never complete is stopped, too."""
    end = time.monotonic() + 60

    def attempt():
        for pid, tid in waiting(name):
            if is_known(slow, pid) or time.monotonic() > end:
                found = stop(slow, pid, tid)
                if found:
                    return pid, tid, found
        return None

    return until(120, attempt)


THREAD = re.compile(r"^Thread .*(?:LWP|process) (\d+)\)")
FRAME = re.compile(r"^#\d+\s+(?:(0x[0-9a-f]+) in )?(<signal handler called>|\S+)(?: \(.*?\))?(?: from (\S+))?")


def backtrace(pid, tid):
    """gdb's frames: the function, and the library, which is empty for the program itself."""
    sets = ["print demangle off", "print asm-demangle off", "backtrace past-main on", "backtrace past-entry on",
            "backtrace limit 200", "width 0", "pagination off", "auto-load off"]
    command = ["gdb", "-batch", "-nx"]
    for setting in sets:
        command += ["-iex", "set " + setting]
    text = subprocess.run(command + ["-p", str(pid), "-ex", "thread apply all bt"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", timeout=240, check=False).stdout
    frames, own = [], False
    for line in text.splitlines():
        thread = THREAD.match(line)
        if thread:
            own = int(thread[1]) == tid
        frame = FRAME.match(line) if own else None
        if frame:
            frames.append({"at": frame[1], "name": frame[2], "file": frame[3] or ""})
    return frames, text


def join():
    with open(GROUP + "/cgroup.procs", "w", encoding="ascii") as procs:
        procs.write(str(os.getpid()))


def kill_all():
    for pid in members():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return not members()


def sample(slow, name, command):
    """What gdb and iosonar say of one program."""
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as caches:
        caches.write("3")
    with open("/tmp/said", "wb") as said:
        shell = subprocess.Popen(["/bin/bash", "-c", command], preexec_fn=join, stdin=subprocess.DEVNULL,
                                 stdout=said, stderr=said)
    try:
        found = stop_one(slow, name)
        if not found:
            return None, [], "it was not seen waiting for I/O: " + read("/tmp/said")[-1000:]
        frames, text = backtrace(found[0], found[1])
        return found[2] | {"exe": os.readlink(f"/proc/{found[0]}/exe")}, frames, text[-1000:]
    finally:
        until(30, kill_all)
        shell.wait()


# ---- compare ----


def readelf(what, path):
    return subprocess.run(["readelf", what, path], capture_output=True, text=True, errors="replace", check=False).stdout


class File:
    """The functions of a file, by name and by address, from its lists of symbols and that of its debug file."""

    def __init__(self, path):
        self.at, self.names = {}, {}
        build_id = re.search(r"Build ID: (\w\w)(\w+)", readelf("-n", path))
        debug = build_id and f"/usr/lib/debug/.build-id/{build_id[1]}/{build_id[2]}.debug"
        text = readelf("-Ws", path) + (readelf("-Ws", debug) if debug and os.path.exists(debug) else "")
        for line in text.splitlines():
            words = line.split()
            if len(words) >= 8 and words[3] in ("FUNC", "IFUNC") and words[6] != "UND":
                name = words[7].split("@")[0]
                self.at.setdefault(name, set()).add(words[1])
                self.names.setdefault(words[1], set()).add(name)

    def aliases(self, name):
        """All names of the functions of this name, as linked and demangled."""
        found = {name}
        for at in self.at.get(name, ()):
            found |= self.names[at]
        plain = subprocess.run(["c++filt", "-p"], input="\n".join(found), capture_output=True, text=True,
                               check=False).stdout
        return found | set(plain.splitlines())


FILES = {}


def same(theirs, ours, exe):
    """Whether a frame of ours is the function of gdb's."""
    path = theirs["file"] or exe
    if theirs["name"] == "<signal handler called>":
        return True
    if theirs["name"] == "??":
        return ours == "[" + os.path.basename(os.path.realpath(path)) + "]" or ours == "[" + os.path.basename(path) + "]"
    if path not in FILES:
        FILES[path] = File(path)
    return ours in FILES[path].aliases(theirs["name"])


def judge(io, theirs, says):
    """A sentence on what differs; empty: nothing does."""
    ours = io and io["user_stack"]
    if not ours or not theirs:
        return "there is no stack: " + says
    if io["user_truncated"]:
        return "the stack is truncated"
    if len(ours) != len(theirs):
        return f"{len(ours)} frames instead of {len(theirs)}"
    wrong = [i for i in range(len(ours)) if not same(theirs[i], ours[i], io["exe"])]
    return f"frames differ: {wrong}" if wrong else ""


def main():
    slow, all_ours, all_theirs = Slow(sys.argv[1]), 0, 0
    os.makedirs(GROUP, exist_ok=True)
    for line in sys.stdin:
        name, command = line.rstrip("\n").split(" ", 1)
        began = time.monotonic()
        io, theirs, says = sample(slow, name, command)
        ours = io and io["user_stack"] or []
        why = judge(io, theirs, says)
        named = sum(not frame.startswith("[") for frame in ours)
        by_gdb = sum(frame["name"] != "??" for frame in theirs)
        all_ours, all_theirs = all_ours + named, all_theirs + by_gdb
        print(f"{'not ok' if why else 'ok'} - {name}: {len(ours)} frames, {named} named, {by_gdb} by gdb")
        print(f"# {time.monotonic() - began:.0f} s {' '.join(ours)}", flush=True)
        if why:
            print("# " + why.replace("\n", "\n# "))
            print("\n".join(f"# gdb {frame['at']} {frame['name']} {frame['file']}" for frame in theirs), flush=True)
    print(f"{'ok' if all_ours >= 0.95 * all_theirs > 0 else 'not ok'} - {all_ours} frames named, {all_theirs} by gdb")


main()
