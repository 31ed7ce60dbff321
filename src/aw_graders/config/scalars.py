"""What a plain word means: the core schema of YAML 1.2, kept to what JSON can hold."""

import math
import re
from typing import Final, TypeAlias

_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE: Final = frozenset({"true", "True", "TRUE"})
_FALSE: Final = frozenset({"false", "False", "FALSE"})
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_OCTAL: Final = re.compile(r"0o[0-7]+")
_HEXADECIMAL: Final = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
# Core YAML 1.2 reads these as text, other readers as a time: refused, so that nobody guesses.
_TIMESTAMP: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:.*"
)
MAX_EXACT_INTEGER: Final = 2**53
# More digits than any integer below the limit needs, leading zeros included.
_MAX_DIGITS: Final = 64

Scalar: TypeAlias = bool | int | float | str | None


class NotJsonError(ValueError):
    """A word that YAML can hold and JSON cannot. The text says what it is."""


def plain_value(word: str) -> Scalar:
    """Read an unquoted word.

    Takes: the word as written, without surrounding space.
    Returns: null, a boolean, a finite number, or the word itself; `on`, `y` and `n` are words.
    Raises: NotJsonError for a timestamp, a number that is not finite, and an integer beyond 2^53.
    Source: YAML 1.2.2, section 10.3.
    """
    if word in _NULL:
        return None
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    if _NOT_FINITE.fullmatch(word):
        msg = "is not a finite number"
        raise NotJsonError(msg)
    if _TIMESTAMP.fullmatch(word):
        msg = "is a timestamp"
        raise NotJsonError(msg)
    return _number_or_text(word)


def text_value(text: str) -> str:
    """Join the two halves of characters that JSON text escapes as a pair.

    Raises: NotJsonError for half a character.
    """
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        msg = "holds half a surrogate pair"
        raise NotJsonError(msg) from None


def _number_or_text(word: str) -> Scalar:
    for pattern, base in ((_INTEGER, 10), (_OCTAL, 8), (_HEXADECIMAL, 16)):
        if pattern.fullmatch(word):
            return _integer(word, base)
    if _FLOAT.fullmatch(word):
        number = float(word)
        if not math.isfinite(number):
            msg = "is too large for a number"
            raise NotJsonError(msg)
        return number
    return text_value(word)


def _integer(word: str, base: int) -> int:
    number = int(word[2:] if base != 10 else word, base) if len(word) <= _MAX_DIGITS else None  # noqa: PLR2004 - ten is the base without a prefix
    if number is None or abs(number) > MAX_EXACT_INTEGER:
        msg = "is an integer beyond 2^53, which no JSON reader keeps exactly"
        raise NotJsonError(msg)
    return number
