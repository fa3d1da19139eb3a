"""What is built from a checkout has all that a user needs and nothing else, and works where it is unpacked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.release.distributions import build, content, project, sizes, unpack
from tests.release.probes import PROBES, extra_of, modules

pytestmark = pytest.mark.timeout(300)  # on a busy machine; it takes eight seconds of processor time
PROBE = Path(__file__).with_name("probes.py")
LARGEST = 1_700_000
"""Bytes of the wheel without the front-end."""
DATA = {
    "acp_host/py.typed",
    "acp_host/automation/schemas/run-1.schema.json",
    "acp_host/fleet/schemas/fleet-1.schema.json",
    "acp_host/ui/jupyter_server/labextension/acp-host/static/remoteEntry.js",
    "acp_host/ui/static/LICENSES.txt",
    "acp_host/ui/static/index.html",
    "acp_host/ui/static/page.js",
    "acp_host/ui/static/view.js",
    "acp_host/ui/terminal/chat.tcss",
}
KINDS = {".css", ".html", ".js", ".json", ".py", ".tcss", ".typed", ".txt"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, what it has, and the wheel that was built from that."""
    folder = tmp_path_factory.mktemp("built")
    build(Path(__file__).parents[2], folder, "sdist")
    [sdist] = folder.glob("*.tar.gz")
    build(unpack(sdist, folder), folder, "wheel")
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    [wheel] = built.glob("*.whl")
    return wheel


def test_the_wheel_has_the_package_and_its_data_and_nothing_else(wheel: Path) -> None:
    names = set(content(wheel))
    assert names >= DATA
    of_package = {name for name in names if name.startswith("acp_host/")}
    assert {Path(name).suffix for name in of_package} == KINDS
    assert [name for name in of_package if re.search(r"(^|/)(tests?|web|node_modules|__pycache__)(/|$)", name)] == []
    others = {re.sub(r"^acp_host-[\d.]+\.(data|dist-info)/", r"\1/", name) for name in names - of_package}
    assert others == {
        "data/data/etc/jupyter/jupyter_server_config.d/acp_host.json",
        *(f"dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")),
    }
    without_bundle, library = sizes(wheel)
    assert without_bundle < LARGEST
    assert 0 < library < 1024 * 1024


def test_the_sdist_has_what_a_checkout_needs_and_nothing_that_was_installed(built: Path) -> None:
    [folder] = [path for path in built.iterdir() if path.is_dir()]
    top = {path.name for path in folder.iterdir()}
    assert top >= {"CHANGELOG.md", "LICENSE", "Makefile", "README.md", "acp_host", "docs", "fixtures", "tests"}
    assert not top & {".ci", ".git", ".venv", ".interop", "build", "dist"}
    assert list(folder.rglob("node_modules")) == []
    assert (folder / "acp_host" / "ui" / "web" / "package.json").is_file()


def test_the_wheel_works_with_the_core_dependencies_alone(wheel: Path, tmp_path: Path) -> None:
    package, libraries = tmp_path / "package", tmp_path / "libraries"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--target", str(package), str(wheel)], check=True, timeout=120)
    libraries.mkdir()
    for name in core_dependencies():
        link(distribution(name), libraries)
    # With -S nothing else is seen of what is installed here.
    path = {**os.environ, "PYTHONPATH": os.pathsep.join([str(package), str(libraries)])}
    command = [sys.executable, "-S", "-P", str(PROBE), "library"]
    ran = subprocess.run(command, cwd=tmp_path, env=path, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == f"{package / 'acp_host' / '__init__.py'}\n"


def core_dependencies() -> set[str]:
    """Return the names of what is installed without any extra."""
    found: set[str] = set()
    wanted = [Requirement(text) for text in project()["dependencies"]]
    while wanted:
        need = wanted.pop()
        if need.name not in found and (need.marker is None or need.marker.evaluate({"extra": ""})):
            found.add(need.name)
            wanted += [Requirement(text) for text in distribution(need.name).requires or ()]
    return found


def link(library: Distribution, folder: Path) -> None:
    """Let a library be seen in a folder, too."""
    for top in {file.parts[0] for file in library.files or ()} - {"..", "__pycache__"}:
        if not (folder / top).exists():
            (folder / top).symlink_to(str(library.locate_file(top)))


def test_every_extra_is_tried() -> None:
    assert PROBES.keys() == {"library", "core", *project()["optional-dependencies"]}


def test_modules_that_need_an_extra_are_of_one_that_there_is() -> None:
    extras = {extra_of(module) for module in modules()}
    assert extras - {None, ""} < project()["optional-dependencies"].keys()
    assert extra_of("acp_host.ui.jupyter_server.app") == "jupyter-server"
    assert extra_of("acp_host.ui.jupyter.widget") == "jupyter"
    assert extra_of("acp_host.ui.serve") is None


def test_supported_pythons_are_told_in_one_way() -> None:
    [lowest] = re.findall(r"^>=3\.(\d+)$", project()["requires-python"])
    prefix = "Programming Language :: Python :: 3."
    named = [int(text.removeprefix(prefix)) for text in project()["classifiers"] if text.startswith(prefix)]
    assert named == list(range(int(lowest), int(lowest) + len(named)))
