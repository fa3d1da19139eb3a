"""The progress bar: at a terminal only, and only where rich is."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from acp_host import InvalidInput, fleet
from acp_host.fleet import Job
from acp_host.fleet.progress import in_words
from tests.fleet.surroundings import command, repository


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def jobs(tmp_path: Path) -> list[Job]:
    repo = str(repository(tmp_path / "project"))
    return [Job("say x\ncost 0.5", repo), Job("die", repo)]


async def test_it_is_shown_at_a_terminal(jobs: list[Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen, out = Terminal(), Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr("sys.stdout", out)
    async with fleet.run(jobs, agent=command(), progress=True, copies_in=tmp_path / "copies") as running:
        async for result in running:
            print(result.job.id)
    assert "2/2" in screen.getvalue()
    assert "1 completed, 1 unknown, 0.5 USD" in screen.getvalue()
    assert sorted(out.getvalue().split()) == ["001-project", "002-project"], "what others print is theirs"


async def test_nothing_is_shown_elsewhere(
    jobs: list[Job], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await fleet.run(jobs, agent=command(), progress=True, copies_in=tmp_path / "copies")
    assert capsys.readouterr() == ("", "")
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    await fleet.run(jobs, agent=command(), copies_in=tmp_path / "copies")
    monkeypatch.setitem(sys.modules, "rich.console", None)
    await fleet.run(jobs, agent=command(), progress=None, copies_in=tmp_path / "copies")
    assert screen.getvalue() == ""
    with pytest.raises(InvalidInput, match="needs rich"):
        fleet.run(jobs, agent=command(), progress=True)


async def test_a_currency_cannot_steer_a_terminal_nor_end_the_fleet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    jobs = [Job("cost 0.5 [/x]\x1b]0;title\x07", str(repository(tmp_path / "project")))]
    report = await fleet.run(jobs, agent=command(), progress=True, copies_in=tmp_path / "copies")
    assert report.results[0].spent.cost == {"[/x]\x1b]0;title\x07": 0.5}
    assert "0.5 [/x]" in screen.getvalue()
    assert "\x1b]" not in screen.getvalue()
    assert "\x1b" not in in_words(report.summary)
