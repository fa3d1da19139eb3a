"""The words that the tests of this directory watch, and what becomes of observers that fail."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.scheduling import AsyncioScheduler
from acp_host.state.changes import ChangeSet
from acp_host.state.clock import ManualScheduler
from tests.state.observable.words import Words


@pytest.fixture
def failures() -> list[tuple[Any, Exception]]:
    return []


@pytest.fixture
def scheduler() -> ManualScheduler:
    return ManualScheduler()


@pytest.fixture
def words(scheduler: ManualScheduler, failures: list[tuple[Any, Exception]]) -> Words:
    return Words(scheduler, lambda observer, error: failures.append((observer, error)))


@pytest.fixture
def heard(words: Words) -> list[ChangeSet]:
    heard: list[ChangeSet] = []
    words.changed.connect(heard.append)
    return heard


@pytest.fixture
async def live(failures: list[tuple[Any, Exception]]) -> Words:
    return Words(AsyncioScheduler(), lambda observer, error: failures.append((observer, error)))
