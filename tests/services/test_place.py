"""What is done at a place: only regular files are opened, and a replaced file is never seen half."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from acp_host.services import _place
from acp_host.services._confined import HAVE_HANDLES, HandleRoots
from acp_host.services._place import ChangedMeanwhile, Place, SpecialFileError

pytestmark = pytest.mark.skipif(not HAVE_HANDLES, reason="devices, FIFOs and handles are POSIX things")


def at(path: Path) -> Place:
    return Place(str(path), str(path), None)


def kinds(folder: Path) -> dict[str, Path]:
    os.mkfifo(folder / "fifo")
    (folder / "link").symlink_to("file")
    (folder / "file").write_text("content")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(folder / "socket"))
    return {**{name: folder / name for name in ("fifo", "link", "socket")}, "device": Path("/dev/null")}


@pytest.mark.parametrize("kind", ["fifo", "link", "socket", "device"])
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDWR])
def test_only_regular_files_are_opened(tmp_path: Path, kind: str, flags: int) -> None:
    with pytest.raises(SpecialFileError, match="not a regular file"):
        at(kinds(tmp_path)[kind]).open(flags)


@pytest.mark.parametrize(
    ("kind", "problem"), [("fifo", "not a regular file"), ("device", "not a regular file"), ("link", "became a link")]
)
def test_what_is_swapped_in_after_the_first_look_is_not_read(
    tmp_path: Path, kind: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kinds(tmp_path)[kind]
    looked_regular = os.stat(tmp_path / "file")
    monkeypatch.setattr(Place, "stat", lambda _: looked_regular)
    with pytest.raises(SpecialFileError, match=problem):
        at(path).open(os.O_RDONLY)


def test_a_directory_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        at(tmp_path).open(os.O_RDONLY)


def test_a_new_file_has_the_permissions_that_the_user_gives_to_new_files(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    at(tmp_path / "new").replace(b"new")
    assert mode(tmp_path / "new") == mode(tmp_path / "usual")


@pytest.mark.parametrize(("before", "after"), [(0o600, 0o600), (0o755, 0o755), (0o666, 0o666), (0o4755, 0o755)])
def test_permissions_are_kept_but_not_those_that_lend_an_identity(tmp_path: Path, before: int, after: int) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(before)
    at(path).replace(b"new", like=path.stat())
    assert (path.read_text(), mode(path)) == ("new", after)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_another_hard_link_keeps_the_old_content(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    os.link(tmp_path / "file", tmp_path / "other")
    at(tmp_path / "file").replace(b"new", like=(tmp_path / "file").stat())
    assert (tmp_path / "other").read_text() == "old"


@pytest.mark.parametrize("by", ["write", "replacing", "link", "touch"])
def test_a_file_that_changed_since_it_was_read_is_not_replaced(tmp_path: Path, by: str) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    (tmp_path / "other").write_text("new")
    _, status = at(path).read(100)
    if by == "write":
        path.write_text("new")
    elif by == "replacing":
        (tmp_path / "other").rename(path)
    elif by == "link":
        path.unlink()
        path.symlink_to("other")
    else:
        os.utime(path, ns=(0, 0))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ChangedMeanwhile):
        at(path).replace(b"agent", like=status)
    assert path.read_text() == ("old" if by == "touch" else "new")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_file_that_has_appeared_since_is_not_replaced(tmp_path: Path, kind: str) -> None:
    kinds(tmp_path)
    with pytest.raises(ChangedMeanwhile):
        at(tmp_path / kind).replace(b"agent")
    assert (tmp_path / "file").read_text() == "content"


def test_a_file_that_has_gone_since_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    _, status = at(tmp_path / "file").read(100)
    (tmp_path / "file").unlink()
    at(tmp_path / "file").replace(b"new", like=status)
    assert (tmp_path / "file").read_text() == "new"


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_changes_and_leaves_nothing(
    tmp_path: Path, step: str, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(_place.os, step, fail)
    with pytest.raises(type(error)):
        at(tmp_path / "file").replace(b"new", like=(tmp_path / "file").stat())
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "old"


def test_content_is_on_the_disk_before_it_has_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    def spy(name: str) -> None:
        real = getattr(os, name)

        def called(*args: object, **more: object) -> object:
            steps.append(name)
            return real(*args, **more)

        monkeypatch.setattr(_place.os, name, called)

    spy("fsync")
    spy("replace")
    with HandleRoots([tmp_path]).place(str(tmp_path / "file")) as place:
        place.replace(b"new")
    assert steps == ["fsync", "replace", "fsync"]
