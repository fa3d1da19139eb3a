"""Which environment commands get, and what agents may not set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.errors import InvalidInput
from acp_host.services import terminal_environment
from acp_host.services.terminal_environment import (
    _POSIX_NAMES,
    _WINDOWS_NAMES,
    LOADER_NAMES,
    PTY_VARIABLES,
    SECRET_NAMES,
    EnvironmentPolicy,
)

OURS = {"PATH": "/bin", "HOME": "/home/me", "LC_ALL": "C", "GITHUB_TOKEN": "t0p", "npm_config": "x", "EDITOR": "vi"}


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_environment, "_IGNORES_CASE", True)


@pytest.mark.parametrize(
    ("policy", "inherited"),
    [
        (EnvironmentPolicy(), set(OURS)),
        (EnvironmentPolicy.inherit(), set(OURS)),
        (EnvironmentPolicy.inherit(deny=SECRET_NAMES), set(OURS) - {"GITHUB_TOKEN"}),
        (EnvironmentPolicy(allow=_POSIX_NAMES), {"PATH", "HOME", "LC_ALL"}),
        (EnvironmentPolicy.only("PATH", "npm_*"), {"PATH", "npm_config"}),
        (EnvironmentPolicy.only("*", deny=["PATH"]), set(OURS) - {"PATH"}),
        (EnvironmentPolicy.only("path"), set()),
        (EnvironmentPolicy.only(), set()),
    ],
)
def test_what_is_inherited(policy: EnvironmentPolicy, inherited: set[str]) -> None:
    assert policy.environment(inherited=OURS) == {name: OURS[name] for name in inherited}


def test_later_layers_win() -> None:
    policy = EnvironmentPolicy.only("A", "B", "C", "D", variables={"C": "host", "D": "host"})
    inherited = dict.fromkeys("ABCDE", "inherited")
    environment = policy.environment(
        {"D": "agent", "X": "agent"}, preset={"B": "preset", "C": "preset"}, inherited=inherited
    )
    assert environment == {"A": "inherited", "B": "preset", "C": "host", "D": "agent", "X": "agent"}


def test_isolated_is_what_programs_need(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PATH", "HOME", "TMPDIR"):
        monkeypatch.setenv(name, "ours")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("VIRTUAL_ENV", "/venv")
    environment = EnvironmentPolicy.isolated(variables={"CI": "1"}).environment()
    assert {"PATH", "CI"} <= set(environment)
    assert "AWS_SECRET_ACCESS_KEY" not in environment
    assert "VIRTUAL_ENV" not in environment


def test_what_is_isolated_never_looks_like_a_secret() -> None:
    denying = EnvironmentPolicy.inherit(deny=SECRET_NAMES)
    assert all(denying.inherits(name) for name in (*_POSIX_NAMES, *_WINDOWS_NAMES))


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "GH_TOKEN",
        "PGPASSWORD",
        "DATABASE_URL",
        "SENTRY_DSN",
        "NPM_AUTH",
        "AZURE_PAT",
        "APP_DATABASE_URL",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "SSH_PRIVATE_KEY",
        "KEY_PASSPHRASE",
    ],
)
def test_names_that_look_like_secrets(name: str) -> None:
    assert not EnvironmentPolicy.inherit(deny=SECRET_NAMES).inherits(name)


@pytest.mark.parametrize("name", ["SSH_AUTH_SOCK", "PWD", "OLDPWD", "KEYBOARD", "PATH", "AUTHOR", "COLORTERM"])
def test_names_that_do_not(name: str) -> None:
    assert EnvironmentPolicy.inherit(deny=SECRET_NAMES).inherits(name)


def test_an_agent_may_not_choose_what_every_program_loads() -> None:
    wanted = ("LD_PRELOAD", "PAGER", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "BASH_FUNC_ls%%", "PATH", "ENV")
    assert EnvironmentPolicy().refused(wanted) == (
        "LD_PRELOAD",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "BASH_FUNC_ls%%",
    )
    assert EnvironmentPolicy.inherit(refuse=()).refused(wanted) == ()
    assert EnvironmentPolicy.isolated(refuse=(*LOADER_NAMES, "PATH")).refused(["PATH"]) == ("PATH",)
    assert EnvironmentPolicy.only(refuse=["*"]).refused(["PAGER"]) == ("PAGER",)


def test_on_windows_case_counts_for_nothing(windows: None) -> None:
    inherited = {"Path": "theirs", "SystemRoot": "C:\\Windows", "Api_Token": "secret"}
    policy = EnvironmentPolicy.only("PATH", "SYSTEMROOT", "api_*", deny=SECRET_NAMES, variables={"PATH": "host"})
    assert policy.environment({"pAtH": "agent"}, inherited=inherited) == {"SystemRoot": "C:\\Windows", "pAtH": "agent"}
    assert policy.refused(["Bash_Env"]) == ("Bash_Env",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"allow": "PATH"},
        {"deny": ("",)},
        {"refuse": ("A=B",)},
        {"allow": (1,)},
        {"variables": {"A": 1}},
        {"variables": {"A": "\0"}},
        {"variables": {"": "x"}},
        {"variables": [("A", "1")]},
    ],
)
def test_what_can_be_no_policy_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        EnvironmentPolicy(**wrong)


def test_values_are_in_no_repr() -> None:
    assert "s3cret" not in repr(EnvironmentPolicy.inherit(variables={"TOKEN": "s3cret"}))


names = st.text("ABC_", min_size=1, max_size=3)
variables = st.dictionaries(names, st.text("xyz", max_size=2), max_size=5)


@given(st.lists(names), st.lists(names), variables, variables, variables)
def test_the_environment_is_a_filter_and_four_layers(
    allow: list[str], deny: list[str], inherited: Mapping[str, str], host: Mapping[str, str], agent: Mapping[str, str]
) -> None:
    policy = EnvironmentPolicy.only(*allow, deny=deny, variables=host)
    kept = {name: value for name, value in inherited.items() if name in allow and name not in deny}
    expected = {**kept, **PTY_VARIABLES, **host, **agent}
    assert policy.environment(agent, preset=PTY_VARIABLES, inherited=inherited) == expected
