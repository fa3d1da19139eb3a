"""The form that a version of the protocol gives to what both ends say: :class:`Speech`, which is that of ACP v1.

Handlers and scripts know the words of v1 only. A speech stands between them and the connection, JSON in and JSON out;
:class:`acp_host.testing.v2.speech.SpeechV2` has the words of v2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.errors import MethodNotFound

__all__ = ["ONLY_V2", "Json", "Speech", "unknown_method"]

Json = Mapping[str, Any]

ONLY_V2 = frozenset({"terminal_update", "terminal_output_chunk"})
"""Updates about what no agent has in v1: terminals of its own."""


class Speech:
    """The words of v1, which are those of the handlers: everything stays as it is."""

    def heard(self, method: str, params: Any) -> tuple[str, Any]:
        """Return a call of the host as the handlers know it: its method, and its parameters.

        Raises:
            MethodNotFound: this version has no such method.
            InvalidParams: the parameters cannot be put into the words of v1.
        """
        return method, params

    def answered(self, method: str, result: Any) -> Any:
        """Return the result of a handler for the host; ``method`` is the handler's."""
        return result

    def asked(self, method: str, params: Any) -> Any:
        """Return the parameters of a call of the agent for the host."""
        return params

    def updates(self, session_id: str, update: Json) -> list[Json]:
        """Return what to send for an update, in order; nothing for what the version has no words for."""
        return [] if update.get("sessionUpdate") in ONLY_V2 else [update]


def unknown_method(method: str) -> MethodNotFound:
    """Return what a call of a method is refused with that the agent does not have."""
    return MethodNotFound(f"Method not found: {method}", data={"method": method})
