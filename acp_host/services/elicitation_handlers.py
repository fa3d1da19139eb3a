"""The application's answers to the agent's questions: :class:`ElicitationHandlers`.

They are all that a connection knows of questions until there is one; see :mod:`acp_host.services.elicitation`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from attrs import frozen

from acp_host.errors import InvalidInput

if TYPE_CHECKING:
    from acp_host.wire.elicitation import CreateElicitationResponse

__all__ = ["ElicitationHandler", "ElicitationHandlers"]

ElicitationHandler = Callable[[Any], "CreateElicitationResponse | Awaitable[CreateElicitationResponse]"]
"""Takes the request; returns the answer or an awaitable of it."""


@frozen(kw_only=True)
class ElicitationHandlers:
    """The application's answers to ``elicitation/create``, by mode; a mode without a handler is not offered.

    Attributes:
        form: shows a form; takes :class:`~acp_host.wire.elicitation.ElicitationFormMode`, of which
            :func:`~acp_host.services.form_reader.read_form` makes fields.
        url: asks for consent and opens a web page; takes :class:`~acp_host.wire.elicitation.ElicitationUrlMode`, of
            which :func:`~acp_host.services.page_address.read_address` tells what to show.

    Raises:
        InvalidInput: one is no function.
    """

    form: ElicitationHandler | None = None
    url: ElicitationHandler | None = None

    def __attrs_post_init__(self) -> None:
        for handler in (self.form, self.url):
            if not (handler is None or callable(handler)):
                raise InvalidInput(f"a handler of questions is a function or a queue, not {type(handler).__name__}")
