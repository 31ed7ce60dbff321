"""Copilot rows to events."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aw_graders import _json
from aw_graders.collectors import Collected, SourceFile
from aw_graders.collectors.copilot import COLLECTOR
from aw_graders.collectors.registry import detect

TIME = "2026-05-01T10:00:00Z"


def row(kind: str, data: Any, **rest: Any) -> bytes:
    fields = {"type": kind, "data": data, "id": "e", "timestamp": TIME, "parentId": None, **rest}
    return _json.compact(fields) + b"\n"


def collect(content: bytes) -> Collected:
    return COLLECTOR.collect([SourceFile("events.jsonl", content)])


def data_of(collected: Collected, kind: str) -> list[Any]:
    return [event.to_json()["data"] for event in collected.events if event.type == kind]


def test_rows_pass_through_with_canonical_names() -> None:
    collected = collect(
        row("session.start", {"sessionId": "s", "selectedModel": "m", "context": {"cwd": "/w"}})
        + row("tool.execution_start", {"toolCallId": "c", "toolName": "sh", "arguments": '{"a":1}'})
        + row("tool.execution_complete", {"toolCallId": "c", "success": True, "result": "x"})
        + row("hook.start", {"k": 1}, agentId="a", ephemeral=True)
    )
    start = data_of(collected, "session.start")[0]
    assert (start["sourceEngine"], start["model"], start["cwd"]) == ("copilot", "m", "/w")
    assert data_of(collected, "tool.execution_start") == [
        {"toolCallId": "c", "toolName": "sh", "input": {"a": 1}}
    ]
    assert data_of(collected, "tool.execution_complete")[0]["output"] == "x"
    assert dict(collected.events[3].rest) == {
        "id": "e",
        "timestamp": TIME,
        "parentId": None,
        "agentId": "a",
        "ephemeral": True,
    }


def test_a_request_that_never_started_becomes_a_start() -> None:
    requests = [
        {"toolCallId": "c1", "name": "sh", "arguments": "plain"},
        {"toolCallId": "c2", "name": "sh", "arguments": {}},
        None,
    ]
    collected = collect(
        row("assistant.message", {"toolRequests": requests, "parentToolCallId": "p"})
        + row("tool.execution_start", {"toolCallId": "c2"})
        + row("assistant.message", {"toolRequests": requests})
    )
    assert data_of(collected, "tool.execution_start") == [
        {"toolCallId": "c1", "toolName": "sh", "input": "plain", "parentToolCallId": "p"},
        {"toolCallId": "c2"},
    ]


def test_shutdowns_add_up() -> None:
    def shutdown(tokens: int) -> bytes:
        name = f"e{tokens}"
        usage = {"inputTokens": tokens, "cacheReadTokens": 1, "cacheWriteTokens": 2}
        metrics = {"m1": {"usage": usage}, "m2": {"usage": {"outputTokens": "3"}}}
        return row(
            "session.shutdown", {"shutdownType": "routine", "modelMetrics": metrics}, id=name
        )

    collected = collect(shutdown(10) + shutdown(20))
    assert len(data_of(collected, "session.shutdown")) == 2
    results = data_of(collected, "session.result")
    assert [result["usage"]["inputTokens"] for result in results] == [10, 30]
    assert results[1] == {
        "status": "routine",
        "usage": {
            "inputTokens": 30,
            "cacheReadInputTokens": 2,
            "cacheCreationInputTokens": 4,
            "outputTokens": 6,
            "inputTokensIncludeCache": True,
        },
    }


def test_results_of_one_session_add_up_over_files_and_copies_do_not() -> None:
    def rows(session: str, tokens: int) -> bytes:
        metrics = {"m": {"usage": {"inputTokens": tokens}}}
        return row("session.start", {"sessionId": session}, id=f"{session}{tokens}") + row(
            "session.shutdown", {"modelMetrics": metrics}, id=f"x{session}{tokens}"
        )

    contents = [rows("s", 10) * 2, rows("s", 10) + rows("s", 20), rows("t", 5)]
    collected = COLLECTOR.collect(
        [SourceFile(f"{index}.jsonl", content) for index, content in enumerate(contents)]
    )
    results = data_of(collected, "session.result")
    assert [(result["sessionId"], result["usage"]["inputTokens"]) for result in results] == [
        ("s", 10),
        ("s", 30),
        ("t", 5),
    ]


def test_types_without_a_dot_or_of_other_observers_are_marked_as_copilots() -> None:
    kinds = ["abort", "agent.execution", "firewall.token_usage", "session.collection", "new.kind"]
    collected = collect(b"".join(row(kind, {"n": 1}, id=kind) for kind in kinds))
    assert [event.type for event in collected.events] == [
        "copilot.abort",
        "copilot.agent.execution",
        "copilot.firewall.token_usage",
        "copilot.session.collection",
        "new.kind",
    ]


def test_pretty_printed_rows_are_the_same() -> None:
    content = row("session.start", {"a": 1}) + row("user.message", {"content": "x"})
    printed = b"".join(_json.pretty(_json.decode(line)) for line in content.splitlines())
    assert detect(printed) is COLLECTOR
    assert collect(printed).events == collect(content).events


def test_detection_and_unusable_rows() -> None:
    assert detect(row("session.start", {})) is COLLECTOR
    assert detect(row("session.start", {}, provenance={})) is None
    collected = collect(row("session.start", [1]) + row("user.message", {}))
    assert [(note.code, note.lossy) for note in collected.notes] == [("row-without-data", True)]


@given(st.binary(max_size=200), st.integers(0, 100))
def test_damaged_recordings_give_no_error(junk: bytes, place: int) -> None:
    content = row("session.shutdown", {"modelMetrics": {"m": {"usage": {"inputTokens": 1}}}})
    damaged = content[:place] + junk + content[place:]
    detect(damaged)
    collect(damaged)
