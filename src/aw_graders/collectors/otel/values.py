"""Values as OTLP spells them: tagged ones, lists of keys, integers as text.

Source: OpenTelemetry protocol, JSON encoding. Readers accept the names of the protocol's fields in
both spellings, `startTimeUnixNano` and `start_time_unix_nano`.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from aw_graders._json import JsonValue
from aw_graders.collectors.normalise import decoded_text, is_mapping, list_of, mapping_of
from aw_graders.session.limits import EARLIEST_TIME_MS, MAX_TIME_MS
from aw_graders.session.timestamps import format_utc

_UPPER: Final = re.compile(r"(?<!^)([A-Z])")
# A 64-bit integer with its sign; longer text is no integer of the protocol.
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)
_PLAIN_KINDS: Final = ("stringValue", "boolValue", "doubleValue", "bytesValue")
_NS_PER_MS: Final = 1_000_000
_NS_PER_SECOND: Final = 1_000_000_000
_MILLIS: Final = len("mmmZ")
# Protocol times are 64 bits wide; a larger number is none.
_MAX_NS: Final = min(2**64 - 1, int(MAX_TIME_MS) * _NS_PER_MS)


def field(owner: Mapping[str, Any], name: str) -> object:
    """Read a field of the protocol by its JSON name, else by its original one."""
    return owner[name] if name in owner else owner.get(_original(name))


@cache
def _original(name: str) -> str:
    """Spell one of the protocol's few names as the protocol itself does."""
    return _UPPER.sub(r"_\1", name).lower()


def attributes_of(value: object) -> dict[str, JsonValue]:
    """Read attributes: a list of keys with tagged values, or a plain object."""
    if is_mapping(value):
        return dict(value)
    found: dict[str, JsonValue] = {}
    for item in list_of(value):
        pair = mapping_of(item)
        key = None if pair is None else pair.get("key")
        if pair is not None and isinstance(key, str):
            found[key] = plain_value(pair.get("value"))
    return found


def plain_value(value: object) -> JsonValue:
    """Read a tagged value as the JSON value it stands for; what is not tagged stays."""
    if not is_mapping(value):
        return value  # type: ignore[return-value] # decoded JSON is a JSON value
    for kind in _PLAIN_KINDS:
        plain = field(value, kind)
        if plain is not None:
            return plain  # type: ignore[return-value] # as above
    whole = field(value, "intValue")
    if whole is not None:
        number = integer_of(whole)
        return whole if number is None else number  # type: ignore[return-value] # as above
    items = mapping_of(field(value, "arrayValue"))
    if items is not None:
        return [plain_value(item) for item in list_of(items.get("values"))]
    pairs = mapping_of(field(value, "kvlistValue"))
    if pairs is not None:
        return attributes_of(pairs.get("values"))
    return None


def integer_of(value: object) -> int | None:
    """Read an integer that is a number or, as the protocol has it, decimal text; never a float."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return int(value) if _INTEGER.fullmatch(value) is not None else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def is_time(nanoseconds: int) -> bool:
    """Tell whether nanoseconds since 1970 are a time that a session may have."""
    return EARLIEST_TIME_MS * _NS_PER_MS <= nanoseconds <= _MAX_NS


def spell_time(nanoseconds: int) -> str:
    """Spell nanoseconds since 1970 as ISO 8601 text, every digit kept."""
    return f"{format_utc(nanoseconds)[:-_MILLIS]}{nanoseconds % _NS_PER_SECOND:09d}Z"


def decoded(value: JsonValue) -> JsonValue:
    """Read text that is JSON of an object or a list; anything else stays as it is.

    So does text that nests so deeply that an event around it, two levels more, would be too deep.
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
        return value
    return decoded_text(value)
