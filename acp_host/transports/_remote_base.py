"""What the transports to agents elsewhere have in common, whichever protocol moves the bytes: :class:`RemoteTransport`.

That is where the agent is, the cookies that outlive a connection, and that nothing which is told of it shows a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar

from acp_host.diagnostics import Diagnostic, DiagnosticKind, throttled
from acp_host.errors import InvalidInput, TransportError
from acp_host.redaction import Redactor
from acp_host.transports._base import Transport
from acp_host.transports._callbacks import call_back
from acp_host.transports._cookies import CookieStore
from acp_host.transports.remote_address import RemoteAddress
from acp_host.transports.remote_options import RemoteOptions

__all__ = ["RemoteTransport"]

_E = TypeVar("_E", bound=TransportError)


class RemoteTransport(Transport):
    """A transport to a URL.

    Attributes:
        medium: what carries the messages, for people.
        schemes: how its URLs begin: in the clear, and encrypted.

    Args:
        url: the agent's endpoint.
        options: how to get there.
        on_diagnostic: called with what went otherwise than it should but is no error.
        cookies: those of an earlier connection to the same agent; :meth:`again` passes them on.

    Raises:
        InvalidInput: the URL is none, or does not fit the options.
    """

    remote = True
    medium: ClassVar[str]
    schemes: ClassVar[tuple[str, str]]

    def __init__(
        self,
        url: str,
        options: RemoteOptions | None = None,
        *,
        on_diagnostic: Callable[[Diagnostic], None] | None = None,
        cookies: CookieStore | None = None,
    ) -> None:
        self._address = address = RemoteAddress.of(url)
        self._options = options = options or RemoteOptions()
        plain, encrypted = self.schemes
        if address.scheme not in self.schemes:
            raise InvalidInput(
                f"{address.shown} is no URL of {self.medium}; such a URL begins with {plain}:// or {encrypted}://"
            )
        if not address.secure and options.tls is not None:
            raise InvalidInput(f"RemoteOptions(tls=…) is for {encrypted}://, and {address.shown} is not encrypted")
        if address.has_user and "Authorization" in (name.title() for name in options.request_headers()):
            raise InvalidInput("the URL names a user, and RemoteOptions another Authorization; give one of them")
        self.description = address.shown
        self._on_diagnostic = on_diagnostic
        self._admit = throttled(self._tell)
        self._cookies = cookies or CookieStore(address.url, options.cookies)

    @property
    def secrets(self) -> tuple[str, ...]:
        return (*self._options.secrets, *self._address.secrets, *self._cookies.secrets)

    def again(self, env: Mapping[str, str]) -> Self | None:
        """Return a transport to the same URL with the cookies so far; ``None`` with ``env``: none reaches the agent."""
        if env:
            return None
        return type(self)(self._address.url, self._options, on_diagnostic=self._on_diagnostic, cookies=self._cookies)

    def _warn_of_open_secrets(self) -> None:
        given = self._options.has_credentials or self._address.secrets
        if given and not self._address.secure and not self._address.is_loopback:
            self._note(
                "the connection is not encrypted: everybody on the way can read the credentials and all that is said;"
                f" use {self.schemes[1]}://"
            )

    def _note(self, text: str, **details: Any) -> None:
        """Make a diagnostic."""
        self._admit(Diagnostic(DiagnosticKind.TRANSPORT, self._shown(f"{self.description}: {text}"), **details))

    def _tell(self, diagnostic: Diagnostic) -> None:
        if self._on_diagnostic is not None:
            call_back(self._on_diagnostic, diagnostic, description=self.description)

    def _shown(self, text: str) -> str:
        """Return a text with nothing in it that this host has sent to show who it is; a server may repeat it."""
        redactor = Redactor()
        redactor.add(self.secrets)
        return redactor.text(text)

    def _without_secrets(self, error: _E) -> _E:
        """Return an error, shown so."""
        error.args = tuple([self._shown(part) for part in error.args])
        return error
