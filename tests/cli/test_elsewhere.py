"""``acp-host agent --ws`` and ``--http`` serve an agent over a network; ``run`` and ``inspect`` take its URL."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.certificates import make_certificate
from tests.cli.conftest import PATIENCE, PROGRAM, Command


@contextmanager
def served(
    *arguments: str, way: str = "--ws", env: dict[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run ``acp-host agent --ws`` as a process, or ``--http``; its URL is the second value."""
    line = [*PROGRAM, "agent", way, *arguments]
    program = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}
    )
    assert program.stdout is not None
    assert program.stderr is not None
    try:
        yield program, program.stdout.readline().strip()
    finally:
        program.kill()
        program.communicate()


def without_token(url: str) -> tuple[str, str]:
    [token] = parse_qs(urlsplit(url).query)["token"]
    return url.partition("?")[0], token


@pytest.mark.parametrize("way", ["ws", "http"])
def test_a_prompt_to_an_agent_at_a_url(command: Command, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    with served(way=f"--{way}") as (_, printed):
        url, token = without_token(printed)
        assert url.startswith(f"{way}://127.0.0.1:")
        assert url.endswith("/acp")
        monkeypatch.setenv("AGENT_TOKEN", token)
        where = ("--cwd", "/workspace", "--bearer-env", "AGENT_TOKEN")
        ran = command("run", *where, url, "--", "/say Hello from elsewhere")
        assert (ran.code, ran.out) == (0, "Hello from elsewhere\n")
        assert token not in ran.err
        ran = command("run", "--cwd", "/workspace", url, "--", "/say Hello")
        assert ran.code == 1
        assert "HTTP status 401" in ran.err
        assert ran.err.endswith("The command takes a token with --bearer-env VAR.\n")
        ran = command("run", "--cwd", "/workspace", "--header", f"Authorization: Bearer {token}", url, "--", "/say Hi")
        assert (ran.code, ran.out) == (0, "Hi\n")
        ran = command("run", "--cwd", "/workspace", "-v", printed, "--", "/say Hi")
        assert (ran.code, ran.out) == (0, "Hi\n")
        assert token not in ran.err


def test_a_look_at_an_agent_at_a_url(command: Command) -> None:
    with served() as (_, printed):
        ran = command("inspect", "--json", printed)
        assert (ran.code, ran.err) == (0, "")
        assert json.loads(ran.out)["agreement"]
        ran = command("inspect", "-v", printed)
        assert ran.code == 0
        assert without_token(printed)[0] in ran.out.replace("\n", "")
        assert without_token(printed)[1] not in ran.out


def test_the_harn_like_agent_is_served_too(command: Command) -> None:
    with served("--harn") as (_, printed):
        ran = command("inspect", "--json", printed)
        assert "harn" in ran.out


def test_files_of_this_machine_only_where_that_is_said(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("12345")
    with served() as (_, printed):
        asked = ("run", "--read-files", "--cwd", str(tmp_path))
        ran = command(*asked, printed, "--", f"/read {tmp_path / 'a.txt'}")
        assert ran.code == 2
        assert "--allow-remote-services" in ran.err
        ran = command(*asked, "--allow-remote-services", printed, "--", f"/read {tmp_path / 'a.txt'}")
        assert (ran.code, ran.out) == (0, "It has 5 characters.\n")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["run", "ws://127.0.0.1:9/", "--", "Hi"], "needs --cwd"),
        (["run", "--cwd", "/w", "ws://127.0.0.1:9/", "--flag", "--", "Hi"], "is the whole agent"),
        (["run", "--cwd", "/w", "gopher://127.0.0.1:9/", "--", "Hi"], "begins with ws://"),
        (["inspect", "ws://user:pa55word@127.0.0.1:9/#x"], "fragment"),
        (["inspect", "--bearer-env", "NOT_SET_AT_ALL", "ws://127.0.0.1:9/"], "NOT_SET_AT_ALL is not set"),
        (["inspect", "--header", "no-colon", "ws://127.0.0.1:9/"], "a colon"),
        (["inspect", "--header", "Host: x", "ws://127.0.0.1:9/"], "set by the transport"),
        (["inspect", "--header", "A: b", "agent"], "for an agent at a URL"),
        (["agent", "--ws", "--host", "0.0.0.0"], "other machines"),
        (["agent", "--ws", "--token-env", "NOT_SET_AT_ALL"], "NOT_SET_AT_ALL is not set"),
        (["agent", "--ws", "--path", "acp"], "begins with a slash"),
        (["agent", "--http", "--path", "acp"], "begins with a slash"),
        (["agent", "--http", "--host", "0.0.0.0"], "other machines"),
        (["agent", "--ws", "--certificate", "c.pem", "k.pem"], "--certificate is for --http"),
    ],
)
def test_command_lines_that_are_wrong(command: Command, arguments: list[str], words: str) -> None:
    ran = command(*arguments)
    assert ran.code == 2
    assert words in ran.err.replace("\n", " ")
    assert "pa55word" not in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("way", ["--ws", "--http"])
@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_ends_it_cleanly(number: int, code: int, way: str) -> None:
    env = {"TOKEN_OF_THIS_TEST": "a-token-that-is-long-enough"}
    with served("--token-env", "TOKEN_OF_THIS_TEST", env=env, way=way) as (program, printed):
        assert printed.endswith("/acp"), "a token that somebody keeps is not printed"
        program.send_signal(number)
        assert program.wait(PATIENCE) == code
        assert program.stderr is not None
        said = program.stderr.read()
        assert said.startswith("acp-host: whoever has the token in TOKEN_OF_THIS_TEST can use the agent")
        assert "Traceback" not in said


def test_over_https(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with served("--certificate", str(certificate), str(key), way="--http") as (_, printed):
        assert printed.startswith("https://127.0.0.1:")
        ran = command("run", "--cwd", "/workspace", printed, "--", "/say Hello")
        assert (ran.code, ran.out) == (0, "Hello\n")


def test_over_stdio_it_is_the_agent_that_hosts_launch(command: Command) -> None:
    ran = command("run", *PROGRAM, "agent", "--", "/say Hello")
    assert (ran.code, ran.out) == (0, "Hello\n")
