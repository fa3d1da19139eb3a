"""The names that users import from ``acp_host``: all there, all lazy, and the same wherever they are listed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import acp_host

PACKAGE = Path(acp_host.__file__)


def test_every_public_name_can_be_imported() -> None:
    for name in acp_host.__all__:
        assert getattr(acp_host, name) is not None, name


def test_what_type_checkers_see_is_what_can_be_imported() -> None:
    [block] = [node for node in ast.parse(PACKAGE.read_text()).body if isinstance(node, ast.If)]
    seen = {alias.name for node in ast.walk(block) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(acp_host.__all__) - {"__version__", "printable"}


def test_importing_the_package_loads_next_to_nothing() -> None:
    code = "import sys, acp_host; print([m for m in sys.modules if m.split('.')[0] in ('attrs', 'cattrs', 'orjson')])"
    heavy = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert heavy.strip() == "[]"


def test_no_module_stands_where_a_name_is_expected() -> None:
    names = set(acp_host.__all__) - {"blocking", "fleet", "redaction", "sandbox"}
    code = f"""
import types, acp_host.testing.gallery, acp_host.host.connect
print([name for name in {names} if isinstance(getattr(acp_host, name), types.ModuleType)])
"""
    shadowed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shadowed.strip() == "[]"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = acp_host.nothing_of_the_kind


def test_modules_that_are_named_in_full_need_no_import_of_their_own() -> None:
    code = "import acp_host; acp_host.sandbox.sandbox_here, acp_host.redaction.redact, acp_host.fleet.run"
    subprocess.run([sys.executable, "-c", code], check=True)
