"""The method table costs nothing to import. What is in it is tested against the schema, in ``tests/conformance``."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from acp_host.wire.methods import agent_method
method = agent_method("session/fork")
print("acp_host.wire.session" in sys.modules, method.params_type.__name__, method.result_type.__name__)
"""


def test_the_modules_of_the_types_are_imported_when_asked_for() -> None:
    output = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout

    assert output.split() == ["False", "ForkSessionRequest", "ForkSessionResponse"]
