"""Real agents that run offline: what to install, how to configure it, how to start it.

Each agent is a package of npm's registry or of PyPI, pinned, installed into a folder of its own under ``.interop/`` by
``python -m tests.interop.agents`` (which is what ``make interop`` runs first). An agent gets a fresh home, the fake
model of :mod:`tests.interop.fake_model` and no login, so a run depends on nothing of the machine and reaches nothing
beyond loopback.
"""

from __future__ import annotations

import enum
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.interop.fake_model import FakeModel

__all__ = ["AGENTS", "Launch", "NpmPackage", "PythonPackage", "RealAgent", "Way"]

CACHE = Path(__file__).parents[2] / ".interop"
"""Where agents are installed; a folder for each package and version, so that a changed pin installs anew."""


@dataclass(frozen=True)
class Launch:
    """How to start an agent for one run: its command line and its whole environment."""

    command: list[str]
    environment: dict[str, str]


KEY = "opens-nothing-at-all"
"""What agents take for a key. Recordings leave it out wherever it stands, so it is no word of any language."""


class Way(enum.Enum):
    """What an agent does in its own way, as far as tests have to know."""

    WRITES_THROUGH_HOST = enum.auto()
    """It writes files by ``fs/write_text_file``; others write to the disk."""
    RUNS_COMMANDS_IN_HOST = enum.auto()
    """It runs commands by ``terminal/create``."""
    RUNS_WITHOUT_ASKING = enum.auto()
    """A harmless command is run without asking."""
    ASKS_UNDER_ANOTHER_ID = enum.auto()
    """It asks for permission under an id that no tool call has."""
    LEAVES_CALLS_OPEN = enum.auto()
    """It does not tell the end of a call that went well."""
    KEEPS_THOUGHTS = enum.auto()
    """It does not tell what the model thinks."""
    CANNOT_EDIT = enum.auto()
    """Its model is offered no tool that replaces text in a file."""
    LETS_MODEL_GO_ON = enum.auto()
    """It does not hang up on the model when a turn is cancelled."""
    HIDES_FAILURES = enum.auto()
    """A turn whose model has failed ends as if all were well."""
    FORGETS_WITHIN_THE_MINUTE = enum.auto()
    """To load a session in the minute in which it began takes away what it has stored of it."""


@dataclass(frozen=True)
class NpmPackage:
    """What is installed from the registry of npm; ``program`` is looked up in ``node_modules``."""

    package: str
    version: str

    programs = "node_modules"

    def install(self, folder: Path) -> None:
        npm = shutil.which("npm")
        if npm is None:
            raise SystemExit("npm was not found; most interop agents are npm packages")
        options = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([npm, "install", *options, f"{self.package}@{self.version}"], cwd=folder, check=True)


@dataclass(frozen=True)
class PythonPackage:
    """What is installed from PyPI, into an environment of its own; ``program`` is looked up there."""

    package: str
    version: str
    python: tuple[int, int]
    """The oldest version of Python that it runs with."""

    programs = "Scripts" if sys.platform == "win32" else "bin"

    def install(self, folder: Path) -> None:
        python = self.interpreter()
        if python is None:
            raise NotHere("{} needs Python {}.{}".format(self.package, *self.python))
        subprocess.run([python, "-m", "venv", folder], check=True)
        options = ["--quiet", "--disable-pip-version-check", "--no-input"]
        name, bracket, extra = self.package.partition("[")
        pip = [str(folder / self.programs / "python"), "-m", "pip", "install", *options]
        subprocess.run([*pip, f"{name}{bracket}{extra}=={self.version}"], check=True)

    def interpreter(self) -> str | None:
        """A Python that is new enough: the one that runs this, else the oldest of the others that works."""
        if sys.version_info >= self.python:
            return sys.executable
        for minor in range(self.python[1], 20):
            found = shutil.which(f"python3.{minor}")
            # A name alone may be a shim of pyenv's, for a version that is not chosen.
            for python in filter(None, (found, *map(str, Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")))):
                if subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0:
                    return python
        return None


class NotHere(Exception):
    """This machine does not have what the agent needs."""


@dataclass(frozen=True)
class RealAgent:
    """One agent that somebody else wrote.

    Attributes:
        name: what tests call it.
        source: what to install, with its exact version.
        program: the program in the installed folder, and its arguments.
        configure: writes the configuration into a home folder, for a model and the folder to work in, and returns the
            environment variables that the agent needs besides.
        ways: what it does in its own way, by which tests know what to expect.
    """

    name: str
    source: NpmPackage | PythonPackage
    program: tuple[str, ...]
    configure: Callable[[Path, FakeModel, Path], dict[str, str]]
    ways: frozenset[Way] = frozenset()

    @property
    def folder(self) -> Path:
        return CACHE / f"{self.name}-{self.source.version}"

    @property
    def installed(self) -> bool:
        return (self.folder / ".complete").is_file()

    def install(self) -> None:
        """Install it, unless that was done before.

        Raises:
            CalledProcessError: npm or pip has failed, with its status.
            NotHere: the machine has no interpreter for it.
        """
        if self.installed:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.source.install(self.folder)
        (self.folder / ".complete").touch()

    def launch(self, home: Path, model: FakeModel, project: Path) -> Launch:
        """Prepare ``home``, a folder that nothing else uses, for a run in ``project`` against ``model``."""
        program, *arguments = self.program
        environment = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
        environment |= {"HOME": str(home), "USERPROFILE": str(home), "NO_COLOR": "1"}
        for variable, place in {
            "XDG_CONFIG_HOME": ".config",
            "XDG_DATA_HOME": ".local/share",
            "XDG_STATE_HOME": ".local/state",
            "XDG_CACHE_HOME": ".cache",
            "TMPDIR": "tmp",
        }.items():
            folder = home / place
            folder.mkdir(parents=True, exist_ok=True)
            environment[variable] = str(folder)
        return Launch(
            [str(self.folder / self.source.programs / program), *arguments],
            environment | self.configure(home, model, project),
        )


def write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")


def configure_opencode(home: Path, model: FakeModel, project: Path) -> dict[str, str]:
    described = {"name": "Fake", "tool_call": True, "reasoning": True, "limit": {"context": 128_000, "output": 8_192}}
    write_json(
        home / ".config/opencode/opencode.json",
        {
            "model": "fake/fake-model",
            "small_model": "fake/fake-model",
            "autoupdate": False,
            "share": "disabled",
            "permission": {"edit": "ask", "bash": "ask", "webfetch": "deny"},
            "provider": {
                "fake": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "Fake",
                    "options": {"baseURL": model.url, "apiKey": KEY},
                    "models": {"fake-model": described},
                }
            },
        },
    )
    disabled = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    return {f"OPENCODE_DISABLE_{what}": "1" for what in disabled}


def configure_qwen(home: Path, model: FakeModel, project: Path) -> dict[str, str]:
    write_json(
        home / ".qwen/settings.json",
        {
            "security": {"auth": {"selectedType": "openai"}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
            "model": {"name": "fake-model"},
        },
    )
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": model.url, "OPENAI_MODEL": "fake-model"}


def configure_gemini(home: Path, model: FakeModel, project: Path) -> dict[str, str]:
    write_json(
        home / ".gemini/settings.json",
        {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        },
    )
    write_json(home / ".gemini/trustedFolders.json", {str(project): "TRUST_FOLDER"})
    return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": model.root, "GEMINI_MODEL": "gemini-2.5-pro"}


def configure_copilot(home: Path, model: FakeModel, project: Path) -> dict[str, str]:
    provider = {"BASE_URL": model.url, "TYPE": "openai", "API_KEY": KEY}
    return {
        **{f"COPILOT_PROVIDER_{name}": value for name, value in provider.items()},
        **{"COPILOT_MODEL": "fake-model", "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"},
    }


def configure_hermes(home: Path, model: FakeModel, project: Path) -> dict[str, str]:
    described = {"default": "fake-model", "provider": "custom", "base_url": model.url, "api_key": KEY}
    write_json(home / ".hermes/config.yaml", {"model": described})  # JSON is YAML, too
    return {"HERMES_HOME": str(home / ".hermes"), "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": KEY}


def configure_fast_agent(home: Path, model: FakeModel, project: Path) -> dict[str, str]:
    return {"GENERIC_API_KEY": KEY, "GENERIC_BASE_URL": model.url}


def opencode_package() -> str:
    """The package that holds OpenCode's binary for this machine; installing it alone saves half the download."""
    system = {"win32": "windows"}.get(sys.platform, sys.platform)
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    return f"opencode-{system}-{machine}"


AGENTS = {
    agent.name: agent
    for agent in (
        RealAgent(
            "opencode",
            NpmPackage(opencode_package(), "1.18.33"),
            (f"{opencode_package()}/bin/opencode", "acp"),
            configure_opencode,
            frozenset({Way.WRITES_THROUGH_HOST}),
        ),
        RealAgent(
            "qwen",
            NpmPackage("@qwen-code/qwen-code", "0.15.10"),
            (".bin/qwen", "--acp"),
            configure_qwen,
            frozenset({Way.WRITES_THROUGH_HOST}),
        ),
        RealAgent(
            "gemini",
            NpmPackage("@google/gemini-cli", "0.61.0"),
            (".bin/gemini", "--acp"),
            configure_gemini,
            frozenset({Way.WRITES_THROUGH_HOST, Way.FORGETS_WITHIN_THE_MINUTE}),
        ),
        RealAgent(
            "copilot",
            NpmPackage("@github/copilot", "1.0.102"),
            (".bin/copilot", "--acp"),
            configure_copilot,
            frozenset({Way.HIDES_FAILURES}),
        ),
        RealAgent(
            "hermes",
            PythonPackage("hermes-agent[acp]", "0.19.0", (3, 11)),
            ("hermes-acp",),
            configure_hermes,
            frozenset(
                {
                    Way.RUNS_WITHOUT_ASKING,
                    Way.ASKS_UNDER_ANOTHER_ID,
                    Way.LEAVES_CALLS_OPEN,
                    Way.LETS_MODEL_GO_ON,
                    Way.HIDES_FAILURES,
                }
            ),
        ),
        RealAgent(
            "fast-agent",
            PythonPackage("fast-agent-mcp", "0.10.48", (3, 12)),
            ("fast-agent", "acp", "--model", "generic.fake-model", "--shell"),
            configure_fast_agent,
            frozenset({Way.WRITES_THROUGH_HOST, Way.RUNS_COMMANDS_IN_HOST, Way.KEEPS_THOUGHTS, Way.CANNOT_EDIT}),
        ),
    )
}


def main(names: Iterable[str]) -> None:
    for name in names or AGENTS:
        agent = AGENTS[name]
        print(f"{name}: {agent.source.package} {agent.source.version} in {CACHE.name}/{agent.folder.name}", flush=True)
        try:
            agent.install()
        except NotHere as missing:
            print(f"!!! {missing}, WHICH WAS NOT FOUND: {name} IS NOT TESTED !!!", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
