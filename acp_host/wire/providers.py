"""Where the agent gets its models: ``providers/list``, ``providers/set`` and ``providers/disable``. All of it unstable.

Owns the messages only.

Specification: Providers (draft).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.ids import ProviderId

__all__ = [
    "DisableProviderRequest",
    "DisableProviderResponse",
    "ListProvidersRequest",
    "ListProvidersResponse",
    "LlmProtocol",
    "ProviderCurrentConfig",
    "ProviderInfo",
    "SetProviderRequest",
    "SetProviderResponse",
]


class LlmProtocol(StrEnum):
    """Unstable. Whose interface a provider's address speaks."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    AZURE = "azure"
    VERTEX = "vertex"
    BEDROCK = "bedrock"


@model
class ProviderCurrentConfig(Model):
    """Unstable. What a provider is set to; secrets are left out.

    Attributes:
        api_type: one of :class:`LlmProtocol` or another word.
    """

    api_type: LlmProtocol | str
    base_url: str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ProviderInfo(Model):
    """Unstable. A provider that can be set.

    Attributes:
        supported: the interfaces that it can be set to: of :class:`LlmProtocol` or other words.
        required: whether the agent cannot do without it; it must not be disabled then.
        current: absent or ``null`` while it is disabled.
    """

    provider_id: ProviderId
    supported: tuple[LlmProtocol | str, ...] = wire_field(default_on_error=True, skip_invalid_items=True)
    required: bool
    current: ProviderCurrentConfig | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ListProvidersRequest(Model):
    """Unstable. Parameters of ``providers/list``."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ListProvidersResponse(Model):
    """Unstable. Result of ``providers/list``."""

    providers: tuple[ProviderInfo, ...]
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SetProviderRequest(Model):
    """Unstable. Parameters of ``providers/set``: everything about one provider, in place of what was set before.

    Attributes:
        api_type: one of :class:`LlmProtocol` or another word.
        headers: HTTP headers by name; they may well be secrets.
    """

    provider_id: ProviderId
    api_type: LlmProtocol | str
    base_url: str
    headers: Mapping[str, str] | Unset = wire_field(default=UNSET, secret=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SetProviderResponse(Model):
    """Unstable. Result of ``providers/set``; it says no more than that it worked."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class DisableProviderRequest(Model):
    """Unstable. Parameters of ``providers/disable``."""

    provider_id: ProviderId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class DisableProviderResponse(Model):
    """Unstable. Result of ``providers/disable``; it says no more than that it worked."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
