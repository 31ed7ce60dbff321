"""Every problem of a session file is named at its own line or element."""

from aw_graders.session.validate import validate

_HEADER = b'{"type":"session.format","data":{"version":1},"provenance":{"component":"collector","phase":"conclusion","path":"usage/aw_session.jsonl","index":0}}'
_BAD_PATH = b'{"type":"a.b","data":{},"provenance":{"component":"agent","phase":"agent","path":"/x","index":0}}'


def test_lines_after_a_skipped_one_keep_their_numbers():
    problems = validate(b"\n".join([_HEADER, b"nope", b"", _BAD_PATH, b""]))

    assert [(problem.line, "relative" in problem.reason) for problem in problems] == [
        (2, False),
        (3, False),
        (4, True),
    ]


def test_elements_of_an_array_without_header_are_counted_from_one():
    problems = validate(b"[7," + _BAD_PATH + b"]")

    assert [(problem.line, problem.in_array) for problem in problems] == [(1, True), (2, True)]


def test_a_missing_header_is_said_and_its_event_is_still_checked():
    problems = validate(_BAD_PATH + b"\n")

    assert [problem.line for problem in problems] == [1, 1]


def test_places_count_characters_and_blanks_in_front():
    spaced = _HEADER + b'\n     {"type":NaN}\n'
    array = '[{"type":"session.format","x":"ääääääää"},\n{"b":1},\n\n\n NaN]'.encode()

    (problem,) = (item for item in validate(spaced) if "NaN" in item.reason)
    (in_array,) = validate(array)

    assert (problem.line, problem.column) == (2, 14)
    assert (in_array.line, in_array.column, in_array.hint is None) == (5, 2, False)
