"""How a program is found and its command line written on Windows, as pure functions that run anywhere.

Three things differ from POSIX. A bare name is looked up with the extensions of ``PATHEXT``, so ``npx`` means
``npx.cmd``. A batch file (``.cmd``, ``.bat``) is not a program: the command interpreter runs it, and reads its
arguments by rules of its own, which :func:`batch_arguments` writes for. And names of environment variables ignore case.

The rules follow the documented behaviour of ``cmd.exe`` and of the C runtime's argument parser. One thing cannot be
written safely: a batch file that itself switches delayed expansion on will still expand ``!NAME!`` in its arguments.
"""

from __future__ import annotations

import ntpath
from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["Verbatim", "batch_arguments", "find_program", "interpreter", "is_batch_file", "lookup"]

_DEFAULT_EXTENSIONS = ".COM;.EXE;.BAT;.CMD"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#$*+-./:?@\\_")
_UNWRITABLE = frozenset("\0\r\n")


class Verbatim(str):
    """A piece of a command line that :func:`subprocess.list2cmdline` copies as it is.

    The quoting that ``subprocess`` applies to arguments is meant for programs and breaks a line that ``cmd.exe`` reads;
    the asyncio interface takes only lists. So this string shows itself as one character without blanks.
    """

    def __iter__(self) -> Iterator[str]:
        yield str(self)

    def __contains__(self, key: object) -> bool:
        return False


def lookup(env: Mapping[str, str], name: str) -> str | None:
    """Return the variable ``name`` of ``env``, whatever the case it is written in."""
    return next((value for key, value in env.items() if key.upper() == name.upper()), None)


def find_program(
    program: str, *, env: Mapping[str, str], cwd: str | None, is_file: Callable[[str], bool]
) -> str | None:
    """Return the path of the file that ``program`` names, or ``None``.

    A bare name is searched in the directories of ``PATH``, never in the working directory, which may belong to somebody
    else. A name with a directory is taken relative to ``cwd``. Files with an extension of ``PATHEXT`` come first, since
    installers put a script for POSIX shells, without extension, beside the batch file of the same name.

    Args:
        program: the first item of the command.
        env: the environment that the child will get.
        cwd: the child's working directory; ``None`` is the current one.
        is_file: tells whether a path is a file.
    """
    extensions = [ext for ext in (lookup(env, "PATHEXT") or _DEFAULT_EXTENSIONS).split(";") if ext]
    bare = ntpath.basename(program) == program and not ntpath.splitdrive(program)[0]
    searched = (lookup(env, "PATH") or "").split(";") if bare else [cwd or "."]
    names = [program + ext for ext in extensions]
    if ntpath.splitext(program)[1].upper() in {ext.upper() for ext in extensions}:
        names.insert(0, program)
    elif not bare:
        names.append(program)
    candidates = (ntpath.join(directory.strip('"'), name) for directory in searched if directory for name in names)
    return next((path for path in candidates if is_file(path)), None)


def is_batch_file(path: str) -> bool:
    """Tell whether Windows runs ``path`` through the command interpreter (it ignores dots and blanks at the end)."""
    return path.rstrip(". ").lower().endswith((".bat", ".cmd"))


def interpreter(env: Mapping[str, str]) -> str:
    """Return the path of ``cmd.exe``, from the host's own environment ``env``."""
    named = lookup(env, "COMSPEC")
    if named and ntpath.isabs(named):
        return named
    return ntpath.join(lookup(env, "SYSTEMROOT") or r"C:\Windows", "System32", "cmd.exe")


def batch_arguments(script: str, arguments: Sequence[str]) -> Verbatim:
    """Return what follows ``cmd.exe`` on the command line to run ``script`` with ``arguments``, each unchanged.

    ``/d`` skips the user's AutoRun commands, which could write into the stream; ``/s`` takes off the outer quotes and
    nothing else; ``/e:ON`` gives the extensions that the escape for ``%`` needs; ``/v:OFF`` keeps ``!`` literal.

    Raises:
        ValueError: an argument holds a line break or NUL, which no batch file can be given.
    """
    line = " ".join([_quoted(script), *(_argument(argument) for argument in arguments)])
    return Verbatim(f'/d /e:ON /v:OFF /s /c "{line}"')


def _argument(argument: str) -> str:
    if argument and _PLAIN.issuperset(argument) and not argument.endswith("\\"):
        return argument
    return _quoted(argument)


def _quoted(text: str) -> str:
    """Write ``text`` in quotes, so that both ``cmd.exe`` and the program behind the batch file read it as one value.

    Within quotes only two characters are special to ``cmd.exe``. A quote is doubled, which both readers take for a
    literal one and which leaves what follows inside the quotes. A ``%`` is followed by an empty slice of ``%cd%``, so
    that no pair of them can ever enclose the name of a variable. Backslashes count only before a quote.
    """
    if not _UNWRITABLE.isdisjoint(text):
        raise ValueError(f"{text!r} holds a line break or NUL, which cannot be passed to a batch file")
    written, backslashes = ['"'], 0
    for char in text:
        if char == '"':
            written.append("\\" * backslashes + '"')
        elif char == "%":
            written.append("%%cd:~,")
        written.append(char)
        backslashes = backslashes + 1 if char == "\\" else 0
    written.append("\\" * backslashes + '"')
    return "".join(written)
