"""The one JSON decoder and encoder of the project: strict in, canonical out."""

from aw_graders._json.decode import Decoded, JsonError, decode, decode_counting, decode_prefix
from aw_graders._json.encode import canonical, compact, pretty, same_value, sorted_text
from aw_graders._json.frozen import freeze, thaw
from aw_graders._json.guards import (
    MAX_DEPTH,
    SURELY_PLAIN_BYTES,
    has_oversized_number,
    is_too_deep,
)
from aw_graders._json.values import JsonValue

__all__ = [
    "MAX_DEPTH",
    "SURELY_PLAIN_BYTES",
    "Decoded",
    "JsonError",
    "JsonValue",
    "canonical",
    "compact",
    "decode",
    "decode_counting",
    "decode_prefix",
    "freeze",
    "has_oversized_number",
    "is_too_deep",
    "pretty",
    "same_value",
    "sorted_text",
    "thaw",
]
