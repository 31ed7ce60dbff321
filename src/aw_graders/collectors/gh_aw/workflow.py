"""What the run is: workflow info, prompts, the routing outcome, and GitHub's rate limits."""

from typing import Final

from aw_graders._json import JsonValue
from aw_graders.collectors.gh_aw.fields import fields, project
from aw_graders.collectors.gh_aw.layout import Layout
from aw_graders.collectors.gh_aw.limits import MAX_PROMPT_BYTES
from aw_graders.collectors.gh_aw.run import Run
from aw_graders.collectors.gh_aw.source import Source, SourceWriter, time_of_row
from aw_graders.collectors.normalise import is_mapping
from aw_graders.collectors.records import Record
from aw_graders.session import events

_ACTIVATION: Final = "activation"
_INFO: Final = fields(
    "dryRun",
    "engineId",
    "agentVersion",
    "cliVersion",
    "awfVersion",
    "mcpgVersion",
    "model",
    "requestedModel",
    "modelRouting",
    "triggerType",
    "workflow",
    "repository",
    "runId",
    "runAttempt",
    "episode",
    mcpgVersion=("awmg_version",),
    triggerType=("event_name",),
    workflow=("workflow_name",),
)
_ROUTING: Final = (
    *("status", "source", "provider", "wireModel", "model", "effort", "effectiveEndpoint"),
    *("selectedEndpoint", "mode", "selectedId", "routerVersion", "appliedEffort"),
)
_MODEL_ROUTING: Final = fields(*_ROUTING)
_OUTCOME: Final = fields(
    *("status", "wireModel", "effectiveEndpoint", "selectedEndpoint", "effort", "appliedEffort")
)
_RATE_LIMIT: Final = fields(
    *("source", "credentialSource", "operation", "resource", "limit", "remaining", "used"),
    *("reset", "attempt", "delayMs", "status"),
)


def info_sources(run: Run, layout: Layout) -> list[Source]:
    """Read what the activation job said of the run; the first file there is counts."""
    path = layout.first(layout.activation, "aw_info.json")
    path = path or layout.first(layout.usage, "aw_info.json")
    path = path or layout.first(layout.agent, "aw_info.json")
    if path is None:
        return []
    writer = run.writer("workflow", _ACTIVATION, path)
    row = run.document(path)
    if is_mapping(row):
        data = project(row, _INFO)
        routing = data.get("modelRouting")
        if is_mapping(routing):
            data["modelRouting"] = project(routing, _MODEL_ROUTING)
        writer.add(events.WORKFLOW_INFO, data, time_of_row(row))
    elif row is not None:
        _not_an_object(writer)
    return run.close(writer)


def prompt_sources(run: Run, layout: Layout) -> list[Source]:
    """Read the prompts; a prompt in one piece, as older runs have it, is the user's."""
    places = (*layout.agent, *layout.activation)
    system = layout.first(places, "aw-prompts/system.txt")
    user = layout.first(places, "aw-prompts/user.txt")
    if system is None and user is None:
        user = layout.first(places, "aw-prompts/prompt.txt", "prompt.txt")
    found: list[Source] = []
    for path, kind in ((system, "prompt.system"), (user, "prompt.user")):
        content = None if path is None else run.content(path, MAX_PROMPT_BYTES)
        if path is None or content is None:
            continue
        writer = run.writer("prompt", _ACTIVATION, path)
        text = content.decode("utf-8", "replace")
        if text.encode() != content:
            message = "bytes that are no UTF-8 were replaced"
            writer.notes.add("invalid-utf-8", message, None, lossy=False)
        writer.add(kind, {"content": text})
        found += run.close(writer)
    return found


def outcome_sources(run: Run, layout: Layout) -> list[Source]:
    """Read how the router's choice was applied, which stands with the agent's own evidence."""
    path = layout.first(layout.agent, "agent/awf-routing-outcome.json", "awf-routing-outcome.json")
    if path is None:
        return []
    writer = run.writer("agent", events.MAIN_PHASE, path)
    row = run.document(path)
    if is_mapping(row):
        writer.add("model_routing.outcome", project(row, _OUTCOME), time_of_row(row))
    elif row is not None:
        _not_an_object(writer)
    return run.close(writer)


def rate_limit_sources(run: Run, layout: Layout) -> list[Source]:
    """Read what GitHub's API left the run."""
    places = tuple(dict.fromkeys((*layout.agent, *layout.usage, *layout.activation)))
    path = layout.first(places, "github_rate_limits.jsonl")
    if path is None:
        return []

    def convert(writer: SourceWriter, record: Record) -> None:
        data: dict[str, JsonValue] = project(record.value, _RATE_LIMIT)
        rest = time_of_row(record.value)
        writer.add("github_api.rate_limit", data, rest, line=record.line)

    return run.source_of_rows("github_api", "workflow", path, convert)


def _not_an_object(writer: SourceWriter) -> None:
    message = "the document is no object and was skipped"
    writer.notes.add("non-object-record", message, None, lossy=True)
