"""Repository-owned Bash evaluators: bounded, without credentials, and not a sandbox.

An evaluator is code that the repository trusts. What stands around it keeps accidents small; it
can read what its user can read.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from aw_graders import _json
from aw_graders._json import JsonValue, freeze, thaw
from aw_graders.config.executable import Executable
from aw_graders.processes.children import ChildError, Ended, run_child
from aw_graders.processes.fences import NOBODY, Fences, Group
from aw_graders.processes.privacy import become_private
from aw_graders.runtimes.limits import (
    EVALUATOR_SECONDS,
    MAX_EVALUATOR_MEMORY_BYTES,
    MAX_EVALUATOR_PROCESSES,
    MAX_OUTPUT_BYTES,
)
from aw_graders.runtimes.node import Ran
from aw_graders.runtimes.outcome import Answer, Failure, diagnostics_of

_BASH: Final = "/bin/bash"
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_SESSION: Final = "session.jsonl"
_EVALUATOR: Final = "evaluator.sh"
_WORK: Final = "work"
_GROUP: Final = Group(MAX_EVALUATOR_PROCESSES, MAX_EVALUATOR_MEMORY_BYTES)
_MAX_SAID_CHARACTERS: Final = 2000
_NOT_FOUND: Final = re.compile(r": line (\d+): ([^\s:]{1,100}): command not found")
_METRIC: Final[frozenset[str]] = frozenset({"id", "value"})
_MIB: Final = 1 << 20


def environment(session: str, config: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return everything that an evaluator finds in its environment: decision 60."""
    return {
        "PATH": _PATH,
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "GH_AW_SESSION_FILE": session,
        "GH_AW_GRADER_CONFIG": _json.compact(thaw(config)).decode(),
    }


def run_evaluator(grader: Executable, lines: Iterable[bytes]) -> Ran:
    """Run one evaluator over one session.

    Takes: a grader whose code is Bash; the lines of the redacted session's file.
    Returns: its answer; what breaks a rule or a bound is a `Failure`.
    Raises: OSError when the session cannot be staged.
    Cost: one start of Bash, then at most `EVALUATOR_SECONDS`.
    Source: Graders Specification 0.5.0, section 5; decisions 31 and 60.
    """
    # Where there are no namespaces, an evaluator could read this process's environment in /proc.
    become_private()
    root = Path(tempfile.mkdtemp(prefix="aw-"))
    try:
        session, script, work = root / _SESSION, root / _EVALUATOR, root / _WORK
        with session.open("wb") as file:
            file.writelines(lines)
        script.write_bytes(grader.code)
        session.chmod(0o400)
        script.chmod(0o400)
        work.mkdir(mode=0o700)
        if os.geteuid() == 0:
            # The evaluator does not run as root, and is to read what only its owner may.
            for path in (root, session, script, work):
                os.chown(path, NOBODY, NOBODY)
        ended = run_child(
            [_BASH, "--noprofile", "--norc", str(script), str(session)],
            seconds=EVALUATOR_SECONDS,
            output_bytes=MAX_OUTPUT_BYTES,
            environment=environment(str(session), grader.settings.config),
            folder=work,
            fences=Fences(("no-new-privileges",), group=_GROUP),
        )
    except ChildError as failure:
        return Ran(Failure(str(failure)))
    finally:
        _remove(root)
    return Ran(_answer(ended, str(root)), ended.fences)


def _remove(root: Path) -> None:
    """Remove a folder whatever the evaluator did to its rights."""

    def again(remove: Any, path: str, _: Any) -> None:
        parent = os.path.dirname(path)  # noqa: PTH120 - as rmtree hands it over
        for folder in (parent, path):
            if os.path.isdir(folder) and not os.path.islink(folder):  # noqa: PTH112, PTH114
                os.chmod(folder, 0o700)  # noqa: PTH101
        remove(path)

    shutil.rmtree(root, onerror=again)


def _answer(ended: Ended, root: str) -> Answer | Failure:
    if ended.timed_out:
        return Failure(f"timed out: the evaluator ran longer than {EVALUATOR_SECONDS:g} seconds")
    if ended.overflowed:
        stream = "standard output" if len(ended.stdout) >= MAX_OUTPUT_BYTES else "standard error"
        return Failure(f"the evaluator wrote more than {MAX_OUTPUT_BYTES:,} bytes to {stream}")
    if ended.breach == "processes":
        return Failure(f"the evaluator started more than {MAX_EVALUATOR_PROCESSES} processes")
    if ended.breach == "memory":
        limit = MAX_EVALUATOR_MEMORY_BYTES // _MIB
        return Failure(f"the evaluator used more than {limit:,} MiB of memory")
    if ended.status != 0:
        return _exit(ended, root)
    return read_metrics(ended.stdout)


def _exit(ended: Ended, root: str) -> Failure:
    """Say how an evaluator ended that did not end well, in its own words when it has some."""
    said = ended.stderr.decode("utf-8", "replace").replace(f"{root}/", "").replace(root, ".")
    missing = _NOT_FOUND.search(said)
    if missing is not None:
        line, command = missing.groups()
        return Failure(
            f'the command "{command}" is not in {_PATH}; install it there to run this evaluator',
            int(line),
        )
    how = (
        f"was ended by signal {-ended.status}"
        if ended.status < 0
        else f"ended with exit status {ended.status}"
    )
    said = " ".join("".join(c if c.isprintable() else " " for c in said).split())
    return Failure(
        f"the evaluator {how}: {said[:_MAX_SAID_CHARACTERS]}" if said else f"the evaluator {how}"
    )


def read_metrics(output: bytes) -> Answer | Failure:
    """Read the array of metrics that an evaluator printed.

    Returns: the first metric as the value, the others as diagnostics, all of them in order.
    Source: Graders Specification 0.5.0, section 5.
    """
    metrics = _array(output)
    if isinstance(metrics, Failure):
        return metrics
    seen: set[str] = set()
    for number, metric in enumerate(metrics):
        problem = _problem(metric, seen)
        if problem is not None:
            return Failure(f"metric {number} {problem}")
    rows = cast("Sequence[dict[str, JsonValue]]", metrics)
    first = cast("int | float | None", rows[0]["value"])
    frozen = tuple(cast("Mapping[str, JsonValue]", freeze(row)) for row in rows)
    return Answer(
        first,
        message=f'the metric "{rows[0]["id"]}" is null' if first is None else None,
        diagnostics=diagnostics_of(frozen) or None,
        metrics=frozen,
    )


def _array(output: bytes) -> Sequence[JsonValue] | Failure:
    """Read the output as an array that holds something."""
    if b"\0" in output:
        return Failure("the output holds a NUL byte")
    if not output.strip():
        return Failure("the evaluator printed nothing; it has to print one JSON array of metrics")
    try:
        decoded = _json.decode_counting(output)
    except _json.JsonError as failure:
        return Failure(f"the output is no JSON array: {failure}")
    if decoded.duplicate_keys:
        return Failure("the output has a key twice in one object")
    if not isinstance(decoded.value, list):
        return Failure("the output is no array of metrics")
    return decoded.value or Failure("the array of metrics is empty")


def _problem(metric: object, seen: set[str]) -> str | None:
    """Say what is wrong with one metric, and remember its id."""
    if not isinstance(metric, dict):
        return "is no object"
    fields = cast("dict[str, object]", metric)
    if frozenset(fields) != _METRIC:
        return 'has other fields than "id" and "value"'
    id_, value = fields["id"], fields["value"]
    if not isinstance(id_, str) or not id_.strip():
        return "has no id that is text and not blank"
    if id_ in seen:
        return f'has the id "{id_}" of an earlier one'
    seen.add(id_)
    if isinstance(value, bool) or not (value is None or isinstance(value, int | float)):
        return "has a value that is no number and not null"
    return None
