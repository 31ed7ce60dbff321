"""Deterministic graders for recorded runs of coding agents."""

from aw_graders.graders import BUILT_IN, DEFAULT_IDS, GraderSettings, Result, grade
from aw_graders.lookups import SessionLookups, create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import (
    Event,
    Provenance,
    Redacted,
    Session,
    SessionFormatError,
    read_session,
)

__version__ = "0.1.0"

__all__ = [
    "BUILT_IN",
    "DEFAULT_IDS",
    "Event",
    "GraderSettings",
    "Provenance",
    "Redacted",
    "Result",
    "Session",
    "SessionFormatError",
    "SessionLookups",
    "__version__",
    "create_session_lookups",
    "grade",
    "read_session",
    "redact",
]
