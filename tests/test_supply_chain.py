"""What others have made and this is built from is pinned, comes from where it should, and is named with its licence."""

from __future__ import annotations

import base64
import binascii
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.interop.agents import AGENTS

ROOT = Path(__file__).parents[1]
WEB = ROOT / "acp_host" / "ui" / "web"
STATIC = WEB.parent / "static"
LOCKS = [ROOT / "tests" / "npm" / "package-lock.json", WEB / "package-lock.json"]
REGISTRY = "https://registry.npmjs.org/"
SHA512 = 64
"""Bytes of such a checksum."""


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def faults(package: dict[str, Any]) -> list[str]:
    """What keeps a package in a lock file from being just one thing, wherever it is installed."""
    found = []
    kind, _, checksum = package.get("integrity", "").partition("-")
    try:
        whole = kind == "sha512" and len(base64.b64decode(checksum, validate=True)) == SHA512
    except binascii.Error:
        whole = False
    if not whole:
        found.append("no checksum")
    if not package.get("resolved", REGISTRY).startswith(REGISTRY):
        found.append("not from the registry")
    if package.get("link") or (package.get("hasInstallScript") and not package.get("dev")):
        found.append("not a plain package")
    return found


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.parent.name)
def test_a_lock_file_has_checksums_and_one_registry(path: Path) -> None:
    lock = read(path)
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert lock["lockfileVersion"] == 3
    assert len(packages) >= 4
    assert {name: found for name, package in packages.items() if (found := faults(package))} == {}


def test_a_lock_file_that_is_not_as_it_should_be_is_found_out() -> None:
    [whole] = [package for name, package in read(LOCKS[1])["packages"].items() if name.endswith("/preact")]
    assert faults(whole) == []
    assert faults({**whole, "integrity": "sha1-aaaa"}) == ["no checksum"]
    assert faults({**whole, "integrity": "sha512-aaaa"}) == ["no checksum"]
    assert faults({**whole, "resolved": "git+ssh://git@example.org/preact.git"}) == ["not from the registry"]
    assert faults({**whole, "resolved": f"{REGISTRY}preact.tgz", "link": True}) == ["not a plain package"]


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.parent.name)
def test_what_is_asked_for_is_one_version_and_the_one_in_the_lock_file(path: Path) -> None:
    asked, locked = read(path.with_name("package.json")), read(path)["packages"]
    wanted = {**asked.get("dependencies", {}), **asked.get("devDependencies", {})}
    assert wanted
    for name, version in wanted.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version.rpartition("@")[2]), f"{name} is not pinned: {version}"
        assert locked[f"node_modules/{name}"]["version"] == version.rpartition("@")[2]


def test_npm_runs_from_lock_files_only() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "npm ci" in makefile
    assert "npm install" not in makefile


def test_what_only_some_targets_install_is_pinned() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"pip install .*pip-audit==\d+\.\d+\.\d+$", makefile, re.MULTILINE)
    for agent in AGENTS.values():
        assert re.fullmatch(r"\d+\.\d+\.\d+", agent.source.version), agent.name


def test_dependencies_have_lower_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: needs for name, needs in project["optional-dependencies"].items() if name != "dev"}
    needed = [*project["dependencies"], *(need for needs in extras.values() for need in needs)]
    assert len(needed) > 20
    assert [need for need in needed if not re.search(r"(>=|==)\d|^acp-host\[", need)] == []
    assert [need for need in needed if "@" in need or "://" in need] == [], "from the index only"


def test_each_package_in_the_page_is_named_with_its_licence() -> None:
    licences = (STATIC / "LICENSES.txt").read_text(encoding="utf-8")
    for name, version in read(WEB / "package.json")["dependencies"].items():
        assert re.search(rf"^{re.escape(name)} {re.escape(version)} \([\w.() -]+\)$", licences, re.MULTILINE), name
    named = re.findall(r"^(\S+) (\d\S*) \(.+\)$", licences, re.MULTILINE)
    locked = read(WEB / "package-lock.json")["packages"]
    for name, version in named:
        assert locked[f"node_modules/{name}"]["version"] == version
    code = (STATIC / "view.js").read_text(encoding="utf-8")
    assert "sourceMappingURL" not in code
