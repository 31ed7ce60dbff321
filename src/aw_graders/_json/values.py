"""What a JSON document can hold once it is decoded."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

# Read-only on purpose: nothing downstream of the decoder may change what it was given.
JsonValue: TypeAlias = (
    "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)
