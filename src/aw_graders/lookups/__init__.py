"""Indexes and statistics of a session, built once and shared by all graders."""

from aw_graders.lookups.build import build_lookups, create_session_lookups
from aw_graders.lookups.model import (
    MAX_PLACES,
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
from aw_graders.lookups.tokens import request_tokens

__all__ = [
    "MAX_PLACES",
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
    "request_tokens",
]
