"""Deeply read-only JSON values, and back."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from aw_graders._json.values import JsonValue


def freeze(value: JsonValue) -> JsonValue:
    """Return `value` with every object a read-only mapping and every array a tuple."""
    if isinstance(value, dict):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(freeze(item) for item in value)
    return value


def thaw(value: JsonValue) -> Any:
    """Return `value` with plain dictionaries and lists, sharing what already is plain."""
    if isinstance(value, dict):
        return value if all(map(_is_plain, value.values())) else _thawed(value)
    if isinstance(value, MappingProxyType | tuple | list):
        return _thawed(value)
    return value


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_plain, cast("dict[str, object]", value).values()))
    if isinstance(value, list):
        return all(map(_is_plain, cast("list[object]", value)))
    return not isinstance(value, MappingProxyType | tuple)


def _thawed(value: Any) -> Any:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: _thawed(item) for key, item in items}
    if isinstance(value, tuple | list):
        return [_thawed(item) for item in cast("list[Any]", value)]
    return value
