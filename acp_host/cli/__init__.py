"""The ``acp-host`` command: :func:`main`.

It owns the command line, what is printed, and exit codes; whatever it does with an agent it does through the public
API. It needs rich, which the ``cli`` extra brings.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; see ``acp-host --help`` for what the codes mean.

    Args:
        argv: the arguments without the program's name; ``None`` for those of this process.

    Raises:
        SystemExit: for ``--help``, ``--version`` and a command line that cannot be parsed.
    """
    try:
        from acp_host.cli.command import run_command

        return run_command(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:  # while modules are read, before anything is done
        return 128 + signal.SIGINT
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "rich":
            raise
        print("acp-host: this command needs rich; get it with: pip install 'acp-host[cli]'", file=sys.stderr)
        return 2
