"""Where paths lead: inside the roots through links, outside by no way, races included."""

from __future__ import annotations

import contextlib
import ntpath
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from acp_host.errors import InvalidInput, InvalidParams
from acp_host.services._confined import (
    HAVE_HANDLES,
    MAX_HOPS,
    HandleRoots,
    PortableRoots,
    Roots,
    confine,
    is_inside,
    is_on_drive_of,
    is_special_on_windows,
)
from acp_host.services._place import ChangedMeanwhile, SpecialFileError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the cases are POSIX paths and links")

KINDS = [PortableRoots] + ([HandleRoots] if HAVE_HANDLES else [])


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> type[Roots]:
    return request.param


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two roots ``work`` and ``extra``, a ``secret`` beside them, and links of every direction."""
    for name in ("work/src/deep", "extra", "secret", "workshop"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "work/file").write_text("inside")
    (tmp_path / "work/src/code").write_text("code")
    (tmp_path / "extra/file").write_text("extra")
    (tmp_path / "secret/key").write_text("secret")
    (tmp_path / "workshop/key").write_text("secret")
    links = {
        "work/to-file": "src/code",
        "work/to-dir": "src",
        "work/src/deep/up": "../../file",
        "work/absolute": str(tmp_path / "work/src"),
        "work/to-extra": "../extra",
        "work/chain": "to-to-dir",
        "work/to-to-dir": "./to-dir/",
        "work/out": "../secret",
        "work/out-absolute": str(tmp_path / "secret/key"),
        "work/out-chain": "to-out",
        "work/to-out": "out/key",
        "work/out-and-back": "../secret/back",
        "secret/back": "../work/file",
        "work/etc": "/etc",
        "work/top": "/",
        "work/proc": "/proc/self/root/etc/passwd",
        "work/loop": "loop",
        "work/ping": "pong",
        "work/pong": "ping",
        "work/dangling": "src/not-yet",
        "alias": "work",
    }
    for link, target in links.items():
        (tmp_path / link).symlink_to(target)
    return tmp_path


def read(roots: Roots, path: str | Path) -> str:
    with roots.place(str(path)) as place:
        return place.read(1000)[0].decode()


@contextlib.contextmanager
def no_descriptor_left() -> Iterator[None]:
    before = sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []
    yield
    after = sorted(os.listdir("/proc/self/fd")) if before else []
    assert after == before


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("work/file", "inside"),
        ("work//.///file", "inside"),
        ("work/src/../file", "inside"),
        ("work/src/deep/../../src/code", "code"),
        ("work/../work/file", "inside"),
        ("work/src/../../extra/file", "extra"),
        ("work/to-file", "code"),
        ("work/to-dir/code", "code"),
        ("work/to-dir/../file", "inside"),
        ("work/src/deep/up", "inside"),
        ("work/absolute/code", "code"),
        ("work/to-extra/file", "extra"),
        ("work/chain/code", "code"),
        ("extra/file", "extra"),
    ],
)
def test_paths_and_links_that_stay_inside_are_followed(tree: Path, kind: type[Roots], path: str, content: str) -> None:
    roots = kind([tree / "work", tree / "extra"])
    with no_descriptor_left():
        assert read(roots, f"{tree}/{path}") == content


HOSTILE = [
    "secret/key",
    "workshop/key",
    "work/../secret/key",
    "work/src/../../secret/key",
    "work/src/deep/../../../secret/key",
    "work/" + "../" * 30 + "etc/passwd",
    "work/out/key",
    "work/out-absolute",
    "work/out-chain",
    "work/to-out",
    "work/etc/passwd",
    "work/top/etc/passwd",
    "work/proc",
    "work/to-extra/../secret/key",
    "work/out/new",
    "work/out/new/deeper",
]


@pytest.mark.parametrize("path", [*HOSTILE, "/etc/passwd", "/", "//etc/passwd", "/proc/self/environ", "/dev/null"])
@pytest.mark.parametrize("make_parents", [False, True])
def test_whatever_leads_out_is_refused(tree: Path, kind: type[Roots], path: str, make_parents: bool) -> None:
    roots = kind([tree / "work", tree / "extra"])
    target = path if path.startswith("/") else f"{tree}/{path}"
    before = sorted(tree.rglob("*"))
    with (
        no_descriptor_left(),
        pytest.raises((InvalidParams, IsADirectoryError)),
        roots.place(target, make_parents=make_parents),
    ):
        pytest.fail("a place was found")
    assert sorted(tree.rglob("*")) == before


@pytest.mark.skipif(not HAVE_HANDLES, reason="only handles see the way, not only where it ends")
def test_a_link_that_leaves_and_comes_back_is_refused(tree: Path) -> None:
    with pytest.raises(InvalidParams, match="outside"):
        read(HandleRoots([tree / "work"]), tree / "work/out-and-back")


def test_what_is_missing_outside_looks_like_what_is_there(tree: Path, kind: type[Roots]) -> None:
    roots = kind([tree / "work"])
    messages = set()
    for path in ("work/out/key", "work/out/nothing"):
        with pytest.raises(InvalidParams) as refused:
            read(roots, tree / path)
        messages.add(refused.value.message.replace(path, ""))
    assert len(messages) == 1


@pytest.mark.parametrize("path", ["file", "", "work/file", "~/file", "./file", "file:///etc/passwd", "C:\\file"])
def test_a_relative_path_is_refused(tree: Path, kind: type[Roots], path: str) -> None:
    with pytest.raises(InvalidParams, match="absolute"):
        read(kind([tree / "work"]), path)


@pytest.mark.parametrize("ending", ["\0", "a\0b", "\ud83d", "byte\udcff", "x" * 5000, "x/../" * 2000])
def test_a_malformed_path_is_refused_without_touching_the_disk(tree: Path, kind: type[Roots], ending: str) -> None:
    with pytest.raises(InvalidParams):
        read(kind([tree / "work"]), f"{tree}/work/{ending}")


@pytest.mark.skipif(not HAVE_HANDLES, reason="the other kind leaves loops to the system")
@pytest.mark.parametrize("path", ["loop", "ping", "loop/file", "src/../" * (MAX_HOPS + 1) + "file"])
def test_loops_and_endless_detours_end(tree: Path, path: str) -> None:
    with no_descriptor_left(), pytest.raises(InvalidParams, match="too many links"):
        read(HandleRoots([tree / "work"]), f"{tree}/work/{path}")


def test_a_root_is_known_by_its_name_and_by_its_real_path(tree: Path, kind: type[Roots]) -> None:
    roots = kind([tree / "alias"])
    assert read(roots, tree / "alias/file") == "inside"
    assert read(roots, tree / "work/file") == "inside"
    # A link may name the root either way as well.
    (tree / "work/by-alias").symlink_to(tree / "alias/src/code")
    assert read(roots, tree / "alias/by-alias") == "code"


@pytest.mark.skipif(not HAVE_HANDLES, reason="the other kind resolves the root's name at every use")
def test_a_root_whose_name_is_pointed_elsewhere_later_stays_what_it_was(tree: Path) -> None:
    roots = HandleRoots([tree / "alias"])
    (tree / "alias").unlink()
    (tree / "alias").symlink_to("secret")
    with pytest.raises(FileNotFoundError):
        read(roots, tree / "alias/key")


@pytest.mark.skipif(not HAVE_HANDLES, reason="needs handles")
def test_a_root_that_becomes_a_link_is_not_followed(tree: Path) -> None:
    roots = HandleRoots([tree / "work", tree / "work/src/deep"])
    (tree / "work/src").rename(tree / "work/gone")
    (tree / "secret/deep").mkdir()
    (tree / "secret/deep/key").write_text("secret")
    (tree / "work/src").symlink_to(tree / "secret")
    with pytest.raises(NotADirectoryError):
        read(roots, tree / "work/src/deep/key")


def test_the_filesystem_root_can_be_a_root(tree: Path, kind: type[Roots]) -> None:
    roots = kind(["/"])
    assert read(roots, tree / "secret/key") == "secret"
    assert read(roots, tree / "work/out/key") == "secret"
    assert roots.directory("/") == "/"


def test_no_roots_allow_nothing(tree: Path, kind: type[Roots]) -> None:
    with pytest.raises(InvalidParams, match="outside"):
        read(kind([]), tree / "work/file")


@pytest.mark.parametrize("root", [".", "work", ""])
def test_a_relative_root_is_the_callers_mistake(root: str) -> None:
    with pytest.raises(InvalidInput, match="absolute"):
        confine([root])


@pytest.mark.parametrize(
    "path", ["work", "work/", "work/src/", "work/src/.", "work/src/..", "work/to-dir", "work/new/"]
)
def test_a_directory_is_not_a_file(tree: Path, kind: type[Roots], path: str) -> None:
    with pytest.raises(IsADirectoryError):
        read(kind([tree / "work"]), f"{tree}/{path}")


@pytest.mark.skipif(not HAVE_HANDLES, reason="the other kind finds out when the file is opened")
def test_a_link_to_a_root_is_a_directory(tree: Path) -> None:
    (tree / "work/self").symlink_to(tree / "work")
    with no_descriptor_left(), pytest.raises(IsADirectoryError):
        read(HandleRoots([tree / "work"]), tree / "work/self")


def test_a_file_has_nothing_below_it(tree: Path, kind: type[Roots]) -> None:
    with pytest.raises(NotADirectoryError):
        read(kind([tree / "work"]), tree / "work/file/below")


def test_parents_are_made_only_when_asked(tree: Path, kind: type[Roots]) -> None:
    roots = kind([tree / "work"])
    path = str(tree / "work/to-dir/a/b/new")
    with pytest.raises(FileNotFoundError), roots.place(path) as place:
        place.stat()
    assert not (tree / "work/src/a").exists()
    with roots.place(path, make_parents=True) as place:
        place.replace(b"new")
    assert (tree / "work/src/a/b/new").read_text() == "new"


@pytest.mark.parametrize("path", ["work/to-dir/a/b/new", "work/src/a/new", "work/dangling", "work/to-file"])
def test_who_permits_is_asked_about_the_real_path_before_anything_is_made(
    tree: Path, kind: type[Roots], path: str
) -> None:
    asked: list[str] = []

    def refuse(real: str) -> None:
        asked.append(real)
        raise InvalidParams("not there")

    before = sorted(tree.rglob("*"))
    real = os.path.realpath(tree / path)
    with (
        no_descriptor_left(),
        pytest.raises(InvalidParams, match="not there"),
        kind([tree / "work"]).place(f"{tree}/{path}", make_parents=True, permit=refuse),
    ):
        pytest.fail("a place was found")
    assert asked == [real]
    assert sorted(tree.rglob("*")) == before


@pytest.mark.skipif(not HAVE_HANDLES, reason="the other kind resolves such steps by name")
def test_a_step_up_from_a_missing_directory_makes_nothing(tree: Path) -> None:
    before = sorted(tree.rglob("*"))
    with (
        pytest.raises(FileNotFoundError),
        HandleRoots([tree / "work"]).place(f"{tree}/work/new/../out/x", make_parents=True),
    ):
        pytest.fail("a place was found")
    assert sorted(tree.rglob("*")) == before


def test_a_dangling_link_is_written_through(tree: Path, kind: type[Roots]) -> None:
    with kind([tree / "work"]).place(str(tree / "work/dangling")) as place:
        place.replace(b"now")
    assert (tree / "work/src/not-yet").read_text() == "now"
    assert (tree / "work/dangling").is_symlink()


@pytest.mark.parametrize(
    ("path", "real"),
    [("work", "work"), ("work/", "work"), ("work/to-dir", "work/src"), ("work/src/..", "work"), ("alias", "work")],
)
def test_a_directory_is_found_by_its_real_path(tree: Path, kind: type[Roots], path: str, real: str) -> None:
    assert kind([tree / "alias"]).directory(f"{tree}/{path}") == os.path.realpath(tree / real)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("work/file", NotADirectoryError),
        ("work/none", FileNotFoundError),
        ("work/out", InvalidParams),
        ("secret", InvalidParams),
    ],
)
def test_what_is_no_directory_inside_is_refused(
    tree: Path, kind: type[Roots], path: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        kind([tree / "work"]).directory(f"{tree}/{path}")


@pytest.mark.skipif(not HAVE_HANDLES, reason="needs handles")
@pytest.mark.parametrize("swapped", ["work/src", "work/src/deep", "work/src/deep/file"])
def test_a_component_that_is_swapped_for_a_link_meanwhile_never_leads_out(tree: Path, swapped: str) -> None:
    """Another process swaps a component between the real thing and a link to a secret, as fast as it can."""
    target = tree / "work/src/deep/file"
    target.write_text("inside")
    (tree / "secret/deep").mkdir()
    for name in ("secret/file", "secret/deep/file"):
        (tree / name).write_text("secret")
    real, trap = tree / "work/real", tree / "work/trap"
    trap.symlink_to(
        {"work/src": tree / "secret", "work/src/deep": tree / "secret/deep"}.get(swapped, tree / "secret/file")
    )
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            os.rename(tree / swapped, real)
            os.rename(trap, tree / swapped)
            os.rename(tree / swapped, trap)
            os.rename(real, tree / swapped)

    roots = HandleRoots([tree / "work"])
    swapper = threading.Thread(target=swap)
    swapper.start()
    outcomes: set[str] = set()
    try:
        for attempt in range(1000):
            outcomes.add(attempt_read_or_write(roots, str(target), attempt))
    finally:
        done.set()
        swapper.join()
    assert "inside" in outcomes
    assert outcomes - {"inside"}, "the swap was never met; the test shows nothing"
    assert "secret" not in outcomes
    assert (tree / "secret/file").read_text() == (tree / "secret/deep/file").read_text() == "secret"
    assert sorted(path.name for path in (tree / "secret").iterdir()) == ["back", "deep", "file", "key"]


def attempt_read_or_write(roots: Roots, path: str, attempt: int) -> str:
    try:
        if attempt % 4:
            return read(roots, path)
        with roots.place(path) as place:
            _, status = place.read(1000)
            place.replace(b"inside", like=status)
            return "inside"
    except (OSError, InvalidParams, SpecialFileError, ChangedMeanwhile) as error:
        return type(error).__name__


@pytest.mark.parametrize(
    "path",
    [
        r"\\?\C:\work\file",
        r"\\.\PhysicalDrive0",
        "//?/C:/work/file",
        r"C:\work\file.txt:stream",
        r"C:\work\file::$DATA",
        r"C:\work\NUL",
        r"C:\work\con.txt",
        r"C:\work\aux .log",
        r"C:\work\COM1",
        r"C:\work\lpt9.txt",
        r"C:\work\.. \secret",
        r"C:\work\file.",
        "C:/work/nul/file",
    ],
)
def test_names_that_windows_reads_in_its_own_way_are_special(path: str) -> None:
    assert is_special_on_windows(path)


@pytest.mark.parametrize("path", [r"C:\work\file.txt", r"C:\work\..\work\.env", "C:/work/console.py", r"C:\a b\nulls"])
def test_ordinary_windows_names_are_not_special(path: str) -> None:
    assert not is_special_on_windows(path)


@pytest.mark.parametrize(
    ("path", "root", "same"),
    [
        (r"C:\work\file", r"c:\work", True),
        (r"C:/work/file", r"C:\work", True),
        (r"D:\work\file", r"C:\work", False),
        (r"\\server\share\file", r"C:\work", False),
        (r"//server/share/file", r"C:\work", False),
        (r"\\localhost\C$\work\file", r"C:\work", False),
        (r"\\?\C:\work\file", r"C:\work", False),
        (r"\\?\UNC\server\share\work\file", r"C:\work", False),
        (r"\\.\C:\work\file", r"C:\work", False),
        (r"//SERVER/Share/work/file", r"\\server\share\work", True),
        (r"\\server\other\work\file", r"\\server\share\work", False),
        (r"\work\file", r"C:\work", False),
    ],
)
def test_shares_and_other_drives_are_known_by_their_names_on_windows(path: str, root: str, same: bool) -> None:
    assert is_on_drive_of(path, [root], ntpath) == same


@pytest.mark.parametrize(
    ("real", "inside"),
    [
        (r"C:\work\file", True),
        (r"c:\WORK\File", True),
        (r"C:\work", True),
        (r"C:\workshop\file", False),
        (r"C:\file", False),
        (r"D:\work\file", False),
    ],
)
def test_case_does_not_count_on_windows(real: str, inside: bool) -> None:
    assert is_inside(real, r"C:\Work", ntpath) == inside
