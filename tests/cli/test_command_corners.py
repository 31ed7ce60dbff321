"""Rare answers of the command itself: one fact each, through the real command."""

import json
import os
import pty
import re
import subprocess
import sys
import threading
import tty

import pytest

from aw_graders.graders import BUILT_IN
from aw_graders.session import HEADER
from aw_graders.session.limits import MAX_CONFIG_BYTES, MAX_SHOWN_PROBLEMS, STREAM_FROM_BYTES
from tests.cli.test_graders_run import _PASSED_ON, aw
from tests.support import ROOT, lines_of

_EXAMPLE = ROOT / "examples" / "workflow-run.jsonl"
_HEADER = HEADER.to_json()
_TOKEN = "ghp_" + "a1B2" * 9
_USAGE, _FAILED, _FOUND = 2, 3, 1


def _event(kind="a.b", index=0, data=None, /, top=None, **source):
    place = {"component": "agent", "phase": "agent", "path": "p", "index": index} | source
    return {"type": kind, **(top or {}), "data": data or {}, "provenance": place}


def _at(second):
    return {"timestamp": f"2026-05-01T10:00:{second:02}Z"}


def _file(path, *parts):
    path.write_bytes(
        b"".join(part if isinstance(part, bytes) else lines_of([part]) for part in parts)
    )
    return path


def _aw(*arguments, variables=None, shell="", **streams):
    """Run the command with more of its surroundings chosen; `shell` redirects its streams."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **(variables or {})}
    environment |= {
        name: os.environ[name]
        for name in _PASSED_ON
        if name in os.environ and name not in environment
    }
    command = [sys.executable, "-m", "aw_graders", *map(str, arguments)]
    if shell:
        command = ["/bin/sh", "-c", f'exec "$@" {shell}', "sh", *command]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.run(command, env=environment, check=False, **streams)


def _refused(run, status, said):
    """Assert one line on standard error, nothing on standard output."""
    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (status, b"", 1), run
    assert run.stderr.startswith(b"aw: ")
    assert said in run.stderr.decode()


# --- the command line -------------------------------------------------------


def test_the_version_is_the_same_however_it_is_asked_for():
    version = aw("--version")

    assert (version.returncode, version.stderr) == (0, b"")
    assert version.stdout == aw("--debug", "--version").stdout
    assert version.stdout.startswith(b"aw ")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_lists_every_verb_without_a_session(option):
    run = aw(option)

    assert (run.returncode, run.stderr) == (0, b"")
    for verb in ("graders", "session", "conclude", "schema"):
        assert f"\n  {verb} ".encode() in run.stdout


@pytest.mark.parametrize("arguments", [("nope",), ("graders", "nope"), ("--nope",), ("schema",)])
def test_a_verb_or_option_that_is_not_there_is_a_mistake_of_use(arguments):
    run = aw(*arguments)

    assert (run.returncode, run.stdout) == (_USAGE, b"")
    assert b"Traceback" not in run.stderr


def _with_a_fault(tmp_path):
    """Let the library that reads configuration fail in a way nobody foresaw."""
    (tmp_path / "ruamel").mkdir()
    (tmp_path / "ruamel" / "__init__.py").write_text("raise RuntimeError('unforeseen')\n")
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    config = tmp_path / "graders.yml"
    config.write_text("loops: {}\n")
    return {"PYTHONPATH": os.pathsep.join(paths)}, config


def test_what_nobody_foresaw_is_one_line_and_a_traceback_only_for_who_asks(tmp_path):
    variables, config = _with_a_fault(tmp_path)
    arguments = ("graders", "run", "--session", _EXAMPLE, "--config", config)

    run = _aw(*arguments, variables=variables)
    shown = _aw("--debug", *arguments, variables=variables)

    _refused(run, _FAILED, "internal error (RuntimeError); run again with --debug")
    assert shown.returncode != 0
    assert b"RuntimeError: unforeseen" in shown.stderr
    assert b"Traceback" in shown.stderr


@pytest.mark.parametrize("arguments", [("explain", "loops", "--json"), ("list", "--json")])
def test_output_that_cannot_be_written_is_never_a_success(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        gone = _aw("graders", *arguments, stdout=writer)
    finally:
        os.close(writer)
    with open("/dev/full", "wb") as full:
        no_room = _aw("graders", *arguments, stdout=full)

    assert 0 not in {gone.returncode, no_room.returncode}
    assert b"Traceback" not in gone.stderr + no_room.stderr


def test_a_command_without_standard_error_still_answers():
    run = _aw("graders", "list", "--json", shell="2>&-")

    assert run.returncode == 0
    assert len(json.loads(run.stdout)) == len(BUILT_IN)


def test_what_a_file_is_called_cannot_steer_the_terminal(tmp_path):
    run = aw("session", "validate", tmp_path / f"\x1b[31m\r{_TOKEN}")

    _refused(run, _FAILED, "does not exist")
    assert b"\x1b" not in run.stderr
    assert b"\r" not in run.stderr
    assert _TOKEN.encode() not in run.stderr


# --- where a session comes from ---------------------------------------------


@pytest.mark.parametrize("shell", ["<&-", "terminal"])
def test_without_a_session_the_command_says_how_to_give_one(shell):
    if shell == "terminal":
        leader, follower = pty.openpty()
        try:
            tty.setraw(follower)
            run = _aw("graders", "run", stdin=follower)
        finally:
            os.close(leader)
            os.close(follower)
    else:
        run = _aw("graders", "run", shell=shell)

    _refused(run, _USAGE, "no session; use --session FILE, or pipe one to standard input")


@pytest.mark.parametrize("verb", [("session", "validate"), ("session", "show")])
@pytest.mark.parametrize(
    ("place", "said"),
    [
        (".", "is a directory; give a session file"),
        ("no", "does not exist"),
        ("file/below", "does not exist"),
        ("loop", "does not exist"),
        ("/dev/null", "is no regular file"),
        ("/proc/self/mem", "cannot be read: Input/output error"),
    ],
)
def test_a_file_that_cannot_be_read_is_said_in_one_line(tmp_path, verb, place, said):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "loop").symlink_to("loop")

    _refused(aw(*verb, tmp_path / place), _FAILED, said)


def test_a_file_that_fails_while_it_is_graded_is_said_in_one_line():
    _refused(aw("graders", "run", "--session", "/proc/self/mem"), _FAILED, "cannot be read: ")


def test_a_named_pipe_is_read_like_a_file(tmp_path):
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    writing = threading.Thread(target=pipe.write_bytes, args=(_EXAMPLE.read_bytes(),))
    writing.start()
    try:
        run = aw("graders", "run", "--json", "--session", pipe)
    finally:
        writing.join()

    assert run.stdout == aw("graders", "run", "--json", "--session", _EXAMPLE).stdout


def test_an_empty_pipe_is_no_session():
    _refused(aw("graders", "run", stdin=b""), _FAILED, "<stdin>: is empty")


# --- configuration ----------------------------------------------------------


def test_a_configuration_that_is_no_utf_8_names_the_byte(tmp_path):
    config = _file(tmp_path / "graders.yml", b"loops: {} # \xff\n")

    run = aw("graders", "run", "--session", _EXAMPLE, "--config", config)

    _refused(run, _USAGE, "graders.yml: is not UTF-8 text (byte 12)")


def test_a_configuration_over_the_limit_is_refused(tmp_path):
    config = _file(tmp_path / "graders.yml", b"#" * MAX_CONFIG_BYTES)
    assert aw("graders", "run", "--session", _EXAMPLE, "--config", config).returncode == 0

    _file(config, b"#" * (MAX_CONFIG_BYTES + 1))
    run = aw("graders", "run", "--session", _EXAMPLE, "--config", config)

    _refused(run, _FAILED, "is larger than the limit of 1 MiB")


def test_a_warning_about_the_configuration_does_not_stop_grading(tmp_path):
    config = _file(tmp_path / "graders.yml", b"\xef\xbb\xbfloops: {config: {nope: 1}}\n")

    run = aw("graders", "run", "--json", "--session", _EXAMPLE, "--config", config)

    assert run.returncode == 0
    assert b": warning: " in run.stderr
    assert run.stdout == aw("graders", "run", "--json", "--session", _EXAMPLE).stdout


# --- grading ----------------------------------------------------------------


def test_lists_and_explanations_are_json_that_says_the_same():
    listed = json.loads(aw("graders", "list", "--json").stdout)
    explained = [
        json.loads(aw("graders", "explain", id_, "--json").stdout)
        for id_ in ("loops", "context-growth")
    ]

    assert [row["id"] for row in listed] == list(BUILT_IN)
    assert all(row in listed for row in explained)
    assert [row["threshold"] for row in explained] == [BUILT_IN["loops"].threshold, None]


def test_an_explanation_leaves_out_what_a_grader_has_not():
    shown = aw("graders", "explain", "retries").stdout.decode()
    row = json.loads(aw("graders", "explain", "retries", "--json").stdout)

    for key, value in row.items():
        assert (f"\n{key.ljust(10)}  " in shown) == (
            value is not None and key not in {"id", "name"}
        )


def test_results_are_not_written_where_a_file_is_in_the_way(tmp_path):
    taken = _file(tmp_path / "taken", b"mine")

    run = aw("graders", "run", "--json", "--session", _EXAMPLE, "-o", taken)

    _refused(run, _FAILED, f"{taken}: cannot be written: ")
    assert taken.read_bytes() == b"mine"


@pytest.mark.parametrize("more", [0, 1, 3])
def test_of_many_notes_a_few_are_named_and_the_rest_counted(tmp_path, more):
    bad = [b"nope\n"] * (MAX_SHOWN_PROBLEMS + more)
    file = _file(tmp_path / "s.jsonl", _HEADER, *bad)

    said = aw("graders", "run", "--lenient", "--session", file).stderr.decode().splitlines()

    assert [line.split(": ")[1] for line in said[:MAX_SHOWN_PROBLEMS]] == [
        f"{file}:{line}:1" for line in range(2, 2 + MAX_SHOWN_PROBLEMS)
    ]
    assert said[MAX_SHOWN_PROBLEMS:] == ([f"aw: {file}: {more} more notes"] if more else [])


def test_what_decoding_settled_is_said_and_leaves_the_results_whole(tmp_path):
    odd = lines_of([_event()]).replace(b'"data":{}', rb'"data":{"a":"\ud800","b":1,"b":2}')

    run = aw("graders", "run", "--json", "--session", _file(tmp_path / "s", _HEADER, odd))

    assert run.returncode == 0
    assert run.stderr.decode().splitlines() == [
        f"aw: {tmp_path / 's'}: 1 duplicate key; the last one counts",
        f"aw: {tmp_path / 's'}: 1 lone surrogate, read as U+FFFD",
    ]
    assert json.loads(run.stdout).get("partial", False) is False


def _transcript(*rows):
    message = {"id": "m", "role": "assistant", "model": "x", "content": []}
    said = {"type": "assistant", "timestamp": "2026-05-01T10:00:00Z", "sessionId": "s"}
    usage = {"usage": {"input_tokens": 3, "output_tokens": 1}}
    return lines_of([{**said, "uuid": "u", "message": {**message, **usage}}]) + b"".join(rows)


def test_another_tools_recording_is_named_and_refused_only_in_strict_reading(tmp_path):
    file = _file(tmp_path / "t.jsonl", _transcript(b"nope\n"))

    run = aw("graders", "run", "--json", "--session", file)
    strict = aw("graders", "run", "--json", "--session", file, "--strict")

    assert run.returncode == 0
    assert run.stderr.decode().startswith(f"aw: {file}: taken for Claude Code")
    assert json.loads(run.stdout)["partial"] is True
    _refused(strict, _FAILED, "leave --strict out to skip it")


def test_values_that_a_person_names_are_masked_in_what_is_said_and_in_the_places(tmp_path):
    named = "correct-horse-battery"
    start = {"toolCallId": "c", "toolName": named}
    file = _file(tmp_path / "s", _HEADER, _event("tool.execution_start", 0, start, path=named))
    values = _file(tmp_path / "values", f"{named}\n".encode())

    plain = aw("graders", "run", "--json", "--session", file)
    from_file = aw("graders", "run", "--json", "--session", file, "--secret-values", values)
    from_variable = _aw(
        *("graders", "run", "--json", "--session", file),
        variables={"GH_AW_SECRET_NAMES": "MINE", "MINE": named},
    )

    assert named.encode() in plain.stdout
    assert named.encode() not in from_file.stdout + from_file.stderr
    assert from_variable.stdout == from_file.stdout


def test_values_that_a_person_names_are_masked_in_a_session_that_is_streamed(tmp_path):
    named = "correct-horse-battery"
    start = {"toolCallId": "c", "toolName": named}
    filler = lines_of([_event("a.b", index, {"x": "y" * 1000}) for index in range(5_000)])
    call = _event("tool.execution_start", 0, start, path=named)
    file = _file(tmp_path / "s", _HEADER, call, filler)
    assert file.stat().st_size > STREAM_FROM_BYTES
    values = _file(tmp_path / "values", f"{named}\n".encode())

    plain = aw("graders", "run", "--json", "--session", file)
    masked = aw("graders", "run", "--json", "--session", file, "--secret-values", values)
    piped = aw("graders", "run", "--json", "--secret-values", values, stdin=file.read_bytes())

    assert named.encode() in plain.stdout
    assert named.encode() not in masked.stdout + masked.stderr
    assert piped.stdout == masked.stdout


def test_what_lies_beside_a_recording_is_read_unless_it_is_a_link(tmp_path):
    recording = _file(tmp_path / "t.jsonl", _transcript())
    folder = tmp_path / "t" / "subagents"
    folder.mkdir(parents=True)

    def requests():
        run = aw("graders", "run", "--json", "--session", recording)
        values = {item["id"]: item["value"] for item in json.loads(run.stdout)["results"]}
        return values["execution-step-count"]

    other = _transcript().replace(b'"id":"m"', b'"id":"n"').replace(b'"u"', b'"v"')
    elsewhere = _file(tmp_path / "elsewhere", other)
    (folder / "agent-a1.jsonl").symlink_to(elsewhere)
    assert requests() == 1
    elsewhere.replace(folder / "agent-a2.jsonl")
    assert requests() == 2


# --- aw session validate ----------------------------------------------------


def test_every_kind_of_problem_is_listed_at_its_place(tmp_path):
    file = _file(
        tmp_path / "s.jsonl",
        _HEADER,
        lines_of([_event("dotless", 1)])[:-1] + b"\r\n",
        b"\n",
        b"nope\n",
        {"type": "a.b", "data": []},
        _event("a.b", 2, path="../x", colour="red"),
        _event("agent.execution", 3),
        _event("agent.execution", 4),
        _HEADER,
        lines_of([_event("a.b", 5)]).replace(b'"data":{}', rb'"data":{"a":"\udfff","b":1,"b":2}'),
        _event("a.b", 0),
        lines_of([_event("a.b", 6)])[:-1],
    )

    run = aw("session", "validate", file)
    found = [tuple(line.split(": ", 1)) for line in run.stdout.decode().splitlines()]

    lenient = "; correct it, or use --lenient to skip it"
    older = "files of version 1.7.0 are ordered so; they are still graded"
    assert (run.returncode, run.stderr) == (_FOUND, b"")
    assert found == [
        (f"{file}", "1 duplicate key; the last one counts"),
        (f"{file}", "1 lone surrogate, read as U+FFFD"),
        (f"{file}:2:1", "line ends are CRLF"),
        (f"{file}:2:1", 'the type "dotless" holds no dot'),
        (f"{file}:3:1", "a blank line"),
        (f"{file}:4:1", "expecting value" + lenient),
        (f"{file}:5:1", '"data" is no object' + lenient),
        (f"{file}:6:1", 'the path "../x" is not relative to the run'),
        (f"{file}:6:1", '"provenance" has no field "colour"'),
        (f"{file}:8:1", 'a second "agent.execution" event' + lenient),
        (
            f"{file}:9:1",
            "a second header: several sessions stand in one file; grade them one by one",
        ),
        (f"{file}:11:1", f"index 0 comes after index 5 of its source; {older}"),
        (f"{file}:12:1", "the last line has no line end"),
    ]


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([_event(), _event(path="q", top=_at(1))], "a timed event comes after untimed ones"),
        (
            [_event(top=_at(2)), _event(path="q", top=_at(1))],
            "its time is before the time of the event in front of it",
        ),
    ],
)
def test_a_break_of_the_order_is_found_and_still_graded(tmp_path, events, reason):
    file = _file(tmp_path / "s.jsonl", _HEADER, *events)

    run = aw("session", "validate", file, "--json")

    assert run.returncode == _FOUND
    assert json.loads(run.stdout) == [
        {
            "line": 3,
            "column": 1,
            "reason": reason,
            "hint": "files of version 1.7.0 are ordered so; they are still graded",
        }
    ]
    assert aw("graders", "run", "--session", file).returncode == 0


def test_a_valid_session_is_said_to_be_one_and_is_an_empty_list(tmp_path):
    file = _file(tmp_path / "s.jsonl", _HEADER, _event())

    assert (
        aw("session", "validate", file).stdout.decode() == f"{file}: is a valid unified session\n"
    )
    run = aw("session", "validate", file, "--json")
    assert (run.returncode, json.loads(run.stdout)) == (0, [])


def test_content_that_is_no_session_at_all_is_one_problem(tmp_path):
    for content, said in ((b"", "is empty"), (b"[1", "expecting ',' delimiter")):
        run = aw("session", "validate", _file(tmp_path / "s", content))

        assert run.returncode == _FOUND
        assert run.stdout.count(b"\n") == 1
        assert said in run.stdout.decode()


def test_elements_of_an_array_are_named_by_their_number(tmp_path):
    file = _file(tmp_path / "s.json", json.dumps([7, _event("dotless")]).encode())

    run = aw("session", "validate", file)

    assert [line.split(": ")[1] for line in run.stdout.decode().splitlines()] == [
        "event 1",
        "event 2",
    ]


def test_problems_show_no_secret(tmp_path):
    file = _file(tmp_path / "s.jsonl", _HEADER, _event(f"x {_TOKEN}", path=f"/{_TOKEN}"))

    for more in ((), ("--json",)):
        run = aw("session", "validate", file, *more)

        assert run.returncode == _FOUND
        assert _TOKEN.encode() not in run.stdout


# --- aw session show --------------------------------------------------------


def _rows(tmp_path, *events):
    file = _file(tmp_path / "s.jsonl", _HEADER, *events)
    return json.loads(aw("session", "show", file, "--json").stdout)[1:]


def test_a_row_says_when_where_and_what(tmp_path):
    audit = {"component": "firewall", "path": "logs/audit.jsonl"}
    (first, second, third) = _rows(
        tmp_path,
        _event("tool.execution_start", 4, {"toolName": "look"}, top=_at(3), phase="detection"),
        _event("a.b", 0),
        # 1777629600 is ten o'clock in seconds, the unit of this one file.
        _event("a.b", 1, top={"ts": 1_777_629_600.5}, **audit),
    )

    assert first == {
        "time": "2026-05-01T10:00:03.000Z",
        "phase": "detection",
        "component": "agent",
        "type": "tool.execution_start",
        "what": "look",
        "depth": 0,
        "path": "p",
        "index": 4,
    }
    assert second["time"] is None
    assert third["time"] == "2026-05-01T10:00:00.500Z"


_TOLD = [
    ("tool.execution_start", {}, ""),
    (
        "tool.execution_start",
        {"toolName": "look", "toolCallId": "c1", "input": {"a": [1]}},
        'look c1 {"a":[1]}',
    ),
    ("tool.execution_complete", {"toolCallId": "c1", "success": True}, "c1 succeeded"),
    ("tool.execution_complete", {"toolCallId": "c1", "success": False}, "c1 failed"),
    ("tool.execution_complete", {"toolCallId": "c1", "success": None}, "c1 failed"),
    (
        "usage.report",
        {"model": "m", "usage": {"inputTokens": 3, "outputTokens": 4}},
        "m in 3 out 4",
    ),
    ("a.b", {"usage": None, "summary": "done"}, "done"),
    ("a.b", {"content": "", "message": "said"}, "said"),
    ("a.b", {"content": 1, "id": "x", "status": "ok"}, "ok"),
    ("a.b", {"n": 1}, '{"n":1}'),
    ("a.b", {}, ""),
    ("a.b", {"content": "two\n  lines\t."}, "two lines ."),
    ("a.b", {"content": "x" * 100}, "x" * 100),
    ("a.b", {"content": "x" * 101}, "x" * 97 + "..."),
]


def test_a_row_tells_what_happened_in_one_short_line(tmp_path):
    events = [_event(kind, index, data) for index, (kind, data, _) in enumerate(_TOLD)]

    *rows, last = _rows(tmp_path, *events, _event("a.b", 99, {"content": f"a {_TOKEN}"}))

    assert [row["what"] for row in rows] == [what for _, _, what in _TOLD]
    assert last["what"].startswith("a ")
    assert _TOKEN not in last["what"]


def test_events_of_a_sub_agent_stand_one_step_in(tmp_path):
    inside = [
        _event("a.b", 0, {"agentId": "s"}),
        _event("a.b", 1, {"parentToolUseId": "s", "agentId": "t"}),
        _event("a.b", 2, top={"parentToolCallId": "s"}),
        _event("a.b", 3, top={"parent_tool_use_id": "s"}),
    ]
    outside = [_event("a.b", 4), _event("a.b", 5, top={"agentId": None})]

    rows = _rows(tmp_path, *inside, *outside)

    assert [row["depth"] for row in rows] == [1] * len(inside) + [0] * len(outside)


def test_a_timeline_has_one_line_per_event_with_the_same_words_as_its_rows(tmp_path):
    file = _file(
        tmp_path / "s.jsonl",
        _HEADER,
        _event("a.b", 0, {"content": "one \x1b[31m"}, top=_at(1)),
        _event("long.type", 1, {"content": "two", "agentId": "s"}, component="mcp", path="q"),
    )

    header, first, second = aw("session", "show", file).stdout.decode().splitlines()

    assert header.split()[1:] == ["conclusion", "collector", "session.format", '{"version":1}']
    assert first.split()[:4] == ["10:00:01.000Z", "agent", "agent", "a.b"]
    assert first.endswith("one \ufffd[31m")
    assert second.split() == ["-" * len(second.split()[0]), "agent", "mcp", "long.type", "two"]
    assert second.index("two") - second.index("long.type") == len("session.format") + 2 + 4


def test_what_was_skipped_is_not_shown_and_strictly_refused(tmp_path):
    file = _file(tmp_path / "s.jsonl", _HEADER, b"nope\n", _event())

    _refused(aw("session", "show", file), _FAILED, "s.jsonl:2:1: expecting value")
    shown = aw("session", "show", file, "--lenient")
    assert (shown.returncode, shown.stdout.count(b"\n")) == (0, 2)


def test_another_tools_recording_is_shown_as_a_session(tmp_path):
    run = aw("session", "show", _file(tmp_path / "t.jsonl", _transcript()))

    assert run.returncode == 0
    assert b"usage.report" in run.stdout


# --- aw session collect and redact ------------------------------------------


def test_a_recording_becomes_a_valid_session_that_grades_alike(tmp_path):
    recording = _file(tmp_path / "t.jsonl", _transcript())
    session = tmp_path / "made" / "s.jsonl"

    run = aw("session", "collect", recording, "-o", session)

    assert (run.returncode, run.stdout) == (0, b"")
    assert run.stderr.decode().startswith(f"aw: {recording}: taken for ")
    assert aw("session", "validate", session).returncode == 0
    assert aw("session", "collect", recording).stdout == session.read_bytes()
    values = [
        {item["id"]: item["value"] for item in json.loads(graded.stdout)["results"]}
        for graded in (
            aw("graders", "run", "--json", "--session", recording),
            aw("graders", "run", "--json", "--session", session),
        )
    ]
    assert values[0] == values[1]


def test_what_a_recording_is_read_as_can_be_said(tmp_path):
    recording = _file(tmp_path / "t.jsonl", _transcript())
    (tmp_path / "folder").mkdir()

    known = aw("session", "collect", recording, "--from", "claude")
    assert known.stdout == aw("session", "collect", recording).stdout
    for path, kind, status, said in (
        (recording, "nope", _USAGE, 'no kind is called "nope"; use one of: gh_aw, '),
        (recording, "gh_aw", _USAGE, "is no directory"),
        (tmp_path / "folder", "claude", _USAGE, "is a directory; a claude recording is a file"),
    ):
        _refused(aw("session", "collect", path, "--from", kind), status, said)


@pytest.mark.parametrize("place", ["folder", "no", "empty", "/proc/self/mem", "long" * 100])
def test_what_holds_no_evidence_is_refused_in_one_line(tmp_path, place):
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").write_bytes(b"")

    _refused(aw("session", "collect", tmp_path / place), _FAILED, str(tmp_path / place))


def test_a_run_folder_becomes_a_session(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "aw_info.json").write_text('{"run_id": 7, "engine_id": "x"}')

    collected = aw("session", "collect", run)
    named = aw("session", "collect", run, "--from", "gh_aw", "--json")

    assert collected.returncode == 0
    assert collected.stderr.decode().startswith(f"aw: {run}: taken for the evidence of a workflow")
    assert b'"workflow.info"' in collected.stdout
    assert json.loads(named.stdout) == {"events": collected.stdout.count(b"\n"), "masked": []}


def test_many_notes_of_collecting_are_counted(tmp_path):
    bad = [b"nope\n", b"7\n"] * MAX_SHOWN_PROBLEMS
    recording = _file(tmp_path / "t.jsonl", _transcript(*bad))

    said = aw("session", "collect", recording).stderr.decode().splitlines()

    assert len(said) == 1 + MAX_SHOWN_PROBLEMS + 1
    assert re.fullmatch(rf"aw: {re.escape(str(recording))}: \d+ more notes?", said[-1])


def test_a_secret_is_masked_counted_and_named_by_its_place(tmp_path):
    file = _file(tmp_path / "s.jsonl", _HEADER, _event("a.b", 5, {"x": {"y": f"a {_TOKEN}"}}))

    lines = aw("session", "redact", file)
    listed = aw("session", "redact", file, "--json")
    made = aw("session", "redact", file, "-o", tmp_path / "out.jsonl", "--json")

    assert lines.returncode == 0
    assert _TOKEN.encode() not in lines.stdout
    assert lines.stderr == b"aw: 1 secret masked\n"
    document = json.loads(listed.stdout)
    assert document["events"] == 2
    assert [(item["path"], item["index"], item["pointer"]) for item in document["masked"]] == [
        ("p", 5, "/data/x/y")
    ]
    assert made.stdout == listed.stdout
    assert (tmp_path / "out.jsonl").read_bytes() == lines.stdout


def test_redacting_a_redacted_session_changes_nothing(tmp_path):
    file = _file(tmp_path / "s.jsonl", _HEADER, _event("a.b", 0, {"x": _TOKEN}))
    once = aw("session", "redact", file).stdout

    again = aw("session", "redact", _file(tmp_path / "again.jsonl", once))

    assert (again.stdout, again.stderr) == (once, b"")


def test_malformed_lines_are_redacted_away_only_leniently(tmp_path):
    file = _file(tmp_path / "s.jsonl", _HEADER, b"nope\n", _event())

    _refused(aw("session", "redact", file), _FAILED, "s.jsonl:2:1: ")
    run = aw("session", "redact", file, "--lenient")
    assert (run.returncode, run.stdout.count(b"\n")) == (0, 2)
    assert run.stderr.decode().startswith(f"aw: {file}:2:1: ")


def test_a_session_is_not_written_where_a_folder_is_in_the_way(tmp_path):
    run = aw("session", "redact", _EXAMPLE, "-o", tmp_path)

    assert (run.returncode, run.stdout) == (_FAILED, b"")
    assert f"{tmp_path}: cannot be written: " in run.stderr.decode()


def test_named_values_are_masked_and_useless_ones_counted(tmp_path):
    named, other, hidden = "correct-horse-battery", "staple-and-a-half", "hidden-in-the-session"
    file = _file(
        tmp_path / "s.jsonl",
        _HEADER,
        _event("a.b", 0, {"x": f"{named} {other} {hidden}"}),
        _event("a.b", 1, {"x": f"::add-mask::{hidden}\n::add-mask::Ab1!\n::add-mask::Cd2!"}),
    )
    values = _file(tmp_path / "values", f"\n{named}\nab\n".encode())
    variables = {"GH_AW_SECRET_NAMES": "OTHER", "SECRET_OTHER": other}

    run = _aw("session", "redact", file, "--secret-values", values, variables=variables)

    assert run.returncode == 0
    for value in (named, other, hidden):
        assert value.encode() not in run.stdout
    assert b"aw: 1 secret value ignored: too short to be masked\n" in run.stderr
    assert b"aw: 2 secret values ignored: too short to be masked\n" in run.stderr
    _file(values, b"\xff")
    refused = aw("session", "redact", file, "--secret-values", values)
    _refused(refused, _USAGE, "is not UTF-8 text (byte 0)")


# --- aw conclude ------------------------------------------------------------


@pytest.fixture
def run_folder(tmp_path):
    """A small run, and the manifest of the ten defaults beside it."""
    root = tmp_path / "run"
    root.mkdir()
    (root / "aw_info.json").write_text('{"run_id": 7}')
    aw("graders", "run", "--session", _EXAMPLE, "-o", tmp_path / "out")
    return root, tmp_path / "out" / "grader_manifest.json"


def test_a_run_is_concluded_into_three_files_and_a_summary(run_folder, tmp_path):
    root, manifest = run_folder
    summary = _file(tmp_path / "summary.md", b"before\n")

    run = _aw(
        *("conclude", "--root", root, "--manifest", manifest, "--json"),
        variables={"GITHUB_STEP_SUMMARY": str(summary)},
    )
    table = _aw("conclude", "--root", root, "--manifest", manifest)

    assert (run.returncode, table.returncode) == (0, 0)
    published = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert published == {
        "aw_info.json",
        "usage/aw_session.jsonl",
        "usage/graders/grader_manifest.json",
        "usage/graders/grader_results.json",
    }
    assert (root / "usage" / "graders" / "grader_results.json").read_bytes() == run.stdout
    assert summary.read_text().startswith("before\n## Graders")
    assert b"10 graders: " in table.stdout


def test_a_summary_that_cannot_be_written_does_not_fail_the_run(run_folder, tmp_path):
    root, manifest = run_folder

    run = _aw(
        *("conclude", "--root", root, "--manifest", manifest),
        variables={"GITHUB_STEP_SUMMARY": str(tmp_path)},
    )

    assert run.returncode == 0
    assert f"aw: {tmp_path}: the step summary cannot be written: " in run.stderr.decode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "(column "),
        (b"[]", "manifest.json: "),
        (b'{"version":2,"graders":[{"id":"x","script":"1"}]}', "manifest.json: graders[0]"),
    ],
)
def test_a_manifest_that_is_no_data_stops_before_anything_is_touched(run_folder, content, said):
    root, manifest = run_folder
    usage = root / "usage"
    usage.mkdir()
    earlier = _file(usage / "aw_session.jsonl", b"earlier")

    run = aw("conclude", "--root", root, "--manifest", _file(manifest, content))

    _refused(run, _USAGE, said)
    assert earlier.read_bytes() == b"earlier"


def test_a_run_is_a_folder_and_no_link_to_one(run_folder, tmp_path):
    root, manifest = run_folder
    (tmp_path / "link").symlink_to(root)

    for place in ("link", "no", "out/grader_manifest.json"):
        run = aw("conclude", "--root", tmp_path / place, "--manifest", manifest)
        _refused(run, _FAILED, "is no folder")


def test_when_nothing_can_be_published_that_is_said(run_folder):
    root, manifest = run_folder
    _file(root / "usage", b"in the way")

    run = aw("conclude", "--root", root, "--manifest", manifest)

    _refused(run, _FAILED, "nothing was published, mend it and run again")


def test_many_notes_of_a_run_are_counted(run_folder):
    root, manifest = run_folder
    rows = b"nope\n7\n" * MAX_SHOWN_PROBLEMS
    for name in ("agent-session.jsonl", "safeoutputs.jsonl", "otel.jsonl", "evals/evals.jsonl"):
        (root / name).parent.mkdir(exist_ok=True)
        _file(root / name, rows)

    run = aw("conclude", "--root", root, "--manifest", manifest)
    said = [line for line in run.stderr.decode().splitlines() if line.startswith("aw: ")]

    assert run.returncode == 0
    assert len(said) == MAX_SHOWN_PROBLEMS + 1
    assert said[-1].endswith(" more notes")


def test_a_reader_that_went_away_and_a_closed_output_are_no_success():
    command = f"{sys.executable} -m aw_graders graders run --json --session {_EXAMPLE}"
    away = f"set -o pipefail; {command} | true"
    closed = f"{command} >&-"
    full = f"{command} >/dev/full"

    runs = [
        subprocess.run(["/bin/bash", "-c", line], capture_output=True, check=False)
        for line in (away, closed, full)
    ]

    assert {run.returncode for run in runs} <= {0, 3}
    assert runs[1].returncode == runs[2].returncode == 3
    assert b"Traceback" not in b"".join(run.stderr for run in runs)
    assert b"standard output is closed" in runs[1].stderr
