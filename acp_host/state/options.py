"""What a user can set about a session, reactive: :class:`OptionsView`.

A set is shown at once and settled by what the agent says. Several can be under way, of one option too; each is known
by a number of its own, so that what becomes of one touches no other:

=====================================  ================================================================================
what comes                             what it does to a set under way
=====================================  ================================================================================
the value that it wants, in an update  It is settled; the answer that is still to come adds nothing. Only the oldest set
                                       of an option can be settled so, and only by a value that the agent did not have
                                       before: agents repeat themselves.
another value                          Nothing: it may have been on its way. It is shown when no set is under way.
the answer, with all options           It is settled; what the answer says counts.
the answer, with nothing               It is settled, and the option has the value that was wanted.
an error, or the end of the connection It is over, and what the agent last said is shown.
=====================================  ================================================================================

A set that is settled ends those before it too: the newest wish counts, in whichever order the answers come. What the
agent said last always counts more than what is concluded here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from attrs import define

from acp_host.state import events
from acp_host.state._value import is_same
from acp_host.state.change_signal import Report
from acp_host.state.changes import ChangeKind
from acp_host.state.clock import Scheduler
from acp_host.state.observable import Observable
from acp_host.state.option_entries import OptionSource, OptionsSnapshot, SessionOption
from acp_host.state.option_settings import Settings
from acp_host.state.snapshot import Modes
from acp_host.wire._model import evolve
from acp_host.wire.config_options import SessionConfigOption

__all__ = ["OptionsView"]

_SECTION = "entries"


@define(eq=False)
class _Set:
    """A set under way.

    Attributes:
        option_id: of the option that it is shown at.
        sent: what was asked of the agent.
        is_settled: the option has its value already, or that of a newer one.
    """

    option_id: str | None
    sent: events.OptionSetSent
    is_settled: bool = False


class OptionsView(Observable[OptionsSnapshot]):
    """The options of one session: configuration options, modes and models in one form.

    Sections of its change sets: ``entries`` (keys: ids).

    Args:
        scheduler: decides when observers are called.
        report: as for :class:`~acp_host.state.observable.Observable`.
        note_told: called with ``"modes"`` or ``"config_options"`` when that changes.
    """

    def __init__(
        self, scheduler: Scheduler, report: Report | None = None, note_told: Callable[[str], None] = lambda _: None
    ) -> None:
        super().__init__(scheduler, report)
        self._settings = Settings()
        self._note_told = note_told
        self._under_way: dict[int, _Set] = {}
        self._newest: dict[str | None, int] = {}
        self._errors: dict[str | None, str] = {}
        self._told: dict[str, SessionOption] = {}
        self._shown: dict[str, SessionOption] = {}

    def _freeze(self) -> OptionsSnapshot:
        return OptionsSnapshot(entries=tuple(self._shown.values()))

    def kept(self) -> Settings:
        """Return what the agent has said so far, for :meth:`restore`."""
        return copy.copy(self._settings)

    def restore(self, settings: Settings) -> None:
        """Take what the agent had said at an earlier moment as what it says now."""
        self._fold(lambda: setattr(self, "_settings", settings), settles=False)

    @property
    def modes(self) -> Modes:
        """The modes, as the agent tells of them."""
        return self._settings.modes

    @property
    def config_options(self) -> tuple[SessionConfigOption, ...]:
        """The configuration options, as the agent tells of them."""
        return self._settings.config_options

    # --- what the agent says ----------------------------------------------------------------------------------------

    def reducers(self) -> dict[type, Callable[[Any], None]]:
        """Return what folds each kind of event."""
        return {
            events.SessionOpened: self._opened,
            events.ModeChanged: self._mode_changed,
            events.ConfigOptionsReplaced: self._config_options_replaced,
            events.OptionSetSent: self._sent,
            events.OptionSetTaken: self._taken,
            events.OptionSetFailed: self._failed,
        }

    def _opened(self, event: events.SessionOpened) -> None:
        self._errors.clear()
        self._fold(lambda: self._settings.opened(event.modes, event.models, event.config_options))

    def _mode_changed(self, event: events.ModeChanged) -> None:
        self._fold(lambda: self._settings.set_mode(event.mode_id))

    def _config_options_replaced(self, event: events.ConfigOptionsReplaced) -> None:
        self._fold(lambda: self._settings.replace_config_options(event.options))

    def _fold(self, change: Callable[[], None], *, settles: bool = True) -> None:
        """Change what the agent has said; ``settles``: it may tell that a set was done."""
        before, modes, config_options = self._told, self.modes, self.config_options
        change()
        self._told = {option.id: _shared(option, before.get(option.id)) for option in self._settings.options()}
        if not is_same(self.modes, modes):
            self._note_told("modes")
        if self.config_options is not config_options:
            self._note_told("config_options")
        if settles:
            for option_id, option in self._told.items():
                known = before.get(option_id)
                if known is not None and not is_same(known.confirmed, option.confirmed):
                    self._settle_oldest(option_id, option.confirmed)
        self._show()

    def _settle_oldest(self, option_id: str, value: Any) -> None:
        oldest = next(iter(self._unsettled(option_id)), None)
        if oldest is not None and oldest.sent.value == value:
            oldest.is_settled = True

    # --- what the user sets -----------------------------------------------------------------------------------------

    def _sent(self, event: events.OptionSetSent) -> None:
        option_id = self._id_of(event)
        self._under_way[event.number] = _Set(option_id, event)
        self._newest[option_id] = event.number
        self._errors.pop(option_id, None)
        self._show()

    def _taken(self, event: events.OptionSetTaken) -> None:
        if event.options:
            options = event.options
            self._fold(lambda: self._settings.replace_config_options(options))
        done = self._under_way.pop(event.sent.number, None) or _Set(self._id_of(event.sent), event.sent)
        if self._newest.get(done.option_id) == event.sent.number:
            self._errors.pop(done.option_id, None)  # it was given up, or sent again
        for earlier in self._unsettled(done.option_id):
            earlier.is_settled = earlier.is_settled or earlier.sent.number < event.sent.number
        if event.options or done.is_settled:
            self._show()
        else:
            self._fold(lambda: self._make_so(event.sent), settles=False)

    def _failed(self, event: events.OptionSetFailed) -> None:
        failed = self._under_way.pop(event.number, None)
        if failed is not None:
            if self._newest[failed.option_id] == event.number:
                self._errors[failed.option_id] = event.reason
            self._show()

    def _id_of(self, sent: events.OptionSetSent) -> str | None:
        """Return the id of the option that a set is shown at."""
        if sent.source is OptionSource.CONFIG_OPTION:
            return sent.config_id
        return self._settings.mode_id() if sent.source is OptionSource.MODE else self._settings.model_id()

    def _make_so(self, sent: events.OptionSetSent) -> None:
        match sent.source, sent.value:
            case OptionSource.MODE, str(mode_id):
                self._settings.set_mode(mode_id)
            case OptionSource.MODEL, str(model_id):
                self._settings.set_model(model_id)
            case _:
                self._settings.set_config_option(sent.config_id, sent.value)

    def _unsettled(self, option_id: str | None) -> list[_Set]:
        """Return the sets of an option that are not settled, oldest first."""
        return [each for each in self._under_way.values() if each.option_id == option_id and not each.is_settled]

    # --- what is shown ----------------------------------------------------------------------------------------------

    def _show(self) -> None:
        """Note what is to be shown otherwise than before."""
        before, self._shown = self._shown, {}
        for option_id, told in self._told.items():
            known = before.get(option_id)
            option = self._shown[option_id] = _shared(self._with_sets(told), known)
            if option is not known:
                self.note(_SECTION, option_id, ChangeKind.ADDED if known is None else ChangeKind.CHANGED)
        for option_id in before.keys() - self._shown.keys():
            self.note(_SECTION, option_id, ChangeKind.REMOVED)
        if [*before] != [*self._shown] and before.keys() == self._shown.keys():
            self.note(_SECTION)

    def _with_sets(self, told: SessionOption) -> SessionOption:
        unsettled, error = self._unsettled(told.id), self._errors.get(told.id)
        if not unsettled and error is None:
            return told
        pending = unsettled[-1].sent.value if unsettled else None
        return evolve(told, value=told.confirmed if pending is None else pending, pending=pending, error=error)


def _shared(option: SessionOption, known: SessionOption | None) -> SessionOption:
    """Return an option, and what is the same as before as the same object."""
    if known is None or option is known:
        return option
    if is_same(option, known):
        return known
    return evolve(option, choices=known.choices) if option.choices == known.choices else option
