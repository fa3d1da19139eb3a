"""One prompt in one directory: :class:`Job`; and many of them in a file: :func:`read_jobs`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs
from attrs import Attribute, evolve, field, frozen

from acp_host.automation.limits import Budget, Timeouts
from acp_host.errors import InvalidInput
from acp_host.fleet.working_copies import is_url
from acp_host.given_files import absolute, reading
from acp_host.services.permissions import PermissionPolicy
from acp_host.services.policy_words import policy_of_word

__all__ = ["Job", "jobs_from", "numbered", "read_jobs"]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def _is_text(what: str) -> Any:
    def check(job: Any, attribute: Attribute[Any], value: Any) -> None:
        if not isinstance(value, str) or not value.strip():
            raise InvalidInput(f"Job({attribute.name}=…) takes {what}, not {value!r}")

    return check


def _is_a(kind: type) -> Any:
    def check(job: Any, attribute: Attribute[Any], value: Any) -> None:
        if value is not None and not isinstance(value, kind):
            raise InvalidInput(f"Job({attribute.name}=…) takes a {kind.__name__}, or None, not {value!r}")

    return check


def _is_id(job: Any, attribute: Attribute[Any], value: Any) -> None:
    if value != "" and (not isinstance(value, str) or _ID.fullmatch(value) is None):
        raise InvalidInput(
            f"Job(id=…) takes up to 100 letters, digits, dots, dashes and underscores, with a letter or digit first,"
            f" not {value!r}"
        )


def _place(value: Any) -> Any:
    if not isinstance(value, str | os.PathLike):
        raise InvalidInput(f"Job(cwd=…) takes a directory, or the URL of a git repository, not {value!r}")
    place = os.fspath(value)
    if not isinstance(place, str) or not is_url(place):
        return absolute(place)
    try:
        has_password = urlsplit(place).password is not None
    except ValueError as error:
        raise InvalidInput(f"Job(cwd=…) takes the URL of a git repository: {error}") from None
    if has_password:
        raise InvalidInput(
            "Job(cwd=…) takes no URL with a password, which would get into results: git has helpers for it"
        )
    return place


def _path(value: Any) -> str | None:
    if value is not None and not isinstance(value, str | os.PathLike):
        raise InvalidInput(f"Job(record=…) takes a path, or None, not {value!r}")
    return None if value is None else absolute(value)


def _texts(value: Any) -> Any:
    texts = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (value,)
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise InvalidInput("Job(remind=…) takes texts")
    return texts


@frozen
class Job:
    """One prompt, and where an agent is to work on it: a plain value, which can be pickled and written as JSON.

    What is ``None`` here is what :func:`acp_host.fleet.run` says for all jobs.

    Attributes:
        prompt: the text.
        cwd: the directory, of which the agent gets a working copy; or the URL of a git repository, which is cloned.
        id: what the job is called in results, in the journal and in paths; by default its number and the last part of
            ``cwd``, such as ``007-website``.
        permissions: what the agent may do.
        budget: what the job may spend, all its attempts together.
        timeouts: how long each attempt may take.
        remind: reminders that are given to the model before the prompt.
        record: a file in which the conversation is recorded, on the machine that runs the job; an attempt that is not
            the first one has its number in the name.

    Raises:
        InvalidInput: a value is none of these.
    """

    prompt: str = field(validator=_is_text("a text"))
    cwd: str = field(converter=_place)
    id: str = field(default="", kw_only=True, validator=_is_id)
    permissions: PermissionPolicy | None = field(default=None, kw_only=True, validator=_is_a(PermissionPolicy))
    budget: Budget | None = field(default=None, kw_only=True, validator=_is_a(Budget))
    timeouts: Timeouts | None = field(default=None, kw_only=True, validator=_is_a(Timeouts))
    remind: tuple[str, ...] = field(default=(), kw_only=True, converter=_texts)
    record: str | None = field(default=None, kw_only=True, converter=_path)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, without what it leaves open; :meth:`from_json` reads it."""
        data: dict[str, Any] = {"id": self.id, "prompt": self.prompt, "cwd": self.cwd}
        if self.permissions is not None:
            data["permissions"] = self.permissions.to_toml()
        for name in ("budget", "timeouts"):
            limits = getattr(self, name)
            if limits is not None:
                data[name] = attrs.asdict(limits, filter=lambda _, value: value is not None)
        if self.remind:
            data["remind"] = list(self.remind)
        if self.record is not None:
            data["record"] = self.record
        return data

    @classmethod
    def from_json(cls, data: Any, *, where: str | os.PathLike[str] = ".") -> Job:
        """Return the job that JSON values stand for.

        Args:
            data: an object with the attributes as members; ``permissions`` is a word such as ``read-only``, a policy in
                TOML, or the path of one.
            where: the directory that paths are relative to.

        Raises:
            InvalidInput: it is none, or a member is not known.
        """
        if not isinstance(data, Mapping):
            raise InvalidInput(f"a job is an object with members such as prompt and cwd, not {data!r}")
        known = {attribute.name for attribute in attrs.fields(cls)}
        odd = sorted(str(name) for name in data if name not in known)
        missing = [name for name in ("prompt", "cwd") if data.get(name) is None]
        if odd or missing:
            raise InvalidInput(f"a job has no member {odd[0]}" if odd else f"a job needs the member {missing[0]}")
        values = {name: value for name, value in data.items() if value is not None}
        if isinstance(values["cwd"], str) and not is_url(values["cwd"]):
            values["cwd"] = os.path.join(where, values["cwd"])
        if isinstance(values.get("record"), str):
            values["record"] = os.path.join(where, values["record"])
        values["permissions"] = _policy(values.get("permissions"), where)
        values["budget"] = _limits(Budget, values.get("budget"))
        values["timeouts"] = _limits(Timeouts, values.get("timeouts"))
        return cls(**values)

    @property
    def digest(self) -> str:
        """What tells it from every other job; two with the same are the same."""
        text = json.dumps(self.to_json(), sort_keys=True, ensure_ascii=True)
        return blake2b(text.encode(), digest_size=16).hexdigest()


def _policy(value: Any, where: str | os.PathLike[str]) -> PermissionPolicy | None:
    if value is None or isinstance(value, PermissionPolicy):
        return value
    if not isinstance(value, str):
        raise InvalidInput("permissions of a job are a word such as read-only, a policy in TOML, or the path of one")
    policy = policy_of_word(value)
    if value == "ask":
        raise InvalidInput("permissions of a job cannot be ask: there is nobody who could be asked")
    if policy is not None:
        return policy
    if "=" in value:
        return PermissionPolicy.from_toml(value, source="permissions of a job")
    try:
        return PermissionPolicy.load(os.path.join(where, value))
    except InvalidInput as error:
        raise InvalidInput(f"permissions of a job: {error}") from None


def _limits(kind: Any, value: Any) -> Any:
    if value is None or isinstance(value, kind):
        return value
    known = [attribute.name for attribute in attrs.fields(kind)]
    if not isinstance(value, Mapping) or not set(value) <= set(known):
        raise InvalidInput(f"a {kind.__name__.lower()} is an object with some of the members {', '.join(known)}")
    return kind(**value)


def read_jobs(path: str | os.PathLike[str]) -> list[Job]:
    """Return the jobs in a file of JSON Lines; paths in it are relative to its directory.

    Raises:
        InvalidInput: the file cannot be read, or a line is no job; names it.
    """
    jobs = []
    with reading(path):
        lines = Path(path).read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                jobs.append(Job.from_json(json.loads(line), where=Path(path).parent))
            except (ValueError, RecursionError) as error:  # what json raises is one, and InvalidInput, too
                raise InvalidInput(f"{os.fspath(path)}, line {number}: {error}") from None
    return jobs


def jobs_from(prompt: str, directories: Iterable[str | os.PathLike[str]], **same: Any) -> list[Job]:
    """Return one job with the same prompt for each directory.

    Args:
        prompt: the text.
        directories: directories, or URLs of repositories.
        same: other attributes of each :class:`Job`.
    """
    return [Job(prompt, os.fspath(directory), **same) for directory in directories]


def numbered(jobs: Iterable[Job]) -> list[Job]:
    """Return the jobs with an id each.

    Raises:
        InvalidInput: one is no job, or two have the same id.
    """
    found: dict[str, Job] = {}
    for number, job in enumerate(jobs, start=1):
        if not isinstance(job, Job):
            raise InvalidInput(f"a fleet runs Job objects, not {job!r}")
        named = job if job.id else evolve(job, id=f"{number:03}-{_last_part(job.cwd)}"[:100])
        if named.id in found:
            raise InvalidInput(f"two jobs have the id {named.id}")
        found[named.id] = named
    return list(found.values())


def _last_part(cwd: str) -> str:
    last = re.split(r"[/\\:]", cwd.rstrip("/\\"))[-1].removesuffix(".git")
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last) or "job"
