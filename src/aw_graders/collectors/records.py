"""JSON objects out of recordings: lines, glued or pretty-printed objects, arrays, logs.

Every line is tried alone first, at the fast decoder's speed. Only a line that is no whole document
is read on from its first character, so that ordinary recordings cost one decoding.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any, Final

import msgspec

from aw_graders import _json
from aw_graders._json import Decoded, JsonError
from aw_graders.collectors.base import CollectionNote, SourceFile
from aw_graders.collectors.normalise import Notes, is_list, is_mapping, list_of
from aw_graders.collectors.skipped import NOT_JSON, Skipped, joined, reason_of
from aw_graders.session.limits import MAX_LINE_BYTES

_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r"
_HEAD_BYTES: Final = 256 * 1024
_NULS: Final = re.compile(rb"\0+")
_SPACE: Final = " \t\r\n"
_MIB: Final = 1024 * 1024
_SCALAR_STARTS: Final = frozenset(b'"-0123456789')
_LITERALS: Final = frozenset({b"true", b"false", b"null"})
# Reading on over line ends may fail at most so many times the length of the content.
_WASTE_FACTOR: Final = 4
_DEEP_SHARE: Final = 16
_ESCAPED_FIRST: Final = "\udc80"
_ESCAPED_LAST: Final = "\udcff"
_SAMPLED_RECORDS: Final = 500
_ALL_RECORDS: Final = 2**53


class Record(msgspec.Struct, frozen=True):
    """One JSON object and the physical line, from 1, on which it begins."""

    line: int
    value: dict[str, Any]


class Records(msgspec.Struct, frozen=True):
    """The objects of one file in file order, and notes on what was no object."""

    records: tuple[Record, ...]
    notes: tuple[CollectionNote, ...] = ()


def read_records(file: SourceFile) -> Records:
    """Read every JSON object of a recording and skip, with a note, what is none.

    Raises: nothing.
    Cost: linear in the content.
    """
    reader = _Reader(file)
    reader.read()
    return Records(tuple(reader.records), reader.finish())


def sample(content: bytes, is_row: Callable[[Mapping[str, Any]], bool]) -> bool:
    """Tell whether the objects of `content` are rows of one tool, by its own test of a row.

    The first bytes decide when they hold such a row, else the first few hundred objects. One with a
    `provenance` object belongs to a unified session, which no collector takes.
    Raises: nothing.
    """
    head = content[:_HEAD_BYTES]
    if len(head) < len(content):
        head = head[: head.rfind(b"\n") + 1]
        answer = _answer(head, is_row)
        if answer is not None:
            return answer
    return _answer(content, is_row) or False


def _answer(content: bytes, is_row: Callable[[Mapping[str, Any]], bool]) -> bool | None:
    """Look at the objects of `content`: yes, no, or None when none is of the tool."""
    reader = _Reader(SourceFile("", content), _SAMPLED_RECORDS)
    reader.read()
    values = [record.value for record in reader.records]
    if any(is_mapping(value.get("provenance")) for value in values):
        return False
    return True if any(map(is_row, values)) else None


class _Reader:
    """Walks the lines of one file, until it has as many records as are asked for."""

    def __init__(self, file: SourceFile, limit: int = _ALL_RECORDS) -> None:
        self.limit = limit
        self.content = file.content.removeprefix(_BOM)
        self.lines = self.content.split(b"\n")
        self.notes = Notes(file.name)
        self.records: list[Record] = []
        self.skipped: list[Skipped] = []
        self.plain: list[int] = []
        self.starts_plain = False
        self.in_array = False
        self.text: str | None = None
        self.line_starts: list[int] = []
        self.waste = _WASTE_FACTOR * len(self.content) + _MIB

    def read(self) -> None:
        number = 0
        count = len(self.lines)
        while number < count and len(self.records) < self.limit:
            line = self.lines[number].strip(_BLANK)
            number = self._line(number, line) if line else number + 1

    def finish(self) -> tuple[CollectionNote, ...]:
        """Turn what was skipped into notes, long runs of lines into one."""
        is_log = self.starts_plain or len(self.plain) > len(self.records)
        if is_log and self.plain:
            message = f"{len(self.plain)} lines are plain text, not JSON, and were skipped"
            self.notes.add("plain-text-lines", message, self.plain[0], lossy=False)
        elif self.plain:
            message = "the line is not JSON and was skipped"
            self.skipped.extend(Skipped(line, NOT_JSON, message) for line in self.plain)
            self.skipped.sort(key=lambda item: item.line)
        for item in joined(self.skipped):
            self.notes.add(item.code, item.message, item.line, lossy=True)
        is_whole = len(self.records) < self.limit and not any(n.lossy for n in self.notes.all())
        if self.in_array and self.records and is_whole:
            message = "the list has no end, so that more may have followed"
            self.notes.add("cut-list", message, len(self.lines), lossy=True)
        return self.notes.all()

    def _line(self, index: int, line: bytes) -> int:
        """Read what begins on one line; answer the index of the next line to look at."""
        if len(line) > MAX_LINE_BYTES:
            size = len(line) / _MIB
            limit = MAX_LINE_BYTES // _MIB
            message = f"the line has {size:.1f} MiB, the limit is {limit} MiB; it was skipped"
            self._skip(index, "line-too-long", message)
            return index + 1
        return self._nul_line(index, line) if 0 in line else self._document(index, line, 0)

    def _nul_line(self, index: int, line: bytes) -> int:
        """Read a line with NUL bytes, which an interrupted write leaves behind or in between."""
        parts = [part for part in (piece.strip(_BLANK) for piece in _NULS.split(line)) if part]
        if not parts:
            self._skip(index, "nul-bytes", "the line holds only NUL bytes and was skipped")
            return index + 1
        message = "NUL bytes beside a record were removed"
        self.notes.count("nul-bytes", message, index + 1, lossy=False)
        if len(parts) == 1:
            return self._document(index, parts[0], line.index(parts[0]))
        for part in parts:
            try:
                self._keep(index, _json.decode_counting(part))
            except JsonError as failure:
                message = f"a part of the line is not JSON and was skipped: {reason_of(failure)}"
                self._skip(index, NOT_JSON, message)
        return index + 1

    def _document(self, index: int, line: bytes, offset: int) -> int:
        first = line[0]
        if first not in b"{[":
            return self._other(index, line, offset)
        try:
            decoded = _json.decode_counting(line)
        except JsonError as failure:
            lead = len(self.lines[index]) - len(self.lines[index].lstrip(_BLANK))
            return self._read_on(index, lead + offset, failure)
        self._keep(index, decoded)
        return index + 1

    def _other(self, index: int, line: bytes, offset: int) -> int:
        """Handle a line that begins with neither an object nor an array."""
        if self.in_array and line[:1] in b",]":
            rest = line.lstrip(b",] \t\r")
            if b"]" in line[: len(line) - len(rest)]:
                self.in_array = False
            if not rest:
                return index + 1
            return self._document(index, rest, offset + len(line) - len(rest))
        if line[0] in _SCALAR_STARTS or line in _LITERALS:
            try:
                self._keep(index, _json.decode_counting(line))
            except JsonError:
                return self._plain(index)
            return index + 1
        return self._plain(index)

    def _read_on(self, index: int, offset: int, failure: JsonError) -> int:
        """Read objects one after the other from a place in a line, over line ends.

        `offset` counts bytes of blanks or NULs only, which are characters as well.
        """
        text = self._whole_text()
        place = self.line_starts[index] + offset
        kept = 0
        while len(self.records) < self.limit:
            place, line = self._next_object(text, place, index)
            if place >= len(text) or text[place] != "{":
                break
            if line != index and not self.in_array:
                return line
            try:
                decoded, end = self._prefix(text, place)
            except JsonError as trouble:
                return self._failed(line, kept, trouble if kept else failure)
            self._keep(line, decoded)
            kept += 1
            place, index = end, self._line_at(text, end, line)
        return self._after(text, place, index, kept, failure)

    def _after(self, text: str, place: int, index: int, kept: int, failure: JsonError) -> int:
        """Settle what stands behind the last object that was read on a line."""
        if place >= len(text):
            return len(self.lines)
        line = self._line_at(text, place, index)
        if line != index and kept:
            return line
        if text[place] == "[" and not kept:
            return self._array(text, place, index, failure)
        if kept:
            message = "text behind the record is not JSON and was skipped"
            self._skip(index, NOT_JSON, message)
            return index + 1
        return self._failed(index, kept, failure)

    def _array(self, text: str, place: int, index: int, failure: JsonError) -> int:
        """Read an array that spans lines or holds something else than objects."""
        behind = _past(text, place + 1, _SPACE)
        if text[behind : behind + 1] == "{":
            self.in_array = True
            return self._read_on_from(text, behind, index, failure)
        try:
            decoded, end = self._prefix(text, place)
        except JsonError:
            return self._failed_array(index, failure)
        self._keep(index, decoded)
        return self._line_at(text, end, index) + 1

    def _failed_array(self, index: int, failure: JsonError) -> int:
        """Note a line in a bracket, which may as well begin a line of a log."""
        line = self.lines[index].lstrip(b" \t\r\0")
        if line[1:2].isalpha() or line[1:5].isdigit() or line[1:3].isdigit():
            return self._plain(index)
        return self._failed(index, 0, failure)

    def _plain(self, index: int) -> int:
        """Put aside a line that does not even begin as an object does."""
        if not self.records and not self.skipped and not self.plain:
            # The tail of a record, at the head of a rotated file, is no log's first line.
            self.starts_plain = not self.lines[index].rstrip().endswith((b"}", b"]"))
        self.plain.append(index + 1)
        return index + 1

    def _read_on_from(self, text: str, place: int, index: int, failure: JsonError) -> int:
        line = self._line_at(text, place, index)
        return self._read_on(line, place - self.line_starts[line], failure)

    def _next_object(self, text: str, place: int, index: int) -> tuple[int, int]:
        """Skip what may stand between two objects; answer the place and its line."""
        place = _past(text, place, f"{_SPACE}," if self.in_array else _SPACE)
        if self.in_array and text[place : place + 1] == "]":
            self.in_array = False
            place = _past(text, place + 1, _SPACE)
        return place, self._line_at(text, place, index)

    def _prefix(self, text: str, place: int) -> tuple[Decoded, int]:
        """Decode one document, within the allowance for attempts that fail."""
        if self.waste < 0:
            msg = "unfinished on its line"
            raise JsonError(msg, place + 1)
        try:
            decoded, end = _json.decode_prefix(text, place)
        except JsonError as failure:
            deep = failure.column == place + 1
            self.waste -= len(text) // _DEEP_SHARE if deep else failure.column - place
            raise
        if _has_escaped_bytes(text, place, end):
            self.waste -= end - place
            msg = "invalid UTF-8"
            raise JsonError(msg, place + 1)
        return decoded, end

    def _failed(self, index: int, kept: int, failure: JsonError) -> int:
        """Note a line that holds no readable record, or an unreadable rest."""
        last = index == len(self.lines) - 1
        what = "the rest of the line" if kept else "the line"
        if last:
            message = f"{what} is cut off and was skipped: {reason_of(failure)}"
            self._skip(index, "cut-line", message)
        elif failure.reason.startswith("nested too deeply"):
            self._skip(index, "nested-too-deeply", f"{what} is {failure.reason}; it was skipped")
        else:
            message = f"{what} is not JSON and was skipped: {reason_of(failure)}"
            self._skip(index, NOT_JSON, message)
        return index + 1

    def _keep(self, index: int, decoded: Decoded) -> None:
        if decoded.duplicate_keys:
            message = "an object has a key twice; the last one counts"
            self.notes.count("duplicate-keys", message, index + 1, lossy=False)
        if decoded.lone_surrogates:
            message = "half of a surrogate pair was replaced by U+FFFD"
            self.notes.count("lone-surrogates", message, index + 1, lossy=False)
        value = decoded.value
        if is_mapping(value):
            self.records.append(Record(index + 1, value))
            return
        items = list_of(value)
        found = [item for item in items if is_mapping(item)]
        self.records.extend(Record(index + 1, item) for item in found)
        if len(found) < len(items) or not is_list(value):
            self._skip(index, "not-an-object", "a value that is no object was skipped")

    def _skip(self, index: int, code: str, message: str) -> None:
        self.skipped.append(Skipped(index + 1, code, message))

    def _whole_text(self) -> str:
        """Decode all of the content once, bytes that are no UTF-8 kept apart as escapes."""
        if self.text is None:
            self.text = self.content.decode("utf-8", "surrogateescape")
            lengths = (len(line) + 1 for line in self.text.split("\n"))
            self.line_starts = list(accumulate(lengths, initial=0))
        return self.text

    def _line_at(self, text: str, place: int, index: int) -> int:
        """Find the line of a place at or behind line `index`."""
        return bisect_right(self.line_starts, min(place, len(text)), index) - 1


def _past(text: str, place: int, characters: str) -> int:
    """Find the first place that holds none of `characters`."""
    while place < len(text) and text[place] in characters:
        place += 1
    return place


def _has_escaped_bytes(text: str, start: int, end: int) -> bool:
    """Tell whether bytes that are no UTF-8 stand in a part of the text."""
    part = text[start:end]
    if part.isascii():
        return False
    return any(_ESCAPED_FIRST <= character <= _ESCAPED_LAST for character in set(part))
