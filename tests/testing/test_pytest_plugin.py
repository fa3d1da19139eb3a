"""The fixtures for pytest, as somebody else's tests use them."""

from __future__ import annotations

import asyncio
import importlib.metadata
import re
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

import acp_host
from acp_host.replay.virtual_time import run_in_virtual_time
from acp_host.testing import ReferenceAgent, ReplayTransport, assert_transcript
from tests.docs.snippets import read_page, snippets_of

pytest_plugins = ["pytester"]

SCOPE = "asyncio_default_fixture_loop_scope=function"  # pytest-asyncio warns where it is not said


@pytest.fixture(scope="module", autouse=True)
def loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Load all that the tests below use: what is loaded within one of them is forgotten again by pytester."""
    folder = tmp_path_factory.mktemp("loaded")

    async def use() -> None:
        async with acp_host.connect(ReferenceAgent().transport(), record=folder / "talk.jsonl", files=True) as host:
            await (await host.new_session(folder)).prompt("/read notes.txt")
        async with acp_host.connect(ReplayTransport(folder / "talk.jsonl"), files=True) as host:
            assert_transcript(await host.new_session(folder), [...])

    run_in_virtual_time(use())
    with acp_host.blocking.connect(ReferenceAgent.command()):
        pass


SCRIPT = """
import asyncio, time
import pytest
import acp_host
from acp_host.testing import agent_said, assert_transcript, user_said

async def script(agent):
    await agent.handshake()
    await agent.open_session("s1")
    await agent.expect("session/prompt")
    agent.say("Hello")
    agent.reply({"stopReason": "end_turn"})

async def talk(transport):
    async with acp_host.connect(transport) as host:
        session = await host.new_session()
        await session.prompt("/say Hello")
        return session
"""


@pytest.fixture(params=["with pytest-asyncio", "without it"])
def run(request: pytest.FixtureRequest, pytester: pytest.Pytester):
    """Return what runs tests; coroutines are run by hand where pytest-asyncio is not there."""
    plain = request.param == "without it"
    flags = ["-p", "no:asyncio"] if plain else ["-o", "asyncio_mode=auto", "-o", SCOPE]

    def run(body: str) -> pytest.RunResult:
        if plain:
            body = re.sub(r"^async def (test_\w+)", r"@by_hand\nasync def \1", body, flags=re.MULTILINE)
            body = BY_HAND + body
        pytester.makepyfile(SCRIPT + body)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *flags)

    return run


BY_HAND = """
import functools
def by_hand(test):
    return functools.wraps(test)(lambda *a, **k: asyncio.run(test(*a, **k)))
"""


def test_a_scripted_agent(run) -> None:
    result = run("""
async def test_it(acp_scripted_agent):
    session = await talk(acp_scripted_agent(script).transport())
    assert_transcript(session, [user_said(), agent_said("Hello")])
""")
    result.assert_outcomes(passed=1)


def test_an_expectation_of_a_script_that_is_not_met_fails_the_test(run) -> None:
    result = run("""
async def wrong(agent):
    await script(agent)
    await agent.expect("session/load")

async def test_it(acp_scripted_agent):
    async with acp_host.connect(acp_scripted_agent(wrong).transport()) as host:
        session = await host.new_session()
        await session.prompt("one")
        with pytest.raises(acp_host.AcpError):
            await session.prompt("two")
""")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*AssertionError: the script expected session/load, the host sent *"])


def test_a_host_that_leaves_early_is_no_fault_of_the_script(run) -> None:
    result = run("""
async def test_it(acp_scripted_agent):
    async with acp_host.connect(acp_scripted_agent(script).transport()) as host:
        await host.new_session()
""")
    result.assert_outcomes(passed=1)


def test_a_replayed_agent(run, pytester: pytest.Pytester) -> None:
    with acp_host.blocking.connect(ReferenceAgent.command(), record=str(pytester.path / "talk.jsonl")) as host:
        host.new_session(str(pytester.path)).prompt("/say Hello").wait()
    result = run("""
async def test_it(acp_replayed_agent):
    session = await talk(acp_replayed_agent("talk.jsonl"))
    assert_transcript(session, [user_said(), agent_said("Hello")])

async def test_another_host(acp_replayed_agent):
    async with acp_host.connect(acp_replayed_agent("talk.jsonl")) as host:
        session = await host.new_session()
        with pytest.raises(acp_host.AcpError):
            await session.prompt("/say something else")
""")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*ReplayDiverged*line *"])


def test_a_reference_agent(run) -> None:
    result = run("""
async def test_it(acp_reference_agent):
    assert not (await talk(acp_reference_agent(without=["load"]).transport())).agreement.supports("session/load")
""")
    result.assert_outcomes(passed=1)


def test_a_host_in_virtual_time(run) -> None:
    result = run("""
async def slow(agent):
    await agent.handshake()
    await agent.open_session()
    prompt = await agent.expect("session/prompt")
    await asyncio.sleep(3600)
    agent.say("an hour later")
    await agent.expect("session/cancel")
    agent.reply({"stopReason": "cancelled"}, to=prompt)

async def waits(host):
    session = await host.new_session()
    result = await session.prompt("Hi", idle_timeout=4000)
    assert result.cancel_requested
    return result.text

def test_plain(acp_virtual_host, acp_scripted_agent):
    started = time.monotonic()
    assert acp_virtual_host(acp_scripted_agent(slow), waits) == "an hour later"
    assert time.monotonic() - started < 10

async def test_in_a_coroutine(acp_virtual_host, acp_scripted_agent):
    assert acp_virtual_host(acp_scripted_agent(slow).transport(), waits, files=True) == "an hour later"

def test_files_are_read_in_no_time(acp_virtual_host, acp_reference_agent, tmp_path):
    (tmp_path / "notes.txt").write_text("buy milk")
    async def reads(host):
        session = await host.new_session(tmp_path)
        await session.prompt(f"/read {tmp_path}/notes.txt", idle_timeout=0.5)
        [call] = session.state.snapshot().tool_calls
        return call.status
    assert acp_virtual_host(acp_reference_agent(), reads, files=True) == "completed"
""")
    result.assert_outcomes(passed=3)


def test_what_fails_in_virtual_time_fails_with_its_own_error_alone() -> None:
    async def failing() -> None:
        raise ValueError("its own")

    with pytest.raises(ValueError, match="its own") as raised:
        run_in_virtual_time(failing())
    assert raised.value.__context__ is None


def test_what_threads_do_takes_no_virtual_time() -> None:
    assert run_in_virtual_time(asyncio.wait_for(asyncio.to_thread(time.sleep, 0.05), 1)) is None


def test_the_example_of_the_page(pytester: pytest.Pytester) -> None:
    [example] = [snippet for snippet in snippets_of(read_page("docs/testing.md")) if "def test_" in snippet]
    pytester.makepyfile(f"import asyncio\n{example}")
    pytester.runpytest_inprocess("-p", "no:cacheprovider", "-o", SCOPE).assert_outcomes(passed=1)


def test_what_is_not_used_costs_next_to_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
import sys
def test_it():
    loaded = {name for name in sys.modules if name.startswith("acp_host")}
    assert loaded == {"acp_host", "acp_host._version", "acp_host.printable", "acp_host.testing",
                      "acp_host.testing.pytest_plugin"}
""")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_the_fixtures_are_listed_with_what_they_do(pytester: pytest.Pytester) -> None:
    listed = pytester.runpytest_inprocess("--fixtures", "-o", SCOPE, "-p", "no:cacheprovider").stdout.str()
    for name in ("acp_scripted_agent", "acp_replayed_agent", "acp_reference_agent", "acp_virtual_host"):
        assert re.search(rf"^{name}\b.*\n    \w+", listed, re.MULTILINE)


def requirements(*names: str) -> Iterator[importlib.metadata.Distribution]:
    """Yield distributions and what they need, without extras."""
    waiting, seen = list(names), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # needed elsewhere only
        yield distribution
        for line in distribution.requires or ():
            if "extra ==" not in line:
                waiting.append(re.split(r"[^\w.-]", line, maxsplit=1)[0])


@pytest.mark.skipif(sys.platform == "win32", reason="the packages are linked")
def test_in_an_environment_that_has_nothing_else(tmp_path: Path) -> None:
    """The library with what it requires, and pytest: no pytest-asyncio, no extra."""
    venv.create(tmp_path / "venv", symlinks=True)
    [site] = (tmp_path / "venv").glob("lib/python*/site-packages")
    for distribution in requirements("acp-host", "pytest"):
        for file in distribution.files or ():
            top = Path(str(distribution.locate_file(file.parts[0])))
            if top.parent.name == "site-packages" and top.exists() and not (site / top.name).exists():
                (site / top.name).symlink_to(top)
    (tmp_path / "test_it.py").write_text(
        SCRIPT
        + """
def test_it(acp_scripted_agent):
    with pytest.raises(ImportError):
        import pytest_asyncio
    session = asyncio.run(talk(acp_scripted_agent(script).transport()))
    assert_transcript(session, [user_said(), agent_said("Hello")])
"""
    )
    command = [tmp_path / "venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in ended.stdout, ended.stdout + ended.stderr
