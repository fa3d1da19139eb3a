"""What needs an extra says which one, where it was not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from acp_host.extras import brought_by

JUPYTER_SERVER = "acp_host.ui.jupyter_server"
NEEDS = {
    "import acp_host.harn.a2a": ("http", "httpx2"),
    "import acp_host.transports.streamable_http": ("http", "httpx2"),
    "import acp_host.ui.jupyter": ("jupyter", "anywidget"),
    f"import {JUPYTER_SERVER}; {JUPYTER_SERVER}._jupyter_server_extension_points()": (
        "jupyter-server",
        "jupyter_server",
    ),
    "import acp_host.ui.qt": ("qt", "PySide6"),
    "import acp_host.ui.terminal.app": ("tui", "textual"),
}


@pytest.mark.parametrize("code", NEEDS)
def test_a_module_without_its_extra_says_how_to_get_it(code: str) -> None:
    extra, package = NEEDS[code]
    program = f"import sys; sys.modules[{package!r}] = None; {code}"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)
    brings = f"which the extra {extra!r} brings: pip install 'acp-host[{extra}]'"
    assert ran.stderr.splitlines()[-1] == f"ModuleNotFoundError: {package} is not installed, {brings}"


def test_the_error_names_the_module_that_is_missing() -> None:
    missing = ModuleNotFoundError("No module named 'no_such_package.part'", name="no_such_package.part")
    with pytest.raises(ModuleNotFoundError, match=r"^no_such_package .*acp-host\[qt\]") as caught, brought_by("qt"):
        raise missing
    assert caught.value.name == "no_such_package.part"


def test_a_module_of_this_package_that_is_missing_has_nothing_to_do_with_extras() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'acp_host\.nothing'$"), brought_by("qt"):
        import acp_host.nothing  # noqa: F401 - there is nothing to use


def test_other_errors_are_let_through() -> None:
    with pytest.raises(ImportError, match=r"^cannot import name 'x'$"), brought_by("qt"):
        raise ImportError("cannot import name 'x'", name="PySide6")
