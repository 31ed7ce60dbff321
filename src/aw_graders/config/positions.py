"""Places in a text, and the diagnostics that were found there."""

import re
from bisect import bisect_right
from typing import Final

from aw_graders.diagnostics import Diagnostic, Location, Severity

_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")


class Positions:
    """Turns offsets in one text into lines and columns.

    The YAML reader's own marks are not used: it also breaks lines at U+0085 and U+2028.
    """

    def __init__(self, path: str, source: str) -> None:
        """Index the line starts of `source`; a byte order mark takes no column."""
        self._path = path
        self._size = len(source)
        first = 1 if source.startswith("\ufeff") else 0
        self._starts = [first, *(found.end() for found in _LINE_BREAK.finditer(source))]
        ends = [found.start() for found in _LINE_BREAK.finditer(source)]
        self._ends = [*ends, self._size]

    def at(self, start: int, end: int | None = None) -> Location:
        """Locate the characters from `start` up to `end`, as far as the first line goes."""
        start = max(self._starts[0], min(start, self._size))
        row = bisect_right(self._starts, start) - 1
        stop = min(start + 1 if end is None else end, self._ends[row])
        column = start - self._starts[row] + 1
        return Location(self._path, row + 1, column, max(1, stop - start))


class Report:
    """Gathers the diagnostics of one file."""

    def __init__(self, positions: Positions) -> None:
        """Start without any diagnostic."""
        self._positions = positions
        self._found: list[Diagnostic] = []

    def add(
        self,
        code: str,
        message: str,
        span: tuple[int, int],
        hint: str | None = None,
        severity: Severity = "error",
    ) -> None:
        """Note one diagnostic about the characters of `span`."""
        place = self._positions.at(*span)
        self._found.append(Diagnostic(code, message, place, hint, severity))

    def clear(self) -> None:
        """Forget everything: of a text that is not YAML, only that is worth saying."""
        self._found.clear()

    def line_of(self, span: tuple[int, int]) -> int:
        """Return the line, from 1, where `span` starts."""
        return self._positions.at(*span).line

    def has_errors(self) -> bool:
        """Tell whether anything noted so far is an error."""
        return any(diagnostic.severity == "error" for diagnostic in self._found)

    def sorted(self) -> list[Diagnostic]:
        """Return everything that was noted, in the order of the places."""
        return sorted(self._found, key=lambda item: (item.location, item.code))
