"""Whether somebody is logged in, as an agent tells it: :class:`LoginStatus`, an observable.

An agent tells it in the answer to ``auth/status`` and by ``auth/status_update``; some tell it by a notification of
their own, ``_auth/status_update``. What a host sees for itself counts too: a refusal with -32000, and a login that
worked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, field, frozen

from acp_host.redaction import redact, redact_text
from acp_host.state.clock import Scheduler
from acp_host.state.observable import Observable
from acp_host.wire.auth import AuthAccount, AuthState, AuthStatusResponse, AuthStatusUpdateNotification

__all__ = ["AuthenticationSnapshot", "LoginStatus"]

_CREDENTIALS = frozenset({"api_key", "gateway", "oauth", "subscription"})
"""Words of the agents' own notification for credentials that they hold; any other is taken for unknown."""


@frozen(kw_only=True)
class AuthenticationSnapshot:
    """Who is logged in, as far as that is known.

    Attributes:
        version: grows by one with each delivery of changes.
        state: one of :class:`~acp_host.wire.auth.AuthState` or another word, which reads as ``unknown``.
        accounts: the credentials that the agent holds, to be shown.
        logging_in: a login is going on.
        details: what an agent's own notification says, as decoded, without secrets; empty where there was none.
    """

    version: int = 0
    state: AuthState | str = AuthState.UNKNOWN
    accounts: tuple[AuthAccount, ...] = ()
    logging_in: bool = False
    details: Mapping[str, Any] = field(factory=dict)


class LoginStatus(Observable[AuthenticationSnapshot]):
    """What is known of it; the sections of its change sets are the attributes of the snapshot."""

    def __init__(
        self, scheduler: Scheduler, report: Callable[[Callable[..., Any], BaseException], None] | None = None
    ) -> None:
        super().__init__(scheduler, report)
        self._known = AuthenticationSnapshot()

    def _freeze(self) -> AuthenticationSnapshot:
        return evolve(self._known, version=self.version)

    def _learn(self, **changes: Any) -> None:
        known = evolve(self._known, **changes)
        changed = [name for name in changes if getattr(known, name) != getattr(self._known, name)]
        self._known = known
        for section in changed:
            self.note(section)

    def told(self, told: AuthStatusResponse | AuthStatusUpdateNotification) -> bool:
        """Take what the agent says by the protocol; return that somebody listens."""
        self._learn(state=told.state, accounts=told.accounts or ())
        return True

    def told_its_own_way(self, params: Any) -> bool:
        """Take what an agent says by ``_auth/status_update``: a kind of credential, and words to show.

        What cannot be read changes nothing; somebody listens all the same.
        """
        said = params.get("authStatus") if isinstance(params, Mapping) else None
        if not isinstance(said, Mapping):
            return True
        kind, label = said.get("kind"), said.get("label")
        holds = isinstance(kind, str) and kind in _CREDENTIALS
        account = AuthAccount(redact_text(label), active=True) if holds and isinstance(label, str) and label else None
        self._learn(
            state=AuthState.AUTHENTICATED if holds else AuthState.UNKNOWN,
            accounts=(account,) if account else (),
            details=redact(said),
        )
        return True
