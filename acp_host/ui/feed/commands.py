"""Does what the controller asks for: :class:`Commands`. Each command was checked by its form before.

Nothing a page sends is run or opened here: texts go to the agent as texts. What is read are files of a session's own
directory that are attached to a prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.errors import InvalidInput, InvalidState
from acp_host.host.connection import HostConnection
from acp_host.host.reopening import ReopenPolicy
from acp_host.host.session import Session
from acp_host.reminders import Reminder, ReminderPolicy
from acp_host.state.json_form import to_json
from acp_host.ui.feed.attachments import prompt_parts
from acp_host.ui.feed.logins import login_ways
from acp_host.ui.feed.questions import Questions
from acp_host.wire.converters import unstructure

__all__ = ["Commands"]

_REMINDER_FIELDS = {
    "tags": "tags",
    "dedupeKey": "dedupe_key",
    "ttlTurns": "ttl_turns",
    "preserveOnCompact": "preserve_on_compact",
    "propagate": "propagate",
    "roleHint": "role_hint",
    "mode": "mode",
}


class Commands:
    """Does commands.

    Args:
        host: the connection that they are about.
        questions: what waits for answers.
        cwd: where new sessions work.
        show: called with a session that was opened.
        hide: called with one that was closed.
    """

    def __init__(
        self,
        host: HostConnection,
        questions: Questions,
        cwd: str,
        show: Callable[[Session], None],
        hide: Callable[[str], None],
    ) -> None:
        self._host = host
        self._questions = questions
        self._cwd = cwd
        self._show = show
        self._hide = hide

    async def do(self, command: Mapping[str, Any]) -> Any:
        """Do a command, and return its value.

        Raises:
            AcpError: it cannot be done.
        """
        match command["command"]:
            case "new_session":
                return self._opened(await self._host.new_session(self._cwd))
            case "list_sessions":
                return unstructure(await self._host.list_sessions(cursor=command.get("cursor")))
            case "open_session":
                policy = ReopenPolicy(steps=tuple(command["steps"])) if "steps" in command else None
                reopened = await self._host.open_session(command["session"], self._cwd, policy=policy)
                return {**self._opened(reopened.session), "lost": str(reopened.lost), "summary": reopened.summary}
            case "delete_session":
                await self._host.delete_session(command["session"])
                self._hide(command["session"])
                return {}
            case "list_logins":
                return {"methods": login_ways(self._host.authentication.methods)}
            case "log_in":
                await self._host.authentication.log_in(command["login"], values=command.get("values"))
                return {}
            case "log_out":
                await self._host.authentication.log_out()
                return {}
            case "answer":
                return await self._questions.answer(command["question"], command)
            case _:
                return await self._do_in_session(self._session(command), command)

    async def _do_in_session(self, session: Session, command: Mapping[str, Any]) -> Any:
        match command["command"]:
            case "prompt":
                return {"turn": session.prompt(prompt_parts(command, session.cwd_here())).number}
            case "cancel":
                _cancel(session, command.get("turn"))
            case "cancel_tool_call":
                await session.cancel_tool_call(command["toolCallId"])
            case "cancel_terminal":
                await session.cancel_terminal(command["terminalId"])
            case "answer_human":
                await _answer_human(session, command)
            case "plan_reminder":
                steps = session.plan_reminder(_reminder(command), policy=_policy(command))
                return {"steps": to_json(steps)}
            case "remind":
                return {"reminder": session.remind_soon(_reminder(command), policy=_policy(command)).id}
            case "revoke_reminder":
                return {"result": str(await session.reminders.revoke(command["reminder"]))}
            case "dismiss_reminder":
                return {"dismissed": session.reminders.dismiss(command["reminder"])}
            case "dismiss_notice":
                return {"dismissed": session.notices.dismiss(command["notice"])}
            case "set_option":
                await session.set_option(command["option"], command["value"])
            case "close_session":
                await session.close()
                self._hide(session.id)
        return {}

    def _session(self, command: Mapping[str, Any]) -> Session:
        found = next((session for session in self._host.sessions if session.id == command["session"]), None)
        if found is None:
            raise InvalidState("the session is not open, or not any more")
        return found

    def _opened(self, session: Session) -> dict[str, Any]:
        self._show(session)
        return {"session": session.id}


def _cancel(session: Session, number: int | None) -> None:
    if number is None:
        session.cancel()
        return
    turns = [*session.queued_turns, *([session.current_turn] if session.current_turn else [])]
    turn = next((turn for turn in turns if turn.number == number), None)
    if turn is None:
        raise InvalidState(f"turn {number} is over, or there is none")
    turn.cancel()


async def _answer_human(session: Session, command: Mapping[str, Any]) -> None:
    """Answer what a Harn agent asks people; which answer a request takes, its kind says."""
    from acp_host import harn  # loaded for such agents only

    people, request = harn.of(session).people, command["request"]
    reason = command.get("reason")
    if "approved" in command:
        await people.approve(request, command["approved"], reason=reason)
    elif "accepted" in command:
        await people.accept(request, command["accepted"], reason=reason)
    elif "answer" in command:
        await people.answer(request, command["answer"], reason=reason)
    else:
        raise InvalidInput("a request is answered with one of: answer, approved, accepted")


def _reminder(command: Mapping[str, Any]) -> Reminder:
    fields = {ours: command[name] for name, ours in _REMINDER_FIELDS.items() if name in command}
    return Reminder(command["body"], **fields)


def _policy(command: Mapping[str, Any]) -> ReminderPolicy | None:
    return ReminderPolicy(**command["policy"]) if "policy" in command else None
