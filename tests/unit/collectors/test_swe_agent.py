"""SWE-agent and mini-SWE-agent trajectories to events."""

from typing import Any

import pytest
from hypothesis import given

from aw_graders import _json
from aw_graders.collectors import Collected, SourceFile
from aw_graders.collectors.swe_agent import COLLECTOR
from aw_graders.lookups import Statistics, create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import Session
from tests.strategies.damage import assert_steady, damaged, wrongly_typed


def collect(*contents: bytes) -> Collected:
    files = [SourceFile(f"{number}.traj", content) for number, content in enumerate(contents)]
    return COLLECTOR.collect(files)


def one(value: Any) -> Collected:
    return collect(_json.compact(value))


def data_of(collected: Collected, kind: str) -> list[Any]:
    return [event.to_json()["data"] for event in collected.events if event.type == kind]


def kinds(collected: Collected) -> list[str]:
    return [event.type for event in collected.events]


def codes(collected: Collected) -> list[tuple[str, bool]]:
    return [(note.code, note.lossy) for note in collected.notes]


def stats(collected: Collected) -> Statistics:
    return create_session_lookups(redact(Session.of(collected.events)).session).stats


# --- SWE-agent --------------------------------------------------------------


def step(action: str = "ls\n", observation: Any = "a.py\n", **rest: Any) -> dict[str, Any]:
    said = f"I do {action}"
    return {
        "action": action,
        "observation": observation,
        "response": said,
        "thought": said,
        "state": "{}",
        **rest,
    }


def said(role: str, content: Any, **rest: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "agent": "main", **rest}


def acted(action: str, *calls: Any, **rest: Any) -> dict[str, Any]:
    tool_calls = {"tool_calls": list(calls)} if calls else {}
    return said("assistant", f"I do {action}", action=action, **tool_calls, **rest)


def function(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


OPENING = [said("system", "rules"), said("user", "the issue")]
RUN = {
    "environment": "e",
    "trajectory": [step("open a.py\n"), step("submit\n", "diff", execution_time=0.5)],
    "history": [
        OPENING[0],
        said("user", "a demonstration: open b.py", is_demo=True),
        acted("open b.py", is_demo=True),
        OPENING[1],
        acted("open a.py\n", function("k1", "open", '{"path": "a.py"}')),
        said("tool", "a.py\n", tool_call_ids=["k1"]),
        acted("submit\n", function("k2", "submit", "{}")),
    ],
    "info": {
        "exit_status": "submitted",
        "model_stats": {
            "total_cost": 9.0,
            "instance_cost": 0.5,
            "tokens_sent": 5000,
            "tokens_received": 70,
            "api_calls": 2,
        },
    },
    "replay_config": '{"agent": {"model": {"name": "m"}}}',
}


def test_every_step_of_a_run_becomes_its_events() -> None:
    collected = one(RUN)
    assert kinds(collected) == [
        "session.start",
        "system.message",
        "user.message",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_complete",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_complete",
        "session.result",
    ]
    assert data_of(collected, "session.start") == [{"sourceEngine": "swe-agent", "model": "m"}]
    assert data_of(collected, "user.message") == [{"content": "the issue"}]
    assert data_of(collected, "tool.execution_start") == [
        {"toolCallId": "k1", "toolName": "open", "input": {"path": "a.py"}},
        {"toolCallId": "k2", "toolName": "submit", "input": {}},
    ]
    assert data_of(collected, "tool.execution_complete")[1] == {
        "toolCallId": "k2",
        "toolName": "submit",
        "output": "diff",
        "durationMs": 500,
    }


def test_the_counts_of_the_instance_are_totals_and_no_requests() -> None:
    collected = one(RUN)
    assert data_of(collected, "session.result") == [
        {
            "status": "submitted",
            "numTurns": 2,
            "totalCostUsd": 0.5,
            "usage": {"inputTokens": 5000, "outputTokens": 70},
        }
    ]
    found = stats(collected)
    assert (found.requests, found.peak_input_tokens) == (None, None)
    assert (found.tokens.source, found.tokens.total_tokens) == ("session", 5070)
    zeros = {"info": {"model_stats": {"tokens_sent": 0, "tokens_received": 0, "api_calls": 2}}}
    assert stats(one({**RUN, **zeros})).tokens.total_tokens is None


def test_a_demonstration_is_no_part_of_the_run() -> None:
    collected = one(RUN)
    assert stats(collected).tool_calls == 2
    assert codes(collected) == [("demonstration", False)]


def test_no_outcome_is_recorded() -> None:
    found = stats(one(RUN))
    assert (found.successful_tool_calls, found.unknown_outcomes) == (0, 2)


def test_without_function_calls_an_action_is_a_command_of_the_shell() -> None:
    collected = one({"trajectory": [step("edit 1:1\nx\n"), step("", "no action")], "history": []})
    assert data_of(collected, "tool.execution_start") == [
        {"toolCallId": "call-1", "toolName": "bash", "input": {"command": "edit 1:1\nx\n"}}
    ]
    assert len(data_of(collected, "assistant.message")) == 2
    assert codes(collected) == []


def test_an_answer_that_was_asked_for_again_is_a_step_and_not_in_the_history() -> None:
    steps = [step("vim", "", execution_time=0.0), *RUN["trajectory"]]
    collected = one({**RUN, "trajectory": steps})
    names = [data["toolName"] for data in data_of(collected, "tool.execution_start")]
    assert names == ["bash", "open", "submit"]
    found = stats(collected)
    # It took no time and has no result, so it was never run.
    assert (found.tool_calls, found.unfinished_tool_calls) == (3, 1)
    assert codes(collected) == [("action-not-in-history", False), ("demonstration", False)]


@pytest.mark.parametrize(
    ("fields", "finished"),
    [
        ({"observation": ""}, True),
        ({"observation": "", "execution_time": 0.2}, True),
        ({"observation": "Exited", "execution_time": 0.0}, True),
        ({"observation": "", "execution_time": 0}, False),
        ({"observation": None}, False),
    ],
)
def test_a_command_that_prints_nothing_was_run_all_the_same(fields: Any, finished: Any) -> None:
    collected = one({"trajectory": [step(), {**step("rm a"), **fields}]})
    assert stats(collected).unfinished_tool_calls == (0 if finished else 1)


def test_a_step_for_which_no_model_was_asked_ends_the_run() -> None:
    last = step("", "", response="Exit due to cost limit", query=[{}])
    collected = one({"trajectory": [step(query=[said("user", "x")]), last]})
    assert data_of(collected, "session.error") == [{"message": "Exit due to cost limit"}]
    assert len(data_of(collected, "assistant.message")) == 1


def attempt(*actions: str, sent: int = 10) -> dict[str, Any]:
    stats_made = {"tokens_sent": sent, "tokens_received": 1, "api_calls": 1}
    return {
        "trajectory": [step(action) for action in actions],
        "info": {"model_stats": stats_made},
    }


def test_the_chosen_attempt_is_the_run_and_its_copy_counts_once() -> None:
    attempts = [attempt("a", sent=10), attempt("b", "c", sent=20)]
    whole = {"best_attempt_idx": 1, "model_stats": {"tokens_sent": 99, "tokens_received": 9}}
    collected = one({"attempts": attempts, **attempts[1], "info": whole})
    found = stats(collected)
    assert (found.tool_calls, found.tokens.input_tokens) == (2, 20)
    assert codes(collected) == [("other-attempts", False)]


def test_attempts_of_which_none_was_chosen_are_not_mixed() -> None:
    collected = one({"attempts": [attempt("a"), attempt("b")]})
    assert collected.events == ()
    assert codes(collected) == [("several-attempts", True)]
    assert stats(one({"attempts": [attempt("a")]})).tool_calls == 1


def test_a_history_alone_is_read_as_a_demonstration_is_written() -> None:
    history = [
        *OPENING,
        acted("ls", thinking_blocks=[{"type": "thinking", "thinking": "hm"}]),
        said("user", "a.py"),
        acted(
            "both",
            function("k1", "open", '{"path": "a"}'),
            function("k2", "open", "{broken"),
        ),
        said("tool", "opened", tool_call_ids=["k2", "k1"]),
        acted("submit", function("k3", "submit", "{}")),
        said("tool", "done"),
        said("tool", "stray", tool_call_ids=["k9"]),
        acted("left", function("k4", "open", "{}")),
        said("tool", "stray", tool_call_ids=["k9"]),
        said("assistant", "only words"),
        said("user", "no action found"),
    ]
    collected = one({"history": history})
    found = stats(collected)
    assert (found.tool_calls, found.unfinished_tool_calls, found.unknown_outcomes) == (5, 1, 4)
    assert data_of(collected, "user.message")[1] == {"content": "no action found"}
    assert data_of(collected, "assistant.reasoning") == [{"content": "hm"}]
    assert data_of(collected, "tool.execution_start")[2]["input"] == "{broken"
    assert codes(collected) == [("result-of-no-call", True)]


def test_call_ids_that_come_again_are_other_calls() -> None:
    again = acted("ls", function("k1", "bash", '{"command": "ls"}'))
    history = [*OPENING, again, said("tool", "a", tool_call_ids=["k1"]), again]
    found = stats(one({"history": [*history, said("tool", "b")]}))
    assert (found.tool_calls, found.unfinished_tool_calls, found.reused_ids) == (2, 0, 0)


# --- mini-SWE-agent ---------------------------------------------------------


STAMP = 1772618400


def usage(prompt: int, answer: int, cached: int | None = None) -> dict[str, Any]:
    details = None if cached is None else {"cached_tokens": cached}
    counts = {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}
    return {**counts, "prompt_tokens_details": details}


def answer(*calls: tuple[str, str], number: int = 1, **rest: Any) -> dict[str, Any]:
    """Make an answer with calls of an id and a command each."""
    made = [
        function(name, "bash", _json.compact({"command": text}).decode()) for name, text in calls
    ]
    actions = [{"command": text, "tool_call_id": name} for name, text in calls]
    response = {"id": f"r{number}", "model": "m-1", "usage": usage(100 * number, 5, 40)}
    extra = {"actions": actions, "response": response, "timestamp": STAMP + number, **rest}
    return {"role": "assistant", "content": "I look", "tool_calls": made, "extra": extra}


def tool(call_id: str, code: Any = 0, exception: Any = "") -> dict[str, Any]:
    extra = {
        "raw_output": "out",
        "returncode": code,
        "exception_info": exception,
        "timestamp": STAMP + 50,
    }
    return {"role": "tool", "tool_call_id": call_id, "content": "rendered", "extra": extra}


def leave(status: str = "Submitted", text: str = "patch") -> dict[str, Any]:
    return {"role": "exit", "content": text, "extra": {"exit_status": status, "submission": text}}


NOT_RUN = "action was not executed"
HEAD = [{"role": "system", "content": "rules"}, {"role": "user", "content": "the issue"}]


def mini(*messages: Any, calls: int = 2, version: str = "1.1") -> dict[str, Any]:
    model = {"model_name": "p/m"}
    return {
        "info": {
            "model_stats": {"instance_cost": 0.25, "api_calls": calls},
            "config": {"model": model, "environment": {"cwd": "/w"}},
            "mini_version": "2.0.0",
            "exit_status": "Submitted",
        },
        "messages": [*HEAD, *messages],
        "trajectory_format": f"mini-swe-agent-{version}",
    }


MINI = mini(
    answer(("c1", "ls"), ("c2", "false")),
    tool("c2", 1),
    tool("c1"),
    answer(("c3", "echo done"), number=2),
    leave(),
)


def test_calls_of_one_answer_are_paired_by_id_and_fail_by_exit_code() -> None:
    collected = one(MINI)
    assert data_of(collected, "session.start") == [
        {"sourceEngine": "mini-swe-agent", "model": "p/m", "cwd": "/w"}
    ]
    assert data_of(collected, "tool.execution_start")[0] == {
        "toolCallId": "c1",
        "toolName": "bash",
        "input": {"command": "ls"},
    }
    assert data_of(collected, "tool.execution_complete")[0] == {
        "toolCallId": "c2",
        "toolName": "bash",
        "output": "out",
        "success": False,
        "exitCode": 1,
    }
    found = stats(collected)
    assert (found.tool_calls, found.successful_tool_calls, found.failed_tool_calls) == (3, 2, 1)
    # The first answer is stamped 1 s after the beginning, the last result 50 s.
    assert found.duration.value_ms == 49_000
    assert codes(collected) == [("time-in-seconds", False)]


def test_the_call_that_submitted_ended_with_exit_code_0() -> None:
    assert data_of(one(MINI), "tool.execution_complete")[2] == {
        "toolCallId": "c3",
        "toolName": "bash",
        "success": True,
        "exitCode": 0,
        "output": "patch",
    }


def test_the_call_that_submitted_may_pass_for_one_that_was_not_run() -> None:
    padded = [tool("c1"), tool("c2", -1, NOT_RUN), tool("c3", -1, NOT_RUN)]
    calls = answer(("c1", "ls"), ("c2", "submit"), ("c3", "ls"))
    found = stats(one(mini(calls, *padded, leave(), calls=1)))
    assert (found.successful_tool_calls, found.failed_tool_calls) == (2, 1)
    rejected = {"role": "user", "content": "no", "extra": {"interrupt_type": "UserRejection"}}
    found = stats(one(mini(calls, *padded, rejected, answer(number=2), leave())))
    assert (found.successful_tool_calls, found.failed_tool_calls) == (1, 2)


def test_which_of_several_calls_submitted_is_not_known() -> None:
    collected = one(mini(answer(("c1", "ls"), ("c2", "submit")), leave(), calls=1))
    assert stats(collected).unfinished_tool_calls == 2
    assert ("submitted-among-several", False) in codes(collected)


def test_a_run_that_did_not_submit_leaves_its_call_unfinished() -> None:
    error = {**leave("TimeoutError"), "extra": {"exit_status": "X", "exception_str": "late"}}
    collected = one(mini(answer(("c1", "sleep")), error, calls=1))
    assert stats(collected).unfinished_tool_calls == 1
    assert data_of(collected, "session.error") == [{"message": "late"}]


def test_each_answer_is_one_request_with_its_cached_tokens_inside() -> None:
    collected = one(MINI)
    assert data_of(collected, "usage.report")[0] == {
        "requestId": "r1",
        "model": "m-1",
        "purpose": "agent",
        "usage": {
            "inputTokens": 100,
            "outputTokens": 5,
            "totalTokens": 105,
            "cacheReadInputTokens": 40,
            "inputTokensIncludeCache": True,
        },
    }
    found = stats(collected)
    assert (found.requests, found.peak_input_tokens, found.cumulative_input_tokens) == (2, 200, 300)
    assert (found.tokens.output_tokens, found.tokens.total_tokens) == (10, 310)
    assert data_of(collected, "session.result") == [
        {"status": "Submitted", "numTurns": 2, "totalCostUsd": 0.25}
    ]


def test_cached_tokens_that_outnumber_the_prompt_stand_beside_it() -> None:
    message = answer()
    message["extra"]["response"]["usage"] = usage(10, 5, 400)
    found = stats(one(mini(message, answer(number=2))))
    # 10 + 400, and 200 + 40.
    assert found.cumulative_input_tokens == 650


def test_an_answer_that_could_not_be_used_was_a_request_all_the_same() -> None:
    said_then = {"choices": [{"message": {"content": "no call"}}]}
    response = {"id": "r0", "model": "m-1", "usage": usage(50, 5), **said_then}
    refused = {
        "role": "user",
        "content": "exactly one action",
        "extra": {"interrupt_type": "FormatError", "response": response},
    }
    collected = one(mini(refused, answer(("c1", "ls")), tool("c1")))
    found = stats(collected)
    assert (found.requests, found.cumulative_input_tokens, found.tool_calls) == (2, 150, 1)
    assert data_of(collected, "assistant.message")[0] == {"content": "no call"}
    assert data_of(collected, "user.message")[1]["channel"] == "injected"
    unreadable = {**refused, "extra": {"interrupt_type": "FormatError", "response": "repr"}}
    collected = one(mini(unreadable, answer(("c1", "ls")), tool("c1")))
    assert ("requests-differ", False) in codes(collected)


def test_equal_response_ids_are_two_requests() -> None:
    collected = one(mini(answer(), answer()))
    ids = [data["requestId"] for data in data_of(collected, "usage.report")]
    assert ids == ["r1", "0.traj#2"]


def test_commands_of_a_person_are_no_calls() -> None:
    typed = {"role": "user", "content": "ls", "extra": {"actions": [{"command": "ls"}]}}
    shown = {"role": "user", "content": "out", "extra": {"returncode": 1, "raw_output": "out"}}
    found = stats(one(mini(typed, shown, answer(("c1", "ls")), tool("c1"))))
    assert (found.tool_calls, found.failed_tool_calls) == (1, 0)


def test_responses_of_the_other_interface_are_read() -> None:
    def response(number: int, *output: Any) -> dict[str, Any]:
        counts = {
            "input_tokens": 100 * number,
            "output_tokens": 7,
            "total_tokens": 100 * number + 7,
            "input_tokens_details": {"cached_tokens": 64},
            "output_tokens_details": {"reasoning_tokens": 3},
        }
        fields = {"object": "response", "id": f"r{number}", "model": "m", "usage": counts}
        return {**fields, "output": list(output), "extra": {"actions": []}}

    called = {"type": "function_call", "call_id": "c1", "name": "bash"}
    first = response(
        1,
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "ok"}]},
        {**called, "arguments": '{"command": "ls"}'},
    )
    extra = {"returncode": 2, "raw_output": "no"}
    ended = {"type": "function_call_output", "call_id": "c1", "output": "x", "extra": extra}
    collected = one(mini(first, ended, response(2), leave()))
    assert kinds(collected)[3:8] == [
        "assistant.reasoning",
        "assistant.message",
        "tool.execution_start",
        "usage.report",
        "tool.execution_complete",
    ]
    found = stats(collected)
    assert (found.requests, found.cumulative_input_tokens) == (2, 300)
    assert (found.tool_calls, found.failed_tool_calls) == (1, 1)
    assert data_of(collected, "usage.report")[0]["usage"]["reasoningOutputTokens"] == 3


def fenced(command: str, word: str = "bash") -> dict[str, Any]:
    return {"role": "assistant", "content": f"I look\n\n```{word}\n{command}\n```\nthen"}


def shown(code: int, text: str = "out") -> dict[str, Any]:
    content = f"<returncode>{code}</returncode>\n<output>\n{text}\n</output>"
    return {"role": "user", "content": content}


LIST = [
    *HEAD,
    fenced("ls"),
    shown(0),
    fenced("cat b", "mswea_bash_command"),
    shown(1, "<returncode>0</returncode>"),
    {"role": "assistant", "content": "```bash\na\n```\n```bash\nb\n```"},
    {"role": "user", "content": "exactly one"},
    fenced("echo COMPLETE && git diff"),
    {"role": "user", "content": "diff"},
]


def test_the_first_version_is_a_list_of_messages_with_commands_in_fences() -> None:
    collected = one(LIST)
    commands = [data["input"]["command"] for data in data_of(collected, "tool.execution_start")]
    assert commands == ["ls", "cat b", "echo COMPLETE && git diff"]
    found = stats(collected)
    # The exit code is the one in front of the output; the last message has none.
    assert (found.tool_calls, found.successful_tool_calls, found.unknown_outcomes) == (3, 1, 1)
    assert (found.failed_tool_calls, found.requests) == (2, None)
    assert data_of(collected, "user.message")[1] == {"content": "exactly one"}
    wrapped = one({**mini(version="1"), "messages": LIST})
    assert stats(wrapped).tool_calls == 3


def test_results_without_ids_answer_calls_in_order() -> None:
    message = answer(("", "a"), ("", "b"))
    del message["tool_calls"]
    results = [{**tool("", code), "role": "user"} for code in (0, 3)]
    collected = one(mini(message, *results, calls=1))
    ended = data_of(collected, "tool.execution_complete")
    assert [(data["toolCallId"], data["exitCode"]) for data in ended] == [
        ("call-1", 0),
        ("call-2", 3),
    ]


def test_runs_are_never_mixed() -> None:
    collected = collect(_json.compact(RUN), _json.compact(MINI))
    assert collected.events == ()
    assert codes(collected)[-1] == ("several-runs", True) or ("several-runs", True) in codes(
        collected
    )
    again = collect(_json.compact(MINI), _json.compact(MINI))
    assert stats(again).requests == 2
    assert ("copied-run", False) in codes(again)


def test_what_cannot_be_used_is_noted() -> None:
    collected = one(mini(5, {"role": "robot"}, tool("c9"), calls=-1))
    assert codes(collected) == [
        ("invalid-number", True),
        ("message-not-an-object", True),
        ("result-of-no-call", True),
        ("time-in-seconds", False),
        ("unknown-role", True),
    ]
    collected = one({"trajectory": [step(), 5], "history": [5]})
    assert codes(collected) == [("message-not-an-object", True), ("step-not-an-object", True)]
    assert codes(collect(b'{"a": 1}')) == [("not-a-run", True)]


CONTENTS = [
    _json.compact(RUN),
    _json.pretty(RUN),
    _json.compact(MINI),
    _json.pretty(MINI),
    _json.compact(LIST),
    _json.compact({"history": [*OPENING, acted("ls"), said("user", "a.py")]}),
    _json.compact({"attempts": [attempt("a")]}),
]
TIME = "2026-03-04T10:00:00Z"
OTHERS: list[Any] = [
    {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": ""}},
    {"type": "session.start", "data": {}, "timestamp": TIME, "parentId": None},
    {"type": "session_meta", "payload": {"id": "x"}, "timestamp": TIME},
    {"type": "session", "id": "s", "cwd": "/w"},
    {"info": {"id": "s"}, "messages": []},
    {"schema_version": "ATIF-v1.7", "steps": [], "agent": {}},
    {"history": [{"id": 1, "source": "agent", "action": "run", "args": {}}], "instance_id": "x"},
    {"sessionId": "s", "projectHash": "p", "startTime": TIME, "messages": []},
    {"version": 2, "status": "success", "eval": {}, "samples": []},
    {"messages": [], "trajectory_format": "other"},
    {"trajectory": [1, {}], "history": []},
    [{"role": "user", "content": "what is <returncode>0</returncode>"}],
    {},
]


@pytest.mark.parametrize("value", OTHERS)
def test_other_recordings_are_not_detected(value: Any) -> None:
    assert not COLLECTOR.detect(_json.compact(value))
    assert not COLLECTOR.detect(_json.pretty(value))


@pytest.mark.parametrize("content", CONTENTS)
def test_own_recordings_are_detected_and_unified_sessions_are_not(content: bytes) -> None:
    assert COLLECTOR.detect(content)
    assert COLLECTOR.detect(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))
    event = {"type": "a.b", "data": {}, "provenance": {}}
    assert not COLLECTOR.detect(content + b"\n" + _json.compact(event))
    assert not COLLECTOR.detect(_json.compact({**event, "data": RUN}))


@pytest.mark.parametrize("content", [b"", b"\0\0", b"\xff\xfe\x00", b'"history"', b"[1]", b"null"])
def test_no_recordings_are_not_detected(content: bytes) -> None:
    assert not COLLECTOR.detect(content)
    assert collect(content).events == ()


def test_a_cut_recording_gives_no_part_that_passes_for_the_whole() -> None:
    for content in CONTENTS:
        for place in range(0, len(content.rstrip()), 1 if len(content) < 3000 else 5):
            cut = collect(content[:place])
            # Of a list, what is there was said all the same.
            assert not cut.events or content.startswith(b"[")
            assert not place or any(note.lossy for note in cut.notes)
            collect(content[place:])


def test_many_fences_and_many_calls_cost_linear_time() -> None:
    opened = {"role": "assistant", "content": "```bash\n" * 200_000}
    assert stats(one([*HEAD, opened, shown(0)])).tool_calls == 0
    names = [f"c{number}" for number in range(5000)]
    results = [tool(name) for name in reversed(names)]
    found = stats(one(mini(answer(*((name, "ls") for name in names)), *results)))
    assert found.successful_tool_calls == 5000


def test_wrong_types_anywhere_never_raise() -> None:
    for content in CONTENTS:
        for spoilt in wrongly_typed(content):
            COLLECTOR.detect(spoilt)
            collect(spoilt)


@given(damaged(tuple(CONTENTS)))
def test_damaged_recordings_give_no_error(contents: tuple[bytes, ...]) -> None:
    for content in contents:
        COLLECTOR.detect(content)
        assert_steady(content, collect, stats)
