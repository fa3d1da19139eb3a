"""An agent elsewhere, spoken to over Streamable HTTP: :class:`HttpTransport`. Needs the extra ``acp-host[http]``.

Messages to the agent are bodies of POST requests; messages from it come as server-sent events, on one stream for the
connection and one for each session. Which message goes where is decided in :mod:`.routes`, which does no I/O.
"""

from __future__ import annotations

from acp_host.extras import brought_by

with brought_by("http"):
    from acp_host.transports.streamable_http.transport import HttpTransport

__all__ = ["HttpTransport"]
