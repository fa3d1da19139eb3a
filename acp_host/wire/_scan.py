"""What a message is about, found without reading it: :func:`scan_envelope`.

For a line that no JSON reader accepts (cut off, nested too deeply, too long) it finds the members at the top level by
which it can still be answered, or the call that waits for it be failed. It is never used on the normal path.

Cost: linear in what is scanned, which is bounded; some 30 MB/s for real messages, 2 MB/s at worst. Nothing recurses.
"""

from __future__ import annotations

import json
import re
from typing import Any

from attrs import frozen

from acp_host.wire._model import UNSET, Unset
from acp_host.wire.framing import TAIL_SIZE
from acp_host.wire.ids import RequestId, valid_id

__all__ = ["SCAN_LIMIT", "Envelope", "scan_envelope"]

SCAN_LIMIT = 2**20
"""How far into a message the scan goes by default, in bytes."""

_COUNT = {b'"id"': "id", b'"method"': "method", b'"params"': "params", b'"result"': "result", b'"error"': "error"}
"""The members that count, as nearly everybody writes them."""
_LONGEST_KEY = len('"' + r"\u0000" * len("method") + '"')

# A string may miss its closing quote, so that it matches in every case and the scan never has to start over inside it.
# The quantifiers are possessive: no backtracking, and no memory per repetition.
_STRING = rb'"(?:[^"\\]++|\\.)*+"?'
_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*+\{")
# Directly inside the message, everything counts.
_MEMBER = re.compile(
    rb'\s*+(?:(?P<string>%b)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<colon>:)|(?P<comma>,)|(?P<scalar>[^\s"\[\]{}:,]++)|\\)'
    % _STRING,
    re.DOTALL,
)
# Further in, only what changes the depth does, and strings, because they may contain brackets.
_NESTED = re.compile(rb'[^"\[\]{}]*+(?:(?P<string>%b)|(?P<open>[\[{]++)|(?P<close>[\]}]++))' % _STRING, re.DOTALL)
# In a well-formed object nothing but a member of the top level can stand directly before the last bracket of the line.
_LAST_MEMBER = re.compile(rb'[,{]\s*+"id"\s*+:\s*+(%b|[^\s"\[\]{}:,]++)\s*+\}\s*+\Z' % _STRING, re.DOTALL)


@frozen
class Envelope:
    """The members of a message by which it can be answered, as far as they were found.

    Attributes:
        id: verbatim, type included; ``UNSET`` if there is none, or none that may be an id.
        method: the wire method, ``None`` if there is none.
        has_result: whether there is a ``result`` or an ``error``, so that this was meant as a response.
        has_params: whether there are ``params``, so that this was not.
    """

    id: RequestId | Unset = UNSET
    method: str | None = None
    has_result: bool = False
    has_params: bool = False

    @property
    def is_response(self) -> bool:
        """Whether a call with this id will get no better answer: it is a response, or nothing says that it is not.

        Of a message that is cut off early only the id may be left. Then a call that fails is better than one that
        waits for ever.
        """
        return self.method is None and (self.has_result or not self.has_params)


def scan_envelope(raw: bytes, *, tail: bytes = b"", limit: int = SCAN_LIMIT) -> Envelope:
    """Find the id and the method of a message that cannot be read as JSON.

    Only members of the outermost object are taken; of two with one name, the last one.

    Args:
        raw: the line, or its beginning. Anything at all may be in it.
        tail: the end of the line, where ``raw`` is only its beginning; many write the id last.
        limit: how much of ``raw`` is scanned, in bytes. Of what is beyond, only the very end is looked at.
    """
    if len(raw) > limit:
        raw, tail = raw[:limit], tail or raw[-TAIL_SIZE:]
    members = _members(raw)
    if tail and not members.get("id") and (last := _LAST_MEMBER.search(tail)):
        members["id"] = last[1]
    request_id = _value(members.get("id", b""))
    method = _value(members.get("method", b""))
    return Envelope(
        id=request_id if valid_id(request_id) else UNSET,
        method=method if isinstance(method, str) else None,
        has_result="result" in members or "error" in members,
        has_params="params" in members,
    )


def _members(raw: bytes) -> dict[str, bytes]:
    """Return those members of the outermost object that count, as written; empty if a value is no scalar or cut off."""
    members: dict[str, bytes] = {}
    start = _START.match(raw)
    position, depth = (start.end(), 1) if start else (0, 0)
    key: str | None = None
    at_key = True
    while depth > 0 and (token := (_MEMBER if depth == 1 else _NESTED).match(raw, position)):
        position = token.end()
        kind = token.lastgroup
        if kind == "open":
            depth += position - token.start("open")
            key = None
        elif kind == "close":
            depth -= position - token.start("close")
        elif depth > 1:
            continue
        elif kind == "comma":
            key, at_key = None, True
        elif kind == "colon":
            if key is not None:
                members[key] = b""
        elif at_key:
            key, at_key = _key(token["string"]) if kind == "string" else None, False
        # A number that ends where the text does may go on behind it.
        elif key in members and (kind == "string" or position < len(raw)):
            members[key] = token[0].strip()
            key = None
    return members


def _key(token: bytes) -> str | None:
    """Return which of the members that count a string names; ``None`` for any other."""
    if token in _COUNT or b"\\" not in token or len(token) > _LONGEST_KEY:
        return _COUNT.get(token)
    key = _value(token)
    return key if key in _COUNT.values() else None


def _value(token: bytes) -> Any:
    """Return the value of a string, number or literal; ``UNSET`` for anything else."""
    try:
        return json.loads(token.decode("utf-8", "replace"), strict=False)
    except ValueError:
        return UNSET
