"""Sessions: the typed events of one run, their text form, their order and their limits."""

from aw_graders.session.codec import (
    ReadSession,
    encode_array,
    encode_jsonl,
    is_array,
    read_session,
)
from aw_graders.session.envelope import EnvelopeError, event_from
from aw_graders.session.model import HEADER, Event, Provenance, Redacted, Session, is_header
from aw_graders.session.problems import Problem, SessionFormatError

__all__ = [
    "HEADER",
    "EnvelopeError",
    "Event",
    "Problem",
    "Provenance",
    "ReadSession",
    "Redacted",
    "Session",
    "SessionFormatError",
    "encode_array",
    "encode_jsonl",
    "event_from",
    "is_array",
    "is_header",
    "read_session",
]
