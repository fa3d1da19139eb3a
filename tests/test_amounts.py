"""How amounts are written for people."""

from __future__ import annotations

import pytest

from acp_host.amounts import amount_text


@pytest.mark.parametrize(
    "amount, text",
    [
        (0, "0"),
        (0.0, "0"),
        (0.00001, "0.00001"),
        (0.000000123, "0.000000123"),
        (0.1 + 0.2, "0.3"),
        (6.0, "6"),
        (1234.5, "1,234.5"),
        (1_234_567, "1,234,567"),
        (1e300, "1e+300"),
        (10**400, "1e+400"),
        (-1e-300, "-1e-300"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
    ],
)
def test_an_amount_has_its_digits_and_no_exponent(amount: float, text: str) -> None:
    assert amount_text(amount) == text
