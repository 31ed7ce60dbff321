"""Places in a text, and the diagnostics that were found there."""

import re
from bisect import bisect_right
from typing import Final, Protocol

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


class Sources:
    """The texts that one reading is about, each at its own stretch of one row of offsets.

    A span says in which file it lies, so that what was merged from several files still knows where
    each part was written.
    """

    def __init__(self, path: str, source: str) -> None:
        """Start with one text, whose offsets are its own."""
        self._bases = [0]
        self._files = [Positions(path, source)]
        self._texts = {path: source}
        self._end = len(source) + 1

    def add(self, path: str, source: str) -> int:
        """Take one more text; returns the offset at which its spans begin."""
        base = self._end
        self._bases.append(base)
        self._files.append(Positions(path, source))
        self._texts[path] = source
        self._end += len(source) + 1
        return base

    def at(self, start: int, end: int | None = None) -> Location:
        """Locate the characters from `start` up to `end`, as far as the first line goes."""
        row = bisect_right(self._bases, start) - 1
        base = self._bases[row]
        return self._files[row].at(start - base, None if end is None else end - base)

    def slice(self, span: tuple[int, int]) -> str:
        """Return the characters of a span."""
        row = bisect_right(self._bases, span[0]) - 1
        base = self._bases[row]
        text = list(self._texts.values())[row]
        return text[span[0] - base : span[1] - base]

    def texts(self) -> dict[str, str]:
        """Return every text by its path, in the order in which they were added."""
        return dict(self._texts)


class Locator(Protocol):
    """What turns offsets into places."""

    def at(self, start: int, end: int | None = None) -> Location:
        """Locate the characters from `start` up to `end`."""
        ...


class Report:
    """Gathers the diagnostics of one reading."""

    def __init__(self, positions: Locator) -> None:
        """Start without any diagnostic."""
        self._positions = positions
        self._found: list[tuple[int, Diagnostic]] = []

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
        self._found.append((span[0], Diagnostic(code, message, place, hint, severity)))

    def mark(self) -> int:
        """Return how much was noted so far, for `clear`."""
        return len(self._found)

    def clear(self, mark: int = 0) -> None:
        """Forget what was noted since: of a text that is not YAML, only that is worth saying."""
        del self._found[mark:]

    def line_of(self, span: tuple[int, int]) -> int:
        """Return the line, from 1, where `span` starts."""
        return self._positions.at(*span).line

    def has_errors(self) -> bool:
        """Tell whether anything noted so far is an error."""
        return any(diagnostic.severity == "error" for _, diagnostic in self._found)

    def sorted(self) -> list[Diagnostic]:
        """Return everything that was noted, in the order of the places; files as they were read."""
        return [found for _, found in sorted(self._found, key=_by_place)]


def _by_place(item: tuple[int, Diagnostic]) -> tuple[int, int, str]:
    start, diagnostic = item
    return start, diagnostic.location.length, diagnostic.code
