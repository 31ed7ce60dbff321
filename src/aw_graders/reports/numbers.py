"""How numbers are shown. Stored values are never rounded; only this module rounds."""

from typing import Final

_DECIMALS: Final = 4


def shown(value: float | None) -> str:
    """Spell a value with at most four decimals, trailing zeros dropped; None is a dash."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return str(value)
    text = f"{value:.{_DECIMALS}f}"
    return text.rstrip("0").rstrip(".")
