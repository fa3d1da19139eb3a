"""The terminal view, a Textual app: :class:`~acp_host.ui.terminal.app.ChatApp`. Needs the extra ``tui``.

What agents send is not trusted. All of it becomes a Textual ``Content`` by :func:`~acp_host.ui.terminal.text.plain`, or
Markdown by :func:`~acp_host.ui.terminal.markdown.safe_markdown`; a plain string, which Textual would read as markup, is
only ever the host's own.
"""

from acp_host.extras import brought_by

with brought_by("tui"):
    from acp_host.ui.terminal.app import ChatApp

__all__ = ["ChatApp"]
