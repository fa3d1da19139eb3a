"""A complete agent without a model: :class:`ReferenceAgent`, for demonstrations, documentation and tests.

It is deterministic: the same messages get the same answers, ids and times included. It writes no file, starts no
process and opens no connection by itself; files and commands are the host's, and what the host does not offer is left
out, which the agent says.
"""

from __future__ import annotations

import datetime
import itertools
import os
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from acp_host.errors import InvalidInput
from acp_host.testing._account_methods import KEY_VARIABLE, LOGINS, PROVIDERS
from acp_host.testing._connection import Connection
from acp_host.testing._edition import chosen_editions
from acp_host.testing._features import chosen_features
from acp_host.testing._in_process import InProcessTransport
from acp_host.testing._running_turn import TurnScript
from acp_host.testing.agent_session import AgentSession
from acp_host.testing.script_language import builtin_commands, builtin_script
from acp_host.transports import Transport
from acp_host.wire.commands import AvailableCommand

__all__ = ["ReferenceAgent", "TurnScript"]

_BEGINNING = datetime.datetime(2025, 1, 1, tzinfo=datetime.UTC)


class ReferenceAgent:
    """An agent that knows all of ACP v1 and v2, and does what its script says. ::

        async with acp_host.connect(ReferenceAgent().transport(), permissions=PermissionPolicy.allow_once()) as host:
            session = await host.new_session()
            print((await session.prompt("Show me what you can do")).text)

    Without a script of your own a prompt that begins with a slash is a small program, one command on each line, e.g.
    ``/say Hello``; any other prompt gets a whole conversation. :mod:`acp_host.testing.script_language` lists the
    commands. A script of your own is a coroutine function::

        async def script(turn: AgentTurn) -> str | None:
            await turn.say(f"You said: {turn.text}")

    It returns the stop reason, ``None`` for ``end_turn``. It may raise :class:`~acp_host.errors.RequestFailed`, which
    the prompt is answered with. When the turn is cancelled the script is cancelled where it waits.

    The model that it does not have is asked, as it were, when a turn begins and after each tool call; then it is shown
    the reminders that the host sent, and the host is told so. ``/reminders`` says what it saw.

    One agent can serve many connections, one after the other or at once; its sessions outlive them, so that a host can
    load them again. Of MCP servers it calls those of the host itself, which it reaches over the connection, and only
    where the script says so; others are accepted and left alone.

    Args:
        script: what to do with a prompt; ``None`` for the built-in one.
        commands: what ``available_commands_update`` tells; ``None``: those of the built-in script, and none
            with a script of your own.
        unstable: offer draft methods too, and tell the usage of each turn.
        without: features to leave out: any of ``image``, ``audio``, ``embeddedContext``, ``additionalDirectories``,
            ``load``, ``list``, ``resume``, ``close``, ``delete``, ``logout``, and of the drafts ``systemPrompt``,
            ``fork``, ``archive``, ``status``, ``title``, ``authStatus``, ``providers``, ``mcp`` (servers
            of the host), ``reminders``, ``reminder_updates`` (of what becomes of them), ``reminder_queue`` (to list and
            revoke them). ACP v2 leaves no choice about ``load``, ``list``, ``resume``, ``close`` and ``logout``.
        also: features to offer that are not offered by default: ``old_options`` tells of modes and models as agents do
            that know no configuration options; ``harn_reminders`` takes reminders as Harn does, by
            ``session/remind``; ``harn_decorations`` puts them beside tool calls too; ``harn_no_bridge`` refuses them as
            long as no prompt runs; ``harn_old`` advertises and takes what an older build does.
        require_auth: refuse to open sessions, and to take prompts, until somebody is logged in.
        logins: how one can log in then: any of ``agent`` (``authenticate``), ``terminal`` (a run of its command with
            ``--log-in``; needs ``login_file``), ``env_var`` (``REFERENCE_AGENT_KEY`` in its environment when it
            starts), and ``card``, which no host knows.
        login_file: the file that a login in a terminal makes; whoever finds it is logged in.
        page_size: how many sessions a page of ``session/list`` has.
        delay: seconds between two chunks of a message, for people to watch.
        protocol_versions: the versions that it speaks, of 1 and 2; it takes the newest that the host speaks, too.

    Attributes:
        editions: the versions of the protocol, the oldest first.
        sessions: every session by id.
        logged_in: whether somebody is logged in.

    Raises:
        InvalidInput: ``protocol_versions``, ``without``, ``also`` or ``logins`` names something that is none.
    """

    def __init__(
        self,
        *,
        script: TurnScript | None = None,
        commands: Sequence[AvailableCommand] | None = None,
        unstable: bool = True,
        without: Collection[str] = (),
        also: Collection[str] = (),
        require_auth: bool = False,
        logins: Sequence[str] = ("agent",),
        login_file: str | os.PathLike[str] | None = None,
        page_size: int = 50,
        delay: float = 0.0,
        protocol_versions: Collection[int] = (1,),
    ) -> None:
        self.editions = chosen_editions(protocol_versions)
        self.script = script or builtin_script
        self.commands = tuple(builtin_commands() if commands is None and script is None else commands or ())
        self.unstable = unstable
        self.features = chosen_features(unstable=unstable, without=without, also=also)
        self.require_auth = require_auth
        self.page_size = page_size
        self.delay = delay
        self.sessions: dict[str, AgentSession] = {}
        if unknown := set(logins) - LOGINS.keys():
            raise InvalidInput(f"{', '.join(unknown)}: no way to log in with this agent; it has {', '.join(LOGINS)}")
        self.logins = tuple(logins)
        has_key = "env_var" in logins and bool(os.environ.get(KEY_VARIABLE))
        self.logged_in = has_key or (login_file is not None and os.path.exists(login_file))
        self.providers = {provider.provider_id: provider for provider in PROVIDERS}
        self._numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(1))
        self._seconds = itertools.count()

    def transport(self) -> Transport:
        """Return what to pass to :func:`acp_host.connect`; the agent runs in this process, as a task."""
        return InProcessTransport(self.serve, "the reference agent")

    @staticmethod
    def command(*flags: str) -> list[str]:
        """Return the command that runs a reference agent as a process of its own.

        Args:
            flags: see ``python -m acp_host.testing.agent --help``.
        """
        return [sys.executable, "-m", "acp_host.testing.agent", *flags]

    async def serve(self, host: Transport) -> int:
        """Serve one host over any transport until the connection ends; return the exit status for a process."""
        return await Connection(self).serve(host)

    def number(self, word: str) -> str:
        """Return a new id, e.g. ``session-1``."""
        return f"{word}-{next(self._numbers[word])}"

    def now(self) -> str:
        """Return the time in ISO 8601; it begins in 2025 and a second passes each time somebody looks."""
        time = _BEGINNING + datetime.timedelta(seconds=next(self._seconds))
        return time.isoformat().replace("+00:00", "Z")
