"""How the jobs of a run ended: results of execution, and the one record of the agent's errors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from aw_graders._json import JsonValue
from aw_graders.collectors.gh_aw.agent import Execution
from aw_graders.collectors.gh_aw.fields import fields, project
from aw_graders.collectors.gh_aw.layout import Layout
from aw_graders.collectors.gh_aw.limits import MAX_EXIT_CODE_BYTES
from aw_graders.collectors.gh_aw.run import Run
from aw_graders.collectors.gh_aw.source import Source, time_of_row
from aw_graders.collectors.normalise import is_mapping, list_of
from aw_graders.session import events

_COMPONENT: Final = "execution"
_DETECTION: Final = "detection"
_EVALS: Final = "evals"
_RESULT: Final = fields(
    *("outcome", "conclusion", "exitCode", "durationMs", "startedAt", "finishedAt")
)
# A list of the record, and the fields of a single error that belong in it.
_LISTS: Final = (
    ("categories", ("category",)),
    ("errorCodes", ("errorCode", "error_code", "code")),
    ("errorTypes", ("errorType", "error_type")),
)
_EXIT_CODE: Final = fields("exitCode")
_MAX_EXIT_CODE: Final = 255


def execution_sources(run: Run, layout: Layout, native: Execution | None) -> list[Source]:
    """Read how the agent, detection and the evals ended.

    Takes: what the agent's normalised session says of it; a file of its own goes before that.
    """
    return [*_results(run, layout), *_agent_execution(run, layout, native)]


def _results(run: Run, layout: Layout) -> list[Source]:
    places: list[tuple[str, Sequence[str], tuple[str, ...], str]] = [
        (events.MAIN_PHASE, layout.agent, ("agent_execution.json",), "agent/execution.json"),
        (
            _DETECTION,
            layout.detection,
            ("detection_execution.json", "execution.json"),
            "detection/execution.json",
        ),
        (_EVALS, layout.evals, ("evals_execution.json", "execution.json"), "evals/execution.json"),
    ]
    found: list[Source] = []
    for phase, folders, names, copy in places:
        path = layout.first(folders, *names) or layout.first(layout.usage, copy)
        if path is None:
            continue
        writer = run.writer(_COMPONENT, phase, path)
        document = run.document(path)
        if is_mapping(document):
            data = project(document, _RESULT)
            writer.add(events.EXECUTION_RESULT, data, time_of_row(document))
        elif document is not None:
            message = "the document is no object and was skipped"
            writer.notes.add("non-object-record", message, None, lossy=True)
        found += run.close(writer)
    return found


def _agent_execution(run: Run, layout: Layout, native: Execution | None) -> list[Source]:
    """Make the one record of it: from the errors' own file, the session, or the exit code."""
    errors = layout.first(layout.agent, "agent-errors.jsonl")
    code_file = layout.first(layout.agent, "agent_execution_exit_code.txt")
    code = None if code_file is None else _exit_code_of(run, code_file)
    native_data: Mapping[str, Any] = {} if native is None else native.data
    rows: list[Mapping[str, Any]] = []
    if errors is not None:
        path, rows = errors, [_data_of(record.value) for record in run.rows(errors)]
        if not rows and run.notes.is_damaged(errors):
            rows = [native_data]
    elif native is not None:
        path, rows = native.path, [native_data]
    elif code_file is not None and code is not None:
        path = code_file
    else:
        return []
    data: dict[str, JsonValue] = {name: _texts(rows, name, single) for name, single in _LISTS}
    last: Mapping[str, Any] = {"exitCode": code}
    for row in (*reversed(rows), native_data, last):
        found = project(row, _EXIT_CODE).get("exitCode")
        if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= _MAX_EXIT_CODE:
            data["exitCode"] = found
            break
    writer = run.writer(_COMPONENT, events.MAIN_PHASE, path)
    writer.add(events.AGENT_EXECUTION, data)
    return [writer.source()]


def _data_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Take a row's data when it is an event, else the row itself as one error."""
    data = row.get("data")
    return data if is_mapping(data) else row


def _texts(
    rows: Iterable[Mapping[str, Any]], name: str, single: tuple[str, ...]
) -> list[JsonValue]:
    """Collect the distinct texts of a list over all rows, sorted."""
    found: set[str] = set()
    for row in rows:
        values = [*list_of(row.get(name)), *(row.get(key) for key in single)]
        found.update(value for value in values if isinstance(value, str) and value)
    return [*sorted(found)]


def _exit_code_of(run: Run, path: str) -> int | None:
    content = run.content(path, MAX_EXIT_CODE_BYTES)
    text = b"" if content is None else content.strip()
    if text.isdigit() and int(text) <= _MAX_EXIT_CODE:
        return int(text)
    if content is not None:
        message = "the file holds no exit code"
        run.notes.of(path).add("invalid-number", message, None, lossy=True)
    return None
