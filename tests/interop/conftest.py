"""What conversations with agents by others share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from acp_host.wire.permission import PermissionOptionKind
from tests.interop.users import Asked
from tests.processes import none_left


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that a session works in."""
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    with none_left():
        yield


@pytest.fixture
def allowing() -> Asked:
    return Asked(PermissionOptionKind.ALLOW_ONCE)


@pytest.fixture
def rejecting() -> Asked:
    return Asked(PermissionOptionKind.REJECT_ONCE)
