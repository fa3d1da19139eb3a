"""A session as the Harn-like agent keeps it: :class:`HarnSession`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import define, field

from acp_host.testing._reminder_shelf import ReminderShelf
from acp_host.testing._reminder_wire import pending_row
from acp_host.testing.harn._injections import Injections
from acp_host.testing.harn._live_clients import LiveClients

if TYPE_CHECKING:
    from acp_host.testing.harn._human import HumanRequest
    from acp_host.testing.harn._running_prompt import RunningPrompt

__all__ = ["MODES", "HarnSession"]

MODES = ("ask", "architect", "code", "shadow")


@define(eq=False)
class HarnSession:
    """One session, whichever connection it is open on.

    Attributes:
        id: its id.
        cwd: its working directory.
        environment: its ``environmentPolicy``, as the host sent it; ``None`` if it sent none.
        mode: one of :data:`MODES`.
        turns: how many prompts have begun.
        injections: the user messages that wait.
        shelf: the reminders for its model.
        clients: who is attached to it.
        questions: what a person is asked, by id.
        budget: the caps that were set.
        files_staged: whether its writes are staged.
        history: what ``session/load`` replays: method and parameters.
        prompt: the prompt that runs; ``None`` between prompts.
        readers: the connections that it is open on, as opaque objects.
        resumed: somebody wanted it to go on, and nothing has come of that yet.
    """

    id: str
    cwd: str
    environment: Mapping[str, Any] | None = None
    mode: str = "ask"
    turns: int = 0
    injections: Injections = field(factory=Injections)
    shelf: ReminderShelf = field(factory=ReminderShelf)
    clients: LiveClients = field(factory=LiveClients)
    questions: dict[str, HumanRequest] = field(factory=dict)
    budget: dict[str, Any] = field(factory=dict)
    files_staged: bool = False
    history: list[tuple[str, dict[str, Any]]] = field(factory=list)
    prompt: RunningPrompt | None = None
    readers: set[object] = field(factory=set)
    resumed: bool = False

    @property
    def wants_interrupt(self) -> bool:
        """Whether the model is to see something before the next tool runs."""
        return self.injections.wants_interrupt or self.shelf.wants_interrupt

    def pending(self) -> list[dict[str, Any]]:
        """Return the rows of ``session/pending_injections``: user messages, then reminders."""
        users = [
            {
                "kind": "user",
                "id": inject.id,
                "messageId": inject.id,
                "mode": str(inject.mode),
                "position": position,
                "content": list(inject.content),
            }
            for position, inject in enumerate(self.injections.waiting)
        ]
        return users + [pending_row(each, len(users) + at) for at, each in enumerate(self.shelf.waiting)]
