"""Asks the user the agent's questions on the terminal, by forms and web pages: :class:`TerminalForms`.

Everything that would be sent is shown before it is. A page is not opened by this program: the user is told its address.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from rich.text import Text

from acp_host.cli.answers import LineSource
from acp_host.cli.printer import Printer, plain
from acp_host.errors import InvalidInput
from acp_host.printable import json_text
from acp_host.services.form_answers import FormReview, parse_value, review_answer
from acp_host.services.form_reader import read_form
from acp_host.services.forms import FieldKind, FieldValue, Form, FormField
from acp_host.services.page_address import read_address
from acp_host.wire.elicitation import (
    CreateElicitationResponse,
    ElicitationAcceptAction,
    ElicitationCancelAction,
    ElicitationDeclineAction,
    ElicitationFormMode,
    ElicitationUrlMode,
)

__all__ = ["TerminalForms"]

_LONGEST_RAW = 500

_Ask = Callable[[], Awaitable[CreateElicitationResponse]]

_WANTED: Mapping[FieldKind, str] = {
    FieldKind.TEXT: "a text",
    FieldKind.EMAIL: "an e-mail address",
    FieldKind.URI: "an address such as https://example.org",
    FieldKind.DATE: "a day such as 2025-01-31",
    FieldKind.DATE_TIME: "a point in time such as 2025-01-31T09:30:00Z",
    FieldKind.NUMBER: "a number",
    FieldKind.INTEGER: "a whole number",
    FieldKind.BOOLEAN: "yes or no",
    FieldKind.CHOICE: "one of the numbers",
    FieldKind.MULTI_CHOICE: "some of the numbers",
}
_WORDS: Mapping[type, str] = {
    ElicitationAcceptAction: "accepted",
    ElicitationDeclineAction: "declined",
    ElicitationCancelAction: "cancelled, by the end of the input",
}


class _InputEnded(Exception):
    """The user is gone."""


class TerminalForms:
    """Shows forms and addresses of pages, one at a time, and takes the answers; the end of the input cancels.

    Args:
        printer: where to.
        lines: what the user types.
    """

    def __init__(self, printer: Printer, lines: LineSource) -> None:
        self._printer = printer
        self._lines = lines

    async def form(self, request: ElicitationFormMode) -> CreateElicitationResponse:
        """Ask for the values of a form; a handler."""
        form = read_form(request)
        return await self._in_turn(lambda: self._fill_in(form))

    async def page(self, request: ElicitationUrlMode) -> CreateElicitationResponse:
        """Ask whether the user agrees to visit a page; a handler."""
        return await self._in_turn(lambda: self._agree(request))

    async def _in_turn(self, ask: _Ask) -> CreateElicitationResponse:
        async with self._lines.turn:
            self._lines.discard()
            try:
                answer = await ask()
            except _InputEnded:
                answer = ElicitationCancelAction()
            except asyncio.CancelledError:
                self._printer.line("answer", plain("withdrawn", "bold"), plain(", by cancelling"))
                raise
            self._printer.line("answer", plain(_WORDS[type(answer)], "bold"))
            return answer

    async def _agree(self, request: ElicitationUrlMode) -> CreateElicitationResponse:
        address = read_address(request.url)
        lines = [plain(request.message, "bold"), plain(f"on {address.host}: {address.url}")]
        lines += [plain(warning, "yellow") for warning in address.warnings]
        self._printer.line("web page?", Text("\n").join(lines), style="bold yellow")
        if not await self._yes("do you agree? yes or no, then Enter:"):
            return ElicitationDeclineAction()
        self._printer.line("", plain("open the address in your browser"))
        return ElicitationAcceptAction()

    async def _fill_in(self, form: Form) -> CreateElicitationResponse:
        texts = [plain(form.message, "bold"), *[plain(text) for text in (form.title, form.description) if text]]
        self._printer.line("form?", Text("\n").join(texts), style="bold yellow")
        values: dict[str, FieldValue] = {}
        asked: Sequence[FormField] = form.fields
        while True:
            for field in asked:
                await self._ask_field(field, values)
            review = await review_answer(form, values)
            self._show(review)
            if review.valid:
                break
            asked = [form[name] for name in dict.fromkeys(error.name for error in review.errors)]
            if all(field.kind is FieldKind.UNKNOWN for field in asked):
                return ElicitationDeclineAction()
        if await self._yes("send this? yes or no, then Enter:"):
            return ElicitationAcceptAction(content=review.content)
        return ElicitationDeclineAction()

    async def _ask_field(self, field: FormField, values: dict[str, FieldValue]) -> None:
        """Ask until what is typed is a value, or nothing."""
        self._printer.line("", *_describe(field))
        while field.kind is not FieldKind.UNKNOWN:
            typed = await self._next()
            try:
                value = _read(field, typed)
            except InvalidInput as error:
                self._printer.line("", plain(f"{error}; once more, then Enter:", "yellow"))
                continue
            values.pop(field.name, None)
            if value is None and not typed:
                value = field.default
            if value is not None:
                values[field.name] = value
            return

    def _show(self, review: FormReview) -> None:
        shown = [plain(f"{line.label}: {line.text or '(nothing)'}") for line in review.lines]
        shown += [plain(error.message, "yellow") for error in review.errors]
        self._printer.line("your answer", Text("\n").join(shown))

    async def _yes(self, question: str) -> bool:
        while True:
            self._printer.line("", plain(question))
            typed = (await self._next()).strip().lower()
            if typed in ("yes", "y", "no", "n"):
                return typed.startswith("y")

    async def _next(self) -> str:
        line = await self._lines.next()
        if line is None:
            raise _InputEnded
        return line.removesuffix("\r")


def _describe(field: FormField) -> list[Text]:
    """Return what is shown of a field before it is filled in."""
    if field.kind is FieldKind.UNKNOWN:
        raw = json_text(dict(field.raw))[:_LONGEST_RAW]
        return [plain(f"{field.label}: not of a kind that can be answered here: {raw}", "yellow")]
    text = Text("\n").join([plain(field.label, "bold"), *[plain(part) for part in (field.description,) if part]])
    for number, choice in enumerate(field.choices, start=1):
        about = f": {choice.description}" if choice.description else ""
        text.append_text(plain(f"\n  {number}  {choice.label}{about}"))
    empty = "needed" if field.required else "or nothing"
    if field.default is not None:
        empty = f"or nothing for {_default(field)}"
    return [text, plain(f"\n{_WANTED[field.kind]} ({empty}), then Enter:")]


def _default(field: FormField) -> str:
    """Return the default as the user would type it."""
    if isinstance(field.default, bool):
        return "yes" if field.default else "no"
    if not field.choices:
        return str(field.default)
    chosen = field.default if isinstance(field.default, tuple) else (field.default,)
    return " ".join(str(number) for number, choice in enumerate(field.choices, start=1) if choice.value in chosen)


def _read(field: FormField, typed: str) -> FieldValue | None:
    """Return what was typed as a value; choices are typed as numbers."""
    if field.kind not in (FieldKind.CHOICE, FieldKind.MULTI_CHOICE):
        return parse_value(field, typed)
    offered = {str(number): choice.value for number, choice in enumerate(field.choices, start=1)}
    numbers = typed.replace(",", " ").split()
    if not all(number in offered for number in numbers) or (len(numbers) > 1 and not field.multiple):
        raise InvalidInput(f"{field.label} takes {'numbers' if field.multiple else 'one number'} from the list")
    chosen = tuple(offered[number] for number in dict.fromkeys(numbers))
    if field.multiple:
        return chosen or None
    return chosen[0] if chosen else None
