"""Which sessions one can go to, and how: :func:`choosable_sessions`, :func:`opened_session`."""

from __future__ import annotations

from acp_host.host.connection import HostConnection
from acp_host.host.reopening import ReopenPolicy, ReopenStep
from acp_host.host.session import Session
from acp_host.ui.terminal.sessions import Choosable

__all__ = ["choosable_sessions", "opened_session"]

_MOST = 200
_WITHOUT_ANOTHER = ReopenPolicy(steps=(ReopenStep.LOAD, ReopenStep.RESUME))


async def choosable_sessions(host: HostConnection, shown: Session) -> list[Choosable]:
    """Return the sessions that are open here, and those of the same directory that the agent keeps, at most 200.

    Raises:
        AcpError: the agent did not list them.
    """
    here = [_open_here(session, shown) for session in host.sessions]
    if not host.agreement.supports("session/list"):
        return here
    known = {session.id for session in here}
    kept = [
        Choosable(id=info.session_id, title=info.title or info.session_id, state=info.updated_at or "", is_open=False)
        async for info in host.iter_sessions(cwd=shown.cwd, limit=_MOST)
        if info.session_id not in known
    ]
    return [*here, *kept]


async def opened_session(host: HostConnection, session_id: str | None, cwd: str) -> Session:
    """Return a session, which is opened if it is not; ``None``: another one.

    Raises:
        AcpError: it could not be opened.
    """
    if session_id is None:
        return await host.new_session(cwd)
    known = next((session for session in host.sessions if session.id == session_id), None)
    if known is not None:
        return known
    return (await host.open_session(session_id, cwd, policy=_WITHOUT_ANOTHER)).session


def _open_here(session: Session, shown: Session) -> Choosable:
    state = session.state.snapshot()
    word = "shown" if session is shown else str(state.turn.status)
    return Choosable(id=session.id, title=state.info.title or session.id, state=word, is_open=True)
