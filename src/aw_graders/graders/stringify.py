"""JSON text as ECMAScript's `JSON.stringify` spells it.

Source: ECMA-262, 15th edition, sections 25.5.2 and 6.1.6.1.20.
"""

import json
from collections.abc import Mapping
from typing import Final, cast

from aw_graders._json import JsonValue

# Beyond these exponents a number is spelled with one.
_MAX_PLAIN_EXPONENT: Final = 21
_MIN_PLAIN_EXPONENT: Final = -6
_MAX_SAFE: Final = 2**53


def stringify(value: JsonValue) -> str:
    """Spell `value` without spaces, keys in recorded order, numbers as doubles.

    Raises: nothing; integers beyond any double are spelled as null, as ECMAScript would.
    Cost: O(value); one frame of the stack for each level.
    """
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        return _number(value)
    parts: list[str] = []
    if isinstance(value, Mapping):
        for key, item in value.items():
            parts.append(f"{json.dumps(key, ensure_ascii=False)}:{stringify(item)}")
        return f"{{{','.join(parts)}}}"
    for item in cast("list[JsonValue]", value):
        parts.append(stringify(item))  # noqa: PERF401
    return f"[{','.join(parts)}]"


def _number(value: float) -> str:
    """Spell a number: the shortest digits that read back as the same double."""
    if isinstance(value, int) and abs(value) <= _MAX_SAFE:
        return str(value)
    try:
        double = float(value)
    except OverflowError:
        return "null"
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    digits, exponent = _shortest(abs(double))
    return sign + _placed(digits, exponent)


def _shortest(double: float) -> tuple[str, int]:
    """Give the digits d1 d2 d3… and n with the value 0.d1 d2 d3… times 10 to the n."""
    mantissa, _, power = f"{double!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    exponent = len(whole) - leading + int(power or 0)
    return digits.rstrip("0"), exponent


def _placed(digits: str, exponent: int) -> str:
    count = len(digits)
    if count <= exponent <= _MAX_PLAIN_EXPONENT:
        return digits + "0" * (exponent - count)
    if 0 < exponent <= _MAX_PLAIN_EXPONENT:
        return f"{digits[:exponent]}.{digits[exponent:]}"
    if _MIN_PLAIN_EXPONENT < exponent <= 0:
        return f"0.{'0' * -exponent}{digits}"
    power = exponent - 1
    mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{'+' if power > 0 else '-'}{abs(power)}"
