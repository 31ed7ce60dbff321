"""A custom script over a small session, to be timed against the bare engine."""

from collections.abc import Callable
from pathlib import Path

from aw_graders import _json
from aw_graders.config.executable import executable
from aw_graders.graders import GraderSettings
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import redact
from aw_graders.runtimes.node import run_script, session_text
from aw_graders.runtimes.outcome import Failure
from aw_graders.runtimes.snapshot import lookups_snapshot
from aw_graders.session import read_session

_SCRIPT = b"""\
const {stats} = helpers.createSessionLookups(session);
return stats.requests ? stats.toolCalls / stats.requests : null;
"""


def scripted(session: Path) -> Callable[[], None]:
    """Prepare a run of a script: staging, one process behind its fences, and its answer."""
    redacted = redact(read_session(session.read_bytes()).session).session
    lines = [_json.compact(event.to_json()) + b"\n" for event in redacted.events]
    snapshot = lookups_snapshot(redacted, create_session_lookups(redacted))
    settings = GraderSettings("calls-per-step", unit="ratio", direction="lower_is_better")
    grader = executable(settings, "inline", _SCRIPT)

    def run() -> None:
        ran = run_script(grader, session_text(lines, snapshot))
        if isinstance(ran.answer, Failure):
            raise TypeError(ran.answer.error)

    return run
