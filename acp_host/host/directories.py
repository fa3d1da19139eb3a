"""Where sessions work: :class:`Directories` checks the paths that an application gives."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

from attrs import frozen

from acp_host.errors import InvalidInput
from acp_host.given_files import absolute

__all__ = ["Directories"]


@frozen
class Directories:
    """The rule for directories of sessions.

    Attributes:
        here: whether they are on this machine. Those of an agent elsewhere are not: nothing is known of them here, not
            even which separator they have.
    """

    here: bool = True

    def absolute(self, path: str | Path) -> str:
        """Return a path as agents want it: absolute; ``~`` and relative paths mean something on this machine only.

        Raises:
            InvalidInput: it is no path, or a relative one of another machine, or of a working directory that is gone.
        """
        if not isinstance(path, str | os.PathLike):
            raise InvalidInput(f"a directory of a session is a path, not {type(path).__name__}")
        if self.here:
            return absolute(os.path.expanduser(path))
        text = os.fspath(path)
        if not PurePosixPath(text).is_absolute() and not PureWindowsPath(text).is_absolute():
            raise InvalidInput(
                f"{text} is not absolute: a session of an agent elsewhere needs cwd=… as the agent's machine has it, "
                "e.g. cwd='/workspace'"
            )
        return text

    def existing(self, path: str | Path) -> str:
        """Return the absolute path of a directory that a session can work in.

        Raises:
            InvalidInput: as :meth:`absolute`, or there is no such directory on this machine.
        """
        whole = self.absolute(path)
        if self.here and not os.path.isdir(whole):
            raise InvalidInput(f"{whole} is not a directory, so no session can work in it")
        return whole
