"""What the user can set and choose: modes, options, models, commands; and what a session says of itself."""

from __future__ import annotations

from typing import Any

from acp_host.state import events
from acp_host.state.option_entries import OptionSource
from acp_host.testing.gallery.scenes import Scenes
from acp_host.testing.gallery.stage import Setting, Stage
from acp_host.wire.config_options import SessionConfigOptionCategory
from acp_host.wire.usage import Usage

__all__ = ["SCENES"]

SCENES = Scenes("options")

_MODES = {
    "currentModeId": "ask",
    "availableModes": [
        {"id": "ask", "name": "Ask", "description": "Asks before it changes anything."},
        {"id": "code", "name": "Code", "description": "Changes files without asking."},
        {"id": "plan", "name": "Plan"},
    ],
}
_MODELS = {
    "currentModelId": "small",
    "availableModels": [
        {"modelId": "small", "name": "Small", "description": "Quick."},
        {"modelId": "large", "name": "Large", "description": "Thorough."},
    ],
}
_VALUES = [{"value": "low", "name": "Low"}, {"value": "high", "name": "High", "description": "Takes longer."}]


def _select(category: str | None = None, **members: Any) -> dict[str, Any]:
    told = {"type": "select", "id": "effort", "name": "Effort", "currentValue": "low", "options": _VALUES}
    return told | ({"category": category} if category else {}) | members


_FAST = {"type": "boolean", "id": "fast", "name": "Fast", "currentValue": False, "description": "Costs more."}


def _opened(**members: Any) -> Setting:
    return Setting(opened=members)


@SCENES.scene("modes", "an agent with three modes", _opened(modes=_MODES))
def modes(stage: Stage) -> None:
    pass


@SCENES.scene("mode_changed", "the agent has changed its mode by itself", _opened(modes=_MODES))
def mode_changed(stage: Stage) -> None:
    stage.prompts("Do it.")
    stage.tells("current_mode_update", currentModeId="code")


@SCENES.scene("mode_never_listed", "a mode is on that the agent has not listed", _opened(modes=_MODES))
def mode_never_listed(stage: Stage) -> None:
    stage.tells("current_mode_update", currentModeId="secret")


@SCENES.scene("models", "an agent that tells of its models in an older way", _opened(models=_MODELS))
def models(stage: Stage) -> None:
    pass


@SCENES.scene("switch", "a switch", _opened(configOptions=[_FAST]))
def switch(stage: Stage) -> None:
    pass


@SCENES.scene("grouped", "a choice with headings", _opened(configOptions=[]))
def grouped(stage: Stage) -> None:
    groups = [
        {"group": "here", "name": "On this machine", "options": [{"value": "tiny", "name": "Tiny"}]},
        {"group": "there", "name": "Elsewhere", "options": [{"value": "huge", "name": "Huge"}]},
    ]
    option = _select("model", id="model", name="Model", currentValue="huge", options=groups)
    stage.tells("config_option_update", configOptions=[option])


@SCENES.scene("every_category", "a choice of every category, and of one that is the agent's own")
def every_category(stage: Stage) -> None:
    categories = (*SessionConfigOptionCategory, "_flavour")
    options = [_select(category, id=category, name=category.strip("_")) for category in categories]
    stage.tells("config_option_update", configOptions=[_select(), *options, _FAST])


@SCENES.scene("unknown_kind", "an option of a kind that can be shown and not set")
def unknown_kind(stage: Stage) -> None:
    option = {"type": "slider", "id": "heat", "name": "Heat", "currentValue": 0.7, "minimum": 0, "maximum": 2}
    stage.tells("config_option_update", configOptions=[option])


_SENT = events.OptionSetSent(1, OptionSource.CONFIG_OPTION, "high", "effort")


@SCENES.scene(
    "set_pending", "the user has set an option, and the agent has not answered", _opened(configOptions=[_select()])
)
def set_pending(stage: Stage) -> None:
    stage.folds(_SENT)


@SCENES.scene("set_failed", "the agent has refused to set an option", _opened(configOptions=[_select()]))
def set_failed(stage: Stage) -> None:
    stage.folds(_SENT, events.OptionSetFailed(1, "High effort is not part of your plan."))


@SCENES.scene(
    "set_taken", "the agent has set an option, and with it another one", _opened(configOptions=[_select(), _FAST])
)
def set_taken(stage: Stage) -> None:
    stage.folds(_SENT)
    stage.tells("config_option_update", configOptions=[_select(currentValue="high"), {**_FAST, "currentValue": True}])
    stage.folds(events.OptionSetTaken(_SENT))


@SCENES.scene("commands", "slash commands with and without a hint")
def commands(stage: Stage) -> None:
    stage.tells(
        "available_commands_update",
        availableCommands=[
            {"name": "web", "description": "Search the web", "input": {"hint": "what to look for"}},
            {"name": "test", "description": "Run the tests"},
            *({"name": f"command-{number}", "description": f"Does number {number}"} for number in range(30)),
        ],
    )


@SCENES.scene("title_of_agent", "a session that the agent has named")
def title_of_agent(stage: Stage) -> None:
    stage.tells("session_info_update", title="Dates in the wrong order", updatedAt="2026-01-01T12:00:00Z")


@SCENES.scene("title_provisional", "a session that has the beginning of its first prompt for a name")
def title_provisional(stage: Stage) -> None:
    stage.prompts("Fix the failing test in test_dates.py, and look for others of the kind while you are at it, please.")


@SCENES.scene("usage", "how full the context is, what was spent, and what the last turn took")
def usage(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    stage.tells("usage_update", used=48_000, size=200_000, cost={"amount": 0.37, "currency": "EUR"})
    stage.ends(usage=Usage(12_300, 11_000, 1_300, thought_tokens=400, cached_read_tokens=9_000))


@SCENES.scene("usage_nearly_full", "a context that is nearly full, without a price")
def usage_nearly_full(stage: Stage) -> None:
    stage.tells("usage_update", used=197_500, size=200_000)


@SCENES.scene("usage_overfull", "a context that holds more than fits, as some agents say")
def usage_overfull(stage: Stage) -> None:
    stage.tells("usage_update", used=210_000, size=200_000)


@SCENES.scene("usage_of_nothing", "a context of no size")
def usage_of_nothing(stage: Stage) -> None:
    stage.tells("usage_update", used=0, size=0)
