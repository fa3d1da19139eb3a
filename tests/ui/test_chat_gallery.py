"""The terminal view can draw every state of the gallery; of some it is checked what is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.widgets import TabPane

import acp_host.ui.terminal
from acp_host.host.health import HealthSnapshot
from acp_host.host.reconnect_machine import ConnectionStatus
from acp_host.testing import gallery
from acp_host.ui.terminal.view import SessionView
from tests.ui.chats import STEERS, drawn_lines, screen_text

LOOKED_AT = (
    *("turns/everything_at_once", "messages/content_mixed", "history/compaction_completed", "tool_calls/content_all"),
    *("terminals/colours", "plans/several", "options/grouped", "reminders/every_status", "notices/stacked"),
    *("permissions/several", "permissions/no_options", "forms/every_field", "forms/page_letters"),
    *("version_two/diff_every_change", "harn/permission", "harn/workers", "hostile/bidi_override_asked"),
    *("hostile/control_characters_asked", "hostile/many_lines_asked", "hostile/control_characters_told"),
    *("hostile/terminal_link_offered", "hostile/looks_like_chrome_said"),
)


class Gallery(App[None]):
    """A view without a connection."""

    CSS_PATH = Path(acp_host.ui.terminal.__file__).with_name("chat.tcss")

    def compose(self) -> ComposeResult:
        yield SessionView("Example", harn=True)


@pytest.mark.parametrize("part", range(4))
async def test_states_are_drawn_and_steer_nothing(part: int) -> None:
    app = Gallery()
    async with app.run_test(size=(120, 50)) as pilot:
        view = app.query_one(SessionView)
        for pane in view.query(TabPane):
            pane.display = True
        for name in LOOKED_AT[part::4]:
            state = gallery.get(name)
            async with state.waiting() as questions:
                await view.draw_all(state.session)
                await view.draw_questions([*questions.permissions.pending, *questions.elicitation.pending])
                view.transcript.unfold_all()
                await pilot.pause()
                for line in drawn_lines(app):
                    assert not STEERS.search(line), (name, line)


async def test_a_connection_that_is_made_again_is_told_meanwhile() -> None:
    app = Gallery()
    async with app.run_test(size=(120, 50)) as pilot:
        view, state = app.query_one(SessionView), gallery.get("messages/none")
        waiting = HealthSnapshot(status=ConnectionStatus.WAITING, attempt=3, next_try=0.0, error="[red]gone")
        view.draw_health(waiting, state.session)
        await pilot.pause()
        assert "The connection is lost: [red]gone. Try 3 is at" in screen_text(app)
        view.draw_health(HealthSnapshot(), state.session)
        await pilot.pause()
        assert "The connection is lost" not in screen_text(app)
