"""One prompt in many repositories, for at most 5 dollars: ``many_repositories.py POLICY PROMPT REPOSITORY… -- AGENT…``.

Each result is a line of JSON. Ctrl-C ends it in an orderly way; called again, it goes on where it has ended. Without
arguments, the reference agent does it in two folders that are made for it.
"""

import contextlib
import json
import sys
import tempfile
from pathlib import Path

from acp_host import PermissionPolicy, fleet
from acp_host.fleet import Budget, blocking
from acp_host.testing import ReferenceAgent


def main(arguments):
    end = arguments.index("--")
    policy, prompt, *repositories = arguments[:end]
    running = blocking.run(
        fleet.jobs_from(prompt, repositories),
        agent=arguments[end + 1 :],
        files=True,
        permissions=PermissionPolicy.load(policy),
        budget=Budget(cost=5, currency="USD"),
        timeouts=1800,
        journal="many-repositories.db",
        engine=8,
        progress=None,
    )
    with running:
        for result in running:
            print(json.dumps(result.to_json()), flush=True)
    if running.summary.stopped is not None:
        print(running.summary.stopped, file=sys.stderr)
    return not running.summary.completed


def show():
    Path("policy.toml").write_text('[[rules]]\ndecision = "allow_once"\npaths = ["*.md"]\n')
    for repository in ("one", "two"):
        Path(repository).mkdir()
    return main(["policy.toml", "/write notes.md\nA note.", "one", "two", "--", *ReferenceAgent.command()])


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(main(sys.argv[1:]))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        sys.exit(show())
