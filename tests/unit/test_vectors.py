"""Every vector gives its answer, in every form of input, without effects and without changes."""

import json
import math
import os
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

from aw_graders._json import compact
from aw_graders.graders import BUILT_IN, grade, judge
from aw_graders.redaction import redact
from aw_graders.session import encode_array, encode_jsonl, read_session
from tests.support import VECTORS, grader_cases, lines_of, redacted, settings_for, trajectory_cases

_CASES = [pytest.param(case, id=case["name"]) for case in grader_cases()]
_OUTCOMES = json.loads((VECTORS / "outcomes" / "threshold_outcomes.json").read_text("utf-8"))
_FORBIDDEN = ("open", "os.", "socket.", "subprocess.", "shutil.", "import", "exec", "compile")
_seen: list[str] = []
_watching = False


def _hook(event, args):
    if _watching and event.startswith(_FORBIDDEN):
        _seen.append(f"{event}{args[:1]}")


sys.addaudithook(_hook)


@contextmanager
def _pure():
    global _watching
    _seen.clear()
    _watching = True
    try:
        yield _seen
    finally:
        _watching = False


def _agrees(results, expected):
    for result in results:
        if result.id not in expected:
            continue
        want = expected[result.id]
        assert result.status != "error", result.error
        if want is None:
            assert (result.status, result.value) == ("unavailable", None)
        else:
            assert result.value is not None, result.reason
            assert math.isclose(result.value, want, rel_tol=0, abs_tol=1e-9)


@pytest.mark.spec(
    "G-1-1", "G-2-1", "G-2-5", "G-2-6", "G-2-7", "G-2-8", "G-2-10", "G-2-11", "G-2-14", "G-2-15",
    "G-2-19", "G-2-20", "G-2-21", "G-2-22", "G-2-23", "G-2-24", "G-2-25", "G-4-3", "G-4-4", "G-4-5",
    "G-4-6", "G-4-7", "G-4-8", "G-4-9", "G-4-10", "G-4-11", "G-4-12", "G-8-13", "G-8-15",
    "G-8-20", "G-8-21", "G-8-22", "G-8-23",
)  # fmt: skip
@pytest.mark.parametrize("case", _CASES)
def test_a_vector_has_its_answer(case):
    session = redacted(case["session"])
    before = encode_jsonl(session.session)
    grade(session, settings_for(case["config"]))
    with _pure() as effects:
        results = grade(session, settings_for(case["config"]))

    _agrees(results, case["expected"])
    assert effects == []
    assert encode_jsonl(session.session) == before


@pytest.mark.spec("G-6-5", "G-6-6")
@pytest.mark.parametrize("case", _CASES)
def test_lines_array_and_round_trip_give_equal_results(case):
    read = [
        read_session(lines_of(case["session"])).session,
        read_session(compact(case["session"])).session,
    ]
    read.append(read_session(encode_jsonl(read[0])).session)
    read.append(read_session(encode_array(read[0])).session)

    results = [grade(redact(session).session) for session in read]

    assert all(result == results[0] for result in results)
    assert all(session == read[0] for session in read)


def test_the_watcher_sees_files_processes_sockets_and_imports(tmp_path):

    sys.modules.pop("colorsys", None)

    with _pure() as effects:
        (tmp_path / "x").write_text("x")
        os.listdir(tmp_path)
        subprocess.run(["true"], check=True)
        socket.socket().close()
        import colorsys  # noqa: F401, PLC0415 - the import is what is watched

    for name in ("open", "os.listdir", "subprocess.Popen", "socket.__new__", "import"):
        assert any(effect.startswith(name) for effect in effects), name


def test_every_grader_has_both_answers():
    for id_ in BUILT_IN:
        cases = (*grader_cases(), *trajectory_cases())
        answers = [case["expected"].get(id_, "not asked") for case in cases]
        assert None in answers, f"{id_}: no vector where it is unavailable"
        assert any(isinstance(answer, int | float) for answer in answers), f"{id_}: no value"


def test_vector_names_are_unique_facts():
    names = [case["name"] for case in grader_cases()]

    assert len(names) == len(set(names))
    assert not any("should" in name for name in names)


@pytest.mark.spec("G-5-21")
@pytest.mark.parametrize("case", _OUTCOMES, ids=[case["name"] for case in _OUTCOMES])
def test_a_threshold_gives_its_outcome(case):
    passed, status = judge(case["value"], case["direction"], case["threshold"])

    assert {"passed": passed, "status": status} == case["expected"]
