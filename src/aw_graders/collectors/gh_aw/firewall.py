"""What the firewall and its proxy saw: requests to models, requests to hosts, and steering.

Source: unified session format, sections 1.3, 1.5 and 1.10.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aw_graders.collectors.gh_aw.fields import fields, project, request_of
from aw_graders.collectors.gh_aw.layout import Layout, joined
from aw_graders.collectors.gh_aw.run import Run
from aw_graders.collectors.gh_aw.source import Source, SourceWriter, time_of_row
from aw_graders.collectors.records import Record
from aw_graders.session import events

_COMPONENT: Final = "firewall"
_DETECTION: Final = "detection"
_TOKENS: Final = "token-usage.jsonl"
_AUDIT: Final = "audit.jsonl"
_ROUTING: Final = "model-routing.jsonl"
_SUFFIX: Final = ".jsonl"
# Copies of one log: the firewall's own, its audit's, then those of artifacts of their own.
_FOLDERS: Final = (
    "sandbox/firewall/logs",
    "sandbox/firewall/audit",
    "firewall-audit-logs",
    "firewall-logs",
)
_TOKEN_KIND: Final = "token_usage"  # noqa: S105 - the name of a kind of row
_STEERING: Final = "_steering"
_REQUEST_MARKS: Final = frozenset(
    {"usage", *events.REQUEST_ID, *events.INPUT_TOKENS, *events.OUTPUT_TOKENS}
)
_HTTP: Final = fields("host", "method", "status", "decision", "bytes", "durationMs")
_EVENT: Final = fields(
    "event",
    "level",
    "status",
    "message",
    "reason",
    "requestId",
    event=events.RETRY_EVENT,
    requestId=events.REQUEST_ID,
)
_SELECTION: Final = fields(
    *("schema", "stage", "purpose", "attempt", "classifierModel", "classifierEffort", "objective"),
    *("provider", "labels", "mode", "classifierAttempts", "degradedClassification"),
    *("degradedReason", "selectedId", "selectedProvider", "selectedModel", "selectedEffort"),
    *("wireModel", "endpoint", "router", "latencyMs", "requestId", "routed", "deviations"),
    *("requestedModel", "requestedEffort", "outcome", "status"),
    schema=("_schema",),
)


def firewall_sources(run: Run, layout: Layout) -> list[Source]:
    """Read the firewall's logs of the agent's job and of the detection job."""
    agent = _logs(layout, layout.agent, layout.firewall)
    if not any(map(_is_tokens, agent)):
        agent += _token_copy(layout, layout.agent, "agent")
    detection = _logs(layout, layout.detection, ())
    if not any(map(_is_tokens, detection)):
        detection += _token_copy(layout, layout.detection, _DETECTION)
    found: list[Source] = []
    for phase, paths in ((events.MAIN_PHASE, agent), (_DETECTION, detection)):
        for path in paths:
            found += run.source_of_rows(_COMPONENT, phase, path, _convert)
    return found


def has_requests(sources: Sequence[Source]) -> bool:
    """Tell whether the proxy counted the agent's requests."""
    return any(
        source.phase == events.MAIN_PHASE
        and any(event.type == events.FIREWALL_TOKEN_USAGE for event in source.events)
        for source in sources
    )


def _is_tokens(path: str) -> bool:
    return path.rsplit("/", 1)[-1] in {_TOKENS, "token_usage.jsonl"}


def _logs(layout: Layout, folders: Sequence[str], artifacts: Sequence[str]) -> list[str]:
    """List the logs, each once: a copy in a later folder is left out, even of an empty one."""
    roots = [joined(folder, name) for name in _FOLDERS for folder in folders]
    names: set[str] = set()
    chosen: list[str] = []
    has_tokens = False
    for root in dict.fromkeys((*roots, *artifacts)):
        paths = [
            path
            for path in layout.below(root, _SUFFIX)
            if path.removeprefix(f"{root}/") not in names
            # Token counts are copied to folders of other depths, too.
            and not (has_tokens and _is_tokens(path))
        ]
        names.update(path.removeprefix(f"{root}/") for path in paths)
        has_tokens = has_tokens or any(map(_is_tokens, paths))
        chosen += paths
    return chosen


def _token_copy(layout: Layout, folders: Sequence[str], job: str) -> list[str]:
    """Find the token counts outside the firewall's own folders: lying free, or for usage."""
    path = layout.first(folders, f"api-proxy-logs/{_TOKENS}", _TOKENS)
    path = path or layout.first(layout.usage, f"{job}/token_usage.jsonl")
    return [] if path is None else [path]


def _convert(writer: SourceWriter, record: Record) -> None:
    row = record.value
    name = writer.path.rsplit("/", 1)[-1]
    rest = time_of_row(row)
    said = next((row[key] for key in events.RETRY_EVENT if isinstance(row.get(key), str)), "")
    if said.endswith(_STEERING):
        writer.add("firewall.steering", project(row, _EVENT), rest, line=record.line)
    elif said == _TOKEN_KIND or (_is_tokens(name) and _counts(row)):
        data = request_of(row, writer.notes, record.line)
        writer.add(events.FIREWALL_TOKEN_USAGE, data, rest, line=record.line)
    elif name == _ROUTING:
        writer.add("firewall.model_routing", project(row, _SELECTION), rest, line=record.line)
    elif name == _AUDIT or ("host" in row and ("decision" in row or "method" in row)):
        writer.add("firewall.http_access", project(row, _HTTP), rest, line=record.line)
    else:
        writer.add("firewall.event", project(row, _EVENT), rest, line=record.line)


def _counts(row: Mapping[str, Any]) -> bool:
    """Tell whether a row of the token log is of a request."""
    return not _REQUEST_MARKS.isdisjoint(row)
