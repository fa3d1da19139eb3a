"""Folds the recordings in ``fixtures/recordings``; ``python -m tests.state.folded`` writes the results anew.

After that, look at what changed in ``fixtures/folded`` by eye: it is what every front-end would show.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from acp_host.state.json_form import to_json
from tests.state.player import Player

FIXTURES = Path(__file__).parents[2] / "fixtures"
RECORDINGS = sorted((FIXTURES / "recordings").glob("*.jsonl"))
PANELS = ("notices", "reminders")
"""Members that hold panels of their own, with times in them."""


def play(path: Path, **options: Any) -> Player:
    """Return the player after a whole recording."""
    with path.open(encoding="utf-8") as lines:
        return Player(**options).play(lines)


def form(player: Player) -> dict[str, Any]:
    """Return what a recording was folded into, as plain JSON."""
    sessions = {
        session_id: [
            {name: member for name, member in to_json(snapshot).items() if name not in PANELS} for snapshot in snapshots
        ]
        for session_id, snapshots in player.snapshots.items()
    }
    diagnostics = [
        {"kind": diagnostic.kind.value, "message": diagnostic.message, "count": diagnostic.count}
        for diagnostic in player.diagnostics
    ]
    return {"sessions": sessions, "diagnostics": diagnostics}


def written(folded: dict[str, Any]) -> str:
    """Return the text of a file in ``fixtures/folded``."""
    return json.dumps(folded, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def expected(path: Path) -> Path:
    """Return where the result for a recording is kept."""
    return FIXTURES / "folded" / f"{path.stem}.json"


def main() -> None:
    for path in RECORDINGS:
        expected(path).write_text(written(form(play(path))), encoding="utf-8")


if __name__ == "__main__":
    main()
