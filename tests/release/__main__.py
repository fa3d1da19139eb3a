"""``make release-check``: whether what would be released can be built, installed and used, with each extra by itself.

Everything is tried in an environment that is made for it. The status is 1 if something cannot be used.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.release.distributions import ROOT, build, content, project, sizes, unpack
from tests.release.environment import Environment, Failed, run

PROBES = Path(__file__).with_name("probes.py")
CANDIDATES = [f"python3.{minor}" for minor in range(11, 15)]
TWINE = ("twine==7.0.0", "readme-renderer[md]==46.0")


class Table:
    """The results, printed as they come."""

    def __init__(self) -> None:
        self.failed = 0

    def row(self, what: str, tried: Callable[..., str], *arguments: Any) -> None:
        """Try something that returns what there is to say of it, or raises ``Failed``."""
        began = time.monotonic()
        try:
            said, mark = tried(*arguments), "ok"
        except Failed as failure:
            said, mark = str(failure), "FAILED"
            self.failed += 1
        first, *more = said.splitlines() or [""]
        print(f"{what:<28} {mark:<6} {time.monotonic() - began:6.1f} s  {first}", flush=True)
        for line in more:
            print(f"{'':<46}{line}")


def main() -> int:
    """Print a table of what was tried; return the exit code."""
    extras = list(project()["optional-dependencies"])
    parser = argparse.ArgumentParser(prog="python -m tests.release", description=str(__doc__).split("\n")[0])
    parser.add_argument("extras", nargs="*", metavar="EXTRA", choices=[[], *extras], help="default: all")
    parser.add_argument("--python", action="append", help="try this one too (default: those of these names)")
    options = parser.parse_args()
    pythons = [python for python in options.python or CANDIDATES if _works(python)]
    table = Table()
    with tempfile.TemporaryDirectory(prefix="acp-host-release-") as name:
        folder = Path(name)
        table.row("sdist and wheel", _built, folder)
        if table.failed:
            return 1
        [wheel] = folder.glob("*.whl")
        table.row("the sdist makes this wheel", _same, folder, wheel)
        table.row("metadata, README", _described, folder)
        for number, python in enumerate(pythons):
            table.row(f"core, {Path(python).name}", _tried, folder / f"core{number}", wheel, "core", python)
        for extra in options.extras or extras:
            table.row(f"extra {extra}", _tried, folder / extra, wheel, extra)
        if not options.extras:
            table.row("the site", _site)
    print(f"{table.failed} failed" if table.failed else "All can be released.")
    return int(table.failed > 0)


def _works(python: str) -> bool:
    try:
        return subprocess.run([python, "-c", ""], capture_output=True, timeout=30).returncode == 0
    except OSError:
        return False


def _built(folder: Path) -> str:
    try:
        build(ROOT, folder, "sdist", "wheel")
    except subprocess.CalledProcessError as error:
        raise Failed(error.stderr) from None
    [wheel] = folder.glob("*.whl")
    without_bundle, library = sizes(wheel)
    size = f"{wheel.stat().st_size:,} bytes, {without_bundle:,} without the front-end, {library:,} of them the library"
    return f"{wheel.name}\n{size}"


def _same(folder: Path, wheel: Path) -> str:
    [sdist] = folder.glob("*.tar.gz")
    again = folder / "again"
    build(unpack(sdist, folder), again, "wheel")
    [made] = again.glob("*.whl")
    before, after = content(wheel), content(made)
    if before != after:
        differ = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        raise Failed("\n".join(["these differ:", *differ[:20]]))
    return f"{len(after)} files"


def _described(folder: Path) -> str:
    environment = Environment(folder / "twine")
    environment.install(*TWINE)
    distributions = [str(path) for path in folder.iterdir() if path.suffix in (".whl", ".gz")]
    environment.run("-m", "twine", "check", "--strict", *distributions)
    return "as an index shows them"


def _site() -> str:
    run(["make", "docs"], cwd=ROOT)
    return "every link leads somewhere"


def _tried(folder: Path, wheel: Path, extra: str, python: str = sys.executable) -> str:
    environment = Environment(folder, python)
    environment.install(str(wheel) if extra == "core" else f"{wheel}[{extra}]")
    environment.run("-P", str(PROBES), extra)
    return f"{environment.packages()} packages"


if __name__ == "__main__":
    sys.exit(main())
