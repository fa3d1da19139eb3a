"""``python -m acp_host.testing.chaos``."""

import sys

from acp_host.testing.chaos.program import main

sys.exit(main())
