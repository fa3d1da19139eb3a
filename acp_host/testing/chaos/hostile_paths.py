"""Spellings of a path that try to lead out of the directories that an agent was given: :data:`PATHS`."""

from __future__ import annotations

import os
from collections.abc import Callable

from attrs import frozen

__all__ = ["PATHS", "Places"]


@frozen
class Places:
    """The directories that the spellings are about.

    Attributes:
        base: holds ``outside``, and ``workshop`` besides.
        work: the agent's.
        extra: another one of the agent's.
        outside: has the file ``secret`` in it, which is what the spellings lead to.
    """

    base: str
    work: str
    extra: str
    outside: str


PATHS: dict[str, Callable[[Places], str]] = {
    "its path": lambda at: f"{at.outside}/secret",
    "up and over": lambda at: f"{at.work}/../outside/secret",
    "up from below": lambda at: f"{at.work}/src/../../outside/secret",
    "up from what is not there": lambda at: f"{at.work}/nothing/../../outside/secret",
    "up from a file": lambda at: f"{at.work}/file/../../outside/secret",
    "up to the top and down": lambda at: f"{at.work}/{'../' * 40}{at.outside[1:]}/secret",
    "from the other root": lambda at: f"{at.extra}/../outside/secret",
    "slashes and dots": lambda at: f"/.//{at.outside}//.///secret",
    "two slashes first": lambda at: f"/{at.outside}/secret",
    "a name that begins as the root": lambda at: f"{at.base}/workshop/secret",
    "the root and a suffix": lambda at: f"{at.work}shop/secret",
    "the root itself": lambda at: f"{at.work}/..",
    "the file system itself": lambda at: "/",
    "relative": lambda at: "../outside/secret",
    "relative to the process": lambda at: os.path.relpath(f"{at.outside}/secret"),
    "at home": lambda at: "~/../outside/secret",
    "as a variable": lambda at: "$HOME/secret",
    "as a URL": lambda at: f"file://{at.outside}/secret",
    "as a URL, escaped": lambda at: f"{at.work}/%2e%2e/outside/secret",
    "escaped twice": lambda at: f"{at.work}/%252e%252e%252foutside%252fsecret",
    "with a query": lambda at: f"{at.work}/../outside/secret?",
    "a null character first": lambda at: f"{at.outside}/secret\0{at.work}/file",
    "a null character last": lambda at: f"{at.work}/../outside/secret\0",
    "a line before": lambda at: f"{at.work}/file\n{at.outside}/secret",
    "blanks around it": lambda at: f" {at.outside}/secret ",
    "quoted": lambda at: f"'{at.outside}/secret'",
    "backslashes": lambda at: f"{at.work}\\..\\..\\outside\\secret",
    "a drive": lambda at: f"C:{at.outside}/secret",
    "a device path of Windows": lambda at: f"\\\\?\\{at.outside}\\secret",
    "a share": lambda at: "\\\\host\\share\\secret",
    "a stream": lambda at: f"{at.work}/file:../../outside/secret",
    "dots at the end": lambda at: f"{at.work}/.../outside/secret",
    "dots and a blank": lambda at: f"{at.work}/.. /outside/secret",
    "dots that look like two": lambda at: f"{at.work}/\u2025/outside/secret",
    "two dots that look like two": lambda at: f"{at.work}/\u2024\u2024/outside/secret",
    "wide dots": lambda at: f"{at.work}/\uff0e\uff0e/outside/secret",
    "wide slashes": lambda at: f"{at.work}/..\uff0f..\uff0foutside\uff0fsecret",
    "overlong dots": lambda at: f"{at.work}/\udcc0\udcae\udcc0\udcae/outside/secret",
    "half a character": lambda at: f"{at.work}/\ud83d/../../outside/secret",
    "a mark of direction": lambda at: f"{at.work}/\u202e/../../outside/secret",
    "a very long name": lambda at: f"{at.work}/{'x' * 300}/../../outside/secret",
    "a very long path": lambda at: f"{at.work}/{'x/../' * 5000}../outside/secret",
    "nothing": lambda at: "",
    "the process's root": lambda at: f"/proc/self/root{at.outside}/secret",
    "the process's directory": lambda at: f"/proc/self/cwd/../../../../../..{at.outside}/secret",
    "another process's root": lambda at: f"/proc/{os.getppid()}/root{at.outside}/secret",
    "a task's root": lambda at: f"/proc/thread-self/root{at.outside}/secret",
    "the process's environment": lambda at: "/proc/self/environ",
    "the process's memory": lambda at: "/proc/self/mem",
    "passwords": lambda at: "/etc/shadow",
    "standard input": lambda at: "/dev/stdin",
    "an open file": lambda at: "/dev/fd/1",
    "an open file of the process": lambda at: "/proc/self/fd/2",
    "a device": lambda at: "/dev/null",
    "a device that never ends": lambda at: "/dev/zero",
}
"""What is tried, by what it is."""
