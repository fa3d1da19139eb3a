"""What the page about the blocking form shows works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.snippets import read_page, snippets_of


def test_the_examples_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"folder": tmp_path}
    for snippet in snippets_of(read_page("docs/blocking.md")):
        code = compile(snippet, "an example", "exec")
        exec(code, names)
    out = capsys.readouterr().out
    assert out.startswith("Hello\n")
    assert "completed\ninject_reminder ['2 tests failed']\n" in out
