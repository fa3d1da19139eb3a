"""Two changes of one text, put together by git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from acp_host.services.files import Merge, MergeUnavailable, merge_texts, merging

BASE = "one\ntwo\nthree\nfour\nfive\n"


def test_changes_in_different_places_are_both_kept() -> None:
    current, proposed = BASE.replace("one", "1"), BASE.replace("five", "5")
    assert merge_texts(BASE, current, proposed) == Merge("1\ntwo\nthree\nfour\n5\n", clean=True)


def test_changes_that_contradict_each_other_are_both_shown() -> None:
    merge = merge_texts(BASE, BASE.replace("two", "user"), BASE.replace("two", "agent"))
    assert not merge.clean
    assert merge.text == "one\n<<<<<<< current\nuser\n=======\nagent\n>>>>>>> agent\nthree\nfour\nfive\n"


@pytest.mark.parametrize(
    ("base", "current", "proposed", "merged"),
    [("a", "a", "b", "b"), ("a", "b", "a", "b"), ("a", "b", "b", "b"), ("", "", "", ""), ("", "x\n", "x\n", "x\n")],
)
def test_one_change_is_the_result(base: str, current: str, proposed: str, merged: str) -> None:
    assert merge_texts(base, current, proposed) == Merge(merged, clean=True)


def test_line_endings_and_characters_are_kept() -> None:
    base = "grün\r\n\u2028\r\nx\r\ny\r\n"
    merge = merge_texts(base, base.replace("grün", "😀"), base.replace("y", "z"))
    assert merge == Merge("😀\r\n\u2028\r\nx\r\nz\r\n", clean=True)


def test_settings_and_repositories_around_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "settings").write_text("[merge]\nconflictStyle = diff3\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert "|||||||" not in merge_texts(BASE, BASE.replace("two", "user"), BASE.replace("two", "agent")).text


def test_what_git_takes_for_binary_is_not_merged() -> None:
    with pytest.raises(MergeUnavailable, match="binary"):
        merge_texts("a\0\n", "b\0\n", "c\0\n")


def test_without_git_there_is_no_merge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MergeUnavailable, match="not installed"):
        merge_texts("a", "b", "c")


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), subprocess.TimeoutExpired("git", 1.0)])
def test_a_git_that_fails_is_no_merge(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(merging.subprocess, "run", fail)
    with pytest.raises(MergeUnavailable, match=r"Permission denied|took longer"):
        merge_texts("a", "b", "c")
