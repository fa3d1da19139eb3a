"""``python -m acp_host``: the ``acp-host`` command."""

from __future__ import annotations

import sys

from acp_host.cli import main

if __name__ == "__main__":
    sys.exit(main())
