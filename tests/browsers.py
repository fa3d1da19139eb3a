"""One headless Chromium for all tests of the page: the distribution's, driven by Playwright, which downloads none."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

__all__ = ["CHROMIUM", "arguments", "browser"]

CHROMIUM = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None)
"""The program, or ``None``: then the tests of the page are skipped."""
_PATIENCE = 20_000
"""Milliseconds that a test waits for what is to appear: machines that run tests are often busy."""


def arguments() -> list[str]:
    """Return how to start it; it opens our page only, and its sandbox needs rights that root in a container lacks."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The browser; tests that use it run on the loop of the whole session, as it does."""
    if CHROMIUM is None:
        pytest.skip("!!! CHROMIUM WAS NOT FOUND: the page is not tested; `make system-deps` installs it !!!")
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=arguments())
        expect.set_options(timeout=_PATIENCE)
        yield running
        await running.close()
