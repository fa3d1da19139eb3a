"""The gallery has every state that there is a word for, and each is a state that a host can be in."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import attrs
import pytest

from acp_host import InvalidInput, to_json
from acp_host.diagnostics import DiagnosticKind
from acp_host.host.outcome import OutcomeKind
from acp_host.printable import one_line
from acp_host.services.elicitation_queue import FormQuestion, PageQuestion
from acp_host.services.form_reader import read_form
from acp_host.services.forms import FieldKind
from acp_host.services.page_address import read_address
from acp_host.services.permission_requests import HostPermissionRequest
from acp_host.state.entries import BlockPart, ConnectionEntry, Entry, MessageEntry, Speaker, ToolCallEntry
from acp_host.state.harn.agent_events import AgentEvent
from acp_host.state.harn.snapshot import HarnSnapshot
from acp_host.state.injections import InjectionStatus
from acp_host.state.notice_entries import NoticeLook, NoticeState, Suppression
from acp_host.state.notice_preferences import Politeness
from acp_host.state.option_entries import OptionSource
from acp_host.state.reminder_entry import (
    Authority,
    Propagate,
    ReminderEntry,
    ReminderMode,
    ReminderOrigin,
    ReminderStatus,
    RoleHint,
    Rung,
)
from acp_host.state.snapshot import SessionSnapshot
from acp_host.testing import gallery
from acp_host.testing.gallery import HOSTILE_TEXTS, GalleryState
from acp_host.testing.gallery.__main__ import main
from acp_host.wire._model import Unknown
from acp_host.wire.compaction import CompactionStatus
from acp_host.wire.config_options import SessionConfigOption, SessionConfigOptionCategory
from acp_host.wire.content import ContentBlock, EmbeddedResource, EmbeddedResourceResource
from acp_host.wire.elicitation import CreateElicitationRequest, ElicitationFormMode, ElicitationUrlMode
from acp_host.wire.notices import NoticeSeverity
from acp_host.wire.permission import PermissionOptionKind, RequestPermissionRequest
from acp_host.wire.permission_question import PermissionQuestion
from acp_host.wire.plans import PlanEntryPriority, PlanItems, PlanUpdateContent
from acp_host.wire.prompt import StopReason
from acp_host.wire.subagents import IdleStopReason, StateUpdate
from acp_host.wire.tool_calls import Content, ToolCallContent, ToolKind
from acp_host.wire.v2.diffs import Diff as PatchedFiles
from acp_host.wire.v2.diffs import DiffChange, DiffFileType, DiffPatchFormat
from acp_host.wire.v2.plans import PlanEntryStatus
from acp_host.wire.v2.state_update import BackgroundWork, StateKind
from acp_host.wire.v2.tool_calls import ToolCallStatus

NAMES = gallery.names()


@functools.cache
def state_of(name: str) -> GalleryState:
    return gallery.get(name)


@functools.cache
def ordinary() -> tuple[GalleryState, ...]:
    """Return the states that are not hostile."""
    return tuple(state_of(name) for name in NAMES if not name.startswith("hostile/"))


def sessions() -> list[SessionSnapshot]:
    return [state.session for state in ordinary()]


def calls() -> Iterator[ToolCallEntry]:
    for session in sessions():
        yield from session.tool_calls


def produced(*, version_two: bool) -> Iterator[Any]:
    for call in calls():
        yield from (content for content in call.content if isinstance(content, PatchedFiles) is version_two)


def entries() -> Iterator[Entry]:
    for session in sessions():
        yield from session.transcript


def reminders() -> Iterator[ReminderEntry]:
    for session in sessions():
        yield from session.reminders.entries


def questions(kind: Any) -> Iterator[Any]:
    for session in sessions():
        yield from (each.request for each in session.questions if isinstance(each.request, kind))


def notices() -> Iterator[Any]:
    for session in sessions():
        yield from session.notices.toasts
        yield from session.notices.history


def with_unknown(found: set[Any], vocabulary: Any, word: str) -> None:
    """Check that every word is there, and one that is not known."""
    assert set(vocabulary) - found == set(), word
    assert found - set(vocabulary), f"no unknown {word}"


# --- every word has its state -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attribute", "vocabulary", "is_open"),
    [
        ("status", ReminderStatus, False),
        ("rung", Rung, True),
        ("mode", ReminderMode, False),
        ("propagate", Propagate, False),
        ("role_hint", RoleHint, False),
        ("authority", Authority, False),
        ("origin", ReminderOrigin, True),
    ],
)
def test_reminders(attribute: str, vocabulary: Any, is_open: bool) -> None:
    found = {getattr(entry, attribute) for entry in reminders()} - {None}
    assert set(vocabulary) - found == set()
    assert bool(found - set(vocabulary)) is is_open


@pytest.mark.parametrize("status", ReminderStatus)
def test_a_status_has_a_state_of_its_name(status: ReminderStatus) -> None:
    assert status in {entry.status for entry in state_of(f"reminders/{status}").session.reminders.entries}


def test_one_panel_has_a_reminder_of_every_status() -> None:
    panel = state_of("reminders/every_status").session.reminders
    assert set(panel.counts) == set(ReminderStatus)
    for entry in panel.entries:
        if "This one is" in entry.body and "over" not in entry.body:
            assert entry.body == f"This one is {entry.status}."


def test_every_attribute_of_a_reminder_says_something_somewhere() -> None:
    silent = {attribute.name for attribute in attrs.fields(ReminderEntry)}
    for entry in reminders():
        silent -= {name for name in silent if getattr(entry, name) not in (None, (), {}, 0, False)}
    assert silent == set()


def test_notices() -> None:
    told = list(notices())
    with_unknown({notice.severity for notice in told}, NoticeSeverity, "severity")
    assert {notice.state for notice in told} == {*NoticeState, None}
    assert {notice.presentation.look for notice in told} == set(NoticeLook)
    assert {notice.presentation.politeness for notice in told} == set(Politeness)
    assert {notice.suppressed_by for notice in told} == {*Suppression, None}
    assert any(notice.count > 1 for notice in told)
    assert {notice.presentation.duration is None for notice in told} == {True, False}
    assert len(state_of("notices/stacked").session.notices.toasts) == 5
    assert state_of("notices/displaced").session.notices.displaced


@pytest.mark.parametrize("reason", Suppression)
def test_why_there_was_no_toast(reason: Suppression) -> None:
    state = state_of(f"notices/suppressed_{reason}")
    assert reason in {notice.suppressed_by for notice in state.session.notices.history}


def test_tool_calls() -> None:
    told = list(calls())
    with_unknown({call.status for call in told} - {None}, ToolCallStatus, "status")
    with_unknown({call.kind for call in told} - {None}, ToolKind, "kind")
    assert None in {call.status for call in told} & {call.kind for call in told}
    assert {type(content) for content in produced(version_two=False)} == set(get_args(ToolCallContent))
    assert any(call.provisional for call in told)
    assert any(call.unfinished for call in told)
    assert any(call.cancellable for call in told)
    assert any(call.locations for call in told)
    for attribute in ("name", "raw_input", "raw_output", "meta", "harn"):
        assert any(getattr(call, attribute) for call in told), attribute


@pytest.mark.parametrize("status", ["pending", "in_progress", "completed", "failed"])
def test_the_status_is_the_one_in_the_name(status: str) -> None:
    [call] = state_of(f"tool_calls/status_{status}").session.tool_calls
    assert call.status == status


@pytest.mark.parametrize("kind", ToolKind)
def test_the_kind_is_the_one_in_the_name(kind: ToolKind) -> None:
    [call] = state_of(f"tool_calls/kind_{kind}").session.tool_calls
    assert call.kind == kind


def test_changes_of_files_in_version_two() -> None:
    diffs = list(produced(version_two=True))
    changes = [change for diff in diffs for change in diff.changes]
    assert {type(change) for change in changes} == set(get_args(DiffChange))
    types = {change.file_type for change in changes if not isinstance(change, Unknown)}
    with_unknown({each for each in types if isinstance(each, str)}, DiffFileType, "type of file")
    with_unknown({diff.patch.format for diff in diffs if diff.patch}, DiffPatchFormat, "format")


def test_content_in_messages_and_in_calls() -> None:
    in_messages = [
        part.block
        for entry in entries()
        if isinstance(entry, MessageEntry)
        for part in entry.parts
        if isinstance(part, BlockPart)
    ]
    in_calls = [content.content for content in produced(version_two=False) if isinstance(content, Content)]
    for blocks in (in_messages, in_calls):
        assert {type(block) for block in blocks} == set(get_args(ContentBlock))
        resources = {type(block.resource) for block in blocks if isinstance(block, EmbeddedResource)}
        assert resources == set(get_args(EmbeddedResourceResource))


def test_entries() -> None:
    told = list(entries())
    assert {type(entry) for entry in told} == set(get_args(Entry))
    assert {entry.speaker for entry in told if isinstance(entry, MessageEntry)} == set(Speaker)
    assert {entry.replayed for entry in told} == {True, False}
    assert None in {entry.turn for entry in told}
    with_unknown({entry.status for entry in told if entry.type == "compaction"}, CompactionStatus, "compaction")
    assert {entry.action for entry in told if entry.type == "history"} == {"truncated", "rolled_back", "redone"}
    assert {(e.lost, e.interrupted) for e in told if isinstance(e, ConnectionEntry)} == {
        ("nothing", False),
        ("nothing", True),
        ("context", True),
    }
    assert {entry.problem is None for entry in told if entry.type == "unknown"} == {True, False}


def test_plans() -> None:
    plans = [plan.content for session in sessions() for plan in session.plans]
    assert {type(plan) for plan in plans} == set(get_args(PlanUpdateContent))
    steps = [step for plan in plans if isinstance(plan, PlanItems) for step in plan.entries]
    with_unknown({step.priority for step in steps}, PlanEntryPriority, "priority")
    with_unknown({step.status for step in steps}, PlanEntryStatus, "status of a step")


def test_subagents() -> None:
    states = [child.state for session in sessions() for child in session.subagents.values()]
    assert {type(state) for state in states if state} == set(get_args(StateUpdate))
    reasons = {getattr(state, "stop_reason", None) for state in states}
    with_unknown({reason for reason in reasons if isinstance(reason, str)}, IdleStopReason, "reason")


def test_options() -> None:
    options = [option for session in sessions() for option in session.options.entries]
    assert {option.source for option in options} == set(OptionSource)
    kinds = {type(option) for session in sessions() for option in session.config_options}
    assert kinds == set(get_args(SessionConfigOption))
    with_unknown({option.category for option in options} - {None}, SessionConfigOptionCategory, "category")
    assert any(option.pending for option in options)
    assert any(option.error for option in options)
    assert any(choice.group for option in options for choice in option.choices)
    assert any(session.commands for session in sessions())
    assert {session.info.provisional for session in sessions() if session.info.title} == {True, False}
    assert any(session.usage.cost and session.usage.last_turn for session in sessions())


def test_turns() -> None:
    turns = [session.turn for session in sessions()]
    assert {turn.status for turn in turns} == {"idle", "running", "waiting"}
    assert any(turn.activity and turn.status == "idle" for turn in turns)
    assert set(OutcomeKind) - {turn.outcome for turn in turns} == set()
    with_unknown({turn.stop_reason for turn in turns} - {None}, StopReason, "stop reason")
    with_unknown({turn.agent_state for turn in turns} - {None}, StateKind, "state")
    assert {type(work) for turn in turns for work in turn.background or ()} == set(get_args(BackgroundWork))
    assert {turn.origin for turn in turns} == {"user", "agent"}
    assert any(len(turn.queued) > 1 for turn in turns)
    assert {session.health.status for session in sessions()} == {"connected", "reconnecting", "lost", "closed"}


def test_words_put_into_a_turn() -> None:
    told = [injection for session in sessions() for injection in session.injections.values()]
    assert {injection.status for injection in told} == set(InjectionStatus)
    assert {injection.wish for injection in told} == {"revoke", "replace", None}
    assert {injection.own for injection in told} == {True, False}


def test_terminals() -> None:
    told = [terminal for session in sessions() for terminal in session.terminals.values()]
    assert {terminal.owner for terminal in told} == {"host", "agent"}
    for attribute in ("via_shell", "truncated", "ended", "signal", "released", "cwd", "cols", "cancellable", "output"):
        assert {bool(getattr(terminal, attribute)) for terminal in told} == {True, False}, attribute
    assert {0, 1, None} <= {terminal.exit_code for terminal in told if terminal.ended}


def test_permissions() -> None:
    requests = list(questions(RequestPermissionRequest))
    options = [option for request in requests for option in request.options]
    with_unknown({option.kind for option in options}, PermissionOptionKind, "option")
    assert {type(request) for request in requests} == {
        RequestPermissionRequest,
        PermissionQuestion,
        HostPermissionRequest,
    }
    assert {request.method for request in questions(HostPermissionRequest)} == {"fs/write_text_file", "terminal/create"}
    assert any(not request.options for request in requests)
    with_unknown({request.tool_call.kind for request in requests if request.tool_call.kind}, ToolKind, "kind")
    assert any(len(session.questions) > 1 for session in sessions())


def test_forms() -> None:
    forms = [read_form(request) for request in questions(ElicitationFormMode)]
    fields = [field for form in forms for field in form.fields]
    for required in (True, False):
        kinds = {field.kind for field in fields if field.required is required}
        assert set(FieldKind) - kinds <= {FieldKind.UNKNOWN}, required
    assert FieldKind.UNKNOWN in {field.kind for field in fields}
    for limit in ("pattern", "min_length", "max_length", "minimum", "maximum", "min_items", "max_items", "default"):
        assert any(getattr(field, limit) is not None for field in fields), limit
    assert {type(request) for request in questions(get_args(CreateElicitationRequest))} == set(
        get_args(CreateElicitationRequest)
    )


def test_web_pages() -> None:
    pages = [read_address(request.url) for request in questions(ElicitationUrlMode)]
    assert {bool(page.warnings) for page in pages} == {True, False}
    assert any(page.display_host != page.host for page in pages)


def test_harn() -> None:
    told = [session.harn for session in sessions() if session.harn is not None]
    nothing = HarnSnapshot()
    for topic in attrs.fields(HarnSnapshot):
        assert any(getattr(each, topic.name) != getattr(nothing, topic.name) for each in told), topic.name
    told_of_loop = {type(event) for each in told for event in each.agent_events}
    assert set(get_args(AgentEvent)) - told_of_loop == set()
    assert {run.status for each in told for run in each.composition_runs.values()} >= {"running", "finished", "failed"}
    assert any(question.harn for session in sessions() for question in session.questions)


def test_every_part_of_a_session_says_something_somewhere() -> None:
    silent = {attribute.name for attribute in attrs.fields(SessionSnapshot)}
    nothing = state_of("messages/none").session
    for session in sessions():
        silent -= {name for name in silent if getattr(session, name) != getattr(nothing, name)}
    assert silent == {"session_id"}


# --- each is a state that a host can be in ----------------------------------------------------------------------------


def test_names() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert gallery.names("reminders") == tuple(name for name in NAMES if name.startswith("reminders/"))
    for name in NAMES:
        state = state_of(name)
        assert state.name == name
        assert name.isascii()
        assert " " not in name
        assert state.shows
        assert "\n" not in state.shows


def test_a_name_that_there_is_not() -> None:
    with pytest.raises(InvalidInput, match=r"its section plans has .*plans/several"):
        gallery.get("plans/no_such_state")
    with pytest.raises(InvalidInput, match=r"it has .*tool_calls"):
        gallery.get("nothing")
    with pytest.raises(InvalidInput, match="no section 'nothing'"):
        gallery.names("nothing")


@pytest.mark.parametrize("section", sorted({name.split("/")[0] for name in NAMES} - {"hostile"}))
def test_a_state_is_the_same_each_time(section: str) -> None:
    for state in gallery.states(section):
        assert to_json(state.session) == to_json(state_of(state.name).session)


FAULTY = {
    "messages/unreadable_update": DiagnosticKind.MALFORMED,
    "messages/unserved_request": DiagnosticKind.UNKNOWN_METHOD,
}


def test_only_the_states_that_show_faults_have_some() -> None:
    found = {state.name: [diagnostic.kind for diagnostic in state.diagnostics] for state in ordinary()}
    assert {name: kinds for name, kinds in found.items() if kinds} == {name: [kind] for name, kind in FAULTY.items()}


def test_the_json_form_of_all() -> None:
    for state in map(state_of, NAMES):
        written = json.dumps(state.to_json())
        assert json.loads(written)["session"]["format"] == 1
        assert written.isascii()


async def test_questions_wait_in_queues() -> None:
    for state in map(state_of, NAMES):
        if not state.questions:
            continue
        async with state.waiting() as waiting:
            shown = [*waiting.permissions.pending, *waiting.elicitation.pending]
            served = (RequestPermissionRequest, ElicitationFormMode, ElicitationUrlMode)
            asked = [question for question in state.questions if isinstance(question.request, served)]
            assert len(shown) == len(asked), state.name
        assert all(question.expired for question in shown)


async def test_a_question_that_waits_can_be_answered() -> None:
    async with state_of("permissions/about_diff").waiting() as waiting:
        [question] = waiting.permissions.pending
        assert question.subject is not None
        assert question.subject.named_paths == ("/work/project/dates.py",)
        question.choose("allow_once")
        assert waiting.permissions.pending == ()
    async with state_of("forms/field_text").waiting() as waiting:
        [form] = waiting.elicitation.pending
        assert isinstance(form, FormQuestion)
        form.set("it", "Ada")
        form.accept(await form.review())
    async with state_of("forms/page").waiting() as waiting:
        [page] = waiting.elicitation.pending
        assert isinstance(page, PageQuestion)
        await page.open()


# --- hostile texts ----------------------------------------------------------------------------------------------------


def test_what_the_hostile_texts_are() -> None:
    everything = "".join(HOSTILE_TEXTS.values())
    for sign in (
        "<script",
        "\x1b]52",
        "\u202e",
        "\ud83d",
        "javascript:",
        "file://",
        "[context from ",
        "data:text/html",
    ):
        assert sign in everything
    assert max(len(words) for words in HOSTILE_TEXTS.values()) > 32_768


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_a_hostile_text_comes_through_as_it_is(name: str) -> None:
    words = HOSTILE_TEXTS[name]
    said = state_of(f"hostile/{name}_said").session
    assert any(isinstance(entry, MessageEntry) and words in entry.text for entry in said.transcript)
    [call] = state_of(f"hostile/{name}_done").session.tool_calls
    assert call.title == words
    permission = next(
        each for each in state_of(f"hostile/{name}_asked").session.questions if "permission" in each.method
    )
    assert permission.request.options[0].name == words
    offered = state_of(f"hostile/{name}_offered").session.options.entries
    assert words in {option.name for option in offered}


def shown_names(state: GalleryState) -> Iterator[str]:
    yield state.agent_name
    for notice in state.session.notices.toasts:
        yield notice.agent_name


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_the_name_of_a_hostile_agent_is_safe_to_show(name: str) -> None:
    for shown in shown_names(state_of(f"hostile/{name}_told")):
        assert shown == one_line(HOSTILE_TEXTS[name], 80)
        assert len(shown) <= 80
        assert not set(shown) & set("\x1b\n\r\x07\u202e\ud83d")


def test_a_forged_marker_makes_no_words_of_the_user() -> None:
    said = state_of("hostile/forged_marker_said").session
    of_user = [entry for entry in said.transcript if isinstance(entry, MessageEntry) and entry.speaker == Speaker.USER]
    assert [entry.text for entry in of_user] == ["Say it."]


# --- as files ---------------------------------------------------------------------------------------------------------


def test_the_command_writes_files(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "acp_host.testing.gallery", str(tmp_path)]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=50, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    index = json.loads((tmp_path / "index.json").read_text())
    assert [each["name"] for each in index] == list(gallery.names())
    written = json.loads((tmp_path / "plans" / "entries.json").read_text())
    assert written == json.loads(json.dumps(state_of("plans/entries").to_json()))


@pytest.mark.parametrize("arguments", [[], ["--help"], ["one", "two"]])
def test_the_command_says_how_it_is_used(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("usage: ")
