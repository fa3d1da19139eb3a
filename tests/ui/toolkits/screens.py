"""What programs with windows need: a screen that nobody sees, and the packages of a toolkit."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["environment_for", "xvfb"]

_ROOT = Path(__file__).parents[3]
_NEEDED = {
    "qt": "import PySide6.QtWidgets",
    "tk": "import tkinter",
    "glib": "import gi; gi.require_version('Gtk', '4.0'); from gi.repository import Gtk",
}
_OF_THE_DISTRIBUTION = Path("/usr/lib/python3/dist-packages/gi")
"""Where Debian and its kin have PyGObject; compiled for one version of Python, which need not be this one."""
_SURROUNDINGS = {
    "QT_QPA_PLATFORM": "offscreen",
    "GDK_BACKEND": "x11",
    "GSK_RENDERER": "cairo",
    "GTK_A11Y": "none",
    "NO_AT_BRIDGE": "1",
}


@contextlib.contextmanager
def xvfb() -> Iterator[str]:
    """Yield the name of a screen of its own; skips the test where there is no Xvfb."""
    if shutil.which("Xvfb") is None:
        pytest.skip("!!! Xvfb WAS NOT FOUND: Tk and GTK are not tested !!! try `make system-deps`")
    reading, writing = os.pipe()
    line = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1024x768x24", "-nolisten", "tcp"]
    with subprocess.Popen(line, pass_fds=[writing], stderr=subprocess.DEVNULL) as server:
        os.close(writing)
        try:
            with os.fdopen(reading) as answer:
                yield f":{answer.readline().strip()}"
        finally:
            server.terminate()


@functools.cache
def environment_for(toolkit: str, folder: Path) -> dict[str, str] | None:
    """Return the environment in which this interpreter has a toolkit; ``None``: it has none.

    Args:
        toolkit: ``qt``, ``tk`` or ``glib``.
        folder: one that is not there yet.
    """
    # Of the distribution's packages this one only: the others are not those that this library is tested with.
    folder.mkdir()
    (folder / "gi").symlink_to(_OF_THE_DISTRIBUTION)
    for path in ("", str(folder)):
        paths = os.pathsep.join(filter(None, [path, str(_ROOT), os.environ.get("PYTHONPATH", "")]))
        environment = {**os.environ, **_SURROUNDINGS, "PYTHONPATH": paths}
        line = [sys.executable, "-c", _NEEDED[toolkit]]
        if subprocess.run(line, env=environment, capture_output=True, timeout=50, check=False).returncode == 0:
            return environment
    return None
