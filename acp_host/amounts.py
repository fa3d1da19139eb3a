"""How an amount of money or a number of tokens is written for people: :func:`amount_text`."""

from __future__ import annotations

from decimal import Context, Decimal

__all__ = ["amount_text"]

_SIX_DIGITS = Context(prec=6)
_SMALLEST, _LARGEST = Decimal("1e-9"), Decimal("1e15")


def amount_text(amount: float) -> str:
    """Return an amount in six digits, or a whole number in all of its digits, with commas and without an exponent.

    The first words of an agent cost 0.00004. Only what is no price, below 1e-9 or from 1e15 on, has an exponent.
    """
    if isinstance(amount, int) and abs(amount) < _LARGEST:
        return f"{amount:,}"
    value = _SIX_DIGITS.create_decimal(amount).normalize(_SIX_DIGITS)
    plain = value.is_finite() and (not value or _SMALLEST <= abs(value) < _LARGEST)
    return f"{value:,f}" if plain else f"{value:g}"
