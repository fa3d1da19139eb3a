"""Permission policies as TOML: :func:`read_policy`, :func:`write_policy`. ::

    default = "ask"

    [[rules]]
    name = "edit the sources"
    decision = "allow_once"
    kinds = ["edit"]
    paths = ["src/**", "tests/**"]

A file has the keys ``default`` and ``rules``; a rule has the attributes of
:class:`~acp_host.services.permission_rules.PermissionRule`. Anything else in it is an error, and so is a value of
another type: a policy that is not understood must not seem to be in force.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import attrs

from acp_host.errors import InvalidInput
from acp_host.services.permission_rules import PermissionRule

if TYPE_CHECKING:
    from acp_host.services.permissions import PermissionPolicy

__all__ = ["read_policy", "write_policy"]

_TYPES: Mapping[str, tuple[type, str]] = {
    "decision": (str, "a string"),
    "name": (str, "a string"),
    "shell": (bool, "true or false"),
    "expires": (datetime, "a date and time with its offset, such as 2027-01-31T12:00:00Z"),
}
_ATTRIBUTES = tuple(attribute.name for attribute in attrs.fields(PermissionRule))


def read_policy(text: str, source: str) -> PermissionPolicy:
    """Return the policy that ``text`` describes.

    Raises:
        InvalidInput: it is none; names ``source``, the rule and the key.
    """
    from acp_host.services.permissions import PermissionPolicy

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = "; it looks like a path: PermissionPolicy.load(path) reads a file" if text.endswith(".toml") else ""
        raise InvalidInput(f"{source} is not TOML: {error}{hint}") from None
    except RecursionError:
        raise InvalidInput(f"{source} is nested too deeply for a policy") from None
    _only(document, ("default", "rules"), source)
    rules = document.get("rules", [])
    if not isinstance(rules, list):
        raise InvalidInput(f"{source}: rules is a list of tables, each written as [[rules]]")
    made = [_rule(rule, f"{source}, rule {number}") for number, rule in enumerate(rules, start=1)]
    default = document.get("default", "reject_once")
    if not isinstance(default, str):
        raise InvalidInput(f"{source}: default is a string, not {default!r}")
    try:
        return PermissionPolicy(default, rules=made)
    except InvalidInput as error:
        raise InvalidInput(f"{source}: default: {error}") from None


def write_policy(policy: PermissionPolicy) -> str:
    """Return a policy as TOML that :func:`read_policy` reads."""
    import tomli_w

    document: dict[str, Any] = {"default": str(policy.default)}
    if policy.rules:
        document["rules"] = [_plain(rule) for rule in policy.rules]
    return tomli_w.dumps(document)


def _rule(members: Any, where: str) -> PermissionRule:
    if not isinstance(members, dict):
        raise InvalidInput(f"{where}: a rule is a table, written as [[rules]]")
    if isinstance(members.get("name"), str) and members["name"]:
        where = f"{where} ({members['name']!r})"
    _only(members, _ATTRIBUTES, where)
    if "decision" not in members:
        raise InvalidInput(f"{where}: decision is missing")
    for key, value in members.items():
        kind, words = _TYPES.get(key, (list, "a list of strings"))
        if not isinstance(value, kind):
            raise InvalidInput(f"{where}: {key} is {words}, not {value!r}")
        _check(key, value, where)
    try:
        return PermissionRule(**members)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None


def _check(key: str, value: Any, where: str) -> None:
    """Let the attribute itself say what is wrong with a value, and say where."""
    attribute = attrs.fields_dict(PermissionRule)[key]
    try:
        converted = attribute.converter(value) if callable(attribute.converter) else value
        if attribute.validator is not None:
            attribute.validator(None, attribute, converted)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {key}: {error}") from None


def _only(members: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
    for key in members:
        if key not in allowed:
            raise InvalidInput(f"{where}: there is no key {key!r}; the keys are {', '.join(allowed)}")


def _plain(rule: PermissionRule) -> dict[str, Any]:
    values = attrs.asdict(rule, filter=lambda attribute, value: value != attribute.default)
    return {
        name: list(value) if isinstance(value, tuple) else str(value) if name == "decision" else value
        for name, value in values.items()
    }
