"""How the commands of this package reach the agent: :class:`Calls`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.errors import MalformedResponse, NotSupported
from acp_host.host.session import Session
from acp_host.state.harn.suspension import RESERVED_METHODS
from acp_host.wire._model import NO_EXTRA
from acp_host.wire.harn.members import Members

__all__ = ["Calls"]


class Calls:
    """Sends Harn's requests about one session, to Harn only.

    Attributes:
        session: the session.

    Args:
        session: see above.
    """

    def __init__(self, session: Session) -> None:
        self.session = session

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] = NO_EXTRA,
        *,
        on_result: Callable[[Any], None] = lambda _: None,
    ) -> Any:
        """Send a request and return its result, as :meth:`acp_host.Session.ext_request`.

        Raises:
            NotSupported: the agent is not Harn, or has said before that it does not have the method.
        """
        self.require(method)
        return await self.session.ext_request(method, params, on_result=on_result)

    async def answer(self, method: str, params: Mapping[str, Any] = NO_EXTRA) -> Members:
        """Send a request and return its result, to be read member by member; :meth:`read` ends the reading.

        Raises:
            NotSupported: as for :meth:`request`.
            MalformedResponse: the result is no object; what was asked for is done.
        """
        result = await self.request(method, params)
        if not isinstance(result, Mapping):
            text = f"the answer to {method} is no object, but {type(result).__name__}"
            raise MalformedResponse(text, has_result=True, result=result)
        return Members(result, "$.result")

    def read(self, method: str, answer: Members) -> None:
        """Report what of an answer could not be used."""
        self.session.report_malformed(method, answer.problems)

    def notify(self, method: str, params: Mapping[str, Any] = NO_EXTRA) -> None:
        """Send a notification.

        Raises:
            NotSupported: the agent is not Harn.
        """
        self.require(method)
        self.session.ext_notify(method, params)

    def require(self, method: str) -> None:
        """Check that a method may be sent.

        Raises:
            NotSupported: see :meth:`request`.
        """
        agreement = self.session.agreement
        if agreement.harn is None:
            text = f"{agreement.agent_name} is not Harn, so {method} was not sent"
            raise NotSupported(text, capability="agentCapabilities._meta.harn", method=method)
        if method in RESERVED_METHODS:
            text = f"{method} is a name that Harn keeps for later: no version takes it, so it was not sent"
            raise NotSupported(text, capability=method, method=method)
        if self.session.lacks(method):
            text = f"{agreement.agent_name} has said that it does not have {method}; it was not sent again"
            raise NotSupported(text, capability=method, method=method)
