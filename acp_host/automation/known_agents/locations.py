"""Where things about agents are kept: :class:`Locations`."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

__all__ = ["Locations"]


@frozen(kw_only=True)
class Locations:
    """Where things about agents are kept.

    Attributes:
        own: the user's file of agents, ``agents.toml``.
        registries: the folder for copies of registries.
        programs: the folder for agents that were downloaded.
        seen: the file that says what agents were last seen to support.
    """

    own: Path
    registries: Path
    programs: Path
    seen: Path

    @classmethod
    def for_user(cls) -> Locations:
        """Return where the platform wants the user's files to be."""
        import platformdirs  # a connection by command does not need it

        data = platformdirs.user_data_path("acp-host")
        return cls(
            own=platformdirs.user_config_path("acp-host") / "agents.toml",
            registries=data / "registries",
            programs=data / "agents",
            seen=platformdirs.user_state_path("acp-host") / "agents-seen.json",
        )
