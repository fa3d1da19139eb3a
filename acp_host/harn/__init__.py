"""Harn's extensions of the protocol, as objects that an application holds."""

from __future__ import annotations

from acp_host.harn.bridge import HarnBridge

__all__ = ["HarnBridge"]
