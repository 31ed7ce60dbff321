"""What a person may set about a grader. Data only: there is no field that could hold code."""

from collections.abc import Mapping

import msgspec

from aw_graders._json import JsonValue


class GraderSettings(msgspec.Struct, frozen=True):
    """One configured grader: its metadata, whether it runs, and its data configuration.

    `threshold`, `minimum` and `maximum` are in the grader's own unit; None means none.
    Source: Graders Specification 0.5.0, section 3.
    """

    id: str
    enabled: bool = True
    name: str | None = None
    description: str | None = None
    unit: str | None = None
    direction: str | None = None
    threshold: int | float | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    config: Mapping[str, JsonValue] = msgspec.field(default_factory=dict[str, JsonValue])
