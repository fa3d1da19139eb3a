"""Hypothesis strategies for session events. Ids come from small sets, so that events meet."""

from __future__ import annotations

from hypothesis import strategies as st

from acp_host.state import events
from acp_host.state.entries import Speaker
from acp_host.state.option_entries import OptionSource
from acp_host.state.text import SEGMENT
from acp_host.wire._model import UNSET
from acp_host.wire.commands import AvailableCommand
from acp_host.wire.config_options import SessionConfigBoolean, SessionMode, SessionModeState
from acp_host.wire.content import Annotations, ImageContent, ResourceLink, TextContent, UnknownContent
from acp_host.wire.elicitation import ElicitationFormMode, ElicitationSchema
from acp_host.wire.permission import PermissionOption, RequestPermissionRequest
from acp_host.wire.plans import PlanEntry, PlanItems, PlanMarkdown, UnknownPlan
from acp_host.wire.session_models import SessionModel, SessionModelState
from acp_host.wire.subagents import IdleStateUpdate, SubagentUpdate
from acp_host.wire.tool_calls import Content, Diff, Terminal, ToolCall, ToolCallLocation, ToolCallUpdate
from acp_host.wire.usage import Cost, Usage
from acp_host.wire.v2.diffs import Diff as PatchedFiles
from acp_host.wire.v2.diffs import DiffPatch, FileAdded, FileMoved
from acp_host.wire.v2.state_update import BackgroundTerminal

TURNS = st.integers(1, 3)
WORDS = st.sampled_from(["", "a", "Hi", " there", "Hi there", "\n", "😀", "\ud83d", "\ude00", "x" * (SEGMENT - 1)])
IDS = st.sampled_from(["i", "j", "a/b~c"])
JSON = st.sampled_from([None, 0, 1, True, 1.0, "s", [], {"a": [1, {"b": None}]}])
META = st.sampled_from([UNSET, None, {}, {"vendor": {"a": 1}}])

BLOCKS = st.one_of(
    WORDS.map(TextContent),
    st.just(TextContent("marked", annotations=Annotations(priority=1))),
    st.just(ImageContent("QUJD", "image/png")),
    st.just(ResourceLink("r", "file:///r")),
    st.just(UnknownContent("hologram", {"type": "hologram", "depth": 3})),
)
PROMPTS = st.lists(BLOCKS, min_size=1, max_size=2).map(tuple)


def _maybe(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.one_of(st.just(UNSET), values)


def _said(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.one_of(st.just(UNSET), st.none(), values)


STATUSES = st.sampled_from(["pending", "in_progress", "completed", "failed", "_odd"])
CALL_CONTENT = st.lists(
    st.sampled_from([Content(TextContent("out")), Diff("/a", "new", "old"), Terminal("t")]), max_size=2
).map(tuple)
_call = {
    "status": STATUSES,
    "kind": st.sampled_from(["read", "edit"]),
    "content": CALL_CONTENT,
    "locations": st.sampled_from([(), (ToolCallLocation("/a", 1),)]),
}
CALLS = st.builds(
    ToolCall,
    IDS,
    st.sampled_from(["Read", "Write"]),
    raw_input=_maybe(JSON),
    meta=META,
    **{name: _maybe(values) for name, values in _call.items()},
)
CALL_UPDATES = st.builds(
    ToolCallUpdate,
    IDS,
    title=_said(st.just("Other")),
    raw_output=_maybe(JSON),
    extra=st.sampled_from([{}, {"a": 1}, {"b": 2}]),
    **{name: _said(values) for name, values in _call.items()},
)

CHUNKS = st.one_of(
    st.builds(events.MessageChunk, st.sampled_from(list(Speaker)), BLOCKS, st.none() | IDS),
    st.builds(events.MessageChunk, st.sampled_from(list(Speaker)), BLOCKS, IDS, st.just(True)),
)
ASSISTANT_TEXT = st.builds(
    events.MessageChunk, st.just(Speaker.ASSISTANT), WORDS.map(TextContent), st.none() | st.sampled_from(["i", "j"])
)
STREAMED = st.builds(
    events.TextStreamed,
    st.sampled_from(list(Speaker)),
    # Half a character does not come in a run: what has one is read on its own.
    st.lists(WORDS.filter(lambda word: word.isprintable() or word == "\n"), min_size=1, max_size=4),
    st.none() | IDS,
)
PRODUCED = st.sampled_from(
    [
        Content(TextContent("out")),
        Terminal("t"),
        PatchedFiles((FileMoved("/a", "/b"), FileAdded("/c")), DiffPatch("git_patch", "diff --git /a /b\n")),
    ]
)
TOLD_BY_ID = st.one_of(
    st.builds(events.MessageReplaced, st.sampled_from(list(Speaker)), IDS, _said(PROMPTS)),
    st.builds(
        events.ToolCallPatched,
        IDS,
        st.fixed_dictionaries(
            {},
            optional={
                "title": st.none() | st.just("Other"),
                "status": STATUSES | st.just("cancelled"),
                "content": st.lists(PRODUCED, max_size=2).map(tuple),
                "raw_input": JSON,
                "cancellable": st.booleans(),
            },
        ),
        st.sampled_from([UNSET, None, {"vendor": None}, {"vendor": 1, "other": 2}]),
        st.sampled_from([{}, {"a": 1}]),
    ),
    st.builds(events.ToolCallContentAdded, IDS, PRODUCED),
)
AGENTS_OWN = st.one_of(
    st.builds(
        events.AgentTerminalReported,
        IDS.map("own-{}".format),
        command=_said(st.just("make")),
        output=_said(st.sampled_from([b"", b"new", "grün".encode()[:3]])),
        exited=_maybe(st.booleans()),
        exit_code=st.none() | st.just(-1),
        size=_said(st.just((80, 24))),
        cancellable=_maybe(st.booleans()),
        meta=META,
    ),
    st.builds(
        events.AgentTerminalPrinted,
        IDS.map("own-{}".format),
        st.sampled_from([b"", b"a\r\n", "ü".encode()[:1], "ü".encode()[1:], b"x" * (SEGMENT - 1)]),
    ),
    st.builds(
        events.StateReported,
        st.sampled_from(["running", "idle", "requires_action", "unknown", "_odd"]),
        st.none() | st.sampled_from([(), (BackgroundTerminal("t"),)]),
        st.sampled_from([frozenset(), frozenset({"i"})]),
    ),
)
UNKNOWN = st.builds(
    events.UnknownReported, IDS, st.just({"sessionUpdate": "x", "n": 1}), st.none() | st.just("unreadable")
)
QUESTIONS = st.sampled_from([0, 1, "1"])

NUMBERS = st.integers(1, 4)
SETS = st.one_of(
    st.builds(events.OptionSetSent, NUMBERS, st.just(OptionSource.MODE), IDS),
    st.builds(events.OptionSetSent, NUMBERS, st.just(OptionSource.MODEL), IDS),
    st.builds(
        events.OptionSetSent,
        NUMBERS,
        st.just(OptionSource.CONFIG_OPTION),
        st.sampled_from([True, False, "a"]),
        st.sampled_from(["fast", "x"]),
    ),
)
KNOWN_EVENTS = st.one_of(
    CHUNKS,
    ASSISTANT_TEXT,
    STREAMED,
    TOLD_BY_ID,
    AGENTS_OWN,
    st.builds(events.PromptInserted, TURNS, IDS),
    st.builds(events.ToolCallReported, CALLS, st.just(True)),
    st.builds(events.ToolCallReported, CALL_UPDATES, st.just(False)),
    st.builds(
        events.PlanReplaced,
        st.none() | IDS,
        st.sampled_from(
            [
                PlanItems("i", (PlanEntry("do", "high", "pending"),)),
                PlanMarkdown("i", "# do"),
                UnknownPlan("gantt", {"type": "gantt"}),
            ]
        ),
    ),
    st.builds(events.PlanRemoved, IDS),
    st.builds(events.CommandsReplaced, st.sampled_from([(), (AvailableCommand("web", "search"),)])),
    st.builds(
        events.SessionOpened,
        st.none() | st.just(SessionModeState("ask", (SessionMode("ask", "Ask"),))),
        st.none() | st.just((SessionConfigBoolean("fast", "Fast", False),)),
        st.none() | st.just(SessionModelState("a", (SessionModel("a", "A"),))),
    ),
    st.builds(events.ModeChanged, IDS),
    st.builds(events.ConfigOptionsReplaced, st.sampled_from([(), (SessionConfigBoolean("fast", "Fast", True),)])),
    SETS,
    st.builds(events.OptionSetTaken, SETS, st.sampled_from([(), (SessionConfigBoolean("fast", "Fast", True),)])),
    st.builds(events.OptionSetFailed, NUMBERS, WORDS),
    st.builds(
        events.SessionInfoChanged,
        _said(WORDS),
        _said(st.just("2026-01-01")),
        META,
        _maybe(st.booleans()),
        st.booleans(),
    ),
    st.builds(events.UsageReported, st.integers(0, 9), st.just(100), _said(st.just(Cost(0.5, "EUR")))),
    st.builds(events.CompactionReported, IDS, STATUSES, _said(PROMPTS), _said(st.just("too long"))),
    st.builds(events.CompactionSummaryAdded, IDS, BLOCKS),
    st.builds(
        events.SubagentReported,
        st.builds(SubagentUpdate, IDS, title=_said(WORDS), state=_said(st.just(IdleStateUpdate())), meta=META),
        st.booleans(),
    ),
    st.builds(events.SessionMessageReported, IDS, _said(PROMPTS), st.none() | BLOCKS, _said(IDS)),
    st.builds(events.HistoryChanged, WORDS, st.none() | st.integers(0, 3), reason=st.none() | WORDS),
    st.builds(events.TurnQueued, TURNS, PROMPTS),
    st.builds(
        lambda turn, prompt, leading: events.TurnStarted(turn, prompt, prompt, leading),
        TURNS,
        PROMPTS,
        st.lists(st.builds(events.ReminderShown, IDS, WORDS), max_size=2).map(tuple),
    ),
    st.builds(lambda turn: events.TurnStarted(turn, (), (), origin="agent"), TURNS),
    st.builds(
        events.TurnEnded,
        TURNS,
        st.sampled_from(["completed", "failed"]),
        st.none() | st.just("end_turn"),
        WORDS,
        st.none() | st.just(Usage(3, 2, 1)),
    ),
    st.builds(events.TurnDropped, TURNS),
    st.builds(events.ReminderShown, IDS, WORDS),
    st.builds(
        lambda request_id, call: events.QuestionAsked(
            request_id,
            "session/request_permission",
            RequestPermissionRequest("s", call, (PermissionOption("yes", "Yes", "allow_once"),)),
        ),
        QUESTIONS,
        CALL_UPDATES,
    ),
    st.builds(
        lambda request_id, call_id: events.QuestionAsked(
            request_id, "elicitation/create", ElicitationFormMode("?", ElicitationSchema(), "s", call_id)
        ),
        QUESTIONS,
        st.none() | IDS,
    ),
    st.builds(events.QuestionClosed, QUESTIONS),
    st.builds(
        events.TerminalReported,
        IDS,
        st.just("ls"),
        printed=WORDS,
        ended=st.booleans(),
        exit_code=st.none() | st.just(1),
        released=st.booleans(),
    ),
    st.builds(events.ReplayStarted, st.booleans()),
    st.builds(events.ReplayEnded, st.booleans()),
    st.just(events.ReplayAnswered()),
    st.just(events.SessionClosed()),
    st.builds(events.HealthChanged, st.sampled_from(["connected", "lost"]), WORDS),
    st.builds(events.ConnectionBroken, st.sampled_from(["nothing", "context"]), st.booleans(), WORDS),
)
TOLD_ASIDE = st.builds(
    events.ToldAside,
    st.one_of(
        CHUNKS,
        ASSISTANT_TEXT,
        STREAMED,
        st.builds(events.ToolCallReported, CALLS, st.just(True)),
        st.builds(events.ToolCallReported, CALL_UPDATES, st.just(False)),
        st.builds(events.CompactionReported, IDS, STATUSES, _said(PROMPTS), _said(st.just("too long"))),
    ),
    st.none() | TURNS,
    st.booleans(),
)
"""Of turns that are over, or that never were, and told again."""
EVENTS = st.one_of(KNOWN_EVENTS, TOLD_ASIDE, UNKNOWN)
BATCHES = st.lists(st.lists(EVENTS, max_size=5), max_size=8)
