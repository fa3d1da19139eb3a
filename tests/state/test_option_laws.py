"""Whatever happens in whichever order, the options show what the user wants, and in the end what the agent holds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from attrs import define
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from acp_host.state import events
from acp_host.state.clock import ManualScheduler
from acp_host.state.option_entries import OptionSource
from acp_host.state.options import OptionsView
from acp_host.wire.config_options import (
    SessionConfigBoolean,
    SessionConfigSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
)
from acp_host.wire.session_models import SessionModel, SessionModelState

USERS = ("a", "b", "c")
AGENTS = ("x", "y")
"""What the agent alone chooses. Where it chose what the user wants too, nobody could say which of them was told."""


@define
class Agent:
    """An agent that has a mode, a model and perhaps a switch, and tells of them in its own way."""

    has_options: bool
    has_twins: bool
    values: dict[str, Any]

    def config_options(self) -> tuple[Any, ...]:
        if not self.has_options:
            return ()
        choices = tuple(SessionConfigSelectOption(value, value) for value in (*USERS, *AGENTS))
        selects = [SessionConfigSelect(name, name, self.values[name], choices) for name in ("mode", "model")]
        return (*selects, SessionConfigBoolean("fast", "fast", self.values["fast"]))

    def opens(self) -> events.SessionOpened:
        modes = tuple(SessionMode(value, value) for value in (*USERS, *AGENTS))
        models = tuple(SessionModel(value, value) for value in (*USERS, *AGENTS))
        old = self.has_twins or not self.has_options
        return events.SessionOpened(
            SessionModeState(self.values["mode"], modes) if old else None,
            self.config_options() or None,
            SessionModelState(self.values["model"], models) if old else None,
        )


@define
class Message:
    """What the agent says: an event for the host, and the values that it tells thereby."""

    event: events.SessionEvent
    told: dict[str, Any]
    answers: int | None = None


class Options(RuleBasedStateMachine):
    @initialize(has_options=st.booleans(), has_twins=st.booleans())
    def start(self, has_options: bool, has_twins: bool) -> None:
        self.agent = Agent(has_options, has_twins, {"mode": "a", "model": "a", "fast": False})
        self.view = OptionsView(ManualScheduler())
        self.reducers: dict[type, Callable[[Any], None]] = self.view.reducers()
        self.to_agent: deque[events.OptionSetSent] = deque()
        self.to_host: deque[Message] = deque()
        self.open: dict[int, tuple[str, Any]] = {}
        self.known = dict(self.agent.values)
        self.wishes: dict[str, tuple[int, Any]] = {}
        self.number = 0
        self.apply(self.agent.opens())

    def apply(self, event: events.SessionEvent) -> None:
        self.reducers[type(event)](event)

    def name_of(self, sent: events.OptionSetSent) -> str:
        return sent.config_id or sent.source.value

    @rule(name=st.sampled_from(["mode", "model", "fast"]), value=st.sampled_from(USERS), old=st.booleans())
    def user_sets(self, name: str, value: Any, old: bool) -> None:
        agent = self.agent
        if name == "fast":
            if not agent.has_options:
                return
            value, old = value == "a", False
        if not agent.has_options or (old and agent.has_twins):
            source, config_id = OptionSource(name), ""
        else:
            source, config_id = OptionSource.CONFIG_OPTION, name
        self.number += 1
        sent = events.OptionSetSent(self.number, source, value, config_id)
        self.to_agent.append(sent)
        self.open[self.number] = name, value
        self.wishes[name] = self.number, value
        self.apply(sent)
        assert self.shown(name).value == value

    def tell(self, *, as_mode: bool) -> None:
        agent = self.agent
        if agent.has_options and not as_mode:
            self.to_host.append(Message(events.ConfigOptionsReplaced(agent.config_options()), dict(agent.values)))
        elif agent.has_twins or not agent.has_options:
            self.to_host.append(Message(events.ModeChanged(agent.values["mode"]), {"mode": agent.values["mode"]}))

    @precondition(lambda self: self.to_agent)
    @rule(
        takes=st.booleans(),
        before=st.lists(st.booleans(), max_size=2),
        after=st.lists(st.booleans(), max_size=2),
        says=st.booleans(),
    )
    def agent_answers(self, takes: bool, before: list[bool], after: list[bool], says: bool) -> None:
        sent = self.to_agent.popleft()
        if not takes:
            self.to_host.append(Message(events.OptionSetFailed(sent.number, "no"), {}, sent.number))
            return
        name = self.name_of(sent)
        self.agent.values[name] = sent.value
        for as_mode in before:
            self.tell(as_mode=as_mode)
        options = self.agent.config_options() if says and sent.config_id else ()
        told = dict(self.agent.values) if options else {name: sent.value}
        self.to_host.append(Message(events.OptionSetTaken(sent, options), told, sent.number))
        for as_mode in after:
            self.tell(as_mode=as_mode)

    @rule(name=st.sampled_from(["mode", "model"]), value=st.sampled_from(AGENTS), as_mode=st.booleans())
    def agent_changes(self, name: str, value: str, as_mode: bool) -> None:
        if name == "mode" or self.agent.has_options:
            self.agent.values[name] = value
            self.tell(as_mode=as_mode and name == "mode" and self.agent.has_twins)

    @precondition(lambda self: self.to_host)
    @rule()
    def host_reads(self) -> None:
        message = self.to_host.popleft()
        self.known.update(message.told)
        if message.answers is not None:
            self.open.pop(message.answers, None)
        self.apply(message.event)

    @rule(number=st.integers(1, 20))
    def caller_gives_up(self, number: int) -> None:
        if self.open.pop(number, None) is not None:
            self.apply(events.OptionSetFailed(number, "given up"))

    @rule()
    def connection_is_lost(self) -> None:
        self.to_agent.clear()
        self.to_host.clear()
        for number in tuple(self.open):
            self.apply(events.OptionSetFailed(number, "lost"))
        self.open.clear()
        self.agree()
        self.agent.values = dict(self.known)  # where they differed, nobody will ever say so

    def shown(self, name: str) -> Any:
        found = self.view.snapshot().get(name)
        assert found is not None
        return found

    def agree(self) -> None:
        for name, value in self.known.items():
            if name != "fast" or self.agent.has_options:
                shown = self.shown(name)
                assert (shown.value, shown.pending) == (value, None)

    @invariant()
    def what_the_agent_said_last_is_known(self) -> None:
        for option in self.view.snapshot().entries:
            assert option.confirmed == self.known[option.id]

    @invariant()
    def the_newest_wish_is_shown_until_the_agent_has_heard_of_it(self) -> None:
        unheard = {sent.number for sent in self.to_agent}
        for name, (number, value) in self.wishes.items():
            if number in unheard and number in self.open:
                assert self.shown(name).value == value

    def teardown(self) -> None:
        if not hasattr(self, "agent"):
            return
        while self.to_agent:
            self.agent_answers(takes=True, before=[], after=[], says=False)
        while self.to_host:
            self.host_reads()
        self.agree()
        assert self.known == self.agent.values


TestOptions = Options.TestCase
TestOptions.settings = settings(max_examples=300, stateful_step_count=40, deadline=None)
