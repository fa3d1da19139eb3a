"""``acp-host fleet``: one prompt in many directories, or many jobs, each in a working copy; results on stdout."""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import sys
from collections.abc import Sequence
from typing import Any

from acp_host import fleet
from acp_host.automation import Budget, RunReason
from acp_host.cli.agent_options import policy_of
from acp_host.cli.amounts import at_least_one
from acp_host.cli.chosen_agent import ChosenAgent, add_remote_options, add_version_option, chosen_agent, versions_of
from acp_host.cli.completers import permission_words
from acp_host.cli.exits import ExitCode, code_of_outcome, exit_code_help
from acp_host.cli.interrupts import Interrupts
from acp_host.cli.misplaced import told_on_failure
from acp_host.cli.named import add_agent_argument, add_install_option
from acp_host.cli.printer import clean
from acp_host.cli.run_options import add_timeout_options, cost_of, split, text_of_file, text_of_words, timeouts_of
from acp_host.cli.telemetry import telemetry_of_environment
from acp_host.cli.unheld import unheld_limits
from acp_host.errors import InvalidInput, InvalidState
from acp_host.fleet import CopyKind, FleetSummary, Job, JobOutcomeKind, JobResult, Keep, Uncommitted
from acp_host.fleet.branches import check_branch
from acp_host.fleet.job import numbered
from acp_host.fleet.progress import in_words
from acp_host.fleet.schema import fleet_schema
from acp_host.fleet.spending import exceeded
from acp_host.host.agent_target import AgentTarget
from acp_host.printable import printable_json
from acp_host.services.files import FileService
from acp_host.services.permissions import PermissionPolicy

__all__ = ["add_parser"]

_DESCRIPTION = """\
Send one prompt to an agent in each of many directories, or run the jobs of a file. Each job has an agent of its own in
a working copy of its own: a git worktree, or a copy. The originals are not touched: what the agents have changed is in
the results, as patches.

The options stand before AGENT; all that follows AGENT up to the first -- is the agent's command, or AGENT is its name
or the URL of an agent elsewhere. The prompt follows, and behind another -- the directories, or URLs of git
repositories. A job in a file has the members prompt and cwd, and may have id, permissions, budget, timeouts, remind
and record.

One line for each job is printed as soon as it is over; with --json, results as JSON Lines, and a summary at the end.
"""

_EXAMPLE = """\
examples:
  acp-host fleet --permissions policy.toml --max-cost 5USD --json some-agent --acp -- "Fix the tests" -- repos/*
  acp-host fleet --jobs jobs.jsonl --journal fleet.db --at-once 8 some-agent --acp
"""

_INTERRUPTED = "Ctrl-C"
_HOW_TO_GO_ON = "the same command runs what was not run; with --rerun cancelled, also what was cancelled"
_LONGEST_REASON = 200


def add_parser(commands: Any) -> None:
    """Add the sub-command to the command line."""
    parser = commands.add_parser(
        "fleet",
        description=_DESCRIPTION,
        epilog=f"{_EXAMPLE}\n{exit_code_help()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage='acp-host fleet [options] AGENT... -- "prompt" -- DIRECTORY...\n'
        "       acp-host fleet [options] --jobs FILE AGENT...",
        allow_abbrev=False,
    )
    _add_jobs(parser.add_argument_group("the jobs"))
    _add_agent(parser.add_argument_group("the agents"))
    _add_limits(parser.add_argument_group("limits"))
    _add_copies(parser.add_argument_group("working copies"))
    _add_again(parser.add_argument_group("again, and not again"))
    parser.add_argument("--json", action="store_true", help="write results and a summary as JSON Lines to stdout")
    parser.add_argument(
        "--json-schema", action="store_true", help="print the JSON Schema of these lines, and end; needs no agent"
    )
    parser.add_argument(
        "--denied-ok", action="store_true", help="let the exit code not say that an agent was denied something"
    )
    add_agent_argument(parser)
    parser.set_defaults(command=run)


def _add_jobs(group: Any) -> None:
    group.add_argument("--jobs", metavar="FILE", help="a file with one job on each line, as JSON")
    group.add_argument("--prompt-file", metavar="FILE", help="read the prompt from a file, or with - from stdin")
    group.add_argument("--each-in", metavar="FILE", help="a file with one directory on each line; - for stdin")
    group.add_argument(
        "--remind", action="append", default=[], metavar="TEXT", help="tell each model something beside the prompt"
    )


def _add_agent(group: Any) -> None:
    how = group.add_argument(
        "--permissions",
        default="deny",
        metavar="HOW",
        help="what the agents may do: deny, allow-once, read-only, or a file with a policy (default: deny)",
    )
    how.completer = permission_words
    group.add_argument("--read-files", action="store_true", help="let the agents read files of their working copies")
    group.add_argument("--write-files", action="store_true", help="let the agents write files of their working copies")
    group.add_argument("--terminals", action="store_true", help="run commands for the agents, with all your rights")
    group.add_argument(
        "--agent-arg", action="append", default=[], metavar="A", help="one more argument for the agent's command"
    )
    group.add_argument("--record", metavar="DIR", help="record the conversations in this directory, without secrets")
    add_version_option(group)
    add_install_option(group)
    add_remote_options(group)
    group.add_argument(
        "--at-once", type=at_least_one, default=4, metavar="N", help="jobs at the same time (default: 4)"
    )
    group.add_argument("--dask", metavar="ADDRESS", help="run the jobs on the workers of this Dask scheduler")


def _add_limits(group: Any) -> None:
    group.add_argument("--max-cost", metavar="AMOUNT", help="stop all once they have cost more, e.g. 5, or 5USD")
    count: dict[str, Any] = {"type": at_least_one, "metavar": "N"}
    group.add_argument("--max-tokens", help="stop all once they have taken more tokens", **count)
    group.add_argument("--job-max-cost", metavar="AMOUNT", help="cancel a job once it has cost more")
    group.add_argument("--job-max-tokens", help="cancel a job once it has taken more tokens", **count)
    add_timeout_options(group)


def _add_copies(group: Any) -> None:
    group.add_argument("--copies", choices=list(CopyKind), help="how they are made (default: by what there is)")
    group.add_argument("--copies-in", metavar="DIR", help="where they are made (default: with temporary files)")
    group.add_argument(
        "--uncommitted",
        choices=list(Uncommitted),
        default=Uncommitted.INCLUDE,
        help="what becomes of changes that are not committed (default: include)",
    )
    group.add_argument("--keep", choices=list(Keep), default=Keep.NEVER, help="which are kept (default: never)")
    group.add_argument(
        "--branch", metavar="NAME", help="put what a completed job has changed on this new branch of its repository"
    )


def _add_again(group: Any) -> None:
    group.add_argument("--journal", metavar="FILE", help="write down what is done, and go on where it was ended")
    group.add_argument(
        "--rerun",
        action="append",
        default=[],
        metavar="KIND",
        help="run jobs of the journal again that ended so, e.g. failed or cancelled; may be repeated",
    )
    group.add_argument(
        "--rerun-unknown",
        action="store_true",
        help="run those again whose prompt was sent and of which nobody knows what became; it may be done twice",
    )


async def run(options: argparse.Namespace, interrupts: Interrupts) -> int:
    """Run the sub-command and return its exit code.

    Raises:
        InvalidInput: the command line is wrong.
        AcpError: the journal cannot be written, or the Dask scheduler not be reached.
    """
    if options.json_schema:
        print(json.dumps(fleet_schema(), indent=2))
        return ExitCode.COMPLETED
    with interrupts.reading():
        chosen, jobs = _agent_and_jobs(options)
    await chosen.get_ready()
    running = _fleet_of(chosen, jobs, options)
    await _check_branch(options, jobs)

    def cancel() -> None:
        running.cancel(_INTERRUPTED)  # before it is said: whoever reads stderr may have been ended by the same Ctrl-C
        print("acp-host: cancelling the turns; once more ends the agents", file=sys.stderr)

    all_put = True
    with interrupts.first_does(cancel):
        async with running:
            async for result in running:
                _show(result, f"{len(running.results)}/{len(jobs)}", options)
                all_put = await _put_on_branch(result, options.branch) and all_put
    budget = _budget(options.max_cost, options.max_tokens, "--max-cost")
    _show_summary(running.summary, budget, options)
    if (hint := told_on_failure(options)) and not any(result.completed for result in running.results):
        print(clean(f"acp-host: {hint}"), file=sys.stderr)
    code = _code_of(running.results, running.summary, budget, denied_ok=options.denied_ok)
    return code if all_put else code or ExitCode.AGENT_FAILED


def _fleet_of(chosen: ChosenAgent, jobs: list[Job], options: argparse.Namespace) -> fleet.Fleet:
    return fleet.run(
        jobs,
        agent=_agent_of(chosen),
        engine=options.dask or options.at_once,
        permissions=_policy_of(options.permissions),
        remind=[text_of_words([text], "--remind") for text in options.remind],
        timeouts=timeouts_of(options),
        budget=_budget(options.max_cost, options.max_tokens, "--max-cost"),
        job_budget=_budget(options.job_max_cost, options.job_max_tokens, "--job-max-cost"),
        journal=options.journal,
        rerun=options.rerun,
        rerun_unknown=options.rerun_unknown,
        record=options.record,
        copies=options.copies,
        copies_in=options.copies_in,
        uncommitted=options.uncommitted,
        keep=options.keep,
        progress=False if sys.stdout.isatty() else None,  # at one terminal, the lines say enough
        protocol_versions=versions_of(options),
        telemetry=not options.dask and telemetry_of_environment(),  # workers have an environment of their own
        **_services_of(options),
    )


def _agent_and_jobs(options: argparse.Namespace) -> tuple[ChosenAgent, list[Job]]:
    """Return the agent and what it is to do.

    Raises:
        InvalidInput: one of them is missing, or an option does not fit.
    """
    words, found, rest = split(options.agent)
    if not words:
        raise InvalidInput("no agent: name its command, its URL or its name")
    chosen = chosen_agent(words, options, more=[argument or "--" for argument in options.agent_arg])
    if options.jobs is not None:
        if found or options.prompt_file or options.each_in:
            raise InvalidInput("the jobs of --jobs have their own prompts and directories")
        return chosen, fleet.read_jobs(options.jobs)
    prompt, directories = _prompt_and_directories(options, rest)
    if not prompt.strip():
        raise InvalidInput('no prompt: write -- "prompt" after the agent\'s command, or use --prompt-file')
    if not directories:
        raise InvalidInput("no directory: write -- and directories behind the prompt, or use --each-in")
    return chosen, fleet.jobs_from(prompt, directories)


def _prompt_and_directories(options: argparse.Namespace, rest: list[str]) -> tuple[str, list[str]]:
    """Split what follows the agent: the prompt, unless it is in a file, then the directories."""
    words, _, directories = split(rest)
    if options.prompt_file is not None:
        prompt, directories = text_of_file(options.prompt_file, "--prompt-file"), rest
    else:
        prompt = text_of_words(words, "the prompt")
    if options.each_in is not None:
        listed = text_of_file(options.each_in, "--each-in").splitlines()
        directories = [*directories, *(line for line in listed if line.strip())]
    return prompt, directories


def _agent_of(chosen: ChosenAgent) -> AgentTarget | list[str] | str:
    """Return the agent as one value that can be sent to workers, with how to reach one elsewhere."""
    if chosen.remote is not None:
        return AgentTarget(url=chosen.argv[0], remote=chosen.remote)
    return chosen.argument


def _policy_of(choice: str) -> PermissionPolicy | None:
    """Return what the agents may do; ``None`` denies what they ask for, and takes offered services for consent.

    Raises:
        InvalidInput: the choice is ``ask``, or no word and no file with a policy.
    """
    if choice == "ask":
        raise InvalidInput("--permissions ask is not for fleets: there is nobody who could be asked")
    return None if choice in ("deny", "reject") else policy_of(choice, "deny, allow-once, read-only")


def _services_of(options: argparse.Namespace) -> dict[str, Any]:
    services: dict[str, Any] = {}
    if options.read_files or options.write_files:
        services["files"] = functools.partial(FileService, read=options.read_files, write=options.write_files)
    if options.terminals:
        services["terminals"] = True
    return services


def _budget(cost: str | None, tokens: int | None, option: str) -> Budget:
    amount, currency = cost_of(cost, option)
    return Budget(tokens=tokens, cost=amount, currency=currency)


def _show(result: JobResult, count: str, options: argparse.Namespace) -> None:
    if options.json:
        print(printable_json({"type": "result", **result.to_json()}), flush=True)
        return
    parts = [str(result.outcome.kind).replace("_", " ")]
    if result.outcome.kind != JobOutcomeKind.COMPLETED and result.outcome.detail:
        parts.append(_in_short(result.outcome.detail))
    if result.files:
        parts.append(f"files changed: {len(result.files)}")
    if result.run is not None and result.outcome.reason == RunReason.PERMISSION_DENIED:
        parts.append(f"denied: {len(result.run.denied)} of its requests")
    if result.violations:
        parts.append(f"against the policy: {', '.join(each.path for each in result.violations[:5])}")
    if result.kept is not None:
        parts.append(f"kept in {result.kept}")
    print(clean(f"{count:>9}  {result.job.id}: {'; '.join(parts)}").replace("\n", " "), flush=True)


def _in_short(detail: str) -> str:
    """Return the first line, and the last one: where an agent ended too early, that is the end of its stderr."""
    first, *more = detail.strip().splitlines()
    return f"{first}: {more[-1].strip()[:_LONGEST_REASON]}" if more else first


def _show_summary(summary: FleetSummary, budget: Budget, options: argparse.Namespace) -> None:
    if options.json:
        print(printable_json({"type": "summary", **summary.to_json()}), flush=True)
    print(f"acp-host: {in_words(summary) or 'nothing to do'}", file=sys.stderr)
    for limit in unheld_limits(budget, summary.unreported, summary.spent.cost):
        print(clean(f"acp-host: {limit}"), file=sys.stderr)
    if summary.stopped is not None:
        print(f"acp-host: stopped: {clean(summary.stopped)}", file=sys.stderr)
    if summary.stopped is not None and options.journal:
        print(f"acp-host: {_HOW_TO_GO_ON}", file=sys.stderr)


async def _check_branch(options: argparse.Namespace, jobs: list[Job]) -> None:
    """See that what will have changed can go to the branch, before anything is run for it."""
    if options.branch is None:
        return
    if options.copies == CopyKind.COPY:
        raise InvalidInput("--branch begins at a commit, of which --copies copy knows nothing")
    try:
        await asyncio.to_thread(check_branch, options.branch, numbered(jobs))
    except InvalidInput as error:
        raise InvalidInput(f"--branch: {error}") from None


async def _put_on_branch(result: JobResult, branch: str | None) -> bool:
    """Put what a completed job has changed on a branch; tell whether that worked, or was not to be done."""
    if branch is None or not result.completed or not result.files:
        return True
    try:
        await asyncio.to_thread(result.apply, branch=branch)
    except (fleet.GitFailed, InvalidState) as error:
        print(clean(f"acp-host: {result.job.id}: not put on the branch: {error}"), file=sys.stderr)
        return False
    return True


def _code_of(results: Sequence[JobResult], summary: FleetSummary, budget: Budget | None, *, denied_ok: bool) -> int:
    """Return what is wrong with all jobs that are not as they should be; where that differs, that something is."""
    if summary.stopped == _INTERRUPTED:
        return ExitCode.CANCELLED
    if summary.stopped is not None:
        spent = budget is not None and exceeded(budget, summary.spent) is not None
        return ExitCode.BUDGET_EXCEEDED if spent else ExitCode.AGENT_FAILED
    codes = {code_of_outcome(result.outcome, denied_ok=denied_ok) for result in results} - {ExitCode.COMPLETED}
    return codes.pop() if len(codes) == 1 else ExitCode.AGENT_FAILED if codes else ExitCode.COMPLETED
