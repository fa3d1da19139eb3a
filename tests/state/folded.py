"""Folds the recordings in ``fixtures/recordings``; ``python -m tests.state.folded`` writes the results anew.

After that, look at what changed in ``fixtures/folded`` by eye: it is what every front-end would show.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from acp_host.replay import FoldedRecording, fold_recording
from acp_host.state.json_form import to_json
from acp_host.state.session_state import SessionState
from acp_host.state.snapshot import SessionSnapshot

FIXTURES = Path(__file__).parents[2] / "fixtures"
RECORDINGS = sorted((FIXTURES / "recordings").glob("*.jsonl"))
PANELS = ("notices", "reminders")
"""Members that hold panels of their own, with times in them."""


def play(path: Path, opened: Callable[[SessionState], None] = lambda _: None) -> FoldedRecording:
    """Return what a recording was folded into; ``opened`` is called with each session's state when it is made."""
    return fold_recording(path, opened=lambda session: opened(session.state))


def snapshots(folded: FoldedRecording) -> dict[str, list[SessionSnapshot]]:
    """Return of each session, by id, how it was lived until it was loaded again, and how it was at the end."""
    return {
        session_id: [
            *(each for each in folded.earlier.get(session_id, ()) if not all(e.replayed for e in each.transcript)),
            last,
        ]
        for session_id, last in folded.sessions.items()
    }


def form(folded: FoldedRecording) -> dict[str, Any]:
    """Return what a recording was folded into, as plain JSON."""
    sessions = {
        session_id: [{name: member for name, member in to_json(each).items() if name not in PANELS} for each in shown]
        for session_id, shown in snapshots(folded).items()
    }
    diagnostics = [
        {"kind": diagnostic.kind.value, "message": diagnostic.message, "count": diagnostic.count}
        for diagnostic in folded.diagnostics
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
