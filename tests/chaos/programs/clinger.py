"""Programs that do not want to end: ``python clinger.py TOKEN HOW``; nothing but the standard library.

The token is an argument of every process, so that a test finds what is left in a way of its own.
"""

import os
import signal
import subprocess
import sys
import time

TOKEN = sys.argv[1]
STUBBORN = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT]


def ready():
    os.write(1, b"ready\n")


def stay():
    for number in STUBBORN:
        signal.signal(number, signal.SIG_IGN)
    ready()
    time.sleep(END - time.monotonic())


END = time.monotonic() + 120  # whatever a test misses is gone some time


def leave_to_a_child():
    """Fork, and let only the child go on."""
    if os.fork():
        os._exit(0)


def again(how, **options):
    subprocess.Popen([sys.executable, "-S", "-E", __file__, TOKEN, how], **options)


def stopped():
    """Takes no signal at all while it is stopped."""
    ready()
    os.kill(os.getpid(), signal.SIGSTOP)


def background():
    again("stay")


def group():
    again("stay", process_group=0)


def session():
    again("stay", start_new_session=True)


def daemon():
    """As the book says: two forks, a session of its own, no files, another directory."""
    leave_to_a_child()
    os.setsid()
    leave_to_a_child()
    os.chdir("/")
    os.umask(0)
    ready()
    os.closerange(0, 64)
    for number in STUBBORN:
        signal.signal(number, signal.SIG_IGN)
    time.sleep(END - time.monotonic())


def nameless():
    """Without the environment it was given, but still where it was put."""
    again("stay", env={})


def runner():
    """Never the same process for long: it forks, and its child goes on."""
    for number in STUBBORN:
        signal.signal(number, signal.SIG_IGN)
    ready()
    while time.monotonic() < END:
        time.sleep(0.01)
        leave_to_a_child()


def many():
    """A whole tree of them, in sessions of their own."""
    for _ in range(4):
        again("session")
        again("stay")


def vanished():
    """All at once: a daemon without the environment it was given. Only a PID namespace holds it."""
    leave_to_a_child()
    os.setsid()
    leave_to_a_child()
    again("stay", env={}, start_new_session=True)


def flier():
    """Never the same process for long, and never in the same session."""
    ready()
    while time.monotonic() < END:
        time.sleep(0.01)
        leave_to_a_child()
        os.setsid()


globals()[sys.argv[2]]()
