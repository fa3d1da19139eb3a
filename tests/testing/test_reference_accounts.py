"""Login and providers of the reference agent; the schema is watched by ``connect``."""

from __future__ import annotations

from pathlib import Path

import pytest

import acp_host
from acp_host.testing import ReferenceAgent
from acp_host.wire.converters import unstructure


async def test_login_and_logout(connect, tmp_path: Path) -> None:
    states: list[str] = []
    async with connect(ReferenceAgent(require_auth=True)) as host:
        host.on_notification("auth/status_update", lambda update: states.append(update.state))
        [method] = host.agreement.auth_methods
        assert (await host.auth_status()).state == "unauthenticated"
        with pytest.raises(acp_host.AuthRequired) as failure:
            await host.new_session(tmp_path)
        assert failure.value.data == {"authMethods": [unstructure(method)]}
        with pytest.raises(acp_host.InvalidParams):
            await host.authenticate("magic")
        await host.authenticate(method.id)
        status = await host.auth_status()
        assert (status.state, [account.label for account in status.accounts]) == ("authenticated", ["Reference User"])
        session = await host.new_session(tmp_path)
        assert (await session.prompt("/say hi")).text == "hi"
        await host.logout()
        with pytest.raises(acp_host.AuthRequired):
            await session.prompt("/say hi")
        with pytest.raises(acp_host.AuthRequired):
            await host.load_session(session.id, tmp_path)
    assert states == ["authenticated", "unauthenticated"]


async def test_a_login_outlives_the_connection(connect, tmp_path: Path) -> None:
    agent = ReferenceAgent(require_auth=True)
    async with connect(agent) as host:
        await host.authenticate(host.agreement.auth_methods[0].id)
    async with connect(agent) as host:
        await host.new_session(tmp_path)


async def test_no_login_is_needed(connect, tmp_path: Path) -> None:
    async with connect() as host:
        assert host.agreement.auth_methods == ()
        assert (await host.auth_status()).state == "not_required"
        with pytest.raises(acp_host.InvalidParams):
            await host.authenticate("reference-login")
        await host.logout()
        await host.new_session(tmp_path)


async def test_providers(connect) -> None:
    async with connect() as host:

        async def current() -> dict[str, str | None]:
            providers = (await host.list_providers()).providers
            return {each.provider_id: each.current.base_url if each.current else None for each in providers}

        main = (await current())["main"]
        assert await current() == {"main": main, "spare": None}
        await host.set_provider("spare", api_type="openai", base_url="http://127.0.0.1:2", headers={"x": "y"})
        assert await current() == {"main": main, "spare": "http://127.0.0.1:2"}
        await host.disable_provider("spare")
        await host.disable_provider("none")
        assert await current() == {"main": main, "spare": None}
        for name, kind in (("spare", "vertex"), ("none", "openai")):
            with pytest.raises(acp_host.InvalidParams):
                await host.set_provider(name, api_type=kind, base_url="http://127.0.0.1:2")
        with pytest.raises(acp_host.InvalidParams, match="required"):
            await host.disable_provider("main")
