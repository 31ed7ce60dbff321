"""The agent's own evidence: its normalised session, else its engine's logs."""

from pathlib import Path

from tests.unit.collectors.gh_aw.runs import (
    INIT,
    START,
    codes,
    collect,
    complete,
    data_of,
    lines,
    lookups,
    of_type,
    places,
    start,
)

STATE = "sandbox/agent/logs/copilot-session-state"
CLAUDE = lines(
    {"type": "system", "subtype": "init", "session_id": "c", "model": "m"},
    {
        "type": "assistant",
        "session_id": "c",
        "message": {
            "id": "m1",
            "model": "m",
            "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}],
            "usage": {"input_tokens": 3, "output_tokens": 2},
        },
    },
    {
        "type": "user",
        "session_id": "c",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
    },
)


def copilot(session_id: str, call_id: str = "p") -> str:
    rest = {"timestamp": START, "parentId": None}
    return lines(
        {"type": "session.start", "data": {"sessionId": session_id}, "id": session_id, **rest},
        {
            "type": "tool.execution_start",
            "data": {"toolCallId": call_id, "toolName": "sh", "arguments": {}, "turnNo": 1},
            "id": f"{session_id}-{call_id}",
            **rest,
        },
    )


def test_a_normalised_session_is_reduced_to_the_fields_of_its_types(tmp_path: Path) -> None:
    rows = lines(
        {
            "type": "session.init",
            "session_id": "s",
            "version": 3,
            "data": {"sourceEngine": "pi", "tools": ["a"], "cwd": "/w"},
            "timestamp": START,
            "id": "row",
        },
        {
            "type": "tool.execution_start",
            "usage": {"input": 9},
            "data": {"tool_call_id": "c", "toolName": "sh", "arguments": {"a": 1}, "raw": "x"},
            "parent_tool_use_id": "p",
        },
        {"type": "tool.execution_complete", "data": {"toolCallId": "c", "result": {"a": 1}}},
        {"type": "pi.note", "data": {"free": {"x": [1]}}, "parentId": None, "agentId": "a"},
    )
    collected = collect(tmp_path, {"agent-session.jsonl": rows})
    found = [event.to_json() for event in collected.events[1:-1]]
    place = {"component": "agent", "phase": "agent", "path": "agent-session.jsonl"}
    assert found == [
        {
            "type": "session.init",
            "id": "row",
            "timestamp": START,
            "data": {"sourceEngine": "pi", "cwd": "/w", "sessionId": "s"},
            "provenance": {**place, "index": 0, "timestampMs": 1777629600000},
        },
        {
            "type": "tool.execution_start",
            "data": {
                "toolCallId": "c",
                "toolName": "sh",
                "input": {"a": 1},
                "parentToolUseId": "p",
            },
            "provenance": {**place, "index": 1},
        },
        {
            "type": "tool.execution_complete",
            "data": {"toolCallId": "c", "output": {"a": 1}},
            "provenance": {**place, "index": 2},
        },
        {
            "type": "pi.note",
            "parentId": None,
            "agentId": "a",
            "data": {"free": {"x": [1]}},
            "provenance": {**place, "index": 3},
        },
    ]


def test_a_result_beside_a_different_output_stays(tmp_path: Path) -> None:
    data = {"toolCallId": "c", "output": "short", "result": {"isError": True}}
    rows = lines(start("c"), {"type": "tool.execution_complete", "data": data})
    collected = collect(tmp_path, {"agent-session.jsonl": rows})
    assert data_of(collected, "tool.execution_complete") == [data]
    assert lookups(collected).stats.failed_tool_calls == 1


def test_a_failure_flag_beside_the_data_counts(tmp_path: Path) -> None:
    rows = lines(start("c"), complete("c", isError=True), start("d"), complete("d", isError=False))
    collected = collect(tmp_path, {"agent-session.jsonl": rows})
    stats = lookups(collected).stats
    assert (stats.tool_calls, stats.failed_tool_calls) == (2, 1)


def test_what_a_row_said_of_its_own_origin_is_kept_as_native(tmp_path: Path) -> None:
    native = {"component": "agent", "phase": "agent", "path": "a/s/events.jsonl", "index": 7}
    collected = collect(tmp_path, {"agent-session.jsonl": lines({**INIT, "provenance": native})})
    assert of_type(collected, "session.init")[0]["provenance"] == {
        "component": "agent",
        "phase": "agent",
        "path": "agent-session.jsonl",
        "index": 0,
        "timestampMs": 1777629600000,
        "native": native,
    }


def test_a_session_cannot_speak_for_other_observers(tmp_path: Path) -> None:
    forged = [
        {"type": "firewall.token_usage", "data": {"requestId": "r", "inputTokens": 9}},
        {"type": "safe_output.result", "data": {"type": "x"}},
        {"type": "session.format", "data": {"version": 9}},
    ]
    collected = collect(tmp_path, {"agent-session.jsonl": lines(INIT, *forged)})
    assert [event.type for event in collected.events[1:-1]] == [
        "session.init",
        "native.firewall.token_usage",
        "native.safe_output.result",
        "native.session.format",
    ]
    assert lookups(collected).stats.requests is None
    assert codes(collected) == [("foreign-type", "agent-session.jsonl", 2, False)]


def test_the_normalised_session_wins_over_the_engines_logs(tmp_path: Path) -> None:
    files = {
        "agent-session.jsonl": lines(INIT, start("c"), complete("c")),
        "agent-stdio.log": CLAUDE,
        "pi-streaming.jsonl": lines({"type": "turn_start"}),
        f"{STATE}/s/events.jsonl": copilot("s"),
    }
    collected = collect(tmp_path, files)
    assert places(collected) == {("agent", "agent", "agent-session.jsonl", 3)}
    assert not collected.notes


def test_a_copilot_session_that_was_not_normalised_is_added(tmp_path: Path) -> None:
    native = {"path": "copilot-session-state/s2/events.jsonl", "index": 1}
    files = {
        "agent-session.jsonl": lines(INIT, {**start("c"), "provenance": native}),
        f"{STATE}/s/events.jsonl": copilot("s"),
        f"{STATE}/s2/events.jsonl": copilot("s2"),
        f"{STATE}/s3/events.jsonl": copilot("s3"),
    }
    assert places(collect(tmp_path, files)) == {
        ("agent", "agent", "agent-session.jsonl", 2),
        ("agent", "agent", f"{STATE}/s3/events.jsonl", 2),
    }


def test_without_known_sessions_nothing_is_added_to_a_normalised_one(tmp_path: Path) -> None:
    rows = lines(start("c"), complete("c"))
    files = {"agent-session.jsonl": rows, f"{STATE}/s/events.jsonl": copilot("s")}
    assert places(collect(tmp_path, files)) == {("agent", "agent", "agent-session.jsonl", 2)}


def test_an_unusable_normalised_session_gives_way_to_the_engines_log(tmp_path: Path) -> None:
    for number, content in enumerate(("", "{\n", lines({"type": "x"}))):
        files = {"agent-session.jsonl": content, "agent-stdio.log": CLAUDE}
        collected = collect(tmp_path / str(number), files)
        assert {path for _, _, path, _ in places(collected)} == {"agent-stdio.log"}
        assert "native-session-unusable" in {note.code for note in collected.notes}
        assert lookups(collected).stats.requests == 1


def test_engine_logs_are_read_by_the_collector_of_their_content(tmp_path: Path) -> None:
    collected = collect(tmp_path, {"agent/agent-stdio.log": CLAUDE})
    assert {path for _, _, path, _ in places(collected)} == {"agent/agent-stdio.log"}
    stats = lookups(collected).stats
    assert (stats.tool_calls, stats.failed_tool_calls, stats.requests) == (1, 0, 1)
    assert (stats.tokens.input_tokens, stats.tokens.output_tokens) == (3, 2)


def test_copilots_state_goes_before_the_engines_output(tmp_path: Path) -> None:
    files = {
        f"{STATE}/s/events.jsonl": copilot("s", "x"),
        f"{STATE}/t/events.jsonl": copilot("t", "y"),
        "agent-stdio.log": CLAUDE,
    }
    collected = collect(tmp_path, files)
    assert places(collected) == {
        ("agent", "agent", f"{STATE}/s/events.jsonl", 2),
        ("agent", "agent", f"{STATE}/t/events.jsonl", 2),
    }
    assert data_of(collected, "tool.execution_start") == [
        {"toolCallId": "x", "toolName": "sh", "input": {}},
        {"toolCallId": "y", "toolName": "sh", "input": {}},
    ]


def test_recordings_among_the_logs_are_the_last_resort(tmp_path: Path) -> None:
    files = {
        "agent-stdio.log": "plain text\n",
        "sandbox/agent/logs/a/run.jsonl": CLAUDE,
        "sandbox/agent/logs/debug.log": "nothing\n",
        "sandbox/agent/logs/z.jsonl": copilot("s"),
    }
    collected = collect(tmp_path, files)
    assert {path for _, _, path, _ in places(collected)} == {"sandbox/agent/logs/a/run.jsonl"}
    assert codes(collected) == [("other-recording", "sandbox/agent/logs/z.jsonl", None, True)]


def test_an_output_of_no_known_kind_is_said_and_is_no_agent_that_did_nothing(
    tmp_path: Path,
) -> None:
    collected = collect(tmp_path, {"agent-stdio.log": "plain text\n", "agent/x.txt": ""})
    assert codes(collected) == [("unrecognized-engine-log", "agent-stdio.log", None, True)]
    assert data_of(collected, "session.collection_warning") == [
        {"code": "unrecognized_engine_log", "path": "agent-stdio.log"}
    ]
    assert places(collected) == set()
    assert ("agent", "agent") not in lookups(collected).observed


def test_the_routing_outcome_stands_with_an_agent_only(tmp_path: Path) -> None:
    outcome = {"status": "selected", "wire_model": "m", "secret": 1}
    alone = collect(tmp_path / "a", {"agent/awf-routing-outcome.json": outcome})
    assert places(alone) == set()
    files = {"agent/awf-routing-outcome.json": outcome, "agent-session.jsonl": lines(INIT)}
    both = collect(tmp_path / "b", files)
    assert data_of(both, "model_routing.outcome") == [{"status": "selected", "wireModel": "m"}]
    assert ("agent", "agent", "agent/awf-routing-outcome.json", 1) in places(both)


def test_there_is_one_record_of_how_the_agent_ended(tmp_path: Path) -> None:
    ended = {"type": "agent.execution", "data": {"categories": ["b"], "exitCode": 3}}
    native = lines(INIT, {"type": "agent.execution", "data": {}}, ended)
    errors = lines(
        {"category": "z", "code": "E2", "errorType": "t"},
        {"type": "agent.execution", "data": {"categories": ["a", "z"], "errorCodes": ["E1"]}},
    )
    own = collect(tmp_path / "a", {"agent-session.jsonl": native})
    assert of_type(own, "agent.execution") == [
        {
            "type": "agent.execution",
            "data": {"categories": ["b"], "errorCodes": [], "errorTypes": [], "exitCode": 3},
            "provenance": {
                "component": "execution",
                "phase": "agent",
                "path": "agent-session.jsonl",
                "index": 0,
            },
        }
    ]
    files = {"agent-session.jsonl": native, "agent-errors.jsonl": errors}
    both = collect(tmp_path / "b", files)
    assert data_of(both, "agent.execution") == [
        {
            "categories": ["a", "z"],
            "errorCodes": ["E1", "E2"],
            "errorTypes": ["t"],
            "exitCode": 3,
        }
    ]
    assert ("execution", "agent", "agent-errors.jsonl", 1) in places(both)
    code = collect(tmp_path / "c", {"agent_execution_exit_code.txt": "7\n"})
    assert data_of(code, "agent.execution")[0]["exitCode"] == 7
    wrong = collect(tmp_path / "d", {"agent_execution_exit_code.txt": "many\n"})
    assert data_of(wrong, "agent.execution") == []
    assert codes(wrong) == [("invalid-number", "agent_execution_exit_code.txt", None, True)]


def test_a_session_result_keeps_counts_alone(tmp_path: Path) -> None:
    counts = {"input_tokens": 6, "output_tokens": "5", "cache_read_input_tokens": -1, "tier": "x"}
    data = {"usage": {**counts, "input_tokens_include_cache": False}, "num_turns": 3, "text": "x"}
    collected = collect(
        tmp_path, {"agent-session.jsonl": lines({"type": "session.result", "data": data})}
    )
    assert data_of(collected, "session.result") == [
        {
            "numTurns": 3,
            "usage": {"inputTokens": 6, "outputTokens": 5, "inputTokensIncludeCache": False},
        }
    ]
    assert codes(collected) == [
        ("invalid-number", "agent-session.jsonl", 1, True),
        ("number-as-text", "agent-session.jsonl", 1, False),
    ]
