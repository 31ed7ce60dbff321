"""Two cheap questions about JSON text that the fast decoder does not ask itself.

Both are answered from a necessary condition first (a count at memory speed), and precisely only
when that condition holds, so that ordinary text costs next to nothing and hostile text stays linear.
"""

import re
from itertools import accumulate
from typing import Final

# Decision: nesting has the same fixed limit on every Python version, never a RecursionError.
MAX_DEPTH: Final = 512
# A finite double has at most 309 digits before the point; one digit run this long overflows.
_OVERFLOW_DIGITS: Final = 309
# Every run of 309 digits covers at least three neighbours of a sample taken each 103 bytes.
_SAMPLE_STEP: Final = 103

_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_LONG_NUMBER: Final = re.compile(rb"[0-9]{%d}" % _OVERFLOW_DIGITS)
_THREE_DIGITS: Final = re.compile(rb"[0-9]{3}")
_NOT_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")
_STEP_OF: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def is_too_deep(text: bytes) -> bool:
    """Tell whether arrays and objects in `text` nest deeper than `MAX_DEPTH`.

    Cost: two byte counts; a linear scan only for text with more than `MAX_DEPTH` opening brackets.
    """
    if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return False
    brackets = _STRING.sub(b"", text).translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_STEP_OF.__getitem__, brackets)), default=0) > MAX_DEPTH


def has_oversized_number(text: bytes) -> bool:
    """Tell whether `text` may hold an integer that no finite double can hold.

    A long digit run inside a string answers True as well; the caller then decodes slowly.
    Cost: about one byte in a hundred is looked at.
    """
    return (
        _THREE_DIGITS.search(text[::_SAMPLE_STEP]) is not None
        and _LONG_NUMBER.search(text) is not None
    )
