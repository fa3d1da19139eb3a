"""Which builds of programs run on this machine: :func:`platform_key`."""

from __future__ import annotations

import platform

__all__ = ["platform_key"]

_CPUS = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}


def platform_key() -> str:
    """Return this machine's name in manifests, e.g. ``linux-x86_64``; of a kind that they do not know, its own."""
    cpu = platform.machine().lower()
    return f"{platform.system().lower()}-{_CPUS.get(cpu, cpu)}"
