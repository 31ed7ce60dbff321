"""Deeply read-only JSON values, and back.

Walks take one frame of Python's stack for each level, and never two, as a comprehension would:
`MAX_DEPTH` levels have to fit into the interpreter's limit of 1,000 frames.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from aw_graders._json.values import JsonValue


def freeze(value: JsonValue) -> JsonValue:
    """Return `value` with every object a read-only mapping and every array a tuple."""
    if isinstance(value, dict):
        frozen = dict(value)
        for key, item in frozen.items():
            if isinstance(item, dict | list):
                frozen[key] = freeze(item)
        return MappingProxyType(frozen)
    if isinstance(value, list):
        items = list(value)
        for place, item in enumerate(items):
            if isinstance(item, dict | list):
                items[place] = freeze(item)
        return tuple(items)
    return value


def thaw(value: JsonValue) -> Any:
    """Return `value` with plain dictionaries and lists, sharing what already is plain."""
    if isinstance(value, dict):
        return value if _is_plain(value) else _thawed(value)
    if isinstance(value, MappingProxyType | tuple | list):
        return _thawed(value)
    return value


def _is_plain(value: object) -> bool:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(cast("dict[str, object]", item).values())
        elif isinstance(item, list):
            waiting.extend(cast("list[object]", item))
        elif isinstance(item, MappingProxyType | tuple):
            return False
    return True


def _thawed(value: Any) -> Any:
    if isinstance(value, Mapping):
        thawed = dict(cast("Mapping[str, Any]", value))
        for key, item in thawed.items():
            thawed[key] = _thawed(item)
        return thawed
    if isinstance(value, tuple | list):
        items = list(cast("list[Any]", value))
        for place, item in enumerate(items):
            items[place] = _thawed(item)
        return items
    return value
