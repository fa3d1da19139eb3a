"""What has changed below some directories: found whatever is done to hide it, and nothing else."""

from __future__ import annotations

import mmap
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from acp_host.services import working_copy
from acp_host.services.working_copy import (
    Difference,
    DifferenceKind,
    Fingerprint,
    FingerprintLimits,
    compare,
    take_fingerprint,
)

posix_only = pytest.mark.skipif(os.name == "nt", reason="links, FIFOs and modes of POSIX")

PATIENT = FingerprintLimits(max_seconds=60)
STAT_ONLY = FingerprintLimits(max_seconds=60, max_hashed_file=-1)


def look(root: Path, earlier: Fingerprint | None = None, limits: FingerprintLimits = PATIENT) -> Fingerprint:
    return take_fingerprint([str(root)], earlier, limits)


def changes(root: Path, act: Callable[[], object], limits: FingerprintLimits = PATIENT) -> dict[str, str]:
    """What is found to have changed by ``act``, by relative path; each time with and without an earlier look."""
    before = look(root, limits=limits)
    act()
    found = compare(before, look(root, before, limits))
    assert found == compare(before, look(root, limits=limits))
    return {os.path.relpath(change.path, os.path.realpath(root)): str(change.kind) for change in found}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("src", "src/deep", "empty"):
        (tmp_path / name).mkdir()
    for name in ("file", "src/code", "src/deep/leaf"):
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize("limits", [PATIENT, STAT_ONLY], ids=["with hashes", "by status"])
def test_what_happens_to_files_is_found(tree: Path, limits: FingerprintLimits) -> None:
    def act() -> None:
        (tree / "file").write_text("other text")
        (tree / "src/code").unlink()
        (tree / "src/new").write_text("")
        (tree / "src/deep").rename(tree / "moved")
        (tree / "empty").rmdir()

    assert changes(tree, act, limits) == {
        "file": "modified",
        "src/code": "deleted",
        "src/new": "created",
        "src/deep/leaf": "deleted",
        "moved/leaf": "created",
    }


@posix_only
def test_the_output_of_this_program_is_left_out(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(tree / "output", "w") as output:
        monkeypatch.setattr(working_copy, "_OUTPUTS", (output.fileno(), 1 << 20))
        assert changes(tree, lambda: output.write("more") and output.flush()) == {}

        def put_another_in_its_place() -> None:
            (tree / "file").rename(tree / "output")

        assert changes(tree, put_another_in_its_place) == {"file": "deleted", "output": "created"}


@pytest.mark.parametrize("limits", [PATIENT, STAT_ONLY], ids=["with hashes", "by status"])
def test_nothing_is_found_where_nothing_happened(tree: Path, limits: FingerprintLimits) -> None:
    assert changes(tree, lambda: [path.read_bytes() for path in tree.rglob("*") if path.is_file()], limits) == {}


def test_content_that_is_written_again_is_no_change(tree: Path) -> None:
    def act() -> None:
        (tree / "file").write_text("file")
        os.utime(tree / "src/code", (1, 1))
        (tree / "src/deep/leaf").rename(tree / "aside")
        (tree / "src/deep/leaf").write_text("src/deep/leaf")
        (tree / "aside").unlink()

    assert changes(tree, act) == {}
    assert "file" in changes(tree, act, STAT_ONLY), "without a hash, that cannot be known"


@posix_only
@pytest.mark.parametrize("limits", [PATIENT, STAT_ONLY], ids=["with hashes", "by status"])
def test_a_time_that_is_set_back_hides_nothing(tree: Path, limits: FingerprintLimits) -> None:
    status = (tree / "file").stat()

    def act() -> None:
        with (tree / "file").open("r+") as file:
            file.write("EVIL")
        os.utime(tree / "file", ns=(status.st_atime_ns, status.st_mtime_ns))

    assert changes(tree, act, limits) == {"file": "modified"}
    after = (tree / "file").stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (status.st_size, status.st_mtime_ns, status.st_ino)


def test_a_file_that_changed_just_before_it_was_looked_at_is_read_again(tree: Path) -> None:
    """Its clock may not have moved on when it changes once more."""
    before = look(tree)
    path = os.path.realpath(tree / "file")
    forged = Fingerprint({**before.files, path: before.files[path]._replace(digest=b"forged")}, began=before.began)
    assert look(tree, forged).files[path].digest == before.files[path].digest


def test_where_a_status_tells_nothing_files_are_read_again(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working_copy, "_STATUS_TELLS", False)
    before = look(tree)
    path = os.path.realpath(tree / "file")
    forged = Fingerprint({**before.files, path: before.files[path]._replace(digest=b"forged")})
    assert look(tree, forged).files[path].digest == before.files[path].digest


def test_hashes_are_kept_for_what_has_not_changed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not working_copy._STATUS_TELLS:
        return
    before = look(tree)
    (tree / "src/new").write_text("new")
    monkeypatch.setattr(working_copy, "_RECENT", 0)
    read, take = [], working_copy._Look._read

    def noted(self: working_copy._Look, path: str, size: int) -> bytes | None:
        read.append(path)
        return take(self, path, size)

    monkeypatch.setattr(working_copy._Look, "_read", noted)
    look(tree, before)
    assert read == [os.path.realpath(tree / "src/new")]


@posix_only
def test_permission_bits_are_looked_at(tree: Path) -> None:
    assert changes(tree, lambda: (tree / "file").chmod(0o755)) == {"file": "mode"}
    assert changes(tree, lambda: (tree / "file").chmod(0o644), STAT_ONLY) == {"file": "mode"}


@posix_only
def test_links_are_files_of_their_own_and_never_followed(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "file").write_text("one")
    (tree / "out").symlink_to(outside)
    (tree / "to-file").symlink_to("file")
    (tree / "loop").symlink_to(".")
    assert changes(tree, lambda: (outside / "file").write_text("two")) == {}

    def act() -> None:
        (tree / "to-file").unlink()
        (tree / "to-file").symlink_to("src/code")
        (tree / "src/code").unlink()
        (tree / "src/code").symlink_to("../file")

    assert changes(tree, act) == {"to-file": "modified", "src/code": "modified"}


@posix_only
def test_what_is_no_file_is_seen_and_not_opened(tree: Path) -> None:
    def act() -> None:
        (tree / "file").unlink()
        os.mkfifo(tree / "file")
        os.mkfifo(tree / "src/fifo")

    assert changes(tree, act) == {"file": "modified", "src/fifo": "created"}


@posix_only
def test_a_file_that_becomes_a_fifo_meanwhile_stops_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = working_copy._Look._entries

    def swapped(self: object, directory: str) -> object:
        found = entries(self, directory)
        [entry.stat(follow_symlinks=False) for entry in found]
        if directory == os.path.realpath(tree):
            (tree / "file").unlink()
            os.mkfifo(tree / "file")
        return found

    monkeypatch.setattr(working_copy._Look, "_entries", swapped)
    assert look(tree).files[os.path.realpath(tree / "file")].digest is None


def test_of_git_only_what_it_runs_is_looked_at(tree: Path) -> None:
    for name in (".git/hooks", ".git/objects/ab", ".git/info", ".git/modules/sub/hooks", "src/.git/hooks"):
        (tree / name).mkdir(parents=True)

    def act() -> None:
        for name in ("index", "HEAD", "objects/ab/cdef", "info/exclude"):
            (tree / ".git" / name).write_text("x")
        for name in ("config", "hooks/pre-commit", "info/attributes", "modules/sub/hooks/post-checkout"):
            (tree / ".git" / name).write_text("x")
        (tree / "src/.git/hooks/pre-push").write_text("x")

    assert set(changes(tree, act)) == {
        ".git/config",
        ".git/hooks/pre-commit",
        ".git/info/attributes",
        ".git/modules/sub/hooks/post-checkout",
        "src/.git/hooks/pre-push",
    }


@posix_only
def test_what_is_changed_in_memory_is_found_although_it_leaves_no_time(tree: Path) -> None:
    """After the first change the system lets a program change its mapping as it likes, until it writes that back."""
    with (tree / "file").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0:1] = b"x"
        earlier = evolve(look(tree), began=time.time_ns() + 1_000_000_000)
        mapped[1:2] = b"y"
        assert [change.kind for change in compare(earlier, look(tree, earlier))] == ["modified"]


@posix_only
@pytest.mark.parametrize("name", ["hooks", "info", "modules", "modules/sub/hooks", "config"])
def test_links_that_lead_git_elsewhere_are_found(tree: Path, name: str) -> None:
    (tree / ".git" / name).parent.mkdir(parents=True)
    assert changes(tree, lambda: (tree / ".git" / name).symlink_to(tree / "src")) == {f".git/{name}": "created"}


def test_files_that_lead_git_elsewhere_are_found(tree: Path) -> None:
    names = (".git/commondir", ".git/worktrees/one/commondir", ".git/worktrees/one/gitdir")
    names = (*names, ".git/rebase-merge/git-rebase-todo")
    for name in names:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
    assert set(changes(tree, lambda: [(tree / name).write_text("x") for name in names])) == set(names)


def test_a_submodule_may_be_called_like_what_git_keeps(tree: Path) -> None:
    module = tree / ".git" / "modules" / "logs"
    for directory in (module / "refs", module / "hooks"):
        directory.mkdir(parents=True)
    for name in ("HEAD", "config"):
        (module / name).write_text("x")

    def act() -> None:
        (module / "config").write_text("y")
        (module / "hooks" / "pre-commit").write_text("y")
        (module / "refs" / "config").write_text("y")

    assert changes(tree, act) == {
        ".git/modules/logs/config": "modified",
        ".git/modules/logs/hooks/pre-commit": "created",
    }


def test_a_directory_called_hooks_makes_nothing_of_what_git_keeps_suspicious(tmp_path: Path) -> None:
    (tmp_path / "hooks" / ".git").mkdir(parents=True)
    assert changes(tmp_path / "hooks", lambda: (tmp_path / "hooks/.git/index").write_text("x")) == {}


def test_what_git_ignores_is_looked_at(tree: Path) -> None:
    (tree / ".gitignore").write_text("*\n")
    assert changes(tree, lambda: (tree / ".env").write_text("SECRET=1")) == {".env": "created"}


def test_roots_that_lie_in_each_other_are_one(tree: Path) -> None:
    found = take_fingerprint([str(tree / "src"), str(tree), str(tree / "src/deep")], limits=PATIENT)
    assert found == look(tree)
    sibling = tree.parent / f"{tree.name}-too"
    sibling.mkdir()
    (sibling / "file").write_text("x")
    both = take_fingerprint([str(tree), str(sibling)], limits=PATIENT)
    assert set(both.files) - set(found.files) == {os.path.realpath(sibling / "file")}


def test_a_root_that_does_not_exist_is_empty(tree: Path) -> None:
    assert look(tree / "none") == Fingerprint({})


# Bounds


def test_what_is_too_much_is_said_and_only_the_known_is_compared(tree: Path) -> None:
    for number in range(50):
        (tree / "src" / f"{number:03}").write_text("x")
    few = FingerprintLimits(max_files=10, max_seconds=60)
    before = look(tree, limits=few)
    assert before.problem == "there are more than 10 files and directories"
    (tree / "file").write_text("changed")
    (tree / "another").write_text("new")
    assert compare(before, look(tree, limits=few)) == [
        Difference(os.path.realpath(tree / "file"), DifferenceKind.MODIFIED)
    ]


def test_a_directory_of_too_many_is_not_read_to_its_end(tree: Path) -> None:
    for number in range(50):
        (tree / "src" / f"{number:03}").mkdir()
    assert look(tree, limits=FingerprintLimits(max_files=10, max_seconds=60)).problem is not None
    assert look(tree, limits=FingerprintLimits(max_files=56, max_seconds=60)).problem is None
    assert look(tree, limits=FingerprintLimits(max_files=55, max_seconds=60)).problem is not None


def test_it_gives_up_in_time_or_when_nobody_waits(tree: Path) -> None:
    assert look(tree, limits=FingerprintLimits(max_seconds=-1)).problem == "looking at the files took more than -1 s"
    stopped = threading.Event()
    stopped.set()
    found = take_fingerprint([str(tree)], stopped=stopped.is_set)
    assert found.problem == "looking at the files was given up"


def test_an_error_of_the_disk_is_said(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = os.scandir

    def fails(path: str) -> object:
        if path.endswith("src"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", fails)
    found = look(tree)
    assert found.problem == f"{os.path.realpath(tree / 'src')} cannot be looked at: Permission denied"
    assert os.path.realpath(tree / "file") in found.files


def test_only_so_much_is_read_for_hashes(tree: Path) -> None:
    limits = FingerprintLimits(max_seconds=60, max_hashed=12, max_hashed_file=10)
    (tree / "big").write_text("x" * 11)
    hashed = {name for name, state in look(tree, limits=limits).files.items() if state.digest is not None}
    assert {os.path.basename(name) for name in hashed} == {"file", "code"}


# A law

names = st.sampled_from(["a", "b", "c", "d"])
contents = st.binary(max_size=3)


@given(before=st.dictionaries(names, contents), after=st.dictionaries(names, contents))
def test_the_changes_are_the_difference(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, bytes], after: dict[str, bytes]
) -> None:
    root = tmp_path_factory.mktemp("law")

    def fill(wanted: dict[str, bytes]) -> None:
        for path in root.iterdir():
            if path.name not in wanted:
                path.unlink()
        for name, content in wanted.items():
            if not (root / name).exists() or (root / name).read_bytes() != content:
                (root / name).write_bytes(content)

    fill(before)
    expected = dict.fromkeys(after.keys() - before.keys(), "created")
    expected |= dict.fromkeys(before.keys() - after.keys(), "deleted")
    expected |= {name: "modified" for name in before.keys() & after.keys() if before[name] != after[name]}
    assert changes(root, lambda: fill(after)) == expected
    assert all(stat.S_ISREG(state.mode) for state in look(root).files.values())
