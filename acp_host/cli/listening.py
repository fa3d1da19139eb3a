"""The options of commands that listen at a port: :func:`add_listening_options`."""

from __future__ import annotations

import argparse
import os
from typing import Any

from acp_host.errors import InvalidInput

__all__ = ["add_listening_options", "token_of"]


def add_listening_options(parser: Any) -> None:
    """Add the options that say where to listen, and whom to let in."""
    parser.add_argument("--host", default="127.0.0.1", metavar="H", help="where to listen (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=0, metavar="P", help="the port (default: a free one)")
    parser.add_argument(
        "--token-env", metavar="VAR", help="the environment variable that has the token (default: a random one)"
    )
    parser.add_argument(
        "--allow-origin", action="append", default=[], metavar="URL", help="let pages of this origin in"
    )
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="a further name of this machine"
    )
    parser.add_argument(
        "--allow-other-machines", action="store_true", help="listen where other machines can connect, unencrypted"
    )


def token_of(options: argparse.Namespace) -> str | None:
    """Return the token that the options name; ``None``: a random one is wanted.

    Raises:
        InvalidInput: the environment variable is not set.
    """
    if options.token_env is None:
        return None
    value = os.environ.get(options.token_env)
    if not value:
        raise InvalidInput(f"--token-env: the environment variable {options.token_env} is not set")
    return value
