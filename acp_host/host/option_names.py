"""Options that are passed on to ``connect()`` later: :func:`check_option_names` says at once which is misspelled."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable

from acp_host.errors import InvalidInput
from acp_host.host.connect import connect

__all__ = ["check_option_names"]


def check_option_names(taker: str, names: Iterable[str], *, also: Iterable[str] = ()) -> None:
    """Refuse names of options that :class:`acp_host.connect` does not take.

    Args:
        taker: what was given the options, for the message.
        names: those of the options.
        also: what the taker takes besides.

    Raises:
        InvalidInput: one is unknown; the message has the name that may be meant.
    """
    known = {*inspect.signature(connect).parameters, *also}
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(str(name), sorted(known), n=1)
            raise InvalidInput(f"{taker} takes no {name!r}{f'; is {close[0]!r} meant?' if close else ''}")
