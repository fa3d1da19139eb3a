"""Files that others write: manifests of agents, results, texts; and lines that users type in notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from acp_host.automation.known_agents.download_address import download_address
from acp_host.automation.known_agents.manifest import read_manifests
from acp_host.automation.result import RunOutcome, RunResult
from acp_host.errors import InvalidInput
from acp_host.fleet.job import Job
from acp_host.fleet.patches import ChangedFile
from acp_host.fleet.result import JobResult
from acp_host.fleet.spending import Spent
from acp_host.recording import exact_json
from acp_host.services._text import decode, line_window
from acp_host.services.working_copy import DifferenceKind
from acp_host.ui.jupyter.magic_lines import read_line, read_prompt_options
from tests.automation.known_agents.manifests import by_program, by_runner, registry
from tests.fuzz.seeds import compact
from tests.fuzz.target import Target


def manifests(data: bytes) -> None:
    """A registry is refused, or of what can be started from it nothing is outside of its archive or an option."""
    try:
        found = read_manifests(data, "here", lambda _: None)
    except InvalidInput:
        return
    for manifest in found:
        for package in manifest.packages:
            assert not package.package.startswith(("-", ".", "/"))
        for target in manifest.binaries:
            assert target.archive.startswith(("https://", "http://"))
            assert target.archive == download_address(target.archive)
            assert ".." not in PurePosixPath(target.cmd).parts
            assert not target.cmd.startswith("/")


def _manifest_seeds() -> Iterator[bytes]:
    yield registry(by_runner(), by_program())
    yield compact(by_runner("b", "uvx", "acme-agent[x]==1.2.3", env={"A": "1"}))
    yield compact(by_program(sha256="ab" * 32, args=["--acp", ""], env={"A": ""}))


def results(data: bytes) -> None:
    """The JSON of a job or a result is refused with one error, or says the same when it is written again."""
    try:
        value = exact_json.loads(data)
        written = (kind := _kind(value)).from_json(value).to_json()
    except (ValueError, RecursionError):  # InvalidInput is a ValueError
        return
    assert kind.from_json(written).to_json() == written


def _kind(value: Any) -> Any:
    members = value if isinstance(value, dict) else {}
    return Job if "prompt" in members else JobResult if "job" in members else RunResult


def _result_seeds() -> Iterator[bytes]:
    job = Job("Do it", "/w", id="a", remind=("r",))
    yield compact(job.to_json())
    outcome = RunOutcome(kind="completed", detail="d")
    file = ChangedFile(path="a", kind=DifferenceKind.CREATED, patch=b"+x\xff", allowed=True)
    spent = Spent(tokens=3, cost={"USD": 0.5})
    yield compact(JobResult(job=job, outcome=outcome, attempt=1, files=(file,), spent=spent).to_json())


def stored_texts(data: bytes) -> None:
    """A file is no text, or is the same when its text is written back; windows of lines are pieces of it."""
    try:
        text, encoding = decode(data)
    except UnicodeDecodeError:
        return
    # Agents write a byte order mark, too: it is put back once, also in front of a text that began with two.
    assert encoding.encode(text) == data.removeprefix(encoding.mark if text.startswith("\ufeff") else b"")
    assert line_window(text, 1, 2) + line_window(text, 3, None) == text


def _stored_seeds() -> Iterator[bytes]:
    for codec in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        yield "one\r\ntwo\n\u2028three\U0001f600".encode(codec)


def notebook_lines(data: bytes) -> None:
    """What is typed behind a command of a notebook is understood, or refused with one error."""
    line = data.decode("utf-8", "replace")
    for read in (read_line, read_prompt_options):
        try:
            read(line)
        except InvalidInput:
            continue


def _typed_seeds() -> Iterator[bytes]:
    yield b"connect --name a --permissions ask -- agent --acp 'a b'"
    yield b"prompt -b -i Hello {x}"
    yield b"remind --ttl 3 --tag t Look"
    yield b"use b"
    yield b"-b --"


TARGETS = (
    Target("manifests", manifests, _manifest_seeds, code=("acp_host.automation.known_agents",), longest=800),
    Target("results", results, _result_seeds, code=("acp_host.fleet", "acp_host.automation"), longest=800),
    Target("stored-texts", stored_texts, _stored_seeds, is_json=False, code=("acp_host.services._text",), longest=100),
    Target("notebook-lines", notebook_lines, _typed_seeds, is_json=False, code=("acp_host.ui.jupyter",), longest=100),
)
