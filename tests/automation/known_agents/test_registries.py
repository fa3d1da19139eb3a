from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from acp_host.automation.known_agents import Locations, registries
from acp_host.automation.known_agents import downloads as downloading
from acp_host.automation.known_agents.downloads import download
from acp_host.automation.known_agents.registries import (
    forget_registry,
    kept_registries,
    read_source,
    refresh_registry,
)
from acp_host.errors import InvalidInput, TransportError
from tests.automation.known_agents.conftest import Files
from tests.automation.known_agents.manifests import by_runner, registry


def put(folder: Path, *agents: str) -> Path:
    for agent in agents:
        (folder / agent).mkdir(parents=True)
        (folder / agent / "agent.json").write_text(json.dumps(by_runner(agent)))
    return folder


async def test_a_folder_as_the_repository_of_the_registry_has_it(tmp_path: Path) -> None:
    folder = put(tmp_path / "repo", "b", "a")
    (folder / "c").mkdir()
    (folder / "c" / "agent.json").write_text("{")
    found = await read_source(str(folder))
    assert [manifest.id for manifest in found.manifests] == ["a", "b"]
    assert "c/agent.json is no JSON" in found.diagnostics[0].message.replace("\\", "/")


async def test_a_folder_with_the_whole_registry_and_a_file(tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_bytes(registry(by_runner()))
    for source in (tmp_path, tmp_path / "registry.json"):
        assert [manifest.id for manifest in (await read_source(str(source))).manifests] == ["acme"]
    one = put(tmp_path / "x", "one") / "one"
    assert [manifest.id for manifest in (await read_source(str(one))).manifests] == ["one"]


async def test_what_is_no_registry(tmp_path: Path) -> None:
    for source, problem in (
        (tmp_path / "nothing", "is no file"),
        (tmp_path, "neither registry.json"),
        (Path("/dev/zero"), "is no file"),
    ):
        with pytest.raises(InvalidInput, match=problem):
            await read_source(str(source))


async def test_a_url_is_read_when_asked_for_and_looked_up_in_the_copy(server: Files, locations: Locations) -> None:
    server.bodies["/registry.json"] = registry(by_runner())
    url = f"{server.url}/registry.json"
    await refresh_registry(locations.registries, url)
    (kept,) = kept_registries(locations.registries)
    assert (kept.source, [manifest.id for manifest in kept.manifests]) == (url, ["acme"])
    assert server.asked == ["/registry.json"]
    server.bodies["/registry.json"] = registry(by_runner("other"))
    again = await refresh_registry(locations.registries, url)
    (now,) = kept_registries(locations.registries)
    assert [manifest.id for manifest in now.manifests] == ["other"]
    assert now.kept_since == kept.kept_since < again.fetched_at
    forget_registry(locations.registries, url)
    assert kept_registries(locations.registries) == []
    with pytest.raises(InvalidInput, match="no copy"):
        forget_registry(locations.registries, url)


async def test_what_cannot_be_read_leaves_the_copy(server: Files, locations: Locations) -> None:
    server.bodies["/r"] = registry(by_runner())
    await refresh_registry(locations.registries, f"{server.url}/r")
    for body in (b"{", b"[]", registry(), registry({"id": "x"}), b"x" * (8 * 2**20 + 1)):
        server.bodies["/r"] = body
        with pytest.raises(InvalidInput):
            await refresh_registry(locations.registries, f"{server.url}/r")
    del server.bodies["/r"]
    with pytest.raises(TransportError, match="the server answered 404"):
        await refresh_registry(locations.registries, f"{server.url}/r")
    (kept,) = kept_registries(locations.registries)
    assert [manifest.id for manifest in kept.manifests] == ["acme"]


@pytest.mark.parametrize(
    "url", ["http://agents.example/r.json", "ftp://x/y", "https://me:secret99@x/y", "https://x/ y", "https://[x"]
)
async def test_addresses_that_are_not_downloaded_from(locations: Locations, url: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        await refresh_registry(locations.registries, url)
    assert "secret99" not in str(raised.value)


async def test_a_redirect_leads_to_no_address_that_is_not_downloaded_from(server: Files) -> None:
    server.redirects = {"/a": "/b", "/evil": "http://agents.example/", "/loop": "/loop", "/file": "file:///etc/passwd"}
    server.bodies["/b"] = b"here"
    assert await download(f"{server.url}/a", limit=10, seconds=10) == b"here"
    for path in ("/evil", "/file"):
        with pytest.raises(InvalidInput, match=r"not https|is no URL"):
            await download(f"{server.url}{path}", limit=10, seconds=10)
    with pytest.raises(TransportError, match="on and on"):
        await download(f"{server.url}/loop", limit=10, seconds=10)


async def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TransportError, match="was not downloaded"):
        await download("http://127.0.0.1:9/x", limit=10, seconds=10)
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(InvalidInput, match="extra 'http'"):
        await download("http://127.0.0.1:9/x", limit=10, seconds=10)


async def test_a_server_that_says_nothing_is_not_waited_for(server: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    server.silent.add("/x")
    monkeypatch.setattr(downloading, "_SILENCE", 0.05)
    with pytest.raises(TransportError, match="was not downloaded"):
        await download(f"{server.url}/x", limit=10, seconds=10)
    monkeypatch.undo()
    with pytest.raises(TransportError, match=r"not downloaded within 0\.05 seconds"):
        await download(f"{server.url}/x", limit=10, seconds=0.05)


async def test_copies_are_bounded_and_a_damaged_one_is_told(
    tmp_path: Path, locations: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registries, "_MAX_REGISTRIES", 1)
    await refresh_registry(locations.registries, str(put(tmp_path / "x", "one")))
    with pytest.raises(InvalidInput, match="forget one"):
        await refresh_registry(locations.registries, str(put(tmp_path / "y", "two")))
    (copy,) = locations.registries.iterdir()
    copy.write_text("{}")
    (damaged,) = kept_registries(locations.registries)
    assert damaged.manifests == ()
    assert "is not used" in damaged.diagnostics[0].message
    await refresh_registry(locations.registries, str(tmp_path / "x"))
    assert len(kept_registries(locations.registries)) == 1
