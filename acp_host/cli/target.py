"""What a command line says about the agent to connect to, a command or a URL: :class:`Target`."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from acp_host.errors import InvalidInput
from acp_host.transports import RemoteOptions
from acp_host.transports.remote_address import RemoteAddress, has_scheme

__all__ = ["Target", "add_remote_options", "add_version_option", "target_of", "versions_of"]


@frozen
class Target:
    """An agent that somebody named.

    Attributes:
        argv: its command; a URL is one word.
        remote: how to get there; ``None`` for a command.
        shown: what to call it, without secrets.
    """

    argv: list[str]
    remote: RemoteOptions | None
    shown: str

    @property
    def argument(self) -> list[str] | str:
        """What :func:`acp_host.connect` takes."""
        return self.argv if self.remote is None else self.argv[0]


def add_remote_options(parser: Any) -> None:
    """Add the options that say how to reach an agent elsewhere."""
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="NAME:VALUE",
        help="a header for an agent at a URL; others can see it in the list of processes: no secrets here",
    )
    parser.add_argument(
        "--bearer-env", metavar="VAR", help="the environment variable that has the token for an agent at a URL"
    )


def add_version_option(parser: Any) -> None:
    """Add the option that says which version of the protocol is asked for."""
    parser.add_argument(
        "--protocol-version",
        type=int,
        choices=(1, 2),
        default=1,
        metavar="N",
        help="2: speak version 2 of ACP with an agent that has it, and 1 with others (default: 1)",
    )


def versions_of(options: argparse.Namespace) -> tuple[int, ...]:
    """Return the versions to ask for, the preferred one first, as :func:`acp_host.connect` takes them."""
    return tuple(range(options.protocol_version, 0, -1))


def target_of(words: Sequence[str], options: argparse.Namespace, environment: Mapping[str, str] = os.environ) -> Target:
    """Return the agent that the command line names.

    Args:
        words: the agent's command, or its URL.
        options: parsed, with those of :func:`add_remote_options`.
        environment: where a token is looked for.

    Raises:
        InvalidInput: a URL is followed by other words or is none, or an option does not fit.
    """
    if not has_scheme(words[0]):
        if options.header or options.bearer_env is not None:
            raise InvalidInput("--header and --bearer-env are for an agent at a URL, such as wss://host/acp")
        return Target(list(words), None, shlex.join(words))
    shown = RemoteAddress.of(words[0]).shown
    if len(words) > 1:
        raise InvalidInput(f"{shown} is the whole agent; after a URL nothing else can follow but -- and the prompt")
    bearer = None
    if options.bearer_env is not None:
        bearer = environment.get(options.bearer_env)
        if not bearer:
            raise InvalidInput(f"--bearer-env: the environment variable {options.bearer_env} is not set")
    return Target([words[0]], RemoteOptions(headers=_headers(options.header), bearer=bearer), shown)


def _headers(lines: Sequence[str]) -> dict[str, str]:
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise InvalidInput("--header takes a name and a value with a colon between them")
        headers[name.strip()] = value.strip()
    return headers
