"""Claude rows to events."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aw_graders import _json
from aw_graders.collectors import Collected, SourceFile
from aw_graders.collectors.claude import COLLECTOR
from aw_graders.collectors.registry import detect
from aw_graders.session import Session, encode_jsonl, read_session

TIME = "2026-05-01T10:00:00Z"


def line(**row: Any) -> bytes:
    return _json.compact(row) + b"\n"


def assistant(message_id: str | None, *content: Any, usage: Any = None, **row: Any) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "model": "model-a", "content": list(content)}
    if message_id is not None:
        message["id"] = message_id
    if usage is not None:
        message["usage"] = usage
    return line(type="assistant", timestamp=TIME, message=message, **row)


def user(*content: Any, **row: Any) -> bytes:
    return line(type="user", message={"role": "user", "content": list(content)}, **row)


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


def call(call_id: str, name: str = "Bash", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": fields}


def answer(call_id: str, content: Any = "ok", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def collect(*contents: bytes, names: tuple[str, ...] = ("a.jsonl", "b.jsonl")) -> Collected:
    files = [SourceFile(name, content) for name, content in zip(names, contents, strict=False)]
    collected = COLLECTOR.collect(files)
    written = read_session(encode_jsonl(Session.of(collected.events)))
    assert written.session.events[1:] == collected.events
    return collected


def found(collected: Collected, kind: str) -> list[dict[str, Any]]:
    return [event.to_json() for event in collected.events if event.type == kind]


def codes(collected: Collected) -> list[tuple[str, bool]]:
    return [(note.code, note.lossy) for note in collected.notes]


def test_a_request_is_its_message_with_the_largest_counts() -> None:
    collected = collect(
        assistant("m", text("a"), usage={"input_tokens": 3, "output_tokens": 2})
        + assistant("m", text("b"), usage={"input_tokens": 3, "output_tokens": 41}, requestId="r")
        + assistant(None, text("c"), usage={"output_tokens": 1}, requestId="r2")
        + assistant(None, text("d"), usage={"output_tokens": 1}, uuid="u")
    )
    reports = found(collected, "usage.report")
    assert [report["data"]["requestId"] for report in reports] == ["m", "r2", "u"]
    assert reports[0]["data"] == {
        "requestId": "m",
        "model": "model-a",
        "purpose": "agent",
        "usage": {"inputTokens": 3, "outputTokens": 41, "inputTokensIncludeCache": False},
    }
    assert reports[0]["timestamp"] == TIME
    assert [event["data"]["content"] for event in found(collected, "assistant.message")] == list(
        "abcd"
    )
    assert [event.provenance.index for event in collected.events] == list(range(7))


def test_a_resumed_file_repeats_nothing() -> None:
    old = user(text("go"), uuid="u1", sessionId="s1") + assistant(
        "m1", call("t1", command="a"), usage={"output_tokens": 1}, uuid="u2", sessionId="s1"
    )
    result = user(answer("t1"), uuid="u3")
    new = old.replace(b'"s1"', b'"s2"') + result + assistant("m2", text("x"), usage={}, uuid="u4")
    collected = collect(old + result, new)
    assert len(found(collected, "usage.report")) == 2
    assert len(found(collected, "tool.execution_start")) == 1
    assert len(found(collected, "tool.execution_complete")) == 1
    assert len(found(collected, "user.message")) == 1
    assert len(found(collect(new), "usage.report")) == 2


def test_calls_and_results() -> None:
    collected = collect(
        assistant("m", call("t1", c=1), call("t1", c=1), call("t1", c=2), call("t2"))
        + user(answer("t1"), answer("t1", "no", is_error=True), answer("t1"))
        + user({"type": "web_search_tool_result", "tool_use_id": "t9", "content": []})
        + assistant("n", {"type": "tool_use"})
    )
    starts = [event["data"] for event in found(collected, "tool.execution_start")]
    assert [(start["toolCallId"], start["input"]) for start in starts] == [
        ("t1", {"c": 1}),
        ("t1", {"c": 2}),
        ("t2", {}),
    ]
    done = [event["data"] for event in found(collected, "tool.execution_complete")]
    assert done[:2] == [
        {"toolCallId": "t1", "success": True, "output": "ok"},
        {"toolCallId": "t1", "success": False, "isError": True, "output": "no"},
    ]
    assert [data["toolCallId"] for data in done[2:]] == ["t9"]
    assert codes(collected) == [("call-without-id-and-name", True), ("stray-tool-result", False)]


def test_a_result_without_id_answers_the_open_call_without_id() -> None:
    collected = collect(
        line(type="tool_use", name="bash", input={})
        + line(type="tool_result", output="x")
        + assistant("m", {"type": "tool_use", "name": "Read"})
        + user({"type": "tool_result", "content": "y"})
    )
    done = [event["data"] for event in found(collected, "tool.execution_complete")]
    assert [(data["toolName"], data["output"]) for data in done] == [("bash", "x"), ("Read", "y")]


def test_errors_of_the_service_are_no_requests() -> None:
    message = {"id": "e", "model": "<synthetic>", "content": [text("limit")], "usage": {}}
    collected = collect(
        line(type="assistant", message=message, error="rate_limit", apiErrorStatus=429)
    )
    assert [event["data"] for event in found(collected, "session.error")] == [
        {"message": "limit", "errorType": "rate_limit", "statusCode": 429}
    ]
    assert len(collected.events) == 1


def test_a_stream() -> None:
    stream = (
        line(type="system", subtype="init", session_id="s", model="model-a", cwd="/w")
        + assistant("m", {"type": "thinking", "thinking": "t"}, parent_tool_use_id="t0")
        + line(type="system", subtype="compact_boundary", content="compacted")
        + line(
            type="result", subtype="success", session_id="s", num_turns=2, duration_ms=4200,
            total_cost_usd=0.1, is_error=True, usage={"input_tokens": 7},
        )
    )  # fmt: skip
    collected = collect(stream)
    assert [event.to_json()["data"] for event in collected.events] == [
        {"sourceEngine": "claude", "model": "model-a", "sessionId": "s", "cwd": "/w"},
        {"content": "t", "messageId": "m"},
        {"message": "compacted", "status": "compact_boundary"},
        {
            "sessionId": "s",
            "numTurns": 2,
            "durationMs": 4200,
            "totalCostUsd": 0.1,
            "status": "error",
            "usage": {"inputTokens": 7, "inputTokensIncludeCache": False},
        },
    ]
    assert collected.events[1].rest["parentToolUseId"] == "t0"
    array = b"[" + stream.strip().replace(b"\n", b",") + b"]"
    assert collect(array).events == collected.events
    assert collect(b"npm warn\n" + array + b"\nbye\n").events == collected.events


def test_a_sub_agent_in_its_own_file_is_linked_before_its_rows() -> None:
    main = assistant("m", call("t1", "Task", prompt="p"), usage={}) + user(
        answer("t1", [text("agentId: a1 (for resuming)")])
    )
    own = user(text("p"), isSidechain=True, agentId="a1") + assistant(
        "s", text("x"), usage={}, isSidechain=True, agentId="a1"
    )
    collected = collect(main, own)
    (started,) = found(collected, "subagent.started")
    assert (started["agentId"], started["data"]) == (
        "a1",
        {"invocationId": "a1", "toolCallId": "t1"},
    )
    assert (started["provenance"]["path"], started["provenance"]["index"]) == ("b.jsonl", 0)
    reports = found(collected, "usage.report")
    assert [report["data"]["purpose"] for report in reports] == ["agent", "subagent"]
    (alone,) = found(collect(main), "subagent.started")
    assert alone["provenance"]["path"] == "a.jsonl"


def test_a_side_chain_without_agent_id_gets_one_of_its_first_row() -> None:
    rows = (
        assistant("m", call("t1", "Task", prompt="p"))
        + user(text("p"), isSidechain=True, uuid="r", parentUuid=None)
        + assistant("s", text("x"), usage={}, isSidechain=True, uuid="q", parentUuid="r")
        + user(text("other"), isSidechain=True, uuid="r2", parentUuid=None)
    )
    collected = collect(rows)
    agents = [event.rest.get("agentId") for event in collected.events[1:]]
    assert agents == ["sidechain-r"] * 4 + ["sidechain-r2"]
    (started,) = found(collected, "subagent.started")
    assert started["data"] == {"invocationId": "sidechain-r", "toolCallId": "t1"}


def test_rows_of_the_wrong_shape() -> None:
    collected = collect(
        line(type="assistant", timestamp=12345, message="oops")
        + line(type="assistant", message={"id": "m", "content": [None, 7], "usage": []})
        + line(type="user", message={"role": "user", "contents": []})
        + assistant("n", usage={"input_tokens": "20", "cache_read_input_tokens": -5})
        + line(type="queue-operation", operation="enqueue")
        + line(silly=1)
    )
    unread, report = found(collected, "usage.report")
    assert (unread["data"]["requestId"], unread["data"]["usage"]) == ("m", None)
    assert report["data"]["usage"] == {"inputTokens": 20, "inputTokensIncludeCache": False}
    assert {code for code, lossy in codes(collected) if lossy} == {
        "row-without-message",
        "content-not-an-object",
        "message-without-content",
        "usage-not-an-object",
        "invalid-number",
    }


def test_a_request_without_a_readable_count_is_still_a_request() -> None:
    collected = collect(assistant("m", usage={"output_tokens": None}) + assistant("n"))
    (report,) = found(collected, "usage.report")
    assert (report["data"]["requestId"], report["data"]["usage"]) == ("m", None)


def test_what_claude_code_put_into_a_users_row_is_marked() -> None:
    said = [
        ("fix the bug", {}),
        ("why does <system-reminder> show up?", {}),
        ("<b>bold</b>", {}),
        ("<system-reminder>a</system-reminder> and then", {}),
        ("<system-reminder>note</system-reminder>\n", {}),
        ("<command-message>x</command-message>\n<command-name>/x</command-name>", {}),
        ("[Request interrupted by user for tool use]", {}),
        ("a", {"isMeta": True}),
        ("b", {"isCompactSummary": True}),
        ("c", {"origin": {"kind": "task-notification"}}),
    ]
    collected = collect(b"".join(user(text(value), **row) for value, row in said))
    marks = [event["data"].get("channel") for event in found(collected, "user.message")]
    assert marks == [None] * 4 + ["injected"] * 6


def test_unknown_rows_and_blocks_are_noted_and_idle_ones_are_not() -> None:
    collected = collect(
        user({"type": "image", "source": {}}, {"type": "hologram"})
        + line(type="file-history-snapshot", snapshot={})
        + line(type="hologram", uuid="x")
    )
    assert collected.events == ()
    assert codes(collected) == [("unknown-block", False), ("unknown-row", False)]


def test_a_sub_agents_file_names_the_agent_of_its_rows() -> None:
    name = "sess/subagents/agent-a1.jsonl"
    own = assistant("s", call("t2"), usage={}, isSidechain=True, uuid="q")
    collected = collect(user(text("go")), own, names=("sess.jsonl", name))
    assert {event.rest.get("agentId") for event in collected.events[1:]} == {"a1"}


def test_a_progress_row_links_a_sub_agent_that_no_result_names() -> None:
    main = assistant("m", call("t1", "Task")) + line(
        type="progress", parentToolUseID="t1", data={"type": "agent_progress", "agentId": "a1"}
    )
    collected = collect(main, user(text("p"), agentId="a1"))
    (started,) = found(collected, "subagent.started")
    assert started["data"] == {"invocationId": "a1", "toolCallId": "t1"}


def test_a_time_is_noted_once_for_a_row_of_many_events() -> None:
    collected = collect(user(text("a"), text("b"), timestamp="2026-05-01T10:00:00"))
    (note,) = collected.notes
    assert "times" not in note.message


def test_a_call_named_by_no_text_gives_no_error() -> None:
    collected = collect(assistant("m", {"type": "tool_use", "id": "t", "name": ["Task"]}))
    assert [event["data"] for event in found(collected, "tool.execution_start")] == [
        {"toolCallId": "t"}
    ]


def test_the_order_of_keys_and_repeated_rows_change_nothing() -> None:
    def backwards(value: Any) -> Any:
        if isinstance(value, list):
            return [backwards(item) for item in value]
        if isinstance(value, dict):
            return {key: backwards(item) for key, item in reversed(value.items())}
        return value

    lines = [row + b"\n" for row in SAMPLE.splitlines() if b'"uuid"' in row]
    plain = [event.to_json() for event in collect(b"".join(lines)).events]
    turned = [_json.compact(backwards(_json.decode(row))) + b"\n" for row in lines]
    assert [event.to_json() for event in collect(b"".join(turned)).events] == plain
    twice = b"".join(row * 2 for row in lines) + b"".join(lines)
    assert [event.to_json() for event in collect(twice).events] == plain


def test_times_are_kept_or_said_to_be_changed() -> None:
    times = [TIME, "2026-05-01T10:00:00", 1769314080, "no", None]
    collected = collect(b"".join(line(type="user", message={"content": "x"}, timestamp=time) for time in times))  # fmt: skip
    assert [event.timestamp for event in collected.events] == [
        TIME,
        "2026-05-01T10:00:00Z",
        1769314080000,
        None,
        None,
    ]
    assert not [lossy for _, lossy in codes(collected) if lossy]


def test_detection_looks_at_content() -> None:
    assert detect(user(text("x"))) is COLLECTOR
    assert detect(line(type="summary", leafUuid="x", summary="y")) is COLLECTOR
    for other in (
        b"",
        b"text",
        line(type="session_meta", payload={}),
        line(type="user", message={"parts": []}),
        line(sessionId="s", messages=[]),
        line(cli_version="1", token_usage={}),
        line(type="user", message={}, provenance={}),
        line(type="other", a=1) * 600 + user(text("x")),
    ):
        assert detect(other) is not COLLECTOR


SAMPLE = (
    user(text("go"), uuid="u1", timestamp=TIME)
    + assistant("m", call("t1", "Task", prompt="p"), usage={"input_tokens": 1}, uuid="u2")
    + user(answer("t1", "agentId: a1"), uuid="u3", toolUseResult={"agentId": "a1"})
    + user(text("p"), isSidechain=True, uuid="u4", parentUuid=None)
    + line(type="result", subtype="success", usage={"input_tokens": 1}, num_turns=1)
)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**19) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
KEYS = (
    "type", "subtype", "message", "uuid", "parentUuid", "isSidechain", "agentId", "timestamp",
    "toolUseResult", "usage", "requestId", "parent_tool_use_id", "num_turns", "errors",
)  # fmt: skip


@given(st.binary(max_size=200))
def test_any_bytes_give_no_error(content: bytes) -> None:
    detect(content)
    COLLECTOR.collect([SourceFile("a.jsonl", content)])


@given(st.data())
def test_damaged_recordings_give_no_error(data: st.DataObject) -> None:
    content = bytearray(SAMPLE)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=3))
    detect(bytes(content))
    collect(bytes(content))


@given(
    st.lists(
        st.dictionaries(st.sampled_from(KEYS), JUNK | st.sampled_from(["user", "assistant"])),
        max_size=4,
    ),
    st.dictionaries(
        st.sampled_from(["id", "name", "input", "tool_use_id", "text", "content"]),
        JUNK | st.sampled_from([["Task"], "Task", "t1"]),
    ),
)
def test_rows_of_any_shape_give_no_error(rows: list[Any], block: dict[str, Any]) -> None:
    kinds = ("text", "thinking", "tool_use", "tool_result")
    content = [{"type": kind, **block} for kind in kinds]
    rows += [{"type": kind, "message": {"id": "m", "content": content}} for kind in ("user", "x")]
    collect(b"".join(line(**row) for row in rows))
