"""What becomes an entry of its own, and what continues one."""

from __future__ import annotations

import pytest

from acp_host.state import events
from acp_host.state.entries import BlockPart, MessageEntry, Speaker, ToolCallEntry
from acp_host.state.memory import MemoryPolicy
from acp_host.state.text import SEGMENT
from acp_host.wire.content import (
    Annotations,
    AudioContent,
    EmbeddedResource,
    ResourceLink,
    TextContent,
    TextResourceContents,
    UnknownContent,
)
from acp_host.wire.tool_calls import Content, Diff, Terminal, ToolCallLocation
from tests.state.session_events import (
    LIVE,
    REPLAY,
    Folding,
    asks,
    call,
    end,
    image,
    said,
    start,
    text,
    thought,
    update,
    user,
)


class TestMessages:
    def test_chunks_of_one_speaker_are_one_message(self):
        folding = Folding(start(1, "Hi"), said("Hel"), said("lo"), thought("hm"), thought("."), said("Done"))
        assert folding.texts == ["u:Hi", "a:Hello", "t:hm.", "a:Done"]

    def test_a_message_says_whose_it_is_and_where_it_belongs(self):
        assert Folding(start(3, "Hi"), said("Hello", "m1")).entries[1] == MessageEntry(
            position=1,
            speaker=Speaker.ASSISTANT,
            parts=Folding(said("Hello")).entries[0].parts,
            message_id="m1",
            turn=3,
            replayed=False,
        )

    def test_another_id_is_another_message_and_no_id_continues_the_last(self):
        assert Folding(said("a", "m1"), said("b", "m2"), said("c")).texts == ["a:a", "a:bc"]

    def test_a_message_goes_on_where_it_began_whatever_came_between(self):
        folding = Folding(
            start(), said("one ", "m1"), call(), thought("hm", "m1"), said("two", "m1"), said("new", "m2")
        )
        assert folding.texts == ["u:Hi", "a:one two", "c1", "t:hm", "a:new"]

    def test_two_messages_that_are_streamed_at_once_stay_apart(self):
        folding = Folding(start())
        for piece in "abc":
            folding.fold(said(piece, "m1"), said(piece.upper(), "m2"))
            folding.flush()
        assert folding.texts == ["u:Hi", "a:abc", "a:ABC"]

    def test_a_tool_call_divides_messages_without_an_id(self):
        assert Folding(start(), said("a"), call(), said("b")).texts == ["u:Hi", "a:a", "c1", "a:b"]

    def test_an_update_of_a_known_call_divides_nothing(self):
        folding = Folding(start(), call(), said("a"), update(status="completed"), call(), said("b"))
        assert folding.texts == ["u:Hi", "c1", "a:ab"]

    def test_an_unknown_update_divides_nothing(self):
        folding = Folding(start(), said("a"), events.UnknownReported("x", {"sessionUpdate": "x"}), said("b"))
        assert folding.texts == ["u:Hi", "a:ab", "unknown"]

    def test_an_id_means_a_message_of_its_turn(self):
        folding = Folding(start(1), said("one", "m"), end(1), start(2), said("two", "m"))
        assert folding.texts == ["u:Hi", "a:one", "u:Hi", "a:two"]

    def test_a_late_piece_still_finds_its_message_after_the_turn(self):
        folding = Folding(start(), said("one", "m"), end(), said(" more", "m"))
        assert folding.texts == ["u:Hi", "a:one more"]
        assert folding.entries[1].turn == 1

    @pytest.mark.parametrize("begins", [said(""), thought(""), user("")])
    def test_no_message_begins_with_nothing(self, begins):
        assert Folding(start(), begins, end()).texts == ["u:Hi"]
        assert Folding(start(), begins, said("a"), said(""), said("b")).texts == ["u:Hi", "a:ab"]

    def test_nothing_said_by_another_still_divides(self):
        assert Folding(said("a"), thought(""), said("b")).texts == ["a:a", "a:b"]

    def test_a_message_that_begins_with_nothing_has_its_id_later(self):
        assert Folding(said("", "m1"), said("a", "m1"), said("b", "m1")).entries[0].message_id == "m1"

    @pytest.mark.parametrize(
        "block",
        [
            image(),
            AudioContent("QUJD", "audio/wav"),
            ResourceLink("README", "file:///README"),
            EmbeddedResource(TextResourceContents("t", "file:///x")),
            UnknownContent("hologram", {"type": "hologram"}),
            TextContent("marked", annotations=Annotations(priority=1)),
            TextContent("marked", meta={"a": 1}),
            TextContent("marked", extra={"a": 1}),
        ],
        ids=lambda block: type(block).__name__,
    )
    def test_what_is_not_plain_text_is_a_part_of_its_own(self, block):
        parts = Folding(said("a"), said("b"), said(block), said("c"), said("d")).entries[0].parts
        assert [part.text for part in parts] == ["ab", getattr(block, "text", ""), "cd"]
        assert parts[1] == BlockPart(block=block)

    @pytest.mark.parametrize("nothing", [{"annotations": None}, {"meta": None}, {"meta": {}}])
    def test_text_about_which_nothing_is_said_is_plain(self, nothing):
        (part,) = Folding(said("a"), said(TextContent("b", **nothing)), said("c")).entries[0].parts
        assert part.text == "abc"

    def test_the_text_of_a_message_has_its_annotated_text_too(self):
        marked = TextContent(" and this", annotations=Annotations(priority=1))
        assert Folding(said("this"), said(marked), said(image())).entries[0].text == "this and this"

    def test_a_character_that_was_cut_is_whole_again(self):
        folding = Folding(start(), said("a\ud83d"), said("\ude00b"))
        assert folding.texts == ["u:Hi", "a:a😀b"]

    def test_a_character_is_whole_again_though_something_came_between_its_halves(self):
        folding = Folding(start(), said("a\ud83d", "m"), call(), said("\ude00b", "m"))
        assert folding.entries[1].text == "a😀b"

    def test_a_character_that_was_cut_between_segments_is_whole_again(self):
        folding = Folding(said("a" * (SEGMENT - 1) + "\ud83d"), said("\ude00b"))
        (part,) = folding.entries[0].parts
        assert part.text == "a" * (SEGMENT - 1) + "😀b"
        assert [len(segment) for segment in part.segments] == [SEGMENT - 1, 2]


class TestOutOfTurn:
    def test_what_comes_between_turns_belongs_to_none(self):
        folding = Folding(start(1), said("one"), end(1), said("later"), start(2), said("two"))
        assert folding.texts == ["u:Hi", "a:one", "a:later", "u:Hi", "a:two"]
        assert [entry.turn for entry in folding.entries] == [1, 1, None, 2, 2]

    def test_what_comes_before_the_first_turn_is_never_the_first_answer(self):
        assert Folding(said("Welcome. "), start(), said("Hello")).texts == ["a:Welcome. ", "u:Hi", "a:Hello"]

    def test_what_another_client_says_is_shown(self):
        assert Folding(user("from elsewhere"), said("ok")).texts == ["u:from elsewhere", "a:ok"]

    @pytest.mark.parametrize("between", [events.ModeChanged("plan"), events.ConfigOptionsReplaced(())])
    def test_remarks_about_one_change_after_another_are_several(self, between):
        folding = Folding(said("mode a"), between, said("mode b"))
        assert folding.texts == ["a:mode a", "a:mode b"]
        assert Folding(start(), said("mid"), between, said("dle")).texts == ["u:Hi", "a:middle"]

    def test_a_turn_that_begins_while_another_runs_ends_that_one(self):
        folding = Folding(start(1), call(), said("a"), start(2), said("b"), end(1), said("c"), end(2))
        assert folding.texts == ["u:Hi", "c1", "a:a", "u:Hi", "a:bc"]
        assert folding.entries[1].unfinished

    def test_a_turn_that_ends_twice_ends_once(self):
        folding = Folding(start(1), end(1), start(2), end(1), said("a"))
        assert [entry.turn for entry in folding.entries] == [1, 2, 2]


LINK = ResourceLink("README.md", "file:///w/README.md")


class TestEcho:
    """The user's prompt is shown once, though the agent sends it back."""

    @pytest.mark.parametrize(
        "pieces",
        [
            ["Fix the test"],
            ["Fix", " the", " test"],
            list("Fix the test"),
            ["Fix the test\n"],
            ["  Fix the\ntest"],
            ["Fix", "the", "test"],
            ["", "Fix the test", ""],
            ["Fix the "],
        ],
    )
    def test_it_is_taken_off_however_it_was_cut_or_spaced(self, pieces):
        folding = Folding(start(1, "Fix the test"), *[user(piece) for piece in pieces], said("Ok"))
        assert folding.texts == ["u:Fix the test", "a:Ok"]

    def test_it_may_come_after_the_agent_has_begun_to_speak(self):
        folding = Folding(start(1, "Hi"), said("Hel", "m"), user("Hi", "u"), said("lo", "m"))
        assert folding.texts == ["u:Hi", "a:Hello"]

    def test_it_is_taken_off_once(self):
        folding = Folding(start(1, "Hi"), user("Hi"), said("Hello"), user("Hi"))
        assert folding.texts == ["u:Hi", "a:Hello", "u:Hi"]

    def test_its_id_is_the_prompts(self):
        folding = Folding(start(1, "Fix it"), user("Fix ", "u1"))
        assert folding.entries[0].message_id is None  # so far it can still be another message
        folding.fold(user("it", "u1"))
        assert folding.entries[0].message_id == "u1"
        assert folding.texts == ["u:Fix it"]

    def test_a_block_is_known_again_by_what_it_points_to(self):
        prompt = (text("Look at"), LINK, image(), AudioContent("QUJD", "audio/wav"))
        echo = (
            text("Look at"),
            ResourceLink("README.md", "file:///w/README.md", mime_type="text/plain"),
            image(uri="file:///shot.png"),
            AudioContent("QUJD", "audio/wav", meta={"a": 1}),
        )
        assert Folding(start(1, *prompt), *[user(block) for block in echo]).texts == ["u:Look at"]
        assert Folding(start(1, *prompt), *[user(block) for block in reversed(echo)]).texts == ["u:Look at"]

    def test_an_embedded_resource_and_a_block_of_an_unknown_kind_are_known_again(self):
        prompt = (
            EmbeddedResource(TextResourceContents("t", "file:///x")),
            UnknownContent("hologram", {"type": "hologram"}),
        )
        folding = Folding(start(1, *prompt), *[user(block, "u") for block in prompt])
        assert len(folding.entries) == 1
        assert folding.entries[0].message_id == "u"

    def test_another_image_is_another_message(self):
        folding = Folding(start(1, "Hi", image("QUJD")), user(image("REVG")))
        assert [len(entry.parts) for entry in folding.entries] == [2, 1]

    def test_annotated_text_is_known_again_by_its_words(self):
        marked = TextContent("Fix it", annotations=Annotations(priority=1), meta={"a": 1})
        assert Folding(start(1, marked), user("Fix it")).texts == ["u:Fix it"]
        assert Folding(start(1, "Fix it"), user(marked)).texts == ["u:Fix it"]

    def test_a_character_cut_in_the_echo_matches(self):
        assert Folding(start(1, "😀!"), user("\ud83d"), user("\ude00!")).texts == ["u:😀!"]

    def test_blocks_may_be_joined_by_a_newline(self):
        assert Folding(start(1, "One", "Two"), user("One\n\nTwo")).texts == ["u:OneTwo"]

    def test_what_is_something_else_is_a_message(self):
        folding = Folding(start(1, "Hi"), user("Go on, ", "u9"), user("please", "u9"), said("Ok"))
        assert folding.texts == ["u:Hi", "u:Go on, please", "a:Ok"]

    @pytest.mark.parametrize("message_id", [None, "u9"])
    def test_what_only_began_like_the_prompt_is_a_whole_message(self, message_id):
        folding = Folding(start(1, "Fix the test"), user("Fix ", message_id), user("the docs", message_id), said("Ok"))
        assert folding.texts == ["u:Fix the test", "u:Fix the docs", "a:Ok"]
        assert [entry.message_id for entry in folding.entries[:2]] == [None, message_id]

    def test_after_such_a_message_the_echo_is_still_known(self):
        folding = Folding(start(1, "Fix it"), user("Fix "), user("that"), said("Hm"), user("Fix it", "u"), said("Ok"))
        assert folding.texts == ["u:Fix it", "u:Fix that", "a:HmOk"]

    def test_half_an_echo_is_not_put_before_what_comes_much_later(self):
        folding = Folding(start(1, "Fix the test"), user("Fix "), said("Ok"), user("stop"))
        assert folding.texts == ["u:Fix the test", "a:Ok", "u:stop"]

    def test_the_prompt_stays_as_the_user_typed_it_whatever_follows_its_echo(self):
        folding = Folding(start(1, "Hi"), user("Hi", "u"), user(" and more", "u"))
        assert folding.texts == ["u:Hi", "u: and more"]

    def test_after_the_turn_nothing_is_an_echo(self):
        assert Folding(start(1, "Hi"), end(1), user("Hi")).texts == ["u:Hi", "u:Hi"]

    REMINDER = TextContent("[context]\n2 tests failed\n[end]", meta={"acp_host": {"reminder": {"id": "r"}}})

    def test_reminders_before_the_prompt_are_part_of_the_echo(self):
        started = start(1, "Go on", sent=(self.REMINDER, text("Go on")))
        folding = Folding(started, user("[context]\n2 tests failed\n[end]\n"), user("Go on"))
        assert folding.texts == ["u:Go on"]
        assert Folding(started, user("[context]\n2 tests failed\n[end]\nGo on", "u")).entries[0].message_id == "u"

    def test_an_agent_may_repeat_only_what_the_user_typed(self):
        started = start(1, "Go on", sent=(self.REMINDER, text("Go on")))
        assert Folding(started, user("Go "), user("on", "u")).texts == ["u:Go on"]


def one(folding: Folding, place: int = 0) -> ToolCallEntry:
    calls = [entry for entry in folding.entries if isinstance(entry, ToolCallEntry)]
    return calls[place]


FULL = {
    "name": "read_file",
    "kind": "read",
    "status": "in_progress",
    "content": (Content(text("12 lines")),),
    "locations": (ToolCallLocation("/a", 3),),
    "raw_input": {"path": "/a"},
    "raw_output": "ok",
    "meta": {"vendor": 1},
}


class TestToolCalls:
    def test_a_call_is_as_announced(self):
        folding = Folding(start(2), call("c1", "Read a", **FULL))
        assert one(folding) == ToolCallEntry(
            position=1, key="c1", tool_call_id="c1", title="Read a", turn=2, provisional=False, **FULL
        )

    def test_what_was_not_said_is_none(self):
        entry = one(Folding(call("c1", "Read")))
        assert (entry.kind, entry.status, entry.name, entry.raw_input, entry.raw_output) == (None,) * 5
        assert (entry.content, entry.locations, dict(entry.meta), dict(entry.extra)) == ((), (), {}, {})

    def test_an_update_changes_what_it_names_and_nothing_else(self):
        folding = Folding(call("c1", "Read a", **FULL), update("c1", status="completed", title="Read b"))
        assert one(folding) == ToolCallEntry(
            position=0, key="c1", tool_call_id="c1", title="Read b", **{**FULL, "status": "completed"}
        )

    @pytest.mark.parametrize("name", ["title", *FULL])
    def test_null_says_nothing(self, name):
        folding = Folding(call("c1", "Read a", **FULL))
        before = one(folding)
        assert one(folding.fold(update("c1", **{name: None}))) == before

    @pytest.mark.parametrize("name", ["content", "locations"])
    def test_lists_are_replaced_whole_and_an_empty_one_clears(self, name):
        other = {"content": (Diff("/a", "new"), Terminal("t1")), "locations": (ToolCallLocation("/b"),)}[name]
        folding = Folding(call("c1", "Read a", **FULL), update("c1", **{name: other}))
        assert getattr(one(folding), name) == other
        assert getattr(one(folding.fold(update("c1", **{name: ()}))), name) == ()

    @pytest.mark.parametrize("more", [{}, {"content": (), "locations": ()}])
    def test_a_repeat_merges_and_never_wipes(self, more):
        folding = Folding(start(), call("c1", "Read a", **FULL), call("c1", "Read it", **more))
        assert len(folding.entries) == 2
        assert one(folding) == ToolCallEntry(position=1, key="c1", tool_call_id="c1", title="Read it", turn=1, **FULL)

    @pytest.mark.parametrize("value", [0, False, "", [], {}])
    def test_what_is_falsy_is_said_too(self, value):
        folding = Folding(call("c1", "Read a", **FULL), update("c1", raw_input=value), call("c1", "", raw_output=value))
        assert (one(folding).raw_input, one(folding).raw_output, one(folding).title) == (value, value, "")

    def test_statuses_are_kept_as_sent(self):
        folding = Folding(start(), call("c1", status="pending"))
        for status in ("completed", "in_progress", "_paused", "completed"):
            assert one(folding.fold(update("c1", status=status))).status == status

    def test_metadata_is_merged_member_by_member(self):
        folding = Folding(call("c1", meta={"tool": "a", "n": 1}), update("c1", meta={"n": 2}), update("c1", meta=None))
        assert one(folding).meta == {"tool": "a", "n": 2}

    def test_properties_that_are_not_known_are_kept(self):
        folding = Folding(call("c1", extra={"a": 1, "b": 1}), update("c1", extra={"b": 2}), update("c1"))
        assert one(folding).extra == {"a": 1, "b": 2}

    def test_an_unknown_id_makes_a_provisional_call_with_only_what_was_said(self):
        folding = Folding(start(), update("c9", status="in_progress"))
        assert one(folding) == ToolCallEntry(
            position=1, key="c9", tool_call_id="c9", status="in_progress", provisional=True, turn=1
        )

    def test_announced_late_it_is_no_longer_provisional(self):
        folding = Folding(start(), update("c9", status="in_progress"), call("c9", "Read"))
        assert one(folding) == ToolCallEntry(
            position=1, key="c9", tool_call_id="c9", title="Read", status="in_progress", turn=1
        )

    def test_calls_stand_where_they_began(self):
        folding = Folding(start(), call("c1"), said("a"), call("c2"), update("c1", status="completed"), said("b"))
        assert folding.texts == ["u:Hi", "c1", "a:a", "c2", "a:b"]


class TestUnfinished:
    @pytest.mark.parametrize("status", [None, "pending", "in_progress", "_paused"])
    def test_a_call_that_never_ended_is_unfinished_after_its_turn(self, status):
        folding = Folding(start(), call("c1"), update("c1", status=status))
        assert not one(folding).unfinished
        assert one(folding.fold(end())).unfinished
        assert one(folding).status == status

    @pytest.mark.parametrize("status", ["completed", "failed"])
    def test_a_call_that_ended_is_not(self, status):
        folding = Folding(start(), call("c1"), update("c1", status=status), end())
        assert not one(folding).unfinished
        assert one(folding).finished

    def test_a_late_end_corrects_it(self):
        folding = Folding(start(1), call("c1"), end(1), update("c1", status="in_progress"))
        assert one(folding).unfinished
        folding.fold(start(2), update("c1", status="completed"))
        assert not one(folding).unfinished
        assert not one(folding.fold(end(2))).unfinished
        assert one(folding).turn == 1

    def test_a_late_word_in_the_next_turn_does_not_finish_it(self):
        folding = Folding(start(1), call("c1"), end(1), start(2), update("c1", title="Still at it"), end(2))
        assert one(folding).unfinished
        assert one(folding).title == "Still at it"

    def test_a_call_between_turns_is_not_unfinished(self):
        assert not one(Folding(call("c1", status="in_progress"), start(), end())).unfinished

    def test_a_call_that_ended_is_the_same_object_after_its_turn(self):
        folding = Folding(start(), call("c1", status="completed"), call("c2"))
        before = folding.entries
        after = folding.fold(end()).entries
        assert [old is new for old, new in zip(before, after, strict=True)] == [True, True, False]


class TestIdsUsedAgain:
    def test_an_id_that_begins_again_in_a_later_turn_is_another_call(self):
        folding = Folding()
        for turn in (1, 2, 3):
            folding.fold(start(turn), call("c", f"Read {turn}"), update("c", status="completed"), end(turn))
        calls = [entry for entry in folding.entries if isinstance(entry, ToolCallEntry)]
        assert [(entry.key, entry.title, entry.turn) for entry in calls] == [
            ("c", "Read 1", 1),
            ("c#2", "Read 2", 2),
            ("c#3", "Read 3", 3),
        ]

    def test_also_where_the_earlier_one_never_ended(self):
        assert Folding(start(1), call("c"), end(1), start(2), call("c")).texts == ["u:Hi", "c", "u:Hi", "c#2"]

    def test_updates_mean_the_newest(self):
        folding = Folding(start(1), call("c"), end(1), start(2), call("c"), end(2), update("c", status="failed"))
        assert [one(folding, 0).status, one(folding, 1).status] == [None, "failed"]

    def test_between_turns_a_repeat_merges(self):
        folding = Folding(start(1), call("c", "Read"), end(1), call("c", "Read on", status="completed"))
        assert folding.texts == ["u:Hi", "c"]
        assert (one(folding).title, one(folding).unfinished) == ("Read on", False)

    def test_in_the_same_turn_a_repeat_merges(self):
        assert Folding(start(1), call("c", status="completed"), call("c")).texts == ["u:Hi", "c"]


class TestPermission:
    def test_asking_about_a_call_that_was_never_announced_makes_it(self):
        folding = Folding(start(), asks("c1", title="Write", kind="edit"))
        assert one(folding) == ToolCallEntry(
            position=1, key="c1", tool_call_id="c1", title="Write", kind="edit", provisional=True, turn=1
        )
        assert folding.snapshot.questions[0].position == 1

    def test_asking_about_a_known_call_updates_it(self):
        folding = Folding(start(), call("c1", "Write", **FULL), asks("c1", status="pending"))
        assert one(folding).status == "pending"
        assert one(folding).content == FULL["content"]
        assert not one(folding).provisional

    def test_what_is_announced_after_the_question_is_the_same_call(self):
        folding = Folding(start(), asks("c1", title="Write"), call("c1", "Write it"))
        assert folding.texts == ["u:Hi", "c1"]
        assert not one(folding).provisional

    @pytest.mark.parametrize("status", ["completed", "in_progress"])
    def test_asking_about_an_id_that_an_earlier_turn_is_done_with_begins_another_call(self, status):
        folding = Folding(start(1), call("c", status=status), end(1), start(2), asks("c", title="Again"), call("c"))
        assert folding.texts == ["u:Hi", "c", "u:Hi", "c#2"]
        assert folding.snapshot.questions[0].position == 3

    def test_asking_again_in_one_turn_is_about_the_same_call(self):
        folding = Folding(start(1), asks("c", request_id=0), asks("c", request_id=1))
        assert [question.position for question in folding.snapshot.questions] == [1, 1]


def summary_of(folding: Folding) -> str:
    (entry,) = [entry for entry in folding.entries if entry.type == "compaction"]
    return "".join(part.text for part in entry.summary)


class TestCompaction:
    def test_it_is_one_entry_that_changes(self):
        folding = Folding(start(), events.CompactionReported("k", "in_progress"), said("on"))
        folding.fold(
            events.CompactionReported("k", "completed", summary=(text("In short: "), text("all fine")), error=None)
        )
        assert folding.texts == ["u:Hi", "compaction", "a:on"]
        assert folding.entries[1].status == "completed"
        assert summary_of(folding) == "In short: all fine"
        assert (folding.entries[1].turn, folding.entries[1].replayed) == (1, False)

    def test_the_summary_may_come_in_pieces_and_before_anything_else(self):
        folding = Folding()
        for piece in ("In ", "sho", "rt"):
            folding.fold(events.CompactionSummaryAdded("k", text(piece)))
        assert summary_of(folding) == "In short"
        assert folding.entries[0].status == "in_progress"

    def test_a_given_summary_replaces_and_null_clears(self):
        folding = Folding(events.CompactionSummaryAdded("k", text("draft")))
        assert summary_of(folding.fold(events.CompactionReported("k", "in_progress"))) == "draft"
        assert (
            summary_of(folding.fold(events.CompactionReported("k", "in_progress", summary=(text("final"),)))) == "final"
        )
        assert summary_of(folding.fold(events.CompactionReported("k", "completed", summary=None))) == ""

    def test_an_error_stays_until_it_is_cleared(self):
        folding = Folding(
            events.CompactionReported("k", "failed", error="too long"), events.CompactionReported("k", "failed")
        )
        assert folding.entries[0].error == "too long"
        assert folding.fold(events.CompactionReported("k", "in_progress", error=None)).entries[0].error is None

    def test_it_divides_what_the_agent_says(self):
        folding = Folding(said("a"), events.CompactionReported("k", "in_progress"), said("b"))
        assert folding.texts == ["a:a", "compaction", "a:b"]


class TestSessionMessages:
    def test_a_message_whole(self):
        folding = Folding(events.SessionMessageReported("m", (text("Done"),), None, "child", "parent", "m-child", None))
        (entry,) = folding.entries
        assert (entry.message_id, entry.sender_session_id, entry.recipient_session_id) == ("m", "child", "parent")
        assert (entry.sender_message_id, entry.recipient_message_id) == ("m-child", None)
        assert [part.text for part in entry.parts] == ["Done"]

    def test_a_message_in_pieces_that_come_before_who_wrote_it(self):
        folding = Folding(
            events.SessionMessageReported("m", appended=text("Do")),
            events.SessionMessageReported("m", appended=text("ne")),
            events.SessionMessageReported("m", sender_session_id="child"),
        )
        (entry,) = folding.entries
        assert ([part.text for part in entry.parts], entry.sender_session_id) == (["Done"], "child")

    def test_content_replaces_absent_leaves_and_null_clears(self):
        folding = Folding(events.SessionMessageReported("m", (text("a"),), sender_session_id="child"))
        folding.fold(events.SessionMessageReported("m", (text("b"),)))
        assert ([part.text for part in folding.entries[0].parts], folding.entries[0].sender_session_id) == (
            ["b"],
            "child",
        )
        folding.fold(events.SessionMessageReported("m", None, sender_session_id=None))
        assert (folding.entries[0].parts, folding.entries[0].sender_session_id) == ((), None)


class TestOtherEntries:
    def test_an_unknown_update_is_kept_as_sent(self):
        data = {"sessionUpdate": "weather", "sky": "blue"}
        (entry,) = Folding(events.UnknownReported("weather", data, "no such kind")).entries
        assert (entry.tag, entry.data, entry.problem) == ("weather", data, "no such kind")
        assert entry.data is data

    def test_a_reminder_is_never_the_users_words(self):
        folding = Folding(events.ReminderShown("r1", "2 tests failed"), start(1, "Go on"))
        assert folding.texts == ["reminder", "u:Go on"]
        assert (folding.entries[0].reminder_id, folding.entries[0].body) == ("r1", "2 tests failed")

    def test_reminders_that_lead_a_prompt_belong_to_its_turn(self):
        leading = tuple([events.ReminderShown(name, name) for name in ("r1", "r2")])
        folding = Folding(start(1), end(1), said("late"), events.TurnStarted(2, (text("Go"),), (text("Go"),), leading))
        assert folding.texts == ["u:Hi", "a:late", "reminder", "reminder", "u:Go"]
        assert [entry.turn for entry in folding.entries] == [1, None, 2, 2, 2]

    def test_they_are_not_history_where_the_prompt_ends_one(self):
        leading = (events.ReminderShown("r", "r"),)
        folding = Folding(REPLAY, user("Old"), events.TurnStarted(1, (text("Go"),), (text("Go"),), leading))
        assert [(entry.turn, entry.replayed) for entry in folding.entries] == [(-1, True), (1, False), (1, False)]

    def test_they_leave_memory_with_their_turn(self):
        leading = (events.ReminderShown("r", "r"),)
        folding = Folding(start(1), end(1), memory=MemoryPolicy(keep_turns=1))
        folding.fold(events.TurnStarted(2, (text("Go"),), (text("Go"),), leading), end(2))
        assert folding.texts == ["reminder", "u:Go"]
        assert folding.fold(start(3), end(3)).texts == ["u:Hi"]


class TestReplay:
    def test_a_user_message_begins_a_turn_and_turns_count_down(self):
        folding = Folding(REPLAY, user("One"), said("1"), call(), user("Two"), said("2"), LIVE)
        assert folding.texts == ["u:One", "a:1", "c1", "u:Two", "a:2"]
        assert [entry.turn for entry in folding.entries] == [-1, -1, -1, -2, -2]
        assert all(entry.replayed for entry in folding.entries)

    def test_a_user_message_in_several_chunks_begins_one_turn(self):
        folding = Folding(REPLAY, user("One"), user(LINK), user("!"), said("1"), LIVE)
        assert [entry.turn for entry in folding.entries] == [-1, -1]

    def test_what_comes_before_the_first_user_message_belongs_to_no_turn(self):
        folding = Folding(REPLAY, said("Welcome"), user("One"), LIVE)
        assert [(entry.turn, entry.replayed) for entry in folding.entries] == [(None, True), (-1, True)]

    def test_what_comes_after_is_live_and_another_message(self):
        folding = Folding(REPLAY, user("One"), said("1"), LIVE, said("now"), start(1), said("2"))
        assert folding.texts == ["u:One", "a:1", "a:now", "u:Hi", "a:2"]
        assert [entry.replayed for entry in folding.entries] == [True, True, False, False, False]
        assert [entry.turn for entry in folding.entries] == [-1, -1, None, 1, 1]

    def test_a_prompt_ends_a_replay_that_is_still_open(self):
        folding = Folding(REPLAY, user("One"), said("1"), start(1, "Two"), said("2"))
        assert [entry.replayed for entry in folding.entries] == [True, True, False, False]
        assert not folding.state.is_replaying

    def test_calls_that_a_replayed_turn_left_open_are_unfinished(self):
        folding = Folding(
            REPLAY, user("One"), call("c1"), call("c2", status="completed"), user("Two"), call("c3"), LIVE
        )
        assert [one(folding, place).unfinished for place in range(3)] == [True, False, True]

    def test_ids_of_calls_and_messages_may_be_used_again_in_every_turn(self):
        folding = Folding(
            REPLAY, user("One", "u"), call("c"), said("1", "m"), user("Two", "v"), call("c"), said("2", "m")
        )
        folding.fold(LIVE, start(1), call("c"))
        assert folding.texts == ["u:One", "c", "a:1", "u:Two", "c#2", "a:2", "u:Hi", "c#3"]

    def test_of_a_session_that_is_shown_already_it_takes_the_place(self):
        told = (user("Hi", "u"), said("Hello", "m"), call("c", status="completed"))
        folding = Folding(start(1), said("Hello", "m"), call("c"), end(1))
        for _ in range(2):
            folding.fold(REPLAY, *told, LIVE)
            assert folding.texts == ["u:Hi", "a:Hello", "c"]
            assert all(entry.replayed for entry in folding.entries)
        assert folding.snapshot.transcript.first == 6
        assert [entry.turn for entry in folding.entries] == [-2, -2, -2]

    def test_it_takes_the_place_of_a_call_even_where_it_begins_with_one(self):
        folding = Folding(start(1), call("c", "Live"), end(1), REPLAY, call("c", "Told"), LIVE)
        assert folding.texts == ["c"]
        assert (one(folding).title, one(folding).position) == ("Told", 2)

    @pytest.mark.parametrize(
        "first",
        [events.CompactionReported("k", "completed"), events.SessionMessageReported("k", (text("b"),))],
    )
    def test_it_takes_the_place_of_other_entries_with_an_id(self, first):
        folding = Folding(first, REPLAY, first, LIVE)
        assert [entry.position for entry in folding.entries] == [1]

    def test_one_that_nobody_asked_for_takes_the_place_when_the_users_words_come(self):
        folding = Folding(start(1), call("c"), end(1), events.ReplayStarted(whole=False))
        folding.fold(update("c", status="failed"), said("Welcome back"))
        assert folding.texts == ["u:Hi", "c", "a:Welcome back"]
        assert folding.entries[1].status == "failed"
        folding.fold(user("Hi"), call("c"), said("Hello"), LIVE)
        assert folding.texts == ["a:Welcome back", "u:Hi", "c", "a:Hello"]
        assert [entry.turn for entry in folding.entries] == [None, -1, -1, -1]

    def test_one_that_nobody_asked_for_and_that_does_not_come_leaves_what_is_there(self):
        folding = Folding(start(1), end(1), events.ReplayStarted(whole=False), said("Welcome back"), LIVE, said("a"))
        assert folding.texts == ["u:Hi", "a:Welcome back", "a:a"]
        assert folding.fold(start(2), end(2)).texts == ["u:Hi", "a:Welcome back", "a:a", "u:Hi"]

    def test_reminders_before_the_users_words_led_them(self):
        shown = events.ReminderShown
        folding = Folding(REPLAY, shown("r1", "1"), user("One"), said("1"), shown("r2", "2"), shown("r3", "3"))
        folding.fold(user("Two"), shown("r4", "4"), said("2"), LIVE)
        assert folding.texts == ["reminder", "u:One", "a:1", "reminder", "reminder", "u:Two", "reminder", "a:2"]
        assert [entry.turn for entry in folding.entries] == [-1, -1, -1, -2, -2, -2, -2, -2]
        assert folding.snapshot.info.title == "One"

    def test_a_reminder_before_the_history_led_none_of_it(self):
        folding = Folding(events.ReminderShown("r", "r"), events.ReplayStarted(whole=False), call("c"), user("One"))
        folding.fold(events.ReplayAnswered())
        assert [(entry.type, entry.turn) for entry in folding.entries] == [("tool_call", None), ("message", -1)]
        folding = Folding(REPLAY, events.ReminderShown("r", "r"), LIVE, REPLAY, user("One"), LIVE)
        assert [(entry.type, entry.turn) for entry in folding.entries] == [("message", -1)]

    def test_an_empty_one_leaves_what_is_there(self):
        folding = Folding(
            start(1), call("c"), end(1), REPLAY, events.ModeChanged("x"), LIVE, update("c", status="failed")
        )
        assert folding.texts == ["u:Hi", "c"]
        assert one(folding).status == "failed"

    def test_nothing_in_it_is_an_echo(self):
        assert Folding(start(1, "Hi"), REPLAY, user("Hi"), LIVE).texts == ["u:Hi"]
        assert Folding(start(1, "Hi"), REPLAY, user("Hi"), LIVE).entries[0].replayed
