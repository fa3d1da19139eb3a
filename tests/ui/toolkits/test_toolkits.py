"""The bridges to the toolkits' main threads, and the windows that the documentation shows, beside an agent."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acp_host.testing import ReferenceAgent
from tests.ui.toolkits.screens import environment_for, xvfb

ROOT = Path(__file__).parents[3]
SCRIPT = """
async def script(turn):
    await turn.notice("warning", "The disk is almost full")
    await turn.say("Nothing.")
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no Xvfb for Windows")


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    with xvfb() as name:
        yield name


@pytest.fixture(scope="module")
def environment(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Callable[[str], dict[str, str]]:
    """Returns what a program with windows of a toolkit is to be run with; without the toolkit the test is skipped."""
    folder = tmp_path_factory.mktemp("packages")

    def find(toolkit: str) -> dict[str, str]:
        found = environment_for(toolkit, folder / toolkit)
        if found is None:
            pytest.skip(
                f"!!! {toolkit.upper()} WAS NOT FOUND: its bridge is not tested !!! `make system-deps` installs it"
            )
        return found if toolkit == "qt" else {**found, "DISPLAY": request.getfixturevalue("display")}

    return find


@pytest.mark.parametrize("toolkit", ["qt", "tk", "tk_timer", "glib"])
def test_an_agent_beside_a_window(toolkit: str, tmp_path: Path, environment: Callable[[str], dict[str, str]]) -> None:
    line = [sys.executable, "-m", "tests.ui.toolkits.scenario", toolkit, str(tmp_path)]
    surroundings = environment(toolkit.removesuffix("_timer"))
    ran = subprocess.run(line, cwd=ROOT, env=surroundings, capture_output=True, text=True, timeout=50, check=False)
    assert (ran.returncode, ran.stdout) == (0, "all is as it should be\n"), ran.stderr


WINDOWS_COME_AND_GO = """
import threading

import shiboken6
from PySide6.QtWidgets import QApplication, QWidget

from acp_host.state.dispatch import DispatchEnded
from acp_host.ui.qt import QtDispatch

app, ran, ending, failed = QApplication([]), [], threading.Event(), []

def use():
    while not ending.is_set():
        try:
            latest(lambda: ran.append(1))
        except DispatchEnded:
            pass
        except BaseException as error:
            failed.append(error)

window = QWidget()
latest = QtDispatch(window)
threads = [threading.Thread(target=use) for _ in range(3)]
for thread in threads:
    thread.start()
while len(ran) < 1_000:
    for _ in range(20):
        app.processEvents()
    shiboken6.delete(window)
    window = QWidget()
    latest = QtDispatch(window)
ending.set()
for thread in threads:
    thread.join()
print(failed)
"""


def test_windows_of_qt_come_and_go_while_threads_use_them(environment: Callable[[str], dict[str, str]]) -> None:
    line = [sys.executable, "-c", WINDOWS_COME_AND_GO]
    ran = subprocess.run(line, cwd=ROOT, env=environment("qt"), capture_output=True, text=True, timeout=50, check=False)
    assert (ran.returncode, ran.stdout) == (0, "[]\n"), ran.stderr


@pytest.mark.parametrize(("toolkit", "example"), [("qt", "qt_window"), ("tk", "tk_window"), ("glib", "gtk_window")])
def test_the_window_of_an_example(
    toolkit: str, example: str, tmp_path: Path, environment: Callable[[str], dict[str, str]]
) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    agent = ReferenceAgent.command("--script", str(script))
    line = [sys.executable, "-m", "tests.ui.toolkits.look", toolkit, str(ROOT / "docs" / "examples" / f"{example}.py")]
    surroundings = environment(toolkit)
    ran = subprocess.run(
        [*line, *agent], cwd=ROOT, env=surroundings, capture_output=True, text=True, timeout=50, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    assert "toasts: Reference Agent: The disk is almost full\n" in ran.stdout, ran.stderr
    assert "2 tests failed" in ran.stdout


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("toolkit", "example"), [("qt", "qt_window"), ("tk", "tk_window"), ("glib", "gtk_window")])
def test_ctrl_c_ends_an_example_in_good_order(
    toolkit: str, example: str, environment: Callable[[str], dict[str, str]]
) -> None:
    line = [sys.executable, "-m", "tests.ui.toolkits.look", "--leave-open", toolkit]
    with subprocess.Popen(
        [*line, str(ROOT / "docs" / "examples" / f"{example}.py")],
        cwd=ROOT,
        env=environment(toolkit),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as showing:
        try:
            assert showing.stdout is not None
            assert showing.stdout.readline() == "toasts: Reference Agent: The disk is almost full\n"
            assert "2 tests failed" in showing.stdout.readline()
            showing.send_signal(signal.SIGINT)
            _, errors = showing.communicate(timeout=50)
        finally:
            showing.kill()
    assert showing.returncode == 0, errors
    assert "Traceback" not in errors
