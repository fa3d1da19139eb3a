"""What is remembered: exactly what was decided, as long as the user chose, in a file that nobody else can write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given

from acp_host.errors import InvalidInput, InvalidState
from acp_host.services.permission_memory import (
    RememberedDecisions,
    RememberScope,
    what_is_remembered,
)
from acp_host.services.permission_subject import PermissionSubject
from tests.services.permission_strategies import subjects

EDIT = PermissionSubject(agent="a", session_id="s", kind="edit", paths=("/w/x", "/w/y"), cwd="/w")
COMMAND = PermissionSubject(agent="a", session_id="s", kind="execute", command="make", cwd="/w")


@pytest.fixture
def memory(tmp_path: Path) -> RememberedDecisions:
    return RememberedDecisions(tmp_path / "new" / "permissions.toml")


@pytest.mark.parametrize("scope", RememberScope)
@pytest.mark.parametrize("allows", [True, False])
def test_exactly_the_same_is_answered(memory: RememberedDecisions, scope: str, allows: bool) -> None:
    for about in (EDIT, COMMAND):
        memory.remember(about, allows=allows, scope=scope)
        found = memory.find(about)
        assert found is not None
        assert found.allows is allows
    assert memory.find(evolve(EDIT, paths=("/w/y", "/w/x"), title="in other words")) is not None


@pytest.mark.parametrize(
    ("about", "change"),
    [
        (EDIT, {"agent": "b"}),
        (EDIT, {"kind": "delete"}),
        (EDIT, {"kind": None}),
        (EDIT, {"paths": ("/w/x",)}),
        (EDIT, {"paths": ("/w/x", "/w/y", "/w/z")}),
        (EDIT, {"command": "make"}),
        (EDIT, {"readable": False}),
        (COMMAND, {"command": "make install"}),
        (COMMAND, {"directory": "/etc"}),
        (COMMAND, {"cwd": "/v"}),
        (COMMAND, {"env": ("PATH",)}),
    ],
)
def test_anything_else_is_not(memory: RememberedDecisions, about: PermissionSubject, change: dict[str, Any]) -> None:
    memory.remember(about, allows=True, scope="always")
    assert memory.find(evolve(about, **change)) is None


def test_a_move_cannot_be_remembered_since_its_paths_do_not_say_which_way(memory: RememberedDecisions) -> None:
    move = evolve(EDIT, kind="move")
    assert what_is_remembered(move) is None
    with pytest.raises(InvalidInput, match="do not say what is done"):
        memory.remember(move, allows=True, scope="always")


def test_a_move_that_an_earlier_version_has_remembered_answers_nothing(memory: RememberedDecisions) -> None:
    memory.remember(EDIT, allows=True, scope="always")
    assert memory.path is not None
    memory.path.write_text(memory.path.read_text().replace('"edit"', '"move"'))
    [kept] = memory.decisions
    assert kept.kind == "move"
    assert memory.find(evolve(EDIT, kind="move")) is None


@given(subjects, subjects)
def test_what_answers_for_another_subject_is_equal_in_all_that_counts(
    one: PermissionSubject, other: PermissionSubject
) -> None:
    memory = RememberedDecisions()
    if what_is_remembered(one) is None:
        with pytest.raises(InvalidInput):
            memory.remember(one, allows=True, scope="always")
        return
    memory.remember(one, allows=True, scope="always")
    found = memory.find(other)
    same = all(getattr(one, name) == getattr(other, name) for name in ("agent", "kind", "command", "cwd", "env"))
    same = same and set(one.paths) == set(other.paths) and other.readable
    assert (found is not None) == same


def test_for_a_session_is_for_that_session_and_never_written(memory: RememberedDecisions) -> None:
    memory.remember(EDIT, allows=True, scope="session")
    assert memory.find(evolve(EDIT, session_id="t")) is None
    assert memory.path is not None
    assert not memory.path.exists()
    memory.forget_session("s")
    assert memory.find(EDIT) is None


def test_always_outlives_the_object_in_a_file_of_the_users_own(memory: RememberedDecisions) -> None:
    made = memory.remember(EDIT, allows=False, scope="always")
    memory.remember(COMMAND, allows=True, scope="always")
    assert memory.path is not None
    assert memory.path.stat().st_mode & 0o777 == 0o600
    assert memory.path.parent.stat().st_mode & 0o777 == 0o700
    assert os.listdir(memory.path.parent) == [memory.path.name]
    again = RememberedDecisions(memory.path)
    assert again.decisions == memory.decisions
    assert again.find(evolve(EDIT, session_id="t")) == made


def test_a_later_answer_takes_the_place_of_an_earlier_one(memory: RememberedDecisions) -> None:
    memory.remember(EDIT, allows=True, scope="always")
    memory.remember(EDIT, allows=False, scope="always")
    [only] = memory.decisions
    assert not only.allows
    memory.remember(EDIT, allows=True, scope="session")
    found = memory.find(EDIT)
    assert found is not None
    assert found.allows


def test_it_can_be_forgotten(memory: RememberedDecisions) -> None:
    edit = memory.remember(EDIT, allows=True, scope="always")
    memory.remember(COMMAND, allows=True, scope="session")
    memory.forget(edit)
    assert memory.find(EDIT) is None
    assert len(memory.decisions) == 1
    memory.remember(EDIT, allows=True, scope="always")
    memory.forget_all()
    assert memory.decisions == ()


def test_a_subject_that_is_too_vague_is_not_remembered(memory: RememberedDecisions) -> None:
    vague: list[dict[str, Any]] = [{"paths": ()}, {"kind": None}, {"kind": "deploy"}]
    vague += [{"kind": "read", "shows_diff": True}]
    vague += [{"kind": kind} for kind in ("execute", "fetch", "other", "think", "switch_mode")]
    for about in (evolve(EDIT, **fields) for fields in vague):
        assert what_is_remembered(about) is None
        with pytest.raises(InvalidInput, match="cannot be remembered"):
            memory.remember(about, allows=True, scope="always")
    with pytest.raises(InvalidInput, match="not 'ever'"):
        memory.remember(EDIT, allows=True, scope="ever")


def test_what_is_remembered_is_said_in_a_sentence(memory: RememberedDecisions) -> None:
    assert what_is_remembered(EDIT) == "a: edit /w/x, edit /w/y"
    assert what_is_remembered(evolve(COMMAND, command="x\x1b[2J")) == r"a: run 'x\x1b[2J'"
    assert str(memory.remember(COMMAND, allows=False, scope="session")) == "a may not run 'make' in this session"


def spoil_mode(path: Path) -> None:
    path.chmod(0o644)


def spoil_link(path: Path) -> None:
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


def spoil_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def spoil_toml(path: Path) -> None:
    path.write_text("decisions = [")


def spoil_key(path: Path) -> None:
    path.write_text("[[decisions]]\nallows = true\nagent = 'a'\nkind = 'edit'\nanything = 'else'\n")


def spoil_type(path: Path) -> None:
    path.write_text("[[decisions]]\nallows = 1\nagent = 'a'\nkind = 'edit'\n")


def spoil_shape(path: Path) -> None:
    path.write_text("decisions = [1]")


def spoil_owner(path: Path) -> None:
    os.chown(path, 12345, -1)


SPOILERS = [spoil_mode, spoil_link, spoil_fifo, spoil_toml, spoil_key, spoil_type, spoil_shape, spoil_owner]


def unread(path: Path) -> list[int]:
    """What the system keeps about a file and reading it does not change."""
    status = path.lstat()
    return [status.st_mode, status.st_ino, status.st_uid, status.st_gid, status.st_size, status.st_mtime_ns]


@pytest.mark.skipif(os.name != "posix", reason="modes and owners are POSIX's")
@pytest.mark.parametrize("spoil", SPOILERS)
def test_a_file_that_cannot_be_trusted_is_neither_used_nor_overwritten(memory: RememberedDecisions, spoil: Any) -> None:
    if spoil is spoil_owner and os.geteuid() != 0:
        pytest.skip("only root gives files away")
    memory.remember(EDIT, allows=True, scope="always")
    assert memory.path is not None
    spoil(memory.path)
    before = unread(memory.path)
    for use in (lambda: memory.find(EDIT), lambda: memory.remember(COMMAND, allows=True, scope="always")):
        with pytest.raises(InvalidState, match=r"is not used: .*; mend the file or remove it"):
            use()
    assert unread(memory.path) == before or spoil is spoil_fifo


def test_an_application_has_a_place_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = RememberedDecisions.for_user("my-editor").path
    assert path is not None
    assert path.parts[-2:] == ("my-editor", "permissions.toml")
