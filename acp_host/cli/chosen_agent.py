"""What a command line says about the agent to connect to, a command, a URL or a name: :class:`ChosenAgent`.

One word that is a known agent's name stands for that agent; when it is one, says
:func:`~acp_host.automation.known_agents.names.named_agent`.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from acp_host.automation.known_agents.all_agents import KnownAgent
from acp_host.automation.known_agents.names import named_agent
from acp_host.automation.known_agents.ways import Readiness, Way
from acp_host.cli.named import fetch, remember
from acp_host.errors import InvalidInput
from acp_host.host.agent_target import AgentTarget
from acp_host.protocol.negotiation import Agreement
from acp_host.transports import RemoteOptions
from acp_host.transports.remote_address import RemoteAddress, has_scheme

__all__ = ["ChosenAgent", "add_remote_options", "add_version_option", "chosen_agent", "versions_of"]


@frozen
class ChosenAgent:
    """An agent that somebody named.

    Attributes:
        argv: its command; a URL is one word.
        remote: how to get there; ``None`` for a command.
        shown: what to call it, without secrets.
        env: variables that are set for it, besides those of this process.
        name: the name of a known agent; ``None`` for what was not named.
        way: how a known agent is started or reached; ``None`` likewise.
    """

    argv: list[str]
    remote: RemoteOptions | None
    shown: str
    env: Mapping[str, str] = field(factory=dict, repr=False)
    name: str | None = None
    way: Way | None = None

    @property
    def argument(self) -> AgentTarget | list[str] | str:
        """What :func:`acp_host.connect` takes."""
        if self.remote is not None:
            return self.argv[0]
        return AgentTarget(command=tuple(self.argv), env=self.env) if self.env else self.argv

    async def get_ready(self) -> None:
        """Download what has to be there first, where the command line allowed that; to be awaited before connecting.

        Raises:
            InvalidInput, TransportError: it could not be downloaded, or cannot be used.
        """
        if self.name is not None and self.way is not None:
            await fetch(self.name, self.way)

    async def remember(self, agreement: Agreement) -> None:
        """Write down what it supports, if it is a known agent."""
        await remember(self.way, self.argv, agreement)


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


def chosen_agent(
    words: Sequence[str],
    options: argparse.Namespace,
    environment: Mapping[str, str] = os.environ,
    *,
    more: Sequence[str] = (),
) -> ChosenAgent:
    """Return the agent that the command line names.

    Args:
        words: the agent's command, its URL, or its name.
        options: parsed, with those of :func:`add_remote_options` and :func:`~acp_host.cli.named.add_install_option`.
        environment: where a token is looked for, and programs.
        more: further arguments for the agent's command.

    Raises:
        InvalidInput: the first word is empty, a URL is followed by other words or is none, an option does not fit, or a
            named agent cannot be started.
    """
    if not words[0]:
        raise InvalidInput("no agent: the first word of its command is empty, as a variable that is not set would be")
    agent = named_agent(words, environment)
    if agent is not None:
        return _of_agent(agent, options, environment, more)
    words = [*words, *more]
    if not has_scheme(words[0]):
        _refuse_remote_options(options)
        return ChosenAgent(list(words), None, shlex.join(words))
    shown = RemoteAddress.of(words[0]).shown
    if len(words) > 1:
        raise InvalidInput(f"{shown} is the whole agent; after a URL nothing else can follow but -- and the prompt")
    return ChosenAgent([words[0]], _remote(options, environment), shown)


def _of_agent(
    agent: KnownAgent, options: argparse.Namespace, environment: Mapping[str, str], more: Sequence[str]
) -> ChosenAgent:
    """Return a known agent as a target; one that may have to be downloaded is only if the options allow that."""
    way = agent.way
    if way.readiness is Readiness.NOT_INSTALLED and not options.install:
        raise InvalidInput(f"{agent.name} has to be downloaded first; --install allows that")
    try:
        target = way.target(environment, installing=options.install)
    except InvalidInput as error:
        raise InvalidInput(f"{agent.name}: {error}") from None
    if target.url is not None:
        if more:
            raise InvalidInput(f"{agent.name} is at a URL, and --agent-arg is for a command")
        given = _remote(options, environment)
        remote = target.remote if target.remote is not None and not given.has_credentials else given
        shown = f"{agent.name}: {RemoteAddress.of(target.url).shown}"
        return ChosenAgent([target.url], remote, shown, name=agent.name, way=way)
    _refuse_remote_options(options)
    if way.readiness is Readiness.UNKNOWN and not options.install:
        options.start_hint = f"If {agent.name} was never downloaded: --install allows that."
    argv = [*target.command, *more]
    return ChosenAgent(argv, None, f"{agent.name}: {shlex.join(argv)}", target.env, agent.name, way)


def _refuse_remote_options(options: argparse.Namespace) -> None:
    if options.header or options.bearer_env is not None:
        raise InvalidInput("--header and --bearer-env are for an agent at a URL, such as wss://host/acp")


def _remote(options: argparse.Namespace, environment: Mapping[str, str]) -> RemoteOptions:
    bearer = None
    if options.bearer_env is not None:
        bearer = environment.get(options.bearer_env)
        if not bearer:
            raise InvalidInput(f"--bearer-env: the environment variable {options.bearer_env} is not set")
    return RemoteOptions(headers=_headers(options.header), bearer=bearer)


def _headers(lines: Sequence[str]) -> dict[str, str]:
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise InvalidInput("--header takes a name and a value with a colon between them")
        headers[name.strip()] = value.strip()
    return headers
