"""The page that lists the agents: :func:`agent_list`. It has forms, and no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from acp_host.printable import printable

__all__ = ["agent_list"]

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Agents</title>
<link rel="icon" href="data:,">
</head>
<body>
<main>
<h1>Agents</h1>
{problems}
<h2>Running</h2>
{running}
<h2>Start another one</h2>
{start}
</main>
</body>
</html>
"""


def agent_list(
    names: Sequence[str], running: Sequence[Mapping[str, Any]], xsrf: str, problems: Sequence[str] = ()
) -> str:
    """Return the page.

    Args:
        names: the agents that can be started.
        running: what there is to tell of those that were, see ``HostedAgent.described()``.
        xsrf: the server's token for forms.
        problems: why nothing was started, or cannot be.
    """
    hidden = f'<input type="hidden" name="_xsrf" value="{escape(xsrf)}">'
    return _PAGE.format(
        problems="".join(f'<p role="alert">{_text(problem)}</p>' for problem in problems),
        running=f"<ul>{''.join(_item(agent, hidden) for agent in running)}</ul>" if running else "<p>None.</p>",
        start=_start_form(names, hidden) if names else "<p>The configuration names no agent that can be started.</p>",
    )


def _item(agent: Mapping[str, Any], hidden: str) -> str:
    name, agent_id = _text(agent["agent"]), escape(agent["id"])
    titles = [session["title"] for session in agent["sessions"] if session["title"]]
    said = [agent["status"], *([agent["error"]] if agent["error"] else []), agent["cwd"], *titles]
    button = f'<button name="id" value="{agent_id}" aria-label="Stop {name}">Stop</button>'
    return (
        f'<li><a href="{escape(agent["path"])}">{name}</a> – {" – ".join(map(_text, said))}'
        f'<form method="post" action="stop">{hidden}{button}</form></li>'
    )


def _start_form(names: Sequence[str], hidden: str) -> str:
    options = "".join(f"<option>{_text(name)}</option>" for name in names)
    return (
        f'<form method="post" action="start">{hidden}<label>Agent <select name="agent">{options}</select></label>'
        ' <label>Folder <input name="folder" placeholder="the server\'s directory"></label>'
        " <button>Start</button></form>"
    )


def _text(text: str) -> str:
    """Return a text as HTML that shows it, whatever it is."""
    return escape(printable(text))
