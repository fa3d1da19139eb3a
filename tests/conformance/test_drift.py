"""The report on a newer schema names what came, went and changed, and the files that it touches."""

from __future__ import annotations

import copy
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import drift
from tests.conformance.schema_diff import Change, Difference, differences
from tests.conformance.schema_touch import Files
from tests.conformance.versions import VERSIONS

ALTERNATIVES = [
    {"type": "object", "properties": {"kind": {"const": "text"}}, "allOf": [{"$ref": "#/$defs/Text"}]},
    {"type": "object", "properties": {"kind": {"const": "image"}}, "allOf": [{"$ref": "#/$defs/Image"}]},
]


def changed(**definitions: Any) -> list[Difference]:
    """Compare ``NAME=(before, after)``."""
    before = {name: pair[0] for name, pair in definitions.items() if pair[0] is not None}
    after = {name: pair[1] for name, pair in definitions.items() if pair[1] is not None}
    return differences({"$defs": before}, {"$defs": after})


def details(before: Any, after: Any) -> tuple[str, ...]:
    (difference,) = changed(Named=(before, after))
    assert difference.change is Change.CHANGED
    return difference.details


def test_what_comes_and_goes_is_named() -> None:
    found = changed(New=(None, {}), Old=({}, None), Same=({"type": "object"}, {"type": "object"}))
    assert found == [Difference("New", Change.ADDED), Difference("Old", Change.REMOVED)]


def test_words_of_description_change_nothing() -> None:
    def described(words: str) -> dict[str, Any]:
        return {"description": words, "properties": {"a": {"type": "string", "description": words}}}

    assert changed(Described=(described("one"), described("two"))) == []


def test_a_property_that_is_called_description_is_no_description() -> None:
    before: dict[str, Any] = {"properties": {}}
    after = {"properties": {"description": {"type": "string", "description": "what it is"}}}
    assert details(before, after) == ('+ properties.description: {"type": "string"}',)


def test_properties_and_what_is_required_are_told_one_by_one() -> None:
    before = {"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}
    after = {"properties": {"a": {"type": ["string", "null"]}, "c": {"type": "integer"}}, "required": ["a", "c"]}
    assert details(before, after) == (
        'properties.a.type: "string" → ["string", "null"]',
        "- properties.b: {}",
        '+ properties.c: {"type": "integer"}',
        '+ required."c": "c"',
    )


def test_an_alternative_that_comes_first_does_not_move_the_others() -> None:
    new = {"type": "object", "properties": {"kind": {"const": "audio"}}}
    (line,) = details({"oneOf": ALTERNATIVES}, {"oneOf": [new, *ALTERNATIVES]})
    assert line.startswith("+ oneOf.audio: ")


def test_alternatives_of_one_kind_are_told_apart() -> None:
    before = {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "string", "maxLength": 2}]}
    after = {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "string", "maxLength": 3}]}
    assert details(before, after) == ("anyOf.string'.maxLength: 2 → 3",)


@pytest.fixture
def tree(tmp_path: Path) -> Callable[..., Files]:
    def files(**texts: str) -> Files:
        for name, text in texts.items():
            path = tmp_path / "acp_host" / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Files(tmp_path)

    return files


def test_what_both_versions_declare_is_looked_for_in_each_version_own_files(tree: Callable[..., Files]) -> None:
    files = tree(
        wire__tools="class ToolCall(Model):\n    pass\n",
        wire__updates="Update = ToolCall | Plan\n",
        wire__v2__tools="class ToolCall(Model):\n    pass\n",
        state__reader="from acp_host.wire.tools import ToolCall\n",
    )
    assert files.naming("ToolCall", version=1) == [
        "acp_host/wire/tools.py",
        "acp_host/wire/updates.py",
        "acp_host/state/reader.py",
    ]
    assert files.naming("ToolCall", version=2) == ["acp_host/wire/v2/tools.py", "acp_host/state/reader.py"]


def test_what_the_second_version_has_from_the_first_is_found_there(tree: Callable[..., Files]) -> None:
    files = tree(wire__cost="class Cost(Model):\n    pass\n", wire__v2__usage="from acp_host.wire.cost import Cost\n")
    assert files.naming("Cost", version=2) == ["acp_host/wire/cost.py", "acp_host/wire/v2/usage.py"]


def test_a_new_definition_is_placed_by_what_refers_to_it(tree: Callable[..., Files]) -> None:
    files = tree(wire__session="class Request(Model):\n    pass\n")
    schema = {"$defs": {"New": {}, "Request": {"properties": {"new": {"$ref": "#/$defs/New"}}}}}
    assert files.around("New", schema, version=1) == ["acp_host/wire/session.py"]


@pytest.fixture
def schemas() -> dict[tuple[int, str], Any]:
    return {(version.number, name): each for version in VERSIONS for name, each in version.schemas.items()}


def test_every_definition_of_the_schema_is_named_in_a_file(schemas: dict[tuple[int, str], Any]) -> None:
    files = Files()
    missing = [
        (version, name)
        for (version, _), schema in schemas.items()
        for name in schema["$defs"]
        if not files.naming(name, version=version)
    ]
    assert missing == []


def test_the_report_names_a_new_method_and_where_its_types_are_missing(schemas: dict[tuple[int, str], Any]) -> None:
    after = copy.deepcopy(schemas)
    definitions = after[1, "unstable"]["$defs"]
    definitions["RewindRequest"] = {"type": "object", "x-method": "session/rewind", "x-side": "agent"}
    definitions["PromptRequest"]["properties"]["rewind"] = {"$ref": "#/$defs/RewindRequest"}
    lines = list(drift.report(schemas, after, Files()))
    assert "# Version 1, stable: nothing changes" in lines
    assert "# Version 1, unstable: 1 added, 1 changed" in lines
    assert "+ method session/rewind (agent)" in lines
    added = lines.index("added RewindRequest")
    assert lines[added + 1] == "    near acp_host/wire/prompt.py"
    changed_at = lines.index("changed PromptRequest")
    assert lines[changed_at + 1].strip() == '+ properties.rewind: {"$ref": "#/$defs/RewindRequest"}'
    assert "    in acp_host/wire/prompt.py" in lines[changed_at:]


def test_what_the_stable_schema_changes_is_told_once(schemas: dict[tuple[int, str], Any]) -> None:
    after = copy.deepcopy(schemas)
    for name in ("stable", "unstable"):
        del after[2, name]["$defs"]["Cost"]
    lines = list(drift.report(schemas, after, Files()))
    assert lines.count("removed Cost") == 1


def test_a_release_that_cannot_be_had_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(command: list[str], **_: Any) -> Iterator[None]:
        raise subprocess.CalledProcessError(1, command, stderr="npm error 404 no such version")

    monkeypatch.setattr(subprocess, "run", fails)
    with pytest.raises(drift.NotFetched, match=r"cannot fetch @agentclientprotocol/sdk 9\.9\.9") as caught:
        drift.published("9.9.9")
    assert "404" in str(caught.value)


def test_a_package_without_schemas_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift, "SCHEMAS", tmp_path)
    with pytest.raises(drift.NotFetched, match="run `make setup`"):
        drift.installed()
