"""What every test shares: the rule about skipped tests, Hypothesis settings, the browser, and the npm peers."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.browsers import CHROMIUM, browser
from tests.sandboxes import WORKS

__all__ = ["browser"]

NO_SKIP = os.environ.get("ACP_HOST_NO_SKIP") == "1"
"""Whether a skipped test fails: in CI everything that tests need is there, so a skip would only hide a fault."""

# pytest's workers have it, and to the command, which the tests start, it is a wish of the user's.
os.environ.pop("COLUMNS", None)

# A script that runs the tests in the background lets them ignore Ctrl-C, and what they start would ignore it, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Machines that run tests are often busy; how long an example takes says nothing about the code. The examples are the
# same in every run: a test that fails now and then says nothing either.
settings.register_profile("acp_host", deadline=None, derandomize=True)
settings.load_profile("acp_host")


def fail_if_skipped(report: pytest.TestReport | pytest.CollectReport, where: str) -> None:
    """Turn a skip into a failure where skipping is forbidden; an expected failure (xfail) is no skip."""
    if NO_SKIP and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"{where} was skipped, and ACP_HOST_NO_SKIP=1 forbids that: {reason}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    fail_if_skipped(report, item.nodeid)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    fail_if_skipped(report, collector.nodeid)
    return report


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """The folder with the npm peers that ``make test`` installs; the test is skipped where they are missing."""
    folder = Path(__file__).parent / "npm" / "node_modules"
    if shutil.which("node") is None or not folder.is_dir():
        pytest.skip("the npm peers are not installed: needs node and npm, then `make setup`")
    return folder


def pytest_report_header() -> list[str]:
    works = "it works" if WORKS else "!!! IT DOES NOT WORK HERE: agents in a sandbox are not tested !!!"
    skips = "skips: forbidden (ACP_HOST_NO_SKIP=1)" if NO_SKIP else "skips: allowed"
    chromium = CHROMIUM or "!!! IT WAS NOT FOUND: the page is not tested !!!"
    return [skips, f"bubblewrap: {works}", f"chromium: {chromium}"]
