"""From the agent's answers to ``initialize`` to the agreement: :class:`Handshake`.

Which version to ask for, and when once more, is the :class:`~acp_host.protocol.versions.VersionChoice`'s to say. Every
answer is told in version 1's words, whichever version was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.errors import AcpError, RequestFailed
from acp_host.protocol.negotiation import Agreement, make_agreement
from acp_host.protocol.versions import VersionChoice
from acp_host.quirks import Quirk
from acp_host.wire.capabilities import ClientCapabilities
from acp_host.wire.initialize import Implementation, InitializeResponse

__all__ = ["Handshake"]


class Handshake:
    """The way of one connection to its agreement.

    Args:
        versions: the versions that the host speaks, as ``checked_versions`` returns them.
        offer: what the host offers.
        info: name and version of the host program.
        quirks: the table of quirks in force.

    Attributes:
        agreement: what was agreed; ``None`` as long as nothing is.
    """

    def __init__(
        self,
        versions: tuple[int, ...],
        offer: ClientCapabilities,
        info: Implementation | None,
        quirks: tuple[Quirk, ...],
    ) -> None:
        self.agreement: Agreement | None = None
        self._versions = versions
        self._offer = offer
        self._info = info
        self._quirks = quirks
        self._choice = VersionChoice(versions)
        self._last: Agreement | None = None

    @property
    def is_due(self) -> bool:
        """Whether ``initialize`` is to be sent, for the first time or again."""
        return self._choice.due is not None

    @property
    def asks_again(self) -> bool:
        """Whether ``initialize`` was answered, and is to be sent again."""
        return self.is_due and bool(self._choice.asked)

    @property
    def half_agreed(self) -> int | None:
        """The version that the agent has answered with, and is to be asked for by itself; ``None`` if there is none."""
        answer = self._last if self.agreement is None else None
        return None if answer is None else answer.protocol_version

    def request(self) -> dict[str, Any]:
        """Return the parameters of the request that is due, as wire JSON."""
        return self._choice.request(self._offer, self._info)

    def answered(self, result: Any, decode: Callable[[Any], Any]) -> InitializeResponse:
        """Take an answer, and return it as version 1 has it; the agreement is made if it makes one.

        Args:
            result: as it came.
            decode: returns it as a wire type.

        Raises:
            DecodeError: it does not fit the schema.
            UnsupportedVersion: its version is none that this host speaks.
        """
        response, told = self._read(result, decode)
        info = response.agent_info or None
        is_agreed = self._choice.accepts(response.protocol_version, info.name if info else "the agent")
        if self.agreement is None:  # else it comes too late
            self._last = make_agreement(response, told, self._quirks)
            self.agreement = self._last if is_agreed else None
        return response

    def _read(self, result: Any, decode: Callable[[Any], Any]) -> tuple[InitializeResponse, ClientCapabilities]:
        """Return the answer, and what the agent was told of the host, both as version 1 has them."""
        version = result.get("protocolVersion") if isinstance(result, Mapping) else None
        if version != 2 or version not in self._versions:
            return decode(InitializeResponse), self._offer
        from acp_host.protocol import v2_handshake  # loaded for agents of version 2 only

        return v2_handshake.response_in_v1(decode(v2_handshake.InitializeResponse)), v2_handshake.told_in_v2(
            self._offer
        )

    def refused(self, error: RequestFailed) -> AcpError:
        """Take an error in place of an answer; return what it means."""
        return self._choice.refused(error)

    def settle(self) -> bool:
        """Agree on the last answer although the agent is to be asked again; tell whether there is an agreement."""
        self.agreement = self.agreement or self._last
        return self.agreement is not None
