"""What results, diffs and artifacts look like in a notebook, and what an agent cannot put into one."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from acp_host.automation.result import FileChange, RunOutcome, RunResult
from acp_host.host.outcome import Outcome, OutcomeKind, TurnResult
from acp_host.services.change_verdicts import ChangeReport
from acp_host.state.harn.artifacts import Artifact
from acp_host.state.snapshot import ContextUsage
from acp_host.testing import ReferenceAgent
from acp_host.ui.jupyter import UsageHistory
from acp_host.ui.jupyter.display import BUNDLES, enable, show_diff, show_result, show_run
from acp_host.ui.jupyter.safe_html import markdown_html, text_html
from acp_host.wire.tool_calls import Diff
from acp_host.wire.usage import Cost, Usage
from tests.ui.jupyter.widgets import Told


def result(text: str, **members: object) -> TurnResult:
    return TurnResult(
        stop_reason="end_turn", text=text, outcome=Outcome(OutcomeKind.COMPLETED, detail="end_turn"), **members
    )


def test_a_result() -> None:
    shown = show_result(
        result(
            "It **works**.",
            usage=Usage(total_tokens=1234, input_tokens=1000, output_tokens=234),
            changes=ChangeReport(problem="there were too many files"),
        )
    )
    assert shown["text/plain"] == "[completed, 1,234 tokens]\nIt **works**.\nthere were too many files"
    assert "<strong>works</strong>" in shown["text/html"]
    assert "completed, 1,234 tokens" in shown["text/html"]


def test_a_run() -> None:
    run = RunResult(
        outcome=RunOutcome(kind="incomplete", reason="budget"),
        text="So far.",
        changes=(FileChange(path="a.py", kind="modified", diff=None),),
    )
    assert show_run(run)["text/plain"] == "[incomplete: budget]\nSo far.\nmodified a.py"
    assert "<li><code>modified a.py</code></li>" in show_run(run)["text/html"]


def test_a_diff() -> None:
    shown = show_diff(Diff(path="/a.py", old_text="one\ntwo\n", new_text="one\n<b>\n"))
    assert shown["text/plain"] == "/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+<b>"
    assert re.findall(r"background[^>]*>([^<]*)<", shown["text/html"]) == ["-two", "+&lt;b&gt;"]


ELEMENTS = {"a", "blockquote", "code", "div", "li", "p", "pre", "small", "strong", "ul"}
HOSTILE = [
    "<script>pwned()</script>",
    "<img src=x onerror=pwned()>",
    "![seen](https://tracker.test/pixel.png)",
    "[click](javascript:pwned())",
    "[click](data:text/html,<script>pwned()</script>)",
    "<style>* { display: none }</style><iframe src=https://elsewhere.test></iframe>",
    "&lt;script&gt;pwned()&lt;/script&gt;",
    "<svg/onload=pwned()><math><mi//xlink:href=javascript:pwned()>",
    "`<script>` \n\n```html\n<script>pwned()</script>\n```",
    '<a href="https://good.test" style="position:fixed;inset:0" onclick=pwned()>x</a>',
    "> " * 500 + "deep",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_an_agent_says_stays_words(text: str) -> None:
    run = RunResult(
        outcome=RunOutcome(kind="failed", detail=text),
        text=text,
        changes=(FileChange(path=text, kind=text, diff=None),),
    )
    for shown in (
        show_result(result(text)),
        show_run(run),
        show_diff(Diff(path=text, old_text="", new_text=text)),
    ):
        document = shown["text/html"]
        assert set(re.findall(r"<(\w+)", document)) <= ELEMENTS
        assert not re.search(r"<[^>]*\s(on\w+|src)\s*=|<[^>]*(javascript|data):|<[^>]*position", document)


def test_a_link_says_where_it_leads() -> None:
    document = markdown_html("[the bank](https://elsewhere.test/x)")
    assert re.sub(r"<[^>]+>", "", document).strip() == "the bank (https://elsewhere.test/x)"
    assert 'rel="noopener noreferrer nofollow"' in document


def test_what_hides_or_turns_text_is_spelled_out() -> None:
    assert "\\u202e" in markdown_html("&#x202e;exe.txt")
    assert "\\x1b" in text_html("\x1b[31mred")


def test_a_text_without_end_is_cut() -> None:
    assert len(text_html("x" * 3_000_000)) < 1_100_000


def test_ipython_is_told_only_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[type, object] = {}

    class Formatter:
        def for_type(self, kind: type, show: object) -> None:
            told[kind] = show

    class Shell:
        class display_formatter:
            mimebundle_formatter = Formatter()

    enable(Shell())
    assert told == dict(BUNDLES)
    assert {TurnResult, Diff, Artifact, RunResult} <= told.keys()
    enable()  # outside of IPython there is nobody to tell


class TestUsage:
    def test_it_is_taken_down_and_drawn(self) -> None:
        widget = Told(ReferenceAgent().transport())
        history = UsageHistory(widget.session)
        for _ in range(2):
            widget.prompt("/usage").wait()
        widget.close()
        used = [point.used for point in history.points]
        assert used == sorted(set(used))
        picture = ElementTree.fromstring(history._repr_mimebundle_()["image/svg+xml"])
        assert len(picture.findall("{*}circle")) == len(used)
        assert f"{used[-1]:,} of" in repr(history)

    def test_of_an_agent_that_tells_nothing_it_says_so(self) -> None:
        widget = Told(ReferenceAgent().transport())
        history = UsageHistory(widget.session)
        assert "not told" in repr(history)
        ElementTree.fromstring(history._repr_mimebundle_()["image/svg+xml"])
        history.close()
        widget.close()

    def test_a_long_history_is_thinned_and_a_currency_is_a_word(self) -> None:
        widget = Told(ReferenceAgent().transport())
        history = UsageHistory(widget.session)
        for used in range(5_000):
            history._take(ContextUsage(used=used, size=10, cost=Cost(1.5, "<b>&\x1b")))
        assert len(history.points) <= 1_000
        assert history.points[0].used == 0
        assert history.points[-1].used == 4_999
        ElementTree.fromstring(history._repr_mimebundle_()["image/svg+xml"])
        widget.close()
