"""A recording is folded into the very states that its host had: byte by byte, the times left aside."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_host import HostConnection, PermissionPolicy, RequestFailed, Session, harn
from acp_host.host.linter import Linter
from acp_host.recording.format import read_recording
from acp_host.replay import fold_recording
from acp_host.replay.comparing import comparable
from acp_host.testing import HarnAgent, ReferenceAgent
from tests.host.scripts import until
from tests.recording.live import a_turn_that_waits, held


def same(live: dict[str, Any], path: Path) -> None:
    folded = json.loads(fold_recording(path).to_bytes())
    assert folded["diagnostics"] == []
    assert list(folded["sessions"]) == sorted(live)
    for session_id, state in live.items():
        replayed = folded["sessions"][session_id]
        assert written(replayed) == written(state)


def written(state: dict[str, Any]) -> str:
    return json.dumps(comparable(state), sort_keys=True, indent=1)


class TestReferenceAgent:
    async def test_a_whole_conversation_with_files_terminals_and_permissions(self, tmp_path: Path) -> None:
        (tmp_path / "work").mkdir()

        async def talk(host: HostConnection) -> list[Session]:
            session = await host.new_session(tmp_path / "work")
            await session.prompt("Do what you do")
            await session.prompt(f"/run {sys.executable} -c print(1)\n/plans\n/usage\n/title A title\n/compact")
            return [session]

        path = tmp_path / "talk.jsonl"
        live = await held(
            talk,
            ReferenceAgent().transport(),
            path,
            files=True,
            terminals=True,
            permissions=PermissionPolicy.allow_once(),
            unstable=True,
        )
        [state] = live.values()
        assert state["terminals"]
        same(live, path)

    async def test_reminders_notices_options_and_what_the_agent_does_by_itself(self, tmp_path: Path) -> None:
        async def talk(host: HostConnection) -> list[Session]:
            session = await host.new_session(tmp_path)
            await session.remind("2 tests failed", dedupe_key="tests", ttl_turns=2, tags=("ci",))
            await session.prompt("/reminders\n/notices\n/notice-repeat 3 again")
            await session.remind("1 test failed", dedupe_key="tests")
            await session.prompt("/remind look again\n/mode ask\n/commands")
            for option in session.options.snapshot().entries:
                choices = [choice.value for choice in option.choices] or [True]
                await session.set_option(option.id, choices[-1])
            first = session.reminders.entries[0]
            await session.reminders.revoke(first.id)
            await session.prompt("/forget ci\n/every-content")
            return [session]

        path = tmp_path / "talk.jsonl"
        live = await held(talk, ReferenceAgent().transport(), path)
        [state] = live.values()
        assert state["reminders"]["entries"]
        assert state["notices"]["history"]
        same(live, path)

    async def test_cancelling_failing_and_questions(self, tmp_path: Path) -> None:
        async def talk(host: HostConnection) -> list[Session]:
            session = await host.new_session(tmp_path)
            turn = await a_turn_that_waits(session)
            later = session.prompt("/say never")
            later.cancel()
            turn.cancel()
            await turn
            asked = session.prompt("Do what you do")
            await until(lambda: session.state.snapshot().questions)
            asked.cancel()
            await asked
            with pytest.raises(RequestFailed):
                await session.prompt("/error -32603 no luck")
            await session.prompt("/stop max_tokens")
            return [session]

        async def nobody(request: Any) -> Any:
            await asyncio.Event().wait()

        path = tmp_path / "talk.jsonl"
        live = await held(talk, ReferenceAgent().transport(), path, permissions=nobody, files=True)
        same(live, path)

    async def test_sessions_that_are_loaded_forked_and_closed(self, tmp_path: Path) -> None:
        async def talk(host: HostConnection) -> list[Session]:
            session = await host.new_session(tmp_path)
            await session.prompt("/say one")
            fork = await host.fork_session(session.id, tmp_path)
            await fork.prompt("/say two")
            again = await host.load_session(session.id, tmp_path)
            await until(lambda: not again.state.is_replaying)
            await again.prompt("/say three")
            other = await host.new_session(tmp_path)
            await other.prompt("/say four")
            await other.close()
            return [again, fork, other]

        path = tmp_path / "talk.jsonl"
        live = await held(talk, ReferenceAgent().transport(), path)
        same(live, path)


class TestVersionTwo:
    @pytest.mark.parametrize(("asked", "spoken"), [((2, 1), (1, 2)), ((2, 1), (1,)), ((2,), (2,))])
    async def test_a_whole_conversation(self, asked: Any, spoken: Any, tmp_path: Path) -> None:
        async def talk(host: HostConnection) -> list[Session]:
            session = await host.new_session(tmp_path)
            await session.prompt("Do what you do")
            await session.prompt("/plans\n/notices\n/tool\n/compact\n/title X\n/run ls")
            await session.remind("2 tests failed", dedupe_key="tests")
            turn = await a_turn_that_waits(session)
            turn.cancel()
            await turn
            for option in session.options.snapshot().entries:
                choices = [choice.value for choice in option.choices] or [True]
                await session.set_option(option.id, choices[-1])
            again = await host.load_session(session.id, tmp_path)
            await until(lambda: not again.state.is_replaying)
            await again.prompt("/say three")
            return [again]

        path = tmp_path / "talk.jsonl"
        agent = ReferenceAgent(protocol_versions=spoken)
        policy = PermissionPolicy.allow_once()
        live = await held(talk, agent.transport(), path, permissions=policy, protocol_versions=asked)
        same(live, path)
        linter = Linter()
        lines = [line for line in read_recording(path) if line.message is not None]
        assert [finding for line in lines for finding in linter.check(line.direction, line.message)] == []
        assert linter.version == max(set(asked) & set(spoken))

    async def test_an_agent_that_was_asked_for_its_version_on_a_second_connection(self, tmp_path: Path) -> None:
        async def talk(host: HostConnection) -> list[Session]:
            assert host.agreement.protocol_version == 1
            session = await host.new_session(tmp_path)
            await session.prompt("/say one")
            return [session]

        path = tmp_path / "talk.jsonl"
        live = await held(talk, ReferenceAgent.command(), path, protocol_versions=(2, 1))
        assert sum(line.begins_connection for line in read_recording(path)) == 2
        same(live, path)


class TestHarnAgent:
    async def test_a_whole_conversation(self, tmp_path: Path) -> None:
        async def talk(host: HostConnection) -> list[Session]:
            session = await host.new_session(tmp_path)
            await session.prompt("Do what you do")
            await session.remind("2 tests failed", dedupe_key="tests")
            turn = session.prompt("/wait")
            await until(lambda: session.current_turn is turn)
            await session.inject("and the docs")
            turn.cancel()
            await turn
            return [session]

        path = tmp_path / "talk.jsonl"
        live = await held(talk, HarnAgent().transport(), path, permissions=PermissionPolicy.allow_once(), files=True)
        same(live, path)

    async def test_what_a_host_does_beside_other_clients(self, tmp_path: Path) -> None:
        async def talk(host: HostConnection) -> list[Session]:
            session = await host.new_session(tmp_path)
            live = harn.of(session).live
            await live.attach("desk", mode="controller", metadata={"name": "a desk"})
            await live.heartbeat()
            await live.clients()
            await session.prompt("Do what you do")
            await live.detach()
            await live.takeover("desk")
            return [session]

        path = tmp_path / "talk.jsonl"
        live = await held(talk, HarnAgent().transport(), path)
        [state] = live.values()
        assert state["harn"]["liveClients"]
        same(live, path)
