"""Texts that a script builds from constant parts, computed without running it."""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec

from aw_graders.analysis.javascript.tree import Node

# No name that matters is longer, and doubling a text again and again would fill the memory.
_MAX_TEXT_CHARACTERS: Final = 400
_MAX_ITEMS: Final = 100
_MAX_DIGITS: Final = 15


class Fields(msgspec.Struct, frozen=True):
    """An object literal, of which some values are constant."""

    named: tuple[tuple[str, "Constant"], ...]


Constant: TypeAlias = str | int | tuple["Constant | None", ...] | Fields

_ESCAPES: Final[Mapping[str, str]] = MappingProxyType(
    {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
)
_LINE_ENDS: Final = "\n\r\u2028\u2029"
_CODE_POINT: Final = re.compile(
    r"\\(?:x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4}))"
)
_PERCENT: Final = re.compile("%(?:u([0-9A-Fa-f]{4})|([0-9A-Fa-f]{2}))")
_LAST_CHARACTER: Final = 0x10FFFF


def literal_text(node: Node) -> str | None:
    """Return the text of a string, or of the constant parts of a template one after another."""
    if node.end - node.start > _MAX_TEXT_CHARACTERS:
        return None
    return "".join(_piece(child) for child in node.children)


def piece_text(node: Node) -> str | None:
    """Return the text of a run of characters, or of an escape, in a string or a template."""
    return None if node.end - node.start > _MAX_TEXT_CHARACTERS else _piece(node)


def _piece(node: Node) -> str:
    text = node.text
    if node.kind != "escape_sequence":
        return text
    match = _CODE_POINT.fullmatch(text)
    if match is not None:
        number = int(match[1] or match[2] or match[3], 16)
        return chr(number) if number <= _LAST_CHARACTER else text
    rest = text[1:]
    return "" if rest[:1] in _LINE_ENDS else _ESCAPES.get(rest, rest)


def number(text: str) -> int | None:
    """Read a whole number as JavaScript writes it."""
    digits = text.replace("_", "").removesuffix("n")
    try:
        return int(digits, 0) if len(digits) <= _MAX_DIGITS else None
    except ValueError:
        return None


def as_key(constant: Constant | None) -> str | None:
    """Return the property that a constant in brackets names."""
    if isinstance(constant, tuple):
        parts = [as_key(part) for part in constant]
        return None if None in parts else ",".join(str(part) for part in parts)
    return str(constant) if isinstance(constant, str | int) else None


def added(left: Constant | None, right: Constant | None) -> Constant | None:
    """Add two constants as `+` does."""
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    first, second = as_key(left), as_key(right)
    return None if first is None or second is None else _short(first + second)


def element(constant: Constant | None, key: str) -> Constant | None:
    """Return what a constant text, list or object holds under a key."""
    if isinstance(constant, Fields):
        return next((held for name, held in reversed(constant.named) if name == key), None)
    if isinstance(constant, str | tuple) and key.isdecimal() and len(key) <= _MAX_DIGITS:
        at = int(key)
        return constant[at] if at < len(constant) else None
    return None


def _short(text: str) -> str | None:
    return text if len(text) <= _MAX_TEXT_CHARACTERS else None


def from_codes(codes: Sequence[Constant | None]) -> str | None:
    """Make the text of character codes, as `String.fromCharCode` does."""
    if len(codes) > _MAX_ITEMS:
        return None
    numbers = [code for code in codes if isinstance(code, int) and 0 <= code <= _LAST_CHARACTER]
    return "".join(map(chr, numbers)) if len(numbers) == len(codes) else None


def function(path: str, given: Constant | None) -> Constant | None:
    """Call a global function, given by its path, with one constant."""
    if path in {"Object.keys", "Object.getOwnPropertyNames", "Reflect.ownKeys"}:
        return tuple(name for name, _ in given.named) if isinstance(given, Fields) else None
    if path == "String":
        return as_key(given)
    if not isinstance(given, str):
        return None
    if path in {"decodeURIComponent", "decodeURI", "unescape"}:
        return _PERCENT.sub(lambda match: chr(int(match[1] or match[2], 16)), given)
    return given.strip('" ') if path == "JSON.parse" else None


def method(base: Constant | None, name: str, given: Sequence[Constant | None]) -> Constant | None:
    """Call a method of a constant text or list with constant arguments.

    Returns: None for what is no such method, and for what would be long.
    """
    if isinstance(base, str) and name in _OF_TEXT:
        return _OF_TEXT[name](base, given)
    if isinstance(base, tuple) and name in _OF_LIST:
        return _OF_LIST[name](base, given)
    return None


def _range(given: Sequence[Constant | None]) -> slice | None:
    """Return the part that `slice` takes; `substring` takes the same for what is met."""
    numbers = [part for part in given if isinstance(part, int)]
    if len(numbers) != len(given) or len(given) > 2:  # noqa: PLR2004 - from, and to
        return None
    start, end = [*numbers, None, None][:2]
    return slice(start, end)


def _cut(text: str, given: Sequence[Constant | None]) -> Constant | None:
    part = _range(given)
    return None if part is None else text[part]


def _cut_length(text: str, given: Sequence[Constant | None]) -> Constant | None:
    part = _range(given)
    return None if part is None else text[part.start :][: part.stop]


def _cut_list(
    items: tuple[Constant | None, ...], given: Sequence[Constant | None]
) -> Constant | None:
    part = _range(given)
    return None if part is None else items[part]


def _reversed(items: tuple[Constant | None, ...], _: Sequence[Constant | None]) -> Constant | None:
    return items[::-1]


def _at(
    held: str | tuple[Constant | None, ...], given: Sequence[Constant | None]
) -> Constant | None:
    where = given[0] if given else 0
    if not isinstance(where, int) or not -len(held) <= where < len(held):
        return None
    return held[where]


def _replace(text: str, given: Sequence[Constant | None], count: int) -> Constant | None:
    if len(given) != 2:  # noqa: PLR2004 - what, and by what
        return None
    old, new = given
    if not isinstance(old, str) or not isinstance(new, str) or len(new) > _MAX_ITEMS:
        return None
    return _short(text.replace(old, new, count))


def _concat(text: str, given: Sequence[Constant | None]) -> Constant | None:
    parts = [as_key(part) for part in given]
    return _short(text + "".join(str(part) for part in parts)) if None not in parts else None


def _split(text: str, given: Sequence[Constant | None]) -> Constant | None:
    by = given[0] if given else None
    if not isinstance(by, str):
        return None
    return tuple(text.split(by) if by else text)


def _repeat(text: str, given: Sequence[Constant | None]) -> Constant | None:
    times = given[0] if given else None
    is_small = isinstance(times, int) and 0 <= times <= _MAX_ITEMS
    return _short(text * times) if is_small and isinstance(times, int) else None


def _join(items: tuple[Constant | None, ...], given: Sequence[Constant | None]) -> Constant | None:
    by = given[0] if given else ","
    parts = [as_key(item) for item in items]
    if None in parts or not isinstance(by, str):
        return None
    return _short(by.join(str(part) for part in parts))


def _concat_list(
    items: tuple[Constant | None, ...], given: Sequence[Constant | None]
) -> Constant | None:
    joined = list(items)
    for part in given:
        joined.extend(part if isinstance(part, tuple) else (part,))
    return tuple(joined) if len(joined) <= _MAX_ITEMS else None


_TextMethod: TypeAlias = Callable[[str, Sequence[Constant | None]], Constant | None]
_ListMethod: TypeAlias = Callable[
    [tuple[Constant | None, ...], Sequence[Constant | None]], Constant | None
]

_OF_TEXT: Final[Mapping[str, _TextMethod]] = MappingProxyType(
    {
        "at": _at,
        "charAt": _at,
        "concat": _concat,
        "normalize": lambda text, _: text,
        "repeat": _repeat,
        "replace": lambda text, given: _replace(text, given, 1),
        "replaceAll": lambda text, given: _replace(text, given, -1),
        "slice": _cut,
        "split": _split,
        "substr": _cut_length,
        "substring": _cut,
        "toLowerCase": lambda text, _: text.lower(),
        "toString": lambda text, _: text,
        "toUpperCase": lambda text, _: text.upper(),
        "trim": lambda text, _: text.strip(),
        "trimEnd": lambda text, _: text.rstrip(),
        "trimStart": lambda text, _: text.lstrip(),
        "valueOf": lambda text, _: text,
    }
)
_OF_LIST: Final[Mapping[str, _ListMethod]] = MappingProxyType(
    {
        "at": _at,
        "concat": _concat_list,
        "join": _join,
        "reverse": _reversed,
        "slice": _cut_list,
        "toReversed": _reversed,
        "toString": lambda items, _: _join(items, ()),
    }
)
