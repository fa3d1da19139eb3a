"""Policies as data: the first rule that matches decides, mistakes never allow anything, and TOML is the same policy."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from acp_host.errors import InvalidInput
from acp_host.services.permission_options import outcome_for
from acp_host.services.permission_rules import PermissionRule, is_unknown_kind
from acp_host.services.permission_subject import PermissionSubject
from acp_host.services.permissions import PermissionPolicy, Permissions
from acp_host.wire.permission import PermissionOption, RequestPermissionRequest
from acp_host.wire.tool_calls import ToolCallLocation, ToolCallUpdate
from tests.services.permission_strategies import DECISIONS, NOW, paths, policies, rules, subjects

OPTIONS = tuple(PermissionOption(f"id-{kind}", kind, kind) for kind in DECISIONS[:4])


def subject(**fields: Any) -> PermissionSubject:
    return PermissionSubject(**{"agent": "a", "session_id": "s", "kind": "edit", "cwd": "/w", **fields})


@given(policies, subjects)
def test_the_first_rule_that_matches_decides_and_the_others_say_why_not(
    policy: PermissionPolicy, about: PermissionSubject
) -> None:
    told = policy.judge(about, NOW)
    fitting = [rule for rule in policy.rules if rule.mismatch(about, NOW) is None]
    if not is_unknown_kind(about.kind):
        assert told.rule is (fitting[0] if fitting else None)
        assert told.decision is (fitting[0].decision if fitting else policy.default)
    position = len(told.passed)
    assert tuple(rule for rule, _ in told.passed) == policy.rules[:position]
    assert all(why for _, why in told.passed)
    assert "\x1b" not in str(told)


@given(policies, subjects.filter(lambda about: about.paths), paths)
def test_one_more_path_never_turns_a_refusal_into_an_allowance(
    policy: PermissionPolicy, about: PermissionSubject, path: str
) -> None:
    before = policy.judge(about, NOW).decision
    after = policy.judge(evolve(about, paths=(*about.paths, path)), NOW).decision
    assert before.allows or not after.allows


@given(policies, subjects, st.sampled_from(["; rm -rf /", "\nrm", " $(x)", " > /etc/passwd", " | sh"]))
def test_what_a_shell_adds_to_a_command_never_turns_a_refusal_into_an_allowance(
    policy: PermissionPolicy, about: PermissionSubject, more: str
) -> None:
    about = evolve(about, command="git status")
    plain = PermissionPolicy(policy.default, rules=[r for r in policy.rules if not r.shell])
    before = plain.judge(about, NOW).decision
    after = plain.judge(evolve(about, command="git status" + more), NOW).decision
    assert before.allows or not after.allows


@given(policies, subjects)
def test_losing_its_kind_never_turns_a_refusal_into_an_allowance_unless_a_rule_says_so(
    policy: PermissionPolicy, about: PermissionSubject
) -> None:
    before = policy.judge(about, NOW)
    after = policy.judge(evolve(about, kind=None), NOW)
    said = after.rule is not None and after.rule.takes_unknown_kinds
    assert before.decision.allows or not after.decision.allows or said


@given(policies, subjects, rules(decisions=("reject_once",)))
def test_a_rejecting_rule_in_front_never_allows_more(
    policy: PermissionPolicy, about: PermissionSubject, rule: PermissionRule
) -> None:
    stricter = PermissionPolicy(policy.default, rules=(rule, *policy.rules))
    assert policy.judge(about, NOW).decision.allows or not stricter.judge(about, NOW).decision.allows


@given(policies)
def test_toml_is_the_same_policy(policy: PermissionPolicy) -> None:
    assert PermissionPolicy.from_toml(policy.to_toml()) == policy


@given(policies, st.sampled_from(["read", "edit", None]), st.lists(paths, max_size=2))
def test_explaining_and_deciding_agree(policy: PermissionPolicy, kind: str | None, named: list[str]) -> None:
    call = ToolCallUpdate("t", kind=kind, locations=tuple(map(ToolCallLocation, named)))
    request = RequestPermissionRequest("s-1", call, OPTIONS)
    about: dict[str, Any] = {"agent": "good", "cwd": "/w", "now": NOW}
    told = policy.explain(request, **about)
    assert policy.decide(request, **about) == outcome_for(told.decision, OPTIONS)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with links in ``src`` that lead out of it, to each other, in a circle, and to it."""
    root = tmp_path_factory.mktemp("tree").resolve()
    for name in ("src/a", "other/a"):
        (root / name).mkdir(parents=True)
    links = {"src/out": root / "other", "src/up": "..", "src/again": "out", "src/loop": "loop", "other/back": "../src"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    return root


_SEGMENTS = st.sampled_from(["src", "other", "a", "out", "up", "again", "loop", "back", "..", ".", "new", "SRC"])


@given(st.lists(_SEGMENTS, min_size=1, max_size=7).map("/".join), st.booleans(), st.booleans())
def test_what_is_allowed_is_where_it_may_be_and_what_is_refused_is_found(
    tree: Path, path: str, absolute: bool, in_raw_input: bool
) -> None:
    """Held against the operating system's own idea of where a path leads."""
    named = os.path.join(tree, path) if absolute else path
    where: dict[str, Any] = (
        {"raw_input": {"path": named}} if in_raw_input else {"locations": (ToolCallLocation(named),)}
    )
    request = RequestPermissionRequest("s", ToolCallUpdate("t", kind="edit", **where), OPTIONS)
    inside = Path(os.path.realpath(os.path.join(tree, path))).is_relative_to(tree / "src")
    allows = PermissionPolicy(rules=(PermissionRule(decision="allow_once", paths=("src/**",)),))
    refuses = PermissionPolicy("allow_once", rules=(PermissionRule(decision="reject_once", paths=("src/**",)),))
    assert allows.explain(request, cwd=tree, now=NOW).decision.allows is inside
    refused = not refuses.explain(request, cwd=tree, now=NOW).decision.allows
    assert refused or not inside


def test_an_unknown_kind_is_never_taken_for_a_harmless_one() -> None:
    deletes = PermissionRule(name="no deleting", decision="reject_once", kinds=("delete",))
    sources = PermissionRule(name="sources", decision="allow_once", paths=("src/**",))
    unknown = PermissionRule(name="whatever", decision="allow_once", kinds=("unknown",))
    about = subject(kind=None, paths=("/w/src/a",))
    assert PermissionPolicy("allow_once").judge(about, NOW).decision == "allow_once"
    told = PermissionPolicy("allow_once", rules=(deletes,)).judge(about, NOW)
    assert (told.decision, told.rule) == ("ask", deletes)
    assert "kind is unknown" in told.reason
    assert PermissionPolicy(rules=(deletes, sources)).judge(about, NOW).decision == "reject_once"
    assert PermissionPolicy(rules=(deletes, unknown)).judge(about, NOW).decision == "allow_once"
    assert PermissionPolicy(rules=(deletes, sources)).judge(evolve(about, kind="edit"), NOW).decision == "allow_once"


def test_the_ready_made_policies() -> None:
    read, edit = subject(kind="read"), subject()
    command = subject(kind="read", command="rm -rf /")
    assert [PermissionPolicy.read_only().judge(about, NOW).decision for about in (read, edit, command)] == [
        "allow_once",
        "reject_once",
        "reject_once",
    ]
    assert PermissionPolicy.ask().judge(edit, NOW).decision == "ask"


def test_an_explanation_is_for_people() -> None:
    policy = PermissionPolicy(
        rules=(
            PermissionRule(name="tests", decision="allow_once", paths=("tests/**",)),
            PermissionRule(decision="ask", kinds=("read",)),
            PermissionRule(name="sources", decision="allow_once", paths=("src/**",)),
        )
    )
    assert str(policy.judge(subject(paths=("/w/src/a\x1b",)), NOW)).splitlines() == [
        "allow_once: the rule 'sources' matches",
        r"  the rule 'tests' does not decide: it is not for the path /w/src/a\x1b",
        "  a rule without a name does not decide: it is not for the kind edit",
    ]


TEXT = """
default = "ask"

[[rules]]
name = "edit the sources"
decision = "allow_once"
kinds = ["edit"]
paths = ["src/**", "tests/**"]
expires = 2027-01-31T12:00:00Z

[[rules]]
decision = "reject_once"
programs = ["rm"]
"""


def test_a_policy_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(TEXT)
    edit = PermissionRule(
        name="edit the sources",
        decision="allow_once",
        kinds=("edit",),
        paths=("src/**", "tests/**"),
        expires=datetime(2027, 1, 31, 12, tzinfo=UTC),
    )
    remove = PermissionRule(decision="reject_once", programs=("rm",))
    assert PermissionPolicy.load(path) == PermissionPolicy("ask", rules=(edit, remove))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("default = 'a'\nrules [", r"p\.toml is not TOML.*line 2"),
        ("defualt = 'ask'", r"p\.toml: there is no key 'defualt'"),
        ("default = 'yes'", r"p\.toml: default: .*not 'yes'"),
        ("default = 1", r"p\.toml: default is a string, not 1"),
        ("rules = 1", r"p\.toml: rules is a list of tables"),
        ("rules = [1]", r"p\.toml, rule 1: a rule is a table"),
        ("[[rules]]\nkinds = ['edit']", r"p\.toml, rule 1: decision is missing"),
        ("[[rules]]\ndecision='ask'\n[[rules]]\nname='x'\nkind='edit'", r"rule 2 \('x'\): there is no key 'kind'"),
        ("[[rules]]\ndecision='ask'\nkinds='edit'", "rule 1: kinds is a list of strings, not 'edit'"),
        ("[[rules]]\ndecision='ask'\nkinds=['edti']", "rule 1: kinds: a kind is one of .*not 'edti'"),
        ("[[rules]]\ndecision='ask'\npaths=[1]", "rule 1: paths: .*1 is none"),
        ("[[rules]]\ndecision='sometimes'", "rule 1: decision: .*not 'sometimes'"),
        ("[[rules]]\ndecision='ask'\nexpires=2027-01-31", "rule 1: expires is a date and time"),
        ("[[rules]]\ndecision='ask'\nexpires=2027-01-31T12:00:00", "rule 1: expires: .*offset"),
        ("[[rules]]\ndecision='ask'\nshell=true", "rule 1: shell and env"),
        ("[[rules]]\ndecision='ask'\ncommands=['x']\nshell=1", "rule 1: shell is true or false"),
    ],
)
def test_a_file_that_is_no_policy_says_where(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=problem):
        PermissionPolicy.load(path)


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(b"default = '\xff'")
    with pytest.raises(InvalidInput, match="byte 11 is not UTF-8"):
        PermissionPolicy.load(path)


@pytest.mark.parametrize("given", [{"policy": "ask"}, {"policy": None}, {"ask": "user"}, {"remember": "p.toml"}])
def test_what_decides_on_a_connection_is_of_the_right_types(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=rf"Permissions\({next(iter(given))}=…\) takes "):
        Permissions(**given)


def test_rules_are_rules() -> None:
    with pytest.raises(InvalidInput, match="PermissionRule objects"):
        PermissionPolicy(rules=({"decision": "ask"},))
