"""Notices for a host without a screen of its own: each is logged to ``acp_host.notices`` at its level.

So the promise made with ``clientCapabilities.session.notices``, that a notice reaches the user, holds in a script too.
"""

from __future__ import annotations

import logging

from acp_host.wire.notices import Notice, NoticeSeverity
from acp_host.wire.text import printable

__all__ = ["log_notice"]

_logger = logging.getLogger("acp_host.notices")
_LEVELS: dict[str, int] = {
    NoticeSeverity.INFO: logging.INFO,
    NoticeSeverity.WARNING: logging.WARNING,
    NoticeSeverity.ERROR: logging.ERROR,
}


def log_notice(agent_name: str, notice: Notice) -> None:
    """Log a notice; one of unknown severity at INFO, since no importance may be inferred."""
    text = notice.title if not notice.description else f"{notice.title}: {notice.description}"
    level = _LEVELS.get(notice.severity, logging.INFO)
    _logger.log(level, "%s says: %s", printable(agent_name), printable(text))
