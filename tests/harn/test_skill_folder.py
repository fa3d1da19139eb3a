"""Skills that are kept as files: which are found, what is read of them, and what never is."""

from __future__ import annotations

import importlib.util
import logging
import os
from pathlib import Path

import pytest

from acp_host.errors import InvalidInput
from acp_host.harn.bridge import Skill, SkillEntry, SkillFolder
from acp_host.harn.bridge import skill_folder as module

HEAD = """---
name: deploy
description: Ship it
when-to-use: The user says ship
allowed-tools: bash, git
paths: [infra/**]
model: some-model
since: 2026-01-02
---

# Runbook
Go.
"""


def write(folder: Path, skill_id: str, text: str) -> Path:
    path = folder / skill_id / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("text", [HEAD, HEAD.replace("\n", "\r\n"), f"\ufeff{HEAD}"])
def test_a_skill_is_a_head_and_instructions(tmp_path: Path, text: str) -> None:
    write(tmp_path, "deploy", text)
    folder = SkillFolder(tmp_path, source="workspace")
    assert folder.list() == [SkillEntry(id="deploy", name="deploy", description="Ship it", source="workspace")]
    assert folder.fetch("deploy") == Skill(
        name="deploy",
        description="Ship it",
        body="# Runbook\nGo.\n",
        manifest={
            "when_to_use": "The user says ship",
            "allowed_tools": ["bash", "git"],
            "paths": ["infra/**"],
            "model": "some-model",
            "since": "2026-01-02",
        },
    )


def test_skills_stand_anywhere_below(tmp_path: Path) -> None:
    write(tmp_path, "acme/ops/review", "Just words\n")
    write(tmp_path, "b", "---\n---\nMore\n")
    write(tmp_path, ".", HEAD)  # the folder itself is none
    (tmp_path / "c").mkdir()
    (tmp_path / "c/README.md").write_text("no skill")
    folder = SkillFolder(tmp_path)
    assert sorted((entry.id, entry.name) for entry in folder.list()) == [("acme/ops/review", "review"), ("b", "b")]
    review = folder.fetch("acme/ops/review")
    assert review is not None
    assert (review.body, review.manifest) == ("Just words\n", {})


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert SkillFolder(tmp_path / "none").list() == []
    assert SkillFolder(tmp_path / "none").fetch("x") is None


def test_it_is_read_anew_each_time(tmp_path: Path) -> None:
    folder = SkillFolder(tmp_path)
    assert folder.list() == []
    write(tmp_path, "a", "x")
    assert len(folder.list()) == 1


@pytest.mark.parametrize("skill_id", ["../secret", "/etc", "a/../../secret", "", ".", "a/", "A\0"])
def test_no_id_leads_out_of_the_folder(tmp_path: Path, skill_id: str) -> None:
    write(tmp_path, "secret", "the-secret")
    write(tmp_path, "skills/a", "x")
    assert SkillFolder(tmp_path / "skills").fetch(skill_id) is None


@pytest.mark.skipif(os.name == "nt", reason="making links needs a right on Windows")
def test_no_link_leads_out_of_the_folder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    secret = write(tmp_path, "secret", "the-secret")
    inside = write(tmp_path, "skills/a", "x")
    for name, target in (("evil", secret), ("fine", inside)):
        (tmp_path / "skills" / name).mkdir()
        (tmp_path / "skills" / name / "SKILL.md").symlink_to(target)
    (tmp_path / "skills/linked").symlink_to(secret.parent)
    folder = SkillFolder(tmp_path / "skills")
    with caplog.at_level(logging.WARNING, "acp_host.harn"):
        assert sorted(entry.id for entry in folder.list()) == ["a", "fine"]
    assert "evil is left out: it lies outside" in caplog.text
    assert folder.fetch("evil") is None
    assert folder.fetch("linked") is None


BOMB = "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("---\nname: x\n", "no end"),
        ("---\n- a\n---\n", "no mapping"),
        ("---\n: : [\n---\n", "no YAML"),
        (f"---\n{BOMB}\n---\n", "more than 1,000 values"),
        ("---\nx: !!set {a}\n---\n", "a set in it"),
        ("---\nx: !!python/object/apply:os.getcwd []\n---\n", "no YAML"),
        ("x" * (module.MAX_SKILL_SIZE + 1), "larger than"),
        (f"---\nx: {'[' * 5000}\n---\n", "no YAML"),
    ],
    ids=["open", "list", "broken", "bomb", "set", "object", "large", "deep"],
)
def test_what_is_no_skill_is_left_out_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, why: str
) -> None:
    write(tmp_path, "good", "x")
    write(tmp_path, "bad", text)
    folder = SkillFolder(tmp_path)
    with caplog.at_level(logging.WARNING, "acp_host.harn"):
        assert [entry.id for entry in folder.list()] == ["good"]
        assert folder.fetch("bad") is None
    assert why in caplog.text


def test_a_file_that_is_no_text_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "bad", "x").write_bytes(b"\xff\xfe")
    assert SkillFolder(tmp_path).list() == []


def test_names_that_are_none_are_made_of_the_directory(tmp_path: Path) -> None:
    write(tmp_path, "x/deploy", "---\nname: 3\ndescription: [a]\n---\n")
    assert SkillFolder(tmp_path).list() == [SkillEntry(id="x/deploy", name="deploy")]


def test_there_is_an_end_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "MAX_SKILLS", 2)
    for number in range(3):
        write(tmp_path, f"s{number}", "x")
    write(tmp_path, "/".join("abcdefghijkl"), "x")
    assert [entry.id for entry in SkillFolder(tmp_path).list()] == ["s0", "s1"]
    assert "more than 2 skills" in caplog.text


def test_without_the_package_there_is_no_such_thing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"acp-host\[harn\]"):
        SkillFolder(tmp_path)
    assert importlib.util.find_spec("yaml") is not None


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes on Windows")
def test_a_pipe_is_no_skill_and_nobody_waits_for_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe/SKILL.md")
    (tmp_path / "directory/SKILL.md").mkdir(parents=True)
    with caplog.at_level(logging.WARNING, "acp_host.harn"):
        assert SkillFolder(tmp_path).list() == []
    assert "pipe" in caplog.text


def test_hidden_directories_and_the_many_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, ".git/x", "x")
    write(tmp_path, "a", "x")
    write(tmp_path, "b", "x")
    assert [entry.id for entry in SkillFolder(tmp_path).list()] == ["a", "b"]
    monkeypatch.setattr(module, "MAX_DIRECTORIES", 2)
    assert [entry.id for entry in SkillFolder(tmp_path).list()] == ["a"]
    assert "more than 2 directories" in caplog.text
