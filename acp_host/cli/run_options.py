"""The options of ``acp-host run``: what it is given, what it may take, and how often it is tried."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import Any

from attrs import evolve

from acp_host.automation import Budget, Retries, Timeouts
from acp_host.cli.amounts import at_least_one, seconds
from acp_host.errors import InvalidInput
from acp_host.given_files import absolute
from acp_host.host.prompt_content import PromptPart
from acp_host.state.reminder_entry import Rung

__all__ = [
    "add_run_options",
    "add_timeout_options",
    "budget_of",
    "cost_of",
    "prompt_of",
    "reminders_of",
    "retries_of",
    "split",
    "text_of_file",
    "text_of_words",
    "timeouts_of",
]

_COST = re.compile(r"(?P<amount>\d+(?:\.\d+)?|\.\d+)\s*(?P<currency>\S.*)?")


def add_run_options(parser: Any) -> None:
    """Add the options to the command line."""
    prompt = parser.add_argument_group("the prompt")
    prompt.add_argument("--prompt-file", metavar="FILE", help="read the prompt from a file, or with - from stdin")
    prompt.add_argument(
        "--attach", action="append", default=[], metavar="FILE", help="send a file with the prompt; may be repeated"
    )
    prompt.add_argument(
        "--remind",
        action="append",
        default=[],
        metavar="TEXT",
        help="tell the model something beside the prompt, by the best way that the agent has; may be repeated",
    )
    prompt.add_argument(
        "--remind-file", action="append", default=[], metavar="FILE", help="likewise, with the text of a file"
    )
    prompt.add_argument(
        "--remind-require",
        metavar="RUNG",
        help="do not send the prompt unless this way takes each reminder: "
        f"{Rung.INJECT_REMINDER}, {Rung.REMIND} or {Rung.PREFIXED_USER_MESSAGE}",
    )
    prompt.add_argument("--session", metavar="ID", help="go on with this session of the agent")
    prompt.add_argument(
        "--continue",
        dest="continue_last",
        action="store_true",
        help="go on with the session that this agent had last in this directory",
    )
    _add_limits(parser.add_argument_group("limits"))
    _add_once(parser.add_argument_group("again, and not again"))
    output = parser.add_argument_group("output")
    output.add_argument(
        "--json", action="store_true", help="write JSON Lines to stdout, and the message with the rest to stderr"
    )
    output.add_argument(
        "--json-schema", action="store_true", help="print the JSON Schema of these lines, and end; needs no agent"
    )
    output.add_argument("-v", "--verbose", action="store_true", help="show also the agent's stderr and minor updates")
    output.add_argument("--no-changes", action="store_true", help="do not look for the files that have changed")
    output.add_argument(
        "--denied-ok", action="store_true", help="let the exit code not say that the agent was denied something"
    )


def add_timeout_options(limits: Any) -> None:
    """Add the options of :func:`timeouts_of`."""
    given: dict[str, Any] = {"type": seconds, "metavar": "S"}
    limits.add_argument("--start-timeout", help="seconds until the agent is ready, in each attempt", **given)
    limits.add_argument("--idle-timeout", help="seconds without any word of the agent in its turn", **given)
    limits.add_argument("--timeout", help="seconds for all of it", **given)


def _add_limits(limits: Any) -> None:
    add_timeout_options(limits)
    count: dict[str, Any] = {"type": at_least_one, "metavar": "N"}
    limits.add_argument("--max-tokens", help="cancel the turn once it has taken more tokens", **count)
    limits.add_argument(
        "--max-cost", metavar="AMOUNT", help="cancel the turn once it has cost more, e.g. 5, or 5USD in this currency"
    )
    limits.add_argument("--max-turns", help="cancel the turn once it has made more requests to the model", **count)


def _add_once(again: Any) -> None:
    again.add_argument(
        "--retries", type=int, default=0, metavar="N", help="try so often again what failed before the prompt was sent"
    )
    again.add_argument(
        "--retry-after-prompt", action="store_true", help="also what failed behind it; some work may be done twice"
    )
    again.add_argument("--key", metavar="KEY", help="do it once: the same key again returns the first result")
    again.add_argument(
        "--journal", metavar="FILE", help="the file that keeps results and sessions (default: one of yours)"
    )
    again.add_argument(
        "--rerun-unknown",
        action="store_true",
        help="with --key: do it again where the prompt was sent and nobody knows what became of it",
    )


def split(arguments: list[str]) -> tuple[list[str], bool, list[str]]:
    """Split at the first ``--``; the middle part tells whether there is one."""
    position = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:position], position < len(arguments), arguments[position + 1 :]


def prompt_of(options: argparse.Namespace) -> tuple[PromptPart, ...]:
    """Return the parts of the prompt: its text, and the files that go with it.

    Raises:
        InvalidInput: there is no text, or one too many, or a file cannot be read.
    """
    _, found, words = split(options.agent)
    if found and options.prompt_file is not None:
        raise InvalidInput("the prompt stands behind -- or in --prompt-file, and not in both")
    if options.prompt_file is not None:
        text = text_of_file(options.prompt_file, "--prompt-file")
    elif found:
        text = text_of_file("-", "--") if words == ["-"] else text_of_words(words, "the prompt")
    else:
        raise InvalidInput('no prompt: write -- "prompt" after the agent\'s command, or use --prompt-file')
    if not text.strip():
        raise InvalidInput("the prompt is empty")
    # An attachment is found from where the command was typed, and not from --cwd.
    return (text, *(Path(absolute(name)) for name in options.attach))


def reminders_of(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the texts of the reminders; raises as :func:`prompt_of`."""
    given = [text_of_words([text], "--remind") for text in options.remind]
    texts = (*given, *(text_of_file(name, "--remind-file") for name in options.remind_file))
    if options.remind_require is not None and not texts:
        raise InvalidInput("--remind-require is for --remind and --remind-file")
    return texts


def timeouts_of(options: argparse.Namespace) -> Timeouts:
    """Return how long it may take; raises ``InvalidInput`` for what is no number of seconds."""
    return Timeouts(start=options.start_timeout, idle=options.idle_timeout, total=options.timeout)


def budget_of(options: argparse.Namespace) -> Budget:
    """Return what it may spend; raises ``InvalidInput`` for what is no such number."""
    cost, currency = cost_of(options.max_cost, "--max-cost")
    return Budget(tokens=options.max_tokens, cost=cost, currency=currency, turns=options.max_turns)


def cost_of(text: str | None, option: str) -> tuple[float | None, str | None]:
    """Return the amount and the currency that an option gives; ``None`` for what is not given.

    Raises:
        InvalidInput: it is none.
    """
    if text is None:
        return None, None
    found = _COST.fullmatch(text.strip())
    if found is None:
        raise InvalidInput(f"{option} takes an amount such as 5, or 5USD, not {text!r}")
    return float(found["amount"]), found["currency"]


def retries_of(options: argparse.Namespace) -> Retries:
    """Return how often it is tried."""
    if options.retries < 0:
        raise InvalidInput(f"--retries is a number, 0 or more, not {options.retries}")
    return evolve(Retries.of(options.retries), after_prompt=options.retry_after_prompt)


def text_of_words(words: list[str], what: str) -> str:
    """Return the text of words of the command line.

    What the locale could not read there is UTF-8 in most cases; models are told nothing of bytes that are none.

    Raises:
        InvalidInput: they are no text.
    """
    text = " ".join(words)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        try:
            return os.fsencode(text).decode("utf-8")
        except UnicodeError:
            raise InvalidInput(f"{what} has bytes that are no UTF-8: {text}") from None
    return text


def text_of_file(name: str, option: str) -> str:
    """Return the text of a file that an option names, or with ``-`` of stdin; raises ``InvalidInput``."""
    try:
        if name == "-":
            return sys.stdin.read()
        return Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{option} {name} cannot be read: {error}") from None
