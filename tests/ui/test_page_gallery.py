"""The page shows every state of the gallery, and complains of none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from playwright.async_api import Browser

from acp_host.state.entries import MessageEntry, ToolCallEntry
from acp_host.testing import gallery
from acp_host.testing.gallery import GalleryState
from acp_host.wire.elicitation import UnknownElicitation
from tests.ui.exhibit import exhibition

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(240)]

SECTIONS = sorted({name.split("/")[0] for name in gallery.names()} - {"hostile"})


@pytest.mark.parametrize("section", SECTIONS)
async def test_every_state_of_a_section_is_shown(browser: Browser, section: str) -> None:
    async with exhibition(browser) as shown:
        for state in gallery.states(section):
            found = await shown.show(state)
            text = _squeezed(found["text"] + found["panels"])
            missing = [words for words in _expected(state) if _squeezed(words) not in text]
            assert missing == [], state.name
            assert found["handlers"] == [], state.name
            assert shown.watched.faults == [], state.name


def _squeezed(text: str) -> str:
    return "".join(text.split()).casefold()


def _expected(state: GalleryState) -> Iterable[str]:
    """What has to be read somewhere in the page, whatever else there is."""
    session = state.session
    yield from (f"{toast.agent_name} {toast.severity}" for toast in session.notices.toasts)
    yield from (toast.display_title for toast in session.notices.toasts)
    yield from (entry.body[:200] for entry in session.reminders.active)
    yield from (str(entry.status).replace("_", " ") for entry in session.reminders.active)
    for entry in session.transcript[-3:]:
        if isinstance(entry, ToolCallEntry):
            yield (entry.title or entry.name or entry.tool_call_id)[:40]
        elif isinstance(entry, MessageEntry) and entry.speaker == "user":
            yield entry.text[:40]
    for option in session.options.entries:
        yield option.name
    if session.health.status != "connected":
        yield session.health.status
    for question in session.questions:
        if isinstance(question.request, UnknownElicitation):  # the host declines it by itself
            continue
        yield from _of_question(state.agent_name, question.request)


def _of_question(agent_name: str, request: Any) -> Iterable[str]:
    yield agent_name[:60]
    for option in getattr(request, "options", ()):
        yield option.name[:100]
