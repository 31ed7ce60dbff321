"""Two questions about JSON text that the fast decoder does not ask itself.

Both are answered from a necessary condition first, at memory speed, and precisely only when that
condition holds, so that ordinary text costs next to nothing and hostile text stays linear.
"""

import re
from collections.abc import Iterable
from itertools import accumulate
from typing import Final, cast

import msgspec

# Decision: nesting has the same fixed limit on every Python version, never a RecursionError.
MAX_DEPTH: Final = 512
# A finite double has at most 309 digits before the point; one digit run this long overflows.
_OVERFLOW_DIGITS: Final = 309
# Every run of 309 digits covers at least nine neighbours of a sample taken each 34 bytes.
_SAMPLE_STEP: Final = 34
_SAMPLED_RUN: Final = b"0" * (_OVERFLOW_DIGITS // _SAMPLE_STEP)
# Shorter text can be neither too deep nor hold such a run: each level takes two brackets.
SURELY_PLAIN_BYTES: Final = min(_OVERFLOW_DIGITS - 1, 2 * MAX_DEPTH)

_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_LONG_NUMBER: Final = re.compile(rb"[0-9]{%d}" % _OVERFLOW_DIGITS)
_DIGITS_TO_ZERO: Final = bytes(ord("0") if byte in b"0123456789" else byte for byte in range(256))
_NOT_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")
_STEP_OF: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_DECODE: Final = msgspec.json.Decoder().decode


def is_too_deep(text: bytes) -> bool:
    """Tell whether arrays and objects in `text` nest deeper than `MAX_DEPTH`.

    Cost: two searches at memory speed; text with more than `MAX_DEPTH` opening brackets, many of
        which may stand inside strings, is decoded and its objects and arrays are counted.
    """
    if len(text) <= 2 * MAX_DEPTH or not _opens_many(text):
        return False
    try:
        return _is_value_too_deep(_DECODE(text))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        brackets = _STRING.sub(b"", text).translate(None, _NOT_BRACKETS)
        return max(accumulate(map(_STEP_OF.__getitem__, brackets)), default=0) > MAX_DEPTH


def _opens_many(text: bytes) -> bool:
    """Tell whether there are more than `MAX_DEPTH` opening brackets; mostly there are a few."""
    opened = 0
    for bracket in (b"{", b"["):
        at = text.find(bracket)
        while at >= 0:
            opened += 1
            if opened > MAX_DEPTH:
                return True
            at = text.find(bracket, at + 1)
    return False


def _is_value_too_deep(value: object) -> bool:
    """Walk level by level, so that a deep value costs no stack."""
    level = _containers([value])
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        level = [inner for outer in level for inner in _containers(_members(outer))]
    return bool(level)


def _containers(values: Iterable[object]) -> list[object]:
    return [value for value in values if isinstance(value, dict | list)]


def _members(container: object) -> Iterable[object]:
    if isinstance(container, dict):
        return cast("dict[str, object]", container).values()
    return cast("list[object]", container)


def has_oversized_number(text: bytes) -> bool:
    """Tell whether `text` may hold an integer that no finite double can hold.

    A long digit run inside a string answers True as well; the caller then decodes slowly.
    Cost: about one byte in thirty is looked at.
    """
    if len(text) < _OVERFLOW_DIGITS:
        return False
    sample = text[::_SAMPLE_STEP].translate(_DIGITS_TO_ZERO)
    return _SAMPLED_RUN in sample and _LONG_NUMBER.search(text) is not None
