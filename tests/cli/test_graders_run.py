"""`aw graders run`, through the real command."""

import json
import os
import subprocess
import sys

import pytest

from aw_graders.graders import BUILT_IN
from aw_graders.session import limits
from tests.support import ROOT, grader_cases, lines_of

_EXAMPLE = ROOT / "examples" / "workflow-run.jsonl"
_HEADER = b'{"type":"session.format","data":{"version":1},"provenance":{"component":"collector","phase":"conclusion","path":"usage/aw_session.jsonl","index":0}}\n'
_EVENT = b'{"type":"a.b","data":{},"provenance":{"component":"agent","phase":"agent","path":"p","index":0}}\n'
# What a run of coverage needs to reach into the command, beside the path to the modules.
_PASSED_ON = ("PYTHONPATH", "COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG")


def aw(*arguments, stdin=None, seed="0", **variables):
    """Run the command in an environment made from nothing."""
    environment = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": seed, "LC_ALL": "C.UTF-8"}
    environment |= {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment |= variables
    command = [sys.executable, "-m", "aw_graders", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, env=environment, check=False)


@pytest.mark.spec("G-2-11", "G-6-1", "G-6-3", "G-6-5", "G-6-14", "G-8-13")
def test_file_pipe_array_and_hash_seed_give_the_same_bytes():
    content = _EXAMPLE.read_bytes()
    array = b"[" + b",".join(content.splitlines()) + b"]"
    runs = [
        aw("graders", "run", "--session", _EXAMPLE, "--json"),
        aw("graders", "run", "--json", stdin=content),
        aw("graders", "run", "--json", stdin=array),
        aw("graders", "run", "--json", stdin=content, seed="7"),
    ]

    assert {run.returncode for run in runs} == {0}
    assert len({run.stdout for run in runs}) == 1
    assert b"".join(run.stderr for run in runs) == b""
    assert json.loads(runs[0].stdout)["version"] == 2


def test_the_vectors_hold_through_the_command_under_two_hash_seeds():
    for case in grader_cases()[::7]:
        if case["config"]:
            continue
        runs = [
            aw("graders", "run", "--json", stdin=lines_of(case["session"]), seed=s) for s in "12"
        ]
        assert runs[0].stdout == runs[1].stdout
        values = {result["id"]: result["value"] for result in json.loads(runs[0].stdout)["results"]}
        # Graders that are not on by default are asked for elsewhere.
        for id_, want in case["expected"].items():
            if BUILT_IN[id_].default:
                assert values[id_] == (want if want is None else pytest.approx(want, abs=1e-9))


_BAD = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\n", "is empty"),
    "binary": (bytes(range(256)) * 4, "binary data"),
    "cut in a line": (_HEADER + _EVENT + _EVENT[:40], ":3:"),
    "cut in the header": (_HEADER[:30], ":1:"),
    "no header": (_EVENT, "not the header"),
    "NaN": (_HEADER + _EVENT.replace(b"{}", b'{"x":NaN}'), ":2:27: NaN is not JSON"),
    "overflow": (_HEADER + _EVENT.replace(b"{}", b'{"x":1e999}'), "1e999 is too large"),
    "deep": (
        _HEADER + _EVENT.replace(b"{}", b'{"x":' + b"[" * 600 + b"]" * 600 + b"}"),
        "too deeply",
    ),
    "version 2": (_HEADER.replace(b'"version":1', b'"version":2'), "only 1 is supported"),
    "two executions": (_HEADER + _EVENT.replace(b"a.b", b"agent.execution") * 2, "second"),
    "two sessions in one file": (_HEADER + _EVENT + _HEADER + _EVENT, ":3:1: a second header"),
    "data is a list": (_HEADER + _EVENT.replace(b"{}", b"[]"), '"data" is no object'),
    "no provenance": (_HEADER + b'{"type":"a.b","data":{}}\n', 'no "provenance"'),
    "legacy trace": (b'{"toolCalls":[],"tokenUsageEntries":[]}', "legacy trace payload"),
    "pretty legacy trace": (b'{\n "schemaVersion": 1\n}', "legacy trace payload"),
    "evaluator request": (b'{"run":{},"event":{},"outputs":[]}', "evaluator request"),
    "other JSON": (b'{"a":1}\n', "no recording of a kind that is known"),
    "other array": (b"[1,2]", "something else than events"),
    "long line": (b'{"type":"' + b"a" * (60 * 1024 * 1024) + b'"}', "60 MiB"),
}


@pytest.mark.spec("G-2-12", "G-6-7", "G-6-8")
@pytest.mark.parametrize("name", _BAD)
def test_bad_input_is_one_line_and_exit_three(name, tmp_path):
    content, said = _BAD[name]
    file = tmp_path / "input.jsonl"
    file.write_bytes(content)

    run = aw("graders", "run", "--session", file, "--json")

    assert run.returncode == 3, run.stderr
    assert run.stdout == b""
    assert run.stderr.count(b"\n") == 1
    assert said in run.stderr.decode()
    assert str(file) in run.stderr.decode()
    assert b"Traceback" not in run.stderr


def test_a_directory_and_a_missing_file_are_one_line(tmp_path):
    for path, said in ((tmp_path, b"is a directory"), (tmp_path / "no", b"does not exist")):
        run = aw("graders", "run", "--session", path)
        assert (run.returncode, run.stderr.count(b"\n")) == (3, 1)
        assert said in run.stderr


def test_lenient_reading_skips_names_and_marks_partial():
    content = _HEADER + b"not json\n" + _EVENT

    run = aw("graders", "run", "--lenient", "--json", stdin=content)

    assert run.returncode == 0
    assert json.loads(run.stdout)["partial"] is True
    assert b"<stdin>:2:1:" in run.stderr


def test_a_workflow_is_refused_for_now_with_one_line():
    run = aw("graders", "run", "triage", stdin=_HEADER)

    assert (run.returncode, run.stderr.count(b"\n")) == (2, 1)


def test_check_fails_when_a_grader_fails():
    failed = lines_of([json.loads(_HEADER)]) + b"".join(
        json.dumps(
            {
                "type": "tool.execution_start",
                "data": {"toolCallId": f"c{i}", "toolName": "x"},
                "provenance": {"component": "agent", "phase": "agent", "path": "p", "index": i},
            }
        ).encode()
        + b"\n"
        for i in range(3)
    )

    assert aw("graders", "run", stdin=failed).returncode == 0
    assert aw("graders", "run", "--check", stdin=failed).returncode == 1
    assert aw("graders", "run", "--check", "--session", _EXAMPLE).returncode == 0


@pytest.mark.spec("G-5-6")
def test_the_table_says_value_verdict_and_what_is_missing():
    run = aw("graders", "run", stdin=_HEADER)
    text = run.stdout.decode()

    assert run.returncode == 0
    assert text.count("unavailable") >= 10
    assert "collect the agent's session file" in text


def test_a_picked_grader_runs_alone_and_an_unknown_one_is_refused():
    run = aw("graders", "run", "--grader", "tool-[sf]*", "--json", "--session", _EXAMPLE)
    assert [result["id"] for result in json.loads(run.stdout)["results"]] == [
        "tool-success-rate",
        "tool-failure-count",
    ]
    assert aw("graders", "run", "--grader", "nope", "--session", _EXAMPLE).returncode == 2


def test_list_explain_schema_and_version_answer():
    assert aw("--version").stdout.startswith(b"aw ")
    assert aw("graders", "list").stdout.count(b"\n") == len(BUILT_IN)
    assert b"formula" in aw("graders", "explain", "loops").stdout
    assert aw("graders", "explain", "nope").returncode == 2
    for name in ("session", "manifest", "results"):
        assert json.loads(aw("schema", name).stdout)["$schema"]
    assert aw("schema", "nope").returncode == 2


def test_session_validate_and_show_answer(tmp_path):
    assert aw("session", "validate", _EXAMPLE).returncode == 0
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(_HEADER + _EVENT.replace(b'"p"', b'"/etc/passwd"') + b"\n" + b"{}\n")
    run = aw("session", "validate", bad)
    assert run.returncode == 1
    assert b"bad.jsonl:2:1:" in run.stdout
    assert b"blank line" in run.stdout
    shown = aw("session", "show", _EXAMPLE)
    assert shown.stdout.count(b"\n") == len(_EXAMPLE.read_bytes().splitlines())
    assert len(json.loads(aw("session", "show", _EXAMPLE, "--json").stdout)) == shown.stdout.count(
        b"\n"
    )


def test_results_hold_their_schema():
    jsonschema = pytest.importorskip("jsonschema")
    document = json.loads(aw("graders", "run", "--json", "--session", _EXAMPLE).stdout)
    jsonschema.validate(document, json.loads(aw("schema", "results").stdout))


def test_a_secret_reaches_neither_results_nor_errors(tmp_path):
    secret = b"ghp_" + b"q" * 36
    start = _EVENT.replace(b"a.b", b"tool.execution_start").replace(
        b"{}", b'{"toolName":"%s"}' % secret
    )
    for content in (
        _HEADER + start,
        _HEADER + start.replace(b'"data"', b'"%s"' % secret),
        _HEADER + secret,
    ):
        file = tmp_path / "input.jsonl"
        file.write_bytes(content)
        run = aw("graders", "run", "--session", file)
        assert secret not in run.stdout + run.stderr


def test_a_large_session_gives_the_same_bytes_from_a_file_a_pipe_and_an_array(tmp_path):
    lines = _EXAMPLE.read_bytes().splitlines()
    padding = b"x" * 40_000
    padded = [
        line.replace(b'"data":{', b'"data":{"padding":"' + padding + b'",', 1) for line in lines[1:]
    ]
    content = b"\n".join([lines[0], *padded]) + b"\n"
    path = tmp_path / "large.jsonl"
    path.write_bytes(content)
    assert len(content) > limits.STREAM_FROM_BYTES

    runs = [
        aw("graders", "run", "--session", path, "--json"),
        aw("graders", "run", "--json", stdin=content),
        aw("graders", "run", "--json", stdin=b"[" + b",".join(content.splitlines()) + b"]"),
        aw("graders", "run", "--session", _EXAMPLE, "--json"),
    ]

    assert {run.returncode for run in runs} == {0}
    assert len({run.stdout for run in runs}) == 1


def test_a_trajectory_grader_sees_the_events_of_a_large_session(tmp_path):
    event = _EVENT.replace(b"{}", b'{"padding":"' + b"x" * 100_000 + b'"}')
    start = _EVENT.replace(b"a.b", b"tool.execution_start")
    calls = b"".join(
        start.replace(b"{}", b'{"toolName":"view","toolCallId":"%d"}' % number)
        for number in range(4)
    )
    path = tmp_path / "large.jsonl"
    path.write_bytes(_HEADER + calls + event * 50)

    run = aw("graders", "run", "--session", path, "--json", "--grader", "recurrence-*")

    values = {result["id"]: result["value"] for result in json.loads(run.stdout)["results"]}
    assert values["recurrence-rate"] == 1
    assert len(values) == 4


def test_a_large_session_is_refused_as_a_small_one_is(tmp_path):
    event = _EVENT.replace(b"{}", b'{"output":"' + b"x" * 100_000 + b'"}')
    content = _HEADER + event * 50
    for spoil, said in ((b"{\n", "expecting property name"), (_HEADER, "second header")):
        path = tmp_path / "large.jsonl"
        path.write_bytes(content + spoil + event)

        strict = aw("graders", "run", "--session", path, "--json")
        lenient = aw("graders", "run", "--session", path, "--json", "--lenient")

        assert strict.returncode == 3
        assert strict.stderr.decode().startswith(f"aw: {path}:52:")
        assert said in strict.stderr.decode()
        assert strict.stderr.count(b"\n") == 1
        assert lenient.returncode == 0
        assert json.loads(lenient.stdout)["partial"] is True


def test_files_of_one_name_are_two_sources(tmp_path):
    for folder, success in (("a", True), ("b", False)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "events.jsonl").write_bytes(_copilot(folder, success=success))

    run = aw(
        *("graders", "run", "--json"),
        *("--session", tmp_path / "a" / "events.jsonl"),
        *("--session", tmp_path / "b" / "events.jsonl"),
    )

    values = {result["id"]: result["value"] for result in json.loads(run.stdout)["results"]}
    assert values["tool-success-rate"] == 0.5
    assert str(tmp_path).encode() not in run.stdout


def _copilot(session, *, success):
    rows = [
        ("session.start", {"sessionId": session, "version": 1}),
        ("tool.execution_start", {"toolCallId": "c1", "toolName": "sh", "arguments": {"n": 1}}),
        ("tool.execution_complete", {"toolCallId": "c1", "success": success}),
    ]
    stamp = {"timestamp": "2026-01-01T00:00:00.000Z", "parentId": None}
    return lines_of(
        [{"type": kind, "data": data, "id": session + kind, **stamp} for kind, data in rows]
    )


def test_a_file_given_twice_and_two_unified_sessions_are_refused(tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_bytes(_HEADER + _EVENT)

    twice = aw("graders", "run", "--session", other, "--session", other)
    two = aw("graders", "run", "--session", other, "--session", _EXAMPLE)

    assert (twice.returncode, two.returncode) == (2, 3)
    assert b"is given twice" in twice.stderr
    assert b"one by one" in two.stderr


def test_sub_agents_of_every_given_recording_are_found(tmp_path):
    base = {"sessionId": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w", "version": "2"}
    for name in ("one", "two"):
        folder = tmp_path / name / "subagents"
        folder.mkdir(parents=True)
        for path, owner in ((tmp_path / f"{name}.jsonl", name), (folder / "agent-a1.jsonl", "sub")):
            message = {
                "id": f"m-{name}-{owner}",
                "role": "assistant",
                "model": "m",
                "content": [{"type": "text", "text": "hi"}],
                "usage": {"input_tokens": 5, "output_tokens": 1},
            }
            row = {**base, "type": "assistant", "uuid": f"u-{name}-{owner}", "message": message}
            row |= {"sessionId": name, "parentUuid": None}
            if owner == "sub":
                row |= {"isSidechain": True, "agentId": "a1"}
            path.write_bytes(lines_of([row]))

    run = aw(
        *("graders", "run", "--json"),
        *("--session", tmp_path / "one.jsonl"),
        *("--session", tmp_path / "two.jsonl"),
    )

    values = {result["id"]: result["value"] for result in json.loads(run.stdout)["results"]}
    assert values["execution-step-count"] == 4


def test_a_name_in_a_session_never_begins_a_line_of_the_table():
    name = "t\n::error::x\r\n::stop-commands::y\x1b[31m\u2028::z"
    start = {"toolName": name, "toolCallId": "c"}
    event = json.loads(_EVENT) | {"type": "tool.execution_start", "data": start}
    info = json.loads(_EVENT) | {"type": "workflow.info", "data": {"runId": "7\n::error::x"}}
    info["provenance"] = info["provenance"] | {"path": "aw_info.json"}

    run = aw("graders", "run", stdin=_HEADER + lines_of([event, info]))

    assert run.returncode == 0
    assert len(run.stdout.decode().splitlines()) == 13
    assert not [line for line in run.stdout.splitlines() if line.startswith(b"::")]
    assert b"\x1b" not in run.stdout
