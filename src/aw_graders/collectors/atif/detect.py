"""Telling an ATIF trajectory from everything else."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders.collectors.normalise import is_list, text_of
from aw_graders.collectors.records import sample

_VERSION: Final = "ATIF-v"
_MARK: Final = b"ATIF-v"


def detect(content: bytes) -> bool:
    """Tell whether `content` holds an ATIF trajectory. Raises nothing.

    Cost: a search; content that names the format is sampled.
    """
    return _MARK in content and sample(content, is_trajectory)


def is_trajectory(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a trajectory: it names the format and has a list of steps."""
    version = text_of(value.get("schema_version"))
    return version is not None and version.startswith(_VERSION) and is_list(value.get("steps"))
