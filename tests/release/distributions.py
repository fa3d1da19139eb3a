"""The sdist and the wheel, built from a checkout, and what is in them."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BUNDLE = "acp_host/ui/static/"
"""Where the wheel has the front-end."""
BESIDES = re.compile(r"acp_host/(automation|cli|fleet|harn|replay|testing|ui)/")
"""What is in it besides the library with which a program talks to an agent."""


def project() -> Mapping[str, Any]:
    """Return ``[project]`` of ``pyproject.toml``."""
    found: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def build(source: Path, into: Path, *kinds: str) -> None:
    """Build what ``kinds`` says, ``sdist`` or ``wheel``, with the hatchling that is installed here."""
    targets = [argument for kind in kinds for argument in ("-t", kind)]
    command = [sys.executable, "-m", "hatchling", "build", *targets, "-d", str(into)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, text=True, timeout=120)


def unpack(sdist: Path, into: Path) -> Path:
    """Return the folder that an sdist has been unpacked into."""
    with tarfile.open(sdist) as packed:
        packed.extractall(into, filter="data")
    return into / sdist.name.removesuffix(".tar.gz")


def content(wheel: Path) -> dict[str, str]:
    """Return the files of a wheel: name → SHA-256 checksum."""
    with zipfile.ZipFile(wheel) as packed:
        return {name: hashlib.sha256(packed.read(name)).hexdigest() for name in packed.namelist()}


def sizes(wheel: Path) -> tuple[int, int]:
    """Return how many bytes of a wheel are not the front-end's, and how many are the library's alone."""
    with zipfile.ZipFile(wheel) as packed:
        files = {info.filename: info.compress_size for info in packed.infolist()}
    bundle = sum(size for name, size in files.items() if name.startswith(BUNDLE))
    library = sum(size for name, size in files.items() if name.startswith("acp_host/") and not BESIDES.match(name))
    return wheel.stat().st_size - bundle, library
