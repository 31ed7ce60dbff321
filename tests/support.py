"""What several test files need: vectors, and a session from vector data."""

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from aw_graders._json import compact
from aw_graders.graders import BUILT_IN, GraderSettings, default_settings
from aw_graders.redaction import redact
from aw_graders.session import Redacted, read_session

ROOT = Path(__file__).parent.parent
VECTORS = ROOT / "tests" / "vectors"


# What following every line costs at most.
_MEASURING = 8


def allowed(seconds: float) -> float:
    """A limit of time for this run of the tests; one that measures coverage is much slower."""
    return seconds * _MEASURING if "coverage" in sys.modules else seconds


@cache
def grader_cases() -> tuple[dict[str, Any], ...]:
    """All grader vectors, in file order."""
    files = sorted((VECTORS / "graders").glob("*.json"))
    return tuple(case for file in files for case in json.loads(file.read_text("utf-8")))


@cache
def trajectory_cases() -> tuple[dict[str, Any], ...]:
    """All vectors on a recorded trajectory."""
    files = sorted((VECTORS / "ir").glob("*.json"))
    return tuple(case for file in files for case in json.loads(file.read_text("utf-8")))


def lines_of(events: list[dict[str, Any]]) -> bytes:
    """The events as JSON Lines."""
    return b"".join(compact(event) + b"\n" for event in events)


def redacted(events: list[dict[str, Any]]) -> Redacted:
    """The events as a redacted session, through the array form."""
    return redact(read_session(compact(events)).session).session


def settings_for(config: dict[str, Any]) -> tuple[GraderSettings, ...]:
    """Default settings with the `config` of each vector entry put in."""
    return tuple(
        msgspec.structs.replace(item, config=config.get(item.id, {}).get("config", {}))
        for item in default_settings()
    )


__all__ = [
    "BUILT_IN",
    "ROOT",
    "VECTORS",
    "grader_cases",
    "lines_of",
    "redacted",
    "settings_for",
    "trajectory_cases",
]
