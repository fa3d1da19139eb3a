"""Prints what a Harn agent tells beside the conversation, as it changes: :class:`HarnView`.

Nothing is redrawn: each change is a line, so that a log reads like what one would have seen.
"""

from __future__ import annotations

from collections.abc import Mapping

from acp_host.cli.printer import Printer, plain
from acp_host.host.session import Session
from acp_host.state.changes import ChangeSet
from acp_host.state.harn.snapshot import HarnSnapshot
from acp_host.state.injections import Injection
from acp_host.ui.content_text import content_text
from acp_host.ui.harn_words import HARN_LISTS, HARN_TOPICS, short

__all__ = ["HarnView"]


class HarnView:
    """Prints each change of the topics that a person follows, and of what was said in the midst of a turn.

    Args:
        printer: where to.
        session: is watched from now on.
    """

    def __init__(self, printer: Printer, session: Session) -> None:
        self._printer = printer
        self._told: dict[tuple[str, str], str] = {}
        self._listed: dict[str, int] = {}
        session.state.changed.connect(self._show)

    def _show(self, changes: ChangeSet) -> None:
        for key in changes.keys("harn"):
            topic, _, entry_id = str(key).partition("/")
            if topic in HARN_TOPICS and changes.snapshot.harn is not None:
                self._show_topic(topic, entry_id, changes.snapshot.harn)
            elif topic in HARN_LISTS and changes.snapshot.harn is not None:
                self._show_list(topic, changes.snapshot.harn)
        for key in changes.keys("injections"):
            entry = changes.snapshot.injections.get(key)
            if entry is not None:
                self._tell("injected", entry.id, _injection(entry))

    def _show_topic(self, topic: str, entry_id: str, harn: HarnSnapshot) -> None:
        label, words = HARN_TOPICS[topic]
        value = getattr(harn, topic)
        entry = value.get(entry_id) if isinstance(value, Mapping) else value
        if entry is not None:
            self._tell(label, entry_id or topic, words(entry))

    def _show_list(self, topic: str, harn: HarnSnapshot) -> None:
        label, words = HARN_LISTS[topic]
        recent = getattr(harn, topic)
        for entry in recent.since(self._listed.get(topic, 0)):
            self._printer.line(label, plain(short(words(entry))), style="bold magenta")
        self._listed[topic] = recent.end

    def _tell(self, label: str, key: str, text: str) -> None:
        """Print a line, unless it says what the last one about this did."""
        if self._told.get((label, key)) != text:
            self._told[label, key] = text
            self._printer.line(label, plain(text), style="bold magenta")


def _injection(injection: Injection) -> str:
    text = " ".join(content_text(block) for block in injection.content)
    return f"{injection.id}  {injection.status}: {short(text)}"
