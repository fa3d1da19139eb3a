"""Registries of agents, and the copies of them that are kept: :class:`Registry`, :func:`read_source`,
:func:`refresh_registry`, :func:`kept_registries`.

A registry is a ``registry.json``, an ``agent.json``, or a folder with such files in folders of their own, as the ACP
registry's repository has them. It is read when somebody asks for it; what is looked up later is the copy.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path

import orjson
from attrs import frozen

from acp_host.automation.known_agents.download_address import download_address
from acp_host.automation.known_agents.downloads import download
from acp_host.automation.known_agents.manifest import MAX_MANIFEST_SIZE, Manifest, read_manifests
from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import InvalidInput
from acp_host.given_files import reading
from acp_host.owned_files import read_owned, replace_owned
from acp_host.transports.remote_address import has_scheme

__all__ = [
    "OFFICIAL_REGISTRY",
    "Registry",
    "forget_registry",
    "kept_registries",
    "read_source",
    "refresh_registry",
]

OFFICIAL_REGISTRY = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json"
"""Where the ACP project publishes its registry."""

_SECONDS = 30.0
_MAX_FILES = 2_000
_MAX_REGISTRIES = 50
_MAX_COPY = 3 * MAX_MANIFEST_SIZE


@frozen(kw_only=True)
class Registry:
    """What a registry held when it was read.

    Attributes:
        source: its URL, or its path.
        fetched_at: when it was read.
        kept_since: when it was first read of those times after which a copy was kept; of two registries that have the
            same agent, that of the older one counts.
        manifests: the agents in it.
        diagnostics: what of it was left out, and why.
    """

    source: str
    fetched_at: datetime
    kept_since: datetime
    manifests: tuple[Manifest, ...]
    diagnostics: tuple[Diagnostic, ...]


async def read_source(source: str) -> Registry:
    """Read a registry where it is: at a URL, in a file, or in a folder.

    Raises:
        InvalidInput: it is none, is too large, or may not be read from there.
        TransportError: the download failed.
    """
    now = datetime.now(UTC)
    return _registry(source, now, now, await _documents(source))


async def refresh_registry(folder: Path, source: str) -> Registry:
    """Read a registry where it is, and keep a copy of it in place of an earlier one.

    Args:
        folder: where copies are kept.
        source: a URL or a path.

    Raises:
        InvalidInput: as :func:`read_source`; or there are many already, or the copy cannot be written.
        TransportError: the download failed.
    """
    source = _absolute(source)
    documents = await _documents(source)
    return await asyncio.to_thread(_keep, folder, source, documents)


def _keep(folder: Path, source: str, documents: dict[str, str]) -> Registry:
    now = datetime.now(UTC)
    kept = {registry.source: registry.kept_since for registry in kept_registries(folder)}
    if len(kept) >= _MAX_REGISTRIES and not _copy_of(folder, source).exists():
        raise InvalidInput(f"{_MAX_REGISTRIES} registries are kept already; forget one of them first")
    registry = _registry(source, now, kept.get(source, now), documents)
    if not registry.manifests:
        raise InvalidInput(f"{source} has no agent that can be used; {len(registry.diagnostics)} were left out")
    copy = {
        "version": 1,
        "source": source,
        "fetchedAt": now.isoformat(),
        "keptSince": registry.kept_since.isoformat(),
        "documents": documents,
    }
    try:
        replace_owned(_copy_of(folder, source), orjson.dumps(copy))
    except (OSError, orjson.JSONEncodeError) as error:
        raise InvalidInput(f"the copy of {source} cannot be written: {error}") from None
    return registry


def forget_registry(folder: Path, source: str) -> None:
    """Remove the copy of a registry.

    Raises:
        InvalidInput: there is none.
    """
    for name in (source, _absolute(source)):
        if (copy := _copy_of(folder, name)).exists():
            copy.unlink()
            return
    raise InvalidInput(f"no copy of {source} is kept")


def kept_registries(folder: Path) -> list[Registry]:
    """Return the registries of which copies are kept, the oldest first; one whose copy is damaged is empty."""
    found = [_kept(path) for path in sorted(folder.glob("*.json"))[:_MAX_REGISTRIES]]
    return sorted(found, key=lambda registry: (registry.kept_since, registry.source))


def _kept(path: Path) -> Registry:
    try:
        copy = orjson.loads(read_owned(path, _MAX_COPY))
        fetched_at, since = (datetime.fromisoformat(copy[name]) for name in ("fetchedAt", "keptSince"))
        return _registry(copy["source"], fetched_at, since, copy["documents"])
    except (OSError, InvalidInput, KeyError, TypeError, ValueError, AttributeError) as error:
        now = datetime.now(UTC)
        problem = Diagnostic(DiagnosticKind.UNREADABLE, f"the copy of a registry is not used: {path}: {error}")
        return Registry(source=str(path), fetched_at=now, kept_since=now, manifests=(), diagnostics=(problem,))


def _absolute(source: str) -> str:
    return source if has_scheme(source) else os.path.realpath(os.path.expanduser(source))


def _copy_of(folder: Path, source: str) -> Path:
    return folder / f"{hashlib.sha256(source.encode()).hexdigest()[:16]}.json"


def _registry(source: str, fetched_at: datetime, kept_since: datetime, documents: dict[str, str]) -> Registry:
    diagnostics: list[Diagnostic] = []
    manifests: dict[str, Manifest] = {}
    for where, text in documents.items():
        try:
            found = read_manifests(text.encode(), where, diagnostics.append)
        except InvalidInput as error:
            if len(documents) == 1:
                raise
            diagnostics.append(Diagnostic(DiagnosticKind.MALFORMED, str(error)))
            continue
        for manifest in found:
            manifests.setdefault(manifest.id, manifest)
    return Registry(
        source=source,
        fetched_at=fetched_at,
        kept_since=kept_since,
        manifests=tuple(manifests.values()),
        diagnostics=tuple(diagnostics),
    )


async def _documents(source: str) -> dict[str, str]:
    """Return the documents of a registry, by where each of them is."""
    if has_scheme(source):
        address = download_address(source)
        data = await download(address, limit=MAX_MANIFEST_SIZE, seconds=_SECONDS)
        return {address: data.decode("utf-8", "replace")}
    return await asyncio.to_thread(_from_disk, Path(_absolute(source)))


def _from_disk(path: Path) -> dict[str, str]:
    if not path.is_dir():
        return {str(path): _text(path)}
    files = [path / "registry.json"] if (path / "registry.json").is_file() else sorted(path.glob("*/agent.json"))
    if not files and (path / "agent.json").is_file():
        files = [path / "agent.json"]
    if not files:
        raise InvalidInput(f"{path} has neither registry.json nor folders with agent.json")
    documents, size = {}, 0
    for file in files[:_MAX_FILES]:
        documents[str(file)] = text = _text(file)
        size += len(text)
        if size > MAX_MANIFEST_SIZE:
            raise InvalidInput(f"{path} has more than {MAX_MANIFEST_SIZE} bytes of manifests")
    return documents


def _text(path: Path) -> str:
    with reading(path):
        if not path.is_file():  # reading a device or a pipe might never end
            raise InvalidInput(f"{path} is no file")
        with open(path, "rb") as file:
            data = file.read(MAX_MANIFEST_SIZE + 1)
    if len(data) > MAX_MANIFEST_SIZE:
        raise InvalidInput(f"{path} has more than {MAX_MANIFEST_SIZE} bytes; that is no registry of agents")
    return data.decode("utf-8", "replace")
