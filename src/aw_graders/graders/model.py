"""The words graders speak. Illegal values cannot be built."""

import math
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import msgspec

from aw_graders._json import JsonValue
from aw_graders.lookups import Evidence, SessionLookups

HIGHER: Final = "higher_is_better"
LOWER: Final = "lower_is_better"


class GraderInput(msgspec.Struct, frozen=True):
    """All that a grader may see. Add fields here, never parameters there.

    `lookups` are derived from the redacted session alone; `config` is deeply read-only data.
    """

    lookups: SessionLookups
    config: Mapping[str, JsonValue]


class Measured(msgspec.Struct, frozen=True):
    """A finite number that the evidence supports, what it was made of, and where to look."""

    value: int | float
    details: str = ""
    evidence: Evidence = Evidence()

    def __post_init__(self) -> None:
        """Refuse what no JSON file can hold and no threshold can judge."""
        if isinstance(self.value, bool) or not math.isfinite(self.value):
            msg = f"a measurement is a finite number, got {self.value!r}"
            raise ValueError(msg)


class Unavailable(msgspec.Struct, frozen=True):
    """The session does not hold the evidence that this grader needs.

    `reason` is a stable kebab-case code; `message` says which evidence is missing and how to
    record it.
    """

    reason: str
    message: str
    evidence: Evidence = Evidence()


Outcome: TypeAlias = Measured | Unavailable


class GraderSpec(msgspec.Struct, frozen=True):
    """One row of the registry.

    `version` is raised whenever the measured number can change. `threshold`, `minimum` and
    `maximum` are defaults in the grader's unit. `reading` says what a value means, `example` works
    one out; both are shown by `explain`, as `cost` and `source` are. `unavailable` says when there is
    no value; where it is empty, the docstring does.
    `check_config` says what is wrong with a configuration before any session is read. `needs_events`
    is true for a grader that looks at events themselves, of which a large session keeps none.
    """

    id: str
    name: str
    summary: str
    formula: str
    reading: str
    example: str
    evidence: str
    unit: str
    direction: str
    compute: Callable[[GraderInput], Outcome]
    version: int = 1
    unavailable: str = ""
    default: bool = True
    needs_events: bool = False
    threshold: int | float | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    config_keys: tuple[str, ...] = ()
    check_config: Callable[[Mapping[str, JsonValue]], list[str]] | None = None
    cost: str = "O(calls), over lookups that are already built"
    source: str = "Graders Specification 0.5.0, section 4"

    @property
    def description(self) -> str:
        """The summary, under the name that manifests use."""
        return self.summary
