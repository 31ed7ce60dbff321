"""Lines and columns of a script, as JavaScript counts lines and people count characters."""

import re
from bisect import bisect_right
from functools import cached_property
from typing import Final

# CR LF is one end of a line; the last two are the line and the paragraph separator.
_LINE_END: Final = re.compile("\r\n|[\n\r\u2028\u2029]")
_WORD: Final = re.compile(r"[\w$]+")
_LAST_OF_PLANE: Final = 0xFFFF
# Halves of characters have no UTF-8 form, and NUL ends a text for the parser.
_UNREADABLE: Final = re.compile("[\0\ud800-\udfff]")
# Ends of lines and spaces that the parser does not know everywhere.
_UNUSUAL: Final = re.compile("\r(?!\n)|[\t\v\f\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\ufeff]")


def _usual(match: re.Match[str]) -> str:
    return "\n" if match[0] == "\r" else " " * len(match[0].encode("utf-8"))


class Places:
    """Finds the place of an offset in a script.

    Cost: O(length) once for the lines, then O(log lines + length of the line).
    """

    def __init__(self, text: str) -> None:
        """Take the script; its UTF-8 form is what byte offsets are about."""
        self._text = _UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", text)
        self._data = self._text.encode("utf-8")
        self._is_ascii = len(self._data) == len(text)

    @property
    def data(self) -> bytes:
        """The script in UTF-8, with a stand-in for each character that has no such form."""
        return self._data

    def plain(self) -> bytes:
        """Return the script with as many bytes, and only the usual spaces and ends of lines."""
        if _UNUSUAL.search(self._text) is None:
            return self._data
        return _UNUSUAL.sub(_usual, self._text).encode("utf-8")

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self._text))]

    @cached_property
    def _byte_starts(self) -> list[int]:
        if self._is_ascii:
            return self._starts
        starts, at = [0], 0
        for first, last in zip(self._starts, self._starts[1:], strict=False):
            at += len(self._text[first:last].encode("utf-8"))
            starts.append(at)
        return starts

    def of_bytes(self, start: int, end: int) -> tuple[int, int, int]:
        """Return line, column and length of a run of bytes; it ends with the line."""
        row = bisect_right(self._byte_starts, start) - 1
        first = self._byte_starts[row]
        column = len(self._data[first:start].decode("utf-8", "ignore")) + 1
        length = len(self._data[start:end].decode("utf-8", "ignore"))
        return row + 1, column, self._within(row, column, length)

    def of_units(self, line: int, unit: int) -> tuple[int, int, int]:
        """Return line, column and length of the word at a UTF-16 column of a line, from 1."""
        row = min(max(line, 1), len(self._starts)) - 1
        text = self._line(row)
        column, left = 1, unit - 1
        for char in text:
            if left <= 0:
                break
            left -= 2 if ord(char) > _LAST_OF_PLANE else 1
            column += 1
        word = _WORD.match(text, column - 1)
        return row + 1, column, len(word[0]) if word else 1

    def _within(self, row: int, column: int, length: int) -> int:
        return max(1, min(length, len(self._line(row)) - column + 1))

    def _line(self, row: int) -> str:
        last = self._starts[row + 1] if row + 1 < len(self._starts) else len(self._text)
        return self._text[self._starts[row] : last].rstrip("\n\r\u2028\u2029")
