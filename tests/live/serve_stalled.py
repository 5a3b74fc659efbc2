# SPDX-License-Identifier: BSD-2-Clause
"""serve_stalled.py SOCKET: asks for a capture and does not take it. Others are answered meanwhile; the peer is disconnected after
10 s, and the next one gets the capture, whole. Prints TAP without numbers."""
import socket
import sys
import time


def ask(path):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(30)
    s.connect(sys.argv[1])
    s.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return s


def rest(s, got=b""):
    while piece := s.recv(1 << 20):
        got += piece
    return got


def exchange(path):
    with ask(path) as s:
        got = rest(s)
    return int(got.split(b" ", 2)[1]), got


def length(head):
    return int(head.lower().split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0])


def report(good, what):
    print(("ok - " if good else "not ok - ") + what, flush=True)


def taken(got):
    """The length of the body, of how many bytes."""
    head, body = got.split(b"\r\n\r\n", 1)
    return len(body), length(head)


stalled = ask(b"/capture")
first = stalled.recv(100)
began = time.monotonic()
report(first.startswith(b"HTTP/1.1 200 "), "a capture begins")
report(exchange(b"/capture")[0] == 503, "another one is refused meanwhile")
asked = time.monotonic()
report(exchange(b"/metrics")[0] == 200 and time.monotonic() - asked < 1, "a scrape is answered at once")
while (answer := exchange(b"/capture"))[0] == 503 and time.monotonic() - began < 25:
    time.sleep(0.5)
took = time.monotonic() - began
report(answer[0] == 200 and 8 < took < 20, "after 10 s the next one gets it (%.1f s)" % took)
body, whole = taken(answer[1])
report(body == whole > 400000, "all of it (%d bytes)" % whole)
body, whole = taken(rest(stalled, first))
report(body < whole, "the first one is disconnected: it has %d of %d bytes" % (body, whole))
