"""What runs have come to, kept in a file, so that none is done twice: :class:`RunJournal`.

A run with a key is written down before its prompt is sent, and its result when it is over. The same key again:

=====================  ===============================================================================================
the journal says       what happens
=====================  ===============================================================================================
nothing                the run is done
it is over             the result is returned, and nothing is done
it has begun           it is done; while the process that has begun it is still there, it is refused
its prompt was sent    it is reported as ``outcome_unknown``, and done again only where the caller says so; while the
                       process that has sent it is still there, it is refused
=====================  ===============================================================================================

A run whose prompt was never sent leaves nothing behind. The file is an SQLite data base of its owner alone; every
method blocks, and may be called from any thread.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import platformdirs
from attrs import evolve, frozen

from acp_host.automation.result import RunAttempt, RunError, RunOutcome, RunReason, RunResult
from acp_host.errors import InvalidInput, InvalidState, OutcomeUnknown
from acp_host.host.outcome import OutcomeKind
from acp_host.transports.leftovers import identity, lives

__all__ = ["RunJournal", "default_journal"]

_MOST_KEPT = 10_000
"""Results that are kept; the oldest leave first."""
_PATIENCE = 10.0
"""Seconds that one process waits for another to let go of the file."""
_SCHEMA = """
create table if not exists runs (
    key text primary key, digest text not null, state text not null, owner text not null,
    session_id text, began real not null, result text
);
create table if not exists sessions (
    agent text not null, cwd text not null, session_id text not null, used real not null, primary key (agent, cwd)
);
"""


class _State(StrEnum):
    BEGUN = "begun"
    SENT = "sent"
    OVER = "over"


@frozen
class _Row:
    digest: str
    state: str
    owner: str
    session_id: str | None
    began: float
    result: str | None


class RunJournal:
    """A journal of runs.

    Args:
        path: the file; made where there is none.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"RunJournal({str(self.path)!r})"

    # --- runs -------------------------------------------------------------------------------------------------------

    def begin(self, key: str, digest: str, *, rerun_unknown: bool = False) -> RunResult | None:
        """Write down that a run begins; or return what it has come to before, and then it is not to be done.

        Args:
            key: names the run.
            digest: says what the run is to do; a key means the same for ever.
            rerun_unknown: do it again where its prompt was sent and nobody knows what became of it.

        Raises:
            InvalidInput: the key means another run, or the file cannot be used.
            InvalidState: another process is at this run.
        """
        with self._open() as data:
            row = self._row(data, key)
            if row is not None:
                known = self._known(key, digest, row)
                if known is not None and not (known.outcome_unknown and rerun_unknown):
                    return known
            data.execute(
                "insert or replace into runs values (?, ?, ?, ?, null, ?, null)",
                (key, digest, _State.BEGUN, _this_process(), time.time()),
            )
        return None

    def sent(self, key: str, session_id: str) -> None:
        """Write down that the prompt of a run is about to be sent."""
        with self._open() as data:
            data.execute("update runs set state = ?, session_id = ? where key = ?", (_State.SENT, session_id, key))

    def finish(self, key: str, result: RunResult) -> None:
        """Write down what a run has come to; one whose prompt was never sent is forgotten."""
        with self._open() as data:
            if not any(attempt.prompt_sent for attempt in result.attempts):
                data.execute("delete from runs where key = ?", (key,))
                return
            data.execute(
                "update runs set state = ?, result = ? where key = ?",
                (_State.OVER, json.dumps(result.to_json()), key),
            )
            data.execute(
                "delete from runs where state = ? and key not in (select key from runs order by began desc limit ?)",
                (_State.OVER, _MOST_KEPT),
            )

    def leave(self, key: str) -> None:
        """Write down that this process does not go on with a run: what its prompt has come to, nobody will say."""
        with self._open() as data:
            data.execute("delete from runs where key = ? and state = ?", (key, _State.BEGUN))
            data.execute("update runs set owner = '' where key = ? and state = ?", (key, _State.SENT))

    def forget(self, key: str) -> None:
        """Forget a run, so that the same key does it anew."""
        with self._open() as data:
            data.execute("delete from runs where key = ?", (key,))

    # --- sessions ---------------------------------------------------------------------------------------------------

    def last_session(self, agent: str, cwd: str) -> str | None:
        """Return the session that an agent had last in a directory; ``None`` where none is known."""
        with self._open() as data:
            found = data.execute("select session_id from sessions where agent = ? and cwd = ?", (agent, cwd)).fetchone()
        return None if found is None else str(found[0])

    def remember_session(self, agent: str, cwd: str, session_id: str) -> None:
        """Write down which session an agent has in a directory."""
        with self._open() as data:
            data.execute("insert or replace into sessions values (?, ?, ?, ?)", (agent, cwd, session_id, time.time()))
            data.execute(
                "delete from sessions where rowid not in (select rowid from sessions order by used desc limit ?)",
                (_MOST_KEPT,),
            )

    # --- the file ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction that nobody else takes part in."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            with contextlib.closing(sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)) as data:
                data.executescript(_SCHEMA)
                data.execute("begin immediate")
                try:
                    yield data
                except BaseException:
                    data.execute("rollback")
                    raise
                data.execute("commit")
        except (OSError, sqlite3.Error) as error:
            raise InvalidInput(f"the journal {self.path} cannot be used: {error}") from error

    @staticmethod
    def _row(data: sqlite3.Connection, key: str) -> _Row | None:
        columns = "digest, state, owner, session_id, began, result"
        found = data.execute(f"select {columns} from runs where key = ?", (key,)).fetchone()
        return None if found is None else _Row(*found)

    def _known(self, key: str, digest: str, row: _Row) -> RunResult | None:
        """Return what a run has come to; ``None`` where it is to be done."""
        if row.digest != digest:
            raise InvalidInput(
                f"the key {key!r} means another run in {self.path}: another agent, prompt, directory or session"
            )
        if row.state == _State.OVER and row.result is not None:
            return _from_journal(RunResult.from_json(json.loads(row.result)))
        if _is_alive(row.owner):
            raise InvalidState(f"the run {key!r} is under way in process {json.loads(row.owner)['pid']}")
        return None if row.state == _State.BEGUN else _from_journal(_unknown(key, row))


def default_journal() -> RunJournal:
    """Return the journal of this user."""
    return RunJournal(platformdirs.user_state_path("acp-host") / "runs.sqlite3")


def _from_journal(result: RunResult) -> RunResult:
    return evolve(result, from_journal=True)


def _unknown(key: str, row: _Row) -> RunResult:
    """Return the result of a run that sent its prompt, and whose process is gone."""
    why = "its prompt was sent, and the process that had sent it ended before the agent said what came of it"
    error = RunError(type=OutcomeUnknown.__name__, message=why)
    return RunResult(
        outcome=RunOutcome(kind=OutcomeKind.FAILED, reason=RunReason.OUTCOME_UNKNOWN, detail=why),
        session_id=row.session_id,
        attempts=(RunAttempt(number=1, prompt_sent=True, error=error),),
        error=error,
        started_at=row.began,
        key=key,
    )


def _this_process() -> str:
    return json.dumps(identity(os.getpid()))


def _is_alive(owner: str) -> bool:
    return bool(owner) and lives(json.loads(owner))
