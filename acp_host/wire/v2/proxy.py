"""Chains of agents in version 2: ``proxy/initialize``. The rest is as in version 1, and all of it unstable.

Specification: Proxy Chains (draft).
"""

from __future__ import annotations

from acp_host.wire._model import model
from acp_host.wire.v2.initialize import InitializeRequest, InitializeResponse

__all__ = ["InitializeProxyRequest", "InitializeProxyResponse"]


@model
class InitializeProxyRequest(InitializeRequest):
    """Unstable. Parameters of ``proxy/initialize``: what ``initialize`` is to an agent that has others behind it."""


@model
class InitializeProxyResponse(InitializeResponse):
    """Unstable. Result of ``proxy/initialize``: what this proxy and those behind it offer together."""
