"""Known faults of what is installed here and of what the lock files name: ``make audit``.

It asks ``pip-audit`` and ``npm audit``, which ask the registries. A registry that does not answer such questions (a
mirror, a machine without a network) is not taken for one that knows of no faults: pip-audit only says of each package
that it was skipped, and ends well.

The exit status is 0 if all was asked about and nothing is known, 1 if faults are known, 2 if none are and something
could not be asked about.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Findings", "main", "of_npm", "of_pip"]

ROOT = Path(__file__).parents[1]
LOCKED = ("tests/npm", "acp_host/ui/web")
PATIENCE = 600.0
"""Seconds for one question; a package index is asked about each package by itself."""


@dataclass
class Findings:
    """What came of one question.

    Attributes:
        about: what was asked about.
        asked: about how many packages there was an answer.
        faults: one line for each that is known.
        unasked: why there was no answer, if there was none about some.
    """

    about: str
    asked: int = 0
    faults: list[str] = field(default_factory=list)
    unasked: str = ""

    def __str__(self) -> str:
        known = f"{len(self.faults)} known faults in {self.asked} packages" if self.asked else "nothing is known"
        missing = [f"!!! NOT AUDITED: {self.unasked} !!!"] if self.unasked else []
        return "\n  ".join([f"{self.about}: {known}", *self.faults, *missing])


def of_pip(said: str, complaint: str) -> Findings:
    """Read what ``pip-audit --format json`` has said."""
    found = Findings("Python packages")
    try:
        packages: list[dict[str, Any]] = json.loads(said)["dependencies"]
    except (ValueError, KeyError, TypeError):
        found.unasked = last_line(complaint) or "pip-audit has said nothing that can be read"
        return found
    packages = [package for package in packages if "editable" not in package.get("skip_reason", "")]
    skipped = [package for package in packages if "skip_reason" in package]
    found.asked = len(packages) - len(skipped)
    for package in packages:
        for fault in package.get("vulns", ()):
            mended = ", ".join(fault.get("fix_versions", ())) or "no version"
            found.faults.append(f"{package['name']} {package['version']}: {fault['id']}, mended in {mended}")
    if skipped:
        names = ", ".join(package["name"] for package in skipped[:5]) + (", …" if len(skipped) > 5 else "")
        found.unasked = f"the index had no answer about {len(skipped)} of {len(packages)} packages ({names})"
    return found


def of_npm(folder: str, said: str, complaint: str) -> Findings:
    """Read what ``npm audit --json`` has said of the lock file in ``folder``."""
    found = Findings(folder)
    try:
        report: dict[str, Any] = json.loads(said)
        found.asked = report["metadata"]["dependencies"]["total"]
    except (ValueError, KeyError, TypeError):
        found.unasked = refusal(said) or last_line(complaint) or "npm has said nothing that can be read"
        return found
    for name, fault in report.get("vulnerabilities", {}).items():
        found.faults.append(f"{name} {fault['range']}: {fault['severity']}, {', '.join(titles(fault))}")
    return found


def titles(fault: dict[str, Any]) -> Iterator[str]:
    for via in fault.get("via", ()):
        yield via["title"] if isinstance(via, dict) else f"through {via}"


def refusal(said: str) -> str:
    """Return what the registry answered, where npm repeats it."""
    try:
        report = json.loads(said)
        return str(report.get("message") or report.get("error", {}).get("summary") or "")
    except (ValueError, AttributeError):
        return ""


def last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def ask(command: Sequence[str], folder: Path) -> tuple[str, str]:
    """Run a command and return what it printed; what it could not do is among that."""
    try:
        ended = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, check=False
        )
    except FileNotFoundError:
        return "", f"{command[0]} was not found"
    except subprocess.TimeoutExpired:
        return "", f"{command[0]} had no answer after {PATIENCE:.0f} seconds"
    return ended.stdout, ended.stderr


def questions(pip_audit: str) -> Iterator[Findings]:
    options = (
        "--path",
        sysconfig.get_path("purelib"),
        "--skip-editable",
        "--progress-spinner",
        "off",
        "--format",
        "json",
    )
    yield of_pip(*ask([pip_audit, *options], ROOT))
    for folder in LOCKED:
        yield of_npm(folder, *ask(["npm", "audit", "--package-lock-only", "--json"], ROOT / folder))


def main(pip_audit: str) -> int:
    faults = unasked = False
    for found in questions(pip_audit):
        print(found, flush=True)
        faults, unasked = faults or bool(found.faults), unasked or bool(found.unasked)
    return 1 if faults else 2 if unasked else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
