"""The public API is what its reviewed listing says: a change of it is seen, and decided on, before it is released."""

from __future__ import annotations

import difflib

import pytest

from tests.public_api.listing import MODULES, listings, stored

pytestmark = pytest.mark.timeout(180)  # on a busy machine; reading all sources takes three seconds of processor time


@pytest.fixture(scope="module")
def present() -> dict[str, str]:
    return listings()


def test_it_is_as_listed(present: dict[str, str]) -> None:
    before, now = (
        [f"{module}: {line}" for module in MODULES for line in each.get(module, "").splitlines()]
        for each in (stored(), present)
    )
    changes = [
        line for line in difflib.unified_diff(before, now, "listed", "now", n=0, lineterm="") if line[:2] != "@@"
    ]
    assert changes == [], "if that is intended: make public-api, a news fragment, and see docs/contributing.md"
    assert stored().keys() == set(MODULES)


def test_the_listing_tells_what_a_caller_can_see(present: dict[str, str]) -> None:
    lines = present["acp_host"].splitlines()
    assert "class AcpError(Exception)" in lines
    assert "    property agent_name: str" in lines
    assert "    async def close(*, force: bool = False, timeout: float | None = None) -> CloseSessionResponse" in lines
    assert any(line.startswith("    def __init__(target: Sequence[str] | str | Transport") for line in lines)
    assert any(line.startswith("def printable(text: str") for line in lines)
    assert "    COMPLETED = 'completed'" in lines
    assert "module blocking" in lines
    assert [line for line in lines if line.startswith("_")] == ["__version__"]
    assert "Budget is acp_host.Budget" in present["acp_host.fleet"].splitlines()


def test_fields_stand_in_the_order_in_which_they_are_given(present: dict[str, str]) -> None:
    _, _, rest = present["acp_host.wire.content"].partition("class TextContent(Model)\n")
    fields = [line.strip().partition(":")[0] for line in rest.split("\nclass ")[0].splitlines()]
    assert fields[-3:] == ["text", "annotations", "meta"]
