"""Programs of agents that were downloaded: :func:`program_path`, and :func:`download_program`, which gets one.

Each is in a folder of its own, whose name has a checksum of where it came from, so that another version never takes
the place of one that runs. A folder is there as a whole or not at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from acp_host.automation.known_agents.archives import archive_kind, unpack
from acp_host.automation.known_agents.downloads import download_file
from acp_host.automation.known_agents.manifest import BinaryTarget
from acp_host.errors import InvalidInput

__all__ = ["download_program", "program_path"]

_MAX_SIZE = 2 * 2**30
"""Bytes of a download at most."""
_SECONDS = 3600.0


def program_path(folder: Path, agent: str, target: BinaryTarget) -> Path:
    """Return where an agent's program is, or would be after a download.

    Args:
        folder: the folder for programs.
        agent: the agent's name.
        target: what its manifest says.
    """
    source = f"{target.archive} {target.sha256} {target.cmd}"
    home = folder / agent / hashlib.sha256(source.encode()).hexdigest()[:16]
    return home.joinpath(*target.cmd.split("/"))


async def download_program(folder: Path, agent: str, target: BinaryTarget) -> Path:
    """Download an agent's program, unless it is there, and return where it is; arguments as :func:`program_path`.

    Raises:
        InvalidInput: it may not be downloaded, is not what its checksum says, or the archive cannot be unpacked.
        TransportError: it did not arrive.
        OSError: the disk is full, or the like.
    """
    program = program_path(folder, agent, target)
    if program.is_file():
        return program
    name = unquote(urlsplit(target.archive).path).rpartition("/")[2] or "download"
    kind = archive_kind(name)
    home = program.parents[target.cmd.count("/")]
    home.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=home.parent, ignore_cleanup_errors=True) as temporary:
        file = Path(temporary, "download")
        checksum = await download_file(target.archive, file, limit=_MAX_SIZE, seconds=_SECONDS)
        if target.sha256 is not None and checksum != target.sha256:
            raise InvalidInput(
                f"{target.archive} was not kept: its SHA-256 checksum is {checksum}, and the manifest says "
                f"{target.sha256}"
            )
        await asyncio.to_thread(_put, file, kind, target.cmd, home)
    return program


def _put(file: Path, kind: str | None, cmd: str, home: Path) -> None:
    """Put what a download holds into a folder, which is then there as a whole."""
    whole = home.with_name(f".whole-{secrets.token_hex(8)}")
    try:
        if kind is None:
            place = whole.joinpath(*cmd.split("/"))
            place.parent.mkdir(parents=True, mode=0o700)
            shutil.copyfile(file, place)
        else:
            unpack(file, kind, whole)
        _make_program(whole, cmd)
        with _nobody_else(home):
            os.rename(whole, home)
    finally:
        shutil.rmtree(whole, ignore_errors=True)


@contextlib.contextmanager
def _nobody_else(home: Path) -> Iterator[None]:
    """Take it for done if another process has put the same there in the meantime."""
    try:
        yield
    except OSError:
        if not home.is_dir():
            raise


def _make_program(whole: Path, cmd: str) -> None:
    """See to it that the program is where the manifest says, or in the one folder that the archive has, and can run."""
    place = whole.joinpath(*cmd.split("/"))
    top = list(whole.iterdir())
    if not place.exists() and len(top) == 1 and top[0].is_dir() and not top[0].is_symlink():
        aside = whole.with_name(f"{whole.name}-top")
        os.rename(top[0], aside)
        whole.rmdir()
        os.rename(aside, whole)
    real = Path(os.path.realpath(place))
    if not real.is_file() or not real.is_relative_to(os.path.realpath(whole)):
        raise InvalidInput(f"the archive has no program {cmd[:200]}")
    real.chmod(0o700)
