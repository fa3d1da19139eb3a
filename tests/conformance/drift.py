"""``make schema-diff VERSION``: what another release of the upstream schema changes, and which of our files it touches.

The schemas of that release come from the npm registry; they are compared with those that the tests are run against, or
with those of a second release::

    python -m tests.conformance.drift 2.2.0            # from the release in use to 2.2.0
    python -m tests.conformance.drift 2.4.0 --from 2.2.0
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.conformance.schema_diff import Change, Difference, differences, methods_of
from tests.conformance.schema_touch import Files
from tests.conformance.versions import FILES, SCHEMAS, VERSIONS

PACKAGE = "@agentclientprotocol/sdk"

Schemas = Mapping[tuple[int, str], Mapping[str, Any]]
"""The number of a version of the protocol and ``stable`` or ``unstable`` → the schema, as decoded."""


class NotFetched(Exception):
    """A release cannot be had, or has no schemas where they are looked for."""


def installed() -> Schemas:
    """Return the schemas that the tests are run against.

    Raises:
        NotFetched: they are not installed.
    """
    return _read(SCHEMAS, "the installed release; run `make setup`")


def published(release: str) -> Schemas:
    """Return the schemas of a release on the npm registry.

    Raises:
        NotFetched: there is no such release, npm is missing, or the release has none of these schemas.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--loglevel=error", "--no-progress", "--ignore-scripts", f"{PACKAGE}@{release}"]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=120)
        except FileNotFoundError:
            raise NotFetched("npm was not found: it is what fetches the schemas.") from None
        except subprocess.CalledProcessError as error:
            raise NotFetched(f"npm cannot fetch {PACKAGE} {release}:\n{error.stderr.strip()}") from None
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        return _read(Path(folder, "package", "schema"), f"release {release}")


def _read(folder: Path, what: str) -> Schemas:
    try:
        return {
            (version.number, name): json.loads((folder / f"v{version.number}" / file).read_text(encoding="utf-8"))
            for version in VERSIONS
            for name, file in FILES.items()
        }
    except FileNotFoundError as error:
        raise NotFetched(f"No schema at {error.filename} in {what}.") from None


def report(before: Schemas, after: Schemas, files: Files) -> Iterator[str]:
    """Yield the lines of the report, those of a version of the protocol together."""
    for key in after:
        version, name = key
        found = differences(before[key], after[key])
        if name == "unstable":
            # What the stable schema says too has been told there.
            told = differences(before[version, "stable"], after[version, "stable"])
            found = [difference for difference in found if difference not in told]
        lines = [
            *_methods(methods_of(before[key]), methods_of(after[key])),
            *(line for difference in found for line in _difference(difference, after[key], version, files)),
        ]
        yield f"# Version {version}, {name}: {_counts(found)}"
        yield from lines
        yield ""


def _counts(found: list[Difference]) -> str:
    counts = {change: sum(each.change is change for each in found) for change in Change}
    return ", ".join(f"{count} {change}" for change, count in counts.items() if count) or "nothing changes"


def _methods(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    yield from (f"+ method {method} ({new[method]})" for method in sorted(new.keys() - old.keys()))
    yield from (f"- method {method} ({old[method]})" for method in sorted(old.keys() - new.keys()))


def _difference(difference: Difference, after: Mapping[str, Any], version: int, files: Files) -> Iterator[str]:
    name = difference.name
    yield f"{difference.change} {name}"
    yield from (f"    {line if len(line) <= 160 else line[:159] + '…'}" for line in difference.details)
    touched = files.naming(name, version=version)
    if not touched and difference.change is Change.ADDED:
        yield from (f"    near {path}" for path in files.around(name, after, version=version))
    yield from (f"    in {path}" for path in touched)


def main() -> int:
    """Print the report; the status is 1 where the schemas differ, and 2 where one cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.drift", description=str(__doc__).split("::")[0])
    parser.add_argument("release", help=f"of {PACKAGE}, e.g. 2.4.0")
    parser.add_argument("--from", dest="base", metavar="RELEASE", help="compare with this one, not with that in use")
    options = parser.parse_args()
    try:
        before = published(options.base) if options.base else installed()
        after = published(options.release)
    except NotFetched as error:
        print(error, file=sys.stderr)
        return 2
    for line in report(before, after, Files()):
        print(line)
    return int(before != after)


if __name__ == "__main__":
    sys.exit(main())
