"""Texts in which no longer part of a grader's source can be read.

A result goes where the source does not: an error that quotes a script, or a message that a script
makes of itself, would carry it there.
"""

import base64
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from aw_graders._json import JsonValue

# So many characters of a source may never stand together; shorter ones are words of any language.
MAX_SOURCE_CHARACTERS: Final = 47
_CUT: Final = "…"
_SIZE: Final = MAX_SOURCE_CHARACTERS + 1
_MARKED: Final = b"\1" * _SIZE


class SourceGuard:
    """Knows a source, and takes its longer parts out of texts.

    Cost: O(length of the source) once, with the first text that is long enough to quote it; then
    O(length) for each text, however often either repeats itself.
    """

    def __init__(self, source: str) -> None:
        """Take the source as text."""
        self._source = source

    @cached_property
    def _parts(self) -> frozenset[str]:
        """All parts that may not be shown, of the source and of its base64 spelling."""
        encoded = base64.b64encode(self._source.encode("utf-8", "replace")).decode("ascii")
        return frozenset(
            known[start : start + _SIZE]
            for known in (self._source, encoded)
            for start in range(len(known) - _SIZE + 1)
        )

    def text(self, text: str) -> str:
        """Shorten every part of a text that stands in the source or in its base64 spelling.

        Returns: the text, in which of each part that is too long the first characters and an
            ellipsis are left.
        """
        if len(text) < _SIZE:
            return text
        quoted = bytearray(len(text) + 1)
        for start in range(len(text) - _SIZE + 1):
            if text[start : start + _SIZE] in self._parts:
                quoted[start : start + _SIZE] = _MARKED
        return text if 1 not in quoted else _shortened(text, quoted)

    def value(self, value: JsonValue) -> JsonValue:
        """Return JSON data with every text in it, keys too, made free of the source."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def source_free(value: JsonValue, source: str) -> JsonValue:
    """Return JSON data with every text in it, keys too, made free of one source."""
    return SourceGuard(source).value(value)


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
