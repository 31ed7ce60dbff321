"""The files of a repository, read without leaving it and without following a link."""

import os
import stat
from pathlib import Path
from typing import Final

from aw_graders.config.files import FileProblem

_GIT: Final = ".git"
_READ_BYTES: Final = 1 << 20
_READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class Repository:
    """The files below one root, for what a workflow declares.

    `root` is the nearest folder above the workflow that is a Git repository, else its own folder.
    """

    def __init__(self, workflow: Path) -> None:
        """Find the root; nothing is read."""
        folder = Path(os.path.abspath(workflow)).parent  # noqa: PTH100 - links are kept as they are
        found = next((above for above in (folder, *folder.parents) if _is_git(above)), None)
        self.root = folder if found is None else found
        self.in_repository = found is not None
        self._is_absolute = workflow.is_absolute()

    def inside(self, path: Path) -> str:
        """Return the path from the root of a file below it, with `/`."""
        return Path(os.path.abspath(path)).relative_to(self.root).as_posix()  # noqa: PTH100

    def shown(self, path: str) -> str:
        """Return the path as a person would type it."""
        whole = self.root / path
        return str(whole) if self._is_absolute else os.path.relpath(whole)

    def read(self, path: str, most: int) -> bytes:
        """Return at most `most` bytes and one more of a regular file.

        Every folder on the way is opened without following a link, so none can be exchanged.
        Raises: FileProblem.
        """
        *folders, name = path.split("/")
        opened = self._open(str(self.root), None, os.O_DIRECTORY)
        try:
            for folder in folders:
                inner = self._open(folder, opened, os.O_DIRECTORY | os.O_NOFOLLOW)
                os.close(opened)
                opened = inner
            file = self._open(name, opened, os.O_NOFOLLOW)
        finally:
            os.close(opened)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                msg = "is no regular file"
                raise FileProblem(msg)
            return _read(file, most + 1)
        finally:
            os.close(file)

    def _open(self, name: str, folder: int | None, flags: int) -> int:
        try:
            return os.open(name, _READ | flags, dir_fd=folder)
        except (OSError, ValueError) as failure:
            raise FileProblem(_reason(name, folder, failure)) from failure


def _is_git(folder: Path) -> bool:
    try:
        return (folder / _GIT).exists()
    except OSError:
        return False


def _reason(name: str, folder: int | None, failure: OSError | ValueError) -> str:
    """Say why a file could not be opened; a link that was refused is named as one."""
    if isinstance(failure, FileNotFoundError):
        return "does not exist"
    if isinstance(failure, ValueError):
        return "has a name that no file can have"
    try:
        if folder is not None and stat.S_ISLNK(
            os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        ):
            return "is a symbolic link, or lies behind one; links are not followed"
    except OSError:
        pass
    return f"cannot be read: {failure.strerror or failure}"


def _read(file: int, most: int) -> bytes:
    parts: list[bytes] = []
    while most > 0:
        part = os.read(file, min(most, _READ_BYTES))
        if not part:
            break
        parts.append(part)
        most -= len(part)
    return b"".join(parts)
