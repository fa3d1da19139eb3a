"""The widget: :class:`AgentWidget`."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from acp_host import blocking
from acp_host.automation.target import ResolvedTarget, resolve_target
from acp_host.errors import InvalidInput
from acp_host.given_files import absolute
from acp_host.host.agent_target import AgentTarget
from acp_host.host.login_queue import LoginQueue
from acp_host.host.option_names import check_option_names
from acp_host.host.prompt_content import PromptPart
from acp_host.reminders import Reminder, ReminderReceipt
from acp_host.services.elicitation_queue import ElicitationQueue
from acp_host.services.files import FileService, NotebookFormat
from acp_host.services.question_queue import QuestionQueue
from acp_host.transports import Transport
from acp_host.ui.jupyter.asking import asking
from acp_host.ui.jupyter.conversation import Audience, Conversation
from acp_host.ui.jupyter.past_cells import let_past_cells
from acp_host.ui.page_files import STATIC

__all__ = ["AgentWidget", "queues_of"]

_HEIGHT = 560
_KEPT = (
    "<p><em>A conversation with an agent was here. It lives in a kernel; run the cell to begin another one.</em></p>"
)
"""What is seen of it where notebooks are only read."""


class AgentWidget(anywidget.AnyWidget):
    """A conversation with an agent in a notebook. ::

        widget = AgentWidget(["some-agent", "--acp"], cwd="project", files=True)
        widget

    It returns at once; the agent starts in the background, and what goes wrong is shown in the widget, and raised where
    the agent is used. The connection lives on a thread of its own: a cell that runs does not hold it up. The widget can
    be shown several times. It goes on until :meth:`close`, or the kernel's end.

    Args:
        target: as for :func:`acp_host.blocking.connect`.
        host: a connection of :mod:`acp_host.blocking` that is there already, in place of ``target``; it stays open when
            the widget is closed. Pass the queues that it has as ``permissions``, ``elicitation`` and ``authenticate``.
        cwd: where the session works.
        permissions: ``"ask"``, ``"deny"``, ``"read-only"``, ``"allow-once"``, or as for ``connect``. What a policy
            does not decide is asked in the widget, and so is everything without this.
        elicitation, authenticate: as for ``connect``; without them, the widget shows forms, web pages and logins.
        height: of the view, in pixels.
        options: as for ``connect``, e.g. ``files=True``, which also keeps notebooks valid; nothing that lets the agent
            act is offered without.

    Raises:
        InvalidInput: there is not exactly one of ``target`` and ``host``; or an argument is wrong.
    """

    _esm = STATIC / "view.js"
    _css = STATIC / "view-style.css"
    _words = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(_HEIGHT).tag(sync=True)
    _conversation: Conversation | None = None
    _heard_beside_cells = False

    def __init__(
        self,
        target: Sequence[str] | str | Transport | AgentTarget | None = None,
        *,
        host: blocking.HostConnection | None = None,
        cwd: str | os.PathLike[str] = ".",
        permissions: Any = None,
        elicitation: Any = None,
        authenticate: Any = None,
        height: int = _HEIGHT,
        **options: Any,
    ) -> None:
        if (target is None) == (host is None):
            raise InvalidInput("AgentWidget takes an agent, or host=… for a connection that is there already")
        if host is not None and options:
            raise InvalidInput(f"a connection that is there already takes no {', '.join(options)}")
        check_option_names("AgentWidget", options, also=("dispatch", "cwd", "height"))
        super().__init__(height=height)
        decides, permission_queue = asking(permissions)
        if host is None:
            elicitation = ElicitationQueue() if elicitation is None else elicitation
            authenticate = LoginQueue() if authenticate is None else authenticate
        agent = None if target is None else resolve_target(target)
        here = str(cwd) if agent is not None and agent.remote else absolute(cwd)

        def connect() -> blocking.HostConnection:
            if host is not None:
                return host
            assert target is not None
            asks = {"permissions": decides, "elicitation": elicitation, "authenticate": authenticate, "sidebar": True}
            return blocking.connect(target, **{**asks, **_with_notebooks(options)})

        audience = Audience(
            tell=self.send,
            say=self._say,
            permissions=permission_queue if host is None else permissions,
            elicitation=elicitation if isinstance(elicitation, ElicitationQueue) else None,
            logins=authenticate if isinstance(authenticate, LoginQueue) else None,
        )
        self._conversation = Conversation(
            connect, name=_name_of(agent, host), cwd=here, audience=audience, owns=host is None
        )
        self.on_msg(self._take)
        let_past_cells(self.comm)

    @property
    def host(self) -> blocking.HostConnection:
        """The connection; waits until the agent is ready.

        Raises:
            AcpError: it could not be started.
        """
        return self._talk().host

    @property
    def session(self) -> blocking.Session:
        """The session; waits until the agent has opened it, and raises what kept it from that."""
        return self._talk().session

    def prompt(self, content: PromptPart | Iterable[PromptPart], **options: Any) -> blocking.Turn:
        """Queue a prompt, as ``session.prompt``; the turn can be awaited, or waited for, or left alone.

        In a cell::

            result = await widget.prompt("Fix the failing test")
        """
        return self.session.prompt(content, **options)

    def remind(self, body: str | Reminder, **options: Any) -> ReminderReceipt:
        """Tell the model something that the user did not type, as ``session.remind``."""
        return self.session.remind(body, **options)

    def cancel(self) -> None:
        """Cancel the turn that runs and those that wait, as ``session.cancel``."""
        self.session.cancel()

    def close(self) -> None:
        """End the conversation, and the views of it. May be called repeatedly."""
        if self._conversation is not None:
            self._conversation.close()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle: tuple[dict[str, Any], dict[str, Any]] | None = super()._repr_mimebundle_(**options)
        if bundle is not None:  # else it was closed
            bundle[0]["text/html"] = _KEPT
        return bundle

    @property
    def answers_while_busy(self) -> bool:
        """Whether a view has been heard while cells may run; else it is heard when they have ended."""
        return self._heard_beside_cells

    def _talk(self) -> Conversation:
        assert self._conversation is not None
        return self._conversation

    def _say(self, words: str) -> None:
        self._words = words

    def _take(self, _: Any, content: Mapping[str, Any], buffers: Any) -> None:
        """Take what a view says: on the main thread, which runs cells, or where these are let past."""
        self._heard_beside_cells = threading.current_thread() is not threading.main_thread()
        if content.get("kind") != "took":
            self.send({"view": content.get("view"), "kind": "got", "number": content.get("number")})
        self._talk().take(content)


def queues_of(widget: AgentWidget) -> tuple[QuestionQueue[Any, Any], ...]:
    """Return what is asked in the views: permissions, forms and web pages, logins, each unless others answer it."""
    return widget._talk().queues


def _with_notebooks(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options; of the files that are served without more words, notebooks stay notebooks."""
    if options.get("files") is not True:
        return options
    return {**options, "files": FileService(formats={".ipynb": NotebookFormat()})}


def _name_of(agent: ResolvedTarget | None, host: blocking.HostConnection | None) -> str:
    """Return what an agent is called that has not said it yet; of a command that is its program."""
    if agent is None:
        assert host is not None
        return host.agreement.agent_name
    if agent.remote or isinstance(agent.target, Transport):
        return agent.shown
    return shlex.split(agent.shown)[0]
