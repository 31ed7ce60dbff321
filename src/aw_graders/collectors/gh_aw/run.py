"""Reading the files of one run: rows, documents and texts, within the limits, with notes."""

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

from aw_graders import _json
from aw_graders.collectors.base import SourceFile
from aw_graders.collectors.gh_aw.limits import MAX_DOCUMENT_BYTES, MAX_TOTAL_BYTES
from aw_graders.collectors.gh_aw.notes import RunNotes
from aw_graders.collectors.gh_aw.source import Source, SourceWriter
from aw_graders.collectors.gh_aw.tree import Tree
from aw_graders.collectors.normalise import Notes, is_mapping
from aw_graders.collectors.records import Record, read_records
from aw_graders.collectors.skipped import reason_of
from aw_graders.session.limits import MAX_LINE_BYTES

_BOM: Final = b"\xef\xbb\xbf"
# Blanks, line ends, and the NUL bytes that an interrupted write leaves behind.
_AROUND: Final = b" \t\r\n\0"
_MIB: Final = 1024 * 1024


class Run:
    """The files of a run, the notes on them, and how much of them was read."""

    def __init__(self, tree: Tree, notes: RunNotes) -> None:
        """Begin with nothing read."""
        self.tree = tree
        self.notes = notes
        self.read_bytes = 0

    def rows(self, path: str) -> Iterator[Record]:
        """Read a file of JSON Lines, one line at a time; a line that is no object is noted.

        Raises: nothing.
        Cost: linear in the file; one line is held at a time.
        """
        file = self._open(path, MAX_TOTAL_BYTES)
        if file is None:
            return
        with file:
            number = 0
            for number, line in self._lines(path, file):
                yield from self._row(path, number, line)

    def _lines(self, path: str, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
        """Yield lines with their number; one that is too long is passed over in pieces."""
        number = 0
        while True:
            try:
                line = file.readline(MAX_LINE_BYTES + 1)
                if not line:
                    return
                number += 1
                if len(line) <= MAX_LINE_BYTES or line.endswith(b"\n"):
                    yield number, line
                    continue
                while line and not line.endswith(b"\n"):
                    line = file.readline(MAX_LINE_BYTES)
            except OSError as failure:
                message = f"reading stopped: {failure.strerror or 'unknown reason'}"
                self.notes.of(path).add("unreadable-file", message, number + 1, lossy=True)
                return
            message = f"a line is longer than {MAX_LINE_BYTES // _MIB} MiB and was skipped"
            self.notes.of(path).count("line-too-long", message, number, lossy=True)

    def _row(self, path: str, number: int, line: bytes) -> Iterator[Record]:
        if number == 1:
            line = line.removeprefix(_BOM)
        notes = self.notes.of(path)
        has_nul = 0 in line
        line = line.strip(_AROUND)
        if has_nul and not line:
            message = "a line holds only NUL bytes and was skipped"
            notes.count("nul-bytes", message, number, lossy=True)
        if not line:
            return
        try:
            decoded = _json.decode_counting(line)
        except _json.JsonError as failure:
            # Several writers may leave two records on one line, or a torn one beside a whole one.
            read = read_records(SourceFile(path, line))
            if not read.records or any(note.lossy for note in read.notes):
                message = f"a line is not JSON and was skipped: {reason_of(failure)}"
                notes.count("malformed-jsonl", message, number, lossy=True)
            for record in read.records:
                yield Record(number, record.value)
            return
        _settle(notes, decoded, number)
        if is_mapping(decoded.value):
            yield Record(number, decoded.value)
        else:
            message = "a line holds no object and was skipped"
            notes.count("non-object-record", message, number, lossy=True)

    def content(self, path: str, limit: int) -> bytes | None:
        """Read a file whole, or note why not."""
        file = self._open(path, limit)
        if file is None:
            return None
        with file:
            try:
                content = file.read(limit + 1)
            except OSError as failure:
                message = f"the file cannot be read: {failure.strerror or 'unknown reason'}"
                self.notes.of(path).add("unreadable-file", message, None, lossy=True)
                return None
        if len(content) > limit:
            self._too_large(path, limit)
            return None
        return content

    def document(self, path: str) -> Any:
        """Read a file that is one JSON document; None when it is none, which is noted."""
        content = self.content(path, MAX_DOCUMENT_BYTES)
        if content is None:
            return None
        notes = self.notes.of(path)
        text = content.removeprefix(_BOM).strip(_AROUND)
        if not text:
            message = "the file is empty where a JSON document should be"
            notes.add("malformed-json", message, None, lossy=True)
            return None
        try:
            decoded = _json.decode_counting(text)
        except _json.JsonError as failure:
            message = f"the file is not JSON and was skipped: {reason_of(failure)}"
            notes.add("malformed-json", message, None, lossy=True)
            return None
        _settle(notes, decoded, None)
        return decoded.value

    def writer(self, component: str, phase: str, path: str) -> SourceWriter:
        """Begin a source."""
        return SourceWriter(component, phase, path, self.notes.of(path))

    def source_of_rows(
        self,
        component: str,
        phase: str,
        path: str,
        convert: Callable[[SourceWriter, Record], None],
    ) -> list[Source]:
        """Read a file of JSON Lines as one source."""
        writer = self.writer(component, phase, path)
        for record in self.rows(path):
            convert(writer, record)
        return self.close(writer)

    def close(self, writer: SourceWriter) -> list[Source]:
        """Close a source. One of which nothing could be read is none, and not an empty one."""
        if not writer.events and self.notes.is_damaged(writer.path):
            return []
        return [writer.source()]

    def _open(self, path: str, limit: int) -> BinaryIO | None:
        size = self.tree.files[path].size
        if size > limit:
            self._too_large(path, limit)
            return None
        if self.read_bytes + size > MAX_TOTAL_BYTES:
            limit = MAX_TOTAL_BYTES // _MIB
            message = f"the run has more than {limit} MiB; the file was not read any more"
            self.notes.of(path).add("bytes-limit", message, None, lossy=True)
            return None
        self.read_bytes += size
        return self.tree.open(path, self.notes)

    def _too_large(self, path: str, limit: int) -> None:
        shown = f"{limit // _MIB} MiB" if limit >= _MIB else f"{limit} bytes"
        message = f"the file is larger than {shown} and was not read"
        self.notes.of(path).add("file-too-large", message, None, lossy=True)


def _settle(notes: Notes, decoded: _json.Decoded, number: int | None) -> None:
    if decoded.duplicate_keys:
        message = "an object has a key twice; the last one counts"
        notes.count("duplicate-keys", message, number, lossy=False)
    if decoded.lone_surrogates:
        message = "half of a surrogate pair was replaced by U+FFFD"
        notes.count("lone-surrogates", message, number, lossy=False)
