"""Entries of a log archive, read with limits: nothing is written, and no name is used as a path.

An archive may be hostile. Its directory is bounded before it is read, every entry while it is.
"""

import io
import struct
import zipfile
import zlib
from typing import Final

import msgspec

MAGIC: Final = b"PK\x03\x04"
# Codes of notes.
TOO_LARGE: Final = "archive-too-large"
BROKEN: Final = "broken-archive"
ENCRYPTED: Final = "encrypted-archive"
UNKNOWN_METHOD: Final = "unknown-compression"
_DIRECTORY_ENTRY: Final = b"PK\x01\x02"
_MIB: Final = 1024 * 1024
# Logs of the largest public evaluations have some ten thousand samples.
MAX_ENTRIES: Final = 100_000
MAX_ENTRY_BYTES: Final = 256 * _MIB
# Logs shrink to a tenth or a fiftieth. Below the floor, nothing is a bomb.
MAX_RATIO: Final = 200
_RATIO_FLOOR: Final = _MIB
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED: Final = 0x1
# What the standard library raises on archives that are broken in one way or another.
_BROKEN: Final = (
    ArithmeticError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


class ArchiveError(Exception):
    """An archive, or an entry of it, that is not read. `code` is the code of its note."""

    def __init__(self, code: str, reason: str) -> None:
        """Keep the note's code beside the reason, a clause."""
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Archive:
    """The directory of an archive; of entries with one name the last counts, as its writer does."""

    def __init__(self, content: bytes) -> None:
        """Read the directory.

        Raises: ArchiveError.
        """
        self._size: Final = len(content)
        if content.count(_DIRECTORY_ENTRY) > MAX_ENTRIES:
            reason = f"the archive has over {MAX_ENTRIES} entries"
            raise ArchiveError(TOO_LARGE, reason)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
            entries = self._zip.infolist()
        except _BROKEN:
            reason = "the archive is cut off or broken"
            raise ArchiveError(BROKEN, reason) from None
        self._entries: dict[str, zipfile.ZipInfo] = {entry.filename: entry for entry in entries}
        self.repeated = len(entries) - len(self._entries)

    def names(self) -> tuple[str, ...]:
        """List the names of the entries, which are names and nothing else."""
        return tuple(self._entries)

    def read(self, name: str) -> bytes:
        """Read one entry into memory, never more of it than the limits allow.

        Raises: ArchiveError.
        """
        entry = self._entries[name]
        if entry.flag_bits & _ENCRYPTED:
            raise ArchiveError(ENCRYPTED, "the archive is encrypted")
        if entry.compress_type not in _METHODS:
            reason = f"the archive uses compression method {entry.compress_type}, not deflate"
            raise ArchiveError(UNKNOWN_METHOD, reason)
        limit = MAX_ENTRY_BYTES
        if entry.file_size > _RATIO_FLOOR:
            limit = min(limit, MAX_RATIO * min(entry.compress_size, self._size))
        if entry.file_size > limit:
            raise _too_large()
        try:
            with self._zip.open(entry) as stream:
                content = stream.read(limit + 1)
        except _BROKEN:
            raise ArchiveError(BROKEN, "an entry of the archive is broken") from None
        if len(content) > limit:
            raise _too_large()
        if len(content) < entry.file_size:
            raise ArchiveError(BROKEN, "an entry of the archive is cut off")
        return content


def _too_large() -> ArchiveError:
    reason = (
        f"an entry of the archive unpacks to over {MAX_ENTRY_BYTES // _MIB} MiB "
        f"or to over {MAX_RATIO} times its size"
    )
    return ArchiveError(TOO_LARGE, reason)


class Choice(msgspec.Struct, frozen=True):
    """What of an archive is read: the entries of samples, and the one that tells of the log."""

    samples: tuple[str, ...]
    header: str | None


_HEADERS: Final = ("header.json", "_journal/start.json")
_SAMPLES: Final = "samples/"
_JSON: Final = ".json"


def choose(archive: Archive) -> Choice:
    """Find the entries of a log archive that matter."""
    names = archive.names()
    samples = tuple(name for name in names if name.startswith(_SAMPLES) and name.endswith(_JSON))
    return Choice(samples, next((name for name in _HEADERS if name in names), None))
