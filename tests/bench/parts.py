"""The parts of the benchmark: what is measured, how often, and what it should come to."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from functools import partial
from statistics import median, quantiles
from typing import Any

from tests.bench.many_parts import connections, requests, sessions, start
from tests.bench.report import Figures, Goal, Report, Row, at_least, at_most
from tests.bench.runs import in_turns, run, run_program, weigh_import
from tests.bench.scale import FULL, Scale

__all__ = ["PARTS"]

LENGTH = 1_000
"""Updates in a turn."""
FEW_TURNS = 10
UPDATE_RATE = 20_000

BARE_LOOP, PYTHON_SDK, TYPESCRIPT_SDK = "bare loop", "Python SDK", "TypeScript SDK"
STREAM, FOLDED, ITERATED = "acp_host, typed stream", "acp_host, session", "acp_host, session iterated"
OBSERVED = "acp_host, ten observers"
PROGRAMS: dict[str, tuple[str, ...]] = {
    BARE_LOOP: ("bare_loop.py",),
    PYTHON_SDK: ("python_sdk.py",),
    TYPESCRIPT_SDK: ("ts_sdk.mjs", sys.executable),
    STREAM: ("typed_stream.py",),
    FOLDED: ("session.py",),
    OBSERVED: ("session.py", "observed"),
    ITERATED: ("session.py", "iterated"),
}
REMOTE = {"the same over a WebSocket": "websocket", "the same over Streamable HTTP": "http"}
GOALS: dict[str, dict[str, Goal]] = {
    STREAM: {PYTHON_SDK: at_least(10), TYPESCRIPT_SDK: at_least(4), BARE_LOOP: at_most(3)},
    FOLDED: {PYTHON_SDK: at_least(7), BARE_LOOP: at_most(5)},
    OBSERVED: {PYTHON_SDK: at_least(7), BARE_LOOP: at_most(5)},
    ITERATED: {PYTHON_SDK: at_least(7), BARE_LOOP: at_most(5)},
}
IMPORTS = {"import acp_host": at_least(4), "from acp_host import connect": None, "import acp": None}


def throughput(report: Report, scale: Scale) -> None:
    """Compare all contenders on the same stream."""
    names = list(PROGRAMS)
    if shutil.which("node") is None:
        print("!!! node WAS NOT FOUND: the TypeScript SDK is LEFT OUT !!!", file=sys.stderr)
        names.remove(TYPESCRIPT_SDK)
    figures = _figures(in_turns(scale.rounds, {name: partial(_read_stream, PROGRAMS[name], scale) for name in names}))

    def ratio(name: str, other: str) -> str:
        if other not in figures or other == name:
            return ""
        value = figures[name].over(figures[other]) if other == BARE_LOOP else figures[other].over(figures[name])
        return _judged(value, GOALS.get(name, {}).get(other))

    others = (PYTHON_SDK, TYPESCRIPT_SDK, BARE_LOOP)
    unit = "µs an update" if scale.clock == "seconds" else "µs of processor an update"
    report.table(
        f"{scale.turns * LENGTH:,} updates in {scale.turns} turns, {scale.rounds} rounds",
        ["", unit, f"{PYTHON_SDK} / it", f"{TYPESCRIPT_SDK} / it", f"it / {BARE_LOOP}"],
        [[name, of_one.show(), *(ratio(name, other) for other in others)] for name, of_one in figures.items()],
    )


def remote(report: Report, scale: Scale) -> None:
    """Compare a session with an agent behind a WebSocket, or HTTP, to one with an agent behind a pipe."""
    programs = {FOLDED: PROGRAMS[FOLDED], **{name: ("session.py", how) for name, how in REMOTE.items()}}
    measures = {name: partial(_read_stream, program, scale) for name, program in programs.items()}
    figures = _figures(in_turns(scale.rounds, measures))
    unit = "µs an update" if scale.clock == "seconds" else "µs of processor an update"
    report.table(
        f"{scale.turns * LENGTH:,} updates in {scale.turns} turns, {scale.rounds} rounds",
        ["", unit, "it / a pipe"],
        [[name, of_one.show(), f"{of_one.over(figures[FOLDED]):.2f}"] for name, of_one in figures.items()],
    )


def imports(report: Report, scale: Scale) -> None:
    """Compare imports, each in a fresh interpreter."""
    rounds = 2 * scale.rounds + 1
    figures = _figures(in_turns(rounds, {statement: partial(_import, statement, scale.clock) for statement in IMPORTS}))
    weights = {statement: weigh_import(statement) - weigh_import("pass") for statement in IMPORTS}
    theirs, its_weight = figures["import acp"], weights["import acp"]
    report.table(
        f"Import in a fresh interpreter, {rounds} rounds; its memory (RSS), once",
        ["", "ms" if scale.clock == "seconds" else "ms of processor", "import acp / it", "MiB", "import acp / it"],
        [
            [
                statement,
                of_one.show(1),
                _judged(theirs.over(of_one), IMPORTS[statement]),
                f"{weights[statement] / 2**20:.1f}",
                f"{its_weight / weights[statement]:.2f}",
            ]
            for statement, of_one in figures.items()
        ],
    )


def growth(report: Report, scale: Scale) -> None:
    """Compare what an update costs in a short and in a long session, with and without the garbage collector."""
    sizes = {"short": FEW_TURNS, "long": scale.many_turns}
    results = in_turns(
        scale.long_rounds,
        {
            f"{size} {mode}": partial(run_program, "growth.py", turns, LENGTH, mode)
            for mode in ("no-gc", "gc")
            for size, turns in sizes.items()
        },
    )
    figures = {name: _per_update(of_one, "cpu") for name, of_one in results.items()}
    few, many = (f"{turns * LENGTH:,}" for turns in sizes.values())
    collected = results["long gc"]
    pause = Figures([result["longest_pause"] * 1e3 for result in collected])
    share = Figures([result["all_pauses"] / result["cpu"] * 100 for result in collected])
    rows: list[Row] = []
    for mode, label, goal in (("no-gc", "collector off", at_most(1.2)), ("gc", "collector on", None)):
        short, long = figures[f"short {mode}"], figures[f"long {mode}"]
        rows += [
            Row(f"{label}: an update, {few} of them", short.median, "µs"),
            Row(f"{label}: an update, {many} of them", long.median, "µs"),
            Row(f"{label}: {many} / {few}", long.over(short), "", goal),
        ]
    rows += [
        Row(f"its longest pause in {many} updates", pause.median, "ms", at_most(100)),
        Row("all its pauses", share.median, "% of the time"),
    ]
    entries = collected[0]["entries"]
    report.rows(f"Growth: {many} updates in {scale.many_turns:,} turns, {entries:,} entries", rows)


def snapshots(report: Report, scale: Scale) -> None:
    """Time ``snapshot()`` in a long session."""
    times = _once("snapshots.py", scale.entries, 200)
    report.table(
        f"snapshot() after one change, {scale.entries:,} entries, 200 times each",
        ["after", "ms, worst", "ms, median"],
        [[what, f"{worst:.3f}", _judged(middle, at_most(1), 3)] for what, (middle, worst) in times.items()],
    )


def memory(report: Report, scale: Scale) -> None:
    """Weigh sessions."""
    sizes = _once("memory.py", scale.messages, scale.kept_turns, LENGTH)

    def of_text(name: str) -> float:
        return float(sizes[name]["held"] / sizes[name]["text"])

    def per_entry(name: str) -> float:
        return float((sizes[name]["held"] - sizes[name]["text"]) / sizes[name]["entries"])

    per = "bytes an entry beside text"
    report.rows(
        "Memory",
        [
            Row("messages in 30-character chunks", of_text("messages"), "× their text", at_most(1.3)),
            Row("the same", per_entry("messages"), per, at_most(600)),
            Row("a long message that is being written", of_text("growing"), "× its text", at_most(1.3)),
            Row(f"the stream, {sizes['stream']['entries']:,} entries", per_entry("stream"), per, at_most(600)),
            Row("a turn of the stream that is running", per_entry("running"), per),
        ],
    )


def notices(report: Report, scale: Scale) -> None:
    """Send a burst of notices in a stream."""
    counts = {"without": 0, "with": scale.notices}
    results = in_turns(
        scale.rounds,
        {name: partial(run_program, "notices.py", FULL.turns, LENGTH, count) for name, count in counts.items()},
    )
    quiet, noisy = (_per_update(of_one, scale.clock) for of_one in (results["without"], results["with"]))
    all_quiet, all_noisy = (Figures([of_one[scale.clock] for of_one in results[name]]) for name in counts)
    last = results["with"][-1]
    report.rows(
        f"{scale.notices:,} notices in one burst, in {FULL.turns * LENGTH:,} updates, {scale.rounds} rounds",
        [
            Row("toasts on the screen, at most", last["most_toasts"], "", at_most(last["limit"])),
            Row("notices counted", last["notices"], "", at_least(scale.notices)),
            Row("without: an update", quiet.median, "µs"),
            Row("with: an update or a notice", noisy.median, "µs"),
            Row("with / without: a message", noisy.over(quiet), "", at_most(1.2)),
            Row("with / without: the whole stream", all_noisy.over(all_quiet), "", at_most(1.2)),
        ],
    )


def viewers(report: Report, scale: Scale) -> None:
    """Serve a page to viewers while the stream comes."""
    counts = (0, 1, scale.viewers)
    measures = {str(count): partial(run_program, "viewers.py", scale.turns, LENGTH, count) for count in counts}
    results = in_turns(scale.rounds, measures)
    figures = {name: _per_update(of_one, scale.clock) for name, of_one in results.items()}
    rows = [Row(f"{name} viewers: an update", of_one.median, "µs") for name, of_one in figures.items()]
    rows.append(Row(f"{scale.viewers} / 0", figures[str(scale.viewers)].over(figures["0"]), "", at_most(1.2)))
    report.rows(f"A page that is served, {scale.turns * LENGTH:,} updates, {scale.rounds} rounds", rows)


def reminders(report: Report, scale: Scale) -> None:
    """Time the acknowledgement of reminders, idle and under a stream."""
    rates = {"idle": 0, "busy": UPDATE_RATE}
    results = in_turns(
        scale.long_rounds,
        {name: partial(run_program, "reminders.py", rate, scale.reminders) for name, rate in rates.items()},
    )

    def percentile(name: str, which: int) -> Figures:
        return Figures([quantiles(result["milliseconds"], n=100)[which - 1] for result in results[name]])

    came = f"under {median(result['rate'] for result in results['busy']):,.0f} updates a second"
    report.rows(
        f"remind() until it is acknowledged, {scale.reminders} times, {scale.long_rounds} rounds",
        [
            Row("idle: p50", percentile("idle", 50).median, "ms"),
            Row("idle: p99", percentile("idle", 99).median, "ms"),
            Row(f"{came}: p50", percentile("busy", 50).median, "ms"),
            Row(f"{came}: p50 / idle", percentile("busy", 50).over(percentile("idle", 50)), "", at_most(2)),
            Row(f"{came}: p99", percentile("busy", 99).median, "ms", at_most(5)),
        ],
    )


PARTS: dict[str, Callable[[Report, Scale], None]] = {
    part.__name__: part
    for part in (
        throughput,
        remote,
        imports,
        start,
        requests,
        connections,
        sessions,
        growth,
        snapshots,
        memory,
        notices,
        viewers,
        reminders,
    )
}


def _read_stream(contender: tuple[str, ...], scale: Scale) -> float:
    """Return what an update costs a contender, in microseconds."""
    program, *options = contender
    result = run_program(program, scale.turns, LENGTH, *options)
    if result["updates"] != scale.turns * LENGTH:
        raise SystemExit(f"\n{contender} delivered {result['updates']} of {scale.turns * LENGTH} updates")
    return float(result[scale.clock]) / result["updates"] * 1e6


def _import(statement: str, clock: str) -> float:
    now = "time.process_time()" if clock == "cpu" else "time.perf_counter()"
    program = f"import time; t = {now}; {statement}; print({now} - t)"
    return float(run([sys.executable, "-c", program])) * 1e3


def _once(program: str, *arguments: object) -> Any:
    return in_turns(1, {program: partial(run_program, program, *arguments)})[program][0]


def _figures(results: dict[str, list[float]]) -> dict[str, Figures]:
    return {name: Figures(values) for name, values in results.items()}


def _per_update(results: list[dict[str, Any]], clock: str) -> Figures:
    """Return what an update, or a notice, costs in microseconds."""
    return Figures([result[clock] / result["updates"] * 1e6 for result in results])


def _judged(value: float, goal: Goal | None, digits: int = 2) -> str:
    return f"{value:.{digits}f}" + (f" ({goal.judge(value)})" if goal else "")
