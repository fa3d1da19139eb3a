"""The journal of a fleet: what it knows at any point, whoever ends, and who may write to it."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from acp_host import InvalidInput, InvalidState
from acp_host.automation.result import RunOutcome
from acp_host.fleet import Job, JobOutcomeKind, JobResult, Journal, JournalFailed, Spent
from acp_host.fleet.journal import Stage
from acp_host.fleet.spending import Ledger

JOBS = [Job("one", "/a", id="one"), Job("two", "/b", id="two")]
COSTS = st.floats(0, 100, allow_nan=False)
SPENT = st.builds(Spent, tokens=st.integers(0, 10**12), cost=st.dictionaries(st.sampled_from(["USD", "EUR"]), COSTS))


def result_of(job: Job, number: int, kind: JobOutcomeKind = JobOutcomeKind.COMPLETED) -> JobResult:
    return JobResult(job=job, outcome=RunOutcome(kind=kind, detail="é\0\ud800".replace("\ud800", "")), attempt=number)


class JournalLaws(RuleBasedStateMachine):
    """A journal that is closed and opened, or only read, at any point says what was done, and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.path = Path(self._folder.name, "fleet.db")
        self.attempts: dict[str, list[tuple[Stage, Spent]]] = {job.id: [] for job in JOBS}
        self.results: dict[str, JobResult | None] = {job.id: None for job in JOBS}

    @initialize()
    def open(self) -> None:
        self.journal = Journal(self.path)
        self.journal.take(JOBS)

    @rule(job=st.sampled_from(JOBS))
    def begin(self, job: Job) -> None:
        over = {Stage.BEGUN: Stage.LOST, Stage.SENT: Stage.LOST}
        self.attempts[job.id] = [(over.get(stage, stage), spent) for stage, spent in self.attempts[job.id]]
        self.attempts[job.id].append((Stage.BEGUN, Spent()))
        self.results[job.id] = None
        self.journal.begin(job.id, len(self.attempts[job.id]))

    @rule(job=st.sampled_from(JOBS), stage=st.sampled_from([Stage.SENT, Stage.LOST]))
    def go_on(self, job: Job, stage: Stage) -> None:
        if self.attempts[job.id]:
            number = len(self.attempts[job.id])
            (self.journal.sent if stage is Stage.SENT else self.journal.lost)(job.id, number)
            self.attempts[job.id][-1] = (stage, self.attempts[job.id][-1][1])

    @rule(job=st.sampled_from(JOBS), spent=SPENT)
    def spend(self, job: Job, spent: Spent) -> None:
        if self.attempts[job.id]:
            self.journal.spent(job.id, len(self.attempts[job.id]), spent)
            self.attempts[job.id][-1] = (self.attempts[job.id][-1][0], spent)

    @rule(job=st.sampled_from(JOBS), kind=st.sampled_from(JobOutcomeKind))
    def end(self, job: Job, kind: JobOutcomeKind) -> None:
        number = len(self.attempts[job.id])
        result = self.results[job.id] = result_of(job, number, kind)
        self.journal.end(result)
        if number:
            self.attempts[job.id][-1] = (Stage.ENDED, self.attempts[job.id][-1][1])

    @precondition(lambda self: hasattr(self, "journal"))
    @rule()
    def open_again(self) -> None:
        self.journal.close()
        self.journal = Journal(self.path)
        assert [known.job for known in self.journal.take(JOBS)] == JOBS

    @invariant()
    def says_what_was_done(self) -> None:
        if not hasattr(self, "journal"):
            return
        for known in Journal.read(self.path):
            made = self.attempts[known.job.id]
            assert [(attempt.stage, attempt.spent) for attempt in known.attempts] == made
            assert [attempt.number for attempt in known.attempts] == list(range(1, len(made) + 1))
            assert known.result == self.results[known.job.id]
            assert known.spent == Spent.total(spent for _, spent in made)
            assert known.in_doubt == (known.result is None and any(stage is Stage.SENT for stage, _ in made))

    def teardown(self) -> None:
        if hasattr(self, "journal"):
            self.journal.close()
        self._folder.cleanup()


JournalLaws.TestCase.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
TestJournalLaws = JournalLaws.TestCase


@given(SPENT, SPENT, SPENT)
def test_spending_adds_up(one: Spent, two: Spent, three: Spent) -> None:
    assert one + Spent() == one
    assert one + two == two + one
    assert Spent.total([one, two, three]).tokens == ((one + two) + three).tokens
    assert one.at_least(two) == two.at_least(one)
    assert one.at_least(one) == one
    assert Spent.from_json(one.to_json()) == one


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 3), SPENT), max_size=20))
def test_a_ledger_has_the_largest_report_on_each_attempt(reports: list[tuple[str, int, Spent]]) -> None:
    ledger, largest = Ledger(), dict[tuple[str, int], Spent]()
    for job, number, spent in reports:
        before = largest.get((job, number), Spent())
        now = largest[job, number] = before.at_least(spent)
        assert ledger.note(job, number, spent) == (None if now == before else now)
    expected = Spent.total(largest.values())
    assert ledger.total.tokens == expected.tokens
    assert ledger.total.cost == pytest.approx(expected.cost)
    assert ledger.of("a").tokens == sum(spent.tokens for (job, _), spent in largest.items() if job == "a")


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.db") as journal:
        journal.take(JOBS)
        for path in tmp_path.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_one_run_at_a_time_writes_to_it_and_others_read(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.db") as journal:
        journal.take(JOBS)
        with pytest.raises(InvalidState, match="another run writes"):
            Journal(tmp_path / "j.db")
        assert len(Journal.read(tmp_path / "j.db")) == 2
    Journal(tmp_path / "j.db").close()


def test_other_jobs_under_the_same_name_are_refused_and_nothing_is_added(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.db") as journal:
        journal.take(JOBS[:1])
        with pytest.raises(InvalidInput, match="knows another job one"):
            journal.take([JOBS[1], Job("another prompt", "/a", id="one")])
    assert [known.job.id for known in Journal.read(tmp_path / "j.db")] == ["one"]


def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("some notes, and they are not to be lost\n" * 10)
    with pytest.raises(InvalidInput, match="is no journal"):
        Journal(tmp_path / "text")
    assert (tmp_path / "text").read_text().startswith("some notes")
    database = sqlite3.connect(tmp_path / "other.db")
    database.execute("CREATE TABLE mine (x)")
    database.close()
    with pytest.raises(InvalidInput, match="is no journal"):
        Journal(tmp_path / "other.db")


def test_a_newer_one_is_not_written(tmp_path: Path) -> None:
    Journal(tmp_path / "j.db").close()
    database = sqlite3.connect(tmp_path / "j.db")
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(InvalidInput, match="version 99"):
        Journal(tmp_path / "j.db")


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.db") as journal:
        journal.take(JOBS)
        journal._database.execute("PRAGMA max_page_count = 1")
        with pytest.raises(JournalFailed, match="full"):
            for number in range(1, 1000):
                journal.begin("one", number)


WRITER = """
import sys
from acp_host.fleet import Journal
from tests.fleet.test_journal import JOBS, result_of
with Journal(sys.argv[1]) as journal:
    journal.take(JOBS)
    number = 0
    while True:
        number += 1
        journal.begin("one", number)
        journal.sent("one", number)
        print(number, flush=True)
        journal.end(result_of(JOBS[0], number))
        print(-number, flush=True)
"""


def test_whoever_is_killed_leaves_a_journal_that_has_all_that_was_done(tmp_path: Path) -> None:
    for wanted in (3, 7):
        path = tmp_path / f"{wanted}.db"
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, cwd=os.getcwd())
        assert writer.stdout is not None
        with writer.stdout as lines:
            said = [int(next(lines)) for _ in range(wanted)]
            writer.kill()
            said += [int(line) for line in lines if line.endswith(b"\n")]
        writer.wait()
        known = next(known for known in Journal.read(path) if known.job.id == "one")
        number, last = len(known.attempts), said[-1]
        assert number in (abs(last), abs(last) + 1)
        if number == -last:
            assert known.result == result_of(JOBS[0], number)
            assert known.attempts[-1].stage is Stage.ENDED
        elif number == last:
            assert known.attempts[-1].stage in (Stage.SENT, Stage.ENDED)
        with Journal(path) as journal:  # and it can be gone on with
            journal.begin("one", number + 1)


@pytest.mark.parametrize(
    "column, value", [("job", "{"), ("job", "[]"), ("job", "{}"), ("result", "3"), ("result", '{"job": null}')]
)
def test_a_damaged_row_is_said_and_not_left_out(tmp_path: Path, column: str, value: str) -> None:
    path = tmp_path / "fleet.db"
    with Journal(path) as journal:
        journal.take(JOBS)
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE jobs SET {column} = ? WHERE id = 'two'", (value,))
    database.close()
    with pytest.raises(InvalidInput, match=r"fleet\.db is damaged"):
        Journal.read(path)
    with Journal(path) as journal, pytest.raises(InvalidInput, match=r"fleet\.db is damaged"):
        journal.take(JOBS)
