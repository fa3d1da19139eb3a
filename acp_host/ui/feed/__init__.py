"""What front-ends in another process or page get of a connection, and give it; see ``docs/feed.md``."""

from __future__ import annotations

from acp_host.ui.feed.feed import Feed
from acp_host.ui.feed.messages import FEED_VERSION
from acp_host.ui.feed.viewer import Send, Viewer

__all__ = ["FEED_VERSION", "Feed", "Send", "Viewer"]
