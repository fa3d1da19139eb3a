"""The models of a session as an older draft of the protocol had them, and several agents still do.

In the results that open a session they stand in ``models``, beside the modes; ``session/set_model`` chooses one. The
draft is gone from the schema: configuration options took its place.
"""

from __future__ import annotations

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field

__all__ = ["SessionModel", "SessionModelState"]


@model
class SessionModel(Model):
    """A model to choose.

    Attributes:
        model_id: what is sent to choose it.
        name: what the user sees.
    """

    model_id: str
    name: str
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class SessionModelState(Model):
    """The models of a session, and which one is in use.

    Attributes:
        current_model_id: the ``model_id`` of one of ``available_models``.
    """

    current_model_id: str
    available_models: tuple[SessionModel, ...] = wire_field(default_on_error=True, skip_invalid_items=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
