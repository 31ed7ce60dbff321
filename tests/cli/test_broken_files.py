"""Files as crashes, editors and careless writers leave them: what is read, and what is refused.

A unified session is read strictly, a Claude Code transcript tolerantly; each kind of fault is shown
for both where it can happen to both.
"""

import json
import time

import pytest

from aw_graders import _json
from aw_graders.collectors import SourceFile
from aw_graders.flows.evidence import read_evidence
from aw_graders.graders import grade
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import SessionFormatError, encode_jsonl, read_session
from aw_graders.session.limits import MAX_LINE_BYTES
from tests.cli.test_graders_run import aw

_MIB = 1024 * 1024
_NAMES = ("__proto__", "constructor", "prototype", "toString", "hasOwnProperty")


def _line(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _event(kind, index, data=None, /, path="run.jsonl", component="agent", **top):
    source = {"component": component, "phase": "agent", "path": path, "index": index}
    return _line({"type": kind, **top, "data": data or {}, "provenance": source})


def _started(index, call_id, name="look", given=None):
    data = {"toolCallId": call_id, "toolName": name, "input": {} if given is None else given}
    return _event("tool.execution_start", index, data)


def _ended(index, call_id, **data):
    return _event(
        "tool.execution_complete", index, {"toolCallId": call_id, "success": True, **data}
    )


def _request(index, read, /, **data):
    usage = {"inputTokens": read, "outputTokens": 1}
    data = {"requestId": f"q{index}", "usage": usage, **data}
    return _event("firewall.token_usage", index, data, "proxy.jsonl", "firewall")


_HEADER = _line(
    {
        "type": "session.format",
        "data": {"version": 1},
        "provenance": {
            "component": "collector",
            "phase": "conclusion",
            "path": "usage/aw_session.jsonl",
            "index": 0,
        },
    }
)
# Two requests, three calls of which one fails; characters of two, three and four bytes.
_SESSION = [
    _HEADER,
    _request(0, 40),
    _started(0, "a", given={"q": "größe → 🧭", "n": 1.5e3}),
    _ended(1, "a"),
    _started(2, "b"),
    _ended(3, "b", error="no"),
    _request(1, 60),
    _started(4, "c"),
    _ended(5, "c"),
]


def _said(message_id, *blocks, stamp="2026-04-02T08:00:00Z", **usage):
    counts = {"input_tokens": 7, "output_tokens": 1, **usage}
    message = {"id": message_id, "role": "assistant", "model": "m", "content": list(blocks)}
    return _line({"type": "assistant", "timestamp": stamp, "message": {**message, "usage": counts}})


def _asked(*blocks, stamp="2026-04-02T08:00:00Z"):
    message = {"role": "user", "content": list(blocks)}
    return _line({"type": "user", "timestamp": stamp, "message": message})


def _text(text):
    return {"type": "text", "text": text}


def _use(call_id, name="Look", given=None):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given or {}}


def _result(call_id, content="ok", **more):
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


# The same in a transcript: two requests, three calls of which one fails.
_TRANSCRIPT = [
    _asked(_text("größe → 🧭")),
    _said("m1", _use("a", given={"n": 1.5e3}), _use("b"), input_tokens=40),
    _asked(_result("a")),
    _asked(_result("b", is_error=True)),
    _said("m2", _use("c"), input_tokens=60),
    _asked(_result("c")),
]
_WHOLE = {
    "tool-success-rate": 2 / 3,
    "tool-failure-count": 1,
    "loops": 1,  # the third call equals the second one
    "execution-step-count": 2,
    "working-set-rebuild-factor": 100 / 60,
    "context-growth": 102 / 41,
}


def _read(content, *, lenient=False, strict=False):
    return read_evidence([SourceFile("t.jsonl", content)], lenient=lenient, strict=strict)


def _lookups(evidence):
    return create_session_lookups(redact(evidence.session).session)


def _values(evidence):
    return {result.id: result.value for result in grade(redact(evidence.session).session)}


def _graded(content, *options):
    """Grade through the command: the document, and the lines of standard error."""
    run = aw("graders", "run", "--json", *options, stdin=content)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout), run.stderr.decode().splitlines()


def _numbers(document):
    return {result["id"]: result["value"] for result in document["results"]}


def _problem(content, **options):
    """Let reading refuse: the problem, which has a remedy."""
    with pytest.raises(SessionFormatError) as caught:
        _read(content, **options)
    problem = caught.value.problem
    assert problem.hint
    assert "\n" not in problem.text("t.jsonl")
    return problem


def _refused(content, *options):
    """Let the command refuse: the one line that it says, with a remedy behind the reason."""
    run = aw("graders", "run", "--json", *options, stdin=content)
    assert (run.returncode, run.stdout) == (3, b""), run.stderr
    assert run.stderr.count(b"\n") == 1
    assert run.stderr.endswith(b"\n")
    assert b"Traceback" not in run.stderr
    said = run.stderr.decode().rstrip("\n")
    assert said.startswith("aw: <stdin>:")
    assert "; " in said
    return said


def _holds(found, wanted):
    assert {id_: found[id_] for id_ in wanted} == pytest.approx(wanted)


# --- a file that ends too early -----------------------------------------------------------------


def test_the_whole_files_have_the_same_numbers():
    for lines in (_SESSION, _TRANSCRIPT):
        document, _ = _graded(b"".join(lines))
        assert document["partial"] is False
        _holds(_numbers(document), _WHOLE)


def test_a_session_cut_at_any_byte_is_refused_at_its_last_line_unless_that_line_is_whole():
    content = b"".join(_SESSION[:4])
    ends = {0}
    for line in _SESSION[:4]:
        ends |= {max(ends) + len(line) - 1, max(ends) + len(line)}
    for cut in range(1, len(content)):
        part = content[:cut]
        number = part.count(b"\n") + 1
        if cut in ends:
            assert len(_read(part).session) == len(part.splitlines())
            continue
        assert _problem(part).line == number, cut
        if number > 1:
            evidence = _read(part, lenient=True)
            assert [skipped.line for skipped in evidence.problems] == [number]
            assert (evidence.partial, len(evidence.session)) == (True, number - 1)


@pytest.mark.parametrize(
    ("kept", "fault", "reason"),
    [
        (b'"type"', 7, "expecting ':'"),
        (b'"tool.exec', 1, "unterminated string"),
        (b'"toolCallId":', 14, "expecting value"),
        ("größe".encode()[:3], 3, "invalid UTF-8"),
        ("🧭".encode()[:2], 1, "invalid UTF-8"),
        (b'"n":1500.', 9, "expecting ','"),
        (b'"index":0}', 11, "expecting ','"),
    ],
)
def test_a_cut_session_is_one_line_that_names_the_place(kept, fault, reason):
    third = _SESSION[2]
    before = third[: third.index(kept)]
    content = b"".join((*_SESSION[:2], before, kept))

    said = _refused(content)
    document, lines = _graded(content, "--lenient")

    # Columns count characters, not bytes.
    assert said.startswith(f"aw: <stdin>:3:{len(before.decode()) + fault}: {reason}")
    assert said.endswith("the file ends in the middle of a line; record it again, or use --lenient")
    assert lines == [said]
    assert (document["partial"], _numbers(document)["execution-step-count"]) == (True, 1)


def test_a_transcript_cut_at_any_byte_loses_its_last_line_alone():
    content = b"".join(_TRANSCRIPT[:5])
    whole = len(_TRANSCRIPT[0])
    requests = [len(b"".join(_TRANSCRIPT[: number + 1])) - 1 for number in (1, 4)]
    for cut in range(whole, len(content)):
        part = content[:cut]
        evidence = _read(part)
        last = part.rsplit(b"\n", 1)[-1]
        is_whole = not last or last + b"\n" in _TRANSCRIPT
        lossy = [(note.code, note.line) for note in evidence.notes if note.lossy]
        assert lossy == ([] if is_whole else [("cut-line", part.count(b"\n") + 1)]), cut
        assert (_lookups(evidence).stats.requests or 0) == sum(cut >= end for end in requests)


def test_a_cut_transcript_counts_what_is_whole_and_strict_refuses_it():
    content = b"".join(_TRANSCRIPT)[:-9]

    document, lines = _graded(content)
    said = _refused(content, "--strict")

    assert lines[1].startswith("aw: stdin.jsonl:6: the line is cut off")
    assert document["partial"] is True
    _holds(_numbers(document), {"tool-failure-count": 2, "execution-step-count": 2})
    assert said.startswith("aw: <stdin>:6:1: ")
    assert said.endswith("leave --strict out to skip it")


def test_a_transcript_cut_in_its_first_line_is_refused():
    for cut in (1, 9, 60, len(_TRANSCRIPT[0]) - 2):
        assert _refused(_TRANSCRIPT[0][:cut]).startswith("aw: <stdin>:1:")


# --- a bad line in the middle -------------------------------------------------------------------

_BAD_LINES = {
    "words": b"Segmentation fault (core dumped)",
    "half an object": b'{"type":"a.b","data":{"x":',
    "the other half": b'"y"},"provenance":null}',
    "one brace too many": b'{"n":1}}',
    "a page": b"<html><body>502</body></html>",
    "no UTF-8": b'{"n":"\xc3("}',
    "single quotes": b"{'n': 1}",
    "a comment": b"// {}",
}


@pytest.mark.parametrize("name", _BAD_LINES)
def test_a_bad_line_in_the_middle_of_a_session_stops_there_and_lenient_reads_the_rest(name):
    bad = _BAD_LINES[name] + b"\n"
    content = b"".join((*_SESSION[:2], bad, *_SESSION[2:5], bad, *_SESSION[5:]))

    evidence = _read(content, lenient=True)

    assert _problem(content).line == 3
    assert [problem.line for problem in evidence.problems] == [3, 7]
    assert evidence.partial
    _holds(_values(evidence), _WHOLE)


@pytest.mark.parametrize("name", _BAD_LINES)
def test_a_bad_line_in_the_middle_of_a_transcript_is_named_and_the_rest_counts(name):
    bad = _BAD_LINES[name] + b"\n"
    content = b"".join((*_TRANSCRIPT[:2], bad, *_TRANSCRIPT[2:5], bad, *_TRANSCRIPT[5:]))

    evidence = _read(content)

    assert _problem(content, strict=True).line == 3
    assert [note.line for note in evidence.notes if note.lossy] == [3, 7]
    assert evidence.partial
    _holds(_values(evidence), _WHOLE)


def test_the_command_names_bad_lines_with_their_numbers_and_says_nothing_of_their_text():
    bad = b"password=hunter2 {\n"
    session = b"".join((*_SESSION[:2], bad, *_SESSION[2:6], bad, *_SESSION[6:]))
    transcript = b"".join((*_TRANSCRIPT[:2], bad, *_TRANSCRIPT[2:4], bad, *_TRANSCRIPT[4:]))

    refused = _refused(session)
    _, skipped = _graded(session, "--lenient")
    _, noted = _graded(transcript)

    assert refused.startswith("aw: <stdin>:3:1: ")
    assert [line.split(": ")[1] for line in skipped] == ["<stdin>:3:1", "<stdin>:8:1"]
    assert [line.split(": ")[1] for line in noted] == ["<stdin>", "stdin.jsonl:3", "stdin.jsonl:6"]
    assert "hunter2" not in "\n".join((refused, *skipped, *noted))


# --- NUL bytes ----------------------------------------------------------------------------------

_NULS = {
    "a line of NULs": (lambda lines: [*lines[:3], b"\0" * 700 + b"\n", *lines[3:]], 4),
    "NULs before a record": (lambda lines: [*lines[:3], b"\0\0\0" + lines[3], *lines[4:]], 4),
    "NULs behind a record": (lambda lines: [*lines[:3], lines[3][:-1] + b"\0\0\n", *lines[4:]], 4),
    "NULs as a tail": (lambda lines: [*lines, b"\0" * 5000], -1),
    "NULs as a tail of the last line": (
        lambda lines: [*lines[:-1], lines[-1][:-1] + b"\0" * 9],
        -2,
    ),
    "NULs at the head": (lambda lines: [b"\0" * 5000 + lines[0], *lines[1:]], 1),
}


@pytest.mark.parametrize("name", _NULS)
def test_nul_bytes_in_a_session_are_refused_at_their_line(name):
    spoil, line = _NULS[name]
    line = {-1: len(_SESSION) + 1, -2: len(_SESSION)}.get(line, line)

    assert _problem(b"".join(spoil(_SESSION))).line == line


@pytest.mark.parametrize("name", _NULS)
def test_nul_bytes_beside_the_records_of_a_transcript_cost_no_record(name):
    spoil, line = _NULS[name]
    line = {-1: len(_TRANSCRIPT) + 1, -2: len(_TRANSCRIPT)}.get(line, line)

    evidence = _read(b"".join(spoil(_TRANSCRIPT)))

    assert [(note.code, note.line) for note in evidence.notes] == [("nul-bytes", line)]
    assert ("only NUL bytes" in evidence.notes[0].message) == evidence.partial
    _holds(_values(evidence), _WHOLE)


def test_nul_bytes_inside_a_text_spoil_that_line_alone():
    session = b"".join(_SESSION).replace(b'"n":1500.0', b'"n":"a\0b"')
    transcript = b"".join(_TRANSCRIPT).replace(b'"content":"ok"', b'"content":"o\0\0k"', 1)

    said = _refused(session)
    evidence = _read(transcript)

    assert said.startswith("aw: <stdin>:3:")
    assert {note.line for note in evidence.notes} == {3}
    assert evidence.partial
    _holds(_values(evidence), {"tool-failure-count": 2, "execution-step-count": 2})


@pytest.mark.parametrize("content", [b"\0", b"\0" * 70_000, (b"\0" * 30 + b"\n") * 90, b"\0\r\n"])
def test_a_file_of_nul_bytes_is_refused_as_binary(content):
    for option in ((), ("--lenient",), ("--strict",)):
        assert "holds binary data" in _refused(content, *option)


# --- line ends, blank lines, marks --------------------------------------------------------------


def _dressed(lines):
    """Add a byte order mark, CRLF, blank lines and spaces at line ends; no final line end."""
    dressed = b"".join(line.rstrip(b"\n") + b" \t \r\n\r\n  \t\r\n" for line in lines)
    return b"\xef\xbb\xbf\r\n" + dressed.rstrip()


@pytest.mark.parametrize("lines", [_SESSION, _TRANSCRIPT], ids=["session", "transcript"])
def test_a_mark_crlf_blank_lines_and_spaces_change_no_byte_of_the_results(lines):
    plain = aw("graders", "run", "--json", stdin=b"".join(lines))
    dressed = aw("graders", "run", "--json", stdin=_dressed(lines))

    assert plain.returncode == dressed.returncode == 0
    assert dressed.stdout == plain.stdout
    assert dressed.stderr == plain.stderr


def test_a_fault_behind_blank_lines_is_named_by_its_physical_line():
    session = _dressed(_SESSION[:3]) + b"\r\n\r\n{\r\n" + b"".join(_SESSION[3:])
    transcript = _dressed(_TRANSCRIPT[:3]) + b"\r\n\r\n{]\r\n" + b"".join(_TRANSCRIPT[3:])

    assert _refused(session).startswith("aw: <stdin>:10:2: ")
    assert [note.line for note in _read(transcript).notes] == [10]


def test_a_mark_alone_is_an_empty_file():
    for content in (b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n \t\r\n"):
        assert "is empty" in _refused(content)


def test_text_in_two_bytes_per_character_is_refused_as_binary():
    for content in (b"".join(_SESSION), b"".join(_TRANSCRIPT)):
        assert "holds binary data" in _refused(content.decode().encode("utf-16"))


# --- halves of surrogate pairs, and broken escapes ----------------------------------------------

_HALVES = {
    rb'"cut \ud83d"': "cut \ufffd",
    rb'"\uD83Ebeef Done"': "\ufffdbeef Done",
    rb'"\ude00\ud83d"': "\ufffd\ufffd",
    rb'"\ud83d\ud83d\ude00"': "\ufffd\U0001f600",
    rb'"\ud83d\n\ude00"': "\ufffd\n\ufffd",
}


@pytest.mark.parametrize("text", _HALVES)
def test_half_a_surrogate_pair_is_read_as_a_replacement_and_said(text):
    wanted = _HALVES[text]
    session = b"".join((_HEADER, _started(0, "a", given={"label": "?"}), _ended(1, "a")))
    transcript = _said("m", _use("a", given={"label": "?"})) + _asked(_result("a"))

    read = _read(session.replace(b'"?"', text))
    noted = _read(transcript.replace(b'"?"', text))

    halves = wanted.count("\ufffd")
    noun = "lone surrogate" if halves == 1 else "lone surrogates"
    assert read.warnings == (f"{halves} {noun}, read as U+FFFD",)
    assert [(note.code, note.line, note.lossy) for note in noted.notes] == [
        ("lone-surrogates", 1, False)
    ]
    for evidence in (read, noted):
        (call,) = _lookups(evidence).tool_calls
        assert (call.arguments, call.success) == ({"label": wanted}, True)
        assert not evidence.partial
        again = read_session(encode_jsonl(evidence.session))
        assert (again.session, again.lone_surrogates) == (evidence.session, 0)


@pytest.mark.parametrize("lines", [_SESSION, _TRANSCRIPT], ids=["session", "transcript"])
def test_half_a_pair_in_keys_names_ids_and_texts_leaves_valid_utf_8(lines):
    content = b"".join(lines)
    for plain in (b'"n"', b'"look"', b'"Look"', b'"a"', b'"run.jsonl"'):
        content = content.replace(plain, plain[:-1] + rb'\udc00"')

    runs = [
        aw("graders", "run", "--json", stdin=content, seed="3"),
        aw("graders", "run", "--json", stdin=content, seed="4"),
        aw("graders", "run", stdin=content),
    ]

    assert [run.returncode for run in runs] == [0, 0, 0]
    assert runs[0].stdout == runs[1].stdout
    assert all(run.stderr.count(b"U+FFFD") == 1 for run in runs)
    assert "ook\ufffd 1" in runs[2].stdout.decode("utf-8")
    _holds(_numbers(json.loads(runs[0].stdout)), _WHOLE)


def test_keys_that_become_equal_by_replacement_are_counted_as_duplicates():
    pair = rb'{"\ud83d":1,"\ud83e":2,"x":{"\udc00":3,"\ufffd":4}}'
    session = _HEADER + _started(0, "a", given={"?": 0}).replace(b'{"?":0}', pair)
    transcript = _said("m", _use("a", given={"?": 0})).replace(b'{"?":0}', pair)

    read, noted = _read(session), _read(transcript)

    assert read.warnings[0].startswith("2 duplicate keys")
    assert [note.code for note in noted.notes] == ["duplicate-keys", "lone-surrogates"]
    for evidence in (read, noted):
        assert _lookups(evidence).tool_calls[0].arguments == {"\ufffd": 2, "x": {"\ufffd": 4}}


_BROKEN_ESCAPES = {
    "letters for digits": rb'"\uD83Zbeef"',
    "two digits": rb'"\u00"',
    "no such escape": rb'"\x41"',
    "a bare path": rb'"C:\Users"',
    "an escaped end": b'"a\\"',
    "half a pair as bytes": b'"\xed\xa0\xbd"',
    "a line feed as it is": b'"a\tb"',
}


@pytest.mark.parametrize("name", _BROKEN_ESCAPES)
def test_an_escape_that_is_no_json_spoils_its_line_alone(name):
    text = _BROKEN_ESCAPES[name]
    session = b"".join(_SESSION).replace(b"1500.0", text)
    transcript = b"".join(_TRANSCRIPT).replace(b'"ok"', text, 1)

    evidence = _read(transcript)

    assert _problem(session).line == 3
    assert [note.line for note in evidence.notes] == [3]
    assert evidence.partial
    _holds(_values(evidence), {"tool-failure-count": 2, "execution-step-count": 2})


# --- long lines ---------------------------------------------------------------------------------


def test_a_line_of_16_mib_is_read():
    long = "a" * (16 * _MIB)
    session = b"".join((*_SESSION[:3], _ended(1, "a", output=long), *_SESSION[4:]))
    transcript = b"".join((*_TRANSCRIPT[:2], _asked(_result("a", long)), *_TRANSCRIPT[3:]))

    for content in (session, transcript):
        document, _ = _graded(content)
        assert document["partial"] is False
        _holds(_numbers(document), _WHOLE)


def test_a_line_at_the_limit_is_read_and_one_byte_more_is_refused_by_name():
    line = _ended(1, "a", output="?")
    filled = line.replace(b"?", b"a" * (MAX_LINE_BYTES - len(line) + 2))
    assert len(filled) == MAX_LINE_BYTES + 1  # with its line end
    parts = [*_SESSION[:3], filled, *_SESSION[4:]]

    evidence = _read(b"".join(parts))
    parts[3] = filled.replace(b"aaa", b"aaaa", 1)
    said = _refused(b"".join(parts))
    document, lines = _graded(b"".join(parts), "--lenient")

    _holds(_values(evidence), _WHOLE)
    assert said.startswith("aw: <stdin>:4:1: the line has 33554433 bytes, the limit is 32 MiB")
    assert lines == [said]
    assert document["partial"] is True
    _holds(_numbers(document), {"tool-failure-count": 2, "execution-step-count": 2})


def test_a_line_over_the_limit_of_a_transcript_is_skipped_with_its_size_and_the_rest_counts():
    long = _asked(_result("a", "a" * (36 * _MIB)))
    content = b"".join((*_TRANSCRIPT[:2], long, *_TRANSCRIPT[3:]))

    document, lines = _graded(content)
    said = _refused(content, "--strict")

    assert "stdin.jsonl:3: the line has 36.0 MiB, the limit is 32 MiB; it was skipped" in lines[1]
    assert document["partial"] is True
    _holds(_numbers(document), {"tool-failure-count": 2, "execution-step-count": 2})
    assert said.startswith("aw: <stdin>:3:1: the line has 36.0 MiB")


# --- deep nesting -------------------------------------------------------------------------------


def _nested(levels, core="1"):
    """Spell arrays and objects in turn, `levels` of them."""
    opened = "".join('{"k":' if level % 2 else "[" for level in range(levels))
    closed = "".join("}" if level % 2 else "]" for level in reversed(range(levels)))
    return (opened + core + closed).encode()


# The levels around an argument of a call: event, data, input; row, message, content, block, input.
_AROUND_SESSION, _AROUND_TRANSCRIPT = 3, 5


def _twice_in_session(one, two):
    starts = (_started(0, "a", given={"x": 0}), _started(2, "b", given={"x": 0}))
    first, second = (
        s.replace(b'"x":0', b'"x":' + d) for s, d in zip(starts, (one, two), strict=True)
    )
    return b"".join((_HEADER, first, _ended(1, "a"), second, _ended(3, "b")))


def _twice_in_transcript(one, two):
    uses = (_said("m", _use("a", given={"x": 0})), _said("n", _use("b", given={"x": 0})))
    first, second = (
        u.replace(b'"x":0', b'"x":' + d) for u, d in zip(uses, (one, two), strict=True)
    )
    return b"".join((first, _asked(_result("a")), second, _asked(_result("b"))))


@pytest.mark.parametrize(
    ("twice", "around"),
    [(_twice_in_session, _AROUND_SESSION), (_twice_in_transcript, _AROUND_TRANSCRIPT)],
    ids=["session", "transcript"],
)
def test_arguments_nested_to_the_limit_are_read_compared_shown_and_written(twice, around, tmp_path):
    levels = _json.MAX_DEPTH - around
    content = twice(_nested(levels), _nested(levels, "1.0"))
    file = tmp_path / "deep.jsonl"
    file.write_bytes(content)

    document, _ = _graded(content)
    evidence = _read(content)
    table = aw("graders", "run", "--session", file)
    shown = aw("session", "show", "--json", file)

    assert document["partial"] is False
    _holds(_numbers(document), {"tool-success-rate": 1, "loops": 1})
    assert (table.returncode, shown.returncode) == (0, 0)
    assert read_session(encode_jsonl(evidence.session)).session == evidence.session
    assert all(event.data is not None for event in redact(evidence.session).session.events)


def test_one_level_more_is_refused_in_a_session():
    for levels in (_json.MAX_DEPTH - _AROUND_SESSION + 1, 600, 5_000, 200_000):
        deep = _nested(levels)
        for part in (deep, deep[: deep.index(b"1")]):
            problem = _problem(_twice_in_session(b"0", part))
            assert (problem.line, problem.reason) == (4, "nested too deeply, over 512 levels")
    assert "<stdin>:4:1: nested too deeply" in _refused(_twice_in_session(b"0", deep))


def test_one_level_more_is_skipped_in_a_transcript():
    for levels in (_json.MAX_DEPTH - _AROUND_TRANSCRIPT + 1, 600, 5_000, 200_000):
        content = _twice_in_transcript(b"1", _nested(levels))
        evidence = _read(content)
        lossy = [(note.code, note.line) for note in evidence.notes if note.lossy]
        assert lossy == [("nested-too-deeply", 3)]
        assert _lookups(evidence).stats.requests == 1
    assert "over 512 levels" in _refused(content, "--strict")


def test_brackets_in_texts_are_no_levels():
    text = _line("[{" * 40_000)[:-1]
    for content in (_twice_in_session(text, b"1"), _twice_in_transcript(text, b"1")):
        document, _ = _graded(content)
        assert (document["partial"], _numbers(document)["loops"]) == (False, 0)


def test_arguments_as_json_text_stay_text_when_the_event_around_them_would_be_too_deep():
    def recorded(levels):
        arguments = '{"a":' * levels + "1" + "}" * levels
        data = {"toolCallId": "c", "toolName": "look", "arguments": arguments}
        row = {"type": "tool.execution_start", "id": "1", "parentId": None, "data": data}
        evidence = _read(_line({**row, "timestamp": "2026-04-02T08:00:00Z"}))
        assert read_session(encode_jsonl(evidence.session)).session == evidence.session
        return _lookups(evidence).tool_calls[0].arguments

    assert not isinstance(recorded(_json.MAX_DEPTH - 2), str)
    for levels in (_json.MAX_DEPTH - 1, _json.MAX_DEPTH, _json.MAX_DEPTH + 1):
        assert isinstance(recorded(levels), str)


# --- JSON of another shape ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[]", "this is an array"),
        (b"17", "this is a number"),
        (b'"x"', "this is text"),
        (b"null", "this is null"),
        (b"false", "this is a boolean"),
        (b'{"data":{},"provenance":{}}', 'no "type"'),
        (b'{"type":4,"data":{},"provenance":{}}', '"type" is no text'),
        (b'{"type":"","data":{},"provenance":{}}', '"type" is no text'),
        (b'{"type":"a.b","provenance":{}}', 'no "data"'),
        (b'{"type":"a.b","data":null,"provenance":{}}', '"data" is no object'),
        (b'{"type":"a.b","data":"{}","provenance":{}}', '"data" is no object'),
        (b'{"type":"a.b","data":{},"provenance":[]}', '"provenance" is no object'),
        (b'{"type":"a.b","data":{},"provenance":{}}', 'no text "component"'),
    ],
)
def test_a_line_that_is_no_event_is_refused_with_its_reason(line, reason):
    content = b"".join((*_SESSION[:3], line + b"\n", *_SESSION[3:]))

    problem = _problem(content)

    assert (problem.line, problem.column) == (4, 1)
    assert reason in problem.reason
    _holds(_values(_read(content, lenient=True)), _WHOLE)


@pytest.mark.parametrize(
    "change",
    [
        (b'"index":2', b'"index":"2"'),
        (b'"index":2', b'"index":-2'),
        (b'"index":2', b'"index":2.5'),
        (b'"index":2', b'"index":true'),
        (b'"index":2', b'"index":null'),
        (b'"index":2', b'"index":9007199254740992'),
        (b'"path":"run.jsonl"', b'"path":null'),
        (b'"phase":"agent"', b'"phase":["agent"]'),
        (b'"component":"agent"', b'"component":0'),
    ],
    ids=lambda change: change[1].decode(),
)
def test_a_provenance_of_the_wrong_types_is_refused(change):
    content = b"".join((*_SESSION[:4], _started(2, "b").replace(*change), *_SESSION[5:]))

    problem = _problem(content)

    assert (problem.line, problem.column) == (5, 1)
    assert problem.reason.startswith('"provenance" has no ')


_JUNK = ("20", "", -5, 1.5, 1e300, True, None, [], {}, [None, 7], {"a": {"b": []}})


def test_fields_of_the_wrong_type_are_missing_evidence_and_no_failure_of_the_program():
    def number_of(kind, data):
        return _values(_read(_HEADER + _event(kind, 0, data)))

    for junk in _JUNK:
        usage = dict.fromkeys(("inputTokens", "outputTokens", "cacheReadInputTokens"), junk)
        values = number_of("firewall.token_usage", {"requestId": junk, "usage": usage})
        assert values["execution-step-count"] == 1
        if junk != 1e300:
            assert (values["context-growth"], values["working-set-rebuild-factor"]) == (None, None)
        assert number_of("firewall.token_usage", {"usage": junk})["context-growth"] is None
        if isinstance(junk, bool) or not isinstance(junk, int | float) or junk < 0:
            for kind in ("firewall.token_usage", "session.result", "execution.result"):
                assert number_of(kind, {"durationMs": junk})["execution-duration"] is None
        values = number_of(
            "tool.execution_start", {"toolCallId": junk, "toolName": "x", "input": junk}
        )
        assert (values["tool-failure-count"], values["loops"]) == (1, 0)
        for kind in ("session.collection", "experiment.assignment", "eval.result", "workflow.info"):
            data = dict.fromkeys(
                ("sources", "assignments", "id", "answer", "runId", "attempt"), junk
            )
            assert set(number_of(kind, data).values()) == {0, None}


def test_rows_of_the_wrong_shape_are_named_and_counts_as_text_are_read():
    content = b"".join(
        (
            _TRANSCRIPT[1],
            b"[7]\n17\ntrue\n",
            _line({"type": "assistant", "message": ["m"]}),
            _line({"type": "user", "message": {"role": "user", "content": {"type": "text"}}}),
            _said("m2", None, [], {"type": "tool_use"}, input_tokens="60", output_tokens=[1]),
            _said("m3", input_tokens=-3, output_tokens=None),
            _line({"type": ["assistant"], "message": {}}),
        )
    )

    evidence = _read(content)
    requests = _lookups(evidence).requests

    assert evidence.partial
    assert [(request.input_tokens, request.output_tokens) for request in requests] == [
        (40, 1),
        (60, None),
        (None, None),
    ]
    assert {(note.code, note.line) for note in evidence.notes} >= {
        ("not-an-object", 2),
        ("row-without-message", 5),
        ("message-without-content", 6),
        ("content-not-an-object", 7),
        ("call-without-id-and-name", 7),
        ("number-as-text", 7),
        ("invalid-number", 7),
        ("unknown-row", 9),
    }
    assert aw("graders", "run", stdin=content).returncode == 0


# --- clocks -------------------------------------------------------------------------------------


def _with_time(line, stamp):
    return _line({**json.loads(line), "timestamp": stamp})


def test_clocks_hours_apart_move_no_duration_and_no_order():
    agent, proxy = "2026-04-02T16:00:{:02d}Z", "2026-04-02T08:00:{:02d}Z"

    def session(**durations):
        result = _event("session.result", 1, {"durationMs": 9_000})
        return b"".join(
            (
                _HEADER,
                _with_time(_started(0, "a"), agent.format(0)),
                _with_time(_request(0, 40, **durations), proxy.format(1)),
                _with_time(_request(1, 60), proxy.format(3)),
                _with_time(result, agent.format(9)),
            )
        )

    recorded, _ = _graded(session(durationMs=750))
    own, _ = _graded(session())

    # What the proxy measured comes before what the agent says of itself, and both before any clock.
    assert _numbers(recorded)["execution-duration"] == 750
    assert _numbers(own)["execution-duration"] == 9_000
    for document in (recorded, own):
        assert _numbers(document)["context-growth"] == pytest.approx(102 / 41)


def test_lines_out_of_time_order_keep_their_order_and_the_duration_has_both_ends():
    day = "2026-04-02T08:00:"
    stamps = [f"{day}40Z", f"{day}05Z", None, "soon", f"{day}20Z"]
    session = _HEADER + b"".join(
        _with_time(_request(index, 10 * (index + 1)), stamp) for index, stamp in enumerate(stamps)
    )
    transcript = b"".join(
        _said(f"m{index}", stamp=stamp, input_tokens=10 * (index + 1))
        for index, stamp in enumerate(stamps)
    )

    for content in (session, transcript):
        document, _ = _graded(content)
        wanted = {
            "execution-step-count": 5,
            "execution-duration": 35_000,
            "working-set-rebuild-factor": 150 / 50,
            "context-growth": 155 / 11,
        }
        _holds(_numbers(document), wanted)
        assert document["partial"] is False


def test_one_time_or_none_is_no_duration():
    for stamps in ((None, None), ("soon", "2026-04-02T08:00:00Z")):
        session = _HEADER + b"".join(
            _with_time(_request(index, 10), stamp) for index, stamp in enumerate(stamps)
        )
        transcript = b"".join(_said(f"m{stamp}", stamp=stamp) for stamp in stamps)
        for content in (session, transcript):
            document, _ = _graded(content)
            assert _numbers(document)["execution-duration"] is None
            assert "NaN" not in json.dumps(document)


# All of them are 2026-01-31T23:30:00Z, near midnight and the end of a month somewhere.
_INSTANT = (
    "2026-01-31T23:30:00Z",
    "2026-02-01T01:30:00+02:00",
    "2026-01-31T15:30:00.000-0800",
    "2026-02-01 13:30:00,000000+14:00",
    "2026-01-31t23:30:00.000000000z",
    1_769_902_200_000,
    1_769_902_200_000.0,
)
# What a transcript's writer may mean by them, which a unified session never guesses.
_INSTANT_BY_CONVENTION = (
    "2026-01-31T23:30:00",
    "1769902200000",
    "1769902200",
    1_769_902_200,
)


@pytest.fixture(params=["UTC", "Pacific/Kiritimati", "America/St_Johns"])
def _zone(request, monkeypatch):
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def _session_span(stamp):
    later = _with_time(_request(1, 10), "2026-01-31T23:30:07Z")
    return _values(_read(_HEADER + _with_time(_request(0, 10), stamp) + later))[
        "execution-duration"
    ]


@pytest.mark.usefixtures("_zone")
def test_every_spelling_of_an_instant_is_that_instant_in_every_zone():
    for stamp in (*_INSTANT, *_INSTANT_BY_CONVENTION):
        rows = _said("a", stamp=stamp) + _said("b", stamp="2026-01-31T23:30:07Z")
        evidence = _read(rows)
        assert _values(evidence)["execution-duration"] == 7_000, stamp
        said = {note.code for note in evidence.notes}
        assert bool(said) == (stamp in _INSTANT_BY_CONVENTION)
    for stamp in _INSTANT:
        assert _session_span(stamp) == 7_000, stamp


@pytest.mark.usefixtures("_zone")
def test_a_session_guesses_no_zone_and_no_unit():
    for stamp in (*_INSTANT_BY_CONVENTION, "2026-02-30T23:30:00Z", "2026-01-31", "", True, [], {}):
        assert _session_span(stamp) is None, stamp


# --- names that other languages give a meaning --------------------------------------------------


def test_such_names_are_ordinary_in_a_session():
    lines = [_HEADER]
    for place, name in enumerate(_NAMES):
        given = {name: {"polluted": True}, "x": {name: name}}
        lines += [_started(2 * place, name, name, given), _ended(2 * place + 1, name)]
        lines.append(_event(name, 0, {name: 1}, f"{name}/{name}", name))
    lines.append(_started(90, "again", _NAMES[0], {"x": {_NAMES[0]: 1}}))
    lines.append(_event("experiment.assignment", 91, {"assignments": dict.fromkeys(_NAMES, "on")}))
    for name in _NAMES:
        lines.append(
            _event("eval.result", 92, {"id": name, "answer": "yes"}, "evals.jsonl", "eval")
        )
    content = b"".join(lines)

    document, said = _graded(content)
    calls = _lookups(_read(content)).tool_calls

    assert said == []
    assert [call.name for call in calls] == [*_NAMES, _NAMES[0]]
    assert [call.tool_call_id for call in calls[:-1]] == list(_NAMES)
    assert [list(call.arguments) for call in calls[:-1]] == [[name, "x"] for name in _NAMES]
    _holds(_numbers(document), {"tool-success-rate": 5 / 6, "trajectory-efficiency": 5 / 6})
    assert document["context"]["experiments"] == dict.fromkeys(_NAMES, "on")
    assert set(document["context"]["evals"]["byQuestion"]) == set(_NAMES)
    assert read_session(encode_jsonl(_read(content).session)).session == _read(content).session


def test_such_names_are_ordinary_in_a_transcript():
    uses = [_use(name, name, {name: {"polluted": True}}) for name in _NAMES]
    content = b"".join(
        (
            _said(_NAMES[0], *uses),
            _asked(*[_result(name) for name in _NAMES[:3]]),
            _said(_NAMES[1], **dict.fromkeys(_NAMES, 5)),
            *[_line({"type": name, "message": {"content": name}, name: 1}) for name in _NAMES],
        )
    )

    document, said = _graded(content)
    evidence = _read(content)

    assert [call.name for call in _lookups(evidence).tool_calls] == list(_NAMES)
    assert [call.arguments for call in _lookups(evidence).tool_calls] == [
        {name: {"polluted": True}} for name in _NAMES
    ]
    assert [(note.code, note.line) for note in evidence.notes] == [("unknown-row", 4)]
    assert "(5 times, here first)" in said[1]
    _holds(_numbers(document), {"tool-failure-count": 2, "execution-step-count": 2})


def test_arguments_that_differ_in_such_a_key_alone_are_no_loop():
    def loops(one, two):
        return _values(_read(_twice_in_session(_line(one)[:-1], _line(two)[:-1])))["loops"]

    for name in _NAMES:
        assert loops({name: 1}, {name: 1.0}) == 1
        assert loops({name: 1}, {name: 2}) == 0
        assert loops({name: 1}, {}) == 0
        assert loops({name: None}, {}) == 0


def _configured(tmp_path, text):
    config = tmp_path / "graders.yml"
    config.write_text(text, encoding="utf-8")
    return aw("graders", "run", "--json", "--config", config, stdin=b"".join(_SESSION))


@pytest.mark.parametrize("entry", ["{}", "{enabled: false}", "{threshold: 1}"])
def test_such_a_name_is_an_unknown_grader(entry, tmp_path):
    run = _configured(tmp_path, "loops: {}\n" + "".join(f"{name}: {entry}\n" for name in _NAMES))

    assert (run.returncode, run.stdout) == (2, b"")
    for line, name in enumerate(_NAMES, 2):
        assert f'graders.yml:{line}:1: error: no grader is called "{name}"' in run.stderr.decode()


def test_such_a_name_is_an_unknown_field_and_an_unknown_setting(tmp_path):
    keys = ", ".join(f"{name}: 1" for name in _NAMES)

    field = _configured(tmp_path, f"loops: {{{keys}}}\n")
    setting = _configured(tmp_path, f"context-growth: {{config: {{{keys}}}}}\n")

    assert (field.returncode, field.stdout) == (2, b"")
    assert field.stderr.count(b"config-unknown-field") == len(_NAMES)
    assert setting.returncode == 0
    assert setting.stderr.count(b"config-unknown-config-key") == len(_NAMES)
    _holds(_numbers(json.loads(setting.stdout)), _WHOLE)


def test_such_a_name_is_no_grader_to_pick_or_explain():
    for name in ("__proto__", "constructor"):
        picked = aw("graders", "run", "--grader", name, stdin=b"".join(_SESSION))
        explained = aw("graders", "explain", name)
        for run in (picked, explained):
            assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (2, b"", 1)
