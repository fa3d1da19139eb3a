"""What every test of this directory gets: a check that nothing is left of it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from typing import Any

import psutil
import pytest


@pytest.fixture(scope="session", autouse=True)
def cheap_collections() -> Iterator[None]:
    """Takes what is there already out of the garbage collector's sight, since every test makes it look around."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
async def nothing_left() -> AsyncIterator[None]:
    """Fails a test that leaves a task or a process, or about which the event loop had to complain."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    tasks, processes = asyncio.all_tasks(), set(psutil.Process().children())
    yield
    assert asyncio.all_tasks() - tasks - {asyncio.current_task()} == set()
    assert set(psutil.Process().children()) - processes == set()  # zombies are in this list too
    gc.collect()  # errors that nobody looked at are complained about when they are collected
    assert complaints == []
