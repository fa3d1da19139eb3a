"""The files that a connection writes while its agent works: :func:`own_files`; they are no changes of the agent's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from acp_host.services.audit import AuditTrail

if TYPE_CHECKING:
    from acp_host.recording import Recording

__all__ = ["own_files"]


def own_files(audit: AuditTrail | None, record: Recording | str | os.PathLike[str] | None) -> Iterator[Path]:
    """Return the files of an audit trail and of a recording, as ``connect`` takes these; blocks.

    Raises:
        OSError: they cannot be looked for.
    """
    if audit is not None and audit.file is not None:
        yield audit.file
    if record is not None:
        from acp_host.recording import Recording  # loaded for those who record
        from acp_host.recording.file import files_of

        yield from files_of(Recording.of(record).path)
