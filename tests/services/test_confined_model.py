"""Random trees, links and paths: where a walk ends is held against the system's own way to resolve a path."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_host.errors import InvalidParams
from acp_host.services._confined import HAVE_HANDLES, HandleRoots, PortableRoots, Roots

pytestmark = pytest.mark.skipif(not HAVE_HANDLES, reason="needs handles and links")

NAMES = ["a", "b", "c"]
steps = st.sampled_from([*NAMES, "..", ".", ""])
directories = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join), max_size=5)
targets = st.lists(steps, min_size=1, max_size=4).map("/".join) | st.lists(steps, max_size=4).map(
    lambda parts: "/".join(["{top}", *parts])
)
links = st.dictionaries(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join), targets, max_size=5)
paths = st.lists(steps, min_size=1, max_size=6).map("/".join)


@contextmanager
def tree(folders: list[str], links: dict[str, str]) -> Iterator[Path]:
    """Make directories and links of random places as far as that is possible; ``a`` is the root to be."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(os.path.realpath(name))
        (top / "a").mkdir()
        for folder in folders:
            if not (top / folder).exists():
                (top / folder).mkdir(parents=True)
        for link, target in links.items():
            if (top / link).parent.is_dir() and not os.path.lexists(top / link):
                (top / link).symlink_to(target.format(top=top) or ".")
        yield top


def end_of(roots: Roots, path: str) -> str | None:
    """Return the real path where a walk ends, or ``None`` if it is refused or leads nowhere."""
    try:
        with roots.place(path) as place:
            return place.path
    except (InvalidParams, OSError):
        return None


def is_inside(path: str, root: Path) -> bool:
    return path == str(root) or path.startswith(f"{root}/")


@settings(max_examples=100, deadline=None)
@given(directories, links, paths)
def test_a_walk_ends_where_the_system_says_and_never_outside(
    folders: list[str], links: dict[str, str], path: str
) -> None:
    with tree(folders, links) as top:
        for roots in (HandleRoots([top / "a"]), PortableRoots([top / "a"])):
            end = end_of(roots, f"{top}/a/{path}")
            if end is not None:
                assert end == os.path.realpath(f"{top}/a/{path}")
                assert is_inside(end, top / "a")


@settings(max_examples=100, deadline=None)
@given(directories, links, paths)
def test_a_file_inside_is_found_unless_the_way_leads_out(folders: list[str], links: dict[str, str], path: str) -> None:
    """With every link pointing into the root, and no step above it, the one reason to refuse is what is not there."""
    inside = {link: f"{{top}}/a/{target.rpartition('}')[2]}".replace("..", ".") for link, target in links.items()}
    with tree([f"a/{folder}" for folder in folders], {f"a/{link}": target for link, target in inside.items()}) as top:
        named = f"{top}/a/{path.replace('..', '.')}/file"
        real = os.path.realpath(named)
        if Path(real).parent.is_dir():
            assert end_of(HandleRoots([top / "a"]), named) == real


@settings(max_examples=100, deadline=None)
@given(directories, links, paths)
def test_making_directories_makes_none_outside(folders: list[str], links: dict[str, str], path: str) -> None:
    with tree(folders, links) as top:
        outside = {str(found) for found in top.rglob("*") if not is_inside(str(found), top / "a")}
        try:
            with HandleRoots([top / "a"]).place(f"{top}/a/{path}/file", make_parents=True) as place:
                assert place.path == os.path.realpath(f"{top}/a/{path}/file")
        except (InvalidParams, OSError):
            pass
        assert {str(found) for found in top.rglob("*") if not is_inside(str(found), top / "a")} == outside
