"""What a workflow may not say about the jobs that its graders run in."""

from collections.abc import Iterable
from typing import Final

from aw_graders.config.custom import Definition
from aw_graders.config.nodes import Entry, MapNode, Node, ScalarNode, entry_of
from aw_graders.config.positions import Report
from aw_graders.diagnostics import quoted

CONCLUSION: Final = "conclusion"
# Graders Specification 0.5.0, section 5: jobs that the compiler writes, and nobody else.
COMPILER_JOBS: Final = frozenset(
    {
        "activation",
        "agent",
        CONCLUSION,
        "detection",
        "evals",
        "graders",
        "pre_activation",
        "push_experiments_state",
        "safe_outputs",
    }
)
_STEPS: Final = "steps"
# What else makes a job do something of its author's.
_WORK: Final = frozenset({"container", "run", "services", "uses"})
_WORK_QUEUE: Final = "work-queue"


def check_jobs(roots: Iterable[MapNode], report: Report) -> None:
    """Report jobs that would take the place of the compiler's, or add work to conclusion.

    Takes: the settings of the workflow and of every file that it imports.
    Raises: nothing.
    Source: Graders Specification 0.5.0, section 5.
    """
    for root in roots:
        jobs = entry_of(root, "jobs")
        if jobs is not None and isinstance(jobs.value, MapNode):
            for job in jobs.value.entries:
                _check_job(job, report)


def _check_job(job: Entry, report: Report) -> None:
    id_ = _id(job.key)
    if id_ == CONCLUSION:
        _check_conclusion(job.value, report)
        return
    name = entry_of(job.value, "name")
    if id_ in COMPILER_JOBS:
        _refuse(job.key, job.key_span, report)
    elif name is not None and isinstance(name.value, ScalarNode):
        shown = str(name.value.value)
        if _id(shown) in COMPILER_JOBS:
            _refuse(shown, name.value.span, report)


def _refuse(name: str, span: tuple[int, int], report: Report) -> None:
    message = f"the job {quoted(name.strip())} is written by the compiler"
    report.add("config-reserved-job", message, span, "give the job another name")


def _check_conclusion(job: Node, report: Report) -> None:
    if not isinstance(job, MapNode):
        return
    for entry in job.entries:
        key = _id(entry.key)
        if key.endswith(_STEPS) or key in _WORK:
            message = f'"{CONCLUSION}" takes no {quoted(entry.key)}: it runs no code of a workflow'
            hint = "move it to a job of its own that needs the agent job"
            report.add("config-conclusion-steps", message, entry.key_span, hint)


def check_work_queue(
    roots: Iterable[MapNode], definitions: Iterable[Definition], report: Report
) -> None:
    """Report every enabled custom grader of a workflow that takes part in a work queue.

    A participant publishes no conclusion session, and that is all that a custom grader reads.
    Raises: nothing.
    Source: Graders Specification 0.5.0, section 5.
    """
    if all(entry_of(root, _WORK_QUEUE) is None for root in roots):
        return
    for definition in definitions:
        if definition.settings.enabled:
            id_ = quoted(definition.settings.id)
            message = f'grader {id_} has no session to read: "{_WORK_QUEUE}" publishes none'
            hint = "set enabled: false; built-in graders go on"
            report.add("config-work-queue", message, definition.place, hint)


def _id(name: str) -> str:
    """Return a name as Actions compares it, and as a person reads it."""
    return name.strip().casefold().replace("-", "_")
