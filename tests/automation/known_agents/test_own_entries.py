from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from acp_host.automation.known_agents.own_entries import OwnEntry, add_own, read_own, remove_own
from acp_host.automation.known_agents.ways import WayKind
from acp_host.errors import InvalidInput

WRITTEN = """\
# agents of mine

[agents.work]  # the one for work
command = ["opencode", "acp"]
env_from = { OPENAI_API_KEY = "WORK_KEY" }

[agents.lab]
title = "Lab"
url = "wss://agents.example/acp"
bearer_env = "LAB_TOKEN"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agents.toml"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)
    return path


def test_a_file_that_somebody_wrote(path: Path) -> None:
    entries = read_own(write(path, WRITTEN))
    work, lab = entries["work"], entries["lab"]
    assert isinstance(work, OwnEntry)
    assert isinstance(lab, OwnEntry)
    assert (work.command, work.env_from) == (("opencode", "acp"), {"OPENAI_API_KEY": "WORK_KEY"})
    assert (lab.title, lab.url, lab.bearer_env) == ("Lab", "wss://agents.example/acp", "LAB_TOKEN")
    assert lab.way("x").kind is WayKind.OWN


def test_no_file_is_no_entries(path: Path) -> None:
    assert read_own(path) == {}


def test_comments_stay_when_entries_come_and_go(path: Path) -> None:
    write(path, WRITTEN)
    add_own(path, "new", OwnEntry(command=("a b", "--acp"), env_from={"A": "B"}))
    assert WRITTEN.rstrip() in path.read_text()
    assert list(read_own(path)) == ["work", "lab", "new"]
    remove_own(path, "lab")
    text = path.read_text()
    assert "# the one for work" in text
    assert list(read_own(path)) == ["work", "new"]
    added = read_own(path)["new"]
    assert added == OwnEntry(command=("a b", "--acp"), env_from={"A": "B"})


def test_the_first_entry_makes_the_file_and_the_last_leaves_one(path: Path) -> None:
    nested = path.parent / "not" / "there" / "agents.toml"
    add_own(nested, "a.b", OwnEntry(url="ws://127.0.0.1:1/acp"))
    assert list(read_own(nested)) == ["a.b"]
    remove_own(nested, "a.b")
    assert read_own(nested) == {}
    add_own(nested, "again", OwnEntry(command=("x",)))
    assert list(read_own(nested)) == ["again"]


def test_a_name_is_taken_once(path: Path) -> None:
    add_own(path, "a", OwnEntry(command=("x",)))
    with pytest.raises(InvalidInput, match="--replace"):
        add_own(path, "a", OwnEntry(command=("y",)))
    add_own(path, "a", OwnEntry(command=("y",)), replace=True)
    assert read_own(path)["a"] == OwnEntry(command=("y",))
    with pytest.raises(InvalidInput, match="no agent 'b'"):
        remove_own(path, "b")


@pytest.mark.parametrize("name", ["", "-a", "a b", "a/b", "../a", "agent:a", "a\x1b", "ä", "a" * 65])
def test_names_that_cannot_be(path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be the name"):
        add_own(path, name, OwnEntry(command=("x",)))
    assert not path.exists()


def test_no_secret_is_kept(path: Path) -> None:
    with pytest.raises(InvalidInput, match="password or a query") as raised:
        OwnEntry(url="wss://host/acp?key=hunter22222")
    assert "hunter2" not in str(raised.value)
    with pytest.raises(InvalidInput, match="password"):
        OwnEntry(url="wss://me:hunter22222@host/acp")
    with pytest.raises(InvalidInput, match="never values") as raised:
        OwnEntry(command=("x",), env_from={"KEY": "sk-1234567890abcdef"})
    assert "sk-" not in str(raised.value)
    with pytest.raises(InvalidInput, match="never values"):
        OwnEntry(url="wss://host/acp", bearer_env="the token itself")
    with pytest.raises(InvalidInput, match="has a secret") as raised:
        add_own(path, "a", OwnEntry(command=("agent", "--api-key", "sk-1234567890abcdef")))
    assert "sk-" not in str(raised.value)
    assert not path.exists()


@pytest.mark.parametrize(
    "entry, problem",
    [
        ('command = "opencode acp"', "command is a list of texts"),
        ("command = []", "command is a list"),
        ('command = ["a", 1]', "command is a list"),
        ('command = ["a"]\nurl = "ws://x"', "either a command or a url"),
        ('title = "nothing"', "either a command or a url"),
        ('url = "ftp://x"', "begins with ws://"),
        ('url = "wss://x"\nenv_from = {A = "B"}', "env_from is for a command"),
        ('command = ["a"]\nbearer_env = "B"', "bearer_env is for a url"),
        ('command = ["a"]\nenv = {KEY = "value"}', "variables are named in env_from"),
        ('command = ["a"]\ncolour = "red"', "it has colour"),
        ('command = ["a"]\ntitle = 3', "title is a text"),
    ],
)
def test_an_entry_that_cannot_be_used_keeps_its_name(path: Path, entry: str, problem: str) -> None:
    entries = read_own(write(path, f'[agents.bad]\n{entry}\n[agents.good]\ncommand = ["x"]\n'))
    assert isinstance(entries["good"], OwnEntry)
    assert isinstance(entries["bad"], InvalidInput)
    assert problem in str(entries["bad"])


@pytest.mark.parametrize("text", ["[agents", "agents = 3", "\0"])
def test_a_file_that_cannot_be_read_is_not_taken_for_empty(path: Path, text: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be used"):
        read_own(write(path, text))
    with pytest.raises(InvalidInput, match="cannot be used"):
        add_own(path, "a", OwnEntry(command=("x",)))
    assert path.read_text() == text


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_a_file_that_others_can_write_is_refused(path: Path) -> None:
    write(path, WRITTEN).chmod(0o664)
    with pytest.raises(InvalidInput, match="others can write it"):
        read_own(path)


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
def test_a_link_to_the_file_stays_one(path: Path, tmp_path: Path) -> None:
    real = write(tmp_path / "dotfiles.toml", WRITTEN)
    os.symlink(real, path)
    add_own(path, "new", OwnEntry(command=("x",)))
    assert path.is_symlink()
    assert "new" in read_own(real)


def test_a_file_of_megabytes_is_refused(path: Path) -> None:
    with pytest.raises(InvalidInput, match="bytes"):
        read_own(write(path, "# " + "x" * 2**20))
