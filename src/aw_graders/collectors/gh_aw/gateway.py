"""What the MCP gateway saw: calls, messages, and what its policies stopped."""

from collections.abc import Mapping
from typing import Any, Final

from aw_graders import _json
from aw_graders._json import JsonValue
from aw_graders.collectors.gh_aw.fields import error_of, fields, project
from aw_graders.collectors.gh_aw.layout import Layout
from aw_graders.collectors.gh_aw.run import Run
from aw_graders.collectors.gh_aw.source import Source, SourceWriter, time_of_row
from aw_graders.collectors.normalise import is_mapping
from aw_graders.collectors.records import Record
from aw_graders.session import events

_COMPONENT: Final = "mcp"
_FOLDER: Final = "mcp-logs"
_DETECTION: Final = "detection"
_KINDS: Final = {
    "REQUEST": events.MCP_RPC_REQUEST,
    "rpc_request": events.MCP_RPC_REQUEST,
    "RESPONSE": events.MCP_RPC_RESPONSE,
    "rpc_response": events.MCP_RPC_RESPONSE,
    "DIFC_FILTERED": "mcp.difc.filtered",
    "difc_filtered": "mcp.difc.filtered",
    "GUARD_POLICY_BLOCKED": "mcp.guard.blocked",
    "tool_call": events.MCP_TOOL_CALL,
    "rpc_call": events.MCP_TOOL_CALL,
}
_CALL: Final = fields(
    "serverName",
    "direction",
    "rpcId",
    "method",
    "toolName",
    "toolCallId",
    "requestId",
    "durationMs",
    "inputSize",
    "outputSize",
    "status",
    "reason",
    "error",
    serverName=events.SERVER_NAME,
    toolName=events.TOOL_NAME,
    toolCallId=events.TOOL_CALL_ID,
    requestId=events.REQUEST_ID,
    durationMs=(*events.DURATION_MS, "duration"),
)
_OTHER: Final = fields(
    "event",
    "level",
    "status",
    "message",
    "reason",
    "requestId",
    "serverName",
    event=events.RETRY_EVENT,
    requestId=events.REQUEST_ID,
    serverName=events.SERVER_NAME,
)


def gateway_sources(run: Run, layout: Layout) -> list[Source]:
    """Read every log of the gateway, of the agent's job and of the detection job."""
    found: list[Source] = []
    for phase, folders in ((events.MAIN_PHASE, layout.agent), (_DETECTION, layout.detection)):
        for path in layout.first_below(folders, _FOLDER, ".jsonl"):
            found += run.source_of_rows(_COMPONENT, phase, path, _convert)
    return found


def _convert(writer: SourceWriter, record: Record) -> None:
    row = record.value
    kind = _kind(row)
    if kind is None:
        data = project(row, _OTHER)
    else:
        data = {**_message(row), **project(row, _CALL)}
        if "error" in data:
            data["error"] = error_of(data["error"])
    if isinstance(row.get("retry"), bool):
        # What a grader counts must not be lost with the fields that are left out.
        data["retry"] = row["retry"]
    writer.add(kind or "mcp.event", data, time_of_row(row), line=record.line)


def _kind(row: Mapping[str, Any]) -> str | None:
    """Find the first name of a kind that is known; anything else is an event of its own."""
    for key in events.RETRY_EVENT:
        value = row.get(key)
        if isinstance(value, str) and value in _KINDS:
            return _KINDS[value]
    return None


def _message(row: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Read the JSON-RPC message in a row: what it asks for, never its arguments or its body."""
    payload = row.get("payload")
    if isinstance(payload, str):
        try:
            payload = _json.decode(payload.encode("utf-8", "replace"))
        except _json.JsonError:
            return {}
    if not is_mapping(payload):
        return {}
    data: dict[str, JsonValue] = {}
    if "id" in payload:
        data["rpcId"] = payload["id"]
    if "method" in payload:
        data["method"] = payload["method"]
    params = payload.get("params")
    if payload.get("method") == "tools/call" and is_mapping(params) and "name" in params:
        data["toolName"] = params["name"]
    if "error" in payload:
        data["error"] = payload["error"]
    result = payload.get("result")
    if is_mapping(result) and result.get("isError") is True:
        # MCP's own flag of a call that failed; the body that says why is not kept.
        data["status"] = "error"
    return data
