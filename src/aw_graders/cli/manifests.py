"""Reading a manifest that a person or a job points at."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.cli.exits import Exit, stop
from aw_graders.cli.inputs import read_path
from aw_graders.config.manifest import ManifestError

_Read = TypeVar("_Read")


def manifest_at(path: Path, most: int, read: Callable[[JsonValue], _Read]) -> _Read:
    """Read a manifest of at most `most` bytes with `read`, or end with one line."""
    try:
        return read(_json.decode(read_path(path, most)))
    except _json.JsonError as failure:
        stop(Exit.USAGE, f"{path}: {failure.reason} (column {failure.column})")
    except ManifestError as failure:
        stop(Exit.USAGE, f"{path}: {failure}")
