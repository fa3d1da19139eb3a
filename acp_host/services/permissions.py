"""Who answers when the agent asks for permission: a :class:`PermissionPolicy` or the application's own handler.

Owns what a policy decides, and why. It does not own when a question is asked or withdrawn: at ``session/cancel`` the
host answers ``cancelled`` by itself. How a decision becomes one of the options that the agent offered is
:mod:`acp_host.services.permission_options`'s work, what a rule matches :mod:`acp_host.services.permission_rules`'s.

The first rule that matches decides, else the default. A kind that is missing or unknown is never taken for a harmless
one: where only that keeps a rule from rejecting or asking, no later rule allows it unless it says ``unknown`` or ``*``,
and the default does not either; somebody is asked.

Specification: Tool Calls, Requesting Permission.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from attrs import Attribute, field, frozen

from acp_host.errors import InvalidInput
from acp_host.given_files import absolute, reading
from acp_host.printable import printable
from acp_host.services.permission_memory import AnswerToRemember, RememberedDecisions
from acp_host.services.permission_options import (
    PermissionDecision,
    decision_of,
    outcome_for,
    validate_outcome,
)
from acp_host.services.permission_rules import PermissionRule
from acp_host.services.permission_subject import DescribedCall, PermissionSubject, subject_of_request
from acp_host.services.working_copy import FingerprintLimits
from acp_host.wire.ids import PermissionOptionId
from acp_host.wire.permission import RequestPermissionOutcome, RequestPermissionRequest

if TYPE_CHECKING:
    from acp_host.services.dry_run import DryRunEntry
    from acp_host.services.permission_memory import RememberScope

__all__ = [
    "Explanation",
    "PermissionAnswer",
    "PermissionDecision",
    "PermissionHandler",
    "PermissionPolicy",
    "PermissionRule",
    "Permissions",
    "answer_permission",
    "checked_answer",
    "validate_outcome",
]


PermissionAnswer = RequestPermissionOutcome | PermissionOptionId | AnswerToRemember
"""What a handler may answer."""


class PermissionHandler(Protocol):
    """The application's answer to a permission request: a function or coroutine function.

    It returns an outcome, or only the id of the chosen option, or an
    :class:`~acp_host.services.permission_memory.AnswerToRemember`. ``request.options`` are in the agent's order; show
    all of them, even where several have the same kind.
    """

    def __call__(self, request: RequestPermissionRequest, /) -> PermissionAnswer | Awaitable[PermissionAnswer]: ...


@frozen(kw_only=True)
class Explanation:
    """What a policy decides about a subject, and why; ``str()`` gives it as lines for a person.

    Attributes:
        decision: what is decided.
        rule: the rule that decided; ``None``: the default did.
        reason: why, in one sentence.
        passed: the rules that stand before it, and why each does not match, as the end of a sentence.
    """

    decision: PermissionDecision
    rule: PermissionRule | None
    reason: str
    passed: tuple[tuple[PermissionRule, str], ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.decision}: {self.reason}"]
        lines += [f"  {_called(rule)} does not decide: it {why}" for rule, why in self.passed]
        return printable("\n".join(lines))


def _rules(value: Iterable[PermissionRule]) -> tuple[PermissionRule, ...]:
    rules = tuple(value) if not isinstance(value, str) and isinstance(value, Iterable) else (value,)
    for rule in rules:
        if not isinstance(rule, PermissionRule):
            raise InvalidInput(f"the rules of a policy are PermissionRule objects, not {rule!r}")
    return rules


@frozen
class PermissionPolicy:
    """Decides without asking anybody, unless it decides to ask; a value, which can be compared and stored.

    Attributes:
        default: what is decided where no rule matches; one of
            :class:`~acp_host.services.permission_options.PermissionDecision` or its word.
        rules: the first that matches decides.

    Raises:
        InvalidInput: ``default`` is another word.
    """

    default: PermissionDecision = field(default=PermissionDecision.REJECT_ONCE, converter=decision_of)
    rules: tuple[PermissionRule, ...] = field(default=(), converter=_rules, kw_only=True)

    @classmethod
    def deny(cls) -> PermissionPolicy:
        """Return the policy that refuses everything, each time anew."""
        return cls(PermissionDecision.REJECT_ONCE)

    @classmethod
    def reject(cls) -> PermissionPolicy:
        """Return the same as :meth:`deny`."""
        return cls.deny()

    @classmethod
    def allow_once(cls) -> PermissionPolicy:
        """Return the policy that allows everything the agent asks for, each time anew."""
        return cls(PermissionDecision.ALLOW_ONCE)

    @classmethod
    def ask(cls) -> PermissionPolicy:
        """Return the policy that always asks."""
        return cls(PermissionDecision.ASK)

    @classmethod
    def read_only(cls) -> PermissionPolicy:
        """Return the policy that lets the agent read, search and think, and refuses everything else."""
        rule = PermissionRule(name="read only", decision="allow_once", kinds=("read", "search", "think"))
        return cls(PermissionDecision.REJECT_ONCE, rules=(rule,))

    @classmethod
    def load(cls, path: str | Path) -> PermissionPolicy:
        """Return the policy that a TOML file describes, see :mod:`acp_host.services.permission_toml`.

        Raises:
            InvalidInput: the file cannot be read, or is none; names the file, the rule and the key.
        """
        try:
            with reading(path):
                text = Path(path).read_text("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{os.fspath(path)} is not TOML: byte {error.start} is not UTF-8") from None
        return cls.from_toml(text, source=os.fspath(path))

    @classmethod
    def from_toml(cls, text: str, *, source: str = "the policy") -> PermissionPolicy:
        """Return the policy that ``text`` describes; ``source`` is what errors call it. Raises as :meth:`load`."""
        from acp_host.services.permission_toml import read_policy

        return read_policy(text, source)

    def to_toml(self) -> str:
        """Return the policy as TOML; :meth:`from_toml` reads the same policy from it."""
        from acp_host.services.permission_toml import write_policy

        return write_policy(self)

    def judge(self, subject: PermissionSubject, now: datetime | None = None) -> Explanation:
        """Return what is decided about a subject, and why.

        Args:
            subject: what is to be decided.
            now: the time, with its offset; ``None``: that of the machine.
        """
        now = now or datetime.now(UTC)
        passed: list[tuple[PermissionRule, str]] = []
        spared: PermissionRule | None = None
        for rule in self.rules:
            mismatch = rule.mismatch(subject, now)
            if mismatch is None and spared is not None and rule.decision.allows and not rule.takes_unknown_kinds:
                mismatch = "does not say that it is for unknown kinds"
            if mismatch is None:
                return Explanation(
                    decision=rule.decision, rule=rule, reason=f"{_called(rule)} matches", passed=tuple(passed)
                )
            if spared is None and not rule.decision.allows and rule.spared_by_kind(subject, now):
                spared = rule
            passed.append((rule, mismatch))
        return self._by_default(spared, tuple(passed))

    def _by_default(self, spared: PermissionRule | None, passed: tuple[tuple[PermissionRule, str], ...]) -> Explanation:
        if spared is None or not self.default.allows:
            reason = "no rule matches, and this is the default" if self.rules else self._everything
            return Explanation(decision=self.default, rule=None, reason=reason, passed=passed)
        reason = f"its kind is unknown, and {_called(spared)} matches but for that"
        return Explanation(decision=PermissionDecision.ASK, rule=spared, reason=reason, passed=passed)

    @property
    def _everything(self) -> str:
        """What a policy without rules does, as a sentence."""
        done = {PermissionDecision.ASK: "asks about", PermissionDecision.CANCEL: "cancels"}
        return f"the policy {done.get(self.default, 'allows' if self.default.allows else 'rejects')} everything"

    def explain(
        self,
        request: RequestPermissionRequest,
        *,
        agent: str = "",
        cwd: str | Path = ".",
        known: DescribedCall | None = None,
        now: datetime | None = None,
    ) -> Explanation:
        """Return what is decided about a permission request, and why.

        Looks at the disk, for links; call it in a thread.

        Args:
            request: the agent's request.
            agent: name of the agent.
            cwd: working directory of its session.
            known: what the agent has said of the tool call before.
            now: as for :meth:`judge`.
        """
        subject = subject_of_request(request, agent=agent, cwd=absolute(cwd), known=known)
        return self.judge(subject, now)

    def dry_run(self, recording: str | os.PathLike[str] | Iterable[str]) -> tuple[DryRunEntry, ...]:
        """Return what would have been decided in a recorded conversation; see :mod:`acp_host.services.dry_run`."""
        from acp_host.services.dry_run import dry_run

        return dry_run(self, recording)

    def decide(self, request: RequestPermissionRequest, **about: Any) -> RequestPermissionOutcome:
        """Return the outcome for ``request`` where nobody can be asked; arguments as for :meth:`explain`."""
        decision = self.explain(request, **about).decision if self.rules else self.default
        return outcome_for(decision, request.options)


def _called(rule: PermissionRule) -> str:
    return f"the rule {rule.name!r}" if rule.name else "a rule without a name"


def _is_a(*kinds: Any) -> Callable[[Any, Attribute[Any], Any], None]:
    """Return a validator for an attribute that is of one of some kinds."""

    def check(permissions: Any, attribute: Attribute[Any], value: Any) -> None:
        if not any(value is None if kind is None else isinstance(value, kind) for kind in kinds):
            allowed = " or ".join("None" if kind is None else kind.__name__ for kind in kinds)
            raise InvalidInput(f"Permissions({attribute.name}=…) takes {allowed}, not {type(value).__name__}")

    return check


@frozen(kw_only=True)
class Permissions:
    """How a connection decides, for ``connect(permissions=…)``: by a policy, by asking, and by what is remembered.

    Attributes:
        policy: decides first; by default everything is asked.
        ask: is asked where the policy says ``ask``: a handler, or a
            :class:`~acp_host.services.permission_queue.PermissionQueue`; ``None``: nobody can be asked, and what would
            be asked is rejected.
        remember: answers in place of a person what the same person has decided before, and keeps what is to be
            remembered; ``None``: for the session only.
        direct: files that the agent writes through the host, and commands that it runs there, are decided here too,
            whether or not the agent has asked for permission. ``False``: offering those services is consent enough.
        check_changes: hold what has changed in the session's directories against the policy after each turn, see
            :mod:`acp_host.services.change_verdicts`; with :class:`~acp_host.services.working_copy.FingerprintLimits`,
            within those. ``None``: where a rule is about paths.

    Raises:
        InvalidInput: an attribute is of another type.
    """

    policy: PermissionPolicy = field(factory=PermissionPolicy.ask, validator=_is_a(PermissionPolicy))
    ask: PermissionHandler | None = field(default=None, validator=_is_a(Callable, None))
    remember: RememberedDecisions | None = field(default=None, validator=_is_a(RememberedDecisions, None))
    direct: bool = field(default=True, validator=_is_a(bool))
    check_changes: bool | FingerprintLimits | None = field(default=None, validator=_is_a(bool, FingerprintLimits, None))

    @property
    def change_limits(self) -> FingerprintLimits | None:
        """How much work the check of changes may be; ``None``: there is none."""
        if isinstance(self.check_changes, FingerprintLimits):
            return self.check_changes
        by_default = any(rule.paths for rule in self.policy.rules)
        wanted = by_default if self.check_changes is None else self.check_changes
        return FingerprintLimits() if wanted else None

    @classmethod
    def of(cls, given: Permissions | PermissionPolicy | PermissionHandler | None) -> Permissions:
        """Return what an argument of ``connect`` stands for.

        Nothing rejects what the agent asks permission for, and takes offered services for consent; a policy decides
        alone; a handler is asked everything.
        """
        if isinstance(given, Permissions):
            return given
        if given is None:
            return cls(policy=PermissionPolicy.reject(), direct=False)
        return cls(policy=given) if isinstance(given, PermissionPolicy) else cls(ask=given)


async def answer_permission(
    answerer: PermissionPolicy | PermissionHandler, request: RequestPermissionRequest
) -> RequestPermissionOutcome:
    """Return the valid outcome that a policy or a handler gives for ``request``.

    Raises:
        InvalidInput: the handler's answer is none of the request's options.
        Exception: whatever the handler raises.
    """
    if isinstance(answerer, PermissionPolicy):
        return answerer.decide(request)
    answer = answerer(request)
    return checked_answer(request, await answer if inspect.isawaitable(answer) else answer)[0]


def checked_answer(
    request: RequestPermissionRequest, answer: PermissionAnswer
) -> tuple[RequestPermissionOutcome, RememberScope | None]:
    """Return the outcome that a handler's answer is, and how long it is to be remembered.

    Raises:
        InvalidInput: the answer is none of the request's options.
    """
    if isinstance(answer, AnswerToRemember):
        return validate_outcome(request, answer.outcome), answer.scope
    return validate_outcome(request, answer), None
