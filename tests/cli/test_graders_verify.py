"""`aw graders verify`: fixtures through the runtime that a workflow has."""

import json

import pytest

from tests.cli.custom import EVALUATOR, entry, repository
from tests.cli.test_graders_run import aw

_CLEAN, _FOUND, _USAGE, _FAILED = 0, 1, 2, 3
# The share of results among the events, none without any: what is malformed gives none, too.
_SCRIPT = """\
const found = session.filter((event) => event.type === "safe_output.result");
if (!found.every((event) => typeof event.data.type === "string")) return null;
const asked = session.filter((event) => event.type === "safe_output.request");
if (!asked.length) return null;
return found.length / asked.length * config.weight;
"""


def _event(kind, index, data):
    place = {"component": "safe_output", "phase": "agent", "path": "o.jsonl", "index": index}
    return {"type": kind, "data": data, "provenance": place}


def _session(*kinds, data=None):
    return [
        _event(f"safe_output.{kind}", index, data or {"type": "noop"})
        for index, kind in enumerate(kinds)
    ]


def _fixture(name, session, expected, config=None):
    return {
        "name": name,
        "session": session,
        "config": {"weight": 1} if config is None else config,
        "expected": expected,
    }


def _good():
    return [
        _fixture("attained", _session("request", "result"), 1),
        _fixture("missed-one", _session("request", "request", "result"), 0.5),
        _fixture("unavailable: nothing asked", [], None),
        _fixture("malformed", _session("request", "result", data={"type": 7}), None),
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    repository(tmp_path / "repo", entry("share", _SCRIPT.rstrip()).replace("lower", "higher"))
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


def _verify(folder, fixtures, *more, subject=("demo", "share")):
    file = folder / "fixtures.json"
    file.write_text(fixtures if isinstance(fixtures, str) else json.dumps(fixtures), "utf-8")
    return aw("graders", "verify", *subject, file, *more)


@pytest.mark.spec("D-B-10", "D-B-11", "D-B-12", "D-B-13", "D-8-4")
def test_a_whole_set_is_verified(folder):
    run = _verify(folder, _good())

    assert run.returncode == _CLEAN, run.stdout + run.stderr
    assert run.stdout.decode().splitlines() == [
        "ok    attained",
        "ok    missed-one",
        "ok    unavailable: nothing asked",
        "ok    malformed",
    ]
    assert run.stderr == b"aw: 4 fixtures, each tried twice, none wrong\n"


def test_the_configuration_is_that_of_the_fixture(folder):
    fixtures = _good()
    fixtures[0] |= {"config": {"weight": 2.5}, "expected": 2.5}

    assert _verify(folder, fixtures).returncode == _CLEAN


def test_another_answer_is_shown_as_a_difference(folder):
    fixtures = _good()
    fixtures[1]["expected"] = 0.25

    run = _verify(folder, fixtures)
    document = json.loads(_verify(folder, fixtures, "--json").stdout)

    assert run.returncode == _FOUND
    assert "WRONG missed-one: the answer is another" in run.stdout.decode()
    assert "      -0.25\n      +0.5\n" in run.stdout.decode()
    assert document["wrong"] == [
        {
            "name": "missed-one",
            "problem": "the answer is another",
            "expected": 0.25,
            "answers": [0.5, 0.5],
        }
    ]


def test_an_error_is_no_answer(folder):
    fixtures = _good()
    fixtures[0]["session"] = _session("result", "request", data={"type": "x", "n": None})
    fixtures[0]["config"] = {}

    run = _verify(folder, fixtures)

    assert run.returncode == _FOUND
    assert b"NaN" in run.stdout or b"finite" in run.stdout


@pytest.mark.parametrize("kind", ["attained", "missed", "unavailable", "malformed"])
def test_a_kind_that_is_missing_is_a_gap(folder, kind):
    fixtures = [item for item in _good() if not item["name"].startswith(kind)]

    run = _verify(folder, fixtures)

    assert run.returncode == _FOUND
    assert f'GAP   no fixture has a name that begins with "{kind}"' in run.stdout.decode()


def test_better_follows_the_direction_that_is_declared(tmp_path, monkeypatch):
    repository(tmp_path / "down", entry("share", _SCRIPT.rstrip()))
    monkeypatch.chdir(tmp_path / "down")

    run = _verify(tmp_path / "down", _good())

    assert run.returncode == _FOUND
    assert 'fixture "attained" (1) is not better than "missed-one" (0.5)' in run.stdout.decode()


def _of_evaluator():
    def metrics(value):
        return [{"id": "events", "value": value}, {"id": "other", "value": None}]

    return [
        _fixture("attained", _session("request", "result"), metrics(3)),
        _fixture("missed", [], metrics(1)),
    ]


@pytest.mark.spec("D-C-9", "D-C-16", "D-C-17", "D-C-19", "D-C-20")
def test_an_evaluator_is_verified_with_all_its_metrics(folder):
    (folder / "value.sh").write_text(EVALUATOR)

    run = _verify(folder, _of_evaluator(), subject=(folder / "value.sh",))

    lines = run.stdout.decode().splitlines()
    assert run.returncode == _FOUND
    assert lines[:2] == ["ok    attained", "ok    missed"]
    assert [line.split()[0] for line in lines[2:]] == ["GAP", "GAP"]
    assert b"aw: no direction is declared; higher_is_better is taken\n" in run.stderr


def test_the_direction_of_an_evaluator_can_be_given(folder):
    (folder / "value.sh").write_text(EVALUATOR)

    run = _verify(
        folder, _of_evaluator(), "--direction", "lower_is_better", subject=(folder / "value.sh",)
    )

    assert b'"attained" (3) is not better than "missed" (1): lower_is_better' in run.stdout


def _with(index, **changes):
    fixtures = _good()
    fixtures[index] |= changes
    return fixtures


@pytest.mark.parametrize(
    ("fixtures", "said"),
    [
        ("", "is no JSON"),
        ("{}", "is no array of fixtures"),
        ("[]", "is no array of fixtures"),
        ([{}], "fixture 1 is no object of exactly"),
        (_with(0, more=1), "fixture 1 is no object of exactly"),
        (_with(0, name=" "), "fixture 1 has no name"),
        (_with(0, name="malformed"), '"malformed" stands twice'),
        (_with(0, config=[]), '"config" is an object'),
        (_with(0, session={}), '"session" is an array of events'),
        (_with(3, session=[{"type": "x"}]), "put malformed evidence inside valid events"),
        (_with(0, expected="1"), "is a number or null"),
        (_with(0, expected=True), "is a number or null"),
        (_with(0, expected=[{"id": "a", "value": 1}]), "is a number or null"),
    ],
)
def test_what_is_no_fixture_is_said_before_anything_runs(folder, fixtures, said):
    run = _verify(folder, fixtures)

    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (_USAGE, b"", 1)
    assert said in run.stderr.decode()


def test_metrics_keep_their_ids_and_their_order(folder):
    (folder / "value.sh").write_text(EVALUATOR)
    fixtures = _of_evaluator()
    fixtures[1]["expected"].reverse()

    run = _verify(folder, fixtures, subject=(folder / "value.sh",))

    assert run.returncode == _USAGE
    assert b"ids and order stay the same" in run.stderr


@pytest.mark.parametrize(
    ("subject", "status", "said"),
    [
        ((), _USAGE, "give EVALUATOR.sh FIXTURES.json"),
        (("demo", "retries"), _USAGE, "is a built-in"),
        (("demo", "shore"), _USAGE, 'did you mean "share"'),
        (("none.sh",), _FAILED, "does not exist"),
        (("fixtures.json",), _USAGE, "no Bash shebang"),
    ],
)
def test_what_cannot_be_verified_is_one_line(folder, subject, status, said):
    run = _verify(folder, _good(), subject=subject)

    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (status, b"", 1)
    assert said in run.stderr.decode()
