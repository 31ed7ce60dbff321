"""Custom graders over one redacted session: one fresh process for each, whoever asks for it."""

from collections.abc import Iterable, Sequence

import msgspec

from aw_graders import _json
from aw_graders.config.custom import INLINE
from aw_graders.config.executable import Executable
from aw_graders.graders import Result
from aw_graders.lookups import SessionLookups
from aw_graders.redaction import Redaction
from aw_graders.runtimes.bash import run_evaluator
from aw_graders.runtimes.node import Ran, SessionText, run_script, session_text
from aw_graders.runtimes.outcome import Failure, result_of
from aw_graders.runtimes.snapshot import lookups_snapshot
from aw_graders.session import Event


class CustomRun(msgspec.Struct, frozen=True):
    """One custom grader that ran: its result, which fences stood, and where it failed, if it did."""

    grader: Executable
    result: Result
    fences: tuple[str, ...]
    failure: Failure | None = None


def run_custom(
    graders: Iterable[Executable], redaction: Redaction, lookups: SessionLookups
) -> tuple[CustomRun, ...]:
    """Run custom graders, each alone; one that fails is a result, and the others go on.

    Takes: the graders, whose settings say whether they run; a redacted session, and its lookups.
    Returns: a run for each enabled grader, in the order of the ids.
    Raises: OSError when the session cannot be staged for an evaluator.
    Cost: for each, one start of Node or Bash and one loading of the session.
    Source: Graders Specification 0.5.0, section 5; decision 61.
    """
    chosen = sorted(
        (grader for grader in graders if grader.settings.enabled), key=lambda item: item.id
    )
    events = redaction.session.events
    text: SessionText | None = None
    runs: list[CustomRun] = []
    for grader in chosen:
        if grader.source == INLINE:
            if text is None:
                snapshot = lookups_snapshot(redaction.session, lookups)
                text = session_text(_lines(events), snapshot)
            ran = run_script(grader, text)
        else:
            ran = run_evaluator(grader, _lines(events))
        runs.append(_judged(grader, ran))
    return tuple(runs)


def _judged(grader: Executable, ran: Ran) -> CustomRun:
    failure = ran.answer if isinstance(ran.answer, Failure) else None
    return CustomRun(grader, result_of(grader, ran.answer), ran.fences, failure)


def _lines(events: Sequence[Event]) -> Iterable[bytes]:
    return (_json.compact(event.to_json()) + b"\n" for event in events)
