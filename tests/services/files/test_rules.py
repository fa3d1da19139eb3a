"""Which files are kept from an agent: patterns, spellings, links, and what is made on the way."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from acp_host.errors import InvalidInput, InvalidParams, RequestFailed
from acp_host.services import FileService, _confined
from acp_host.services.files import FileRules
from acp_host.wire.files import ReadTextFileRequest, WriteTextFileRequest

SESSION = "session"
DENIED = "is kept from agents"
READ_ONLY = "is read-only"

posix_only = pytest.mark.skipif(os.name == "nt", reason="links of POSIX")


@pytest.fixture(params=[True, False] if _confined.HAVE_HANDLES else [False], ids=lambda handles: f"handles={handles}")
def work(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(_confined, "HAVE_HANDLES", request.param)
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def opened(service: FileService, *roots: Path) -> FileService:
    service.open_session(SESSION, roots)
    return service


async def read(service: FileService, path: Path | str) -> str:
    return (await service.read_text_file(ReadTextFileRequest(SESSION, str(path)))).content


async def write(service: FileService, path: Path | str, content: str = "agent") -> None:
    await service.write_text_file(WriteTextFileRequest(SESSION, str(path), content))


async def refusal(service: FileService, path: Path | str, *, writing: bool) -> RequestFailed:
    with pytest.raises(InvalidParams) as refused:
        await (write(service, path) if writing else read(service, path))
    assert refused.value.data == {"path": str(path)}
    assert str(path) in refused.value.message
    return refused.value


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        (".env", [".env", "a/.env", "a/b/.env", ".env/key"], ["env", ".envrc", "a.env"]),
        ("**/.env", [".env", "a/.env"], ["a/x.env"]),
        (".git/**", [".git/config", ".git/hooks/pre-commit"], ["sub/.git/config", ".gitignore"]),
        (".git", [".git", ".git/config", "sub/.git/config"], [".gitignore"]),
        ("/build", ["build", "build/x"], ["src/build"]),
        ("*.pem", ["key.pem", "a/b/key.pem"], ["key.pem.txt"]),
        ("docs/**/*.md", ["docs/a.md", "docs/x/y/a.md"], ["a.md", "docs/a.txt"]),
        ("**", ["a", "a/b"], []),
        ("[a-c]?.txt", ["b1.txt", "x/c2.txt"], ["d1.txt", "b.txt"]),
    ],
)
def test_patterns_mean_what_they_mean_to_git(pattern: str, matching: list[str], others: list[str]) -> None:
    rules = FileRules(deny=(pattern,))
    for name in matching:
        assert rules.refusal(f"/work/{name}", ["/work"], writing=False), name
    for name in others:
        assert rules.refusal(f"/work/{name}", ["/work"], writing=True) is None, name


@pytest.mark.parametrize("pattern", [".git/", ".git/**"])
def test_a_file_cannot_stand_for_a_directory_that_is_denied(pattern: str) -> None:
    """Of a file called .git, git takes the directory that is named in it for a repository, with all its settings."""
    rules = FileRules(deny=(pattern,))
    assert rules.refusal("/work/.git", ["/work"], writing=True)
    assert rules.refusal("/work/.gitignore", ["/work"], writing=True) is None


@pytest.mark.parametrize("name", [".ENV", ".Env", "a/.eNv"])
def test_another_case_is_the_same_name(name: str) -> None:
    assert FileRules(deny=(".env",)).refusal(f"/work/{name}", ["/work"], writing=False)


def test_another_composition_of_accents_is_the_same_name() -> None:
    assert FileRules(deny=("schlüssel",)).refusal("/work/schlu\u0308ssel", ["/work"], writing=False)


def test_a_pattern_is_relative_to_every_directory_of_the_session() -> None:
    rules = FileRules(deny=("/secret",))
    roots = ["/work", "/more", "/work/sub"]
    for path in ("/work/secret", "/more/secret", "/work/sub/secret"):
        assert rules.refusal(path, roots, writing=False), path
    assert rules.refusal("/work/other/secret", roots, writing=False) is None
    assert FileRules(deny=("/secret",)).refusal("/secret", ["/"], writing=False)


@pytest.mark.parametrize("patterns", ["*.pem", [""], ["# comment"], ["!*.pem"], [None], ["a", 3]])
def test_what_is_no_pattern_is_the_callers_mistake(patterns: object) -> None:
    with pytest.raises(InvalidInput, match="pattern"):
        FileService(deny=patterns)
    with pytest.raises(InvalidInput, match="pattern"):
        FileRules(read_only=patterns)


@pytest.mark.parametrize("writing", [False, True])
def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("writing", [False, True])
async def test_a_denied_file_is_neither_read_nor_written(work: Path, writing: bool) -> None:
    service = opened(FileService(deny=[".env"]), work)
    (work / ".env").write_text("secret")
    (work / "x").mkdir()
    for path in (work / ".env", f"{work}/x/../.env"):
        assert DENIED in (await refusal(service, path, writing=writing)).message
    assert DENIED in (await refusal(service, work / "none/.env", writing=True)).message
    assert (work / ".env").read_text() == "secret"
    assert names(work) == [".env", "x"]


async def test_a_denied_file_that_is_missing_is_denied_all_the_same(work: Path) -> None:
    service = opened(FileService(deny=[".env"]), work)
    assert DENIED in (await refusal(service, work / ".env", writing=False)).message


async def test_a_read_only_file_is_read_and_not_written(work: Path) -> None:
    service = opened(FileService(read_only=["vendor/**"]), work)
    (work / "vendor").mkdir()
    (work / "vendor/lib.py").write_text("old")
    assert await read(service, work / "vendor/lib.py") == "old"
    for path in ("vendor/lib.py", "vendor/new/deeper/lib.py"):
        assert READ_ONLY in (await refusal(service, work / path, writing=True)).message
    assert names(work / "vendor") == ["lib.py"]
    await write(service, work / "other")


@posix_only
async def test_links_do_not_get_around_a_rule(work: Path) -> None:
    service = opened(FileService(deny=[".git", "*.key"], read_only=["vendor"]), work)
    for folder in (".git", "vendor"):
        (work / folder).mkdir()
        (work / folder / "file").write_text("old")
    (work / "a.key").write_text("old")
    for link, target in {"git": ".git", "lib": "vendor", "harmless": "a.key", "new": "b.key"}.items():
        (work / link).symlink_to(target)
    for path in ("git/file", "git/new/file", "harmless", "new"):
        assert DENIED in (await refusal(service, work / path, writing=True)).message
    for path in ("git/file", "harmless"):
        assert DENIED in (await refusal(service, work / path, writing=False)).message
    assert READ_ONLY in (await refusal(service, work / "lib/file", writing=True)).message
    assert await read(service, work / "lib/file") == "old"
    assert not (work / "b.key").exists()
    assert not (work / ".git/new").exists()


@posix_only
async def test_a_link_with_a_denied_name_to_another_file_is_that_file(work: Path) -> None:
    """A rule is about files, and the file that the link names is not denied."""
    service = opened(FileService(deny=["*.key"]), work)
    (work / "plain").write_text("text")
    (work / "link.key").symlink_to("plain")
    assert await read(service, work / "link.key") == "text"


async def test_rules_can_be_replaced(work: Path) -> None:
    service = opened(FileService(), work)
    await write(service, work / "file", "one")
    service.rules = FileRules(read_only=["**"])
    assert READ_ONLY in (await refusal(service, work / "file", writing=True)).message
    service.rules = FileRules()
    await write(service, work / "file", "two")


@posix_only
@pytest.mark.skipif(not _confined.HAVE_HANDLES, reason="needs handles")
async def test_a_name_that_is_swapped_meanwhile_never_leads_to_a_denied_file(tmp_path: Path) -> None:
    """Another process points a directory, as fast as it can, now at a plain and now at a denied one."""
    for folder in ("plain", "denied"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_text(folder)
    link, spare = tmp_path / "link", tmp_path / "spare"
    link.symlink_to("plain")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            for target in ("denied", "plain"):
                spare.symlink_to(target)
                spare.rename(link)

    service = opened(FileService(deny=["/denied"]), tmp_path)
    swapper = threading.Thread(target=swap)
    swapper.start()
    outcomes = set()
    try:
        for _ in range(300):
            try:
                outcomes.add(await read(service, link / "file"))
                await write(service, link / "file", "plain")
            except RequestFailed as refused:
                outcomes.add(refused.message.replace(str(link / "file"), "it"))
    finally:
        done.set()
        swapper.join()
    assert {"plain", "it is kept from agents by this host"} <= outcomes
    assert "denied" not in outcomes
    assert (tmp_path / "denied/file").read_text() == "denied"
