"""Diagnostics as text, with the line they are about and a mark under the place."""

import re
from functools import lru_cache
from typing import Final

from aw_graders.diagnostics.model import Diagnostic

_MAX_QUOTED_CHARACTERS: Final = 80
# A line of minified JSON is shown as a window around the place.
_MAX_SHOWN_CHARACTERS: Final = 100
_SHOWN_BEFORE_CHARACTERS: Final = 40
_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")


def printable(text: str) -> str:
    """Return `text` with every character that could steer a terminal replaced, one for one."""
    return "".join(
        char if char.isprintable() else " " if char == "\t" else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )


def quoted(text: str) -> str:
    """Return `text` in double quotes, printable, and shortened when it is very long."""
    if len(text) > _MAX_QUOTED_CHARACTERS:
        text = text[: _MAX_QUOTED_CHARACTERS - 1] + "…"
    return f'"{printable(text)}"'


def render(diagnostic: Diagnostic, source: str) -> str:
    """Show a diagnostic with its source line, a mark under the place, and its hint.

    Takes: the text that the diagnostic is about, with or without a byte order mark.
    Returns: lines without a final newline; free of control characters other than newlines.
    Raises: nothing; a place outside `source` shows no source line.
    """
    place = diagnostic.location
    head = f"{printable(place.path)}:{place.line}:{place.column}: {diagnostic.severity}: "
    lines = [f"{head}{printable(diagnostic.message)} [{diagnostic.code}]"]
    number = str(place.line)
    gutter = " " * (len(number) + 1)
    all_lines = _lines(source)
    if 1 <= place.line <= len(all_lines):
        text, mark = _marked(all_lines[place.line - 1], place.column - 1, place.length)
        lines += [f"{gutter}|", f"{number} | {text}".rstrip(), f"{gutter}| {mark}"]
    if diagnostic.hint is not None:
        lines.append(f"{gutter}= help: {printable(diagnostic.hint)}")
    return "\n".join(lines)


@lru_cache(maxsize=1)
def _lines(source: str) -> tuple[str, ...]:
    return tuple(_LINE_BREAK.split(source.removeprefix("\ufeff")))


def _marked(line: str, start: int, length: int) -> tuple[str, str]:
    """Return the part of `line` to show, and the mark to put under it."""
    first = 0
    if len(line) > _MAX_SHOWN_CHARACTERS:
        first = max(0, start - _SHOWN_BEFORE_CHARACTERS)
    shown = printable(line[first : first + _MAX_SHOWN_CHARACTERS])
    before = _width(shown[: start - first])
    marked = max(1, _width(shown[start - first : start - first + length]))
    lead, tail = "…" if first else "", "…" if first + len(shown) < len(line) else ""
    mark = " " * (before + len(lead)) + "^" + "~" * (marked - 1)
    return f"{lead}{shown}{tail}", mark


def _width(text: str) -> int:
    """Count terminal columns: wide characters take two, combining ones none."""
    import unicodedata  # noqa: PLC0415 - only for lines that are shown

    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )
