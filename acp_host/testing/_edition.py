"""What the versions of the protocol do differently, as the reference agent sees them: :class:`Edition`.

An edition puts together, for one version, what the parts of the agent need: the form of the handshake, the speech, the
handlers, and how a turn gets at files and tells its state. Nothing else asks which version is spoken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from acp_host._version import __version__
from acp_host.errors import InvalidInput, ProtocolVersionRefused
from acp_host.testing._features import agent_capabilities
from acp_host.testing._hands import Hands, HostHands
from acp_host.testing._session_methods import SessionMethods
from acp_host.testing._speech import Speech
from acp_host.testing._states import States
from acp_host.testing._turn_methods import TurnMethods
from acp_host.testing.agent_session import AgentSession
from acp_host.testing.agent_side import Handler
from acp_host.wire.auth import AuthMethod
from acp_host.wire.capabilities import ClientCapabilities
from acp_host.wire.converters import unstructure
from acp_host.wire.initialize import Implementation, InitializeRequest, InitializeResponse

if TYPE_CHECKING:
    from acp_host.testing._connection import Connection

__all__ = ["INFO", "Edition", "Methods", "chosen_editions", "negotiated"]

INFO = Implementation("acp-host-reference-agent", __version__, title="Reference Agent")


class Methods(Protocol):
    """Some of the methods of an agent."""

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by wire method."""


class Edition(ABC):
    """One version of the protocol.

    Attributes:
        version: its number.
        required: methods, in the words of v1, that every agent has.
        repeats: whether ``initialize`` may come again as long as nothing else was asked.
        cancels_calls: whether the host can cancel a single tool call.
    """

    version: ClassVar[int]
    required: ClassVar[frozenset[str]]
    repeats: ClassVar[bool]
    cancels_calls: ClassVar[bool]

    @abstractmethod
    def client(self, request: InitializeRequest) -> ClientCapabilities:
        """Return what the host offers, in the words of v1.

        Raises:
            InvalidParams: something is missing that this version requires.
        """

    @abstractmethod
    def answer(self, connection: Connection) -> Any:
        """Return the result of ``initialize``."""

    @abstractmethod
    def logins(self, methods: Sequence[AuthMethod]) -> list[Any]:
        """Return ways to log in as they stand in JSON."""

    @abstractmethod
    def speech(self) -> Speech:
        """Return the speech of a new connection."""

    @abstractmethod
    def methods(self, connection: Connection) -> Sequence[Methods]:
        """Return the methods about sessions and turns."""

    @abstractmethod
    def states(self, connection: Connection, session: AgentSession) -> States:
        """Return what tells the states of a session."""

    @abstractmethod
    def hands(self, connection: Connection, session: AgentSession) -> Hands:
        """Return the way to files and commands."""


class EditionV1(Edition):
    """ACP v1."""

    version = 1
    required = frozenset()
    repeats = False
    cancels_calls = False

    def client(self, request: InitializeRequest) -> ClientCapabilities:
        return request.client_capabilities or ClientCapabilities()

    def answer(self, connection: Connection) -> InitializeResponse:
        capabilities = agent_capabilities(connection.agent.features)
        return InitializeResponse(self.version, capabilities, auth_methods=connection.logins(), agent_info=INFO)

    def logins(self, methods: Sequence[AuthMethod]) -> list[Any]:
        return [unstructure(method, AuthMethod) for method in methods]

    def speech(self) -> Speech:
        return Speech()

    def methods(self, connection: Connection) -> Sequence[Methods]:
        return SessionMethods(connection), TurnMethods(connection)

    def states(self, connection: Connection, session: AgentSession) -> States:
        return States()

    def hands(self, connection: Connection, session: AgentSession) -> Hands:
        return HostHands(session, connection.side, connection.offers)


def chosen_editions(versions: Collection[int]) -> tuple[Edition, ...]:
    """Return the editions of some versions, the oldest first.

    Raises:
        InvalidInput: there is no such version, or none is named.
    """
    from acp_host.testing.v2.edition import EditionV2  # it builds upon this module, and most agents do without it

    if not versions or not set(versions) <= {1, 2}:
        raise InvalidInput(f"protocol_versions must be some of 1 and 2, not {versions!r}")
    return tuple(EditionV1() if version == 1 else EditionV2() for version in sorted(set(versions)))


def negotiated(requested: int, editions: Sequence[Edition]) -> Edition:
    """Return the newest edition that the host speaks too; an agent of v1 alone has always answered 1.

    Raises:
        ProtocolVersionRefused: there is none; its data tell which there are.
    """
    fitting = [edition for edition in editions if edition.version <= requested or len(editions) == edition.version == 1]
    if not fitting:
        supported = [edition.version for edition in editions]
        raise ProtocolVersionRefused(
            f"This agent speaks version {', '.join(map(str, supported))} of ACP, not {requested}",
            data={"requested": requested, "supported": supported},
        )
    return fitting[-1]
