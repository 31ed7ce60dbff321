"""Texts in which no longer part of a grader's source can be read.

A result goes where the source does not: an error that quotes a script, or a message that a script
makes of itself, would carry it there.
"""

import base64
from collections.abc import Mapping
from typing import Final

from aw_graders._json import JsonValue

# So many characters of a source may never stand together; shorter ones are words of any language.
MAX_SOURCE_CHARACTERS: Final = 47
_CUT: Final = "…"


def source_free(value: JsonValue, source: str) -> JsonValue:
    """Return JSON data with every text in it, keys too, made free of the source."""
    if isinstance(value, str):
        return source_free_text(value, source)
    if isinstance(value, Mapping):
        return {
            source_free_text(key, source): source_free(item, source) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [source_free(item, source) for item in value]
    return value


def source_free_text(text: str, source: str) -> str:
    """Shorten every part of a text that stands in the source, or in the base64 spelling of it.

    Takes: any text; the source as text.
    Returns: the text, in which of each part that is too long the first characters and an ellipsis
        are left.
    Cost: O(length of both).
    """
    size = MAX_SOURCE_CHARACTERS + 1
    if len(text) < size:
        return text
    windows: dict[str, list[int]] = {}
    for start in range(len(text) - size + 1):
        windows.setdefault(text[start : start + size], []).append(start)
    encoded = base64.b64encode(source.encode("utf-8", "replace")).decode("ascii")
    quoted = bytearray(len(text) + 1)
    for known in (source, encoded):
        for start in range(len(known) - size + 1):
            for place in windows.get(known[start : start + size], ()):
                quoted[place : place + size] = b"\1" * size
    return text if 1 not in quoted else _shortened(text, quoted)


def _shortened(text: str, quoted: bytearray) -> str:
    parts: list[str] = []
    place = 0
    while place < len(text):
        end = quoted.find(1 - quoted[place], place)
        end = len(text) if end < 0 else min(end, len(text))
        if quoted[place]:
            parts.append(text[place : min(end, place + MAX_SOURCE_CHARACTERS - 7)] + _CUT)
        else:
            parts.append(text[place:end])
        place = end
    return "".join(parts)
