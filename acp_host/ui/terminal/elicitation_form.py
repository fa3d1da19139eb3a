"""Forms and web pages that wait for the user: :class:`ElicitationForm`, :class:`PageConsent`."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Button, Static

from acp_host.errors import InvalidInput
from acp_host.services.elicitation_queue import FormQuestion, PageQuestion
from acp_host.services.form_answers import FormReview
from acp_host.ui.terminal.answerable import Answerable
from acp_host.ui.terminal.field_view import FieldView
from acp_host.ui.terminal.text import plain, stacked

__all__ = ["ElicitationForm", "PageConsent"]


class ElicitationForm(Answerable):
    """A form: it is filled in, reviewed, and sent as it was reviewed."""

    question: FormQuestion

    def __init__(self, question: FormQuestion, agent_name: str) -> None:
        super().__init__(question, f"{agent_name} asks you to fill this in")
        self._review: FormReview | None = None
        self._unreadable: dict[str, str] = {}
        self._send = Button("Send", name="send", variant="primary", disabled=True, compact=True)

    def compose(self) -> ComposeResult:
        """Make the parts."""
        form = self.question.form
        head = [plain(form.title, "bold"), plain(form.message), plain(form.description, "dim")]
        yield Static(stacked(line for line in head if len(line)))
        for field in form.fields:
            yield FieldView(field)
        yield Static(stacked(plain(problem, "$text-warning") for problem in form.problems))
        yield self.remark
        with Horizontal(classes="buttons"):
            yield Button("Review", name="review", compact=True)
            yield self._send
            yield Button("Decline", name="decline", compact=True)
            yield Button("Cancel", name="cancel", compact=True)

    def on_field_view_changed(self, message: FieldView.Changed) -> None:
        """Take a value; it has to be reviewed before it can be sent."""
        message.stop()
        name = message.field.name
        self._unreadable.pop(name, None)
        try:
            if message.typed is None:
                self.question.set(name, None)
            else:
                self.question.type_in(name, message.typed)
        except InvalidInput as error:
            self.question.set(name, None)
            self._unreadable[name] = str(error)
        self._review = None
        self._send.disabled = True
        self.remark.update(plain("\n".join(self._unreadable.values()), "$text-error"))

    async def press(self, deed: str) -> None:
        """Review the form, or send it."""
        if deed == "send" and self._review is not None:
            self.question.accept(self._review)
            return
        if self._unreadable:
            raise InvalidInput("\n".join(self._unreadable.values()))
        self._review = review = await self.question.review()
        lines = [plain("This will be sent:", "bold")] if review.valid else []
        lines += [plain(f"{line.label}: {line.text or '(left out)'}") for line in review.lines]
        lines += [plain(error.message, "$text-error") for error in review.errors]
        lines += [plain(remark, "$text-warning") for remark in review.unchecked]
        self.remark.update(stacked(lines))
        self._send.disabled = not review.valid
        # When the review has its place.
        self.call_after_refresh(self._send.focus if review.valid else self.remark.scroll_visible)


class PageConsent(Answerable):
    """A web page that is opened if the user agrees, and not before."""

    question: PageQuestion

    def __init__(self, question: PageQuestion, agent_name: str) -> None:
        super().__init__(question, f"{agent_name} asks you to visit a web page")

    def compose(self) -> ComposeResult:
        """Make the parts."""
        address = self.question.address
        lines = [plain(self.question.message), plain(f"on {address.host}", "bold"), plain(address.url)]
        if address.display_host != address.host:
            lines.append(plain(f"shown by browsers as {address.display_host}", "dim"))
        lines += [plain(warning, "$text-warning") for warning in address.warnings]
        yield Static(stacked(lines))
        yield self.remark
        with Horizontal(classes="buttons"):
            yield Button("Open it", name="open", compact=True)
            yield Button("I have opened it myself", name="opened", compact=True)
            yield Button("Decline", name="decline", compact=True)
            yield Button("Cancel", name="cancel", compact=True)

    async def press(self, deed: str) -> None:
        """Open the page, or take the user's word."""
        if deed == "open":
            await self.question.open()
        else:
            self.question.accept()
