"""Launchers that put an agent's process into a sandbox of the operating system.

``connect(launcher=…)`` and :class:`~acp_host.transports.StdioTransport` take any function from a
:class:`~acp_host.transports.Launch` to another one; it is called once, just before the process is started. Here are
those for bubblewrap (Linux) and sandbox-exec (macOS), which take the same arguments. This module starts nothing and
owns only what is put in front of the agent's command.

What an agent meets inside:

===================  =========================================================  ==================================
what                 :class:`Bubblewrap`                                        :class:`SandboxExec`
===================  =========================================================  ==================================
``writable``         read and written                                           the same
``read_only``        read only, below a writable directory too                  the same
``hidden``           empty                                                      cannot be read
all other files      read only                                                  read only
temporary files      directories of its own, which end with it                  the user's, read and written
sockets in /run      not there, so no D-Bus, Docker or ssh-agent                not there to be connected to, except
                                                                                the resolver of names
network              the host's, or none at all                                 the same
other processes      neither seen nor signalled                                 seen
===================  =========================================================  ==================================

A more specific path wins over a more general one: a hidden directory in a writable one is hidden.

Neither ever falls back to a launch without a sandbox: where the program is missing or is not allowed to work,
``connect()`` raises :class:`~acp_host.errors.StartFailed`.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from acp_host.errors import InvalidInput, NotSupported
from acp_host.given_files import absolute
from acp_host.transports import Launch, Launcher

__all__ = ["PRIVATE", "Bubblewrap", "SandboxExec", "sandbox_here"]

PRIVATE = (
    "~/.aws",
    "~/.azure",
    "~/.config/gcloud",
    "~/.config/gh",
    "~/.docker",
    "~/.gnupg",
    "~/.kube",
    "~/.netrc",
    "~/.ssh",
)
"""Where keys and passwords of other programs lie: what is hidden by default."""

_SCRATCH = ("/tmp", "/var/tmp", "/run")
"""Directories that bubblewrap replaces by empty ones: temporary files, and the sockets of services."""
_KEPT = ("/etc/resolv.conf", "/run/current-system", "/run/wrappers")
"""What programs need although it may lie in one of those, at the end of links: names of hosts; programs of NixOS."""

_RESOLVER = "/private/var/run/mDNSResponder"
_RULES: Mapping[str, Callable[[str], list[str]]] = {
    "WRITABLE": lambda where: [f"(allow file-read* file-write* network* {where})"],
    "READ_ONLY": lambda where: [f"(allow file-read* {where})", f"(deny file-write* {where})"],
    "HIDDEN": lambda where: [f"(deny file-read* file-write* {where})"],
}
"""Kind of path → the rules of sandbox-exec for it; the network is there for sockets that are files."""


def _paths(given: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    if isinstance(given, str | bytes):
        raise InvalidInput(f"a sandbox takes lists of paths, not one string: {given!r}")
    paths = tuple(os.path.realpath(os.path.expanduser(os.fspath(path))) for path in given)
    if os.path.dirname(os.sep) in paths:
        raise InvalidInput("a sandbox cannot be made for the root of the file system")
    return paths


@frozen(kw_only=True)
class _Sandbox:
    """What both kinds take.

    Attributes:
        writable: files and directories that may be changed, as absolute real paths: those of the sessions, and what the
            agent keeps for itself, e.g. ``~/.codex``. They must exist.
        read_only: what stays as it is although it lies in a writable directory, e.g. ``.git/hooks``.
        hidden: what cannot be read at all; by default :data:`PRIVATE`.
        network: whether the network can be reached; most agents need it for their model.

    Relative paths are below the current directory, ``~`` is the user's home, and links are resolved when the launcher
    is made.

    Raises:
        InvalidInput: a path is ``/``, or one string stands in the place of a list.
    """

    writable: tuple[str, ...] = field(converter=_paths)
    read_only: tuple[str, ...] = field(default=(), converter=_paths)
    hidden: tuple[str, ...] = field(default=PRIVATE, converter=_paths)
    network: bool = True


@frozen(kw_only=True)
class Bubblewrap(_Sandbox):
    """Runs the agent in `bubblewrap <https://github.com/containers/bubblewrap>`_, with namespaces of its own. ::

        launcher = Bubblewrap(writable=[project, "~/.some-agent"])
        async with acp_host.connect(["some-agent", "--acp"], cwd=project, launcher=launcher) as host:
            ...

    It needs ``bwrap`` on the ``PATH``, and a system that allows user namespaces. The agent cannot get rid of it: it has
    no capabilities, its programs cannot gain any, and it cannot reach the processes outside. When the host ends in
    whatever way, it is killed.
    """

    program: str = "bwrap"

    def __call__(self, launch: Launch) -> Launch:
        """Return the launch of ``launch`` in the sandbox; looks at the disk.

        Raises:
            InvalidInput: the program lies in a directory that is empty in the sandbox.
        """
        self._require_in_sight(launch)
        cwd = absolute(launch.cwd or os.curdir)
        # fmt: off
        argv = [
            self.program,
            "--unshare-all", *(["--share-net"] if self.network else []),
            "--die-with-parent", "--new-session", "--cap-drop", "ALL",
            "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
            *self._mounts(),
            "--chdir", cwd,
            "--", *launch.argv,
        ]
        # fmt: on
        return evolve(launch, argv=tuple(argv))

    def _require_in_sight(self, launch: Launch) -> None:
        """Say what to do about a program that the sandbox would take away; bubblewrap only says that there is none."""
        named = launch.argv[0]
        if not os.path.dirname(named):
            named = shutil.which(named, path=launch.environment().get("PATH", os.defpath)) or "/"
        program = absolute(os.path.join(launch.cwd or os.curdir, named))
        scratch = next((path for path in _SCRATCH if _is_below(program, path)), None)
        if scratch and not any(_is_below(program, path) for path in (*self.writable, *self.read_only)):
            raise InvalidInput(
                f"{program} cannot be run in the sandbox, where {scratch} is empty; "
                "add the directory with all that it needs to read_only"
            )

    def _mounts(self) -> Iterator[str]:
        """Return the arguments for all that is not simply read only, the most general paths first."""
        wanted: dict[str, tuple[str, ...]] = {}
        for path in _SCRATCH:
            if os.path.isdir(path) and not os.path.islink(path):
                wanted[path] = ("--tmpfs", path)
        for path in self.hidden:
            if (mode := _mode(path)) is not None:
                wanted[path] = ("--tmpfs", path) if stat.S_ISDIR(mode) else ("--ro-bind", "/dev/null", path)
        for kept in map(os.path.realpath, _KEPT):
            if any(_is_below(kept, scratch) for scratch in _SCRATCH):
                wanted[kept] = ("--ro-bind-try", kept, kept)
        for path in self.read_only:
            # A directory that holds something mounted can be renamed, one that is mounted itself cannot: without this,
            # the agent moves `.git` away and makes another one.
            for above in self._between(path):
                wanted[above] = ("--bind", above, above)
        for path in self.writable:
            wanted[path] = ("--bind", path, path)
        for path in self.read_only:
            wanted[path] = ("--ro-bind", path, path)
        for path in sorted(wanted, key=lambda path: path.count(os.sep)):
            yield from wanted[path]

    def _between(self, path: str) -> Iterator[str]:
        """Return the directories above ``path`` and below a writable one."""
        for above in map(str, Path(path).parents):
            if any(_is_below(above, root) for root in self.writable):
                yield above


@frozen(kw_only=True)
class SandboxExec(_Sandbox):
    """Runs the agent under macOS's ``sandbox-exec``, with a profile that forbids to write except where it may.

    Paths are given to the profile as parameters, never as a part of its text. An agent can still ask other programs to
    act for it, in ways that only a profile made for one program can close.
    """

    program: str = "/usr/bin/sandbox-exec"

    def __call__(self, launch: Launch) -> Launch:
        """Return the launch of ``launch`` in the sandbox."""
        parameters = self._parameters()
        defined = [part for name, path in parameters for part in ("-D", f"{name}={path}")]
        argv = (self.program, "-p", self._profile([name for name, _ in parameters]), *defined, *launch.argv)
        return evolve(launch, argv=argv)

    def _parameters(self) -> list[tuple[str, str]]:
        """Return the paths with their names in the profile, in the order of its rules: the last that fits wins."""
        kinds = dict.fromkeys(self.hidden, "HIDDEN")
        kinds |= dict.fromkeys((os.path.realpath(tempfile.gettempdir()), *self.writable), "WRITABLE")
        kinds |= dict.fromkeys(self.read_only, "READ_ONLY")
        paths = sorted(kinds, key=lambda path: path.count("/"))
        return [(f"{kinds[path]}_{number}", path) for number, path in enumerate(paths)]

    def _profile(self, names: Sequence[str]) -> str:
        rules = ["(version 1)", "(allow default)", "(deny file-write*)"]
        rules += ['(allow file-write* (regex #"^/dev/(null$|zero$|tty|pty|fd/|std)"))', "(deny network*)"]
        if self.network:
            rules += ['(allow network* (local ip "*:*"))', '(allow network* (remote ip "*:*"))']
            rules += [f'(allow network-outbound (literal "{_RESOLVER}"))']
        rules += [rule for name in names for rule in _RULES[name.rpartition("_")[0]](f'(subpath (param "{name}"))')]
        return "\n".join([*rules, "(deny appleevent-send)"])


def sandbox_here(
    *,
    writable: Sequence[str | os.PathLike[str]],
    read_only: Sequence[str | os.PathLike[str]] = (),
    hidden: Sequence[str | os.PathLike[str]] = PRIVATE,
    network: bool = True,
) -> Launcher:
    """Return the launcher for this system: :class:`Bubblewrap` on Linux, :class:`SandboxExec` on macOS.

    Args:
        writable: see there; so are the others.

    Raises:
        NotSupported: there is none for this system.
    """
    if sys.platform == "win32":
        raise NotSupported("there is no sandbox for agents on Windows", capability="sandbox")
    kind = SandboxExec if sys.platform == "darwin" else Bubblewrap
    return kind(writable=writable, read_only=read_only, hidden=hidden, network=network)


def _mode(path: str) -> int | None:
    try:
        return os.lstat(path).st_mode
    except OSError:
        return None


def _is_below(path: str, directory: str) -> bool:
    return path.startswith(directory.rstrip(os.sep) + os.sep)
