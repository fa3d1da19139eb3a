"""What a policy says about changes that nobody asked for, and what was permitted meanwhile."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from acp_host.services.change_verdicts import MAX_JUDGED, ChangeReport, Permitted, judge_changes
from acp_host.services.permission_subject import PermissionSubject
from acp_host.services.permissions import PermissionPolicy, PermissionRule
from acp_host.services.working_copy import Difference, DifferenceKind

NOW = datetime(2026, 1, 1, tzinfo=UTC)

RULES = (
    PermissionRule(name="keys", decision="reject_always", paths=("secret/", "**/.env")),
    PermissionRule(name="docs", decision="ask", paths=("docs/",)),
    PermissionRule(name="source", decision="allow_always", kinds=("edit", "delete"), paths=("src/",)),
    PermissionRule(name="sorting", decision="allow_always", kinds=("edit", "move"), paths=("sorted/",)),
)
POLICIES = {word: PermissionPolicy(word, rules=RULES) for word in ("reject_once", "ask", "allow_once")}


def subject(cwd: Path, *paths: str, kind: str | None = "edit", **fields: Any) -> PermissionSubject:
    return PermissionSubject(
        agent="agent",
        session_id="session-1",
        kind=kind,
        paths=tuple(str(cwd / path) for path in paths),
        cwd=str(cwd),
        **fields,
    )


def judged(
    cwd: Path,
    path: str,
    kind: DifferenceKind = DifferenceKind.MODIFIED,
    *,
    default: str = "reject_once",
    **permitted: Any,
) -> tuple[str, str | None]:
    """The verdict on one change, and the rule that decided."""
    report = report_on(cwd, [Difference(str(cwd / path), kind)], POLICIES[default], **permitted)
    [change] = report.changes
    assert change.reason
    assert str(change) == f"{cwd / path} ({kind}): {change.reason}"
    return str(change.verdict), change.rule


def report_on(
    cwd: Path, changes: list[Difference], policy: PermissionPolicy, permitted: Permitted | None = None, **more: Any
) -> ChangeReport:
    about: dict[str, Any] = {"agent": "agent", "session_id": "session-1", "cwd": str(cwd), "now": NOW, **more}
    return judge_changes(changes, policy, permitted or Permitted(), **about)


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


def test_what_the_policy_allows_is_allowed(cwd: Path) -> None:
    for kind in DifferenceKind:
        assert judged(cwd, "src/code", kind) == ("allowed", "source")
    assert judged(cwd, "other", default="allow_once") == ("allowed", None)


def test_a_deletion_needs_what_allows_to_delete_or_to_move(cwd: Path) -> None:
    assert judged(cwd, "sorted/file", DifferenceKind.DELETED) == ("allowed", "sorting")
    rules = (PermissionRule(decision="allow_once", kinds=("edit",), paths=("src/",)),)
    report = report_on(cwd, [Difference(f"{cwd}/src/code", DifferenceKind.DELETED)], PermissionPolicy(rules=rules))
    assert len(report.violations) == 1


def test_nothing_else_is_allowed_if_nothing_was_permitted(cwd: Path) -> None:
    assert judged(cwd, "secret/key") == ("forbidden", "keys")
    assert judged(cwd, "src/.env") == ("forbidden", "keys")
    assert judged(cwd, "src/.ENV") == ("forbidden", "keys")
    assert judged(cwd, "docs/page") == ("forbidden", "docs")
    assert judged(cwd, "other") == ("forbidden", None)
    assert judged(cwd, "other", default="ask") == ("forbidden", None)


@pytest.mark.parametrize("path", ["docs/page", "other", "secret/key"])
def test_what_was_permitted_by_its_path_is_approved(cwd: Path, path: str) -> None:
    permitted = Permitted()
    permitted.add(subject(cwd, path))
    verdict, _ = judged(cwd, path, permitted=permitted)
    assert verdict == "approved"
    assert judged(cwd, f"{path}.other", permitted=permitted)[0] == "forbidden"
    assert judged(cwd, f"{path}/below", permitted=permitted)[0] == "forbidden"


@pytest.mark.parametrize("kind", ["delete", "move"])
def test_to_delete_or_to_move_a_directory_is_about_all_below(cwd: Path, kind: str) -> None:
    permitted = Permitted()
    permitted.add(subject(cwd, "docs", ".", kind=kind))
    assert judged(cwd, "docs/deep/page", DifferenceKind.DELETED, permitted=permitted)[0] == "approved"
    assert judged(cwd, "documents", permitted=permitted)[0] == "forbidden"


@pytest.mark.parametrize("kind", ["read", "search", "think", "fetch", "switch_mode"])
def test_what_was_permitted_to_be_read_may_not_be_changed(cwd: Path, kind: str) -> None:
    permitted = Permitted()
    permitted.add(subject(cwd, "docs/page", kind=kind))
    permitted.add(subject(cwd, kind=kind))
    assert judged(cwd, "docs/page", permitted=permitted)[0] == "forbidden"


def test_what_was_permitted_as_reading_and_showed_a_change_may_be_changed(cwd: Path) -> None:
    permitted = Permitted()
    permitted.add(subject(cwd, "docs/page", kind="read", shows_diff=True))
    assert judged(cwd, "docs/page", permitted=permitted)[0] == "approved"


ANYTHING: list[dict[str, Any]] = [
    {"command": "make"},
    {"kind": "execute"},
    {"kind": "read", "command": "cat x > y"},
    {"kind": "edit"},
    {"kind": None},
]


@pytest.mark.parametrize("fields", ANYTHING)
def test_what_may_have_been_done_by_something_permitted_is_not_laid_to_the_agent(
    cwd: Path, fields: dict[str, Any]
) -> None:
    permitted = Permitted()
    permitted.add(subject(cwd, **fields))
    assert judged(cwd, "other", permitted=permitted) == ("unattributed", None)
    assert judged(cwd, "other", default="ask", permitted=permitted) == ("unattributed", None)
    assert judged(cwd, "docs/page", permitted=permitted) == ("unattributed", "docs")
    assert judged(cwd, "secret/key", permitted=permitted) == ("forbidden", "keys"), "a rule that rejects has no excuse"


def test_what_was_permitted_for_always_may_be_done_again(cwd: Path) -> None:
    permitted = Permitted()
    permitted.add(subject(cwd, "src/code"), always=True)
    assert judged(cwd, "docs/page", permitted=permitted)[0] == "unattributed"


def test_what_was_refused_is_never_excused(cwd: Path) -> None:
    permitted = Permitted()
    permitted.add(subject(cwd, command="make"))
    permitted.refuse(subject(cwd, "docs/page"))
    permitted.refuse(subject(cwd, "src/code"))
    assert judged(cwd, "docs/page", permitted=permitted) == ("forbidden", "docs")
    assert judged(cwd, "docs/other", permitted=permitted) == ("unattributed", "docs")
    assert judged(cwd, "src/code", permitted=permitted)[0] == "allowed", "the policy has the first word"
    permitted.add(subject(cwd, "docs/page"))
    assert judged(cwd, "docs/page", permitted=permitted)[0] == "approved", "the user has thought better of it"


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_what_the_application_announces_is_its_own(cwd: Path) -> None:
    (cwd / "secret").mkdir()
    (cwd / "secret/key").write_text("x")
    (cwd / "alias").symlink_to("secret/key")
    permitted = Permitted()
    permitted.announce(str(cwd / "alias"))
    assert judged(cwd, "secret/key", permitted=permitted) == ("announced", "keys")


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_rules_are_about_real_paths_whatever_the_session_is_called(cwd: Path) -> None:
    (cwd / "work/src").mkdir(parents=True)
    (cwd / "alias").symlink_to("work")
    changes = [
        Difference(f"{cwd}/work/src/code", DifferenceKind.CREATED),
        Difference(f"{cwd}/work/.env", DifferenceKind.CREATED),
    ]
    report = report_on(cwd / "alias", changes, POLICIES["ask"])
    assert [str(change.verdict) for change in report.changes] == ["allowed", "forbidden"]


def test_rules_expire(cwd: Path) -> None:
    rule = PermissionRule(decision="allow_once", paths=("src/",), expires=NOW + timedelta(hours=1))
    changes = [Difference(f"{cwd}/src/code", DifferenceKind.CREATED)]
    assert report_on(cwd, changes, PermissionPolicy(rules=(rule,))).violations == ()
    late = report_on(cwd, changes, PermissionPolicy(rules=(rule,)), now=NOW + timedelta(hours=2))
    assert len(late.violations) == 1


def test_more_than_can_be_judged_is_said(cwd: Path) -> None:
    changes = [Difference(f"{cwd}/src/{number}", DifferenceKind.CREATED) for number in range(MAX_JUDGED + 5)]
    report = report_on(cwd, changes, PermissionPolicy.allow_once(), problem="something else")
    assert len(report.changes) == MAX_JUDGED
    assert report.problem == f"only {MAX_JUDGED} of {MAX_JUDGED + 5} changed files were judged"
