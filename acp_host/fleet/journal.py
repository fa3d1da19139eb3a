"""What a fleet has done so far, on the disk: :class:`Journal`.

It is an SQLite database on the machine of the caller. Whatever happens to the caller, it can be read: each step is one
transaction, in a write-ahead log. These are the steps of an attempt; each is on the disk before the next thing happens:

===========  =========================================================================================================
``begun``    an attempt is under way; its agent has not been given the prompt
``sent``     the prompt may be sent from now on
``ended``    the result of the job is known, and is in the journal
``lost``     nobody will ever say more of it
===========  =========================================================================================================

So a job without a result whose newest attempt is ``begun`` was not given to an agent, and one whose newest attempt is
``sent`` may have been. It holds the jobs, with their prompts, and their results: only its owner can read it. What
agents are started with, their environment included, is not in it.

Everything blocks, for a few milliseconds. One run at a time writes to a journal; others may read it meanwhile.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from types import TracebackType
from typing import Any

from attrs import frozen

from acp_host.errors import AcpError, InvalidInput, InvalidState
from acp_host.fleet.job import Job
from acp_host.fleet.places import Place
from acp_host.fleet.result import JobResult
from acp_host.fleet.spending import Spent
from acp_host.given_files import absolute

__all__ = ["Journal", "JournalFailed", "JournaledAttempt", "JournaledJob", "Stage"]

VERSION = 1
"""Version of the tables, as SQLite's ``user_version``."""
APPLICATION = 0x41435046
"""SQLite's ``application_id``: the file is a journal of a fleet."""
_TABLES = """
CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    digest TEXT NOT NULL,
    job TEXT NOT NULL,
    result TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE attempts (
    job TEXT NOT NULL REFERENCES jobs (id),
    number INTEGER NOT NULL,
    stage TEXT NOT NULL,
    place TEXT,
    spent TEXT NOT NULL,
    began REAL NOT NULL,
    changed REAL NOT NULL,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
"""


class JournalFailed(AcpError):
    """The journal cannot be written, so that nothing is begun or sent any more."""


class Stage(StrEnum):
    """How far an attempt is; the table of this module has the meanings."""

    BEGUN = "begun"
    SENT = "sent"
    ENDED = "ended"
    LOST = "lost"


@frozen(kw_only=True)
class JournaledAttempt:
    """An attempt, as far as the journal knows it.

    Attributes:
        number: counts the attempts of the job, from 1.
        stage: how far it came.
        place: where it is, or was, made; ``None`` as long as nobody has said.
        spent: what it has spent.
    """

    number: int
    stage: Stage
    place: Place | None
    spent: Spent


@frozen(kw_only=True)
class JournaledJob:
    """A job, as far as the journal knows it.

    Attributes:
        job: the job.
        attempts: its attempts, in order.
        result: what came of it; ``None`` as long as nobody knows.
    """

    job: Job
    attempts: tuple[JournaledAttempt, ...]
    result: JobResult | None

    @property
    def in_doubt(self) -> bool:
        """Whether its prompt may have been sent, and what came of it is not known."""
        return self.result is None and any(attempt.stage is Stage.SENT for attempt in self.attempts)

    @property
    def spent(self) -> Spent:
        """What its attempts have spent together."""
        return Spent.total(attempt.spent for attempt in self.attempts)


class Journal:
    """A journal that this process writes; a context manager.

    Args:
        path: the file; it is made if it does not exist. ``None``: in memory, and gone with this object.

    Raises:
        InvalidInput: the file cannot be opened, is something else, or of a newer version.
        InvalidState: another run writes to it.

    All methods that write raise :class:`JournalFailed` if that does not work.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = None if path is None else absolute(path)
        self._lock: sqlite3.Connection | None = None
        if self._path is not None:
            self._lock = _locked(f"{self._path}.lock", self._path)
        try:
            self._database = _opened(self._path)
            self._prepare()
        except BaseException:
            self._unlock()
            raise

    @staticmethod
    def read(path: str | os.PathLike[str]) -> list[JournaledJob]:
        """Return what a journal says, which another process may be writing to, or was when it ended.

        Raises:
            InvalidInput: there is no such file, or it cannot be opened, is no journal, or is damaged.
        """
        if not os.path.isfile(path):
            raise InvalidInput(f"there is no journal {os.fspath(path)}")
        database = _opened(absolute(path))
        try:
            _check(database, os.fspath(path))
            return _known(database, os.fspath(path))
        finally:
            database.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close it; may be called repeatedly."""
        self._database.close()
        self._unlock()

    def take(self, jobs: Sequence[Job]) -> list[JournaledJob]:
        """Add the jobs that are new, and return what is known of each of these, in their order.

        Raises:
            InvalidInput: it is damaged, or has another job with the id of one of them; then nothing is added.
        """
        with self._step():
            for position, job in enumerate(jobs):
                known = self._database.execute("SELECT digest FROM jobs WHERE id = ?", (job.id,)).fetchone()
                if known is None:
                    row = (job.id, position, job.digest, json.dumps(job.to_json()))
                    self._database.execute("INSERT INTO jobs (id, position, digest, job) VALUES (?, ?, ?, ?)", row)
                elif known[0] != job.digest:
                    raise InvalidInput(
                        f"the journal knows another job {job.id}: go on with the same jobs, or begin another journal"
                    )
        known_jobs = {known.job.id: known for known in _known(self._database, self._path or "in memory")}
        return [known_jobs[job.id] for job in jobs]

    def begin(self, job: str, number: int) -> None:
        """Note that an attempt begins. What an earlier result said is no longer true."""
        now = time.time()
        with self._step():
            self._database.execute("UPDATE jobs SET result = NULL WHERE id = ?", (job,))
            over = (Stage.LOST, job, Stage.BEGUN, Stage.SENT)
            self._database.execute("UPDATE attempts SET stage = ? WHERE job = ? AND stage IN (?, ?)", over)
            self._database.execute(
                "INSERT INTO attempts (job, number, stage, spent, began, changed) VALUES (?, ?, ?, ?, ?, ?)",
                (job, number, Stage.BEGUN, json.dumps(Spent().to_json()), now, now),
            )

    def place(self, job: str, number: int, place: Place) -> None:
        """Note where an attempt is made."""
        self._change(job, number, place=json.dumps(place.to_json()))

    def sent(self, job: str, number: int) -> None:
        """Note that the prompt may be sent from now on."""
        self._change(job, number, stage=Stage.SENT)

    def spent(self, job: str, number: int, spent: Spent) -> None:
        """Note what an attempt has spent so far."""
        self._change(job, number, spent=json.dumps(spent.to_json()))

    def lost(self, job: str, number: int) -> None:
        """Note that nobody will say more of an attempt."""
        self._change(job, number, stage=Stage.LOST)

    def end(self, result: JobResult, stage: Stage = Stage.ENDED) -> None:
        """Keep the result of a job, and with it the end of its newest attempt.

        Args:
            result: the result.
            stage: of the attempt that it is about, where there is one.
        """
        with self._step():
            text = json.dumps(result.to_json())
            self._database.execute("UPDATE jobs SET result = ? WHERE id = ?", (text, result.job.id))
            if result.attempt:
                self._update(result.job.id, result.attempt, stage=stage)

    def _change(self, job: str, number: int, **values: Any) -> None:
        with self._step():
            self._update(job, number, **values)

    def _update(self, job: str, number: int, **values: Any) -> None:
        values["changed"] = time.time()
        columns = ", ".join(f"{name} = ?" for name in values)
        statement = f"UPDATE attempts SET {columns} WHERE job = ? AND number = ?"
        self._database.execute(statement, (*values.values(), job, number))

    @contextmanager
    def _step(self) -> Iterator[None]:
        try:
            self._database.execute("BEGIN IMMEDIATE")
            yield
            self._database.execute("COMMIT")
        except BaseException as error:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise JournalFailed(f"the journal {self._path or 'in memory'} cannot be written: {error}") from error
            raise

    def _prepare(self) -> None:
        if self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            _check(self._database, self._path or "")
            return
        with self._step():
            for statement in _TABLES.split(";"):
                self._database.execute(statement)
            self._database.execute(f"PRAGMA user_version = {VERSION}")
            self._database.execute(f"PRAGMA application_id = {APPLICATION}")

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _opened(path: str | None) -> sqlite3.Connection:
    """Return a connection for any thread, one at a time, in which transactions are begun by hand."""
    if path is not None:
        _make_private(path)
    try:
        database = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False, timeout=30)
    except sqlite3.OperationalError as error:
        raise InvalidInput(f"the journal {path} cannot be opened: {error}") from None
    try:
        if path is not None:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")  # what is sent must be on the disk before
        database.execute("PRAGMA foreign_keys = ON")
        return database
    except sqlite3.DatabaseError as error:
        database.close()
        raise InvalidInput(f"{path} is no journal of a fleet: {error}") from None


def _make_private(path: str) -> None:
    """Make the file, if there is none, so that only its owner can read it; SQLite's other files become like it."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
    except OSError as error:
        raise InvalidInput(f"the journal {path} cannot be opened: {error.strerror or error}") from error


def _locked(path: str, journal: str) -> sqlite3.Connection:
    """Return a lock that ends with this process, however that ends: one of SQLite's, which every system has."""
    _make_private(path)
    lock = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0)
    try:
        lock.execute("BEGIN EXCLUSIVE")
        return lock
    except sqlite3.OperationalError:
        lock.close()
        raise InvalidState(f"another run writes to the journal {journal}") from None
    except sqlite3.DatabaseError as error:
        lock.close()
        raise InvalidInput(f"{path} is in the way: {error}") from None


def _check(database: sqlite3.Connection, path: str) -> None:
    application = database.execute("PRAGMA application_id").fetchone()[0]
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION:
        raise InvalidInput(f"{path} is no journal of a fleet")
    if version != VERSION:
        raise InvalidInput(f"{path} was written by another version of this program: it has version {version}")


def _known(database: sqlite3.Connection, path: str) -> list[JournaledJob]:
    """Return all that a journal says; raises ``InvalidInput`` if a part of it cannot be read."""
    try:
        return list(_jobs(database))
    except (sqlite3.DatabaseError, ValueError, LookupError, TypeError, AttributeError) as error:
        # Not read in part: a job whose row is left out would be run again.
        raise InvalidInput(f"the journal {path} is damaged ({error}): restore it, or begin another") from error


def _jobs(database: sqlite3.Connection) -> Iterator[JournaledJob]:
    attempts: dict[str, list[JournaledAttempt]] = {}
    database.execute("BEGIN")  # one moment for both tables
    try:
        rows = database.execute("SELECT job, number, stage, place, spent FROM attempts ORDER BY job, number")
        for job, number, stage, place, spent in rows.fetchall():
            attempt = JournaledAttempt(
                number=number,
                stage=Stage(stage),
                place=None if place is None else Place.from_json(json.loads(place)),
                spent=Spent.from_json(json.loads(spent)),
            )
            attempts.setdefault(job, []).append(attempt)
        found = database.execute("SELECT id, job, result FROM jobs ORDER BY position, id").fetchall()
    finally:
        database.execute("COMMIT")
    for job_id, job, result in found:
        yield JournaledJob(
            job=Job.from_json(json.loads(job)),
            attempts=tuple(attempts.get(job_id, ())),
            result=None if result is None else JobResult.from_json(json.loads(result)),
        )
