"""Indexes and statistics of a session, built once and shared by all graders."""

from aw_graders.lookups.build import build_lookups, create_session_lookups
from aw_graders.lookups.model import (
    Duration,
    Evidence,
    Place,
    Request,
    RunContext,
    SessionLookups,
    Statistics,
    Tokens,
    ToolCall,
)
from aw_graders.lookups.observe import Observer, merge
from aw_graders.lookups.rows import Observations
from aw_graders.lookups.spans import spans_are_exact

__all__ = [
    "Duration",
    "Evidence",
    "Observations",
    "Observer",
    "Place",
    "Request",
    "RunContext",
    "SessionLookups",
    "Statistics",
    "Tokens",
    "ToolCall",
    "build_lookups",
    "create_session_lookups",
    "merge",
    "spans_are_exact",
]
