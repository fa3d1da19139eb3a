"""Which version is agreed with agents of the official TypeScript SDK: of one version, and of both behind its router."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.errors import UnsupportedVersion
from tests.interop.test_sdk_http import BOTH, running

AGENT = Path(__file__).with_name("ts_sdk_v2_agent.mjs")
WORDS = "What do you know?"


async def told(folder: Path, side: str, versions: tuple[int, ...]) -> tuple[int, Any]:
    """Return the agreed version, and what the agent says: of version 1, what the host has offered it."""
    (folder / "notes.txt").write_text("by the host", encoding="utf-8")
    argv = ["node", str(AGENT), side]
    policy = acp_host.PermissionPolicy.allow_once()
    async with acp_host.connect(
        argv, protocol_versions=versions, files=True, terminals=True, permissions=policy
    ) as host:
        session = await host.new_session(folder)
        result = await session.prompt(WORDS)
        assert list(host.diagnostics) == []
        version = host.agreement.protocol_version
        if version == 2:
            return version, result.text
        assert [notice.title for notice in session.notices.snapshot().history] == ["Here"]
        return version, json.loads(result.text)


@pytest.mark.parametrize(
    ("side", "versions", "agreed"),
    [
        ("v2", (2, 1), 2),
        ("v2", (1, 2), 2),
        ("router", (2, 1), 2),
        ("router", (1, 2), 1),
        ("v1", (2, 1), 1),
        ("v1", (1, 2), 1),
    ],
)
async def test_a_version_that_both_speak_is_agreed_and_nothing_is_lost(
    node_modules: Path, folder: Path, side: str, versions: tuple[int, ...], agreed: int
) -> None:
    version, said = await told(folder, side, versions)

    assert version == agreed
    if version == 2:
        assert said == WORDS
    else:  # files, terminals and notices have reached it, whatever stood between
        offered = said["offered"]
        assert offered["fs"] == {"readTextFile": True, "writeTextFile": True}
        assert offered["terminal"] is True
        assert offered["session"]["notices"] == {}
        assert said["content"] == "by the host"


@pytest.mark.parametrize(
    ("side", "versions", "words"),
    [
        ("v1", (2,), "typescript-sdk-v1-agent speaks ACP version 1, this host version 2"),
        ("v2", (1,), "the agent speaks ACP version 2, this host version 1; ask for version 2, too"),
    ],
)
async def test_agents_of_another_version_alone_are_refused_with_a_reason(
    node_modules: Path, folder: Path, side: str, versions: tuple[int, ...], words: str
) -> None:
    with pytest.raises(UnsupportedVersion, match=words):
        await told(folder, side, versions)


@pytest.mark.parametrize("sdk", BOTH)
async def test_servers_over_http_are_asked_again_on_a_connection_that_they_open_for_it(
    sdk: str, tmp_path: Path
) -> None:
    async with running(sdk, "http1", tmp_path) as (url, options):
        async with acp_host.connect(url, remote=options, protocol_versions=(2, 1)) as host:
            assert host.agreement.protocol_version == 1
            session = await host.new_session(cwd="/")
            assert (await session.prompt(WORDS)).text == WORDS
        assert list(host.diagnostics) == []
