"""Whether an agent says that a session does not exist any more: :func:`says_gone`.

Agents say it with -32002, -32602, -32603 and other codes; with the session's id in ``data.sessionId`` or ``data.uri``;
or in words alone. What they say about a session that was never opened here needs less proof than about one that was:
there a mistake would take it from the user.
"""

from __future__ import annotations

import re
from typing import Any

from acp_host.errors import AuthRequired, MethodNotFound, RequestCancelled, RequestFailed, ResourceNotFound

__all__ = ["says_gone"]

_ID = "\u241f"
"""Stands for the session's id in what is read."""
_NOUN = r"(?:session|thread|conversation|rollout)"
_TOKEN = rf"""["'`(\[{{]?(?:{_ID}|(?=[\w:.-]{{0,200}}\d)[\w:.-]{{1,200}}+)["'`)\]}}]?"""
_SPACE = re.compile(r"\s+")
_GONE = re.compile(
    # Session "abc" was not found
    rf"\b{_NOUN}(?:\s*\bid\b)?\s*[:=]?\s*(?:{_TOKEN}\s*)?(?:was|is|could|can|has|does|did|may)?\s*"
    r"(?:(?:not\s+(?:be\s+)?(?:found|exist|known|open|loaded|available)|n['o]t\s+exist|no\s+longer|expired)\b"
    r"""|(?:unknown|missing)(?=\s*(?:\n|$)|\s*[:.,;!"'`)\]}\\]|\s+to\b))"""  # and not: unknown model
    # No such session; Unsupported ACP session; unknown session abc
    rf"|\b(?:unknown|unsupported|invalid|missing|no(?:\s+such)?|(?:not|cannot|couldn't|failed\s+to)\s+find)"
    rf"(?:\s+(?:the|a|any|acp|saved))*\s+{_NOUN}(?:\s*\bid\b)?"
    rf"""(?=\s*$|\s*[:.,;!"'`(\[{{\\]|\s+(?:found|with|for|exists?|{_ID}|[\w:.-]*\d))""",
    re.IGNORECASE,
)
_OTHER_SESSION = re.compile(
    r"\b(?:mcp|https?|web|ssh|tmux|browser|shell|terminal|database|db|login|auth\w*|oauth\w*)[\s-]+session",
    re.IGNORECASE,
)
"""What is called a session and is none of the agent's."""
_LOGIN = re.compile(r"\b(?:log|sign)(?:ged|ing)?[\s-]*in\b|\blogin\b|\bauthenticat", re.IGNORECASE)
_ABSENT = re.compile(r"not\s+found|not\s+exist|unknown|no\s+such|no\s+longer|expired", re.IGNORECASE)
_ALREADY = re.compile(r"\balready\b", re.IGNORECASE)


def says_gone(error: RequestFailed, session_id: str, *, was_open: bool) -> bool:
    """Tell whether an agent's error means that it does not know a session, or not any more.

    Args:
        error: the error.
        session_id: the session.
        was_open: the agent has confirmed this session on this connection; so it is with the error of a prompt.
    """
    if isinstance(error, AuthRequired | MethodNotFound | RequestCancelled):
        return False
    words = error.words.replace(session_id, _ID)
    # White space in a row counts once: the patterns below go back over it again and again.
    words = _SPACE.sub(lambda run: "\n" if "\n" in run[0] else " ", words)
    words = _OTHER_SESSION.sub("it", words)
    if _ALREADY.search(words) or _LOGIN.search(words):
        return False
    if _GONE.search(words):
        return True
    named = _named(error.data)
    if isinstance(error, ResourceNotFound):
        return session_id in named if named else not was_open
    return session_id in named and _ABSENT.search(words) is not None


def _named(data: Any) -> str:
    """Return what the data of an error says is missing; empty where it does not say."""
    if not isinstance(data, dict):
        return ""
    return " ".join(value for key in ("sessionId", "session_id", "uri") if isinstance(value := data.get(key), str))
