"""The built-in graders, in registry order. Nothing registers itself."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from aw_graders.graders.families import (
    exploration,
    information,
    localization,
    loops,
    objectives,
    outputs,
    policy,
    process,
    provenance,
    recurrence,
    reference,
    retries,
    timing,
    tokens,
    tool_calls,
)
from aw_graders.graders.model import GraderSpec


def _by_id(specs: Iterable[GraderSpec]) -> Mapping[str, GraderSpec]:
    table: dict[str, GraderSpec] = {}
    for spec in specs:
        if spec.id in table:
            msg = f"two graders are called {spec.id!r}"
            raise ValueError(msg)
        table[spec.id] = spec
    return MappingProxyType(table)


BUILT_IN: Final = _by_id(
    (
        *tool_calls.GRADERS,
        *retries.GRADERS,
        *loops.GRADERS,
        *timing.GRADERS,
        *tokens.GRADERS,
        *outputs.GRADERS,
        # Trajectory graders, each only when it is asked for.
        *recurrence.GRADERS,
        *information.GRADERS,
        *policy.GRADERS,
        *exploration.GRADERS,
        *provenance.GRADERS,
        *objectives.GRADERS,
        *reference.GRADERS,
        *localization.GRADERS,
        *process.GRADERS,
    )
)
DEFAULT_IDS: Final = tuple(spec.id for spec in BUILT_IN.values() if spec.default)
