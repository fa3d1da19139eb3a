from __future__ import annotations

import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_host.automation.known_agents import archives
from acp_host.automation.known_agents.archives import archive_kind, unpack
from acp_host.errors import InvalidInput

Entry = tuple[str, int, bytes]
"""Name, mode with the kind of file in it, and content; of a link, where it leads."""

FILE, LINK, FOLDER, PIPE = stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO


def make_zip(path: Path, *entries: Entry) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, mode, content in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            packed.writestr(info, content)


def make_tar(path: Path, *entries: Entry) -> None:
    with tarfile.open(path, "w:gz") as tar:
        for name, mode, content in entries:
            info = tarfile.TarInfo(name)
            info.mode = stat.S_IMODE(mode)
            kinds = {LINK: tarfile.SYMTYPE, FOLDER: tarfile.DIRTYPE, PIPE: tarfile.FIFOTYPE, FILE: tarfile.REGTYPE}
            info.type = kinds[stat.S_IFMT(mode)]
            if info.type == tarfile.SYMTYPE:
                info.linkname = content.decode()
            info.size = len(content) if info.type == tarfile.REGTYPE else 0
            tar.addfile(info, io.BytesIO(content))


pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name")
FORMATS = pytest.mark.parametrize("make, kind", [(make_zip, ".zip"), (make_tar, ".tar.gz")])
Make = Callable[..., None]


def unpacked(tmp_path: Path, make: Make, kind: str, *entries: Entry) -> Path:
    make(tmp_path / "archive", *entries)
    unpack(tmp_path / "archive", kind, tmp_path / "out")
    return tmp_path / "out"


@FORMATS
def test_what_is_in_it(tmp_path: Path, make: Make, kind: str) -> None:
    out = unpacked(
        tmp_path,
        make,
        kind,
        ("top/", FOLDER | 0o755, b""),
        ("top/bin/agent", FILE | 0o755, b"#!/bin/sh\n"),
        ("./top/notes", FILE | 0o644, b"x" * 3_000_000),
        ("top/lib/agent", LINK | 0o777, b"../bin/agent"),
    )
    assert (out / "top/bin/agent").read_bytes() == b"#!/bin/sh\n"
    assert (out / "top/notes").stat().st_size == 3_000_000
    assert (out / "top/lib/agent").read_bytes() == b"#!/bin/sh\n"
    if os.name != "nt":
        modes = [stat.S_IMODE((out / "top" / name).stat().st_mode) for name in ("bin/agent", "notes")]
        assert modes == [0o700, 0o600]


def test_a_hard_link_is_the_file_that_it_names(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "archive", "w:bz2") as tar:
        info = tarfile.TarInfo("a")
        info.size = 3
        tar.addfile(info, io.BytesIO(b"abc"))
        link = tarfile.TarInfo("b")
        link.type, link.linkname = tarfile.LNKTYPE, "a"
        tar.addfile(link)
    unpack(tmp_path / "archive", ".tar.bz2", tmp_path / "out")
    assert (tmp_path / "out" / "b").read_bytes() == b"abc"


@FORMATS
@pytest.mark.parametrize(
    "entries",
    [
        [("../evil", FILE | 0o644, b"x")],
        [("a/../../evil", FILE | 0o644, b"x")],
        [("/evil", FILE | 0o644, b"x")],
        [("..\\evil", FILE | 0o644, b"x")],
        [("C:\\evil", FILE | 0o644, b"x")],
        [("a", LINK | 0o777, b".."), ("a/evil", FILE | 0o644, b"x")],
        [("a", LINK | 0o777, b"."), ("a/b", FILE | 0o644, b"x")],
        [("a", LINK | 0o777, b"../evil")],
        [("a", LINK | 0o777, b"/etc/passwd")],
        [("d/a", LINK | 0o777, b".."), ("d/b", LINK | 0o777, b"a/../../evil")],
        [("a", FILE | 0o644, b"x"), ("a", FILE | 0o644, b"y")],
        [("a", FILE | 0o644, b"x"), ("a/b", FILE | 0o644, b"y")],
    ],
)
def test_nothing_leaves_the_folder(tmp_path: Path, make: Make, kind: str, entries: list[Entry]) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    with pytest.raises(InvalidInput, match="archive"):
        unpacked(inner, make, kind, *entries)
    assert not (tmp_path / "evil").exists()
    assert not (inner / "evil").exists()
    assert not Path("/evil").exists()


def test_a_hard_link_to_what_is_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    with tarfile.open(tmp_path / "archive", "w") as tar:
        link = tarfile.TarInfo("b")
        link.type, link.linkname = tarfile.LNKTYPE, "../secret"
        tar.addfile(link)
    with pytest.raises(InvalidInput):
        unpack(tmp_path / "archive", ".tar", tmp_path / "out")


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no file"):
        unpacked(tmp_path, make_tar, ".tar.gz", ("a", PIPE | 0o644, b""))


@FORMATS
def test_it_is_bounded(tmp_path: Path, make: Make, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MAX_SIZE", 1_000_000)
    with pytest.raises(InvalidInput, match="more than 1000000 bytes"):
        unpacked(tmp_path, make, kind, ("a", FILE | 0o644, bytes(600_000)), ("b", FILE | 0o644, bytes(600_000)))
    monkeypatch.setattr(archives, "_MAX_ENTRIES", 1)
    (tmp_path / "more").mkdir()
    with pytest.raises(InvalidInput, match="more than 1 entries"):
        unpacked(tmp_path / "more", make, kind, ("a", FILE | 0o644, b""), ("b", FILE | 0o644, b""))


@FORMATS
def test_a_damaged_archive(tmp_path: Path, make: Make, kind: str) -> None:
    make(tmp_path / "whole", ("a", FILE | 0o644, os.urandom(100_000)))
    data = (tmp_path / "whole").read_bytes()
    for number, damaged in enumerate((b"", b"nothing", data[: len(data) // 2], data[:50] + b"\0" * 40 + data[90:])):
        (tmp_path / "archive").write_bytes(damaged)
        with pytest.raises(InvalidInput, match="archive"):
            unpack(tmp_path / "archive", kind, tmp_path / str(number))


def test_kinds() -> None:
    assert [archive_kind(name) for name in ("A.ZIP", "a.tgz", "a.tar.bz2", "a-linux-x64", "a.exe", "a.tar")] == [
        ".zip",
        ".tgz",
        ".tar.bz2",
        None,
        None,
        ".tar",
    ]
    with pytest.raises(InvalidInput, match="installer"):
        archive_kind("agent.dmg")
