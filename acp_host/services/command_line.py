"""What a command line says, for rules that judge one without running it.

An agent names a command as one line, as a list, or as a list that hands one line to a shell. :func:`command_line` makes
one line of each, so that rules see the same command however it is asked for. The other functions look at such a line.
Where they cannot be sure they err towards danger: :func:`needs_shell` may call a harmless line one that needs a shell,
never the other way round.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

__all__ = ["command_line", "needs_shell", "paths_in", "pieces_of", "program_of", "words_in"]

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_SHELL_DIRECTORIES = frozenset({"", "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"})
_SCRIPT_FLAGS = frozenset({"-c", "-lc", "-ic", "-lic", "-ec"})
_OF_PLATFORM = r"[%^!]" if os.name == "nt" else r"\\"  # what a POSIX shell quotes with stands in every path of Windows
_SIGNS = re.compile(r"[;&|<>$`(){}*?\[\]\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029]|" + _OF_PLATFORM)
_JOINTS = re.compile(r"\$\(|[;&|\n\r(){}`<>]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*\s+")


def command_line(command: str, args: Sequence[str] = ()) -> str:
    """Return a command and its arguments as one line.

    ``sh -c SCRIPT`` gives the script, where ``sh`` is one of the usual shells in its usual place.
    """
    if not args:
        return command
    directory, name = os.path.split(command)
    is_shell = name in _SHELLS and directory in _SHELL_DIRECTORIES
    if is_shell and len(args) == 2 and args[0] in _SCRIPT_FLAGS:
        return args[1]
    return shlex.join((command, *args))


def needs_shell(line: str) -> bool:
    """Tell whether a line has anything in it that a shell would act upon: several commands, redirections, expansions.

    Signs within quotes count too, since what is quoted for one shell is not for another.
    """
    return _SIGNS.search(line) is not None


def program_of(line: str) -> str | None:
    """Return the program that a line runs, as it is written there; ``None`` if that cannot be told."""
    words = _words(line)
    if not words or words[0] == "" or _ASSIGNMENT.match(f"{words[0]} "):
        return None
    return words[0]


def pieces_of(line: str) -> tuple[str, ...]:
    """Return the line and every part of it that may be a command of its own, without variables set before it.

    A net for rules that reject: it catches what is written plainly, and not what is hidden from it on purpose.
    """
    parts = [part.strip() for part in _JOINTS.split(line)]
    bare = [re.sub(rf"^(?:{_ASSIGNMENT.pattern})+", "", part) for part in parts]
    return tuple(dict.fromkeys(part for part in (line.strip(), *parts, *bare) if part))


def paths_in(line: str) -> tuple[str, ...]:
    """Return the words of a line that are absolute paths, or lead out of the working directory."""
    return tuple(
        word
        for word in words_in(line)
        if os.path.isabs(word) or word.startswith("~") or ".." in re.split(r"[/\\]", word)
    )


def words_in(line: str) -> tuple[str, ...]:
    """Return the words of a line, and what stands in them behind ``=`` or a redirection, each once.

    Like :func:`pieces_of` it is a net for rules that reject: any of these may be the name of a file.
    """
    found: dict[str, None] = {}
    for word in _words(line) or line.split():
        for part in (word, word.lstrip("<>&|0123456789"), word.partition("=")[2]):
            found[part.strip(";&|<>(){}`$")] = None
    found.pop("", None)
    return tuple(found)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, posix=os.name == "posix")
    except ValueError:
        return []
