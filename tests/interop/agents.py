"""Real agents that run offline: what to install, how to configure it, how to start it.

Each agent is a package of the npm registry, pinned, installed into a folder of its own under ``.interop/`` by
``python -m tests.interop.agents`` (which is what ``make interop`` runs first). An agent gets a fresh home, the fake
model of :mod:`tests.interop.fake_model` and no login, so a run depends on nothing of the machine and reaches nothing
beyond loopback.
"""

from __future__ import annotations

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

__all__ = ["AGENTS", "Launch", "RealAgent"]

CACHE = Path(__file__).parents[2] / ".interop"
"""Where agents are installed; a folder for each package and version, so that a changed pin installs anew."""


@dataclass(frozen=True)
class Launch:
    """How to start an agent for one run: its command line and its whole environment."""

    command: list[str]
    environment: dict[str, str]


@dataclass(frozen=True)
class RealAgent:
    """One agent that somebody else wrote.

    Attributes:
        name: what tests call it.
        package: its npm package.
        version: the exact version.
        program: the program in the installed folder, and its arguments.
        configure: writes the configuration into a home folder, pointing at the model's base URL, and returns the
            environment variables that the agent needs besides.
    """

    name: str
    package: str
    version: str
    program: tuple[str, ...]
    configure: Callable[[Path, str], dict[str, str]]

    @property
    def folder(self) -> Path:
        return CACHE / f"{self.name}-{self.version}"

    @property
    def installed(self) -> bool:
        return (self.folder / ".complete").is_file()

    def install(self) -> None:
        """Install the package, unless that was done before; raises ``CalledProcessError`` with npm's status."""
        if self.installed:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        npm = shutil.which("npm")
        if npm is None:
            raise SystemExit("npm was not found; the interop agents are npm packages")
        options = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([npm, "install", *options, f"{self.package}@{self.version}"], cwd=self.folder, check=True)
        (self.folder / ".complete").touch()

    def launch(self, home: Path, model_url: str) -> Launch:
        """Prepare ``home``, a folder that nothing else uses, for a run against the model at ``model_url``."""
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
            [str(self.folder / "node_modules" / program), *arguments],
            environment | self.configure(home, model_url),
        )


def write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")


def configure_opencode(home: Path, model_url: str) -> dict[str, str]:
    model = {"name": "Fake", "tool_call": True, "reasoning": True, "limit": {"context": 128_000, "output": 8_192}}
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
                    "options": {"baseURL": model_url, "apiKey": "none"},
                    "models": {"fake-model": model},
                }
            },
        },
    )
    disabled = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    return {f"OPENCODE_DISABLE_{what}": "1" for what in disabled}


def configure_qwen(home: Path, model_url: str) -> dict[str, str]:
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
    return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": model_url, "OPENAI_MODEL": "fake-model"}


def opencode_package() -> str:
    """The package that holds OpenCode's binary for this machine; installing it alone saves half the download."""
    system = {"win32": "windows"}.get(sys.platform, sys.platform)
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    return f"opencode-{system}-{machine}"


AGENTS = {
    agent.name: agent
    for agent in (
        RealAgent(
            "opencode", opencode_package(), "1.18.33", (f"{opencode_package()}/bin/opencode", "acp"), configure_opencode
        ),
        RealAgent("qwen", "@qwen-code/qwen-code", "0.15.10", (".bin/qwen", "--acp"), configure_qwen),
    )
}


def main(names: Iterable[str]) -> None:
    for name in names or AGENTS:
        agent = AGENTS[name]
        print(f"{name}: {agent.package}@{agent.version} in {CACHE.name}/{agent.folder.name}", flush=True)
        agent.install()


if __name__ == "__main__":
    main(sys.argv[1:])
