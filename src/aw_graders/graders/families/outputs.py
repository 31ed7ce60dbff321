"""What the run produced through safe outputs."""

from typing import Final

from aw_graders.diagnostics.words import counted
from aw_graders.graders.model import (
    HIGHER,
    GraderInput,
    GraderSpec,
    Measured,
    Outcome,
    Unavailable,
)


def _artifact_production(given: GraderInput) -> Outcome:
    """Count the safe-output results.

    Counts: results, never requests: what was asked for is not yet done.
    Unit: count, 0 or more. Higher is better.
    Unavailable: `results-not-observed`, when no result source was collected; an empty one is 0.
    Cost: O(1), over lookups that are already built.
    Source: Graders Specification 0.5.0, section 4; decision 3.
    """
    statistics = given.lookups.statistics
    if statistics.safe_output_results is None:
        return Unavailable(
            "results-not-observed",
            "no safe-output results were observed; collect safe-output-items.jsonl",
        )
    details = f"{counted(statistics.safe_output_results, 'result')}, {counted(statistics.safe_output_requests, 'request')}"
    if statistics.safe_output_errors:
        details += f", {counted(statistics.safe_output_errors, 'error')}"
    return Measured(statistics.safe_output_results, details, statistics.safe_results)


GRADERS: Final = (
    GraderSpec(
        id="artifact-production",
        name="Artifact Production",
        summary="Safe-output result count",
        formula="number of safe_output.result events",
        reading="2 means that two safe outputs were applied.",
        example="2 results, 3 requests: 2",
        evidence="the safe-outputs job was observed",
        unit="count",
        direction=HIGHER,
        compute=_artifact_production,
        cost="O(1), over lookups that are already built",
    ),
)
