"""The state of a session beside its transcript."""

from __future__ import annotations

import pytest

from acp_host.state import events
from acp_host.state.option_entries import OptionSource
from acp_host.state.snapshot import ContextUsage, Health, Modes, Plan, QueuedTurn, SessionInfo, TurnState
from acp_host.wire.commands import AvailableCommand
from acp_host.wire.config_options import (
    SessionConfigBoolean,
    SessionConfigSelect,
    SessionMode,
    SessionModeState,
    UnknownConfigOption,
)
from acp_host.wire.elicitation import ElicitationFormMode, ElicitationSchema
from acp_host.wire.plans import PlanEntry, PlanFile, PlanItems, PlanMarkdown, UnknownPlan
from acp_host.wire.subagents import IdleStateUpdate, RunningStateUpdate, SubagentUpdate
from acp_host.wire.usage import Cost, Usage
from tests.state.session_events import LIVE, REPLAY, Folding, asks, call, end, image, said, start, text, update, user


def plan(words: str, plan_id: str = "p") -> PlanItems:
    return PlanItems(plan_id, (PlanEntry(words, "high", "pending"),))


def test_which_subagents_there_are_is_told_without_a_snapshot():
    folding = Folding(events.SubagentReported(SubagentUpdate("child", title="Look")))
    assert folding.state.subagents["child"].title == "Look"
    assert folding.state._snapshot is None
    assert folding.snapshot.subagents is folding.state.subagents


class TestPlans:
    def test_the_one_plan_is_replaced_whole(self):
        folding = Folding(events.PlanReplaced(None, plan("a", "")), events.PlanReplaced(None, plan("b", "")))
        assert folding.snapshot.plans == (Plan(plan_id=None, content=plan("b", "")),)

    def test_plans_are_told_apart_by_id_and_stand_in_the_order_in_which_they_appeared(self):
        folding = Folding(
            events.PlanReplaced("p1", plan("a", "p1")),
            events.PlanReplaced(None, plan("one", "")),
            events.PlanReplaced("p2", PlanMarkdown("p2", "# b")),
            events.PlanReplaced("p1", PlanFile("p1", "file:///plan.md")),
        )
        assert [(plan.plan_id, type(plan.content)) for plan in folding.snapshot.plans] == [
            ("p1", PlanFile),
            (None, PlanItems),
            ("p2", PlanMarkdown),
        ]

    def test_a_removed_plan_is_gone_and_what_is_not_there_cannot_be_removed(self):
        folding = Folding(events.PlanReplaced("p1", plan("a")), events.PlanReplaced("p2", plan("b")))
        folding.fold(events.PlanRemoved("p1"), events.PlanRemoved("p3"))
        assert [plan.plan_id for plan in folding.snapshot.plans] == ["p2"]

    def test_a_plan_of_an_unknown_kind_is_kept(self):
        content = UnknownPlan("gantt", {"type": "gantt", "planId": "g"})
        assert Folding(events.PlanReplaced("g", content)).snapshot.plans[0].content is content

    def test_a_plan_that_did_not_change_is_the_same_object(self):
        folding = Folding(events.PlanReplaced("p1", plan("a")), events.PlanReplaced("p2", plan("b")))
        before = folding.snapshot.plans
        assert folding.fold(said("x")).snapshot.plans is before
        after = folding.fold(events.PlanReplaced("p2", plan("c"))).snapshot.plans
        assert after[0] is before[0]
        assert after[1] is not before[1]


MODES = SessionModeState("ask", (SessionMode("ask", "Ask"), SessionMode("code", "Code")))
OPTION = SessionConfigBoolean("fast", "Fast", False)


def taken(config_id: str, value: str | bool) -> events.OptionSetTaken:
    return events.OptionSetTaken(events.OptionSetSent(1, OptionSource.CONFIG_OPTION, value, config_id))


class TestSettings:
    def test_what_the_agent_answers_when_it_opens_the_session(self):
        folding = Folding(events.SessionOpened(MODES, (OPTION,)))
        assert folding.snapshot.modes == Modes(current="ask", available=MODES.available_modes)
        assert folding.snapshot.config_options == (OPTION,)

    def test_an_agent_without_modes_and_options_changes_nothing(self):
        folding = Folding(events.SessionOpened(MODES, (OPTION,)), events.SessionOpened())
        assert folding.snapshot.modes.current == "ask"
        assert folding.snapshot.config_options == (OPTION,)
        assert folding.fold(events.SessionOpened(None, ())).snapshot.config_options == ()

    def test_another_mode_is_on_even_one_that_is_not_on_the_list(self):
        folding = Folding(events.SessionOpened(MODES), events.ModeChanged("code"))
        assert folding.snapshot.modes == Modes(current="code", available=MODES.available_modes)
        assert folding.fold(events.ModeChanged("https://modes/plan")).snapshot.modes.current == "https://modes/plan"
        assert Folding(events.ModeChanged("x")).snapshot.modes == Modes(current="x")

    def test_options_are_replaced_whole_and_unknown_ones_kept(self):
        unknown = UnknownConfigOption("slider", {"type": "slider", "id": "s"})
        folding = Folding(events.ConfigOptionsReplaced((OPTION,)), events.ConfigOptionsReplaced((unknown,)))
        assert folding.snapshot.config_options == (unknown,)

    def test_one_that_was_set_has_its_value_and_the_others_stay(self):
        model = SessionConfigSelect("model", "Model", "a", ())
        unknown = UnknownConfigOption("slider", {"type": "slider", "id": "s"})
        folding = Folding(events.ConfigOptionsReplaced((OPTION, model, unknown)))
        folding.fold(taken("fast", True), taken("model", "b"))
        assert [option.current_value for option in folding.snapshot.config_options[:2]] == [True, "b"]
        before = folding.snapshot
        for config_id, value in [("fast", "x"), ("model", True), ("s", "x"), ("none", "x"), ("model", "b")]:
            folding.fold(taken(config_id, value))
        assert folding.snapshot.config_options is before.config_options

    def test_commands_are_known_whenever_they_come(self):
        first, second = AvailableCommand("a", ""), AvailableCommand("b", "")
        folding = Folding(start(), end(), events.CommandsReplaced((first, second)))
        assert folding.snapshot.commands == (first, second)
        assert folding.fold(events.CommandsReplaced((second,))).snapshot.commands == (second,)
        assert folding.fold(events.CommandsReplaced(())).snapshot.commands == ()


class TestInfo:
    @pytest.mark.parametrize(
        ("prompt", "title"),
        [
            (("Fix the test",), "Fix the test"),
            (("  Fix the test \r\nplease",), "Fix the test"),
            (("\n \n", "Second"), "Second"),
            ((image(), "Look"), "Look"),
            (("x" * 60,), "x" * 60),
            (("x" * 61,), "x" * 59 + "…"),
        ],
    )
    def test_until_the_agent_gives_a_title_it_is_the_beginning_of_the_first_prompt(self, prompt, title):
        assert Folding(start(1, *prompt)).snapshot.info == SessionInfo(title=title, provisional=True)

    def test_a_prompt_without_words_gives_none(self):
        folding = Folding(start(1, image()))
        assert folding.snapshot.info == SessionInfo()
        assert folding.fold(end(1), start(2, "Words")).snapshot.info.title == "Words"

    def test_a_later_prompt_does_not_change_it(self):
        assert Folding(start(1, "One"), end(1), start(2, "Two")).snapshot.info.title == "One"

    def test_the_agents_title_replaces_it_for_good(self):
        folding = Folding(start(1, "One"), events.SessionInfoChanged(title="Real"), end(1), start(2, "Two"))
        assert folding.snapshot.info == SessionInfo(title="Real", provisional=False)

    def test_null_clears_and_absent_leaves(self):
        folding = Folding(events.SessionInfoChanged("Real", "2026-01-01", {"a": 1}))
        folding.fold(events.SessionInfoChanged())
        assert folding.snapshot.info == SessionInfo(title="Real", updated_at="2026-01-01", meta={"a": 1})
        folding.fold(events.SessionInfoChanged(None, None, None))
        assert folding.snapshot.info == SessionInfo()

    def test_saying_nothing_is_no_change(self):
        folding = Folding()
        folding.fold(events.SessionInfoChanged())
        folding.flush()
        assert folding.state.version == 0

    def test_a_loaded_session_is_called_by_the_first_prompt_of_its_history(self):
        folding = Folding(REPLAY, said("Welcome"), user("Fix "), user("it\nnow"), said("Ok"), user("Next"), LIVE)
        assert folding.snapshot.info == SessionInfo(title="Fix it", provisional=True)
        assert Folding(REPLAY, user("Fix it"), start(1, "Next")).snapshot.info.title == "Fix it"
        assert Folding(REPLAY, events.SessionInfoChanged("Real"), user("x"), LIVE).snapshot.info.title == "Real"
        assert Folding(REPLAY, LIVE).snapshot.info.title is None


USAGE = Usage(total_tokens=30, input_tokens=20, output_tokens=10)


class TestUsage:
    def test_absent_cost_leaves_it_and_null_clears(self):
        folding = Folding(events.UsageReported(10, 100, Cost(0.5, "EUR")), events.UsageReported(20, 100))
        assert folding.snapshot.usage == ContextUsage(used=20, size=100, cost=Cost(0.5, "EUR"))
        assert folding.fold(events.UsageReported(20, 100, None)).snapshot.usage.cost is None

    def test_the_tokens_of_a_turn_stay_until_another_turn_tells_some(self):
        folding = Folding(start(1), events.TurnEnded(1, "completed", "end_turn", "", USAGE), events.UsageReported(1, 2))
        folding.fold(start(2), end(2))
        assert folding.snapshot.usage == ContextUsage(used=1, size=2, last_turn=USAGE)


class TestSubagents:
    def test_what_an_update_does_not_mention_stays_and_null_clears(self):
        folding = Folding(
            events.SubagentReported(SubagentUpdate("child", title="Tests", cwd="/a", state=RunningStateUpdate())),
            events.SubagentReported(SubagentUpdate("other")),
            events.SubagentReported(SubagentUpdate("child", title=None, state=IdleStateUpdate(), meta={"a": 1})),
            events.SubagentReported(SubagentUpdate("child", extra={"depth": 2})),
        )
        assert folding.snapshot.subagents == {
            "child": SubagentUpdate(
                "child", title=None, cwd="/a", state=IdleStateUpdate(), meta={"a": 1}, extra={"depth": 2}
            ),
            "other": SubagentUpdate("other"),
        }

    def test_earlier_snapshots_keep_theirs(self):
        folding = Folding(events.SubagentReported(SubagentUpdate("child", title="Tests")))
        before = folding.snapshot
        folding.fold(events.SubagentReported(SubagentUpdate("child", title="More")))
        assert before.subagents["child"].title == "Tests"


def form(tool_call_id: str | None = None) -> ElicitationFormMode:
    return ElicitationFormMode("Which?", ElicitationSchema(), session_id="s", tool_call_id=tool_call_id)


class TestQuestions:
    def test_one_that_is_asked_anew_and_answered_is_gone_for_observers_too(self):
        folding = Folding(start(), asks("c1", 0))
        received = []
        folding.state.changed.connect(received.append)
        folding.flush()
        folding.fold(asks("c1", 0), events.QuestionClosed(0))
        folding.flush()
        assert ("questions", 0, "removed") in [(each.section, each.key, each.kind) for each in received[-1].changes]

    def test_they_wait_in_the_order_in_which_they_were_asked(self):
        folding = Folding(
            start(), asks("c1", 0), events.QuestionAsked("e", "elicitation/create", form()), asks("c2", 1)
        )
        questions = folding.snapshot.questions
        assert [(question.request_id, question.position) for question in questions] == [(0, 1), ("e", None), (1, 2)]
        assert [question.method for question in questions] == [
            "session/request_permission",
            "elicitation/create",
            "session/request_permission",
        ]
        folding.fold(events.QuestionClosed("e"), events.QuestionClosed("nobody asked"))
        assert [question.request_id for question in folding.snapshot.questions] == [0, 1]

    def test_ids_that_look_alike_are_two(self):
        folding = Folding(asks("c1", 1), asks("c2", "1"), events.QuestionClosed(1))
        assert [question.request_id for question in folding.snapshot.questions] == ["1"]

    def test_a_form_that_belongs_to_a_call_says_where_that_stands(self):
        folding = Folding(start(), call("c1"), events.QuestionAsked(1, "elicitation/create", form("c1")))
        folding.fold(events.QuestionAsked(2, "elicitation/create", form("c9")))
        assert [question.position for question in folding.snapshot.questions] == [1, None]

    def test_the_session_waits_while_one_is_open(self):
        folding = Folding(start(), asks("c1", 0), asks("c2", 1))
        assert folding.snapshot.turn.status == "waiting"
        assert folding.fold(events.QuestionClosed(0)).snapshot.turn.status == "waiting"
        assert folding.fold(events.QuestionClosed(1)).snapshot.turn.status == "running"

    def test_a_question_between_turns_or_after_one_does_not_make_it_run(self):
        assert Folding(asks("c1")).snapshot.turn.status == "idle"
        assert Folding(start(), asks("c1"), end()).snapshot.turn.status == "idle"


class TestTurns:
    def test_a_turn_from_the_queue_to_its_end(self):
        folding = Folding(events.TurnQueued(1, (text("One"),)), events.TurnQueued(2, (text("Two"),)))
        one, two = (QueuedTurn(turn=n, prompt=(text(words),)) for n, words in ((1, "One"), (2, "Two")))
        assert folding.snapshot.turn == TurnState(queued=(one, two))
        folding.fold(start(1, "One"))
        assert folding.snapshot.turn == TurnState(status="running", activity=True, turn=1, queued=(two,))
        folding.fold(events.TurnEnded(1, "refused", "refusal", "no"))
        assert folding.snapshot.turn == TurnState(
            status="idle", turn=1, queued=(two,), outcome="refused", stop_reason="refusal", detail="no"
        )
        folding.fold(start(2, "Two"))
        assert folding.snapshot.turn == TurnState(status="running", activity=True, turn=2)

    def test_a_dropped_turn_leaves_the_queue(self):
        folding = Folding(events.TurnQueued(1, ()), events.TurnQueued(2, ()), events.TurnDropped(1))
        assert [queued.turn for queued in folding.snapshot.turn.queued] == [2]

    def test_the_end_of_an_earlier_turn_does_not_end_the_running_one(self):
        folding = Folding(start(1), start(2), end(1, "cancelled"))
        assert folding.snapshot.turn == TurnState(status="running", activity=True, turn=2)

    def test_a_turn_that_ends_without_having_begun_has_ended(self):
        folding = Folding(events.TurnQueued(1, ()), end(1, "failed", None))
        assert folding.snapshot.turn == TurnState(turn=1, outcome="failed")


def test_health():
    folding = Folding()
    assert folding.snapshot.health == Health(status="connected")
    assert folding.fold(events.HealthChanged("lost", "it died")).snapshot.health == Health(
        status="lost", detail="it died"
    )


class TestChanges:
    def observed(self, *before: events.SessionEvent) -> tuple[Folding, list]:
        folding, seen = Folding(*before), []
        folding.flush()
        folding.state.changed.connect(seen.append)
        return folding, seen

    def test_chunks_of_a_message_are_one_change_per_delivery(self):
        folding, seen = self.observed(start())
        for _ in range(2):
            folding.fold(said("a"), said("b"), said("c"))
            folding.flush()
        assert [[(change.section, change.key, change.kind) for change in changes.changes] for changes in seen] == [
            [("transcript", 1, "added")],
            [("transcript", 1, "changed")],
        ]

    def test_the_version_counts_deliveries_whether_or_not_anybody_looks(self):
        folding = Folding()
        for _ in range(3):
            folding.fold(said("a"), said("b"))
            folding.flush()
        assert folding.state.version == 3

    def test_a_snapshot_taken_between_two_chunks_has_the_first_and_the_next_one_the_second(self):
        folding = Folding(start(), said("a"))
        before = folding.snapshot
        folding.fold(said("b"))
        assert (before.transcript[1].text, folding.snapshot.transcript[1].text) == ("a", "ab")

    def test_only_what_changed_is_named(self):
        folding, seen = self.observed(start(), call("c1"), call("c2", status="completed"))
        folding.fold(update("c1", status="in_progress"), events.UsageReported(1, 2), end())
        folding.flush()
        assert {(change.section, change.key) for change in seen[0].changes} == {
            ("transcript", 1),
            ("usage", None),
            ("turn", None),
        }

    def test_what_came_and_went_unseen_is_no_change_and_what_was_seen_is(self):
        folding, seen = self.observed(start())
        folding.fold(events.PlanReplaced("p", plan("a")), events.PlanRemoved("p"))
        folding.flush()
        assert seen == []
        folding.fold(events.PlanReplaced("p", plan("a")))
        assert folding.snapshot.plans
        folding.fold(events.PlanRemoved("p"))
        folding.flush()
        assert [(change.key, change.kind) for change in seen[0].changes] == [("p", "removed")]
        assert seen[0].snapshot.plans == ()

    def test_a_selector_hears_of_its_own_value_only(self):
        folding, seen = Folding(start()), []
        folding.state.select(lambda snapshot: snapshot.transcript, seen.append)
        folding.fold(events.UsageReported(1, 2))
        folding.flush()
        assert seen == []
        folding.fold(said("a"))
        folding.flush()
        assert [len(transcript) for transcript in seen] == [2]


def test_helpers_of_a_snapshot():
    snapshot = Folding(start(), call("c1"), said("a"), call("c2")).snapshot
    assert [entry.key for entry in snapshot.tool_calls] == ["c1", "c2"]
    assert snapshot.entry(2).text == "a"
    assert snapshot.entry(9) is None
