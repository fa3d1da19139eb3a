"""``python -m acp_host``: the ``acp-host`` command."""

from __future__ import annotations

import sys
from pathlib import Path


def _forget_working_directory() -> None:
    """Import nothing more from the working directory, which ``python -m`` searches first.

    An agent may write there, and this program imports much of what it needs only when it needs it. A checkout that is
    itself the working directory stays.
    """
    here = Path(__file__).resolve().parents[1]
    try:
        working_directory = Path.cwd()
    except FileNotFoundError:  # it is gone: nobody will ever write there
        return
    if not sys.flags.safe_path and sys.path and here != working_directory == Path(sys.path[0]).resolve():
        del sys.path[0]


if __name__ == "__main__":
    _forget_working_directory()
    from acp_host.cli import main

    sys.exit(main())
