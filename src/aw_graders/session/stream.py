"""Lines of a unified session, decoded in batches at full speed by the rules of the whole reader.

A batch that the fast decoder cannot settle, for whatever reason, is read line by line as a session
that is held whole would be; so both accept the same lines and say the same of the others.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from aw_graders import _json
from aw_graders.session.codec import EventReader
from aw_graders.session.limits import MAX_LINE_BYTES
from aw_graders.session.wire import LongWireEvent, WireEvent, shorten, to_wire

_decode_event: Final = msgspec.json.Decoder(WireEvent).decode


def decode_batch(lines: Sequence[bytes]) -> list[WireEvent] | None:
    """Decode complete lines, or answer None when one of them has to be read with care.

    Takes: lines with their line ends, none longer than `MAX_LINE_BYTES`.
    Returns: one event for each line. Blank lines, lone surrogates and anything malformed give None.
        Duplicate keys are not looked for; the last one counts.
    Raises: nothing.
    Cost: O(bytes), at the decoder's speed.
    """
    try:
        if max(map(len, lines), default=0) <= _json.SURELY_PLAIN_BYTES:
            return list(map(_decode_event, lines))
        return [
            _decode_event(line) if len(line) <= _json.SURELY_PLAIN_BYTES else _decode_long(line)
            for line in lines
        ]
    except (msgspec.MsgspecError, UnicodeError, RecursionError, _UnsettledError):
        return None


class _UnsettledError(ValueError):
    """A line that the fast decoder cannot settle."""


def _decode_long(line: bytes) -> WireEvent:
    """Decode a line that may nest too deeply or hold a number that is too large.

    A text cannot, so that a line of which little is left without its long texts is settled.
    """
    if len(line) > MAX_LINE_BYTES:
        raise _UnsettledError
    if len(line) < _SHORTENED_FROM_BYTES:
        event, left = _decode_event(line), len(line)
    else:
        if not line.isascii():
            # Raises UnicodeDecodeError: texts that are left out are not decoded any more.
            line.decode("utf-8")
        event, left_out = shorten(_decode_long_event(line))
        left = len(line) - left_out
    if left > _json.SURELY_PLAIN_BYTES and (
        _json.has_oversized_number(line) or _json.is_too_deep(line)
    ):
        raise _UnsettledError
    return event


# From about this length on, leaving texts out is cheaper than decoding them.
_SHORTENED_FROM_BYTES: Final = 1024
_decode_long_event: Final = msgspec.json.Decoder(LongWireEvent).decode


def read_with_care(lines: Sequence[bytes], reader: EventReader, before: int) -> list[WireEvent]:
    """Read lines one by one by the rules of a session that is held whole.

    Takes: `before`, the number of lines in front of these. A line without line end is the last one
        of its file, and cut off when it cannot be decoded.
    Returns: the events; lines that are blank, or skipped in lenient reading, give none.
    Raises: SessionFormatError in strict reading, with the line number.
    """
    found: list[WireEvent] = []
    for number, line in enumerate(lines, before + 1):
        event = reader.line(line.removesuffix(b"\n"), number, is_cut=not line.endswith(b"\n"))
        if event is not None:
            found.append(to_wire(event))
    return found


def line_of(kind: str, lines: Sequence[bytes], before: int) -> int | None:
    """Find the line of the first event of a type among lines that were accepted."""
    for number, line in enumerate(lines, before + 1):
        if line.strip():
            value = _json.decode(line)
            if isinstance(value, dict) and value.get("type") == kind:
                return number
    return None
