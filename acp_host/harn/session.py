"""A session of a Harn agent: :class:`HarnSession`, from :func:`of`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.harn.budget import UNCHANGED, Unchanged, budget_params
from acp_host.harn.calls import Calls
from acp_host.harn.history import History
from acp_host.harn.host_events import HostEvent, HostEventReceipt, Provenance, inject_host_event
from acp_host.harn.human_requests import HumanAnswers
from acp_host.harn.live_clients import LiveClientCommands
from acp_host.harn.plan_documents import PlanDocuments
from acp_host.harn.staged_writes import StagedWrites
from acp_host.harn.tool_calls import ToolCallCancellation, cancel_tool_call
from acp_host.host.session import Session
from acp_host.wire._model import NO_EXTRA

__all__ = ["HarnSession", "of"]


def of(session: Session) -> HarnSession:
    """Return what can be done with a session of a Harn agent; the same object each time.

    It can be had of any agent's session: the methods raise ``NotSupported`` then, and send nothing.
    """
    return session.once(_make)


def _make(session: Session) -> HarnSession:
    return HarnSession(Calls(session))


class HarnSession:
    """What can be done with one session beyond ACP.

    Attributes:
        live: attaches this host beside other programs, and takes control.
        history: goes back in the session.
        staged_writes: has writes wait until they are looked at.
        plan_documents: changes the agent's plans.
        people: answers what the agent asks people.

    Args:
        calls: sends the requests.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.live = LiveClientCommands(calls)
        self.history = History(calls)
        self.staged_writes = StagedWrites(calls)
        self.plan_documents = PlanDocuments(calls)
        self.people = HumanAnswers(calls)

    async def cancel_tool_call(
        self, tool_call_id: str, *, reason: str | None = None, tell_model: bool = True
    ) -> ToolCallCancellation:
        """Stop one tool call; the turn goes on (``session/cancel_tool_call``).

        Some agents answer only when the turn is over.

        Args:
            tool_call_id: the agent's id of the call.
            reason: why, for the model.
            tell_model: remind the model that somebody has stopped it.

        Raises:
            RequestFailed: the agent refused.
            NotSupported: the agent is not Harn.
        """
        return await cancel_tool_call(self._calls, tool_call_id, reason=reason, tell_model=tell_model)

    def set_budget(
        self, *, cost_usd: float | Unchanged | None = UNCHANGED, tokens: int | Unchanged | None = UNCHANGED
    ) -> None:
        """Limit what the session may cost from now on (``session/set_budget``); the agent does not answer.

        Args:
            cost_usd: dollars for models; ``None``: no limit.
            tokens: tokens; ``None``: no limit.

        Raises:
            InvalidInput: a limit is no number of at least 0, or none is given.
            NotSupported: the agent is not Harn.
        """
        self._calls.notify("session/set_budget", budget_params(cost_usd, tokens))

    def resume(self) -> None:
        """Wake an agent that waits for something to do (``agent/resume``); it does not answer.

        Raises:
            NotSupported: the agent is not Harn.
        """
        self._calls.notify("agent/resume")

    async def inject_host_event(
        self, event: HostEvent, provenance: Provenance, *, delivery: str | None = None
    ) -> HostEventReceipt:
        """Tell the agent what has happened at the host (``session/inject_host_event``).

        Args:
            event: a ``HostToolResult`` or a ``HostAttachment``.
            provenance: where it comes from.
            delivery: when the model gets it: ``turn_boundary``, ``immediate``, ``after_next_tool_call``; ``None``: as
                the agent has it.

        Raises:
            InvalidInput: a member of the event is wrong.
            NotSupported: the agent is not Harn, or lists the kinds or deliveries that it takes, without this one.
            RequestFailed: the agent refused.
        """
        return await inject_host_event(self._calls, event, provenance, delivery)

    async def provider_catalog(self) -> Mapping[str, Any]:
        """Return the models and providers that the agent knows, as sent (``_harn/providerCatalog``).

        Raises:
            RequestFailed: the agent refused.
            NotSupported: the agent is not Harn.
        """
        return (await self._calls.answer("_harn/providerCatalog")).raw

    async def request(self, method: str, params: Mapping[str, Any] = NO_EXTRA) -> Any:
        """Send any other of Harn's requests about the session, and return its result as sent.

        For what has no method here: ``harn.session_view.query``, ``harn.session_timeline.subscribe``, ``workflow/…``,
        ``mcp/…``, and so on; take their notifications by :meth:`acp_host.HostConnection.on_notification`.

        Args:
            method: wire method.
            params: plain JSON; ``sessionId`` is put in.

        Raises:
            RequestFailed: the agent refused.
            NotSupported: the agent is not Harn, or has said before that it does not have the method.
        """
        return await self._calls.request(method, params)
