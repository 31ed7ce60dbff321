"""Deterministic graders for recorded runs of coding agents."""

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
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

# Every start of `aw` imports this package, so its names are fetched only when they are used.
_ROOMS: Final = {
    "graders": ("BUILT_IN", "DEFAULT_IDS", "GraderSettings", "Result", "grade"),
    "lookups": ("SessionLookups", "create_session_lookups"),
    "redaction": ("redact",),
    "session": (
        "Event",
        "Provenance",
        "Redacted",
        "Session",
        "SessionFormatError",
        "read_session",
    ),
}
_ROOM_OF: Final = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    """Fetch a public name from its room on first use."""
    room = _ROOM_OF.get(name)
    if room is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(f"aw_graders.{room}"), name)
