"""The parts of the benchmark that have many connections, sessions or requests, beside both SDKs."""

from __future__ import annotations

import shutil
import sys
import time
from functools import partial
from statistics import quantiles
from typing import Any

from tests.bench.report import Figures, Report, Row, at_most
from tests.bench.runs import in_turns, run_program
from tests.bench.scale import Scale

__all__ = ["connections", "requests", "sessions", "start"]

OURS = "acp_host"
BUSY_RATE = 3_000
"""Updates in a second that come for one session, while another one's requests are timed: all contenders keep up."""
KIB = 1_024
_NOW = object()
"""Stands for the time at which a program is started."""


def start(report: Report, scale: Scale) -> None:
    """Time the first session of a fresh interpreter."""
    results = _all(scale.rounds, "start", _NOW)
    report.table(
        f"Time to the first session, {scale.rounds} rounds",
        ["", "ms from the start of the program", "ms from the call that connects"],
        [
            [
                name,
                *(
                    Figures([each[since] * 1e3 for each in of_one]).show(0)
                    for since in ("from_program", "from_connect")
                ),
            ]
            for name, of_one in results.items()
        ],
    )


def requests(report: Report, scale: Scale) -> None:
    """Time requests one after the other, while nothing comes and while another session streams."""
    for rate, where in ((0, "idle"), (BUSY_RATE, f"while another session streams {BUSY_RATE:,} updates a second")):
        results = _all(scale.long_rounds, "requests", scale.requests, rate)

        def percentile(of_one: list[dict[str, Any]], which: int) -> str:
            return Figures([quantiles(each["milliseconds"], n=100)[which - 1] for each in of_one]).show()

        report.table(
            f"A request until it is answered, {where}; {scale.requests:,} times, {scale.long_rounds} rounds",
            ["", "ms, p50", "ms, p99"],
            [[name, percentile(of_one, 50), percentile(of_one, 99)] for name, of_one in results.items()],
        )


def connections(report: Report, scale: Scale) -> None:
    """Weigh connections to agents of their own, all at once in one process, and a session on each."""
    results = _all(1, "connections", scale.connections)
    rows = [
        Row(f"{name}: an idle {kind}", of_one[0][kind] / KIB, "KiB", at_most(150) if name == OURS else None)
        for kind in ("connection", "session")
        for name, of_one in results.items()
    ]
    rows += [
        Row(f"{name}: to connect", of_one[0]["seconds"] / scale.connections * 1e3, "ms")
        for name, of_one in results.items()
    ]
    report.rows(f"{scale.connections} agents at once in one process: its memory (RSS), for each", rows)


def sessions(report: Report, scale: Scale) -> None:
    """Open sessions on one connection."""
    results = _all(1, "sessions", scale.sessions)
    rows: list[Row] = []
    for name, (result,) in results.items():
        rows += [
            Row(f"{name}: a session", result["session"] / KIB, "KiB", at_most(150) if name == OURS else None),
            Row(f"{name}: to open all", result["seconds"], "s"),
            Row(f"{name}: of that, processor time", result["cpu"], "s"),
        ]
    report.rows(f"{scale.sessions:,} sessions on one connection", rows)


def _all(rounds: int, *arguments: object) -> dict[str, list[Any]]:
    """Let every contender measure, in turns."""
    measures = {
        OURS: partial(_run, "many_host.py", *arguments),
        "Python SDK": partial(_run, "many_python_sdk.py", *arguments),
    }
    if shutil.which("node") is not None:
        measures["TypeScript SDK"] = partial(_run, "many_ts_sdk.mjs", sys.executable, *arguments)
    return in_turns(rounds, measures)


def _run(program: str, *arguments: object) -> Any:
    return run_program(program, *(time.time() if argument is _NOW else argument for argument in arguments))
