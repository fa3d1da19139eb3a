"""Ranks skills for Harn: :data:`SkillMatcher`, ``skill/match``.

A script that leaves the choice of skills to the host sends the candidates, and gets back those that fit, the best one
first. Without a ranker the request is refused, and Harn ranks them itself.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias

from attrs import frozen

from acp_host.errors import InvalidInput, InvalidParams, MethodNotFound
from acp_host.harn.bridge._work import Work

__all__ = ["SkillCandidate", "SkillMatch", "SkillMatchRequest", "SkillMatcher", "SkillRanking"]


@frozen(kw_only=True)
class SkillCandidate:
    """A skill that can be chosen."""

    name: str
    description: str = ""
    when_to_use: str = ""
    paths: tuple[str, ...] = ()


@frozen(kw_only=True)
class SkillMatchRequest:
    """What skills are wanted for.

    Attributes:
        prompt: what the user wants.
        candidates: the skills to choose from.
        strategy: ``"host"``, or ``"embedding"``.
        task: what the agent is at; ``None`` if it does not say.
        working_files: the files that it works on.
        raw: the parameters as sent.
    """

    prompt: str
    candidates: tuple[SkillCandidate, ...]
    strategy: str = "host"
    task: str | None = None
    working_files: tuple[str, ...] = ()
    raw: Mapping[str, Any]

    @classmethod
    def read(cls, params: Any) -> SkillMatchRequest:
        """Return the request that parameters make; candidates without a name are left out.

        Raises:
            InvalidParams: they make none.
        """
        if not isinstance(params, Mapping) or not isinstance(params.get("candidates"), list):
            raise InvalidParams("candidates is an array")
        task = params.get("task")
        return cls(
            prompt=_text(params, "prompt"),
            candidates=tuple(filter(None, map(_candidate, params["candidates"]))),
            strategy=_text(params, "strategy") or "host",
            task=task if isinstance(task, str) else None,
            working_files=_texts(params, "working_files"),
            raw=params,
        )


@frozen
class SkillMatch:
    """A skill that fits.

    Attributes:
        name: of the candidate.
        score: how well, from 0; higher is better.
        reason: why, for people; ``None``: no reason given.

    Raises:
        InvalidInput: the score is no number from 0 to infinity, infinity excluded.
    """

    name: str
    score: float = 1.0
    reason: str | None = None

    def __attrs_post_init__(self) -> None:
        is_number = isinstance(self.score, int | float) and not isinstance(self.score, bool)
        if not is_number or not math.isfinite(self.score) or self.score < 0:
            raise InvalidInput(f"a score is a number that is not negative, not {self.score!r}")
        if not isinstance(self.name, str) or not isinstance(self.reason, str | None):
            raise InvalidInput("the name of a match is a string, and its reason a string or None")

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form that agents know."""
        said = {} if self.reason is None else {"reason": self.reason}
        return {"name": self.name, "score": self.score, **said}


SkillMatcher: TypeAlias = Callable[[SkillMatchRequest], Iterable[SkillMatch] | Awaitable[Iterable[SkillMatch]]]
"""Ranks skills, in any order. One that is not a coroutine function runs in a thread."""


class SkillRanking:
    """Answers with what a ranker says.

    Args:
        matcher: the ranker; ``None``: there is none.
        work: runs it.

    Raises:
        InvalidInput: it cannot be called.
    """

    def __init__(self, matcher: SkillMatcher | None, work: Work) -> None:
        if matcher is not None and not callable(matcher):
            raise InvalidInput(f"a ranker of skills is a (coroutine) function, not {matcher!r}")
        self._matcher = matcher
        self._work = work

    async def match(self, params: Any, seconds: float) -> dict[str, Any]:
        """Return the matches, the best first: each candidate once, and nothing else.

        Raises:
            MethodNotFound: there is no ranker.
            InvalidParams: the parameters make no request.
            RequestFailed: the ranker failed.
        """
        if self._matcher is None:
            raise MethodNotFound("this host does not rank skills")
        request = SkillMatchRequest.read(params)
        names = {candidate.name for candidate in request.candidates}

        def read(matches: Any) -> dict[str, Any]:
            best: dict[str, SkillMatch] = {}
            for match in matches:
                if not isinstance(match, SkillMatch):
                    raise TypeError(f"a ranker returns SkillMatch values, not {type(match).__name__}")
                if match.name in names and (match.name not in best or best[match.name].score < match.score):
                    best[match.name] = match
            ranked = sorted(best.values(), key=lambda match: -match.score)
            return {"matches": [match.to_json() for match in ranked]}

        ranked: dict[str, Any] = await self._work.run("skill/match", seconds, self._matcher, request, read=read)
        return ranked


def _candidate(value: Any) -> SkillCandidate | None:
    if not isinstance(value, Mapping) or not isinstance(name := value.get("name"), str) or not name:
        return None
    return SkillCandidate(
        name=name,
        description=_text(value, "description"),
        when_to_use=_text(value, "when_to_use"),
        paths=_texts(value, "paths"),
    )


def _text(members: Mapping[str, Any], name: str) -> str:
    value = members.get(name)
    return value if isinstance(value, str) else ""


def _texts(members: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = members.get(name)
    return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()
