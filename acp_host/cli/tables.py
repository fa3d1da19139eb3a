"""What was agreed with an agent, and what follows from it, laid out as tables of rich."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from rich.table import Table
from rich.text import Text

from acp_host.cli.agreed import CapabilityRow, auth_type, capability_rows, method_rows
from acp_host.cli.ladder import in_default_policy
from acp_host.cli.printer import plain
from acp_host.printable import json_text
from acp_host.protocol.negotiation import Agreement
from acp_host.reminders import Step
from acp_host.wire._model import UNSET, Unknown

__all__ = ["agent_table", "agreement_tables", "ladder_table", "offers_table"]

_LONGEST_VALUE = 200


def agent_table(agreement: Agreement, command: str, start_seconds: float) -> Table:
    """Return who the agent is, how it was started, and how long that took."""
    info = agreement.agent_info
    name = "(it does not say)" if info is None else info.name
    if info is not None and info.title:
        name = f"{info.title} ({info.name})"
    table = _table("Agent", "what", "value", show_header=False)
    table.add_row("command", plain(command))
    table.add_row("name", plain(name))
    table.add_row("version", plain("(it does not say)" if info is None else info.version))
    table.add_row("protocol version", plain(str(agreement.protocol_version)))
    table.add_row("answered after", plain(f"{start_seconds:.2f} s"))
    return table


def agreement_tables(agreement: Agreement) -> Iterator[Table]:
    """Yield everything else that was agreed."""
    yield _capability_table("What the agent offers", capability_rows(agreement.agent_capabilities))
    yield _capability_table("What this host offers", capability_rows(agreement.client_capabilities))
    yield _auth_table(agreement)
    yield _method_table(agreement)
    if agreement.quirks:
        yield _quirk_table(agreement)


def offers_table(agreement: Agreement) -> Table:
    """Return what the two sides offer each other, side by side, without what they do not."""
    agent, host = (
        [row.path for row in capability_rows(capabilities) if row.offered]
        for capabilities in (agreement.agent_capabilities, agreement.client_capabilities)
    )
    table = _table("What was agreed", "the agent offers", "this host offers")
    for row in itertools.zip_longest(agent, host, fillvalue=""):
        table.add_row(*map(plain, row))
    return table


def ladder_table(steps: Iterable[Step]) -> Table:
    """Return the ways in which a reminder could get to the model."""
    table = _table("How a reminder gets to the model", "rung", "available", "unasked", "why")
    for step in steps:
        unasked = in_default_policy(step.rung)
        table.add_row(plain(step.rung), _yes_or_no(step.available), _yes_or_no(unasked), plain(step.reason))
    return table


def _capability_table(title: str, rows: list[CapabilityRow]) -> Table:
    """Return capabilities as paths with yes or no."""
    table = _table(title, "capability", "offered")
    for row in rows:
        table.add_row(plain(row.path), _yes_or_no(row.offered) if row.value is UNSET else _value(row.value))
    return table


def _auth_table(agreement: Agreement) -> Table:
    table = _table("Ways to sign in", "id", "name", "type", "description")
    for method in agreement.auth_methods:
        if isinstance(method, Unknown):
            shown = [method.data.get("id"), method.data.get("name"), method.tag, method.data.get("description")]
        else:
            shown = [method.id, method.name, auth_type(method), method.description]
        table.add_row(*(plain(str(item or "")) for item in shown))
    if not agreement.auth_methods:
        table.add_row(plain("none", "dim"))
    return table


def _method_table(agreement: Agreement) -> Table:
    table = _table("Methods of the agent", "method", "schema", "usable", "allowed by")
    for row in method_rows(agreement):
        schema = plain("stable" if row.method.stable else "draft", "dim")
        table.add_row(plain(row.method.name), schema, _yes_or_no(row.usable), plain(row.why, "dim"))
    return table


def _quirk_table(agreement: Agreement) -> Table:
    table = _table("Quirks of this agent that are in force", "kind", "about", "why")
    for quirk in agreement.quirks:
        table.add_row(plain(quirk.kind), plain(quirk.subject), plain(quirk.why))
    return table


def _table(title: str, *columns: str, show_header: bool = True) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_header=show_header, header_style="dim")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _yes_or_no(yes: bool) -> Text:
    return Text("yes", "green") if yes else Text("no", "dim")


def _value(value: object) -> Text:
    if isinstance(value, bool):
        return _yes_or_no(value)
    text = json_text(value)
    return plain(text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}...")
