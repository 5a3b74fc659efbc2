#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tab.py SHELL SCRIPT LINE...: what SHELL makes of each LINE when a user types it and presses Tab, one result per line.

SHELL is bash, fish or zsh, interactive on a terminal of its own, without anybody's settings. SCRIPT is its completion script. A key
that is bound to a command writes the line to a file: nothing is read from the screen.
"""
import os
import pty
import re
import select
import sys
import tempfile
import threading
import time

shell, script, *lines = sys.argv[1:]
folder = tempfile.mkdtemp()
out = folder + "/line"

# Started, then ready: the file is there. Ctrl-X Ctrl-P writes the line.
SETTINGS = {
    "bash": "PS1=; set +o history; source '%s'; bind -x '\"\\C-x\\C-p\": printf \"%%s\\n\" \"$READLINE_LINE\" >%s'; : >%s",
    "zsh": "PS1=; autoload -U compinit; compinit -u -D; source '%s'; tell() { print -r -- \"$BUFFER\" >%s }; zle -N tell; "
           "bindkey '^X^P' tell; : >%s",
    "fish": "function fish_prompt; end; source '%s'; bind \\cx\\cp 'commandline >%s'; : >%s",
}
STARTS = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"], "fish": ["fish", "--no-config", "-i"]}


def wait_for(path):
    """Its text, and it is gone."""
    for _ in range(600):
        if os.path.exists(path) and (path.endswith("ready") or os.path.getsize(path)):
            time.sleep(0.05)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            os.unlink(path)
            return text.rstrip("\n")
        time.sleep(0.05)
    sys.exit("tab.py: %s did not answer" % shell)


def swallow(terminal):
    """What the shell draws is read, or it would wait."""
    while True:
        try:
            select.select([terminal], [], [])
            os.read(terminal, 65536)
        except OSError:
            return


child, master = pty.fork()
if not child:
    os.environ.update(TERM="dumb" if shell != "fish" else "xterm", HOME=folder, XDG_CONFIG_HOME=folder, XDG_DATA_HOME=folder, COLUMNS="200")
    os.execvp(STARTS[shell][0], STARTS[shell])
threading.Thread(target=swallow, args=(master,), daemon=True).start()
time.sleep(0.5)
os.write(master, (SETTINGS[shell] % (script, out, folder + "/ready") + "\r").encode())
wait_for(folder + "/ready")
for line in lines:
    time.sleep(0.1)
    os.write(master, line.encode() + b"\t")
    time.sleep(0.1)
    os.write(master, b"\x18\x10")
    print(re.sub(r"\s+$", "", wait_for(out)), flush=True)
    os.write(master, b"\x05\x15")  # to the end, and all of it away
os.kill(child, 9)
os.waitpid(child, 0)
os.system("rm -rf '%s'" % folder)
