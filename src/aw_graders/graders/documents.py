"""The results document, version 2: what is written, and nothing that session or config did not say."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from aw_graders import _json
from aw_graders.graders.engine import Result
from aw_graders.lookups import RunContext

SCHEMA_VERSION: Final = 2
BUILT_IN_SOURCE: Final = "builtin"


def results_document(
    results: Sequence[Result], context: RunContext, *, partial: bool = False
) -> dict[str, Any]:
    """Make the `grader_results.json` document.

    Takes: results in manifest order; `partial` when evidence was skipped while reading. A session
        whose collector could not use something is partial whoever reads it.
    Source: Graders Specification 0.5.0, section 5; decisions 13, 15 and 55.
    """
    document: dict[str, Any] = {"version": SCHEMA_VERSION, "run": _run(results, context)}
    shown = _context(context)
    if shown:
        document["context"] = shown
    document["partial"] = partial or context.warnings > 0
    document["results"] = [result_entry(result) for result in results]
    return document


def result_entry(result: Result) -> dict[str, Any]:
    """Make one entry of `results`. Keys without a value are left out, except those every entry has."""
    entry: dict[str, Any] = {"id": result.id, "name": result.name}
    if result.description:
        entry["description"] = result.description
    entry |= {
        "value": result.value,
        "unit": result.unit,
        "passed": result.passed,
        "status": result.status,
        "direction": result.direction,
        "threshold": result.threshold,
        "source": result.source,
        "implementation": _implementation(result),
    }
    optional = {
        "reason": result.reason,
        "message": result.message,
        "details": result.details,
        "error": result.error,
    }
    entry |= {key: value for key, value in optional.items() if value is not None}
    if result.metrics is not None:
        entry["metrics"] = [_json.thaw(metric) for metric in result.metrics]
    if result.diagnostics is not None:
        entry["diagnostics"] = _json.thaw(result.diagnostics)
    if result.source != BUILT_IN_SOURCE:
        # What a script looked at is not known.
        return entry
    entry["evidence"] = {
        "count": result.evidence.count,
        "places": [{"path": place.path, "index": place.index} for place in result.evidence.places],
    }
    return entry


def _implementation(result: Result) -> dict[str, Any]:
    identity: dict[str, Any] = {"id": result.implementation, "version": result.version}
    if result.digest is not None:
        identity["digest"] = result.digest
    return identity


def _run(results: Sequence[Result], context: RunContext) -> dict[str, Any]:
    counts = Counter(result.status for result in results)
    run: dict[str, Any] = {}
    if context.run_id is not None:
        run["id"] = context.run_id
    if context.attempt is not None:
        run["attempt"] = context.attempt
    return run | {
        "graderCount": len(results),
        "passed": counts["pass"],
        "failed": counts["fail"],
        "errors": counts["error"],
        "unavailable": counts["unavailable"],
        "judged": sum(result.passed is not None for result in results),
    }


def _context(context: RunContext) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if context.experiments:
        shown["experiments"] = _json.thaw(context.experiments)
    if context.evals:
        answers = Counter(answer for _, answer in context.evals)
        questions: dict[str, Counter[str]] = {}
        for question, answer in context.evals:
            questions.setdefault(question, Counter())[answer] += 1
        shown["evals"] = {
            "total": len(context.evals),
            **{key: answers[key] for key in ("yes", "no", "unknown")},
            "byQuestion": {
                question: {key: counts[key] for key in ("yes", "no", "unknown")}
                for question, counts in sorted(questions.items())
            },
        }
    return shown
