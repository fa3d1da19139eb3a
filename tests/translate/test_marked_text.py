from __future__ import annotations

from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.state.reminder_marker import MARKER
from acp_host.translate import marked_text
from acp_host.translate.marked_text import MarkedReminder, MarkedTextReader
from acp_host.wire.content import ImageContent, TextContent
from acp_host.wire.updates import UserMessageChunk


def chunk(text: str, message_id: str | None = None) -> UserMessageChunk:
    return UserMessageChunk(TextContent(text), message_id)


def read(*chunks: UserMessageChunk) -> list[MarkedReminder | str]:
    reader = MarkedTextReader()
    found = [piece for each in chunks for piece in reader.feed(each)] + reader.flush()
    assert not reader.is_holding
    return [piece if isinstance(piece, MarkedReminder) else piece.content.text for piece in found]


def test_ordinary_text_passes_as_it_is():
    reader = MarkedTextReader()
    for each in (chunk("Fix it."), chunk("\n"), chunk("see [1]"), UserMessageChunk(ImageContent("", "image/png"))):
        assert reader.feed(each) == [each]
        assert reader.feed(each)[0] is each


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["Fix it.", "[", "\n[context", "[context from nowhere]\n"]),
            st.builds(MarkedReminder, st.sampled_from(["rmd-1", "rmd-2"]), st.sampled_from(["one", "a\nb", "[x"])),
        ),
        max_size=5,
    ),
    st.integers(1, 40),
)
def test_streamed_in_any_pieces_the_same_is_found(parts, size):
    text = "".join(
        f"\n{MARKER.wrap(part.body, part.id)}\n" if isinstance(part, MarkedReminder) else part for part in parts
    )
    found = read(*(chunk(text[start : start + size]) for start in range(0, len(text), size)))
    assert [piece for piece in found if isinstance(piece, MarkedReminder)] == [
        part for part in parts if isinstance(part, MarkedReminder)
    ]
    own = "".join(piece for piece in found if isinstance(piece, str))
    assert own.split() == "".join(part for part in parts if isinstance(part, str)).split() or "".join(
        own.split()
    ) == "".join("".join(part for part in parts if isinstance(part, str)).split())


def test_what_never_ends_is_the_users_text():
    half = MARKER.wrap("body", "rmd-1")[:-5]
    assert read(chunk(half)) == [half]


def test_another_message_or_content_ends_what_is_held():
    half = MARKER.wrap("body", "rmd-1")[:-5]
    reader = MarkedTextReader()
    assert reader.feed(chunk(half, "m-1")) == []
    assert [piece.content.text for piece in reader.feed(chunk("next", "m-2"))] == [half, "next"]
    assert reader.feed(chunk(half, "m-2")) == []
    image = UserMessageChunk(ImageContent("", "image/png"), "m-2")
    assert reader.feed(image)[-1] is image
    assert not reader.is_holding


def test_what_is_held_is_not_looked_at_with_every_piece(monkeypatch: pytest.MonkeyPatch):
    marker = Mock(wraps=MARKER)
    monkeypatch.setattr(marked_text, "MARKER", marker)
    text = MARKER.wrap("[end of context rmd-2]\n" * 100, "rmd-1")
    assert read(*map(chunk, text)) == [MarkedReminder("rmd-1", "[end of context rmd-2]\n" * 100)]
    assert marker.unfinished.call_count < 20


def test_no_more_is_held_than_is_reasonable():
    endless = "[context from X, not typed by the user · rmd-1]\n" + "x" * 300_000
    reader = MarkedTextReader()
    assert [piece.content.text for piece in reader.feed(chunk(endless))] == [endless]
