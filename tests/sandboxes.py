"""Whether the tests of agents in a sandbox have one on this machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from acp_host import sandbox
from acp_host.sandbox import Bubblewrap
from acp_host.transports import Launch

__all__ = ["BOTH", "WORKS", "keep_checkout"]

_CHECKOUT = str(Path(__file__).parents[1])


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


def keep_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the programs of this checkout in sight of sandboxes, also where it lies in a temporary directory."""
    replaced = tuple(path for path in sandbox._SCRATCH if not _CHECKOUT.startswith(path + "/"))
    monkeypatch.setattr(sandbox, "_SCRATCH", replaced)
