"""What the tests of the reference agent's reminders share: to send one on the wire, and to see what the agent told."""

from __future__ import annotations

from typing import Any

import acp_host
from tests.testing.conftest import Wiretap
from tests.testing.reminder_forms import UPDATES

HARN = {"without": {"reminders"}, "also": {"harn_reminders"}}
SAW_NONE = "The model saw no reminder.\n"


def updates(tap: Wiretap) -> list[dict[str, Any]]:
    """Return what the agent told about reminders."""
    found = [message["params"]["update"] for message in tap.to_host if message.get("method") == "session/update"]
    return [update for update in found if update["sessionUpdate"] in UPDATES]


def told(tap: Wiretap) -> list[tuple[str, str]]:
    """Return the kind and the id of everything that the agent told about reminders."""
    names = []
    for update in updates(tap):
        nested = update.get("_meta", {}).get("harn", {}).get("reminder", update)
        names.append((update["sessionUpdate"].removeprefix("reminder_"), nested["reminderId"]))
    return names


async def inject(host: acp_host.HostConnection, session: acp_host.Session, **params: Any) -> Any:
    params = {"sessionId": session.id, "body": "2 tests failed", **params}
    return await host.request("session/inject_reminder", params, force=True)


async def remind(host: acp_host.HostConnection, session: acp_host.Session, **params: Any) -> Any:
    params = {"sessionId": session.id, "mode": "finish_step", "body": "2 tests failed", **params}
    return await host.request("session/remind", params, force=True)


async def say(session: acp_host.Session, *commands: str) -> str:
    return (await session.prompt("\n".join(commands))).text


async def a_turn_that_waits(session: acp_host.Session) -> acp_host.Turn:
    turn = session.prompt("/say on\n/wait")
    await anext(turn)
    return turn
