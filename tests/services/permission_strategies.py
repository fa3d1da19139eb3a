"""Policies and subjects of every sort, small enough that they often meet."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from acp_host.services.permission_rules import PermissionRule
from acp_host.services.permission_subject import PermissionSubject
from acp_host.services.permissions import PermissionPolicy

NOW = datetime(2026, 6, 1, tzinfo=UTC)
CWD = "/w"
DECISIONS = ["allow_once", "allow_always", "reject_once", "reject_always", "ask"]

_kinds = st.sampled_from(["read", "edit", "execute", "unknown", "*"])
_globs = st.sampled_from(["src/**", "*", "**", "src/*.py", "/etc/**", "tests/", "~/x", "src/a.py"])
_lines = st.sampled_from(["git *", "*", "rm *", "git status", "git status*"])
paths = st.sampled_from(["/w/src/a.py", "/w/src/sub/b", "/w/a", "/etc/passwd", "/w/tests/t", "/W/SRC/A.PY", "/"])
commands = st.sampled_from(["git status", "git status; rm -rf /", "rm x", "git log $(rm x)", "./git x", ""])


def _some(items: Any) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=2).map(tuple)


@st.composite
def rules(draw: st.DrawFn, decisions: Any = tuple(DECISIONS)) -> PermissionRule:
    commands, programs = draw(_some(_lines)), draw(_some(st.sampled_from(["git", "rm"])))
    of_commands: dict[str, Any] = {}
    if commands or programs:
        of_commands = {"shell": draw(st.booleans()), "env": draw(_some(st.sampled_from(["CI", "*"])))}
    return PermissionRule(
        decision=draw(st.sampled_from(decisions)),
        name=draw(st.sampled_from(["", "a", "b\n\x1b"])),
        kinds=draw(_some(_kinds)),
        titles=draw(_some(st.sampled_from(["*", "Edit*"]))),
        paths=draw(_some(_globs)),
        commands=commands,
        programs=programs,
        agents=draw(_some(st.sampled_from(["*", "good"]))),
        sessions=draw(_some(st.sampled_from(["s-*"]))),
        expires=draw(st.sampled_from([None, None, datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)])),
        **of_commands,
    )


policies = st.builds(PermissionPolicy, st.sampled_from(DECISIONS), rules=st.lists(rules(), max_size=5).map(tuple))
subjects = st.builds(
    PermissionSubject,
    agent=st.sampled_from(["good", "bad"]),
    session_id=st.sampled_from(["s-1", "t-1"]),
    kind=st.sampled_from([None, "read", "edit", "execute", "other", "deploy"]),
    title=st.sampled_from(["", "Edit it", "rm x"]),
    paths=st.lists(paths, max_size=3, unique=True).map(tuple),
    command=st.none() | commands,
    cwd=st.just(CWD),
    env=st.lists(st.sampled_from(["CI", "LD_PRELOAD"]), max_size=2).map(tuple),
    readable=st.sampled_from([True, True, True, False]),
)
