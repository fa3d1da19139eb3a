"""``acp-host agent``: the reference agent as a program, for hosts that launch it or reach it over a network."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from acp_host.cli.interrupts import Interrupts
from acp_host.cli.listening import add_listening_options, token_of
from acp_host.errors import InvalidInput
from acp_host.testing._stdio import HostOnStdio
from acp_host.testing.access import Access
from acp_host.testing.agent import add_options, agent_of, log_in

if TYPE_CHECKING:
    from acp_host.testing.served_agent import ServedAgent
    from acp_host.transports import Transport

    _Serving = AbstractAsyncContextManager[ServedAgent]

__all__ = ["add_parser"]

_DESCRIPTION = """\
Be an agent without a model, for tests and demonstrations. It does what its prompts say, one command on each line, such
as "/say Hello"; any other prompt gets a whole conversation.

Without --ws or --http it speaks with the host that has launched it, over stdin and stdout. With one of them it listens
for hosts, on this machine only unless --allow-other-machines is given, and prints its URL. What lets a host in is a
random token, which is printed as part of the URL, or the one that --token-env names, which is not. Web pages are let in
only where --allow-origin lists them. Ctrl-C ends it.
"""


def add_parser(commands: Any) -> None:
    """Add the sub-command to the command line."""
    parser = commands.add_parser(
        "agent",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--stdio", action="store_true", help="speak over stdin and stdout (the default)")
    ways.add_argument("--ws", action="store_true", help="serve hosts over WebSocket")
    ways.add_argument("--http", action="store_true", help="serve hosts over Streamable HTTP")
    network = parser.add_argument_group("over a network")
    add_listening_options(network)
    network.add_argument("--path", default="/acp", metavar="P", help="the path of the endpoint (default: /acp)")
    network.add_argument(
        "--certificate",
        nargs=2,
        metavar=("CERT", "KEY"),
        help="with --http: speak HTTPS, and HTTP/2, with this certificate and its key (PEM files)",
    )
    agent = parser.add_argument_group("the agent")
    agent.add_argument("--chaos", metavar="NAME", help="misbehave, as the agent of this name in `acp-host chaos list`")
    add_options(agent)
    parser.set_defaults(command=serve)


async def serve(options: argparse.Namespace, interrupts: Interrupts) -> int:
    """Run the sub-command and return its exit code.

    Raises:
        InvalidInput: the command line is wrong, or nothing can listen there.
    """
    if options.log_in:
        return log_in(options.login_file)
    agent = agent_of(options) if options.chaos is None else _bad_agent(options)
    if options.certificate is not None and not options.http:
        raise InvalidInput("--certificate is for --http")
    if options.ws or options.http:
        async with _served(agent, options) as served:
            # A token that somebody keeps in a variable is not for logs; one that was made here is known by this alone.
            key = "this URL" if options.token_env is None else f"the token in {options.token_env}"
            print(served.url_with_token if options.token_env is None else served.url, flush=True)
            print(f"acp-host: whoever has {key} can use the agent; Ctrl-C ends it", file=sys.stderr, flush=True)
            await asyncio.Event().wait()
    host = HostOnStdio()
    try:
        return await agent(host)
    finally:
        await host.close()


def _bad_agent(options: argparse.Namespace) -> Callable[[Transport], Awaitable[int]]:
    """Return what serves a host badly; does not return for an agent that is bad as a process."""
    from acp_host.testing.chaos.catalogue import find  # loaded where it is used only
    from acp_host.testing.chaos.journal import Journal
    from acp_host.testing.chaos.program import become

    bad = find(options.chaos)
    if not bad.process:
        return lambda host: bad.meet(Journal.of_process()).serve(host)
    if options.ws or options.http:
        raise InvalidInput(f"{bad.name} is bad as a process, so it cannot be served over a network")
    become(bad)


def _served(agent: Callable[[Transport], Awaitable[int]], options: argparse.Namespace) -> _Serving:
    where: dict[str, Any] = {
        "host": options.host,
        "port": options.port,
        "path": options.path,
        "access": _access(options),
        "allow_other_machines": options.allow_other_machines,
    }
    if options.http:
        from acp_host.testing.http_serving import serve_http  # loaded where it is used only

        return serve_http(agent, **where, certificate=options.certificate)
    from acp_host.testing.websocket_serving import serve_websocket

    return serve_websocket(agent, **where)


def _access(options: argparse.Namespace) -> Access:
    token = token_of(options)
    return Access(origins=options.allow_origin, hosts=options.allow_host, **({} if token is None else {"token": token}))
