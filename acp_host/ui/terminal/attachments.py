"""What goes along with the next prompt: :class:`AttachScreen`, :class:`AttachedLine`."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from acp_host.ui.terminal.text import one_line, plain
from acp_host.wire.content import ResourceLink

__all__ = ["AttachScreen", "AttachedLine", "Attachment", "attachment"]

Attachment = Path | ResourceLink


def attachment(typed: str) -> Attachment:
    """Return what was typed as a part of a prompt: a path, or an address as a link."""
    scheme = typed.partition("://")[0].lower() if "://" in typed else ""
    if scheme in ("http", "https", "file"):
        return ResourceLink(name=typed.rstrip("/").rpartition("/")[2] or typed, uri=typed)
    return Path(typed).expanduser()


class AttachScreen(ModalScreen[Attachment | None]):
    """Asks for a path or an address; answers ``None`` where the user goes away."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss(None)", "Back")]

    def compose(self) -> ComposeResult:
        """Make the parts."""
        with Vertical(classes="dialog"):
            yield Static("What goes along with the next prompt", classes="heading")
            yield Input(placeholder="a path, from the session's directory on, or an address", compact=True)
            yield Static(plain("Enter attaches it; the agent gets it as it takes such things", "dim"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer."""
        typed = event.value.strip()
        self.dismiss(attachment(typed) if typed else None)


class AttachedLine(Static):
    """Says what goes along; not there where nothing does."""

    def draw(self, attached: list[Attachment]) -> None:
        """Show what is attached."""
        names = ", ".join(one.uri if isinstance(one, ResourceLink) else str(one) for one in attached)
        self.display = bool(attached)
        self.update(one_line(f"goes along: {names}; Ctrl+G takes it back", 300, "dim"))
