"""What a host serves to Harn agents: :class:`HarnBridge`.

=====================  ===============================================  ==================================
request                answered with                                    where there is nothing
=====================  ===============================================  ==================================
``host/capabilities``  the operations that are there now, at once       ``{}``
``host/call``          an operation's result                            -32601
``host/tools/list``    the tools that are there now                     ``{"tools": []}``
``builtin_call``       a tool's result                                  -32601
``skills/list``        the provider's skills                            ``[]``
``skills/fetch``       one of them                                      -32602
``skill/match``        the ranker's choice                              -32601, and Harn ranks itself
=====================  ===============================================  ==================================

Retired methods (``tool/pre_use``, ``tool/post_use``, ``tool/request_approval``, ``tool_search/query``) are answered
-32601, as is everything that nobody serves.

Every request is answered once: when a function raises (-32000, and a diagnostic that says why), when its time is up
(the same), and when its turn is cancelled (-32800; the function is cancelled if it is a coroutine function, and left to
end by itself if not). What an agent reads of a failure is the name of the function and of the exception's class.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from attrs import frozen

from acp_host.errors import AcpError, InvalidInput
from acp_host.harn.bridge._work import Work
from acp_host.harn.bridge.attestation import AttestationAdapter, Attestor
from acp_host.harn.bridge.operations import HostCall, Operation, OperationTable
from acp_host.harn.bridge.shell_operations import ShellOperations
from acp_host.harn.bridge.skill_matching import SkillMatcher, SkillRanking
from acp_host.harn.bridge.skills import SkillProvider, SkillShelf
from acp_host.harn.bridge.tools import HostTool, ToolTable
from acp_host.host.connection import HostConnection
from acp_host.host.incoming import RequestHandler, TurnHandler
from acp_host.services.shells import Shells

__all__ = ["BridgeTimeouts", "HarnBridge"]

_DEBOUNCE = 0.5
"""Seconds for which changes of the skills are gathered before the agent is told."""


@frozen(kw_only=True)
class BridgeTimeouts:
    """How long what stands behind a request may take, in seconds. An agent that gets no answer goes on without one.

    Attributes:
        host_call: an operation; Harn waits for 300 seconds.
        others: tools, skills and rankers; Harn waits for 60 seconds, or what ``HARN_HOST_CALL_TIMEOUT_SECS`` says in
            its environment.
    """

    host_call: float = 290.0
    others: float = 55.0


class HarnBridge:
    """Serves tools, operations, skills and shells of this host to Harn agents. ::

        def open_file(path: str, line: int = 1) -> None:
            "Show a file in the editor."

        bridge = HarnBridge(tools=[open_file], skills=SkillFolder("skills"))
        async with acp_host.connect(["harn", "serve", "acp", "agent.harn"], handlers=bridge.handlers()) as host:
            bridge.attach(host)

    One bridge may serve several connections.

    Args:
        tools: functions whose parameters are annotated, or :class:`~acp_host.harn.bridge.tools.HostTool`.
        operations: what ``host/call`` can call, by name, ``"acme.open_issue"``.
        skills: has skills, e.g. a :class:`~acp_host.harn.bridge.skill_folder.SkillFolder`; ``None``: there are none.
        matcher: ranks skills; ``None``: Harn does it.
        shells: tell which shells this machine has, and how a line is run by one: ``True``, or the
            :class:`~acp_host.services.shells.Shells` that ``TerminalService(shells=…)`` has too. Runs nothing.
        attestation: attests operations, see :mod:`acp_host.harn.bridge.attestation`; ``None``: nothing is attested.
        timeouts: how long each may take.

    Attributes:
        tools: the tools that are there; change them at any time.
        operations: the operations that are there; change them at any time.

    Raises:
        InvalidInput: an argument is wrong.
    """

    def __init__(
        self,
        *,
        tools: Iterable[HostTool | Callable[..., Any]] = (),
        operations: Mapping[str, Operation] | None = None,
        skills: SkillProvider | None = None,
        matcher: SkillMatcher | None = None,
        shells: Shells | bool = True,
        attestation: AttestationAdapter | None = None,
        timeouts: BridgeTimeouts | None = None,
    ) -> None:
        if not isinstance(shells, Shells | bool):
            raise InvalidInput(f"shells is True, False or Shells, not {shells!r}")
        work = Work()
        self._attestor = Attestor(attestation, work)
        known = Shells() if shells is True else shells
        self.tools = ToolTable(tools, work)
        self.operations = OperationTable(
            operations or {}, ShellOperations(known) if isinstance(known, Shells) else None, self._attestor, work
        )
        self._skills = SkillShelf(skills, work)
        self._ranking = SkillRanking(matcher, work)
        self._timeouts = timeouts or BridgeTimeouts()
        self._hosts: list[HostConnection] = []
        self._pending: asyncio.TimerHandle | None = None
        self._telling: set[asyncio.Task[None]] = set()

    def handlers(self) -> dict[str, RequestHandler]:
        """Return the handlers to pass to :func:`acp_host.connect`, by wire method."""
        handlers: dict[str, Callable[[Any], Any]] = {
            "host/capabilities": lambda params: self.operations.capabilities(),
            "host/call": self._call,
            "host/tools/list": lambda params: {"tools": self.tools.descriptors()},
            "builtin_call": self._call_tool,
            "skills/list": lambda params: self._skills.list(self._timeouts.others),
            "skills/fetch": lambda params: self._skills.fetch(params, self._timeouts.others),
            "skill/match": lambda params: self._ranking.match(params, self._timeouts.others),
        }
        return {method: TurnHandler(handler) for method, handler in handlers.items()}

    def attach(self, host: HostConnection) -> None:
        """Tell the agent of ``host`` of changes from now on, until the connection is over."""
        self._hosts = [known for known in self._hosts if known is not host and not known.closed] + [host]

    def install_attestation(self, adapter: AttestationAdapter | None) -> None:
        """Put an adapter in place of the one before, or take it away; what receipts are bound to stays.

        Raises:
            InvalidInput: it is none.
        """
        self._attestor.install(adapter)

    def skills_changed(self) -> None:
        """Tell the agents that their lists of skills are old (``skills/update``), once for several calls in a row.

        To be called on the event loop. An agent lists them again when it comes to it.
        """
        if self._pending is None:
            self._pending = asyncio.get_running_loop().call_later(_DEBOUNCE, self._tell)

    # --- the requests -----------------------------------------------------------------------------------------------

    async def _call(self, params: Any) -> Any:
        return await self.operations.call(HostCall.read(params), self._timeouts.host_call)

    async def _call_tool(self, params: Any) -> Any:
        members = params if isinstance(params, Mapping) else {}
        return await self.tools.call(members.get("name"), members.get("args"), self._timeouts.others)

    # --- telling ----------------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        self._pending = None
        self._hosts = [host for host in self._hosts if not host.closed]
        for host in self._hosts:
            task = asyncio.ensure_future(_notify(host))
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)


async def _notify(host: HostConnection) -> None:
    with suppress(AcpError):  # the connection has ended meanwhile
        await host.notify("skills/update")
