"""Telling an OpenCode recording from everything else."""

from collections.abc import Mapping
from typing import Any

from aw_graders.collectors.normalise import is_list, is_mapping
from aw_graders.collectors.opencode.rows import is_export, is_stream_row
from aw_graders.collectors.records import sample


def detect(content: bytes) -> bool:
    """Tell whether `content` is an OpenCode recording. Raises nothing."""
    return sample(content, _is_row)


def _is_row(row: Mapping[str, Any]) -> bool:
    if is_stream_row(row):
        return True
    return is_export(row) and (not row["messages"] or any(map(_is_message, row["messages"])))


def _is_message(item: object) -> bool:
    return is_mapping(item) and is_mapping(item.get("info")) and is_list(item.get("parts"))
