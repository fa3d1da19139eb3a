"""From a transport that is not started to an agreement: :func:`shake_hands`, and :func:`agree` for one that is.

What is asked, and when again, :mod:`acp_host.protocol.versions` decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError, ConnectionClosed, ConnectionLost, OutcomeUnknown, RequestFailed, TransportError
from acp_host.host.diagnostic_log import DiagnosticLog
from acp_host.host.driver import Driver
from acp_host.host.start_failures import StartFailures
from acp_host.protocol.host_protocol import HostProtocol
from acp_host.redaction import secrets_of_command

__all__ = ["agree", "shake_hands"]

_SECOND_ANSWER = 10.0
"""Seconds that an agent may take to answer ``initialize`` once more; some never do."""


async def shake_hands(
    driver: Driver,
    make_protocol: Callable[[tuple[int, ...]], HostProtocol],
    diagnostics: DiagnosticLog,
    seconds: float,
    reached: Callable[[], None],
) -> None:
    """Start a driver's transport and agree with the agent, on another connection where it takes that.

    Args:
        driver: has the transport and the protocol core; if another connection is needed, it gets its own.
        make_protocol: returns a core that asks for these versions.
        diagnostics: takes what is out of the ordinary; its redactor learns the secrets of the transport.
        seconds: that the agent may take to answer.
        reached: called once the other end is reached.

    Raises:
        StartFailed: the agent cannot be launched or reached, or ended before it answered.
        StartTimeout: it did not answer in time.
        PeerError: it answered, but not in a way that this host can use.
        RequestFailed: it refused.
    """
    refusal = await _start_and_agree(driver, diagnostics, seconds, reached)
    if refusal is None:
        return
    protocol, earlier = driver.protocol, driver.transport
    transport, version = earlier.again({}), protocol.half_agreed
    if transport is not None and version is not None:
        driver.attach(transport, make_protocol((version,)))
        await earlier.close()
        await _start_and_agree(driver, diagnostics, seconds, reached)
    elif protocol.ended or not protocol.settle():
        raise refusal
    else:
        text = (
            f"the agent speaks ACP version {version} and was asked in the form of both versions, but takes no "
            f"other initialize ({refusal or 'no answer in time'}); it may not know all that this host offers"
        )
        diagnostics.add(Diagnostic(DiagnosticKind.UNEXPECTED, text, method="initialize"))


async def _start_and_agree(
    driver: Driver, diagnostics: DiagnosticLog, seconds: float, reached: Callable[[], None]
) -> Exception | None:
    """Start the transport and ask the agent; return why it does not take a second question on this connection."""
    transport = driver.transport
    if transport.launch is not None:
        diagnostics.redactor.add_named(transport.launch.env)
        diagnostics.redactor.add(secrets_of_command(transport.launch.argv))
    diagnostics.redactor.add(transport.secrets)
    failures = StartFailures(transport, diagnostics)
    try:
        await driver.start()
        diagnostics.redactor.add(transport.secrets)  # the server may have set cookies
        reached()
        async with asyncio.timeout(seconds):
            return await agree(driver)
    except TimeoutError:
        timeout = failures.timeout(seconds)  # with what is so at the deadline, and not after the end
        await transport.close()
        raise failures.complete(timeout) from None
    except (OutcomeUnknown, ConnectionLost) as error:
        await transport.close()
        raise failures.ended_early(error) from error
    except ConnectionClosed as error:
        await transport.close()
        lost = error.__cause__  # before a word was sent
        if isinstance(lost, ConnectionClosed):  # this host has closed it
            raise
        raise failures.ended_early(lost if isinstance(lost, TransportError) else error) from error
    except BaseException as error:
        await transport.close()
        failures.complete(error)
        raise


async def agree(driver: Driver) -> Exception | None:
    """Send ``initialize``, in another form once more where that is needed.

    Returns:
        ``None`` once there is an agreement; else why the agent, which has answered, does not take the request once more
        on this connection.

    Raises:
        AcpError: as ``Driver.initialize``.
    """
    protocol = driver.protocol
    while True:
        is_repeated = protocol.half_agreed is not None
        try:
            async with asyncio.timeout(_SECOND_ANSWER if is_repeated else None):
                await driver.initialize()
        except (AcpError, TimeoutError) as error:
            if is_repeated:
                return error
            if not (isinstance(error, RequestFailed) and protocol.asks_again):
                raise
        if not protocol.asks_again:
            return None
