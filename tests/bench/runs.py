"""Runs programs one after the other, in turns, and takes what they report."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil

__all__ = ["in_turns", "run", "run_program", "weigh_import"]

HERE = Path(__file__).parent


def run(command: list[str]) -> str:
    """Return what a command prints; if it fails, so does this."""
    finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if finished.returncode != 0:
        problem = f"{' '.join(command)} ended with status {finished.returncode}"
        raise SystemExit(f"\n{finished.stderr[-4_000:]}\n{problem}")
    return finished.stdout


def run_program(name: str, *arguments: object) -> Any:
    """Return what a program of this directory reports."""
    interpreter = ["node", "--expose-gc"] if name.endswith(".mjs") else [sys.executable]
    return json.loads(run([*interpreter, str(HERE / name), *map(str, arguments)]))


def weigh_import(statement: str) -> int:
    """Return the memory (RSS) of a fresh interpreter that has run a statement, in bytes."""
    command = [sys.executable, "-c", f"{statement}; print(flush=True); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
        assert program.stdout
        program.stdout.readline()
        weight: int = psutil.Process(program.pid).memory_info().rss
        program.kill()
    return weight


def in_turns(rounds: int, measures: Mapping[str, Callable[[], Any]]) -> dict[str, list[Any]]:
    """Take each measure once in every round; return the results of each, round by round."""
    results: dict[str, list[Any]] = {name: [] for name in measures}
    for number in range(rounds):
        for name, measure in measures.items():
            _show_progress(f"round {number + 1} of {rounds}: {name}")
            results[name].append(measure())
    _show_progress("")
    return results


def _show_progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r  {text:<70}\r", end="", file=sys.stderr, flush=True)
