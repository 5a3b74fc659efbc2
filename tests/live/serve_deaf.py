# SPDX-License-Identifier: BSD-2-Clause
"""serve_deaf.py IOSONAR DEVICE: two pages watch a server of their own; one of them reads and one does not. When the buffers
between them are full, the server disconnects the second one after 10 s, and goes on sending to the first one. Prints TAP without
numbers.

The buffers are small, because an idle server sends a few hundred bytes per second: an accepted socket has the buffer of the
socket that listens, which is passed as systemd would.
"""
import os
import signal
import socket
import sys
import threading
import time


def report(good, what):
    print(("ok - " if good else "not ok - ") + what, flush=True)


def start(listener):
    pid = os.fork()
    if pid:
        return pid
    os.dup2(listener.fileno(), 3)
    os.set_inheritable(3, True)
    os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
    os.execv(sys.argv[1], [sys.argv[1], "serve", "-d", sys.argv[2]])


def watch(address):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    s.settimeout(30)
    s.connect(address)
    s.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return s


def sockets(pid):
    """How many the server has open."""
    nr = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            nr += os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:")
        except FileNotFoundError:
            pass
    return nr


class Reader(threading.Thread):
    """Takes all that comes. It ends with the stream."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.socket = watch(address)
        self.got = b""
        self.start()

    def run(self):
        try:
            while piece := self.socket.recv(65536):
                self.got += piece
        except OSError:
            pass

    def events(self):
        return self.got.count(b"\nid: ")


def await_that(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


def check(pid, address):
    reader = Reader(address)
    report(await_that(lambda: reader.events() > 0, 30), "a page watches")
    before = sockets(pid)
    deaf = watch(address)
    report(await_that(lambda: sockets(pid) == before + 1, 5), "another one watches and does not read")
    began = time.monotonic()
    dropped = await_that(lambda: sockets(pid) == before, 60)
    took = time.monotonic() - began
    report(dropped and took > 10, "it is disconnected, not before 10 s have passed (%.1f s)" % took)
    seen = reader.events()
    report(await_that(lambda: reader.events() > seen, 5) and reader.is_alive(), "the one that reads gets the next event (%d)" % (seen + 1))
    late = b""
    try:
        while piece := deaf.recv(65536):
            late += piece
    except ConnectionError:
        pass
    report(0 < late.count(b"\nid: ") < seen, "the other one had %d of %d events" % (late.count(b"\nid: "), seen))


def main():
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        pid = start(listener)
        try:
            check(pid, listener.getsockname())
        finally:
            os.kill(pid, signal.SIGTERM)
            os.waitpid(pid, 0)


main()
