"""Whole conversations of every kind: recorded, made anonymous, and folded from both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import acp_host
from acp_host.recording import encode_line, read_recording
from acp_host.recording.anonymise import anonymise
from acp_host.replay import fold_recording
from acp_host.testing import ReferenceAgent, serve_websocket
from acp_host.testing.harn import HarnAgent
from tests.recording.live import structure

EVERYTHING = ("Show me everything.", "/read notes.md", "/ask Which one?", "/notice warning Careful", "/say The end.")


async def talk(host: acp_host.HostConnection, folder: Path) -> None:
    session = await host.new_session(folder)
    for prompt in EVERYTHING:
        await session.prompt(prompt)


def folds_alike(path: Path) -> str:
    """Hold a recording against what it becomes; return the latter's text."""
    report = path.with_name("report.jsonl")
    report.write_bytes(b"".join(map(encode_line, anonymise(read_recording(path)))))
    before, after = fold_recording(path).to_json(), fold_recording(report).to_json()
    for folded in (before, after):
        assert folded["sessions"], "there is something to compare"
        folded["agreement"].pop("client_info", None)
    assert structure(after["sessions"]) == structure(before["sessions"])
    assert len(after["diagnostics"]) == len(before["diagnostics"])
    return report.read_text(encoding="utf-8")


async def test_version_2(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    agent = ReferenceAgent(protocol_versions=(1, 2))
    async with acp_host.connect(agent.transport(), protocol_versions=(2, 1), record=path) as host:
        assert host.agreement.protocol_version == 2
        await talk(host, tmp_path)
    text = folds_alike(path)
    assert "The end" not in text
    assert str(tmp_path) not in text
    kinds = {
        line.message["params"]["update"]["sessionUpdate"] for line in read_recording(path) if updates(line.message)
    }
    assert {"state_update", "tool_call_update"} <= kinds
    assert kinds == {
        line.message["params"]["update"]["sessionUpdate"]
        for line in read_recording(path.with_name("report.jsonl"))
        if updates(line.message)
    }


def updates(message: Any) -> bool:
    return message is not None and message.get("method") == "session/update"


async def test_harn(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    async with acp_host.connect(HarnAgent.command(), record=path) as host:
        session = await host.new_session(tmp_path)
        await session.prompt("Show me everything about Ann.")
    assert "Ann" not in folds_alike(path)


async def test_an_agent_elsewhere_and_nothing_of_its_token(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    async with serve_websocket(ReferenceAgent().serve) as place:
        url = f"{place.url}?key=hunter22"
        remote = acp_host.RemoteOptions(bearer=place.token)
        async with acp_host.connect(url, remote=remote, record=path) as host:
            await talk(host, tmp_path)
            session = await host.new_session(tmp_path)
            await session.prompt(f"/say {place.token}")
    text = path.read_text(encoding="utf-8")
    assert place.token not in text
    assert "hunter22" not in text
    [connection] = [line for line in read_recording(path) if line.event == "connection"]
    assert "peer" in json.dumps(connection.details)
    folds_alike(path)
