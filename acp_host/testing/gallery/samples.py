"""Texts and blocks of content that several states show."""

from __future__ import annotations

from typing import Any

__all__ = ["AUDIO", "BLOCKS", "CODE", "IMAGE", "MARKDOWN", "PARAGRAPH", "text"]

IMAGE = (
    "iVBORw0KGgoAAAANSUhEUgAAABgAAAAYCAIAAABvFaqvAAAEF0lEQVR42g3Moc5GUACA4f9yviRJkiRJNpu9gXIKwWw2EyinEMxm"
    "M4FyCsFsNlMURXFZv+cCnr8fr8ar8xq8Jq/Fa/M6vB6vzyt4I96EN+MteCVvzdvy9rwjr+JdeDfeg/fvx6Px6DwGj8lj8dg8Do/H"
    "4/MInogn4cl4Ch7JU/O0PD3PyKN4Fp6N5+D5olvj1rkNbpPb4ra5HW6P2+cW3BF3wp1xF9ySu+ZuuXvukVtxL9wb98H9RZfGpXMZ"
    "XCaXxWVzOVwel88luCKuhCvjKrgkV83VcvVcI5fiWrg2roPri06NU+c0OE1Oi9PmdDg9Tp9TcEacCWfGWXBKzpqz5ew5R07FuXBu"
    "nAfnF+0au85usJvsFrvN7rB77D67YI/YE/aMvWCX7DV7y96zj+yKfWHf2A/2L1o1Vp3VYDVZLVab1WH1WH1WwRqxJqwZa8EqWWvW"
    "lrVnHVkV68K6sR6sXzRrzDqzwWwyW8w2s8PsMfvMgjliTpgz5oJZMtfMLXPPPDIr5oV5Yz6Yv0hpKB1loEyUhbJRDspD+SiBilAJ"
    "KkMVKImqUS2qR40ohVpQG+pAfdGkMelMBpPJZDHZTA6Tx+QzCaaIKWHKmAomyVQztUw908ikmBamjelg+qJBY9AZDAaTwWKwGRwG"
    "j8FnEAwRQ8KQMRQMkqFmaBl6hpFBMSwMG8PB8EWdRqfTGXQmnUVn0zl0Hp1PJ+giuoQuoyvoJF1N19L1dCOdolvoNrqD7osajUan"
    "MWhMGovGpnFoPBqfRtBENAlNRlPQSJqapqXpaUYaRbPQbDQHzRdVGpVOZVCZVBaVTeVQeVQ+laCKqBKqjKqgklQ1VUvVU41Uimqh"
    "2qgOqi+SGlJHGkgTaSFtpIP0kD5SICNkgsyQBVIia2SL7JEjUiEX5IY8kF9UapQ6pUFpUlqUNqVD6VH6lIIyokwoM8qCUlLWlC1l"
    "TzlSKsqFcqM8KL8o18h1coPcJLfIbXKH3CP3yQV5RJ6QZ+QFuSSvyVvynnwkV+QL+UZ+kH9RqpHqpAapSWqR2qQOqUfqkwrSiDQh"
    "zUgLUklak7akPelIqkgX0o30IP2iWCPWiQ1ik9gitokdYo/YJxbEEXFCnBEXxJK4Jm6Je+KRWBEvxBvxQfxFoUaoExqEJqFFaBM6"
    "hB6hTygII8KEMCMsCCVhTdgS9oQjoSJcCDfCg/CLhIbQEQbCRFgIG+EgPISPEIgIkSAyRIGQiBrRInrEiFCIBbEhDsQXBRqBTmAQ"
    "mAQWgU3gEHgEPoEgiAgSgoygIJAENUFL0BOMBIpgIdgIDoIvQgMdDDDBAhsc8MAHAREkkEEBEmpooYcRFCywwQFf5Gq4Oq6Ba+Ja"
    "uDaug+vh+rgCN8JNcDPcAlfi1rgtbo874ircBXfDPXD/AcmBAI7qA/GgAAAAAElFTkSuQmCC"
)
"""A PNG of 24 × 24 pixels, in base64."""

AUDIO = "UklGRkQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YSAAAACAgYKDhIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2enw=="
"""A WAV of 4 ms, in base64."""

PARAGRAPH = (
    "The test fails because `parse_date` takes the day for the month. I change the format string and run the tests"
    " again."
)

CODE = """def parse_date(text: str) -> date:
    return datetime.strptime(text, "%d.%m.%Y").date()
"""

MARKDOWN = f"""# What I found

The test **fails** because `parse_date` takes the *day* for the month; see [the manual](https://docs.python.org/3/).

1. Change the format string.
2. Run the tests.
   - all of them
   - ~~only the one~~

> It worked until the thirteenth.

| input | before | after |
|---|---:|---:|
| `01.02.2026` | 2 January | 1 February |
| `13.02.2026` | *error* | 13 February |

- [x] found
- [ ] fixed

```python
{CODE}```

---

![A diagram](https://example.org/diagram.png) That was all.
"""


def text(words: str, **members: Any) -> dict[str, Any]:
    """Return a block of text, as on the wire."""
    return {"type": "text", "text": words, **members}


BLOCKS: dict[str, tuple[str, dict[str, Any]]] = {
    "text": ("text", text(PARAGRAPH)),
    "annotated_text": (
        "text with annotations",
        text(PARAGRAPH, annotations={"audience": ["user"], "priority": 0.9, "lastModified": "2026-01-01T11:00:00Z"}),
    ),
    "image": ("an image that is there", {"type": "image", "data": IMAGE, "mimeType": "image/png"}),
    "image_with_address": (
        "an image that says where it comes from, which nobody may fetch",
        {"type": "image", "data": IMAGE, "mimeType": "image/png", "uri": "https://example.org/pixel.png"},
    ),
    "image_of_unknown_type": (
        "an image of a type that nobody can draw",
        {"type": "image", "data": "bm8gaW1hZ2U=", "mimeType": "image/x-unheard-of"},
    ),
    "audio": ("a sound", {"type": "audio", "data": AUDIO, "mimeType": "audio/wav"}),
    "resource_link": (
        "a link to a file, with all that can be said of it",
        {
            "type": "resource_link",
            "name": "dates.py",
            "title": "The dates",
            "uri": "file:///work/project/dates.py",
            "description": "Where dates are read.",
            "mimeType": "text/x-python",
            "size": 1_204,
        },
    ),
    "plain_resource_link": (
        "a link with nothing but a name and an address",
        {"type": "resource_link", "name": "The manual", "uri": "https://docs.python.org/3/"},
    ),
    "text_resource": (
        "a file that is sent along",
        {
            "type": "resource",
            "resource": {"uri": "file:///work/project/dates.py", "mimeType": "text/x-python", "text": CODE},
        },
    ),
    "binary_resource": (
        "a file that is sent along and is no text",
        {
            "type": "resource",
            "resource": {"uri": "file:///work/project/logo.png", "mimeType": "image/png", "blob": IMAGE},
        },
    ),
    "unknown_resource": (
        "a resource of a form that is not known",
        {"type": "resource", "resource": {"uri": "memory:1", "hologram": {"depth": 3}}},
    ),
    "unknown": ("content of a kind that is not known", {"type": "hologram", "depth": 3, "colours": ["red", "blue"]}),
}
"""One block of each form that content has, by name: what it shows, and the block as on the wire."""
