from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from pathlib import Path

import pytest

from acp_host.automation.known_agents import Locations
from acp_host.automation.known_agents.manifest import BinaryTarget
from acp_host.automation.known_agents.programs import download_program, program_path
from acp_host.errors import InvalidInput, TransportError
from tests.automation.known_agents.conftest import Files
from tests.automation.known_agents.test_archives import FILE, make_tar, make_zip

PROGRAM = b"#!/bin/sh\necho it ran\n"


def target(server: Files, path: str, sha256: str | None = None, cmd: str = "bin/agent") -> BinaryTarget:
    return BinaryTarget(platform="here", archive=f"{server.url}{path}", sha256=sha256, cmd=cmd, args=(), env={})


def serve_archive(server: Files, tmp_path: Path, *names: str) -> str:
    """Serve a program under these names in an archive; return the archive's checksum."""
    make_tar(tmp_path / "a.tgz", *((name, FILE | 0o644, PROGRAM) for name in names))
    server.bodies["/a.tar.gz"] = (tmp_path / "a.tgz").read_bytes()
    return hashlib.sha256(server.bodies["/a.tar.gz"]).hexdigest()


async def output_of(program: Path) -> bytes:
    process = await asyncio.create_subprocess_exec(program, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    return out


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script for a POSIX shell")
@pytest.mark.parametrize("folder", ["", "agent-1.2.3/"])
async def test_a_program_in_an_archive(server: Files, tmp_path: Path, locations: Locations, folder: str) -> None:
    checksum = serve_archive(server, tmp_path, f"{folder}bin/agent")
    wanted = target(server, "/a.tar.gz", checksum)
    program = await download_program(locations.programs, "acme", wanted)
    assert program == program_path(locations.programs, "acme", wanted)
    assert await output_of(program) == b"it ran\n"
    assert await download_program(locations.programs, "acme", wanted) == program
    assert server.asked == ["/a.tar.gz"]
    assert [each.name for each in (locations.programs / "acme").iterdir()] == [program.parents[1].name]


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script for a POSIX shell")
async def test_a_program_that_is_no_archive(server: Files, locations: Locations) -> None:
    server.bodies["/releases/agent-linux-x64"] = PROGRAM
    wanted = target(server, "/releases/agent-linux-x64", cmd="agent")
    assert await output_of(await download_program(locations.programs, "acme", wanted)) == b"it ran\n"


async def test_another_version_is_another_program(server: Files, tmp_path: Path, locations: Locations) -> None:
    checksum = serve_archive(server, tmp_path, "bin/agent")
    server.bodies["/b.zip"] = b""
    make_zip(tmp_path / "b.zip", ("bin/agent", FILE | 0o755, b"other"))
    server.bodies["/b.zip"] = (tmp_path / "b.zip").read_bytes()
    one = await download_program(locations.programs, "acme", target(server, "/a.tar.gz", checksum))
    other = await download_program(locations.programs, "acme", target(server, "/b.zip"))
    assert (one.read_bytes(), other.read_bytes()) == (PROGRAM, b"other")


async def test_what_has_another_checksum_is_not_kept(server: Files, tmp_path: Path, locations: Locations) -> None:
    serve_archive(server, tmp_path, "bin/agent")
    with pytest.raises(InvalidInput, match="was not kept: its SHA-256 checksum is"):
        await download_program(locations.programs, "acme", target(server, "/a.tar.gz", "0" * 64))
    assert list((locations.programs / "acme").iterdir()) == []


@pytest.mark.parametrize(
    "names, cmd", [(["bin/other"], "bin/agent"), (["a/bin/agent", "b/bin/agent"], "bin/agent"), (["bin/x"], "bin")]
)
async def test_an_archive_without_the_program(
    server: Files, tmp_path: Path, locations: Locations, names: list[str], cmd: str
) -> None:
    serve_archive(server, tmp_path, *names)
    with pytest.raises(InvalidInput, match="no program"):
        await download_program(locations.programs, "acme", target(server, "/a.tar.gz", cmd=cmd))
    assert list((locations.programs / "acme").iterdir()) == []


async def test_a_download_that_fails_leaves_nothing(server: Files, locations: Locations) -> None:
    with pytest.raises(TransportError, match="404"):
        await download_program(locations.programs, "acme", target(server, "/a.tar.gz"))
    assert list((locations.programs / "acme").iterdir()) == []


async def test_two_at_once_put_it_there_once(server: Files, tmp_path: Path, locations: Locations) -> None:
    checksum = serve_archive(server, tmp_path, "bin/agent")
    wanted = target(server, "/a.tar.gz", checksum)
    both = await asyncio.gather(*(download_program(locations.programs, "acme", wanted) for _ in range(3)))
    assert len(set(both)) == 1
    assert os.listdir(locations.programs / "acme") == [both[0].parents[1].name]
