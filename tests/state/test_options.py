"""What a user can set, in one form for all agents; and what becomes of a set."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.errors import InvalidInput
from acp_host.state import events
from acp_host.state.option_entries import OptionChoice, OptionSource, SessionOption
from acp_host.translate.v1 import opened
from acp_host.wire.config_options import (
    SessionConfigBoolean,
    SessionConfigSelect,
    SessionConfigSelectGroup,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
    UnknownConfigOption,
)
from acp_host.wire.session import NewSessionResponse
from acp_host.wire.session_models import SessionModel, SessionModelState
from tests.state.session_events import Folding, said


def select(
    option_id: str, current: str, *values: str, category: str | None = None, name: str = "Name"
) -> SessionConfigSelect:
    choices = tuple(SessionConfigSelectOption(value, value.upper(), None) for value in values)
    return SessionConfigSelect(option_id, name, current, choices, None, category)


FAST = SessionConfigBoolean("fast", "Fast", False)
MODEL = select("model", "a", "a", "b", "c", category="model")
MODE = select("mode", "ask", "ask", "code", category="mode")
MODES = SessionModeState("ask", (SessionMode("ask", "Ask"), SessionMode("code", "Code", "Writes files")))
MODELS = SessionModelState("m1", (SessionModel("m1", "One", None), SessionModel("m2", "Two", "bigger")))


def folded(*options: Any, modes: Any = None, models: Any = None) -> Folding:
    return Folding(events.SessionOpened(modes, options, models))


def ids(folding: Folding) -> list[str]:
    return [option.id for option in folding.snapshot.options.entries]


def option(folding: Folding, option_id: str) -> SessionOption:
    found = folding.snapshot.options.get(option_id)
    assert found is not None
    return found


class Sets:
    """Sets of one option, by number."""

    def __init__(self, folding: Folding, option_id: str, source: OptionSource = OptionSource.CONFIG_OPTION) -> None:
        self.folding, self.option_id, self.source = folding, option_id, source
        self.sent: dict[int, events.OptionSetSent] = {}

    def send(self, number: int, value: Any) -> None:
        config_id = self.option_id if self.source is OptionSource.CONFIG_OPTION else ""
        self.sent[number] = events.OptionSetSent(number, self.source, value, config_id)
        self.folding.fold(self.sent[number])

    def taken(self, number: int, *options: Any) -> None:
        self.folding.fold(events.OptionSetTaken(self.sent[number], options))

    def failed(self, number: int, reason: str = "no") -> None:
        self.folding.fold(events.OptionSetFailed(number, reason))

    @property
    def shown(self) -> tuple[Any, Any, Any]:
        shown = option(self.folding, self.option_id)
        return shown.value, shown.confirmed, shown.pending


class TestOneForm:
    def test_a_select_with_a_null_description(self) -> None:
        shown = option(folded(MODEL), "model")
        assert shown == SessionOption(
            id="model",
            name="Name",
            kind="select",
            value="a",
            confirmed="a",
            category="model",
            choices=tuple(OptionChoice(value=value, name=value.upper()) for value in "abc"),
        )

    def test_groups_are_headings_of_choices(self) -> None:
        groups = (
            SessionConfigSelectGroup("g1", "Near", (SessionConfigSelectOption("a", "A", "small"),)),
            SessionConfigSelectGroup("g2", "Far", (SessionConfigSelectOption("b", "B"),)),
        )
        choices = option(folded(SessionConfigSelect("model", "Model", "a", groups)), "model").choices
        assert [(choice.value, choice.description, choice.group) for choice in choices] == [
            ("a", "small", "Near"),
            ("b", None, "Far"),
        ]

    def test_a_switch(self) -> None:
        shown = option(folded(FAST), "fast")
        assert (shown.kind, shown.value, shown.choices) == ("boolean", False, ())

    def test_an_option_of_unknown_kind_is_shown_as_it_came(self) -> None:
        data = {"type": "slider", "id": "heat", "name": "Heat", "currentValue": 0.5, "category": "_own", "max": 1}
        shown = option(folded(UnknownConfigOption("slider", data)), "heat")
        assert (shown.name, shown.kind, shown.value, shown.category) == ("Heat", "slider", 0.5, "_own")
        assert shown.data is data

    def test_an_option_that_could_not_be_read_has_an_id_all_the_same(self) -> None:
        broken = UnknownConfigOption("select", {"type": "select", "id": 7}, "$.id is no string")
        folding = folded(FAST, broken)
        assert ids(folding) == ["fast", "#2"]
        assert option(folding, "#2").kind == "unknown"

    def test_the_first_of_two_with_the_same_id_counts(self) -> None:
        assert option(folded(FAST, SessionConfigBoolean("fast", "Again", True)), "fast").name == "Fast"

    def test_modes_and_models_of_agents_that_have_no_options(self) -> None:
        mode, model = folded(modes=MODES, models=MODELS).snapshot.options.entries
        assert (mode.id, mode.source, mode.category, mode.value) == ("mode", "mode", "mode", "ask")
        assert mode.choices[1] == OptionChoice(value="code", name="Code", description="Writes files")
        assert (model.id, model.source, model.category, model.value) == ("model", "model", "model", "m1")
        assert [choice.value for choice in model.choices] == ["m1", "m2"]

    def test_a_mode_that_was_never_announced(self) -> None:
        shown = option(Folding(events.ModeChanged("x")), "mode")
        assert (shown.value, shown.choices) == ("x", ())

    def test_found_by_what_it_is_about(self) -> None:
        snapshot = folded(FAST, MODEL, modes=MODES).snapshot.options
        assert snapshot.about("model") is snapshot.get("model")
        assert snapshot.about("thought_level") is None

    def test_models_are_read_from_what_opens_the_session(self) -> None:
        models = {"currentModelId": "m1", "availableModels": [{"modelId": "m1", "name": "One"}, {"name": "broken"}]}
        told = opened(NewSessionResponse("s", extra={"models": models}))
        assert told.models == SessionModelState("m1", (SessionModel("m1", "One"),))

    @pytest.mark.parametrize("models", [None, [], "m1", {}, {"currentModelId": 1, "availableModels": []}])
    def test_models_that_are_none_are_left_alone(self, models: Any) -> None:
        assert opened(NewSessionResponse("s", extra={"models": models})).models is None


class TestTwins:
    def test_the_same_in_an_older_form_is_hidden(self) -> None:
        assert ids(folded(MODE, MODEL, modes=MODES, models=MODELS)) == ["mode", "model"]

    def test_modes_under_another_name(self) -> None:
        effort = select("effort", "off", "off", "on", category="thought_level")
        modes = SessionModeState("off", (SessionMode("off", "Off"), SessionMode("on", "On")))
        folding = folded(effort, modes=modes)
        assert ids(folding) == ["effort"]
        folding.fold(events.ModeChanged("on"))
        assert option(folding, "effort").value == "on"

    def test_what_says_something_else_is_shown_too(self) -> None:
        assert ids(folded(FAST, MODEL, modes=MODES)) == ["fast", "model", "mode"]

    def test_two_with_the_same_choices_are_told_apart_by_what_they_are_about(self) -> None:
        other = select("style", "code", "ask", "code", category="_style")
        folding = folded(other, MODE, modes=MODES).fold(events.ModeChanged("code"))
        assert [shown.value for shown in folding.snapshot.options.entries] == ["code", "code"]
        assert option(folded(other, MODE, modes=MODES), "mode").value == "ask"

    def test_a_change_told_in_one_form_is_a_change_in_the_other(self) -> None:
        folding = folded(MODE, modes=MODES).fold(events.ModeChanged("code"))
        assert folding.snapshot.config_options[0].current_value == "code"
        folding.fold(events.ConfigOptionsReplaced((MODE,)))
        assert folding.snapshot.modes.current == "ask"

    def test_a_mode_that_is_no_choice_of_its_twin_leaves_that_alone(self) -> None:
        folding = folded(MODE, modes=MODES).fold(events.ModeChanged("https://modes/plan"))
        assert option(folding, "mode").value == "ask"
        assert folding.snapshot.modes.current == "https://modes/plan"

    @pytest.mark.parametrize(
        "switch",
        [SessionConfigBoolean("mode", "Fast", True), UnknownConfigOption("slider", {"id": "mode", "currentValue": 1})],
    )
    def test_one_that_is_no_twin_and_has_the_usual_id_hides_nothing(self, switch: Any) -> None:
        folding = folded(switch, modes=MODES)
        assert ids(folding) == ["mode", "mode-2"]
        assert option(folding, "mode").source is OptionSource.CONFIG_OPTION
        sets = Sets(folding, "mode-2", OptionSource.MODE)
        sets.send(1, "code")
        assert sets.shown == ("code", "ask", "code")
        assert option(folding, "mode").pending is None
        sets.taken(1)
        assert sets.shown == ("code", "code", None)
        assert ids(folded(switch, SessionConfigBoolean("mode-2", "?", True), modes=MODES))[2] == "mode-3"


class TestSets:
    def test_shown_at_once_and_confirmed_by_the_answer(self) -> None:
        sets = Sets(folded(MODEL), "model")
        sets.send(1, "b")
        assert sets.shown == ("b", "a", "b")
        sets.taken(1, select("model", "b", "a", "b", "c", category="model"))
        assert sets.shown == ("b", "b", None)

    @pytest.mark.parametrize("options", [(), (SessionConfigBoolean("fast", "Fast", True),)])
    def test_a_switch_turned_on_by_an_answer_that_says_something_or_nothing(self, options: Any) -> None:
        sets = Sets(folded(FAST), "fast")
        sets.send(1, True)
        assert sets.shown == (True, False, True)
        sets.taken(1, *options)
        assert sets.shown == (True, True, None)

    def test_turned_off(self) -> None:
        sets = Sets(folded(SessionConfigBoolean("fast", "Fast", True)), "fast")
        sets.send(1, False)
        assert sets.shown == (False, True, False)

    def test_settled_by_an_update_before_the_answer(self) -> None:
        sets = Sets(folded(MODEL), "model")
        sets.send(1, "b")
        sets.folding.fold(events.ConfigOptionsReplaced((select("model", "b", "a", "b"),)))
        assert sets.shown == ("b", "b", None)
        sets.folding.fold(events.ConfigOptionsReplaced((select("model", "c", "a", "b"),)))  # the agent's own doing
        sets.taken(1)
        assert sets.shown == ("c", "c", None)

    def test_an_update_that_was_on_its_way_does_not_flicker(self) -> None:
        sets = Sets(folded(MODEL), "model")
        sets.send(1, "b")
        sets.folding.fold(events.ConfigOptionsReplaced((select("model", "c", "a", "b"),)))
        assert sets.shown == ("b", "c", "b")
        sets.failed(1)
        assert sets.shown == ("c", "c", None)

    def test_an_update_behind_the_answer_counts(self) -> None:
        sets = Sets(folded(MODEL), "model")
        sets.send(1, "b")
        sets.taken(1)
        sets.folding.fold(events.ConfigOptionsReplaced((select("model", "b-2", "a", "b"),)))
        assert sets.shown == ("b-2", "b-2", None)

    def test_only_what_failed_is_reverted(self) -> None:
        folding = folded(MODEL, MODE)
        model, mode = Sets(folding, "model"), Sets(folding, "mode")
        model.send(1, "b")
        mode.send(2, "code")
        model.failed(1, "no credit")
        assert (model.shown, mode.shown) == (("a", "a", None), ("code", "ask", "code"))
        assert (option(folding, "model").error, option(folding, "mode").error) == ("no credit", None)
        mode.taken(2)
        assert mode.shown == ("code", "code", None)

    def test_an_error_is_shown_until_the_next_set(self) -> None:
        sets = Sets(folded(MODEL), "model")
        sets.send(1, "b")
        sets.failed(1)
        assert option(sets.folding, "model").error == "no"
        sets.send(2, "c")
        assert option(sets.folding, "model").error is None
        sets.failed(2)
        sets.folding.fold(events.SessionOpened())
        assert option(sets.folding, "model").error is None

    def test_of_two_under_way_the_last_wins(self) -> None:
        sets = Sets(folded(MODEL), "model")
        sets.send(1, "b")
        sets.send(2, "c")
        assert sets.shown == ("c", "a", "c")
        sets.taken(1)
        assert sets.shown == ("c", "b", "c")
        sets.taken(2)
        assert sets.shown == ("c", "c", None)

    def test_the_failure_of_one_that_nobody_wants_any_more_is_not_shown(self) -> None:
        sets = Sets(folded(MODEL), "model")
        sets.send(1, "b")
        sets.send(2, "c")
        sets.failed(1)
        assert sets.shown == ("c", "a", "c")
        assert option(sets.folding, "model").error is None

    def test_the_last_that_fails_leaves_the_one_before_it(self) -> None:
        sets = Sets(folded(MODEL), "model")
        sets.send(1, "b")
        sets.send(2, "c")
        sets.failed(2)
        assert sets.shown == ("b", "a", "b")
        sets.taken(1)
        assert sets.shown == ("b", "b", None)
        assert option(sets.folding, "model").error == "no"

    def test_answers_in_another_order_than_the_sets(self) -> None:
        sets = Sets(folded(MODEL), "model")
        sets.send(1, "b")
        sets.send(2, "c")
        sets.taken(2)
        assert sets.shown == ("c", "c", None)
        sets.taken(1)
        assert sets.shown == ("c", "c", None)

    def test_repeats_settle_no_second_set_of_the_same_value(self) -> None:
        sets = Sets(folded(MODE, modes=MODES), "mode")
        sets.send(1, "code")
        sets.send(2, "ask")
        sets.send(3, "code")
        for _ in range(2):
            sets.folding.fold(
                events.ModeChanged("code"), events.ConfigOptionsReplaced((select("mode", "code", "ask"),))
            )
        assert sets.shown == ("code", "code", "code")

    def test_an_answer_without_a_word_settles_no_other_set(self) -> None:
        sets = Sets(folded(MODEL), "model")
        sets.send(1, "b")
        sets.send(2, "b")
        sets.taken(1)
        assert sets.shown == ("b", "b", "b")
        sets.folding.fold(events.ConfigOptionsReplaced((select("model", "x", "x"),)))  # the agent's own doing
        sets.taken(2)
        assert sets.shown == ("b", "b", None)

    def test_what_setting_one_does_to_others(self) -> None:
        sets = Sets(folded(MODEL, FAST), "model")
        sets.send(1, "b")
        sets.taken(1, select("model", "b", "b"))
        assert ids(sets.folding) == ["model"]

    def test_what_came_too_late_for_its_caller_counts_all_the_same(self) -> None:
        sets = Sets(folded(MODEL), "model")
        sets.send(1, "b")
        sets.failed(1, "given up")
        sets.taken(1)
        assert sets.shown == ("b", "b", None)
        assert option(sets.folding, "model").error is None

    @pytest.mark.parametrize(("source", "values"), [(OptionSource.MODE, "code"), (OptionSource.MODEL, "m2")])
    def test_modes_and_models(self, source: OptionSource, values: str) -> None:
        sets = Sets(folded(modes=MODES, models=MODELS), source.value, source)
        before = sets.shown[1]
        sets.send(1, values)
        assert sets.shown == (values, before, values)
        sets.failed(1)
        assert sets.shown == (before, before, None)
        sets.send(2, values)
        sets.taken(2)
        assert sets.shown == (values, values, None)

    def test_the_mode_is_set_where_its_twin_is_shown(self) -> None:
        folding = folded(MODE, modes=MODES)
        sent = events.OptionSetSent(1, OptionSource.MODE, "code")
        folding.fold(sent)
        assert option(folding, "mode").pending == "code"
        folding.fold(events.OptionSetTaken(sent))
        assert option(folding, "mode").confirmed == "code"
        assert folding.snapshot.modes.current == "code"

    def test_a_set_of_what_is_not_there_changes_nothing(self) -> None:
        folding = folded(MODEL)
        before = folding.snapshot
        sent = events.OptionSetSent(1, OptionSource.CONFIG_OPTION, "x", "none")
        folding.fold(sent, events.OptionSetTaken(sent), events.OptionSetFailed(2, "no"))
        assert folding.snapshot.options is before.options


class TestSharing:
    def test_what_did_not_change_is_the_same_object(self) -> None:
        folding = folded(MODEL, FAST)
        before = folding.snapshot.options
        folding.fold(events.ConfigOptionsReplaced((select("model", "b", "a", "b", "c", category="model"), FAST)))
        after = folding.snapshot.options
        assert after.entries[1] is before.entries[1]
        assert after.entries[0].choices is before.entries[0].choices
        folding.fold(events.ConfigOptionsReplaced((select("model", "b", "a", "b", "c", category="model"), FAST)))
        assert folding.snapshot.options is after
        assert folding.fold(said("Hi")).snapshot.options is after

    def test_observers_hear_of_the_option_alone(self) -> None:
        folding = folded(MODEL, FAST)
        folding.flush()
        heard: list[Any] = []
        folding.state.changed.connect(lambda changes: heard.append([change[:2] for change in changes.changes]))
        folding.state.options.changed.connect(lambda changes: heard.append([change[:2] for change in changes.changes]))
        Sets(folding, "fast").send(1, True)
        folding.flush()
        assert sorted(heard) == [[("entries", "fast")], [("options", "fast")]]


class TestCheck:
    @pytest.mark.parametrize(
        ("option_id", "wanted", "says"),
        [
            ("model", "z", "option model cannot be 'z'; its choices are a, b, c"),
            ("model", True, "option model takes the value of one of its choices, a string, not True"),
            ("fast", "yes", "option fast is True or False, not 'yes'"),
            ("heat", 1, "option heat is of the kind slider, which this version cannot set"),
        ],
    )
    def test_wrong_values(self, option_id: str, wanted: Any, says: str) -> None:
        folding = folded(MODEL, FAST, UnknownConfigOption("slider", {"id": "heat"}))
        with pytest.raises(InvalidInput) as raised:
            option(folding, option_id).check(wanted)
        assert str(raised.value) == says

    def test_an_error_names_some_of_many(self) -> None:
        many = select("model", "v0", *(f"v{number}" for number in range(700)))
        with pytest.raises(InvalidInput, match=r"v19 and 680 more$"):
            option(folded(many), "model").check("z")

    @pytest.mark.parametrize(("option_id", "wanted"), [("model", "c"), ("fast", True), ("open", "anything")])
    def test_right_ones(self, option_id: str, wanted: Any) -> None:
        option(folded(MODEL, FAST, select("open", "x")), option_id).check(wanted)
