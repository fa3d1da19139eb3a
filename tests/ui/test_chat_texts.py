"""What the terminal view makes of texts: nothing that steers, nothing that can be clicked, nothing without bounds."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from acp_host.testing.gallery import HOSTILE_TEXTS
from acp_host.ui.terminal.markdown import LINES, PAGE, cut_page, safe_markdown
from acp_host.ui.terminal.text import one_line, plain, terminal_output
from tests.ui.chats import STEERS

texts = st.one_of(st.text(), st.sampled_from(sorted(HOSTILE_TEXTS.values())), st.text(alphabet="ab`~\n #-*[]()<>&;|"))


@given(texts)
@example("&#27;[31m &#x202e; &rlm; &#x9b;2J")
def test_markdown_steers_nothing_and_links_to_nothing(text: str) -> None:
    console = Console(width=60, file=None, force_terminal=True)
    for segment in console.render(safe_markdown(text[:2_000])):
        assert not STEERS.search(segment.text.replace("\n", ""))
        assert segment.style is None or segment.style.link is None


def test_links_and_images_are_told_with_their_target() -> None:
    console = Console(width=200)
    with console.capture() as said:
        console.print(safe_markdown("[bank](https://evil.example/) ![cat](https://x.example/c.png) <b>bold</b>"))
    assert "bank (https://evil.example/) [image cat: https://x.example/c.png] <b>bold</b>" in said.get()


@given(texts, texts)
def test_pages_are_bounded_and_lose_nothing(first: str, second: str) -> None:
    text = f"{first}\n\n{second}" * 50
    pages, place = [], 0
    while place < len(text):
        end, _ = cut_page(text[place:])
        assert 0 < end <= PAGE
        assert text[place : place + end].count("\n") <= LINES
        pages.append(text[place : place + end])
        place += end
    assert "".join(pages) == text


def test_a_block_of_code_goes_on_on_the_next_page() -> None:
    text = "Look:\n\n```python\n" + "x = 1\n" * 2_000
    first, opening = cut_page(text)
    assert (text[:first], opening) == ("Look:\n\n", "")
    _, opening = cut_page(text[first:])
    assert opening == "```python\n"


@given(texts)
def test_plain_text_stays_literal(text: str) -> None:
    for shown in (plain(text), one_line(text)):
        assert not STEERS.search(str(shown).replace("\n", "").replace("\t", ""))
        assert all(not span.style for span in shown.spans)


def test_output_of_commands_is_plain_text() -> None:
    output = (
        "\x1b[31mred\x1b[0m\n",
        "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07\n",
        "10%\r20%\r30%\r\nend\x1b]0;title",
    )
    assert [str(line) for line in terminal_output(output, 10)] == ["red", "link", "30%", "end"]
    assert [str(line) for line in terminal_output(("line\n",) * 9, 2)] == ["line", "line"]
