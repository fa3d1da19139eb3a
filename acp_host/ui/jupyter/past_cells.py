"""How what is said in a page reaches its widget while a cell runs: :func:`let_past_cells`.

A kernel that knows subshells (ipykernel 7, JEP 91) takes the messages of widgets in a thread beside the one that runs
cells, where the front-end asks for that; JupyterLab and Notebook do. Kernels and front-ends that do not leave such
messages until the cell has ended.
"""

from __future__ import annotations

from typing import Any

__all__ = ["let_past_cells"]


def let_past_cells(comm: Any) -> None:
    """Have messages to a comm taken where the front-end sends them; whoever takes them has to be safe on any thread.

    From ipykernel 7.4 on they go where the kernel has spoken last, since a cell may wait there for an answer: for a
    widget that was made in a cell, that is behind this cell and all others.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = _as_sent


def _as_sent(data: Any, subshell: str | None) -> str | None:
    return subshell
