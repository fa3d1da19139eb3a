"""``python -m acp_host.testing.gallery FOLDER``: writes every state as a file of JSON below a folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from acp_host.testing import gallery

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Write the files; return the exit status."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m acp_host.testing.gallery FOLDER", file=sys.stderr)
        return 2
    folder, index = Path(arguments[0]), []
    for state in gallery.states():
        file = folder / f"{state.name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_written(state.to_json()), encoding="ascii")
        index.append({"name": state.name, "shows": state.shows})
    (folder / "index.json").write_text(_written(index), encoding="ascii")
    print(f"{len(index)} states are in {folder}")
    return 0


def _written(value: object) -> str:
    return json.dumps(value, indent=1) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
