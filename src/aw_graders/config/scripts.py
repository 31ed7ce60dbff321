"""Where each character of a text that YAML holds stands in the file."""

from typing import Final

from aw_graders.config.nodes import ScalarNode
from aw_graders.config.positions import Sources
from aw_graders.diagnostics import Location

_BLOCKS: Final = frozenset("|>")
_SPACE: Final = " \t\r\n"
# How many hexadecimal digits follow these letters behind a backslash.
_HEX_DIGITS: Final = {"x": 2, "u": 4, "U": 8}
_LAST_OF_ONE_UNIT: Final = 0xFFFF
# Ends of lines as JavaScript counts them.
_LINE_ENDS: Final = "\n\r\u2028\u2029"


class ScriptPlaces:
    """Turns a line and a column of a script into the place in the file that holds it.

    YAML takes the indentation from a block, folds lines and decodes escapes; what it never does is
    to change the order of what is no white space, and that is what is followed here.
    Cost: O(length), once.
    """

    def __init__(self, node: ScalarNode, sources: Sources) -> None:
        """Take the scalar that holds the script, and the texts that its span is about."""
        self._sources = sources
        self._start = node.span[0]
        text = str(node.value)
        raw = sources.slice(node.span)
        self._offsets = _offsets(text, raw, node.style)
        self._end = len(raw.rstrip(_SPACE))
        self._lines = [0, *(at + 1 for at in range(len(text)) if _ends_line(text, at))]

    def at(self, line: int, column: int, length: int = 1) -> Location:
        """Locate `length` characters from a line and a column of the script, both from 1."""
        row = min(max(line, 1), len(self._lines)) - 1
        first = self._lines[row] + max(column, 1) - 1
        return self._sources.at(self._place(first), self._place(first + max(length, 1) - 1) + 1)

    def _place(self, index: int) -> int:
        inside = index < len(self._offsets)
        return self._start + (self._offsets[index] if inside else self._end)


def _ends_line(text: str, at: int) -> bool:
    char = text[at]
    return char in _LINE_ENDS and not (char == "\r" and text[at + 1 : at + 2] == "\n")


def _offsets(text: str, raw: str, style: str) -> list[int]:
    """Return for each character of `text` its offset in `raw`."""
    if style in _BLOCKS and style:
        at = raw.find("\n") + 1
        return _followed(text, raw, at)
    if style == '"':
        return _decoded(text, raw, raw.find('"') + 1)
    if style == "'":
        return _followed(text, raw, raw.find("'") + 1, is_single=True)
    return _followed(text, raw, 0)


def _followed(text: str, raw: str, at: int, *, is_single: bool = False) -> list[int]:
    offsets: list[int] = []
    for char in text:
        if char in _SPACE:
            offsets.append(min(at, len(raw)))
            if at < len(raw) and raw[at] in _SPACE:
                at += 1
            continue
        while at < len(raw) and raw[at] in _SPACE:
            at += 1
        offsets.append(min(at, len(raw)))
        at += 2 if is_single and char == "'" else 1
    return offsets


def _decoded(text: str, raw: str, at: int) -> list[int]:
    offsets: list[int] = []
    for char in text:
        while at < len(raw) and _is_fold(raw, at, char):
            at += 2 if raw[at] == "\\" else 1
        offsets.append(min(at, len(raw)))
        if at < len(raw) and raw[at] == "\\":
            size = 2 + _HEX_DIGITS.get(raw[at + 1 : at + 2], 0)
            # JSON spells a character beyond U+FFFF as two escapes.
            at += 2 * size if raw[at + 1] == "u" and ord(char) > _LAST_OF_ONE_UNIT else size
        elif at < len(raw) and (char not in _SPACE or raw[at] in _SPACE):
            at += 1
    return offsets


def _is_fold(raw: str, at: int, char: str) -> bool:
    """Tell whether `raw` has something at `at` that gave no character, or not this one."""
    if raw[at] == "\\":
        return raw[at + 1 : at + 2] in {"\n", "\r"}
    return raw[at] in _SPACE and char not in _SPACE
