"""Sessions with every kind of odd evidence about tool calls and requests."""

from typing import Any

from hypothesis import strategies as st

_IDS = st.sampled_from(["a", "b", "c", "", None])
_OWNERS = st.sampled_from([None, None, "s", "t"])
_NAMES = st.sampled_from(["view", "bash", None])
_INPUTS = st.sampled_from([None, {}, {"n": 1}, {"n": 1.0}, {"n": "1"}, [1]])
_PATHS = st.sampled_from(["agent-session.jsonl", "other.jsonl"])
_PHASES = st.sampled_from(["agent", "agent", "agent", "detection", "evals"])
_COUNTS = st.sampled_from([None, 0, 5, 7, -1, 1.5, "3", 2**60])


def _without_none(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}


@st.composite
def _data(draw: Any) -> tuple[str, dict[str, Any]]:
    kind = draw(
        st.sampled_from(
            ["tool.execution_start"] * 3
            + ["tool.execution_complete"] * 3
            + ["firewall.token_usage", "mcp.tool_call", "assistant.message"]
            + ["session.init", "subagent.started"]
        )
    )
    data = {"toolCallId": draw(_IDS), "toolName": draw(_NAMES)}
    if kind == "tool.execution_start":
        data["input"] = draw(_INPUTS)
    elif kind == "tool.execution_complete":
        data |= {
            "success": draw(st.sampled_from([True, False, None])),
            "exitCode": draw(st.sampled_from([None, 0, 1])),
        }
    elif kind == "firewall.token_usage":
        data = {
            "usage": _without_none({"inputTokens": draw(_COUNTS), "outputTokens": draw(_COUNTS)}),
            "durationMs": draw(_COUNTS),
        }
    if draw(st.integers(0, 3)) == 0 or kind in {"session.init", "subagent.started"}:
        data |= {"sessionId": draw(_OWNERS), "agentId": draw(_OWNERS)}
        data["parentToolCallId"] = draw(_OWNERS)
    return kind, _without_none(data)


@st.composite
def event_lists(draw: Any, *, disorder: bool = False) -> list[dict[str, Any]]:
    """Events of a few sources, without a header, indexed in order unless `disorder` allows less."""
    index: dict[tuple[str, str], int] = {}
    events: list[dict[str, Any]] = []
    for kind, data in draw(st.lists(_data(), max_size=25)):
        path, phase = draw(_PATHS), draw(_PHASES)
        place = index.get((path, phase), 0)
        if disorder:
            place = max(0, place + draw(st.sampled_from([0, 0, 0, 0, -1, -2, 3])))
        index[path, phase] = place + 1
        provenance = {"component": "agent", "phase": phase, "path": path, "index": place}
        events.append({"type": kind, "data": data, "provenance": provenance})
    return events
