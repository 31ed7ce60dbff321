"""JSON text: compact for lines, canonical for comparison, indented for files."""

from typing import Any, cast

import msgspec

from aw_graders._json.frozen import thaw
from aw_graders._json.values import JsonValue

_COMPACT = msgspec.json.Encoder()
_SORTED = msgspec.json.Encoder(order="sorted")
_SORTED_AGAIN = msgspec.json.Decoder()


def compact(value: JsonValue) -> bytes:
    """Encode `value` without spaces, keys in their own order, as UTF-8.

    Source: unified session format, file framing.
    """
    return _COMPACT.encode(thaw(value))


def canonical(value: JsonValue) -> bytes:
    """Encode `value` so that equal values have equal bytes.

    Keys are sorted at every depth and numbers are spelled by value: 1 and 1.0 are the same bytes.
    Source: decision on loop keys.
    """
    text = _SORTED.encode(thaw(value))
    # Only a float can differ in spelling from an equal integer, and every float has one of these.
    if b"." in text or b"e" in text:
        return _SORTED.encode(_by_value(thaw(value)))
    return text


def sorted_text(plain: object) -> bytes:
    """Encode plain decoded data with sorted keys, at the encoder's full speed.

    Equal values may still differ where 1 stands beside 1.0; `same_value` settles those.
    """
    return _SORTED.encode(plain)


def same_value(left: bytes | None, right: bytes | None) -> bool:
    """Tell whether two texts of `sorted_text` hold equal values, numbers compared by value."""
    if left == right:
        return True
    if left is None or right is None or (b"." not in left + right and b"e" not in left + right):
        return False
    plain = _SORTED_AGAIN.decode
    return _SORTED.encode(_by_value(plain(left))) == _SORTED.encode(_by_value(plain(right)))


def pretty(value: JsonValue) -> bytes:
    """Encode `value` with two spaces of indentation and a final newline, keys in their own order."""
    return msgspec.json.format(compact(value), indent=2) + b"\n"


def _by_value(value: Any) -> Any:
    """Spell whole floats as integers; depth is bounded by the decoder, one frame for each level."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        items = list(cast("list[Any]", value))
        for place, item in enumerate(items):
            items[place] = _by_value(item)
        return items
    if isinstance(value, dict):
        fields = dict(cast("dict[str, Any]", value))
        for key, item in fields.items():
            fields[key] = _by_value(item)
        return fields
    return value
