"""The reference agent as a program: ``python -m acp_host.testing.agent``, with a host at stdin and stdout."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from acp_host.testing._account_methods import LOGINS
from acp_host.testing._features import FEATURES
from acp_host.testing._load import load_function
from acp_host.testing._stdio import run_on_stdio
from acp_host.testing.reference import ReferenceAgent
from acp_host.transports import Transport

__all__ = ["add_options", "agent_of", "log_in", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the agent until its host closes stdin; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m acp_host.testing.agent",
        description="An ACP agent without a model, for tests and demonstrations.",
    )
    add_options(parser)
    options = parser.parse_args(argv)
    if options.log_in:
        return log_in(options.login_file)
    return run_on_stdio(agent_of(options))


def agent_of(options: argparse.Namespace) -> Callable[[Transport], Awaitable[int]]:
    """Return what serves a host as the options of :func:`add_options` say."""
    script = load_function(options.script) if options.script else None
    if options.harn:
        from acp_host.testing.harn import HarnAgent

        return HarnAgent(script, delay=options.delay, requires_environment=True).serve
    return ReferenceAgent(
        script=script,
        unstable=not options.stable,
        without=options.without,
        also=options.also,
        require_auth=options.require_auth or bool(options.login),
        logins=options.login or ("agent",),
        login_file=options.login_file,
        page_size=options.page_size,
        delay=options.delay,
        protocol_versions=options.protocol_version or (1,),
    ).serve


def log_in(login_file: str | None) -> int:
    """Log in in a terminal; return the exit status."""
    if login_file is None:
        print("There is nowhere to keep the login: name a --login-file.", file=sys.stderr)
        return 2
    Path(login_file).touch()
    print("You are logged in.")
    return 0


def add_options(parser: Any) -> None:
    """Add the options that say what kind of agent it is, to a parser or a group of one."""
    parser.add_argument("--script", metavar="FILE[:FUNCTION]", help="what to do with prompts, in place of the built-in")
    parser.add_argument(
        "--harn", action="store_true", help="be the Harn-like agent; of the rest --script and --delay go"
    )
    parser.add_argument("--stable", action="store_true", help="offer no draft methods")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=FEATURES,
        metavar="FEATURE",
        help=f"one of {', '.join(FEATURES)}",
    )
    asked_for = [name for name, feature in FEATURES.items() if feature.asked_for]
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        choices=asked_for,
        metavar="FEATURE",
        help=f"one of {', '.join(asked_for)}",
    )
    parser.add_argument("--require-auth", action="store_true", help="open no session before a login")
    parser.add_argument(
        "--login", action="append", default=[], choices=LOGINS, help="a way to log in; also --require-auth"
    )
    parser.add_argument("--login-file", metavar="FILE", help="whoever finds this file is logged in")
    parser.add_argument("--log-in", action="store_true", help="log in: make the login file, and end")
    parser.add_argument("--page-size", type=int, default=50, metavar="N", help="sessions on a page of session/list")
    parser.add_argument("--delay", type=float, default=0.0, metavar="SECONDS", help="between two chunks of a message")
    parser.add_argument(
        "--protocol-version",
        action="append",
        type=int,
        choices=(1, 2),
        metavar="N",
        help="a version of ACP to speak, 1 (as without this flag) or 2; both, if it is given twice",
    )


if __name__ == "__main__":
    sys.exit(main())
