from __future__ import annotations

import pytest

from acp_host.errors import NotSupported
from acp_host.protocol.negotiation import make_agreement
from acp_host.quirks import QUIRKS, Quirk, QuirkKind
from acp_host.wire.capabilities import AgentCapabilities, ClientCapabilities
from acp_host.wire.initialize import Implementation, InitializeResponse

QUIRK = Quirk(agent="odd", kind=QuirkKind.ABSENT_THOUGH_ADVERTISED, subject="session/load", why="it only says so")
ANSWER = InitializeResponse(1, AgentCapabilities(load_session=True), agent_info=Implementation("odd", "1"))


def test_a_method_that_is_advertised_in_vain_is_refused_for_its_real_reason() -> None:
    agreement = make_agreement(ANSWER, ClientCapabilities(), (*QUIRKS, QUIRK))
    with pytest.raises(NotSupported, match=r"odd does not support session/load: a known quirk \(it only says so\)\."):
        agreement.require("session/load")


def test_without_the_row_it_can_be_called() -> None:
    make_agreement(ANSWER, ClientCapabilities(), QUIRKS).require("session/load")
