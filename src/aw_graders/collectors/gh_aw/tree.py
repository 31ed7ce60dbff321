"""The files below a root: found without following a link, opened only as what was found."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from aw_graders.collectors.gh_aw.limits import MAX_DEPTH, MAX_ENTRIES, MAX_NAMED
from aw_graders.collectors.gh_aw.notes import RunNotes

# What graders wrote is never evidence, and neither is the session of an earlier collection.
_NEVER_FOLDER: Final = "graders"
_NEVER_FILE: Final = "aw_session.jsonl"
_OPEN_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


class Found(msgspec.Struct, frozen=True):
    """One regular file: its size in bytes, and what tells it from any other file."""

    size: int
    device: int
    inode: int


class Tree(msgspec.Struct, frozen=True):
    """The regular files below a root, by their relative path with `/`, in lexical order."""

    root: Path
    files: Mapping[str, Found]
    folders: tuple[str, ...]

    def open(self, path: str, notes: RunNotes) -> BinaryIO | None:
        """Open one of the files, or note why not.

        A file that was exchanged since it was found, for a link or for another file, stays closed.
        Raises: nothing.
        """
        found = self.files[path]
        try:
            descriptor = os.open(self.root / path, _OPEN_FLAGS)
        except OSError as failure:
            message = f"the file cannot be read: {failure.strerror or 'unknown reason'}"
            notes.of(path).add("unreadable-file", message, None, lossy=True)
            return None
        status = os.fstat(descriptor)
        if (status.st_dev, status.st_ino) != (found.device, found.inode):
            os.close(descriptor)
            message = "the file was exchanged while the run was read, and was skipped"
            notes.of(path).add("file-exchanged", message, None, lossy=True)
            return None
        return os.fdopen(descriptor, "rb")


def walk(root: Path, notes: RunNotes) -> Tree:
    """List what lies below `root`, at most `MAX_DEPTH` folders deep.

    Links are noted and not followed. What graders wrote is left out.
    Raises: OSError when `root` itself cannot be listed.
    Cost: O(n log n) for n entries, at most `MAX_ENTRIES`.
    """
    walker = _Walker(root, notes)
    walker.folder("", 0)
    while walker.waiting and walker.entries < MAX_ENTRIES:
        path, depth = walker.waiting.pop()
        try:
            walker.folder(path, depth)
        except OSError as failure:
            message = f"the folder cannot be listed: {failure.strerror or 'unknown reason'}"
            notes.of(path).add("unreadable-folder", message, None, lossy=True)
    if walker.entries >= MAX_ENTRIES:
        message = f"over {MAX_ENTRIES} files and folders; the others were not looked at"
        notes.of(".").add("files-limit", message, None, lossy=True)
    walker.finish()
    return Tree(root, dict(sorted(walker.files.items())), tuple(sorted(walker.folders)))


class _Walker:
    """What was found so far, and which folders wait."""

    def __init__(self, root: Path, notes: RunNotes) -> None:
        self.root = root
        self.notes = notes
        self.files: dict[str, Found] = {}
        self.folders: list[str] = []
        self.waiting: list[tuple[str, int]] = []
        self.entries = 0
        self._left_out: dict[str, list[str]] = {}

    def folder(self, path: str, depth: int) -> None:
        """Note the entries of one folder."""
        with os.scandir(self.root / path) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
        for entry in entries:
            self.entries += 1
            if self.entries >= MAX_ENTRIES:
                return
            name = f"{path}/{entry.name}" if path else entry.name
            if not _is_usable(entry.name):
                shown = name.encode("utf-8", "backslashreplace").decode()
                self._leave_out("unusable-name", shown)
                continue
            try:
                self._entry(name, depth, entry)
            except OSError as failure:
                message = f"the entry cannot be looked at: {failure.strerror or 'unknown reason'}"
                self.notes.of(name).add("unreadable-file", message, None, lossy=True)

    def _entry(self, name: str, depth: int, entry: "os.DirEntry[str]") -> None:
        if entry.is_symlink():
            self._leave_out("symlink-not-read", name)
        elif entry.is_dir(follow_symlinks=False):
            if _is_graders_folder(entry.name, depth):
                return
            if depth >= MAX_DEPTH:
                self._leave_out("directory-depth-limit", name)
                return
            self.folders.append(name)
            self.waiting.append((name, depth + 1))
        elif entry.name != _NEVER_FILE:
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                self.files[name] = Found(status.st_size, status.st_dev, status.st_ino)
            else:
                self._leave_out("not-a-regular-file", name)

    def _leave_out(self, code: str, name: str) -> None:
        self._left_out.setdefault(code, []).append(name)

    def finish(self) -> None:
        """Note what was left out: the first ones by name, the rest as a number."""
        for code, names in sorted(self._left_out.items()):
            names.sort()
            for name in names[:MAX_NAMED]:
                self.notes.of(name).add(code, _LEFT_OUT[code], None, lossy=True)
            if len(names) > MAX_NAMED:
                message = f"{len(names) - MAX_NAMED} more like it: {_LEFT_OUT[code]}"
                self.notes.of(names[MAX_NAMED]).add(code, message, None, lossy=True)


_LEFT_OUT: Final = {
    "directory-depth-limit": f"the folder lies more than {MAX_DEPTH} folders deep; it was not read",
    "not-a-regular-file": "is no regular file and was not read",
    "symlink-not-read": "is a symbolic link; links are not followed",
    "unusable-name": "has a name that no path in a session can have, and was not read",
}


def _is_usable(name: str) -> bool:
    """Tell whether a name may stand in a path: UTF-8, without a backslash or control character."""
    return "\\" not in name and name.isprintable()


def _is_graders_folder(name: str, depth: int) -> bool:
    """Tell whether a folder holds what graders wrote; the name is reserved for it."""
    return name == _NEVER_FOLDER or (depth == 0 and name.endswith(f"-{_NEVER_FOLDER}"))
