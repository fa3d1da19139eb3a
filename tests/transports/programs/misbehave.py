"""Agents that behave badly, one function each: ``python misbehave.py BEHAVIOUR [ARGUMENT…]``.

A program says ``ready`` on stdout when it has got to where the test wants it; nothing here waits for a time to pass as
a way to be in step with the test.
"""

import os
import signal
import subprocess
import sys
import time


def say(text):
    os.write(1, text.encode() + b"\n")


def until_eof():
    while os.read(0, 65536):
        pass


def for_ever():
    while True:
        signal.pause()


def again(*arguments, **options):
    """Start this program with another behaviour."""
    return subprocess.Popen([sys.executable, "-S", "-E", __file__, *arguments], **options)


def echo():
    while data := os.read(0, 65536):
        while data:
            data = data[os.write(1, data) :]


def line(length):
    """One line of ``length`` bytes."""
    rest = memoryview(b"x" * (int(length) - 1) + b"\n")
    while rest:
        rest = rest[os.write(1, rest) :]
    until_eof()


def flood(size):
    """Megabytes on stderr before the first word on stdout."""
    for number in range(int(size) // 100):
        os.write(2, f"{number:099}\n".encode())
    say("ready")
    until_eof()


def fail(status, *words):
    os.write(2, " ".join(words).encode() + b"\n")
    sys.exit(int(status))


def fall(number):
    os.kill(os.getpid(), int(number))


def linger(length):
    """Has last words, of ``length`` bytes, after the end of its input."""
    say("ready")
    until_eof()
    rest = memoryview(b"x" * int(length))
    while rest:
        rest = rest[os.write(1, rest) :]


def deaf():
    """Never reads."""
    say("ready")
    for_ever()


def stubborn():
    """Ends by force only."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say("ready")
    for_ever()


def tells_of_sigterm(path):
    def note(number, frame):
        with open(path, "a") as file:
            file.write("SIGTERM\n")
        os._exit(0)

    signal.signal(signal.SIGTERM, note)
    say("ready")
    for_ever()


def closes_stdin():
    os.close(0)
    say("ready")
    for_ever()


def reads_then_closes_stdin(size):
    """Takes ``size`` bytes of a message and no more."""
    say("ready")
    left = int(size)
    while left:
        left -= len(os.read(0, min(left, 65536)))
    os.close(0)
    for_ever()


def closes_stdout():
    say("ready")
    os.close(1)
    for_ever()


def closes_stdout_then_exits(seconds, status):
    os.close(1)
    time.sleep(float(seconds))
    os._exit(int(status))


def environment():
    say(repr(dict(os.environ)))
    say(os.getcwd())
    say(repr((os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid(), os.isatty(0))))
    until_eof()


def launcher(behaviour, *arguments):
    """The real agent is a child, which has our pipes; we end when it does."""
    again(behaviour, *arguments).wait()


def quick_launcher(behaviour, *arguments):
    """As above, but we are gone at once."""
    child = again(behaviour, *arguments)
    os.write(2, f"child {child.pid}\n".encode())


def leaves_behind(how):
    """Ends at the end of its input, and has started something that does not."""
    options = {"env": {}} if how == "hidden" else {}
    child = again("background", how, stdout=subprocess.PIPE, **options)
    child.stdout.readline()  # it is where it should be
    if how == "daemon":
        child.wait()
    say(f"ready {child.pid}")
    until_eof()


def background(how):
    """A grandchild: in the group, in a session of its own (hidden: without our environment), or a full daemon."""
    if how != "group":
        if how == "daemon" and os.fork():
            os._exit(0)
        os.setsid()
        if how == "daemon" and os.fork():
            os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say("ready")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    for_ever()


def forker():
    """Replaces its child for ever, each with SIGTERM ignored."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    say("ready")
    while True:
        if os.fork() == 0:
            os.setsid()
            for_ever()
        signal.sigtimedwait([], 0.01)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
