"""Agents that are reached over HTTP as A2A has it: :class:`HttpPeer`. Needs the extra ``acp-host[http]``."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from acp_host.errors import ExternalAgentError, InvalidInput, RequestFailed
from acp_host.extras import brought_by

with brought_by("http"):
    import httpx2

__all__ = ["HttpPeer"]

_CARDS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
"""Where an Agent Card is: now, and before version 0.3 of A2A."""
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_LARGEST = 16 * 1024 * 1024
"""Bytes of an answer; a larger one is refused."""


class HttpPeer:
    """An agent at an address, with its Agent Card and its JSON-RPC endpoint.

    The endpoint is the one that the card names, as long as it is of the card's origin: headers may hold credentials,
    which no card may send elsewhere. Redirects are not followed.

    Args:
        address: ``https://`` of the agent; ``http://`` for this machine only.
        headers: sent with each request, e.g. ``{"Authorization": "Bearer …"}``.
        endpoint: the JSON-RPC endpoint, whatever the card says.
        client: an ``httpx2.AsyncClient`` of the application's own, which closes it; ``None`` for one that is closed by
            :meth:`close`.

    Raises:
        InvalidInput: an address is none, or is neither secure nor of this machine.
    """

    def __init__(
        self,
        address: str,
        *,
        headers: Mapping[str, str] | None = None,
        endpoint: str | None = None,
        client: httpx2.AsyncClient | None = None,
    ) -> None:
        self._address = _checked(address)
        self._endpoint = None if endpoint is None else _checked(endpoint)
        self._headers = dict(headers or {})
        self._own = client is None
        # How long an answer may take is the caller's to say: work takes long.
        self._client = client or httpx2.AsyncClient(timeout=httpx2.Timeout(None, connect=30.0), trust_env=True)
        self._ids = itertools.count(1)

    async def __aenter__(self) -> HttpPeer:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections that it has opened itself."""
        if self._own:
            await self._client.aclose()

    async def card(self) -> Any:
        """Return the Agent Card.

        Raises:
            ExternalAgentError: there is none, or it could not be read.
        """
        for path in _CARDS:
            status, body = await self._exchange("GET", urljoin(self._address, path))
            if status == httpx2.codes.NOT_FOUND:
                continue
            card = _decoded(status, body)
            self._endpoint = self._endpoint or self._endpoint_of(card)
            return card
        raise ExternalAgentError(f"{self._address} has no Agent Card", kind="discovery")

    async def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Call a JSON-RPC method and return the result.

        Raises:
            RequestFailed: the answer is an error.
            ExternalAgentError: there is no answer, or it is none of JSON-RPC.
        """
        if self._endpoint is None:
            await self.card()
        assert self._endpoint is not None
        request_id = next(self._ids)
        request = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        status, body = await self._exchange("POST", self._endpoint, request)
        answer = _decoded(status, body)
        if not isinstance(answer, Mapping) or answer.get("id") not in (request_id, None):
            raise ExternalAgentError(f"the answer to {method} is not JSON-RPC", kind="protocol", data=answer)
        error = answer.get("error")
        if isinstance(error, Mapping) and isinstance(error.get("code"), int):
            raise RequestFailed.from_code(error["code"], str(error.get("message")), error.get("data"), method)
        if "result" not in answer:
            raise ExternalAgentError(f"the answer to {method} has no result", kind="protocol", data=answer)
        return answer["result"]

    async def _exchange(self, verb: str, url: str, content: Any = None) -> tuple[int, bytes]:
        body = None if content is None else json.dumps(content).encode()
        headers = {**self._headers, "Accept": "application/json", "Content-Type": "application/json"}
        try:
            async with self._client.stream(verb, url, content=body, headers=headers, follow_redirects=False) as answer:
                read = bytearray()
                async for piece in answer.aiter_bytes():
                    read += piece
                    if len(read) > _LARGEST:
                        raise ExternalAgentError(f"{url} answers with more than {_LARGEST} bytes", kind="protocol")
                return answer.status_code, bytes(read)
        except httpx2.TimeoutException as error:
            raise ExternalAgentError(f"{url} did not answer in time", kind="timeout") from error
        except httpx2.HTTPError as error:
            raise ExternalAgentError(f"{url} could not be reached: {error}", kind="transport") from error

    def _endpoint_of(self, card: Any) -> str:
        """Return the JSON-RPC endpoint that a card names, in any version's way."""
        told = card if isinstance(card, Mapping) else {}
        named: list[Any] = [{"url": told.get("url"), "transport": told.get("preferredTransport", "JSONRPC")}]
        for member in ("supportedInterfaces", "additionalInterfaces"):
            more = told.get(member)
            named += more if isinstance(more, list) else []
        for interface in named:
            kind = interface.get("transport") or interface.get("protocolBinding") if isinstance(interface, dict) else ""
            url = interface.get("url") if kind == "JSONRPC" else None
            if isinstance(url, str):
                return self._same_origin(url)
        raise ExternalAgentError(f"the Agent Card of {self._address} names no JSON-RPC endpoint", kind="discovery")

    def _same_origin(self, url: str) -> str:
        try:
            endpoint = urljoin(self._address, url)
            is_same = _origin(endpoint) == _origin(self._address)
            httpx2.URL(endpoint)
        except (ValueError, httpx2.InvalidURL):
            text = f"the Agent Card of {self._address} names a JSON-RPC endpoint that is no address: {url[:200]!r}"
            raise ExternalAgentError(text, kind="discovery") from None
        if not is_same:
            text = f"the Agent Card of {self._address} sends to {endpoint}; pass it as `endpoint` if it is right"
            raise ExternalAgentError(text, kind="discovery")
        return endpoint


def _decoded(status: int, body: bytes) -> Any:
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError):
        decoded = None
    is_answer = isinstance(decoded, Mapping) and ("error" in decoded or "result" in decoded)
    if not httpx2.codes.is_success(status) and not is_answer:
        kind = "denied" if status in (401, 403) else "transport"
        raise ExternalAgentError(f"it answered with status {status}", kind=kind)
    if decoded is None:
        raise ExternalAgentError("it answered with what is no JSON", kind="protocol")
    return decoded


def _origin(address: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(address)
    host = "localhost" if parts.hostname in _THIS_MACHINE else parts.hostname
    return parts.scheme, host, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def _checked(address: str) -> str:
    try:
        parts = urlsplit(address)
        _origin(address)
    except ValueError as error:
        raise InvalidInput(f"{address!r} is no address of an agent: {error}") from None
    if not parts.hostname or parts.scheme not in ("https", "http"):
        raise InvalidInput(f"{address!r} is no address of an agent; it begins with https://")
    if parts.scheme == "http" and parts.hostname not in _THIS_MACHINE:
        raise InvalidInput(f"{address}: work and credentials go over https:// only, except on this machine")
    return address
