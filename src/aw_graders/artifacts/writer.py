"""Writing files of an artifact, all of them whole or none at all."""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aw_graders import _json
from aw_graders.artifacts.layout import MANIFEST_FILE, RESULTS_FILE


def write_documents(folder: Path, manifest: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    """Write the manifest and the results into `folder`, which is made when it is missing.

    Raises: OSError; nothing of either file is left then.
    """
    publish(
        {
            folder / MANIFEST_FILE: [_json.pretty(manifest)],
            folder / RESULTS_FILE: [_json.pretty(results)],
        }
    )


def publish(files: Mapping[Path, Iterable[bytes]]) -> None:
    """Write files, each in pieces, so that a reader sees all of them whole or none.

    Each is written beside its place, readable by its owner alone, and moved there when every one of
    them is complete, in the given order. When one cannot be moved, those that were are taken away.
    Raises: OSError, also for a folder that is a link.
    Cost: O(bytes).
    """
    written: list[tuple[Path, Path]] = []
    try:
        for path, pieces in files.items():
            written.append((_written(path, pieces), path))
        _move(written)
    finally:
        for temporary, _ in written:
            temporary.unlink(missing_ok=True)


def _written(path: Path, pieces: Iterable[bytes]) -> Path:
    """Write a file beside its place and return the name it has for now."""
    folder = path.parent
    folder.mkdir(parents=True, exist_ok=True)
    if folder.is_symlink():
        raise OSError(None, "is a symbolic link", str(folder))
    # mkstemp makes the file with owner-only rights and a name that no link can have taken.
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces:
                file.write(piece)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _move(written: Iterable[tuple[Path, Path]]) -> None:
    moved: list[Path] = []
    try:
        for temporary, path in written:
            temporary.replace(path)
            moved.append(path)
    except BaseException:
        for path in moved:
            path.unlink(missing_ok=True)
        raise


def remove(paths: Iterable[Path]) -> None:
    """Remove the files of an earlier attempt; a link is removed, never what it points to.

    Raises: OSError.
    """
    for path in paths:
        if path.parent.is_symlink():
            raise OSError(None, "is a symbolic link", str(path.parent))
        # Where a folder should be and is none, there is nothing to remove.
        with contextlib.suppress(NotADirectoryError):
            path.unlink(missing_ok=True)
