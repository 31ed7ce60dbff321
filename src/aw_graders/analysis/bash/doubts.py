"""Finds bytes that Bash reads in another way than the parser does, wherever they stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_CONTROL: Final = re.compile(rb"[\x01-\x08\x0b-\x1f\x7f]")
# Bash drops a continued line before it looks for operators, the parser after.
_SPLIT: Final = re.compile(
    rb"\$(?:\\\n)+|[<>](?:\\\n)+[<>&|(-]|&(?:\\\n)+[&>]|\|(?:\\\n)+[&|]|[(](?:\\\n)+[(]"
    rb"|[)](?:\\\n)+[)]|;(?:\\\n)+[;&]"
)
_REMARK: Final = re.compile(rb"(?:^|[\s;&|()<>`])(#)")


@dataclass(frozen=True, slots=True)
class Doubt:
    """A place that is read in two ways; `line` and `column` (in bytes) count from 1."""

    line: int
    column: int
    message: str
    hint: str


def find_doubts(source: bytes) -> Iterator[Doubt]:
    """Give the first place of each kind.

    Cost: O(length).
    """
    control = _CONTROL.search(source)
    if control is not None:
        message = f"byte 0x{control[0][0]:02x} stands in the script itself"
        hint = "end lines with line feeds alone; write other control characters as $'\\xNN'"
        yield Doubt(*_place(source, control.start()), message, hint)
    split = _SPLIT.search(source)
    if split is not None:
        message = "an operator goes on behind the end of the line"
        yield Doubt(*_place(source, split.start()), message, "write the operator on one line")
    yield from _remarks(source)


def _remarks(source: bytes) -> Iterator[Doubt]:
    """Find a remark that ends in a backslash: only the parser takes it to go on."""
    if b"\\\n" not in source:
        return
    for number, line in enumerate(source.split(b"\n"), 1):
        match = _REMARK.search(line) if line.endswith(b"\\") else None
        if match is not None:
            message, hint = "this remark ends with a backslash", "end it with another character"
            yield Doubt(number, match.start(1) + 1, message, hint)
            return


def _place(source: bytes, at: int) -> tuple[int, int]:
    before = source[:at]
    return before.count(b"\n") + 1, at - (before.rfind(b"\n") + 1) + 1
