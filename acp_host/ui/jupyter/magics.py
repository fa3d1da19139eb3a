"""The magics ``%acp`` and ``%%acp``: :class:`AcpMagics`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.display import display

from acp_host import blocking
from acp_host.automation.known_agents.all_agents import KnownAgents
from acp_host.automation.known_agents.names import named_agent
from acp_host.errors import AcpError, InvalidInput, InvalidState
from acp_host.host.agent_target import AgentTarget
from acp_host.host.outcome import TurnResult
from acp_host.printable import printable
from acp_host.state.option_entries import SessionOption
from acp_host.ui.jupyter.magic_lines import COMMANDS, HELP, MagicLine, read_line, read_prompt_options
from acp_host.ui.jupyter.usage_plot import UsageHistory
from acp_host.ui.jupyter.widget import AgentWidget, queues_of

__all__ = ["AcpMagics", "MagicFailed"]

_STUCK = (
    "The agent waits for an answer. This notebook takes answers in the widget only while no cell runs: interrupt this"
    " one, and prompt with --background."
)


class MagicFailed(Exception):
    """Something that a magic was to do; shown as one line, without a traceback into this library."""

    def _render_traceback_(self) -> list[str]:
        return [f"%acp: {self}"]


@magics_class
class AcpMagics(Magics):
    """The magics of one shell, which hold one conversation at a time.

    Attributes:
        widget: the conversation; ``None``: there is none.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._shell = shell
        self.widget: AgentWidget | None = None
        self._usage: UsageHistory | None = None

    @no_var_expand
    @line_cell_magic
    def acp(self, line: str, cell: str | None = None) -> Any:
        try:
            if cell is not None:
                return self._prompt(cell, **read_prompt_options(line))
            return self._do(read_line(line))
        except (AcpError, TimeoutError) as error:
            raise MagicFailed(printable(str(error))) from error

    acp.__doc__ = HELP

    def complete(self, shell: Any, event: Any) -> list[str]:
        """Return what can be written next; for IPython's hook ``complete_command``."""
        words = event.text_until_cursor.split()
        done = words[1:] if event.symbol == "" else words[1:-1]
        if not done:
            return list(COMMANDS)
        with contextlib.suppress(AcpError):
            return self._choices(done)
        return []

    # --- what the commands do ---------------------------------------------------------------------------------------

    def _do(self, line: MagicLine) -> Any:
        match line.command:
            case "connect":
                return self._connect(line)
            case "use":
                return self._use(line)
            case "prompt":
                return self._prompt(line.text, **line.options)
            case "remind":
                return self._remind(line)
            case "mode" | "model" | "option":
                return self._option(line)
            case "show":
                _show(self._here())
            case "status":
                print(_status(self._here()))
            case "usage":
                return self._history()
            case "cancel":
                self._here().cancel()
            case "close":
                self._close()
            case _:
                print(HELP)
        return None

    def _connect(self, line: MagicLine) -> None:
        options = dict(line.options)
        if not line.words:
            raise InvalidInput("%acp connect: name the agent, its command or its URL")
        target = _target_of(line.words)
        options |= {name: True if options[name] else None for name in ("files", "terminals")}
        widget = AgentWidget(target, **options)
        self._close()
        self.widget = widget
        _show(widget)

    def _use(self, line: MagicLine) -> None:
        found = self._shell.user_ns.get(line.text)
        if isinstance(found, blocking.HostConnection):
            found = AgentWidget(host=found)
        if not isinstance(found, AgentWidget):
            raise InvalidInput(f"%acp use takes the name of an AgentWidget or a connection; {line.text!r} is none")
        self._forget()
        self.widget = found

    def _prompt(self, text: str, *, background: bool, interpolate: bool) -> TurnResult | blocking.Turn:
        expand: Any = self._shell.var_expand
        text = expand(text) if interpolate else text
        if not text.strip():
            raise InvalidInput("there is no text to prompt the agent with")
        widget = self._here()
        if background:
            return widget.prompt(text)
        with _telling_of_questions(widget):  # from before the prompt: the first question may come at once
            return widget.prompt(text).wait()

    def _remind(self, line: MagicLine) -> None:
        receipt = self._here().remind(line.text, tags=tuple(line.options["tag"]), ttl_turns=line.options["ttl"])
        print(f"{receipt.status}, {receipt.rung}")

    def _option(self, line: MagicLine) -> None:
        session = self._here().session
        options = session.options.snapshot()
        about = None if line.command == "option" else options.about(line.command)
        if line.command == "option" and len(line.words) > 1:
            session.set_option(line.words[0], _value(" ".join(line.words[1:])))
        elif line.command == "option":
            chosen = [each for each in options.entries if line.text in ("", each.id)]
            print("\n".join(map(_option_line, chosen)) or "The agent has no such option.")
        elif about is None:
            raise InvalidInput(f"the agent has no {line.command}s")
        elif line.words:
            session.set_option(about.id, line.text)
        else:
            print(_option_line(about))

    def _close(self) -> None:
        widget, self.widget = self.widget, None
        self._forget()
        if widget is not None:
            widget.close()

    def _forget(self) -> None:
        history, self._usage = self._usage, None
        if history is not None:
            with contextlib.suppress(AcpError):
                history.close()

    def _history(self) -> UsageHistory:
        widget = self._here()
        if self._usage is None:
            self._usage = UsageHistory(widget.session)
        return self._usage

    def _here(self) -> AgentWidget:
        if self.widget is None:
            raise InvalidState("there is no conversation: begin one with `%acp connect AGENT`")
        return self.widget

    def _choices(self, done: list[str]) -> list[str]:
        """Return what can follow these words of a line."""
        match done:
            case ["connect", *_]:
                return ["--cwd", "--files", "--terminals", "--permissions", *KnownAgents.load()]
            case ["prompt", *_]:
                return ["--background", "--interpolate"]
            case ["remind", *_]:
                return ["--ttl=", "--tag="]
            case ["use"]:
                return [name for name, value in self._shell.user_ns.items() if isinstance(value, AgentWidget)]
            case ["mode" | "model" as category]:
                return _values(self._here().session.options.snapshot().about(category))
            case ["option"]:
                return [each.id for each in self._here().session.options.snapshot().entries]
            case ["option", name]:
                return _values(self._here().session.options.snapshot().get(name))
        return []


def _target_of(words: Sequence[str]) -> AgentTarget | str | list[str]:
    agent = named_agent(words, os.environ)
    if agent is not None:
        return agent.target()
    return words[0] if len(words) == 1 else list(words)


def _show(widget: AgentWidget) -> None:
    show: Any = display
    show(widget)


@contextlib.contextmanager
def _telling_of_questions(widget: AgentWidget) -> Iterator[None]:
    """Say so where an answer cannot come while the cell waits for it."""

    def asked(number: int) -> None:
        if number and not widget.answers_while_busy:
            print(_STUCK, file=sys.stderr)

    with contextlib.ExitStack() as ends:
        for queue in queues_of(widget):
            ends.callback(widget.host.observe(queue).select(len, asked).end)
        yield


def _status(widget: AgentWidget) -> str:
    host, session = widget.host, widget.session
    state = session.state.snapshot()
    usage, agent = state.usage, host.agreement.agent_info
    lines = {
        "agent": f"{host.agreement.agent_name} {'' if agent is None else agent.version or ''}",
        "connection": host.health.snapshot().status,
        "session": f"{state.info.title or session.id} in {session.cwd}",
        "turn": f"{state.turn.status}, {len(state.turn.queued)} waiting",
        "questions": str(len(state.questions)),
        "context": "not told" if usage.used is None else f"{usage.used:,} of {usage.size or 0:,} tokens",
    }
    lines |= {each.id: str(each.value) for each in state.options.entries}
    return printable("\n".join(f"{name + ':':12}{words}" for name, words in lines.items()))


def _option_line(option: SessionOption) -> str:
    choices = ", ".join(choice.value for choice in option.choices)
    return printable(f"{option.id} = {option.value}{f' ({choices})' if choices else ''}")


def _values(option: SessionOption | None) -> list[str]:
    return [] if option is None else [choice.value for choice in option.choices]


def _value(words: str) -> str | bool:
    return {"on": True, "off": False}.get(words, words)
