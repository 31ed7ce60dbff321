"""Lookups of a unified session in JSON Lines that is too large to be held.

The file is cut into segments at line ends. Each is read batch by batch and gives its rows, here or
in a copy of this process; the rows of all segments together are those of the session.

The redaction engine is loaded by the functions that use it, so that the copy starts before.
"""

import gc
from collections.abc import Iterable, Iterator, Sequence
from io import SEEK_END, BytesIO, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias

import msgspec

from aw_graders.lookups import (
    Observer,
    RedactedObservations,
    SessionLookups,
    build_lookups,
    needs_times,
)
from aw_graders.processes import MAX_SHARED_TASKS, can_share, share
from aw_graders.session import Problem, SessionFormatError
from aw_graders.session.codec import LENIENT_HINT, SECOND_EXECUTION, EventReader, too_long
from aw_graders.session.events import AGENT_EXECUTION, SESSION_FORMAT
from aw_graders.session.limits import MAX_LINE_BYTES, STREAM_FROM_BYTES
from aw_graders.session.stream import decode_batch, line_of, read_with_care
from aw_graders.session.wire import WireEvent

if TYPE_CHECKING:
    from aw_graders.redaction import KnownValues

# A batch stays in the processor's cache together with the events made of it.
_BATCH_BYTES: Final = 64 * 1024
_BUFFER_BYTES: Final = 256 * 1024
# Small enough for two processes to end together.
_SEGMENT_BYTES: Final = 1024 * 1024
_PROBE_BYTES: Final = 16 * 1024
# A copy of this process pays from about this size on.
_SHARE_FROM_BYTES: Final = 16 * 1024 * 1024
_FIRST_LINE_BYTES: Final = 64 * 1024
_BOM: Final = b"\xef\xbb\xbf"
# Types of which a session holds one event.
_ONCE: Final = frozenset({AGENT_EXECUTION, SESSION_FORMAT})


Source: TypeAlias = Path | bytes


class Streamed(msgspec.Struct, frozen=True):
    """What reading gave: the lookups, what lenient reading skipped, what decoding settled."""

    lookups: SessionLookups
    skipped: tuple[Problem, ...] = ()
    lone_surrogates: int = 0
    duplicate_keys: int = 0


class _Part(msgspec.Struct, array_like=True):
    """What reading consecutive segments gave. Line numbers count from 1 within the part.

    `problem` is the first thing that stops strict reading; nothing behind it was read.
    `execution_line` is the line of the first `agent.execution` event. `rows` holds what was observed,
    packed, when the part comes from a copy of this process.
    """

    first: int
    segments: int = 0
    lines: int = 0
    executions: int = 0
    problem: Problem | None = None
    execution_line: int | None = None
    skipped: tuple[Problem, ...] = ()
    lone_surrogates: int = 0
    duplicate_keys: int = 0
    rows: bytes = b""


def is_streamable(source: Source) -> bool:
    """Tell whether `source` is a large unified session in JSON Lines, by its size and first line.

    Whatever else it is, faulty headers included, is read whole and judged there.
    Raises: OSError.
    """
    if isinstance(source, Path) and not source.is_file():
        return False
    with _opened(source) as file:
        if _size(file) < STREAM_FROM_BYTES:
            return False
        file.seek(0)
        line = file.readline(_FIRST_LINE_BYTES).removeprefix(_BOM)
    try:
        EventReader().line(line.rstrip(b"\n"), 1)
    except SessionFormatError:
        return False
    return line[:1] == b"{"


def _opened(source: Source) -> BinaryIO:
    if isinstance(source, bytes):
        return BytesIO(source)
    return source.open("rb", buffering=_BUFFER_BYTES)


def _size(file: BinaryIO) -> int:
    return file.seek(0, SEEK_END)


def stream_lookups(
    source: Source, *, lenient: bool = False, named: "KnownValues | None" = None
) -> Streamed:
    """Read a large unified session and conclude its lookups, in memory that does not grow with it.

    Takes: a file, or content that is held anyway, for which `is_streamable` is true; `named`, secret
        values. Add-mask lines are not looked for: a session of this size is redacted when it is
        published, and texts that could hold one are not kept.
    Returns: the lookups that reading it whole would give, without `events_by_type`. Rows of tool
        calls and requests are all that is kept.
    Raises: SessionFormatError for the first line that strict reading refuses; OSError.
    Cost: O(bytes); strict reading of more than 16 MiB uses two processes where it can.
    """
    collects = gc.isenabled()
    # Nothing read here forms cycles; searching for them would cost more than decoding.
    gc.disable()
    try:
        return _stream(source, named, lenient=lenient)
    finally:
        if collects:
            gc.enable()


def _stream(source: Source, named: "KnownValues | None", *, lenient: bool) -> Streamed:
    read = _read_in_one if lenient else _read_in_segments
    parts, rows = read(source, named, keep_times=False)
    if needs_times(rows.observations.spans, rows.observations.collection_ns):
        parts, rows = read(source, named, keep_times=True)
    return Streamed(
        build_lookups(rows),
        parts[0].skipped,
        sum(part.lone_surrogates for part in parts),
        sum(part.duplicate_keys for part in parts),
    )


def _segments(source: Source) -> list[int]:
    """List where segments begin, and the end of the source; each begins a line."""
    # Without buffer: only few bytes are looked at in each place.
    with BytesIO(source) if isinstance(source, bytes) else source.open("rb", 0) as file:
        size = _size(file)
        step = max(_SEGMENT_BYTES, size // (MAX_SHARED_TASKS - 1))
        starts = [0]
        while starts[-1] + step < size:
            starts.append(_line_end(file, starts[-1] + step))
    return starts if starts[-1] >= size else [*starts, size]


def _line_end(file: BinaryIO | FileIO, position: int) -> int:
    """Find the first line end from `position` on, however far it is, or the end of the source."""
    file.seek(position)
    while piece := file.read(_PROBE_BYTES):
        found = piece.find(b"\n")
        if found >= 0:
            return position + found + 1
        position += len(piece)
    return position


_Read: TypeAlias = tuple[list[_Part], RedactedObservations]


def _read_in_one(source: Source, named: "KnownValues | None", *, keep_times: bool) -> _Read:
    """Read leniently: what is skipped in one line depends on all lines before it."""
    with _opened(source) as file:
        reading = _Reading(file, 0, named, keep_times=keep_times, lenient=True)
        reading.read(0, _size(file))
        part, rows = reading.done()
    return [part], rows


def _read_in_segments(source: Source, named: "KnownValues | None", *, keep_times: bool) -> _Read:
    """Read strictly, segments in any order, in two processes when it pays."""
    starts = _segments(source)
    count = len(starts) - 1
    found: list[tuple[_Part, RedactedObservations]] = []

    def read(segments: Iterable[int]) -> Iterator[tuple[_Part, RedactedObservations]]:
        # Each process opens the file anew: a copied descriptor would share its position.
        with _opened(source) as file:
            yield from _read_parts(file, starts, segments, named, keep_times=keep_times)

    def mine(segments: Iterable[int]) -> None:
        found.extend(read(segments))

    if starts[-1] >= _SHARE_FROM_BYTES and can_share():
        answer = share(count, lambda segments: _packed(read(segments)), mine)
        found += [] if answer is None else _unpacked(answer)
    # What is left: everything, or what a copy had taken that ended before its time.
    read_already = {
        segment for part, _ in found for segment in range(part.first, part.first + part.segments)
    }
    mine([segment for segment in range(count) if segment not in read_already])
    from aw_graders.redaction import merge_redacted  # noqa: PLC0415

    found.sort(key=lambda item: item[0].first)
    parts = [part for part, _ in found]
    _refuse_first_problem(parts)
    return parts, merge_redacted([rows for _, rows in found])


def _read_parts(
    file: BinaryIO,
    starts: Sequence[int],
    segments: Iterable[int],
    named: "KnownValues | None",
    *,
    keep_times: bool,
) -> Iterator[tuple[_Part, RedactedObservations]]:
    """Read segments, those that follow each other as one part."""
    reading: _Reading | None = None
    for segment in segments:
        if reading is None or segment != reading.next_segment:
            if reading is not None:
                yield reading.done()
            reading = _Reading(file, segment, named, keep_times=keep_times)
        reading.read(starts[segment], starts[segment + 1])
    if reading is not None:
        yield reading.done()


def _packed(found: Iterable[tuple[_Part, RedactedObservations]]) -> bytes:
    from aw_graders.redaction import pack  # noqa: PLC0415

    parts: list[_Part] = []
    for part, rows in found:
        part.rows = pack(rows)
        parts.append(part)
    return msgspec.msgpack.encode(parts)


def _unpacked(answer: bytes) -> list[tuple[_Part, RedactedObservations]]:
    from aw_graders.redaction import unpack  # noqa: PLC0415

    parts = msgspec.msgpack.decode(answer, type=list[_Part])
    return [(part, unpack(part.rows)) for part in parts]


def _refuse_first_problem(ordered: Sequence[_Part]) -> None:
    """Raise for the first line, in file order, that strict reading refuses."""
    before, executions = 0, 0
    for part in ordered:
        problem = part.problem
        line = part.execution_line
        if executions and line is not None and (problem is None or line < (problem.line or 0)):
            problem = Problem(SECOND_EXECUTION, line, 1, LENIENT_HINT)
        if problem is not None:
            line = before + (problem.line or 1)
            raise SessionFormatError(msgspec.structs.replace(problem, line=line))
        executions += part.executions
        before += part.lines


def _mask(text: str, named: "KnownValues | None") -> str:
    from aw_graders.redaction import mask_text  # noqa: PLC0415

    return mask_text(text, named)


class _Reading:
    """Consecutive segments while they are being read."""

    def __init__(
        self,
        file: BinaryIO,
        segment: int,
        named: "KnownValues | None",
        *,
        keep_times: bool,
        lenient: bool = False,
    ) -> None:
        self._file = file
        self._named = named
        self._observer = Observer(mask=lambda text: _mask(text, named), keep_times=keep_times)
        # Where a segment is not the first, the header has been met; any other is one too many.
        self._reader = EventReader(lenient=lenient, started=segment > 0)
        self._part = _Part(segment)

    @property
    def next_segment(self) -> int:
        """The segment that would continue this part."""
        return self._part.first + self._part.segments

    def read(self, start: int, end: int) -> None:
        """Read the lines of the next segment, up to the first that is refused."""
        part = self._part
        part.segments += 1
        if part.problem is not None:
            return
        try:
            for lines in self._batches(start, end):
                self._take(lines)
                part.lines += len(lines)
        except SessionFormatError as failure:
            part.problem = failure.problem

    def done(self) -> tuple[_Part, RedactedObservations]:
        """End the part and redact what was observed."""
        from aw_graders.redaction import redact_observations  # noqa: PLC0415

        part, reader = self._part, self._reader
        part.executions = self._observer.observations.executions
        part.skipped = tuple(reader.skipped)
        part.lone_surrogates = reader.lone_surrogates
        part.duplicate_keys = reader.duplicate_keys
        return part, redact_observations(self._observer.observations, self._named)

    def _take(self, lines: list[bytes]) -> None:
        part, reader, seen = self._part, self._reader, self._observer.observations
        headers, executions = seen.headers, seen.executions
        fast = decode_batch(lines) if reader.started else None
        if fast is not None and reader.lenient and any(event.type in _ONCE for event in fast):
            fast = None
        self._observer.feed(self._with_care(lines) if fast is None else fast)
        if (headers, executions) == (seen.headers, seen.executions):
            return
        if fast is not None:
            # Something came that may come only once; this says which line is too many, if any.
            self._with_care(lines)
        if part.execution_line is None and seen.executions and not reader.lenient:
            part.execution_line = line_of(AGENT_EXECUTION, lines, part.lines)

    def _with_care(self, lines: list[bytes]) -> list[WireEvent]:
        """Read lines one by one; when one is refused, note what came before it all the same."""
        part = self._part
        try:
            return read_with_care(lines, self._reader, part.lines)
        except SessionFormatError as failure:
            read = (failure.problem.line or 0) - part.lines - 1
            if part.execution_line is None:
                part.execution_line = line_of(AGENT_EXECUTION, lines[:read], part.lines)
            raise

    def _batches(self, start: int, end: int) -> Iterator[list[bytes]]:
        """Read as many lines at a time as fill a batch.

        Where a line may be over the limit, lines are read one by one, and such a line in pieces.
        """
        file = self._file
        file.seek(start)
        if start == 0 and file.read(len(_BOM)) != _BOM:
            file.seek(0)
        bounded = end - start > MAX_LINE_BYTES
        while (left := end - file.tell()) > 0:
            # One line more is read than fits into the hint, which here is the segment's last.
            lines = self._bounded_line() if bounded else file.readlines(min(_BATCH_BYTES, left - 1))
            if not lines:
                return
            yield lines

    def _bounded_line(self) -> list[bytes]:
        """Read the next line that is not over the limit; none at the end of the file."""
        while line := self._file.readline(MAX_LINE_BYTES + 1):
            length, rest = len(line), line
            while rest and not rest.endswith(b"\n"):
                rest = self._file.readline(_SEGMENT_BYTES)
                length += len(rest)
            if length <= MAX_LINE_BYTES + 1:
                return [line]
            length -= rest.endswith(b"\n")
            problem = Problem(too_long(length), self._part.lines + 1, 1, LENIENT_HINT)
            self._reader.fail(problem)
            self._part.lines += 1
        return []
