"""Where attempts are made, and how what a killed maker has left there is removed: :class:`Place`."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from acp_host.fleet.working_copies import remove_copy
from acp_host.transports.leftovers import end_leftovers, identity, lives

__all__ = ["Place", "clear_directory", "make_home", "records_in"]

_TO_END = 3.0
"""Seconds in which a process that was lost is found to have ended, or is left alone."""


@frozen(kw_only=True)
class Place:
    """Where an attempt is made.

    Attributes:
        host: name of the machine.
        directory: what belongs to the attempt there.
        maker: the process that makes it, as :func:`~acp_host.transports.leftovers.identity` tells it.
    """

    host: str
    directory: str
    maker: Mapping[str, Any]

    @classmethod
    def of_this_process(cls, directory: str) -> Place:
        """Return the place of an attempt that this process makes."""
        return cls(host=socket.gethostname(), directory=directory, maker=identity(os.getpid()))

    def clear(self, source: str, *, keep: bool) -> None:
        """End the agents that a maker which has ended has left, and remove their working copy. Blocks.

        Nothing is done on another machine, or where the maker still lives: it sees to that itself.

        Args:
            source: what the working copy was made of.
            keep: leave the working copy where it is.
        """
        if self.host != socket.gethostname() or not self._maker_has_ended():
            return
        with contextlib.suppress(OSError):
            end_leftovers(records_in(Path(self.directory).parents[1]))
        if not keep:
            clear_directory(self.directory, source)

    def _maker_has_ended(self) -> bool:
        end = time.monotonic() + _TO_END
        while lives(dict(self.maker)):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {"host": self.host, "directory": self.directory, "maker": dict(self.maker)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Place:
        """Return what :meth:`to_json` has written."""
        return cls(host=data["host"], directory=data["directory"], maker=data["maker"])


def make_home(home: Path) -> None:
    """Make the directory for working copies, if there is none.

    Raises:
        OSError: it cannot be made; or it belongs to somebody else, who could exchange what is in it.
    """
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if hasattr(os, "geteuid") and home.lstat().st_uid not in (os.geteuid(), 0):
        raise PermissionError(f"{home} belongs to another user: choose another directory with copies_in")


def records_in(home: Path) -> Path:
    """Return the directory in which running agents are written down, so that those of a killed maker can be ended.

    Each machine has its own: processes of one are not known on another.
    """
    return home / f"agents-{socket.gethostname()}"


def clear_directory(directory: str | os.PathLike[str], source: str) -> str | None:
    """Remove what belongs to an attempt; return the directory if that does not work. Blocks.

    Args:
        directory: of the attempt.
        source: what its working copy was made of.
    """
    try:
        remove_copy(directory, source)
    except OSError:
        return os.fspath(directory)
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(directory))  # the fleet's, once it is empty
    return None
