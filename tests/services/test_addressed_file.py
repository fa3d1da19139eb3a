from __future__ import annotations

import os
from pathlib import Path

import pytest

from acp_host.errors import InvalidInput
from acp_host.services.addressed_file import path_of_address, read_addressed_file


async def test_a_file_within_the_roots_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a chart ü%.txt"
    file.write_bytes(b"content")
    assert await read_addressed_file(file.as_uri(), [tmp_path]) == b"content"
    assert await read_addressed_file(f"file://localhost{file.as_uri()[7:]}", [tmp_path]) == b"content"


@pytest.mark.parametrize(
    "address",
    ["https://x/y", "artifact://1", "urn:a:b", "file://elsewhere/w/a", "file:", "file:///w/%00a", "w/a", "file://[x"],
)
async def test_nothing_else_is_opened_or_fetched(address: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        await read_addressed_file(address, [tmp_path])


@pytest.mark.parametrize("way", ["beside", "above", "link"])
async def test_nothing_outside_of_the_roots_is_read(way: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    secret = tmp_path / "secret.txt"
    secret.write_text("no")
    (root / "link.txt").symlink_to(secret)
    address = {
        "beside": secret.as_uri(),
        "above": f"{root.as_uri()}/../secret.txt",
        "link": f"{root.as_uri()}/link.txt",
    }[way]
    with pytest.raises(InvalidInput, match="outside"):
        await read_addressed_file(address, [root])


async def test_a_file_that_is_too_large_or_none_at_all(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"12345")
    assert await read_addressed_file((tmp_path / "large").as_uri(), [tmp_path], limit=5) == b"12345"
    with pytest.raises(InvalidInput, match="more than 4 bytes"):
        await read_addressed_file((tmp_path / "large").as_uri(), [tmp_path], limit=4)
    with pytest.raises(FileNotFoundError):
        await read_addressed_file((tmp_path / "missing").as_uri(), [tmp_path])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the platform has no named pipes")
async def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput):
        await read_addressed_file((tmp_path / "pipe").as_uri(), [tmp_path])


@pytest.mark.parametrize(
    "address, path",
    [("file:///C:/w/a%20b.txt", "C:\\w\\a b.txt"), ("file:///w/a", "/w/a")],
)
def test_paths_on_windows(address: str, path: str) -> None:
    assert path_of_address(address, windows=True) == path
