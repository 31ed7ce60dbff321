"""Sets of characters as ECMAScript's flag `i` sees them, spelled for RE2.

Letters become classes of their own case variants, since both engines fold case by rules of their own.
Source: ECMA-262, 15th edition, sections 22.2.2.7.3 and 22.2.2.9.
"""

from functools import cache
from typing import Final, TypeAlias

LINE_ENDS: Final = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
_SPACES: Final = (
    *((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)),
    *((0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
_DIGIT_RANGES: Final = ((0x30, 0x39),)
_WORD_RANGES: Final = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_LAST: Final = 0x10FFFF
# Flag `i` tells these two from the letters k and s, RE2 does not always: others stand in for them.
_STAND_INS: Final = {0x17F: 0x10FFFE, 0x212A: 0x10FFFF}
_ASCII_END: Final = 0x80

Ranges: TypeAlias = tuple[tuple[int, int], ...]


def encoded(text: str) -> bytes:
    """Spell text as a compiled pattern searches it; done once for any number of patterns."""
    return text.translate(_STAND_INS).encode()


def shorthand(char: str) -> Ranges | None:
    r"""Return the characters of `\d`, `\w`, `\s` and their complements; None for others."""
    table = {"d": _DIGIT_RANGES, "w": _WORD_RANGES, "s": _SPACES}
    ranges = table.get(char.lower()) if char.isascii() else None
    return _complement(ranges) if ranges is not None and char.isupper() else ranges


def _complement(ranges: Ranges) -> Ranges:
    found: list[tuple[int, int]] = []
    start = 0
    for first, last in sorted(ranges):
        if first > start:
            found.append((start, first - 1))
        start = max(start, last + 1)
    if start <= _LAST:
        found.append((start, _LAST))
    return tuple(found)


def _canonical(code: int) -> int:
    """Fold a character's case as flag `i` does without flag `u`."""
    upper = chr(code).upper()
    if len(upper) != 1:
        return code
    return code if code >= _ASCII_END > ord(upper) else ord(upper)


def _variants(code: int) -> tuple[int, ...]:
    """List the characters that flag `i` takes for the same."""
    return _table().get(_canonical(code), (code,))


@cache
def _table() -> dict[int, tuple[int, ...]]:
    """Group the characters of the first plane by what they fold to; made once, when needed."""
    groups: dict[int, list[int]] = {}
    for code in range(0x10000):
        folded = _canonical(code)
        if folded != code:
            groups.setdefault(folded, [folded]).append(code)
    return {folded: tuple(sorted(codes)) for folded, codes in groups.items()}


def literal(code: int) -> str:
    """Spell one character with its case variants."""
    variants = _variants(code)
    if len(variants) == 1:
        return _point(code)
    return spelled_class(tuple((variant, variant) for variant in variants))


def folded_ranges(ranges: Ranges) -> Ranges:
    """Add the case variants of every character in the ranges."""
    added = [
        (variant, variant)
        for folded, codes in _table().items()
        if any(first <= code <= last for code in codes for first, last in ranges)
        for variant in (folded, *codes)
    ]
    return (*ranges, *added)


def _point(code: int) -> str:
    return rf"\x{{{_STAND_INS.get(code, code):x}}}"


def spelled_class(ranges: Ranges) -> str:
    """Spell a class of characters."""
    parts = _without_surrogates(ranges)
    parts += [(code, code) for code in _STAND_INS for first, last in ranges if first < code <= last]
    inner = "".join(
        _point(first) if first == last else f"{_plain(first)}-{_plain(last)}"
        for first, last in parts
    )
    # An empty class matches nothing.
    return f"[{inner}]" if inner else r"[^\x{0}-\x{10ffff}]"


def _plain(code: int) -> str:
    return rf"\x{{{code:x}}}"


def negated_class(ranges: Ranges) -> str:
    """Spell the class of all other characters."""
    return spelled_class(_complement(ranges))


def _without_surrogates(ranges: Ranges) -> list[tuple[int, int]]:
    """Leave halves of surrogate pairs out: a decoded session holds none."""
    found: list[tuple[int, int]] = []
    for first, last in ranges:
        parts = ((first, min(last, 0xD7FF)), (max(first, 0xE000), last))
        found += [part for part in parts if part[0] <= part[1]]
    return found
