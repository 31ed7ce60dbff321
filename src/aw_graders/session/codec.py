"""Unified sessions from bytes and back: JSON Lines, or one JSON array of the same events."""

from collections.abc import Iterator
from typing import Any, Final, cast

import msgspec

from aw_graders import _json
from aw_graders.session import events
from aw_graders.session.envelope import EnvelopeError, event_from, header_problem
from aw_graders.session.limits import MAX_ARRAY_BYTES, MAX_LINE_BYTES
from aw_graders.session.model import Event, Session, is_header
from aw_graders.session.problems import Problem, SessionFormatError

_BOM: Final = b"\xef\xbb\xbf"
_MIB: Final = 1024 * 1024
_BLANK: Final = b"\r \t"
CUT_HINT: Final = "the file ends in the middle of a line; record it again, or use --lenient"
ARRAY_HINT: Final = "correct it, or record the session again"
LENIENT_HINT: Final = "correct it, or use --lenient to skip it"
HEADER_HINT: Final = (
    'a JSONL session starts with {"type":"session.format","data":{"version":1},...}'
)

SECOND_EXECUTION: Final = 'a second "agent.execution" event'


class ReadSession(msgspec.Struct, frozen=True):
    """What reading gave: the session, what lenient reading skipped, what decoding settled.

    `numbers` holds the line, or the array element, of each event that was read, from 1; a header
    that an array left out has none.
    """

    session: Session
    skipped: tuple[Problem, ...] = ()
    duplicate_keys: int = 0
    lone_surrogates: int = 0
    numbers: tuple[int, ...] = ()


def is_array(content: bytes) -> bool:
    """Tell whether `content` is the array form: its first character that is no space is `[`."""
    return content.removeprefix(_BOM).lstrip()[:1] == b"["


def read_session(content: bytes, *, lenient: bool = False) -> ReadSession:
    """Decode a unified session from JSON Lines or from a JSON array.

    Takes: the whole content; a byte order mark, CRLF and blank lines are accepted.
    Returns: a session whose first event is the header, which an array may leave out.
    Raises: SessionFormatError, with line and column, for the first thing that is malformed; with
        `lenient`, only when nothing is left to read.
    Cost: O(bytes).
    Source: unified session format, sections 1.1 and 1.2; decisions 16 and 17.
    """
    content = content.removeprefix(_BOM)
    if not content.strip():
        raise SessionFormatError(Problem("is empty"))
    reader = EventReader(lenient=lenient, in_array=is_array(content))
    return _read_array(content, reader) if reader.in_array else _read_lines(content, reader)


def encode_jsonl(session: Session) -> bytes:
    """Encode a session as JSON Lines, each line compact, with a final newline."""
    return b"".join(_json.compact(event.to_json()) + b"\n" for event in session.events)


def encode_array(session: Session) -> bytes:
    """Encode a session as one JSON array."""
    return _json.compact([event.to_json() for event in session.events]) + b"\n"


def lines_of(content: bytes) -> Iterator[bytes]:
    """Yield every line, blank ones too, without its line end; only one is held at a time."""
    start = 0
    while (end := content.find(b"\n", start)) >= 0:
        yield content[start:end]
        start = end + 1
    if start < len(content):
        yield content[start:]


def split_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each line that is not blank with its number from 1, without its line end."""
    for number, line in enumerate(lines_of(content), 1):
        stripped = line.strip(_BLANK)
        if stripped:
            yield number, stripped


def too_long(length: int) -> str:
    """Say that a line is over the limit."""
    shown = f"{length / _MIB:.0f} MiB" if length > MAX_LINE_BYTES + _MIB else f"{length} bytes"
    return f"the line has {shown}, the limit is {MAX_LINE_BYTES // _MIB} MiB"


class EventReader:
    """Turns lines, or the elements of an array, into events, with every rule that spans several.

    `started` is False until the header was met. A part of a session that is not its beginning is
    read with `started` True, and with the `agent.execution` events counted that came before it.
    """

    def __init__(
        self,
        *,
        lenient: bool = False,
        in_array: bool = False,
        started: bool = False,
        executions: int = 0,
    ) -> None:
        """Start reading."""
        self.lenient = lenient
        self.in_array = in_array
        self.started = started
        self.executions = executions
        self.skipped: list[Problem] = []
        self.duplicate_keys = 0
        self.lone_surrogates = 0

    def line(self, line: bytes, number: int, *, is_cut: bool = False) -> Event | None:
        """Read one line, without its line end; None when it is blank or was skipped.

        Takes: `is_cut`, that the content ends here without a line end.
        Raises: SessionFormatError in strict reading.
        """
        before = len(line) - len(line.lstrip(_BLANK))
        line = line.strip(_BLANK)
        if not line:
            return None
        if len(line) > MAX_LINE_BYTES:
            self.fail(Problem(too_long(len(line)), number, 1, LENIENT_HINT))
            return None
        try:
            decoded = _json.decode_counting(line)
        except _json.JsonError as failure:
            hint = CUT_HINT if is_cut else LENIENT_HINT
            self.fail(Problem(failure.reason, number, before + failure.column, hint))
            return None
        self.count(decoded)
        return self.value(decoded.value, number)

    def count(self, decoded: _json.Decoded) -> None:
        """Add what decoding had to settle."""
        self.duplicate_keys += decoded.duplicate_keys
        self.lone_surrogates += decoded.lone_surrogates

    def fail(self, problem: Problem) -> None:
        """Stop in strict reading, else note what is skipped."""
        if not self.lenient:
            raise SessionFormatError(problem)
        self.skipped.append(problem)

    def value(self, value: Any, number: int) -> Event | None:
        """Read one decoded value; None when it was skipped."""
        try:
            event = event_from(value)
        except EnvelopeError as failure:
            self.fail(self._problem(str(failure), number))
            return None
        if not self.started and (not self.in_array or is_header(event)):
            problem = header_problem(event)
            if problem is not None:
                self.fail(self._problem(problem, number, HEADER_HINT))
        elif self.started and is_header(event):
            reason = "a second header: several sessions stand in one file"
            self.fail(self._problem(reason, number, "grade them one by one"))
            return None
        if event.type == events.AGENT_EXECUTION:
            self.executions += 1
            if self.executions > 1:
                self.fail(self._problem(SECOND_EXECUTION, number))
                return None
        self.started = True
        return event

    def _problem(self, reason: str, number: int, hint: str | None = LENIENT_HINT) -> Problem:
        column = None if self.in_array else 1
        return Problem(reason, number, column, hint, in_array=self.in_array)


def _read_lines(content: bytes, reader: EventReader) -> ReadSession:
    last = 0 if content.endswith(b"\n") else content.count(b"\n") + 1
    numbered = [
        (event, number)
        for number, line in enumerate(lines_of(content), 1)
        if (event := reader.line(line, number, is_cut=number == last)) is not None
    ]
    return _finish(numbered, reader)


def _read_array(content: bytes, reader: EventReader) -> ReadSession:
    if len(content) > MAX_ARRAY_BYTES:
        limit = f"the limit of a JSON array is {MAX_ARRAY_BYTES // _MIB} MiB"
        raise SessionFormatError(Problem(limit, hint="use JSON Lines, one event per line"))
    try:
        decoded = _json.decode_counting(content)
    except _json.JsonError as failure:
        raise SessionFormatError(place_in(content, failure)) from None
    reader.count(decoded)
    numbered = [
        (event, number)
        for number, value in enumerate(cast("list[Any]", decoded.value), 1)
        if (event := reader.value(value, number)) is not None
    ]
    return _finish(numbered, reader)


def place_in(content: bytes, failure: _json.JsonError) -> Problem:
    """Say where in content of several lines decoding failed; its column counts over all of them."""
    before = content.decode("utf-8", "replace")[: failure.column - 1]
    line = before.count("\n") + 1
    return Problem(failure.reason, line, failure.column - (before.rfind("\n") + 1), ARRAY_HINT)


def _finish(numbered: list[tuple[Event, int]], reader: EventReader) -> ReadSession:
    if not numbered and reader.skipped:
        raise SessionFormatError(reader.skipped[0])
    return ReadSession(
        Session.of([event for event, _ in numbered]),
        tuple(reader.skipped),
        reader.duplicate_keys,
        reader.lone_surrogates,
        tuple(number for _, number in numbered),
    )
