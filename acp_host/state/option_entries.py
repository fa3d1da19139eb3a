"""What a user can set about a session, as a user interface shows it: :class:`SessionOption`, :class:`OptionsSnapshot`.

One form for configuration options, modes and models, whichever way the agent tells of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from acp_host.errors import InvalidInput
from acp_host.printable import printable
from acp_host.state._value import plain_json, value
from acp_host.wire._model import NO_EXTRA

__all__ = ["OptionChoice", "OptionSource", "OptionsSnapshot", "SessionOption"]

_NAMED = 20
"""Most choices that an error names."""


class OptionSource(StrEnum):
    """In which form the agent tells of an option, and so by which method it is set."""

    CONFIG_OPTION = "config_option"
    """A configuration option: ``session/set_config_option``."""
    MODE = "mode"
    """The modes: ``session/set_mode``."""
    MODEL = "model"
    """The models of an older draft: ``session/set_model``."""


@value
class OptionChoice:
    """One value that can be chosen.

    Attributes:
        value: what chooses it.
        name: what the user sees.
        description: more about it, if the agent says more.
        group: the heading it stands under; neighbours with the same one belong together. ``None``: under none.
    """

    value: str
    name: str
    description: str | None = None
    group: str | None = None


@value
class SessionOption:
    """Something that the user can set.

    Attributes:
        id: names it in :meth:`Session.set_option`; no two of a session's have the same.
        name: what the user sees.
        kind: ``select`` or ``boolean``; another word of the agent's for what can be shown and not set.
        value: what to show: that of the set under way, else ``confirmed``.
        confirmed: what the agent last said, or took; ``None`` if it was never said.
        pending: what a set under way is to make it; ``None``: no set is under way.
        error: why the last set failed; ``None`` if it did not.
        description: more about it, if the agent says more.
        category: what it is about: ``mode``, ``model``, ``model_config``, ``thought_level``, or a word of the agent's.
        choices: what can be chosen, of a ``select``; empty if the agent does not say.
        source: in which form the agent tells of it.
        data: all that the agent says of an option of unknown kind; else empty.
    """

    id: str
    name: str
    kind: str
    value: Any = plain_json()
    confirmed: Any = plain_json()
    pending: str | bool | None = None
    error: str | None = None
    description: str | None = None
    category: str | None = None
    choices: tuple[OptionChoice, ...] = ()
    source: OptionSource = OptionSource.CONFIG_OPTION
    data: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    def check(self, wanted: object) -> None:
        """Tell whether the option can have a value.

        Raises:
            InvalidInput: it cannot; names what it can have.
        """
        what = f"option {printable(self.id)}"
        if self.kind == "boolean":
            if not isinstance(wanted, bool):
                raise InvalidInput(f"{what} is True or False, not {wanted!r}")
        elif self.kind != "select":
            raise InvalidInput(f"{what} is of the kind {printable(self.kind)}, which this version cannot set")
        elif not isinstance(wanted, str):
            raise InvalidInput(f"{what} takes the value of one of its choices, a string, not {wanted!r}")
        elif self.choices and all(choice.value != wanted for choice in self.choices):
            named = ", ".join(printable(choice.value) for choice in self.choices[:_NAMED])
            more = f" and {len(self.choices) - _NAMED} more" if len(self.choices) > _NAMED else ""
            raise InvalidInput(f"{what} cannot be {wanted!r}; its choices are {named}{more}")


@value
class OptionsSnapshot:
    """The options of a session at one moment.

    Attributes:
        entries: in the order in which the agent tells of them; modes and models last.
    """

    entries: tuple[SessionOption, ...] = ()

    def get(self, option_id: str) -> SessionOption | None:
        """Return the option with this id, or ``None``."""
        return next((option for option in self.entries if option.id == option_id), None)

    def about(self, category: str) -> SessionOption | None:
        """Return the first option of a category, e.g. ``model``, or ``None``."""
        return next((option for option in self.entries if option.category == category), None)
