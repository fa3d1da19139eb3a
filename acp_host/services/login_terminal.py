"""Runs an agent's login in the terminal that this process has itself: :func:`run_in_this_terminal`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence

from acp_host.transports._launch import Launch

__all__ = ["run_in_this_terminal"]


async def run_in_this_terminal(argv: Sequence[str], *, cwd: str | None, env: Mapping[str, str]) -> int:
    """Run a command with this process's own input and output, and return its exit status; negative for a signal.

    The user talks to it until it ends. If the caller is cancelled, it is ended.

    Args:
        argv: program and arguments; run directly and not by a shell.
        cwd: its working directory; ``None`` for this process's.
        env: its whole environment.

    Raises:
        StartFailed: it cannot be started; the message says why.
    """
    launch = Launch.of(argv, cwd, env, inherit_env=False)
    whole = launch.environment()
    try:
        process = await asyncio.create_subprocess_exec(*launch.command(whole), cwd=launch.cwd, env=whole)
    except (OSError, RuntimeError, ValueError) as error:
        raise launch.explain(error, whole) from error
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
