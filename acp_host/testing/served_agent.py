"""Where an agent is served, whichever protocol hosts reach it by: :class:`ServedAgent`."""

from __future__ import annotations

from attrs import frozen

from acp_host.errors import InvalidInput
from acp_host.testing.access import Access
from acp_host.transports.serving_rules import url_at

__all__ = ["ServedAgent", "check_path"]


@frozen
class ServedAgent:
    """Where an agent is served.

    Attributes:
        url: its URL, to be used with ``RemoteOptions(bearer=token)``.
        url_with_token: the URL for clients that cannot set a header.
        token: what the client must know.
        port: the port it listens at.
    """

    url: str
    url_with_token: str
    token: str
    port: int

    def __repr__(self) -> str:
        return f"<ServedAgent at {self.url}>"

    @staticmethod
    def at(scheme: str, host: str, port: int, path: str, access: Access) -> ServedAgent:
        """Return it for a server that listens at ``host``, which may stand for every address."""
        url = url_at(scheme, host, port, path)
        return ServedAgent(url, access.with_token(url), access.token, port)


def check_path(path: str) -> None:
    """Refuse a path that no endpoint can have.

    Raises:
        InvalidInput: it is none.
    """
    if not path.startswith("/"):
        raise InvalidInput(f"the path of an endpoint begins with a slash, not {path!r}")
