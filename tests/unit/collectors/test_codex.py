"""Codex rollouts, streams and transcripts to events."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders import _json
from aw_graders.collectors import Collected, SourceFile
from aw_graders.collectors.claude import COLLECTOR as CLAUDE
from aw_graders.collectors.codex import COLLECTOR
from aw_graders.collectors.copilot import COLLECTOR as COPILOT
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import Session

TIME = "2026-05-01T10:00:00.000Z"
START, DONE = "tool.execution_start", "tool.execution_complete"


def at(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"2026-05-01T10:{int(minutes):02d}:{rest:06.3f}Z"


def lines(*rows: Any) -> bytes:
    return b"".join(_json.compact(row) + b"\n" for row in rows)


def row(kind: str, payload: Any, time: Any = TIME) -> dict[str, Any]:
    return {"timestamp": time, "type": kind, "payload": payload}


def meta(session_id: str, time: Any = TIME, **more: Any) -> dict[str, Any]:
    return row("session_meta", {"id": session_id, "timestamp": time, "cwd": "/w", **more}, time)


def context(model: str, **more: Any) -> dict[str, Any]:
    return row("turn_context", {"model": model, **more})


def item(kind: str, time: Any = TIME, **fields: Any) -> dict[str, Any]:
    return row("response_item", {"type": kind, **fields}, time)


def event(kind: str, time: Any = TIME, **fields: Any) -> dict[str, Any]:
    return row("event_msg", {"type": kind, **fields}, time)


def counts(read: int, cached: int, written: int) -> dict[str, int]:
    return {
        "input_tokens": read,
        "cached_input_tokens": cached,
        "output_tokens": written,
        "reasoning_output_tokens": 0,
        "total_tokens": read + written,
    }


def used(total: Any, last: Any, time: Any = TIME) -> dict[str, Any]:
    info: dict[str, Any] = {"total_token_usage": counts(*total)}
    if last is not None:
        info["last_token_usage"] = counts(*last)
    return event("token_count", time, info=info)


def call(call_id: str, name: str = "shell", arguments: str = '{"command":["ls"]}', **more: Any):
    return item("function_call", call_id=call_id, name=name, arguments=arguments, **more)


def answer(call_id: str, output: Any, **more: Any) -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=output, **more)


def wrapped(code: int) -> str:
    return json.dumps({"output": "x", "metadata": {"exit_code": code, "duration_seconds": 0.5}})


def collect(*contents: bytes) -> Collected:
    return COLLECTOR.collect(
        [SourceFile(f"{number}.jsonl", content) for number, content in enumerate(contents)]
    )


def data_of(collected: Collected, kind: str) -> list[Any]:
    return [event.to_json()["data"] for event in collected.events if event.type == kind]


def codes(collected: Collected) -> list[str]:
    return [note.code for note in collected.notes]


def stats(collected: Collected) -> Any:
    return create_session_lookups(redact(Session.of(collected.events)).session).stats


def tokens(collected: Collected) -> tuple[Any, ...]:
    found = stats(collected)
    return (
        found.requests,
        found.tokens.input_tokens,
        found.tokens.output_tokens,
        found.tokens.total_tokens,
    )


def calls(collected: Collected) -> tuple[int, ...]:
    found = stats(collected)
    return (
        found.tool_calls,
        found.successful_tool_calls,
        found.failed_tool_calls,
        found.unfinished_tool_calls,
        found.unknown_outcomes,
    )


def stream(*rows: Any) -> bytes:
    return lines({"type": "thread.started", "thread_id": "t"}, *rows)


def work(kind: str, **fields: Any) -> dict[str, Any]:
    state = "completed" if kind == "done" else "started"
    return {"type": f"item.{state}", "item": {"id": "item_0", **fields}}


TRANSCRIPT = (
    b"[2025-08-31T12:00:00] OpenAI Codex v0.27.0 (research preview)\n--------\n"
    b"workdir: /w\nmodel: m\n--------\n"
    b"[2025-08-31T12:00:00] User instructions:\nDo it\n"
    b"[2025-08-31T12:00:01] exec bash -lc 'a in b\nc' in /w\n"
    b"[2025-08-31T12:00:02] bash -lc 'a in b\nc' exited 2 in 1.5s:\nno\n"
    b'[2025-08-31T12:00:03] tool srv.find({"q":1})\n'
    b'[2025-08-31T12:00:04] srv.find({"q":1}) success in 2ms:\n{"a": 1}\n'
    b"[2025-08-31T12:00:05] exec ls in /w\n"
    b"[2025-08-31T12:00:05] tokens used: 12\n"
    b"[2025-08-31T12:00:06] codex\nDone.\n"
)
SAMPLES = {
    "rollout": lines(meta("s"), context("m"), call("c"), answer("c", wrapped(0))),
    "stream": stream(work("done", type="agent_message", text="x")),
    "first stream": lines(
        {"model": "m", "workdir": "/w"}, {"id": "0", "msg": {"type": "task_started"}}
    ),
    "first rollout": lines(
        {"id": "s", "timestamp": TIME, "instructions": None}, {"record_type": "state"}
    ),
    "first document": _json.pretty(
        {"session": {"id": "s"}, "items": [{"type": "message", "role": "user", "content": "x"}]}
    ),
    "transcript": TRANSCRIPT,
}
OTHERS = {
    "empty": b"",
    "binary": bytes(range(256)) * 4,
    "text": b"hello\nworld\n",
    "claude": lines({"type": "user", "uuid": "u", "message": {"role": "user", "content": "x"}}),
    "claude stream": lines({"type": "system", "subtype": "init", "session_id": "s"}),
    "copilot": lines(
        {"type": "session.start", "data": {}, "id": "e", "timestamp": TIME, "parentId": None}
    ),
    "gemini": lines({"sessionId": "s", "messages": [{"type": "user", "content": "x"}]}),
    "pi": lines({"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/w"}),
    "otlp": lines({"resourceSpans": [{"scopeSpans": []}]}),
    "message": lines({"type": "message", "role": "user", "content": "x"}),
    "an error": lines({"type": "error", "message": "x"}),
    "a turn": lines({"type": "turn.started"}),
    "unified": lines(
        {
            **row("response_item", {}),
            "data": {},
            "provenance": {"component": "agent", "phase": "agent", "path": "p", "index": 0},
        }
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_own_samples_are_detected_and_no_one_else_takes_them(name: str) -> None:
    assert COLLECTOR.detect(SAMPLES[name])
    assert not CLAUDE.detect(SAMPLES[name])
    assert not COPILOT.detect(SAMPLES[name])


@pytest.mark.parametrize("name", OTHERS)
def test_other_contents_are_not_detected(name: str) -> None:
    assert not COLLECTOR.detect(OTHERS[name])


def test_a_session_begins_with_its_model_and_folder() -> None:
    collected = collect(lines(meta("s"), context("m1"), context("m2")))
    assert data_of(collected, "session.start") == [
        {"sourceEngine": "codex", "sessionId": "s", "model": "m1", "cwd": "/w"}
    ]


def test_messages_of_items_stand_for_those_of_events() -> None:
    text = [{"type": "input_text", "text": "hi"}, {"type": "input_image"}]
    collected = collect(
        lines(
            meta("s"),
            event("user_message", message="hi"),
            item("message", role="user", content=text),
            item("message", role="assistant", content=[{"type": "output_text", "text": "yes"}]),
            event("agent_message", message="yes"),
            event("agent_reasoning", text="hm"),
            item("reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
            item("message", role="developer", content="rules"),
        )
    )
    assert data_of(collected, "user.message") == [{"content": "hi"}]
    assert data_of(collected, "assistant.message") == [{"content": "yes"}]
    assert data_of(collected, "assistant.reasoning") == [{"content": "hm"}]
    assert data_of(collected, "system.message") == [{"content": "rules", "role": "developer"}]


def test_messages_of_events_are_used_where_no_item_has_them() -> None:
    collected = collect(
        lines(
            meta("s"),
            event("user_message", message="hi"),
            event("agent_message", message="yes"),
            event("agent_reasoning", text="hm"),
            item("reasoning", summary=[], encrypted_content="gAAA"),
        )
    )
    assert data_of(collected, "user.message") == [{"content": "hi"}]
    assert data_of(collected, "assistant.message") == [{"content": "yes"}]
    assert data_of(collected, "assistant.reasoning") == [{"content": "hm"}]


@pytest.mark.parametrize(
    ("text", "injected"),
    [
        ("<environment_context>\n<cwd>/w</cwd>\n</environment_context>", True),
        ("# AGENTS.md instructions for /w\n<INSTRUCTIONS>x</INSTRUCTIONS>\n", True),
        ("why does <environment_context>x</environment_context> come?", False),
        ("<b>bold</b>", False),
    ],
)
def test_text_that_codex_wrote_is_marked(text: str, injected: Any) -> None:
    message = data_of(collect(lines(item("message", role="user", content=text))), "user.message")[0]
    assert message.get("channel") == ("injected" if injected else None)


def test_a_call_is_paired_with_its_output() -> None:
    collected = collect(lines(meta("s"), call("c"), answer("c", wrapped(0)), call("d")))
    assert data_of(collected, START)[0] == {
        "toolCallId": "c",
        "toolName": "shell",
        "input": {"command": ["ls"]},
    }
    assert data_of(collected, DONE) == [
        {
            "toolCallId": "c",
            "toolName": "shell",
            "success": True,
            "output": wrapped(0),
            "exitCode": 0,
            "durationMs": 500,
        }
    ]
    assert calls(collected) == (2, 1, 1, 1, 0)


@pytest.mark.parametrize(
    ("tool", "output", "success"),
    [
        ("shell", wrapped(0), True),
        ("shell", wrapped(3), False),
        ("shell", json.loads(wrapped(1)), False),
        ("shell", [{"type": "input_text", "text": wrapped(0)}], True),
        ("shell", "Exit code: 7\nWall time: 0.1 seconds\nOutput:\n", False),
        ("exec_command", "Wall time: 1.0 seconds\nProcess exited with code 0\nOutput:\nx", True),
        ("exec_command", "Chunk ID: a1\nWall time: 1 seconds\nProcess exited with code 1\n", False),
        ("exec_command", "Wall time: 1.0 seconds\nProcess running with session ID 5\n", None),
        ("shell", "Error: Process exited with code 1\n", None),
        ("shell", "failed: execution error", None),
        ("srv__run", "Exit code: 7\nWall time: 0.1 seconds\nOutput:\n", None),
        ("srv__run", wrapped(7), None),
        ("srv__run", {"content": "x", "success": False}, False),
        ("update_plan", "Plan updated", None),
        ("shell", '{"metadata":', None),
        ("shell", {"output": "x", "metadata": {"exit_code": True}}, None),
        ("shell", None, None),
    ],
)
def test_only_what_codex_wrote_around_an_output_decides(
    tool: str, output: Any, success: Any
) -> None:
    collected = collect(lines(meta("s"), call("c", tool), answer("c", output)))
    assert data_of(collected, DONE)[0].get("success") is success
    assert calls(collected)[4] == (success is None)


def test_custom_input_is_text_and_a_function_s_arguments_are_decoded() -> None:
    deep = '{"a":' * 511 + "1" + "}" * 511
    collected = collect(
        lines(
            item("custom_tool_call", call_id="a", name="apply_patch", input='{"x":1}'),
            call("b", arguments="not json"),
            call("c", arguments="[1]"),
            call("d", arguments=deep),
            item("local_shell_call", call_id="e", action={"command": ["ls"]}, status="completed"),
        )
    )
    inputs = [start.get("input") for start in data_of(collected, START)]
    assert inputs == ['{"x":1}', "not json", "[1]", deep, {"command": ["ls"]}]


def test_calls_that_the_provider_ran_say_how_they_ended() -> None:
    action = {"type": "search", "query": "q"}
    collected = collect(
        lines(
            meta("s"),
            item("web_search_call", id="w1", status="completed", action=action),
            event("web_search_end", call_id="w1", query="q"),
            event("web_search_end", call_id="of its own", query="q"),
            item("web_search_call", id="w2", status="failed", action=action),
            item("web_search_call", id="w3", status="in_progress", action=action),
            item("tool_search_call", call_id="t", arguments={"query": "q"}, status="completed"),
            item("tool_search_output", call_id="t", status="completed", tools=[]),
        )
    )
    assert calls(collected) == (4, 2, 2, 1, 0)


def test_events_say_how_the_calls_of_items_ended() -> None:
    collected = collect(
        lines(
            meta("s"),
            call("a", "srv__find"),
            event(
                "mcp_tool_call_end",
                call_id="a",
                invocation={"server": "srv", "tool": "find", "arguments": {}},
                duration={"secs": 1, "nanos": 500_000_000},
                result={"Ok": {"content": [], "isError": True}},
            ),
            answer("a", "text"),
            item("custom_tool_call", call_id="b", name="apply_patch", input="*** Begin Patch"),
            event("patch_apply_end", call_id="b", success=True),
            item("custom_tool_call_output", call_id="b", output="Done"),
            call("c"),
            event("exec_command_end", call_id="c", exit_code=0, status="completed"),
        )
    )
    first, second, third = data_of(collected, DONE)
    assert first == {
        "toolCallId": "a",
        "toolName": "srv__find",
        "success": False,
        "output": "text",
        "durationMs": 1500,
        "mcpServerName": "srv",
    }
    assert (second["success"], third["success"], third["toolName"]) == (True, True, "shell")
    assert data_of(collected, START)[0]["mcpServerName"] == "srv"
    assert calls(collected) == (3, 2, 1, 0, 0)


def test_calls_that_only_events_record_are_calls() -> None:
    invocation = {"server": "srv", "tool": "find", "arguments": {"q": 1}}
    collected = collect(
        lines(
            meta("s"),
            event("exec_command_begin", call_id="a", command=["ls"], cwd="/w"),
            event("exec_command_end", call_id="a", exit_code=1, aggregated_output="x"),
            event("mcp_tool_call_end", call_id="b", invocation=invocation, result={"Err": "no"}),
            event("mcp_tool_call_end", call_id="c", invocation=invocation, result={"Ok": {}}),
            event("dynamic_tool_call_request", callId="d", tool="t", arguments={}),
            event("dynamic_tool_call_response", call_id="d", success=False, error="e"),
            event("exec_command_begin", call_id="e", command=["ls"]),
            event("web_search_end", call_id="f", query="q"),
        )
    )
    assert calls(collected) == (6, 1, 5, 1, 1)
    starts = data_of(collected, START)
    assert starts[0]["input"] == {"command": ["ls"], "cwd": "/w"}
    assert starts[1] == {
        "toolCallId": "b",
        "toolName": "find",
        "input": {"q": 1},
        "mcpServerName": "srv",
    }


def test_results_without_a_call_and_calls_without_a_name() -> None:
    collected = collect(
        lines(
            answer("x", wrapped(0)),
            item("function_call", arguments="{}"),
            item("function_call_output", output="x"),
        )
    )
    assert codes(collected) == [
        "call-without-id-and-name",
        "result-without-id-and-name",
        "stray-tool-result",
    ]
    assert [note.lossy for note in collected.notes] == [True, True, False]


def test_errors_interruptions_and_compactions() -> None:
    collected = collect(
        lines(
            event("error", message="m", codex_error_info="limit"),
            event("turn_aborted", reason="interrupted"),
            row("compacted", {"message": ""}),
            event("context_compacted"),
            row("world_state", {}),
            row("new_kind", {}),
            row("event_msg", None),
            item("new_item"),
        )
    )
    assert data_of(collected, "session.error") == [{"message": "m", "errorType": "limit"}]
    assert [info["status"] for info in data_of(collected, "session.info")] == [
        "turn_aborted",
        "compacted",
    ]
    assert codes(collected) == ["payload-not-an-object", "unknown-item", "unknown-row"]


# --- tokens -----------------------------------------------------------------


def test_a_request_is_an_advance_of_the_counter() -> None:
    collected = collect(
        lines(
            meta("s"),
            context("m"),
            used((100, 0, 10), (100, 0, 10), at(1)),
            used((250, 90, 30), (150, 90, 20), at(2)),
        )
    )
    assert data_of(collected, "usage.report")[1] == {
        "requestId": "s:2",
        "model": "m",
        "purpose": "agent",
        "usage": {
            "inputTokens": 150,
            "cacheReadInputTokens": 90,
            "outputTokens": 20,
            "reasoningOutputTokens": 0,
            "totalTokens": 170,
            "inputTokensIncludeCache": True,
        },
    }
    # Cached tokens are part of the input: 100 + 150 read, 10 + 20 written.
    assert tokens(collected) == (2, 250, 30, 280)
    assert stats(collected).peak_input_tokens == 150
    assert collected.notes == ()


def test_a_repeated_snapshot_is_no_request_and_null_info_is_nothing() -> None:
    collected = collect(
        lines(
            meta("s"),
            event("token_count", at(0), info=None),
            used((90, 0, 10), (90, 0, 10), at(1)),
            used((90, 0, 10), (90, 0, 10), at(2)),
            used((90, 0, 10), (70, 0, 5), at(3)),
            used((180, 0, 20), (90, 0, 10), at(4)),
            used((180, 0, 20), (90, 0, 10), at(4)),
        )
    )
    # Two requests of equal size; rows 2 and 3 only repeat the counter, the last one its row.
    assert tokens(collected) == (2, 180, 20, 200)
    assert codes(collected) == ["copied-row"]


def test_a_counter_that_falls_begins_a_new_segment() -> None:
    collected = collect(
        lines(
            meta("s"),
            used((100, 0, 10), (100, 0, 10), at(1)),
            used((300, 0, 30), (200, 0, 20), at(2)),
            used((40, 0, 4), (40, 0, 4), at(3)),
            used((90, 0, 9), (50, 0, 5), at(4)),
        )
    )
    # 330 in the first segment and 99 in the second; the last row alone says 99, the largest 330.
    assert tokens(collected) == (4, 390, 39, 429)
    assert collected.notes == ()


def test_a_counter_that_begins_anew_above_its_old_place_is_seen() -> None:
    collected = collect(
        lines(
            used((100, 0, 10), (100, 0, 10), at(1)),
            used((500, 0, 50), (500, 0, 50), at(2)),
            used((0, 0, 0), (0, 0, 0), at(3)),
            used((7, 0, 1), (7, 0, 1), at(4)),
        )
    )
    assert tokens(collected) == (3, 607, 61, 668)
    assert collected.notes == ()


def test_a_request_without_its_own_counts_takes_the_counter_s_advance() -> None:
    collected = collect(lines(used((100, 10, 10), None, at(1)), used((160, 30, 15), None, at(2))))
    usage = data_of(collected, "usage.report")[1]["usage"]
    assert (usage["inputTokens"], usage["cacheReadInputTokens"], usage["outputTokens"]) == (
        60,
        20,
        5,
    )
    assert codes(collected) == ["usage-from-counter"]
    assert not collected.notes[0].lossy


def test_a_counter_that_falls_without_naming_requests_begins_a_new_segment() -> None:
    rows = [used((100, 0, 10), None, at(1)), used((40, 0, 4), None, at(2))]
    assert tokens(collect(lines(*rows))) == (2, 140, 14, 154)
    partly = lines(used((100, 0, 10), (100, 0, 10), at(1)), used((50, 0, 5), (50, 0, 4), at(2)))
    # The new segment stands at 55, of which its request names 54.
    assert tokens(collect(partly)) == (2, 150, 14, 164)
    assert codes(collect(partly)) == ["counter-mismatch"]


def test_requests_that_do_not_add_up_to_the_counter_are_noted() -> None:
    collected = collect(
        lines(used((100, 0, 10), (100, 0, 10), at(1)), used((300, 0, 30), (150, 0, 20), at(2)))
    )
    assert tokens(collected) == (2, 250, 30, 280)
    assert [(note.code, note.lossy) for note in collected.notes] == [("counter-mismatch", True)]
    assert "280" in collected.notes[0].message
    assert "330" in collected.notes[0].message


def test_counts_that_cannot_be_read_are_left_out_and_noted() -> None:
    collected = collect(
        lines(
            event("token_count", at(1), info={"prompt": 1420, "completion": 910}),
            event("token_count", at(2), info={"last_token_usage": counts(1, 0, 1)}),
            event("token_count", at(3), info={"total_token_usage": {"input_tokens": -1}}),
            event("token_count", at(4), input_tokens=5, output_tokens=1),
        )
    )
    assert tokens(collected) == (None, None, None, None)
    assert codes(collected) == ["invalid-number", "unreadable-usage"]


def test_rows_that_are_written_twice_count_once() -> None:
    rows = [
        meta("s"),
        call("c"),
        answer("c", wrapped(0), time=at(1)),
        used((90, 0, 10), (90, 0, 10), at(2)),
    ]
    collected = collect(lines(*[again for each in rows for again in (each, each)]))
    assert calls(collected) == (1, 1, 0, 0, 0)
    assert tokens(collected) == (1, 90, 10, 100)
    assert stats(collected).consecutive_repeats == 0
    assert stats(collected).repeated_observations == 0


def parent_rows() -> list[Any]:
    return [
        meta("p"),
        item("message", at(1), role="user", content="first"),
        call("c1"),
        answer("c1", wrapped(1)),
        used((90, 0, 10), (90, 0, 10), at(2)),
        used((220, 0, 30), (130, 0, 20), at(3)),
        item("message", at(4), role="assistant", content="done"),
    ]


def child_rows(copied_at: float, **more: Any) -> list[Any]:
    copies = [{**each, "timestamp": at(copied_at)} for each in parent_rows()]
    return [
        meta("k", at(100), **more),
        *copies,
        item("message", at(110), role="user", content="again"),
        call("c2", time=at(111)),
        answer("c2", wrapped(0), time=at(112)),
        used((260, 0, 40), (40, 0, 10), at(140)),
    ]


def test_a_fork_s_copies_of_its_parent_count_once_in_either_order() -> None:
    parent = lines(*parent_rows())
    # The copies are stamped ten seconds after the fork: only the parent's rows prove them.
    child = lines(*child_rows(110, forked_from_id="p"))
    for collected in (collect(parent, child), collect(child, parent)):
        assert tokens(collected) == (3, 260, 40, 300)
        assert calls(collected) == (2, 1, 1, 0, 0)
        assert sorted(codes(collected)) == ["replayed-row"]
        texts = [message["content"] for message in data_of(collected, "user.message")]
        assert sorted(texts) == ["again", "first"]
        assert len(data_of(collected, "assistant.message")) == 1


def test_a_fork_alone_has_its_own_requests_after_the_second_of_the_fork() -> None:
    collected = collect(lines(*child_rows(100, forked_from_id="p")))
    assert tokens(collected) == (1, 40, 10, 50)
    assert calls(collected) == (1, 1, 0, 0, 0)
    assert codes(collected) == ["replayed-row"]


def test_a_fork_alone_leaves_out_rows_that_kept_their_own_times() -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}
    collected = collect(lines(*child_rows(5, source=spawn)))
    assert tokens(collected) == (1, 40, 10, 50)


def test_a_fork_whose_rows_cannot_be_told_apart_has_no_requests() -> None:
    collected = collect(lines(*child_rows(110, forked_from_id="p")))
    assert tokens(collected) == (None, None, None, None)
    assert [note.code for note in collected.notes if note.lossy] == ["unknown-replay"]


def test_two_forks_without_their_parent_do_not_count_its_requests() -> None:
    first = lines(*child_rows(110, forked_from_id="p"))
    second = first.replace(b'"k"', b'"l"')
    assert tokens(collect(first, second)) == (None, None, None, None)


def test_a_fork_that_inherits_the_counter_without_its_rows() -> None:
    collected = collect(
        lines(
            meta("k", at(0), forked_from_id="p"),
            used((1040, 0, 60), (40, 0, 10), at(30)),
            used((1090, 0, 65), (50, 0, 5), at(40)),
        )
    )
    assert tokens(collected) == (2, 90, 15, 105)
    assert collected.notes == ()


def test_the_ids_of_turns_tell_a_fork_s_own_ones() -> None:
    def made(milliseconds: int) -> str:
        text = f"{milliseconds:012x}"
        return f"{text[:8]}-{text[8:]}-7000-8000-000000000000"

    began = 1_777_629_600_000
    rows = child_rows(110, forked_from_id="p")
    rows[0]["payload"]["id"] = made(began)
    rows.insert(2, context("m", turn_id=made(began - 5000)))
    rows.insert(9, context("m", turn_id=made(began + 5)))
    assert tokens(collect(lines(*rows))) == (1, 40, 10, 50)


def test_a_spawned_session_that_copies_nothing_is_all_its_own() -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}
    child = lines(
        meta("k", at(50), source=spawn),
        used((60, 0, 6), (60, 0, 6), at(60)),
        call("d", time=at(61)),
    )
    parent = lines(
        *parent_rows(),
        call("sp", "spawn_agent", "{}"),
        answer("sp", '{"agent_id":"k"}'),
    )
    alone = collect(child)
    assert tokens(alone) == (1, 60, 6, 66)
    both = collect(parent, child)
    assert tokens(both) == (3, 280, 36, 316)
    started = [event for event in both.events if event.type == "subagent.started"]
    assert [event.to_json()["data"] for event in started] == [
        {"invocationId": "k", "toolCallId": "sp"}
    ]
    reports = data_of(both, "usage.report")
    assert [report["purpose"] for report in reports] == ["agent", "agent", "subagent"]
    nested = [dict(event.rest).get("agentId") for event in both.events if "1.jsonl" in str(event)]
    assert set(nested) == {"k"}


def test_one_session_in_two_files_counts_once() -> None:
    first = lines(*parent_rows())
    moved = [{**each, "timestamp": at(500)} for each in parent_rows()]
    longer = lines(*moved, used((300, 0, 40), (80, 0, 10), at(501)))
    for contents in ((first, first), (first, longer), (longer, first)):
        collected = collect(*contents)
        expected = (2, 220, 30, 250) if longer not in contents else (3, 300, 40, 340)
        assert tokens(collected) == expected
        assert calls(collected) == (1, 0, 1, 0, 0)
        assert "counter-mismatch" not in codes(collected)


# --- the stream -------------------------------------------------------------


def test_the_usage_of_a_turn_is_a_total_and_no_request() -> None:
    command = {"type": "command_execution", "command": "ls"}
    collected = collect(
        stream(
            {"type": "turn.started"},
            work("new", **command, status="in_progress", exit_code=None),
            work("done", **command, status="completed", exit_code=0, aggregated_output="a"),
            {"type": "turn.completed", "usage": counts(2600, 1800, 55)},
        )
    )
    found = stats(collected)
    assert tokens(collected) == (None, 2600, 55, 2655)
    assert found.tokens.source == "session"
    assert found.peak_input_tokens is None
    assert found.first_request_tokens is None
    assert found.duration.value_ms is None
    assert calls(collected) == (1, 1, 0, 0, 0)
    assert data_of(collected, "session.start") == [{"sourceEngine": "codex", "sessionId": "t"}]


def test_the_turns_of_a_thread_add_up_with_a_note() -> None:
    collected = collect(
        stream(
            {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 1}},
            {"type": "turn.completed", "usage": counts(20, 5, 2)},
            {"type": "turn.completed", "usage": None},
            {"type": "turn.completed", "usage": {}},
        )
    )
    # Cached tokens of one turn alone are no count of both.
    assert data_of(collected, "session.result")[-1] == {
        "sessionId": "t",
        "usage": {"inputTokens": 30, "outputTokens": 3, "inputTokensIncludeCache": True},
    }
    assert tokens(collected) == (None, 30, 3, 33)
    assert codes(collected) == ["turns-added", "unreadable-usage"]


@pytest.mark.parametrize(
    ("fields", "success"),
    [
        ({"type": "command_execution", "command": "x", "exit_code": 0}, True),
        ({"type": "command_execution", "command": "x", "exit_code": 1, "status": "failed"}, False),
        (
            {"type": "command_execution", "command": "x", "exit_code": 2, "status": "completed"},
            False,
        ),
        ({"type": "command_execution", "command": "x", "status": "declined"}, False),
        ({"item_type": "file_change", "changes": [], "status": "completed"}, True),
        ({"type": "file_change", "changes": [], "status": "failed"}, False),
        ({"type": "mcp_tool_call", "server": "s", "tool": "t", "status": "completed"}, True),
        (
            {
                "type": "mcp_tool_call",
                "server": "s",
                "tool": "t",
                "status": "completed",
                "error": {"message": "m"},
            },
            False,
        ),
        ({"type": "web_search", "query": "failed"}, None),
    ],
)
def test_items_are_calls_and_say_how_they_ended(fields: dict[str, Any], success: Any) -> None:
    collected = collect(stream(work("done", **fields), work("done", **fields)))
    assert [done.get("success") for done in data_of(collected, DONE)] == [success]
    assert calls(collected) == (
        1,
        int(success is True),
        int(success is not True),
        0,
        0 + (success is None),
    )


def test_items_that_are_no_calls() -> None:
    collected = collect(
        stream(
            work("done", type="agent_message", text="x"),
            {"type": "item.completed", "item": {"id": "item_1", "type": "reasoning", "text": "y"}},
            {"type": "item.updated", "item": {"id": "item_2", "type": "todo_list", "items": []}},
            {"type": "item.completed", "item": {"id": "item_3", "type": "error", "message": "e"}},
            {"type": "turn.failed", "error": {"message": "f"}},
            {"type": "error", "message": "g"},
            {"type": "item.completed", "item": {"id": "item_4", "type": "new"}},
            {"type": "item.completed", "item": None},
        )
    )
    assert data_of(collected, "assistant.message") == [{"content": "x"}]
    assert data_of(collected, "assistant.reasoning") == [{"content": "y"}]
    errors = [error["message"] for error in data_of(collected, "session.error")]
    assert errors == ["e", "f", "g"]
    assert codes(collected) == ["payload-not-an-object", "unknown-item"]


def test_a_resumed_run_counts_its_items_anew() -> None:
    fields = {"type": "command_execution", "command": "ls", "exit_code": 0}
    run = stream(work("new", **fields), work("done", **fields))
    collected = collect(run + run)
    assert calls(collected) == (2, 2, 0, 0, 0)
    assert len(data_of(collected, "session.start")) == 1


# --- older generations ------------------------------------------------------


def test_the_first_rollouts_have_bare_items() -> None:
    bare = [
        {"id": "s", "timestamp": TIME, "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "name": "shell", "call_id": "c", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": wrapped(0)},
        {"role": "assistant", "content": "yes"},
    ]
    document = {"session": {"id": "s", "timestamp": TIME}, "items": bare[2:5]}
    for content in (lines(*bare), _json.pretty(document)):
        collected = collect(content)
        assert data_of(collected, "session.start") == [{"sourceEngine": "codex", "sessionId": "s"}]
        assert data_of(collected, "user.message") == [{"content": "hi"}]
        assert calls(collected) == (1, 1, 0, 0, 0)
        assert collected.notes == ()


def test_the_first_stream_wraps_events() -> None:
    def message(**fields: Any) -> dict[str, Any]:
        return {"id": "0", "msg": fields}

    collected = collect(
        lines(
            {"model": "m", "workdir": "/w"},
            {"prompt": "hi"},
            message(type="session_configured", session_id="s", model="m"),
            message(type="exec_command_begin", call_id="c", command=["ls"]),
            message(type="exec_command_end", call_id="c", stdout="x", exit_code=0),
            message(type="token_count", info={"total_token_usage": counts(5, 0, 1)}),
        )
    )
    assert data_of(collected, "session.start")[0]["sessionId"] == "s"
    assert data_of(collected, "user.message") == [{"content": "hi"}]
    assert data_of(collected, "usage.report")[0]["model"] == "m"
    assert calls(collected) == (1, 1, 0, 0, 0)


def test_trimmed_rows_of_tools_and_results_by_name() -> None:
    collected = collect(
        lines(
            item("tool_call", function={"name": "run"}, arguments={"command": "ls"}),
            item("tool_result", name="run", result={"stdout": "x", "exitCode": 4}),
        )
    )
    assert calls(collected) == (1, 0, 1, 0, 0)


def test_a_transcript_s_calls_end_where_their_own_text_is_repeated() -> None:
    collected = collect(TRANSCRIPT)
    assert [start["toolName"] for start in data_of(collected, START)] == ["exec", "find", "exec"]
    assert data_of(collected, START)[0]["input"] == {"command": "bash -lc 'a in b\nc'", "cwd": "/w"}
    assert data_of(collected, START)[1]["input"] == {"q": 1}
    first, second = data_of(collected, DONE)
    assert (first["exitCode"], first["durationMs"], first["output"]) == (2, 1500, "no")
    assert (second["success"], second["durationMs"]) == (True, 2)
    assert calls(collected) == (3, 1, 2, 1, 0)
    # What it says of tokens is no count of input and output.
    assert tokens(collected) == (None, None, None, None)
    assert codes(collected) == ["time-without-zone", "usage-not-split"]
    assert collect(b"\xef\xbb\xbf" + TRANSCRIPT.replace(b"\n", b"\r\n")).events == collected.events


# --- damage -----------------------------------------------------------------


FULL = lines(
    meta("s", forked_from_id="p", source={"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}),
    context("m", turn_id="t"),
    item("message", role="user", content=[{"type": "input_text", "text": "x"}]),
    item("reasoning", summary=[{"type": "summary_text", "text": "x"}]),
    call("c"),
    answer("c", wrapped(0)),
    item("web_search_call", id="w", status="completed", action={}),
    event("mcp_tool_call_end", call_id="d", invocation={}, duration={}, result={"Ok": {}}),
    used((5, 1, 1), (5, 1, 1), at(9)),
    event("error", error={"message": "m"}),
    {"type": "thread.started", "thread_id": "t"},
    work("done", type="mcp_tool_call", server="s", tool="t", arguments={}, error=None),
    {"type": "turn.completed", "usage": counts(1, 0, 1)},
    {"id": "0", "msg": {"type": "exec_command_begin", "call_id": "c"}},
    {"session": {"id": "s"}, "items": [{"type": "message", "role": "user", "content": "x"}]},
)


def test_a_cut_recording_keeps_what_was_whole() -> None:
    whole = lines(
        meta("s"),
        used((90, 0, 10), (90, 0, 10), at(1)),
        used((220, 0, 30), (130, 0, 20), at(2)),
    )
    collected = collect(whole + b'{"timestamp":"2026')
    assert tokens(collected) == (2, 220, 30, 250)
    assert [(note.code, note.line) for note in collected.notes] == [("cut-line", 4)]


def test_line_ends_marks_and_nul_bytes_change_nothing() -> None:
    content = SAMPLES["rollout"]
    events = collect(content).events
    assert collect(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n\r\n")).events == events
    assert collect(content.replace(b"\n", b"\n\0\0")).events == events


def test_every_cut_is_read() -> None:
    for content in (FULL, TRANSCRIPT):
        for end in range(len(content)):
            COLLECTOR.detect(content[:end])
            collect(content[:end])


def _places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [place] if place else []
    members = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        members = enumerate(value)
    for key, member in members:
        found += _places(member, (*place, key))
    return found


@pytest.mark.parametrize("wrong", [None, True, -1, 1.5, "x", "", [], [1], {}, {"a": 1}])
def test_a_wrong_type_anywhere_is_read(wrong: Any) -> None:
    rows = [json.loads(line) for line in FULL.splitlines()]
    for place in _places(rows):
        changed = json.loads(json.dumps(rows))
        target = changed
        for key in place[:-1]:
            target = target[key]
        target[place[-1]] = wrong
        content = b"".join(json.dumps(each).encode() + b"\n" for each in changed)
        COLLECTOR.detect(content)
        collected = collect(content)
        assert stats(collected).tool_calls >= 0


def test_deep_values_end_as_a_note() -> None:
    deep = "[" * 510 + "]" * 510
    content = b'{"type":"item.completed","item":{"id":"a","type":"web_search","query":%s}}\n'
    collected = collect(stream() + content % deep.encode())
    assert "nested-too-deeply" in codes(collected)
    Session.of(collected.events)


@given(st.lists(st.sampled_from(FULL.splitlines() + TRANSCRIPT.splitlines()), max_size=30))
def test_any_order_of_rows_is_read_alike_each_time(rows: list[bytes]) -> None:
    content = b"\n".join(rows)
    assert collect(content, content) == collect(content, content)


@given(st.binary(max_size=300), st.integers(0, 3000))
def test_damaged_recordings_give_no_error(junk: bytes, place: int) -> None:
    for content in (FULL, TRANSCRIPT):
        damaged = content[:place] + junk + content[place:]
        COLLECTOR.detect(damaged)
        collect(damaged, junk)
