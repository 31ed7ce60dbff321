"""Lines that tell a runner to mask a value, wherever in the evidence they stand.

A session holds only what was recorded as an event. A log may name a secret that stands in an event
of another file, so such lines are handed on to whoever redacts.
"""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final, cast

from aw_graders import _json
from aw_graders.session.limits import MAX_LINE_BYTES

COMMAND: Final = "::add-mask::"
_BYTES: Final = COMMAND.encode()
_PIECE_BYTES: Final = 1 << 20
# More than a runner accepts as one value; the rest of such a line is not kept.
_KEPT_CHARACTERS: Final = 1 << 16
_MAX_LINES: Final = 10_000
_JSON_STARTS: Final = (b"{", b"[", b'"')


def mask_lines(pieces: Iterable[bytes]) -> tuple[str, ...]:
    """Find the commands in a text, each with the rest of its line.

    Takes: the text in pieces that end with a line. A line of JSON, or a whole text of it, is
        decoded, and its strings are looked at.
    Returns: each command once, in order, at most 10,000.
    Cost: one search over the text; one piece is held.
    """
    found: dict[str, None] = {}
    for piece in pieces:
        if _BYTES not in piece:
            continue
        for text in _texts_of(piece):
            for line in text.splitlines():
                for value in line.split(COMMAND)[1:]:
                    if len(found) >= _MAX_LINES:
                        return tuple(found)
                    found[COMMAND + value[:_KEPT_CHARACTERS]] = None
    return tuple(found)


def pieces_of(file: BinaryIO) -> Iterator[bytes]:
    """Read a file in pieces that end with a line, unless a line is over the limit of all lines.

    Raises: OSError.
    """
    while piece := file.read(_PIECE_BYTES):
        yield piece if piece.endswith(b"\n") else piece + file.readline(MAX_LINE_BYTES)


def _texts_of(piece: bytes) -> Iterator[str]:
    """Yield the texts of a piece that may hold a command."""
    decoded = _decoded(piece)
    if decoded is not None:
        yield from _strings(decoded)
        return
    for line in piece.split(b"\n"):
        if _BYTES in line:
            value = _decoded(line)
            if value is None:
                yield line.decode("utf-8", "replace")
            else:
                yield from _strings(value)


def _decoded(text: bytes) -> Any:
    """Decode JSON; None when it is none."""
    if not text.lstrip().startswith(_JSON_STARTS):
        return None
    try:
        return _json.decode(text)
    except _json.JsonError:
        return None


def _strings(value: object) -> Iterator[str]:
    """Yield every string in decoded JSON that holds a command, keys too, without recursion."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            if COMMAND in item:
                yield item
        elif isinstance(item, dict):
            fields = cast("dict[str, object]", item)
            left += reversed([part for pair in fields.items() for part in pair])
        elif isinstance(item, list):
            left += reversed(cast("list[object]", item))
