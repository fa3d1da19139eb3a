"""Whether the tests of agents in a sandbox have one on this machine."""

from __future__ import annotations

import subprocess

from acp_host.sandbox import Bubblewrap
from acp_host.transports import Launch

__all__ = ["BOTH", "WORKS"]


def _works() -> bool:
    trial = Bubblewrap(writable=[])(Launch.of(["true"], "/", None, True))
    try:
        return subprocess.run(trial.argv, capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


WORKS = _works()
"""Whether bubblewrap does; without it, the tests run what they can without a sandbox."""
BOTH = ["no sandbox", *(["bubblewrap"] if WORKS else [])]
"""The places in which a test can run an agent or a command."""
