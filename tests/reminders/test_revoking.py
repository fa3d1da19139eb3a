from __future__ import annotations

import pytest

from acp_host.errors import InvalidInput, RequestFailed
from acp_host.reminders import RevokeResult, RungRequest
from tests.reminders.harness import HARN, NONE, RFC, Harness


def pending(capabilities=HARN, **options):
    harness = Harness(capabilities, **options)
    entry_id = harness.remind()
    harness.answer({"reminderId": "r-1"})
    return harness, entry_id, harness.delivery.revoker


@pytest.mark.parametrize("known_as", ["rmd-1", "r-1"])
def test_what_the_agent_has_is_asked_for(known_as):
    harness, entry_id, revoker = pending()
    assert revoker.start(known_as) == RungRequest(
        method="session/revoke_reminder", params={"sessionId": "s-1", "reminderId": "r-1"}
    )
    assert revoker.answered(entry_id, {"reminderId": "r-1", "status": "revoked"}) == RevokeResult.REVOKED
    assert harness.status(entry_id) == "revoked"
    assert revoker.start(entry_id) == RevokeResult.ALREADY_REVOKED


def test_what_was_revoked_before_is_revoked():
    harness, entry_id, revoker = pending()
    assert revoker.answered(entry_id, {"status": "already_revoked"}) == RevokeResult.ALREADY_REVOKED
    assert harness.status(entry_id) == "revoked"


def test_that_it_was_delivered_meanwhile_is_no_error():
    harness, entry_id, revoker = pending()
    error = RequestFailed.from_code(-32602, "too late", {"reason": "already_delivered", "reminderId": "r-1"})
    assert revoker.failed(entry_id, error) == RevokeResult.ALREADY_DELIVERED
    assert harness.status(entry_id) == "pending"


def test_an_id_that_the_agent_does_not_know_is_over():
    harness, entry_id, revoker = pending()
    unknown = RequestFailed.from_code(-32602, "unknown", {"reason": "unknown_reminder_id"})
    assert revoker.failed(entry_id, unknown) == RevokeResult.ALREADY_REVOKED
    assert (harness.status(entry_id), harness.entry(entry_id).estimated) == ("pending", True)
    harness.emitted("r-1")
    assert revoker.failed(entry_id, unknown) == RevokeResult.ALREADY_DELIVERED


def test_an_uncertain_one_that_the_agent_does_not_know_never_arrived():
    harness = Harness(HARN)
    entry_id = harness.remind()
    harness.time_out()
    request = harness.delivery.revoker.start(entry_id)
    assert isinstance(request, RungRequest)
    assert request.params["reminderId"] == entry_id
    unknown = RequestFailed.from_code(-32602, "unknown", {"reason": "unknown_reminder_id"})
    assert harness.delivery.revoker.failed(entry_id, unknown) == RevokeResult.ALREADY_REVOKED
    assert harness.status(entry_id) == "failed"


@pytest.mark.parametrize(
    "error",
    [
        RequestFailed.from_code(-32602, "blank id"),
        RequestFailed.from_code(-32004, "session not found", {"reason": 7}),
        RequestFailed.from_code(-32603, "broken", "text"),
    ],
)
def test_other_errors_are_errors(error):
    _, entry_id, revoker = pending()
    with pytest.raises(RequestFailed):
        revoker.failed(entry_id, error)


@pytest.mark.parametrize("answer", ["-32601", None, {}, {"status": "gone"}])
def test_an_agent_that_cannot_is_not_asked_again(answer):
    harness, entry_id, revoker = pending(RFC)
    assert isinstance(revoker.start(entry_id), RungRequest)
    if answer == "-32601":
        assert revoker.failed(entry_id, RequestFailed.from_code(-32601, "no")) == RevokeResult.NOT_SUPPORTED
    else:
        assert revoker.answered(entry_id, answer) == RevokeResult.NOT_SUPPORTED
    assert revoker.start(entry_id) == RevokeResult.NOT_SUPPORTED
    assert (harness.status(entry_id), harness.entry(entry_id).active) == ("pending", True)


def test_an_agent_that_says_it_cannot_is_not_asked_at_all():
    _, entry_id, revoker = pending({"session": {"remind": {"pending": {"list": True}}}})
    assert revoker.start(entry_id) == RevokeResult.NOT_SUPPORTED


def test_without_an_id_there_is_nothing_to_ask_for():
    harness = Harness(RFC)
    entry_id = harness.remind()
    harness.answer({})
    assert harness.delivery.revoker.start(entry_id) == RevokeResult.NOT_SUPPORTED


def test_what_is_suppressed_or_over():
    harness = Harness(NONE)
    entry_id = harness.remind()
    assert harness.delivery.revoker.start(entry_id) == RevokeResult.REVOKED
    assert harness.status(entry_id) == "revoked"
    with pytest.raises(InvalidInput, match="rmd-9"):
        harness.delivery.revoker.start("rmd-9")
