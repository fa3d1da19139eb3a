"""``fs/read_text_file`` and ``fs/write_text_file``: windows, encodings, sizes, and which error tells what."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from acp_host.errors import (
    InternalError,
    InvalidInput,
    InvalidParams,
    MethodNotFound,
    RequestFailed,
    ResourceNotFound,
)
from acp_host.services import FileService, _confined
from acp_host.services._place import Place
from acp_host.wire.files import ReadTextFileRequest, WriteTextFileRequest, WriteTextFileResponse

SESSION = "session"

posix_only = pytest.mark.skipif(os.name == "nt", reason="links, FIFOs and modes of POSIX")


@pytest.fixture(params=[True, False] if _confined.HAVE_HANDLES else [False], ids=lambda handles: f"handles={handles}")
def handles(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Both ways to find a file: by handles, and as on a platform without them."""
    monkeypatch.setattr(_confined, "HAVE_HANDLES", request.param)
    return bool(request.param)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    return work


@pytest.fixture
def service(work: Path, handles: bool) -> FileService:
    return opened(FileService(), work)


def opened(service: FileService, *roots: Path) -> FileService:
    service.open_session(SESSION, roots)
    return service


async def read(service: FileService, path: Path | str, **window: Any) -> str:
    return (await service.read_text_file(ReadTextFileRequest(session_id=SESSION, path=str(path), **window))).content


async def write(service: FileService, path: Path | str, content: str) -> None:
    asked = WriteTextFileRequest(session_id=SESSION, path=str(path), content=content)
    assert await service.write_text_file(asked) == WriteTextFileResponse()


@pytest.mark.parametrize(
    ("window", "content"),
    [
        ({}, "one\r\ntwo\nthree"),
        ({"line": None, "limit": None}, "one\r\ntwo\nthree"),
        ({"line": 0}, "one\r\ntwo\nthree"),
        ({"line": 1, "limit": 1}, "one\r\n"),
        ({"line": 2}, "two\nthree"),
        ({"line": 3, "limit": 5}, "three"),
        ({"line": 4}, ""),
        ({"limit": 0}, ""),
        ({"limit": 2}, "one\r\ntwo\n"),
        ({"line": 0, "limit": 1}, "one\r\n"),
    ],
)
async def test_the_lines_asked_for_are_read(
    service: FileService, work: Path, window: dict[str, int], content: str
) -> None:
    (work / "file").write_bytes(b"one\r\ntwo\nthree")
    assert await read(service, work / "file", **window) == content


async def test_what_was_written_is_read(service: FileService, work: Path) -> None:
    await write(service, work / "file", "a\r\nb\n\u2028😀\0")
    assert (work / "file").read_bytes() == "a\r\nb\n\u2028😀\0".encode()
    assert await read(service, work / "file") == "a\r\nb\n\u2028😀\0"
    await write(service, work / "file", "")
    assert await read(service, work / "file") == ""
    assert names(work) == ["file"]


async def test_all_directories_of_the_session_are_served(tmp_path: Path, work: Path, handles: bool) -> None:
    (tmp_path / "more").mkdir()
    service = opened(FileService(), work, tmp_path / "more")
    await write(service, tmp_path / "more/file", "content")
    assert await read(service, tmp_path / "more/file") == "content"


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
async def test_the_encoding_is_kept(service: FileService, work: Path, codec: str) -> None:
    (work / "file").write_bytes("alt grün".encode(codec))
    assert await read(service, work / "file") == "alt grün"
    await write(service, work / "file", "neu grün")
    assert (work / "file").read_bytes() == "neu grün".encode(codec)


@posix_only
async def test_permissions_and_links_are_kept(service: FileService, work: Path) -> None:
    (work / "script").write_text("old")
    (work / "script").chmod(0o750)
    (work / "link").symlink_to("script")
    await write(service, work / "link", "new")
    assert (work / "link").is_symlink()
    assert ((work / "script").read_text(), (work / "script").stat().st_mode & 0o777) == ("new", 0o750)


async def test_a_file_that_may_not_be_written_is_not_replaced(
    service: FileService, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's answer is feigned, since the superuser, who often runs tests, may write everything."""
    really_open = os.open

    def protected(name: str, flags: int, *args: Any, **more: Any) -> int:
        if os.path.basename(name) == "file" and flags & (os.O_WRONLY | os.O_RDWR):
            raise PermissionError(13, "Permission denied", name)
        return really_open(name, flags, *args, **more)

    (work / "file").write_text("old")
    monkeypatch.setattr(os, "open", protected)
    error = await refusal(service, work / "file", writing=True)
    assert (error.code, error.message) == (-32603, f"{work / 'file'}: Permission denied")
    assert (work / "file").read_text() == "old"


# What the agent is told


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def refusal(service: FileService, path: Path | str, *, writing: bool = False) -> RequestFailed:
    with pytest.raises(RequestFailed) as refused:
        await (write(service, path, "content") if writing else read(service, path))
    assert str(path) in refused.value.message
    assert refused.value.data == {"path": str(path)}
    return refused.value


async def test_a_missing_file_is_not_found_and_never_empty(service: FileService, work: Path) -> None:
    (work / "file").touch()
    for path in ("none", "none/deeper", "file/below"):
        error = await refusal(service, work / path)
        assert (type(error), error.code) == (ResourceNotFound, -32002)


@pytest.mark.parametrize("writing", [False, True])
async def test_what_is_outside_is_refused_and_untouched(
    service: FileService, tmp_path: Path, work: Path, writing: bool
) -> None:
    (tmp_path / "secret").write_text("secret")
    for path in ("secret", "work/../secret", "none", "work2/file"):
        error = await refusal(service, f"{tmp_path}/{path}", writing=writing)
        assert (type(error), error.code) == (InvalidParams, -32602)
        assert "outside" in error.message
    assert (tmp_path / "secret").read_text() == "secret"
    assert names(tmp_path) == ["secret", "work"]


@pytest.mark.parametrize("writing", [False, True])
async def test_a_relative_path_is_refused(service: FileService, writing: bool) -> None:
    error = await refusal(service, "file", writing=writing)
    assert (type(error), "absolute" in error.message) == (InvalidParams, True)


@pytest.mark.parametrize("writing", [False, True])
async def test_a_directory_is_called_one(service: FileService, work: Path, writing: bool) -> None:
    for path in (work, f"{work}/", f"{work}/new/"):
        error = await refusal(service, path, writing=writing)
        assert (type(error), "is a directory" in error.message) == (InvalidParams, True)
    assert names(work) == []


@posix_only
@pytest.mark.parametrize("writing", [False, True])
async def test_a_fifo_is_refused_without_waiting_for_it(service: FileService, work: Path, writing: bool) -> None:
    os.mkfifo(work / "fifo")
    error = await refusal(service, work / "fifo", writing=writing)
    assert (type(error), "not a regular file" in error.message) == (InvalidParams, True)


async def test_a_file_above_a_new_file_is_no_directory(service: FileService, work: Path) -> None:
    (work / "file").write_text("old")
    error = await refusal(service, work / "file/below", writing=True)
    assert isinstance(error, InvalidParams | InternalError)
    assert (work / "file").read_text() == "old"


@pytest.mark.parametrize("writing", [False, True])
@pytest.mark.parametrize("stored", ["grün".encode("latin-1"), b"\x89PNG\r\n\x1a\n", b"\xff\xfea"])
async def test_what_is_no_text_is_neither_read_nor_overwritten(
    service: FileService, work: Path, stored: bytes, writing: bool
) -> None:
    (work / "file").write_bytes(stored)
    error = await refusal(service, work / "file", writing=writing)
    assert (type(error), "not UTF-8 text" in error.message) == (InvalidParams, True)
    assert (work / "file").read_bytes() == stored


async def test_half_a_surrogate_pair_is_not_written(service: FileService, work: Path) -> None:
    with pytest.raises(InvalidParams, match="character 1 is half a surrogate pair"):
        await write(service, work / "file", "a\ud83d")
    assert names(work) == []


@pytest.mark.parametrize("writing", [False, True])
async def test_a_file_over_the_limit_is_refused(work: Path, handles: bool, writing: bool) -> None:
    service = opened(FileService(max_file_size=10), work)
    (work / "fits").write_text("x" * 10)
    (work / "large").write_text("x" * 11)
    assert await read(service, work / "fits") == "x" * 10
    error = await refusal(service, work / "large", writing=writing)
    assert (type(error), "has 11 bytes" in error.message) == (InvalidParams, True)
    assert (work / "large").read_text() == "x" * 11


async def test_content_over_the_limit_is_refused(work: Path, handles: bool) -> None:
    service = opened(FileService(max_file_size=10), work)
    await write(service, work / "file", "é" * 5)
    with pytest.raises(InvalidParams, match="would have 12 bytes"):
        await write(service, work / "file", "é" * 6)
    assert (work / "file").read_text() == "é" * 5


@pytest.mark.parametrize("create_parents", [True, False])
async def test_missing_directories_are_made_where_that_is_allowed(
    work: Path, handles: bool, create_parents: bool
) -> None:
    service = opened(FileService(create_parents=create_parents), work)
    if create_parents:
        await write(service, work / "a/b/file", "new")
        assert (work / "a/b/file").read_text() == "new"
    else:
        error = await refusal(service, work / "a/b/file", writing=True)
        assert isinstance(error, ResourceNotFound)
        assert names(work) == []


async def test_a_failing_system_is_an_internal_error_with_the_reason(
    service: FileService, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "/host/path")

    monkeypatch.setattr(Place, "replace", full)
    error = await refusal(service, work / "file", writing=True)
    assert (error.code, error.message) == (-32603, f"{work / 'file'}: No space left on device")


# Modes and sessions


@pytest.mark.parametrize(("reads", "writes"), [(True, True), (True, False), (False, True)])
async def test_only_what_is_offered_is_done(work: Path, reads: bool, writes: bool) -> None:
    service = opened(FileService(read=reads, write=writes), work)
    assert (service.can_read, service.can_write) == (reads, writes)
    (work / "file").write_text("old")
    if not reads:
        with pytest.raises(MethodNotFound):
            await read(service, work / "file")
    if not writes:
        with pytest.raises(MethodNotFound):
            await write(service, work / "file", "new")
        assert (work / "file").read_text() == "old"


async def test_only_open_sessions_are_served(service: FileService, work: Path) -> None:
    (work / "file").write_text("content")
    service.open_session("other", [work / "none"])
    with pytest.raises(InvalidParams, match="outside"):
        await service.read_text_file(ReadTextFileRequest(session_id="other", path=str(work / "file")))
    service.close_session(SESSION)
    service.close_session(SESSION)
    with pytest.raises(ResourceNotFound) as refused:
        await read(service, work / "file")
    assert refused.value.data == {"sessionId": SESSION}


async def test_opening_a_session_again_replaces_its_directories(service: FileService, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    opened(service, tmp_path / "new")
    await write(service, tmp_path / "new/file", "content")
    with pytest.raises(InvalidParams, match="outside"):
        await read(service, tmp_path / "work/file")


def test_relative_directories_are_the_callers_mistake() -> None:
    with pytest.raises(InvalidInput, match="absolute"):
        FileService().open_session(SESSION, ["."])


async def test_a_cancelled_write_is_whole_or_not_there(service: FileService, work: Path) -> None:
    for _ in range(20):
        (work / "file").write_text("old")
        writing = asyncio.create_task(write(service, work / "file", "new" * 10_000))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        assert (work / "file").read_text() in ("old", "new" * 10_000)
        assert await read(service, work / "file") in ("old", "new" * 10_000)
