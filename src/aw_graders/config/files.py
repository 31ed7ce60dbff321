"""How configuration reaches other files: by a path inside one root, through what it is given.

This room opens nothing itself.
"""

import posixpath
from typing import Protocol


class FileProblem(Exception):  # noqa: N818 - it becomes a diagnostic, not a failure
    """A file that cannot be used; the text says what it is, without its path."""


class Files(Protocol):
    """The files of one repository."""

    @property
    def in_repository(self) -> bool:
        """True when the root is that of a Git repository."""
        ...

    def read(self, path: str, most: int) -> bytes:
        """Return at most `most` bytes and one more of a regular file.

        Takes: a path from the root, with `/` between its parts and none of them `..`.
        Raises: FileProblem when there is no such file, it is no regular file, a link is on the
            way, or it lies outside the root.
        """
        ...

    def shown(self, path: str) -> str:
        """Return the path as a person would type it."""
        ...


def read_bounded(files: Files, path: str, most: int) -> bytes:
    """Return the whole of a file of at most `most` bytes.

    Raises: FileProblem as `Files.read` does, and for a larger file.
    """
    content = files.read(path, most)
    if len(content) > most:
        msg = f"is larger than {most:,} bytes"
        raise FileProblem(msg)
    return content


def joined(declared: str, declaring: str) -> str | None:
    """Resolve a path that a file declares.

    Takes: `declared` as written, relative to the folder of `declaring`, a path from the root.
    Returns: the path from the root, or None when it leads out of it.
    """
    folder = posixpath.dirname(declaring)
    path = posixpath.normpath(posixpath.join(folder, declared))
    is_out = path in {".", ".."} or path.startswith(("../", "/"))
    return None if is_out else path
