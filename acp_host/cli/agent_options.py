"""What every command that talks to an agent lets it do, and how it is reached: :func:`add_agent_options`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import Any

from acp_host.cli.chosen_agent import ChosenAgent, add_remote_options, add_version_option, chosen_agent
from acp_host.cli.completers import permission_words
from acp_host.cli.named import add_agent_argument, add_install_option
from acp_host.cli.record import add_recording_options, redaction_of
from acp_host.errors import InvalidInput
from acp_host.given_files import absolute
from acp_host.recording import Recording
from acp_host.services.permissions import PermissionHandler, PermissionPolicy, Permissions
from acp_host.services.policy_words import policy_of_word

__all__ = ["add_agent_options", "agent_of_options", "permissions_of", "policy_of", "recording_of"]

_WITHOUT_RULES = {"deny": "deny", "reject": "deny", "allow-once": "allow-once"}
"""Words for policies that decide all in the same way, and how people are told of them; a service offered is consent."""


def add_agent_options(parser: Any, *, permissions: str) -> None:
    """Add the options, and the agent itself.

    Args:
        parser: of the command.
        permissions: the default of ``--permissions``.
    """
    parser.add_argument("--cwd", default=".", metavar="D", help="working directory of the session (default: this one)")
    parser.add_argument(
        "--agent-arg",
        action="append",
        default=[],
        metavar="A",
        help="one more argument for the agent's command, after AGENT...; write --agent-arg=-- for its own --",
    )
    how = parser.add_argument(
        "--permissions",
        default=permissions,
        metavar="HOW",
        help="what the agent may do: deny, allow-once, ask, read-only, or a file with a policy "
        f"(default: {permissions})",
    )
    how.completer = permission_words
    parser.add_argument("--read-files", action="store_true", help="let the agent read files below the directory")
    parser.add_argument("--write-files", action="store_true", help="let the agent write files below the directory")
    parser.add_argument("--terminals", action="store_true", help="run commands for the agent, with all your rights")
    parser.add_argument("--record", metavar="FILE", help="record the conversation, without secrets, for a bug report")
    add_recording_options(parser)
    add_version_option(parser)
    add_install_option(parser)
    add_remote_options(parser)
    parser.add_argument(
        "--allow-remote-services",
        action="store_true",
        help="let --read-files, --write-files and --terminals go with a URL, too: its server then acts on this machine",
    )
    add_agent_argument(parser)


def agent_of_options(words: Sequence[str], options: argparse.Namespace) -> ChosenAgent:
    """Return the agent that is named, and check that the options go with it.

    Args:
        words: its command, its URL, or its name; a ``--`` may stand before it, as on other command lines.
        options: parsed.

    Raises:
        InvalidInput: they do not.
    """
    words = words[1:] if words[:1] == ["--"] else words
    # Before Python 3.13 argparse makes an empty list of --agent-arg=--.
    chosen = chosen_agent(words, options, more=[argument or "--" for argument in options.agent_arg])
    if chosen.remote is not None:
        _check_elsewhere(options)
    elif not os.path.isdir(absolute(options.cwd)):
        raise InvalidInput(f"--cwd {options.cwd} is not a directory")
    return chosen


def _check_elsewhere(options: argparse.Namespace) -> None:
    """Raise ``InvalidInput`` where an agent at a URL would be served what belongs to this machine, unasked."""
    served = {
        "--read-files": options.read_files,
        "--write-files": options.write_files,
        "--terminals": options.terminals,
    }
    named = [option for option, given in served.items() if given]
    if named and not options.allow_remote_services:
        raise InvalidInput(
            f"{', '.join(named)}: over a network this lets whoever controls the agent act on this machine; if that is "
            "what you want, add --allow-remote-services"
        )
    if options.cwd == "." and not options.allow_remote_services:
        raise InvalidInput("an agent at a URL needs --cwd with an absolute path of its own machine, e.g. /workspace")


def permissions_of(
    choice: str, *, ask: PermissionHandler | None, by_word: Callable[[PermissionPolicy, str], PermissionHandler]
) -> Permissions:
    """Return how permissions are decided; granting --write-files or --terminals is consent, unless there are rules.

    Args:
        choice: what ``--permissions`` says.
        ask: asks the user; ``None``: nobody can be asked, and what a policy would ask is rejected.
        by_word: returns what answers by a policy that one word stands for.

    Raises:
        InvalidInput: the choice is no word and no file with a policy.
    """
    if choice == "ask":
        return Permissions(ask=ask, direct=False)
    policy = policy_of(choice, "deny, allow-once, ask, read-only")
    word = _WITHOUT_RULES.get(choice.replace("_", "-"))
    if word is not None:
        return Permissions(ask=by_word(policy, word), direct=False)
    return Permissions(policy=policy, ask=ask)


def policy_of(choice: str, words: str) -> PermissionPolicy:
    """Return the policy that ``--permissions`` names by a word or by a file.

    Args:
        choice: what the option says.
        words: those that can be chosen, for people.

    Raises:
        InvalidInput: the choice is no word and no file with a policy.
    """
    policy = policy_of_word(choice)
    if policy is not None:
        return policy
    try:
        return PermissionPolicy.load(choice)
    except InvalidInput as error:
        if not isinstance(error.__cause__, OSError):
            raise
        raise InvalidInput(f"--permissions takes {words}, or a file with a policy; {error}") from None


def recording_of(options: argparse.Namespace) -> Recording | None:
    """Return how the conversation is recorded; ``None``: it is not."""
    return None if options.record is None else Recording(options.record, redact=redaction_of(options))
