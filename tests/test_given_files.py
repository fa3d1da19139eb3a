"""What the system says against a file that a caller names is told as a wrong argument, wherever one is read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_host import InvalidInput, PermissionPolicy, read_recording, run_prompt
from acp_host.fleet import Job, Journal, read_jobs
from acp_host.given_files import absolute, reading
from acp_host.host.directories import Directories
from acp_host.replay import fold_recording
from acp_host.services.dry_run import dry_run

READERS: dict[str, Callable[[Any], Any]] = {
    "a policy": PermissionPolicy.load,
    "what a policy would do": lambda path: dry_run(PermissionPolicy.ask(), path),
    "jobs": read_jobs,
    "a recording": lambda path: list(read_recording(path)),
    "the states of a recording": fold_recording,
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
def test_a_file_that_cannot_be_read(read: Callable[[Any], Any], tmp_path: Path) -> None:
    missing = tmp_path / "no" / "such"
    for path, why in ((missing, os.strerror(2)), (str(missing), os.strerror(2)), (tmp_path, "cannot be read: ")):
        with pytest.raises(InvalidInput) as refused:
            read(path)
        assert str(refused.value).startswith(f"{path} cannot be read: ")
        assert why in str(refused.value)
        assert isinstance(refused.value.__cause__, OSError)


def test_where_a_relative_path_was_looked_for() -> None:
    with pytest.raises(InvalidInput, match=r"^nowhere\.toml cannot be read: .*; a relative path is one of the working"):
        PermissionPolicy.load("nowhere.toml")


def test_what_else_goes_wrong_stays_as_it_is() -> None:
    with pytest.raises(KeyError), reading("a"):
        raise KeyError("b")


def test_a_journal(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no journal"):
        Journal.read(tmp_path / "nothing.db")
    with pytest.raises(InvalidInput, match=r"j\.db.* cannot be opened: "):
        Journal(tmp_path / "no/such/folder/j.db")


RELATIVE: dict[str, Callable[[str], Any]] = {
    "a path": absolute,
    "a directory of a session": Directories().absolute,
    "a directory of a run": lambda path: run_prompt(["agent"], "hi", cwd=path),
    "a directory of a job": lambda path: Job("hi", path),
    "a recording of a job": lambda path: Job("hi", "/", record=path),
    "a journal": Journal,
}


@pytest.mark.parametrize("name", RELATIVE.values(), ids=RELATIVE.keys())
def test_a_working_directory_that_is_gone(name: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise FileNotFoundError

    monkeypatch.setattr(os, "getcwd", gone)
    with pytest.raises(InvalidInput, match=r"'\.' is relative to the working directory of this program, and that is"):
        name(".")
