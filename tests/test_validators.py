"""Numbers that an application sets."""

from __future__ import annotations

import math
from typing import Any

import pytest
from attrs import field, frozen

from acp_host.errors import InvalidInput
from acp_host.validators import number


@pytest.mark.parametrize(
    ("rules", "fitting", "others", "wanted"),
    [
        ({"above": 0}, [0.1, 1, 10**30], [0, -1, math.inf, math.nan, 10**400], "a number, more than 0"),
        ({"least": 0}, [0, 0.0, 5], [-0.1, math.inf], "a number, 0 or more"),
        ({"least": 0, "most": 1}, [0, 1, 0.5], [1.1, -1], "a number, from 0 to 1"),
        ({"least": 1, "whole": True}, [1, 2], [0, 1.0, 1.5], "a number, 1 or more"),
        ({"above": 0, "endless": True}, [math.inf, 1], [-math.inf, math.nan], "a number, more than 0"),
        ({"unit": "seconds", "above": 0, "optional": True}, [None, 1], [0], "seconds, more than 0, or None"),
    ],
)
def test_only_such_a_number_is_taken(rules: dict[str, Any], fitting: list[Any], others: list[Any], wanted: str) -> None:
    @frozen
    class Settings:
        speed: Any = field(validator=number(**rules))

    for value in fitting:
        assert Settings(value).speed == value
    never = [True, "1", *([] if rules.get("optional") else [None])]
    for value in [*others, *never]:
        with pytest.raises(InvalidInput) as caught:
            Settings(value)
        assert str(caught.value) == f"Settings(speed=…) takes {wanted}, not {value!r}"
