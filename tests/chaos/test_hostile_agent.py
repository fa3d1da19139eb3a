"""An agent that wants out: every way we know to read, write or start something outside of the session's directories.

Whatever the host answers, nothing outside is read, changed or made. Here everything is allowed that can be allowed, so
that only the confinement stands in the way.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_host import FileService, HostConnection, PermissionPolicy, TerminalService
from acp_host.diagnostics import excerpt
from acp_host.services.audit import AuditDecision
from acp_host.testing import ScriptedAgent
from acp_host.testing.chaos.hostile_paths import PATHS, Places
from tests.chaos.bad_agents import ALL, DONE, cancelled, connected, permission

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the paths, links and devices are those of POSIX")

SECRET = "what nobody may know"
LOOT = "what the agent leaves behind"

BOTH_ROOTS = {**ALL, "sessionCapabilities": {**ALL["sessionCapabilities"], "additionalDirectories": {}}}

Answer = dict[str, Any]


def served() -> dict[str, Any]:
    return {"files": FileService(), "terminals": TerminalService(), "permissions": PermissionPolicy.allow_once()}


class Disk:
    """A directory to ``work`` in, a second root ``extra``, and what lies ``outside``."""

    def __init__(self, base: Path) -> None:
        self.base, self.work, self.extra, self.outside = base, base / "work", base / "extra", base / "outside"
        for directory in (self.work / "src", self.extra, self.outside / "deep", base / "workshop"):
            directory.mkdir(parents=True)
        for secret in (self.outside / "secret", self.outside / "deep" / "secret", base / "workshop" / "secret"):
            secret.write_text(SECRET)
        (self.work / "file").write_text("inside")
        (self.work / "src" / "code").write_text("inside")
        self._before = self.elsewhere()

    @property
    def places(self) -> Places:
        return Places(*map(str, (self.base, self.work, self.extra, self.outside)))

    def elsewhere(self) -> dict[str, tuple[Any, ...]]:
        """All that is in none of the roots."""
        found: dict[str, tuple[Any, ...]] = {}
        for directory, folders, files in os.walk(self.base):
            if Path(directory) == self.base:
                folders[:] = [name for name in folders if name not in ("work", "extra")]
            for name in (*folders, *files):
                path = Path(directory, name)
                status = path.lstat()
                content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
                found[str(path)] = (status.st_mode, status.st_ino, content)
        return found

    def is_intact(self) -> bool:
        return self.elsewhere() == self._before

    def is_inside(self, path: str) -> bool:
        return any(Path(path).is_relative_to(root) for root in (self.work, self.extra))

    def settle(self) -> None:
        """What is there now was put there by the test."""
        self._before = self.elsewhere()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path)
    yield made
    assert made.is_intact(), "something outside was changed"


async def attack(disk: Disk, script: Callable[[ScriptedAgent], Any], **arguments: Any) -> HostConnection:
    """Let an agent with one session loose in a turn; return the connection, which is closed by then.

    Every attempt that was refused, and no other one, is in the audit trail as such.
    """
    refusals = 0

    async def whole(agent: ScriptedAgent) -> None:
        nonlocal refusals
        await agent.handshake(BOTH_ROOTS)
        await agent.open_session("session-1")
        prompt = await agent.expect("session/prompt")
        await script(agent)
        refusals = sum("error" in message for message in agent.received)
        agent.reply(DONE, to=prompt)

    async with connected(whole, **{**served(), **arguments}) as host:
        session = await host.new_session(disk.work, additional_directories=[disk.extra])
        await session.prompt("go")
    assert len([record for record in host.audit.records if record.decision != AuditDecision.ALLOWED]) == refusals
    return host


async def read(agent: ScriptedAgent, path: str | Path, session_id: Any = "session-1", **members: Any) -> Answer:
    return await agent.call("fs/read_text_file", {"sessionId": session_id, "path": str(path), **members})


async def write(agent: ScriptedAgent, path: str | Path, session_id: Any = "session-1", text: str = LOOT) -> Answer:
    return await agent.call("fs/write_text_file", {"sessionId": session_id, "path": str(path), "content": text})


async def run(agent: ScriptedAgent, directory: str | Path, session_id: Any = "session-1") -> Answer:
    """Start a command in a directory, and return what it printed or the error."""
    params = {"sessionId": session_id, "command": "pwd", "args": [], "cwd": str(directory)}
    answer = await agent.call("terminal/create", params)
    if "error" in answer:
        return answer
    terminal = {"sessionId": session_id, **answer["result"]}
    await agent.call("terminal/wait_for_exit", terminal)
    output = await agent.call("terminal/output", terminal)
    await agent.call("terminal/release", terminal)
    return output


def refused(answer: Answer, *codes: int) -> bool:
    return "error" in answer and answer["error"]["code"] in (codes or (-32602, -32002))


# Spellings of paths


@pytest.mark.parametrize("spelling", PATHS)
async def test_r140_no_spelling_of_a_path_leads_out(disk: Disk, spelling: str) -> None:
    path = PATHS[spelling](disk.places)

    async def script(agent: ScriptedAgent) -> None:
        assert "error" in await read(agent, path)
        await write(agent, path)  # where the spelling is only a strange name inside, it may be made there
        assert SECRET not in str(await read(agent, path))
        ran = await run(agent, os.path.dirname(path) or path)
        assert "error" in ran or disk.is_inside(ran["result"]["output"].removesuffix("\n"))

    host = await attack(disk, script)
    assert LOOT not in str(disk.elsewhere())
    reads = [record for record in host.audit.records if record.action == "fs/read_text_file"]
    assert [(record.subject, record.session_id) for record in reads[:1]] == [(excerpt(path), "session-1")]


async def test_r140_a_strange_name_inside_is_a_name_like_any_other(disk: Disk) -> None:
    names = [
        "a\nb",
        "a\x1b[31m",
        "...",
        ".. ",
        "a.",
        "a:b",
        "a\\b",
        "CON",
        "-rf",
        "$(touch x)",
        "`x`",
        "\u202ea",
        "%2e",
    ]

    async def script(agent: ScriptedAgent) -> None:
        for name in names:
            assert (await write(agent, disk.work / name))["result"] == {}
            assert (await read(agent, disk.work / name))["result"] == {"content": LOOT}

    await attack(disk, script)
    assert set(names) < set(os.listdir(disk.work))


# Links

LINKS: dict[str, Callable[[Disk], tuple[dict[str, str], str]]] = {
    "to the file": lambda disk: ({"link": f"{disk.outside}/secret"}, "link"),
    "to the file, relative": lambda disk: ({"link": "../outside/secret"}, "link"),
    "to the directory": lambda disk: ({"link": f"{disk.outside}"}, "link/secret"),
    "to the directory above": lambda disk: ({"link": ".."}, "link/outside/secret"),
    "to the file system": lambda disk: ({"link": "/"}, f"link{disk.outside}/secret"),
    "in the middle": lambda disk: ({"src/link": "../../outside"}, "src/link/deep/secret"),
    "after another": lambda disk: ({"first": "src", "src/second": "../../outside"}, "first/second/secret"),
    "up from where a link leads": lambda disk: ({"link": f"{disk.extra}"}, "link/../outside/secret"),
    "a chain": lambda disk: ({"a": "b", "b": "src/../c", "c": "../outside"}, "a/secret"),
    "a long chain": lambda disk: ({**{f"l{n}": f"l{n + 1}" for n in range(60)}, "l60": "../outside"}, "l0/secret"),
    "a link to a link outside": lambda disk: ({"link": "../outside/onward"}, "link"),
    "out and back in": lambda disk: ({"link": "../outside/../work/../outside"}, "link/secret"),
    "to what is not there yet": lambda disk: ({"link": "../outside/new"}, "link"),
    "to a directory that is not there yet": lambda disk: ({"link": "../outside/new"}, "link/file"),
    "with a slash behind": lambda disk: ({"link": "../outside/secret/"}, "link"),
    "with a slash behind its own name": lambda disk: ({"link": "../outside/secret"}, "link/"),
    "with dots behind": lambda disk: ({"link": "../outside/deep"}, "link/./../secret"),
    "by the process's root": lambda disk: ({"link": f"/proc/self/root{disk.outside}"}, "link/secret"),
    "by an open directory": lambda disk: ({"link": "/proc/self/fd"}, "link/0"),
    "by the process's directory": lambda disk: ({"link": "/proc/self/cwd"}, "link/pyproject.toml"),
    "to a device": lambda disk: ({"link": "/dev/zero"}, "link"),
    "to standard input": lambda disk: ({"link": "/dev/stdin"}, "link"),
    "to itself": lambda disk: ({"link": "link"}, "link"),
    "to each other": lambda disk: ({"a": "b", "b": "a"}, "a/secret"),
}


@pytest.mark.parametrize("kind", LINKS)
async def test_r141_no_link_leads_out(disk: Disk, kind: str) -> None:
    links, path = LINKS[kind](disk)
    (disk.outside / "onward").symlink_to("secret")
    disk.settle()
    for name, target in links.items():
        (disk.work / name).symlink_to(target)

    async def script(agent: ScriptedAgent) -> None:
        assert "error" in await read(agent, f"{disk.work}/{path}")
        assert "error" in await write(agent, f"{disk.work}/{path}")
        assert "error" in await write(agent, f"{disk.work}/{path}/new/file")
        assert refused(await run(agent, f"{disk.work}/{os.path.dirname(path) or path}"))

    await attack(disk, script)


async def test_r141_a_root_that_is_pointed_elsewhere_stays_where_it_was(disk: Disk) -> None:
    alias = disk.base / "alias"
    alias.symlink_to("work")
    disk.settle()

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        await agent.open_session("session-1")
        assert (await read(agent, alias / "file"))["result"] == {"content": "inside"}
        alias.unlink()
        alias.symlink_to("outside")
        disk.settle()
        for path in (alias / "secret", alias / "deep" / "secret", alias / "new" / "secret"):
            assert SECRET not in str(await read(agent, path))
            await write(agent, path)
        assert SECRET not in str(await read(agent, disk.outside / "secret"))

    async with connected(script, **served()) as host:
        await host.new_session(alias)


async def test_r141_a_hard_link_is_never_written_through(disk: Disk) -> None:
    """Who can make one can read the file anyway; what it leads to is not changed, because files are replaced."""
    os.link(disk.outside / "secret", disk.work / "hard")

    async def script(agent: ScriptedAgent) -> None:
        assert (await write(agent, disk.work / "hard"))["result"] == {}

    await attack(disk, script)
    assert (disk.work / "hard").read_text() == LOOT


# Races


RENAME_EXCHANGE = 2


def exchange(one: Path, other: Path) -> None:
    """Exchange two files in one step, where the system can."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.renameat2(-1, os.fsencode(one), -1, os.fsencode(other), RENAME_EXCHANGE) == 0
    else:
        aside = one.with_name(one.name + "-aside")
        with contextlib.suppress(OSError):
            os.rename(one, aside)
            os.rename(other, one)
            os.rename(aside, other)


@contextlib.contextmanager
def swapping(*pairs: tuple[Path, Path]) -> Iterator[None]:
    """Let a thread exchange the two of each pair as fast as it can; afterwards all is as it was."""
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            for one, other in pairs:
                exchange(one, other)
                exchange(one, other)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        yield
    finally:
        done.set()
        swapper.join()


@pytest.mark.parametrize("swapped", ["src", "src/deep", "src/deep/file", "src and deep"])
async def test_r142_nothing_that_is_swapped_meanwhile_leads_out(disk: Disk, swapped: str) -> None:
    """Directories and files are exchanged for links that lead out, again and again, while they are used."""
    work, answers = disk.work, set[str]()
    path = work / "src" / "deep" / "file"
    for base in (work / "src", disk.outside):
        (base / "deep").mkdir(exist_ok=True)
        (base / "deep" / "file").write_text("inside" if base == work / "src" else SECRET)
    traps = {"src": disk.outside, "src/deep": disk.outside / "deep", "src/deep/file": disk.outside / "deep" / "file"}
    pairs = []
    for number, name in enumerate(["src/deep", "src"] if swapped == "src and deep" else [swapped]):
        trap = work / f"trap-{number}"
        trap.symlink_to(traps[name])
        pairs.append((work / name, trap))
    disk.settle()

    async def script(agent: ScriptedAgent) -> None:
        with swapping(*pairs):
            for attempt in range(60):
                did = await asyncio.gather(*(read(agent, path) for _ in range(3)))
                answers.update(str(answer.get("result", "refused")) for answer in did)
                await write(agent, work / "src" / "deep" / f"new-{attempt}")
                await write(agent, work / "src" / f"folder-{attempt}" / "deep" / "file")
            for _ in range(20):  # last, because where it hits a link it takes its place
                await write(agent, path, text="inside")

    await attack(disk, script)
    assert SECRET not in str(answers)
    assert {"{'content': 'inside'}", "refused"} <= answers, "the swap was never met; the test shows nothing"


async def test_r142_a_root_that_is_swapped_meanwhile_leads_nowhere_else(disk: Disk) -> None:
    trap = disk.base / "trap"
    trap.symlink_to("outside")
    (disk.work / "secret").write_text("inside")
    disk.settle()
    answers = set()

    async def script(agent: ScriptedAgent) -> None:
        with swapping((disk.work, trap)):
            for _ in range(100):
                answers.add(str((await read(agent, disk.work / "secret")).get("result", "refused")))
                await write(agent, disk.work / "secret", text="inside")

    await attack(disk, script)
    assert answers <= {"{'content': 'inside'}", "refused"}


# What is no ordinary file


async def test_r143_what_is_no_file_is_refused_at_once(disk: Disk) -> None:
    os.mkfifo(disk.work / "fifo")
    (disk.work / "to-fifo").symlink_to("fifo")
    with socket.socket(socket.AF_UNIX) as listening, contextlib.chdir(disk.work):
        listening.bind("socket")

    async def script(agent: ScriptedAgent) -> None:
        for name in ("fifo", "to-fifo", "socket", "src", "src/", "file/", "file/below", "."):
            assert "error" in await read(agent, f"{disk.work}/{name}")
            assert "error" in await write(agent, f"{disk.work}/{name}")

    await attack(disk, script)
    assert stat.S_ISFIFO((disk.work / "fifo").stat().st_mode)


async def test_r143_a_file_that_becomes_a_fifo_meanwhile_stops_nothing(disk: Disk) -> None:
    """Opening a FIFO waits for somebody at its other end, unless it is opened as one that may be something else."""
    os.mkfifo(disk.work / "fifo")

    async def script(agent: ScriptedAgent) -> None:
        with swapping((disk.work / "file", disk.work / "fifo")):
            for _ in range(60):
                await asyncio.gather(read(agent, disk.work / "file"), write(agent, disk.work / "file"))

    await attack(disk, script)


async def test_r143_a_huge_file_costs_nothing(disk: Disk) -> None:
    with (disk.work / "sparse").open("wb") as file:
        file.truncate(2**40)

    async def script(agent: ScriptedAgent) -> None:
        for members in ({}, {"line": 2**31, "limit": 1}, {"line": 1, "limit": 1}):
            assert refused(await read(agent, disk.work / "sparse", **members), -32602)
        assert refused(await write(agent, disk.work / "sparse"), -32602), "what cannot be read is not overwritten"
        assert refused(await write(agent, disk.work / "new", text="x" * (17 * 2**20)), -32602)
        for members in ({"line": -1}, {"limit": -1}, {"line": 1.5}, {"line": "1"}, {"limit": []}):
            assert refused(await read(agent, disk.work / "file", **members), -32602), members
        assert (await read(agent, disk.work / "file", line=2**70))["result"]["content"] == ""

    await attack(disk, script)
    assert not (disk.work / "new").exists()


# Other sessions


@contextlib.asynccontextmanager
async def two_sessions(disk: Disk, script: Callable[[ScriptedAgent], Any]) -> Any:
    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        await agent.open_session("first")
        await agent.open_session("second")
        await script(agent)

    async with connected(whole, **served()) as host:
        yield host, await host.new_session(disk.work), await host.new_session(disk.extra)


async def test_r144_a_session_has_its_own_directories_only(disk: Disk) -> None:
    (disk.extra / "file").write_text("of the second")

    async def script(agent: ScriptedAgent) -> None:
        assert refused(await read(agent, disk.extra / "file", "first"), -32602)
        assert refused(await write(agent, disk.extra / "file", "first"), -32602)
        assert refused(await run(agent, disk.extra, "first"), -32602)
        assert refused(await read(agent, disk.work / "file", "second"), -32602)
        params = {"sessionId": "first", "command": "sleep", "args": ["600"]}
        terminal = (await agent.call("terminal/create", params))["result"]
        for method in ("output", "wait_for_exit", "kill", "release"):
            answer = await agent.call(f"terminal/{method}", {"sessionId": "second", **terminal})
            assert refused(answer, -32002)

    async with two_sessions(disk, script):
        pass
    assert (disk.extra / "file").read_text() == "of the second"


NOBODY = ["", "FIRST", "first ", " first", "first\0", "first\n", "ﬁrst", "third", "../first", "*", "__proto__"]


async def test_r144_an_id_that_is_not_quite_a_sessions_opens_nothing(disk: Disk) -> None:
    async def script(agent: ScriptedAgent) -> None:
        for session_id in (*NOBODY, None, 0, 1.5, True, [], ["first"], {"id": "first"}):
            assert refused(await read(agent, disk.work / "file", session_id))
            assert refused(await write(agent, disk.work / "file", session_id))
            assert refused(await run(agent, disk.work, session_id))

    async with two_sessions(disk, script) as (host, *_):
        pass
    assert (disk.work / "file").read_text() == "inside"
    assert len(host.audit.records) == 3 * (len(NOBODY) + 7)
    assert {str(record.decision) for record in host.audit.records} <= {"rejected", "failed"}


async def test_r144_a_session_that_is_not_there_yet_or_any_more_serves_nothing(disk: Disk) -> None:
    tried, closed = asyncio.Event(), asyncio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        assert refused(await read(agent, disk.work / "file", "a"), -32002)
        tried.set()
        opening = await agent.expect("session/new")
        early = [agent.request("fs/read_text_file", {"sessionId": name, "path": f"{disk.work}/file"}) for name in "ab"]
        agent.reply({"sessionId": "a"}, to=opening)
        assert (await agent.response(early[0]))["result"] == {"content": "inside"}
        assert refused(await agent.response(early[1]), -32002)
        params = {"sessionId": "a", "command": "sleep", "args": ["600"]}
        terminal = (await agent.call("terminal/create", params))["result"]
        agent.reply({}, to=await agent.expect("session/close"))
        await closed.wait()
        assert refused(await read(agent, disk.work / "file", "a"), -32002)
        assert refused(await write(agent, disk.work / "file", "a"), -32002)
        assert refused(await run(agent, disk.work, "a"), -32002)
        for method in ("output", "wait_for_exit", "kill", "release"):
            assert refused(await agent.call(f"terminal/{method}", {"sessionId": "a", **terminal}), -32002)

    async with connected(script, **served()) as host:
        await tried.wait()
        session = await host.new_session(disk.work)
        await host.close_session(session.id)
        closed.set()
    assert (disk.work / "file").read_text() == "inside"


async def test_r144_nothing_is_permitted_any_more_once_its_turn_is_cancelled(disk: Disk) -> None:
    asked: list[Any] = []

    def ask(request: Any) -> str:
        asked.append(request)
        return "allow_once"

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        await agent.open_session("session-1")
        prompt = await agent.expect("session/prompt")
        assert (await write(agent, disk.work / "before"))["result"] == {}
        agent.say("one moment")
        await agent.expect("session/cancel")
        assert refused(await write(agent, disk.work / "after"), -32800)
        assert refused(await run(agent, disk.work), -32800)
        answer = await agent.call("session/request_permission", permission())
        assert answer["result"] == cancelled
        agent.reply({"stopReason": "cancelled"}, to=prompt)

    async with connected(script, **{**served(), "permissions": ask}) as host:
        session = await host.new_session(disk.work)
        async for _ in (turn := session.prompt("go")):
            turn.cancel()
        await turn
    assert len(asked) == 1
    assert not (disk.work / "after").exists()
    assert [str(record.decision) for record in host.audit.records] == ["allowed", "cancelled", "cancelled", "cancelled"]


# Floods


async def test_r145_hundreds_of_attempts_are_all_refused(disk: Disk) -> None:
    """They come at once, and everything else goes on meanwhile."""

    async def script(agent: ScriptedAgent) -> None:
        path = f"{disk.outside}/secret"
        params = {"sessionId": "session-1", "path": path}
        reads = [agent.request("fs/read_text_file", params) for _ in range(450)]
        writes = [agent.request("fs/write_text_file", {**params, "content": LOOT}) for _ in range(450)]
        assert (await read(agent, disk.work / "file"))["result"] == {"content": "inside"}
        for request in (*reads, *writes):
            assert refused(await agent.response(request), -32602)

    host = await attack(disk, script)
    assert len(list(host.diagnostics)) < 450
