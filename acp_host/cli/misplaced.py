"""Options of a command that stand behind AGENT: what is said of them at once, and what if the agent does not start.

They are the agent's there, which may have an option of the same name. So what is said is no error:

* at once, where the name is hardly another program's: a limit that is not held, or something that was not granted, is
  not to be found out from the bill;
* of every other name, such as ``--json`` or ``--cwd``, when the agent does not start, or the command line is wrong.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

__all__ = ["note_own_options", "told_at_once", "told_on_failure"]

_OF_AGENTS_TOO = frozenset({"--protocol-version"})
"""Options with a hyphen within that agents have, too: ``acp-host agent`` does."""


def note_own_options(parser: argparse.ArgumentParser) -> None:
    """Let what is parsed know the options of a command that takes AGENT, as ``own_options``."""
    parser.set_defaults(own_options=parser._option_string_actions)  # those that are added later, too


def told_at_once(options: argparse.Namespace) -> str | None:
    """Return what is to be said before anything is done; ``None`` for nothing."""
    return _hint([name for name in _misplaced(options) if "-" in name.lstrip("-") and name not in _OF_AGENTS_TOO])


def told_on_failure(options: argparse.Namespace) -> str | None:
    """Return what is to be said if the agent does not start; ``None`` for nothing."""
    return _hint(_misplaced(options))


def _misplaced(options: argparse.Namespace) -> list[str]:
    words: list[str] = getattr(options, "agent", None) or []
    end = words.index("--", 1) if "--" in words[1:] else len(words)  # one before the agent is none of it
    named = [word.partition("=")[0] for word in words[1:end]]
    return [name for name in dict.fromkeys(named) if name in getattr(options, "own_options", ())]


def _hint(names: Sequence[str]) -> str | None:
    if not names:
        return None
    stands = "stands behind AGENT and goes" if len(names) == 1 else "stand behind AGENT and go"
    return f"{', '.join(names)} {stands} to it; acp-host's own options stand before AGENT."
