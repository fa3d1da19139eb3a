"""The upstream schemas, from the npm package that they are published in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.schema_strategies import Strategies
from tests.conformance.versions import FILES, V1, VERSIONS, Version


@pytest.fixture(params=VERSIONS, ids=str)
def version(request: pytest.FixtureRequest) -> Version:
    """Each version of the protocol in turn."""
    found: Version = request.param
    return found


@pytest.fixture(params=sorted(FILES))
def schema(request: pytest.FixtureRequest, version: Version) -> dict[str, Any]:
    """Each of the schemas of a version in turn."""
    return version.schemas[request.param]


@pytest.fixture
def schemas(version: Version) -> dict[str, dict[str, Any]]:
    """Both schemas of a version, ``stable`` and ``unstable``, as decoded."""
    return version.schemas


@pytest.fixture(scope="session")
def strategies() -> Strategies:
    """Return what makes valid values for the definitions of version 1's unstable schema."""
    return V1.strategies
