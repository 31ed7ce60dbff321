"""Indexes and statistics of a session, built once and shared by all graders."""

from aw_graders.lookups.build import build_lookups, create_session_lookups
from aw_graders.lookups.model import (
    Duration,
    Reading,
    Request,
    RunContext,
    SessionLookups,
    Statistics,
    Tokens,
    ToolCall,
)
from aw_graders.lookups.observe import Observer, merge
from aw_graders.lookups.places import MAX_PLACES, Evidence, Place
from aw_graders.lookups.rows import Observations, RedactedObservations
from aw_graders.lookups.spans import needs_times

__all__ = [
    "MAX_PLACES",
    "Duration",
    "Evidence",
    "Observations",
    "Observer",
    "Place",
    "Reading",
    "RedactedObservations",
    "Request",
    "RunContext",
    "SessionLookups",
    "Statistics",
    "Tokens",
    "ToolCall",
    "build_lookups",
    "create_session_lookups",
    "merge",
    "needs_times",
]
