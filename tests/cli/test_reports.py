from __future__ import annotations

import io
import logging

from acp_host.cli.printer import Printer, make_console
from acp_host.cli.reports import reports_to
from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.host.diagnostic_log import DiagnosticLog


def test_diagnostics_and_notices_are_printed_while_the_block_runs() -> None:
    file = io.StringIO()
    log = DiagnosticLog()
    loggers = [logging.getLogger("acp_host.diagnostics"), logging.getLogger("acp_host.notices")]
    before = [(logger.level, logger.propagate, list(logger.handlers)) for logger in loggers]
    with reports_to(Printer(make_console(file))):
        log.add(Diagnostic(DiagnosticKind.NOISE, "a line", data="  what it said\x1b\n", count=3))
        log.add(Diagnostic(DiagnosticKind.REPAIRED, "a default", path="$.a", data={"odd": 1}))
        loggers[1].error("%s says: %s", "The agent", "Look out\x1b")
        loggers[1].debug("hushed")
    log.add(Diagnostic(DiagnosticKind.NOISE, "later"))
    assert file.getvalue() == (
        "diagnostic  noise: a line (stands for 3)\n"
        "            what it said\\x1b\n"
        "diagnostic  repaired: a default at $.a\n"
        "            {'odd': 1}\n"
        "notice      The agent says: Look out\\x1b\n"
    )
    assert [(logger.level, logger.propagate, list(logger.handlers)) for logger in loggers] == before


def test_a_closed_stderr_does_not_hurt_who_logs() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with reports_to(Printer(make_console(Closed()))):
        DiagnosticLog().add(Diagnostic(DiagnosticKind.NOISE, "a line"))
