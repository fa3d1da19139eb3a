"""What the agent says of modes, models and configuration options, and how it comes together: :class:`Settings`.

Many agents say one thing twice: in ``configOptions``, and for older hosts in ``modes`` or ``models``. Then the
configuration option is the one to show, and its *twin* is kept in step with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count
from typing import Any

from attrs import define, field

from acp_host.state._value import is_same
from acp_host.state.option_entries import OptionChoice, OptionSource, SessionOption
from acp_host.state.snapshot import Modes
from acp_host.wire._model import evolve
from acp_host.wire.config_options import (
    SessionConfigBoolean,
    SessionConfigOption,
    SessionConfigSelect,
    SessionConfigSelectGroup,
    SessionConfigSelectOption,
    SessionModeState,
    UnknownConfigOption,
)
from acp_host.wire.session_models import SessionModelState

__all__ = ["Settings"]


@define
class Settings:
    """What the agent last said of its settings, or took.

    Attributes:
        modes: its modes.
        models: its models, in the form of the older draft.
        config_options: its configuration options.
    """

    modes: Modes = field(factory=Modes)
    models: SessionModelState | None = None
    config_options: tuple[SessionConfigOption, ...] = ()

    # --- what the agent says ----------------------------------------------------------------------------------------

    def opened(
        self,
        modes: SessionModeState | None,
        models: SessionModelState | None,
        config_options: tuple[SessionConfigOption, ...] | None,
    ) -> None:
        """Take what is said when a session is opened; ``None`` leaves what is known."""
        if modes is not None:
            self.modes = Modes(current=modes.current_mode_id, available=modes.available_modes)
        if models is not None:
            self.models = models
        if config_options is not None:
            self.replace_config_options(config_options)

    def replace_config_options(self, options: tuple[SessionConfigOption, ...]) -> None:
        """Take all configuration options anew, and bring the twins in step."""
        if not is_same(options, self.config_options):
            self.config_options = options
        mode, model, models = self.mode_twin(), self.model_twin(), self.models
        if mode is not None and mode.current_value in {one.id for one in self.modes.available}:
            self._set_mode(mode.current_value)
        known = () if models is None else [one.model_id for one in models.available_models]
        if models is not None and model is not None and model.current_value in known:
            self.models = evolve(models, current_model_id=model.current_value)

    def set_mode(self, mode_id: str) -> None:
        """Another mode is on."""
        self._set_mode(mode_id)
        self._set_twin(self.mode_twin(), mode_id)

    def set_model(self, model_id: str) -> None:
        """Another model is in use."""
        if self.models is not None:
            self.models = evolve(self.models, current_model_id=model_id)
        self._set_twin(self.model_twin(), model_id)

    def set_config_option(self, config_id: str, value: str | bool) -> None:
        """A configuration option has another value; one that its kind cannot have changes nothing."""
        options = tuple([_with_value(option, config_id, value) for option in self.config_options])
        self.replace_config_options(options)

    def _set_mode(self, mode_id: str) -> None:
        if mode_id != self.modes.current:
            self.modes = evolve(self.modes, current=mode_id)

    def _set_twin(self, twin: SessionConfigSelect | None, value: str) -> None:
        if twin is not None and value in _values(twin):
            self.set_config_option(twin.id, value)

    # --- twins ------------------------------------------------------------------------------------------------------

    def mode_twin(self) -> SessionConfigSelect | None:
        """Return the configuration option that says the same as the modes, or ``None``."""
        return self._twin("mode", {mode.id for mode in self.modes.available})

    def model_twin(self) -> SessionConfigSelect | None:
        """Return the configuration option that says the same as the models, or ``None``."""
        models = self.models.available_models if self.models is not None else ()
        return self._twin("model", {model.model_id for model in models})

    def mode_id(self) -> str:
        """Return the id of the option that the modes are shown as."""
        return self._shown_as(OptionSource.MODE, self.mode_twin())

    def model_id(self) -> str:
        """Return the id of the option that the models are shown as."""
        return self._shown_as(OptionSource.MODEL, self.model_twin())

    def _shown_as(self, source: OptionSource, twin: SessionConfigSelect | None) -> str:
        if twin is not None:
            return twin.id
        # An option that is no twin may have the usual id, such as a switch.
        taken = {_shown(option, number).id for number, option in enumerate(self.config_options, 1)}
        others = (f"{source}-{number}" for number in count(2))
        return next(each for each in chain([str(source)], others) if each not in taken)

    def _twin(self, word: str, values: set[str]) -> SessionConfigSelect | None:
        """Find a twin by what it is about, whatever its choices: a model with efforts was once several models.

        Else by its choices: some agents tell something else as their modes, such as how hard they think.
        """
        selects = [option for option in self.config_options if isinstance(option, SessionConfigSelect)]
        about = (option for option in selects if option.category == word or option.id == word)
        same = (option for option in selects if values and _values(option) == values)
        return next(about, None) or next(same, None)

    # --- what to show -----------------------------------------------------------------------------------------------

    def options(self) -> Iterator[SessionOption]:
        """Yield every option with the value that the agent last said; no two have the same id, twins are left out."""
        seen: set[str] = set()
        for number, option in enumerate(self.config_options, 1):
            shown = _shown(option, number)
            if shown.id not in seen:
                seen.add(shown.id)
                yield shown
        modes, models = self.modes, self.models
        if (modes.available or modes.current is not None) and self.mode_twin() is None:
            choices = tuple([_choice(mode.id, mode) for mode in modes.available])
            yield _old(self.mode_id(), "Mode", modes.current, choices, OptionSource.MODE)
        if models is not None and self.model_twin() is None:
            choices = tuple([_choice(model.model_id, model) for model in models.available_models])
            yield _old(self.model_id(), "Model", models.current_model_id, choices, OptionSource.MODEL)


def _values(option: SessionConfigSelect) -> set[str]:
    return {choice.value for choice in _choices(option)}


def _with_value(option: SessionConfigOption, config_id: str, value: str | bool) -> SessionConfigOption:
    if isinstance(option, UnknownConfigOption) or option.id != config_id or option.current_value == value:
        return option
    fits = isinstance(value, bool) == isinstance(option, SessionConfigBoolean)
    return evolve(option, current_value=value) if fits else option


def _shown(option: SessionConfigOption, number: int) -> SessionOption:
    if isinstance(option, UnknownConfigOption):
        said = {name: told for name, told in option.data.items() if isinstance(told, str)}
        option_id = said.get("id", f"#{number}")
        return SessionOption(
            id=option_id,
            name=said.get("name", option_id),
            kind=option.tag if option.problem is None else "unknown",
            value=option.data.get("currentValue"),
            confirmed=option.data.get("currentValue"),
            description=said.get("description"),
            category=said.get("category"),
            data=option.data,
        )
    is_select = isinstance(option, SessionConfigSelect)
    return SessionOption(
        id=option.id,
        name=option.name,
        kind="select" if is_select else "boolean",
        value=option.current_value,
        confirmed=option.current_value,
        description=option.description or None,
        category=option.category or None,
        choices=tuple(_choices(option)) if isinstance(option, SessionConfigSelect) else (),
    )


def _choices(option: SessionConfigSelect) -> Iterator[OptionChoice]:
    for item in option.options:
        if isinstance(item, SessionConfigSelectGroup):
            for choice in item.options:
                yield _choice(choice.value, choice, item.name)
        elif isinstance(item, SessionConfigSelectOption):
            yield _choice(item.value, item)


def _choice(value: str, told: Any, group: str | None = None) -> OptionChoice:
    return OptionChoice(value=value, name=told.name, description=told.description or None, group=group)


def _old(
    option_id: str, name: str, current: str | None, choices: tuple[OptionChoice, ...], source: OptionSource
) -> SessionOption:
    return SessionOption(
        id=option_id,
        name=name,
        kind="select",
        value=current,
        confirmed=current,
        category=str(source),
        choices=choices,
        source=source,
    )
