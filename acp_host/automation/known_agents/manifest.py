"""Manifests of agents, as the ACP registry publishes them: :func:`read_manifests`. Pure; the format is that of its
``agent.schema.json``.

A manifest says which program is to be started, so nothing in it is guessed: what does not fit the format is left out,
with a diagnostic, and the rest counts. Texts are bounded; who shows them spells out their control characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import orjson
from attrs import frozen

from acp_host.automation.known_agents.download_address import download_address
from acp_host.diagnostics import Diagnostic, DiagnosticKind, throttled
from acp_host.errors import InvalidInput

__all__ = ["MAX_MANIFEST_SIZE", "PLATFORMS", "VARIABLE_NAME", "BinaryTarget", "Manifest", "Package", "read_manifests"]

MAX_MANIFEST_SIZE = 8 * 2**20
"""Largest manifest, or registry of them, that is read, in bytes."""
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
"""Name of an environment variable."""
PLATFORMS = frozenset(f"{system}-{cpu}" for system in ("darwin", "linux", "windows") for cpu in ("aarch64", "x86_64"))

_MAX_AGENTS = 2_000
_MAX_ITEMS = 200
_LONGEST_WORD = 4_096
_LONGEST_TEXT = 2_000
_ID = re.compile(r"[a-z][a-z0-9-]{0,63}")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_PACKAGES = {
    "npx": re.compile(
        r"(?:@[A-Za-z0-9_][A-Za-z0-9._~-]*/)?[A-Za-z0-9_][A-Za-z0-9._~-]*(?:@[~^]?[A-Za-z0-9][A-Za-z0-9.+-]*)?"
    ),
    "uvx": re.compile(
        r"[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[A-Za-z0-9][A-Za-z0-9._,-]*\])?(?:(?:@|[=<>~!]=)[A-Za-z0-9][A-Za-z0-9.+!*-]*)?"
    ),
}
"""What a package may be: a name in the runner's index, with a version; no address, no path and no option."""


@frozen(kw_only=True)
class Package:
    """An agent as a package that a runner fetches.

    Attributes:
        runner: ``npx`` or ``uvx``.
        package: name of the package, perhaps with its version.
        args: arguments for the agent.
        env: variables for the agent.
    """

    runner: str
    package: str
    args: tuple[str, ...]
    env: Mapping[str, str]


@frozen(kw_only=True)
class BinaryTarget:
    """An agent as a program for one platform.

    Attributes:
        platform: e.g. ``linux-x86_64``.
        archive: URL of an archive, or of the program itself.
        sha256: what the download has to be, in lower case; ``None``: it is not said.
        cmd: the program in the archive, a path with ``/`` that stays within it.
        args: arguments for the agent.
        env: variables for the agent.
    """

    platform: str
    archive: str
    sha256: str | None
    cmd: str
    args: tuple[str, ...]
    env: Mapping[str, str]


@frozen(kw_only=True)
class Manifest:
    """What a registry says about one agent.

    Attributes:
        id: its name in the registry.
        name: its name for people.
        version: its version; empty where it is not said.
        description: what it is; empty likewise.
        website: where people find more about it; empty likewise.
        license: its licence (SPDX), or ``proprietary``; empty likewise.
        packages: as packages; the preferred one first.
        binaries: as programs.
    """

    id: str
    name: str
    version: str
    description: str
    website: str
    license: str
    packages: tuple[Package, ...]
    binaries: tuple[BinaryTarget, ...]


class _Unfit(Exception):
    """Something does not fit the format; the text says what."""


def read_manifests(data: bytes, where: str, report: Callable[[Diagnostic], None]) -> tuple[Manifest, ...]:
    """Return the manifests in a document: one ``agent.json``, or a ``registry.json`` with many.

    Args:
        data: the document.
        where: what to call it in diagnostics.
        report: takes what was left out, and why.

    Raises:
        InvalidInput: it is neither, or too large.
    """
    if len(data) > MAX_MANIFEST_SIZE:
        raise InvalidInput(f"{where} has more than {MAX_MANIFEST_SIZE} bytes; that is no registry of agents")
    try:
        document = orjson.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{where} is no JSON: {error}") from None
    if not isinstance(document, dict) or not ("id" in document or isinstance(document.get("agents"), list)):
        raise InvalidInput(f"{where} is neither the manifest of an agent nor a registry of them")
    listed = [document] if "id" in document else document["agents"]
    found: dict[str, Manifest] = {}
    report = throttled(report)

    def note(what: str, path: str) -> None:
        report(Diagnostic(DiagnosticKind.MALFORMED, f"{where}: {what}", path=path))

    if len(listed) > _MAX_AGENTS:
        note(f"only the first {_MAX_AGENTS} agents are read", "$.agents")
    for number, item in enumerate(listed[:_MAX_AGENTS]):
        path = "$" if listed[0] is document else f"$.agents[{number}]"
        try:
            manifest = _manifest(item, path, note)
        except _Unfit as problem:
            note(f"an agent is left out: {problem}", path)
            continue
        if manifest.id in found:
            note(f"{manifest.id} is there twice; the first counts", path)
        found.setdefault(manifest.id, manifest)
    return tuple(found.values())


def _manifest(item: Any, path: str, note: Callable[[str, str], None]) -> Manifest:
    if not isinstance(item, dict):
        raise _Unfit("it is no object")
    agent = item.get("id")
    if not isinstance(agent, str):
        raise _Unfit("its id is no text")
    if not _ID.fullmatch(agent):
        raise _Unfit(f"its id is {agent[:100]!r}; an id has lower-case letters, digits and hyphens")
    packages: list[Package] = []
    binaries: list[BinaryTarget] = []
    for key, make in _distributions(item.get("distribution")):
        try:
            made = make()
        except _Unfit as problem:
            note(f"{agent} by {key} is left out: {problem}", f"{path}.distribution.{key}")
            continue
        if isinstance(made, Package):
            packages.append(made)
        else:
            binaries.append(made)
    if not packages and not binaries:
        raise _Unfit(f"{agent} has no distribution that can be used")
    return Manifest(
        id=agent,
        name=_text(item, "name") or agent,
        version=_text(item, "version"),
        description=_text(item, "description"),
        website=_text(item, "website") or _text(item, "repository"),
        license=_text(item, "license"),
        packages=tuple(packages),
        binaries=tuple(binaries),
    )


def _distributions(value: Any) -> Iterator[tuple[str, Callable[[], Package | BinaryTarget]]]:
    """Yield each distribution's place, and what reads it."""
    if not isinstance(value, dict):
        raise _Unfit("its distribution is no object")
    for runner in _PACKAGES:
        if runner in value:
            yield runner, partial(_package, runner, value[runner])
    binary = value.get("binary", {})
    targets = binary if isinstance(binary, dict) else {"": binary}
    for platform in list(targets)[:_MAX_ITEMS]:
        yield f"binary.{platform}", partial(_binary, platform, targets[platform])


def _package(runner: str, value: Any) -> Package:
    members = _object(value)
    package = _word(members.get("package"), "its package")
    if not _PACKAGES[runner].fullmatch(package):
        raise _Unfit(f"{package[:200]!r} is no name of a package with a version")
    return Package(runner=runner, package=package, args=_args(members), env=_env(members))


def _binary(platform: str, value: Any) -> BinaryTarget:
    members = _object(value)
    if platform not in PLATFORMS:
        raise _Unfit("no platform is called so")
    try:
        archive = download_address(_word(members.get("archive"), "its archive"))
    except InvalidInput as error:
        raise _Unfit(str(error)) from None
    checksum = members.get("sha256")
    if checksum is not None and not (isinstance(checksum, str) and _SHA256.fullmatch(checksum)):
        raise _Unfit("its sha256 is none")
    return BinaryTarget(
        platform=platform,
        archive=archive,
        sha256=checksum.lower() if checksum else None,
        cmd=_inside(_word(members.get("cmd"), "its cmd")),
        args=_args(members),
        env=_env(members),
    )


def _inside(cmd: str) -> str:
    """Return a path within an archive, written with slashes."""
    path = PurePosixPath(cmd.replace("\\", "/"))
    if path.is_absolute() or PureWindowsPath(cmd).drive or ".." in path.parts or not path.parts or ":" in cmd:
        raise _Unfit(f"its cmd {cmd[:200]!r} is no path within its archive")
    return str(path)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Unfit("it is no object")
    return value


def _text(members: Mapping[str, Any], name: str) -> str:
    value = members.get(name)
    return value[:_LONGEST_TEXT] if isinstance(value, str) else ""


def _word(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value or len(value) > _LONGEST_WORD or "\0" in value:
        raise _Unfit(f"{what} is no text that a command can have")
    return value


def _args(members: Mapping[str, Any]) -> tuple[str, ...]:
    value = members.get("args", [])
    if not isinstance(value, list) or len(value) > _MAX_ITEMS:
        raise _Unfit("its args are no list of texts")
    return tuple(_word(item, "one of its args") if item != "" else "" for item in value)


def _env(members: Mapping[str, Any]) -> dict[str, str]:
    value = members.get("env", {})
    if not isinstance(value, dict) or len(value) > _MAX_ITEMS or not all(map(VARIABLE_NAME.fullmatch, value)):
        raise _Unfit("its env is no object of variables")
    return {name: _word(text, f"its variable {name}") if text != "" else "" for name, text in value.items()}
