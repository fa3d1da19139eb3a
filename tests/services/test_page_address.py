"""Addresses of web pages: what is shown is where a browser would go, and what leaves doubt is refused."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.errors import InvalidInput
from acp_host.services.page_address import MAX_ADDRESS, read_address


@pytest.mark.parametrize(
    ("url", "opened", "host"),
    [
        ("https://example.org", "https://example.org", "example.org"),
        ("HTTPS://Example.ORG:443/A?b=C#d", "https://example.org/A?b=C#d", "example.org"),
        ("https://example.org:8443/", "https://example.org:8443/", "example.org:8443"),
        ("https://example.org?next=https://x", "https://example.org?next=https://x", "example.org"),
        ("https://ex_ample.org/ä'\"<b>", "https://ex_ample.org/%C3%A4'%22%3Cb%3E", "ex_ample.org"),
        ("https://example.org/%41%", "https://example.org/%41%", "example.org"),
        ("http://localhost:3000/cb", "http://localhost:3000/cb", "localhost:3000"),
        ("http://127.0.0.1/", "http://127.0.0.1/", "127.0.0.1"),
        ("http://[::0001]:80/", "http://[::1]/", "[::1]"),
    ],
)
def test_ordinary_addresses(url: str, opened: str, host: str) -> None:
    address = read_address(url)
    assert (address.url, address.host, address.display_host) == (opened, host, host)
    assert address.warnings == ()


@pytest.mark.parametrize(
    ("url", "host", "display", "warning"),
    [
        ("https://google.com@evil.example/", "evil.example", "evil.example", "the page is on evil.example"),
        ("https://user:pass@evil.example/", "evil.example", "evil.example", "What stands before the @"),
        ("https://аpple.com/", "xn--pple-43d.com", "аpple.com", "may look like others"),
        ("https://xn--pple-43d.com/", "xn--pple-43d.com", "аpple.com", "may look like others"),
        ("https://faß.de/", "xn--fa-hia.de", "faß.de", "may look like others"),
        ("https://xn--999999999.com/", "xn--999999999.com", "xn--999999999.com", "cannot be shown here"),
        (
            "https://xn--mgba3gch31f060k.com/",
            "xn--mgba3gch31f060k.com",
            "xn--mgba3gch31f060k.com",
            "cannot be shown here",
        ),
        ("https://[a@b]@evil.example/", "evil.example", "evil.example", "the page is on evil.example"),
        ("http://example.org/", "example.org", "example.org", "not encrypted"),
        ("https://10.0.0.1/", "10.0.0.1", "10.0.0.1", "a number, not a name"),
        ("https://[fe80::1]/", "[fe80::1]", "[fe80::1]", "a number, not a name"),
    ],
)
def test_what_the_user_should_know(url: str, host: str, display: str, warning: str) -> None:
    address = read_address(url)
    assert (address.host, address.display_host) == (host, display)
    [text] = address.warnings
    assert warning in text
    assert urlsplit(address.url).hostname == host.strip("[]")


@pytest.mark.parametrize("url", ["https://１２７.0.0.1/", "https://ⓔxample。org/", "https://EXAMPLE.org/"])
def test_letters_that_a_browser_reads_as_others_are_read_so(url: str) -> None:
    assert read_address(url).host in ("127.0.0.1", "example.org")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "vscode://x/y",
        "--version",
        "//example.org",
        "http:example.org",
        "https:///example.org",
        "https://",
        "https://@/",
        "https://good.example\\@evil.example/",
        "https://good.example /",
        "https://good.example\n.evil.example",
        "https://evil.example/\u202egro.elpmaxe",
        "https://evil.example/\x00",
        "https://ex%61mple.org/",
        "https://evil.example／good.example/",
        "https://a..b/",
        "https://./",
        "https://-a.org/",
        "https://exam\u200bple.org:x/",
        *(f"https://exam{invisible}ple.org/" for invisible in "\u200b\u200c\u200d\u2060\ufeff\xad\u034f\ufe0f\u180b"),
        "https://example.org/a\u200bb",
        "https://example.org:/",
        "https://example.org:99999/",
        "https://example.org:0/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://127.1/",
        "https://[::1/",
        "https://[fe80::1%25eth0]/",
        "https://[v1.x]/",
        f"https://{'a' * 64}.org/",
        f"https://{'a.' * 200}org/",
        "https://example.org/" + "a" * MAX_ADDRESS,
    ],
)
def test_what_is_no_address_for_a_person_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"the (host of the )?address"):
        read_address(url)


ODD = st.text(st.sampled_from("ab.:/@?#%\\[]0x7 ä。／-_\u200b") | st.characters(), max_size=20)


@given(ODD | st.builds("{}@{}.org{}".format, ODD, st.sampled_from("abä"), ODD))
def test_whatever_is_opened_is_plain_and_where_it_says(rest: str) -> None:
    try:
        address = read_address(f"https://{rest}")
    except InvalidInput:
        return
    assert address.url.isascii()
    assert address.url.isprintable()
    assert address.url.startswith("https://")
    split = urlsplit(address.url)
    host = address.host.rpartition(":")[0] if split.port else address.host
    assert split.hostname == host.strip("[]")
    assert read_address(address.url).url == address.url
