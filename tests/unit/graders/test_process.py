"""The recorded process: what is read of it, what is refused and where that is said."""

from itertools import pairwise

import pytest

from aw_graders.graders import BUILT_IN, grade, settings_of
from aw_graders.lookups.places import Place
from aw_graders.lookups.trajectory import MAX_ENTRIES
from tests.support import redacted
from tests.unit.graders.support import kinds, outcome, value

_ID = "process-alignment-fitness"
_GRAPH = {"edges": [{"from": "a", "to": "b"}], "start": ["a"], "end": ["b"]}


def _rule(template, **names):
    return {"template": template} | names


@pytest.mark.spec("G-4-14")
@pytest.mark.parametrize(
    ("process", "reason", "said"),
    [
        (None, "no-reference", '"reference.process"'),
        ([], "malformed-reference", "is no object"),
        ("a", "malformed-reference", "is no object"),
        ({}, "nothing-to-measure", "allows everything"),
        ({"constraints": []}, "nothing-to-measure", "allows everything"),
        ({"constraints": None}, "malformed-reference", 'no list "constraints"'),
        ({"edges": []}, "malformed-reference", 'no list "start"'),
        ({**_GRAPH, "end": None}, "malformed-reference", 'no list "end"'),
        ({**_GRAPH, "edges": {}}, "malformed-reference", 'no list "edges"'),
        ({**_GRAPH, "start": []}, "malformed-reference", "allows nothing"),
        ({**_GRAPH, "end": []}, "malformed-reference", "allows nothing"),
        ({**_GRAPH, "start": ["a", 1]}, "malformed-reference", "reference.process.start"),
        ({**_GRAPH, "end": [""]}, "malformed-reference", "reference.process.end"),
        ({**_GRAPH, "edges": ["ab"]}, "malformed-reference", "edge 0"),
        ({**_GRAPH, "edges": [{"from": "a", "to": ""}]}, "malformed-reference", "edge 0"),
        ({"constraints": ["a"]}, "malformed-reference", "constraint 0"),
        ({"constraints": [_rule("init", activity="a")]}, "malformed-reference", "constraint 0"),
        ({"constraints": [_rule("absence", first="a")]}, "malformed-reference", "constraint 0"),
        (
            {"constraints": [_rule("response", first="a", then="a")]},
            "malformed-reference",
            "constraint 0",
        ),
        (
            {"constraints": [_rule("existence", activity="a"), _rule("absence", activity="a")]},
            "malformed-reference",
            "allows nothing",
        ),
        (
            {**_GRAPH, "constraints": [_rule("existence", activity="c")]},
            "malformed-reference",
            "allows nothing",
        ),
    ],
)
def test_a_process_that_cannot_be_aligned_with_leaves_no_value(process, reason, said):
    found = outcome(_ID, {"process": process}, events=kinds("ab"))

    assert found.reason == reason
    assert said in found.message
    if reason == "malformed-reference":
        assert found.message.endswith("(evidence.jsonl, index 7)")


@pytest.mark.parametrize("reference", [None, [], "x", {}])
def test_a_reference_without_process_leaves_no_value(reference):
    assert outcome(_ID, reference, events=kinds("ab")).reason == "no-reference"


def test_only_events_of_kinds_that_the_process_names_concern_it():
    process = {"edges": [], "start": ["tool_call:a"], "end": ["tool_call:a"]}
    call, other = {"kind": "tool_call", "ref": "a"}, {"kind": "tool_call"}
    noise = kinds(["message", "observation", "tool_calls"])

    assert value(_ID, {"process": process}, events=[noise[0], call, *noise[1:]]) == 1
    assert value(_ID, {"process": process}, events=[call, other]) == pytest.approx(1 - 1 / 3)
    assert value(_ID, {"process": process}, events=noise) == 0


def test_an_open_process_that_concerns_no_event_has_nothing_to_measure():
    process = {"constraints": [_rule("absence", activity="a")]}

    assert outcome(_ID, {"process": process}, events=kinds("b")).reason == "nothing-to-measure"
    assert outcome(_ID, {"process": process}, events=[{}, 1, None]).reason == "nothing-to-measure"


def test_events_are_taken_in_order_of_their_index():
    events = [{"index": 5, "kind": "b"}, {"index": 2, "kind": "a"}]

    assert value(_ID, {"process": _GRAPH}, events=events) == 1


@pytest.mark.spec("G-4-15")
def test_limits_are_said_and_what_lies_within_is_measured():
    star = [_rule("response", first="a", then=f"b{n}") for n in range(9)]
    line = [_rule("absence", activity=f"a{n}") for n in range(101)]
    names = [f"a{n}" for n in range(256)]
    long = {
        "edges": [{"from": a, "to": b} for a, b in pairwise(names)],
        "start": names[:1],
    }

    def found(process):
        return outcome(_ID, {"process": process}, events=kinds(["a", "a1"]))

    states = found({"constraints": star})
    assert (states.reason, "256 states" in states.message) == ("too-many-entries", True)
    assert found({"constraints": star[:8]}).value == pytest.approx(0)
    constraints = found({"constraints": line})
    assert constraints.reason == "too-many-entries"
    assert '"reference.process.constraints" has more than 100' in constraints.message
    assert found({"constraints": line[:100]}).value == pytest.approx(0)
    assert found({**long, "end": names[-1:]}).reason == "too-many-entries"
    assert found({**long, "edges": long["edges"][:-1], "end": names[-2:-1]}).value == pytest.approx(
        1 - 254 / 256
    )


@pytest.mark.spec("G-4-15")
@pytest.mark.parametrize("key", ["edges", "start", "end", "constraints"])
def test_a_list_of_the_process_over_the_bound_silences_every_trajectory_grader(key):
    reference = {"process": {key: ["a"] * (MAX_ENTRIES + 1)}}
    collections = {"states": ["a", "b"], "events": kinds("ab")}

    for id_ in ("recurrence-rate", _ID):
        found = outcome(id_, reference, **collections)
        assert found.reason == "too-many-entries"
        assert f'"reference.process.{key}"' in found.message
    reference["process"][key] = ["a"] * MAX_ENTRIES
    assert value("recurrence-rate", reference, **collections) == 0


def _session(*events):
    return redacted(
        [
            {
                "type": kind,
                "data": data,
                "provenance": {"component": who, "phase": "agent", "path": path, "index": index},
            }
            for kind, data, who, path, index in events
        ]
    )


def test_evidence_names_the_calls_that_the_process_does_not_allow():
    calls = [
        ("tool.execution_start", {"toolCallId": f"c{n}", "toolName": name}, "agent", "a.jsonl", n)
        for n, name in enumerate(["read", "rm", "edit", "rm"])
    ]
    process = {"constraints": [_rule("absence", activity="tool_call:rm")]}
    reference = ("trajectory.evidence", {"reference": {"process": process}}, "x", "e.jsonl", 0)

    found = grade(_session(*calls, reference), [settings_of(BUILT_IN[_ID])])[0]

    assert found.value == pytest.approx(1 / 2)
    assert found.evidence.places == (Place("a.jsonl", 1), Place("a.jsonl", 3))
    assert found.evidence.count == 2
    assert found.details.startswith("2 of 4 events are not allowed where they stand")


def test_evidence_of_recorded_events_names_the_event_that_brought_them():
    pieces = [
        ("trajectory.evidence", {"events": events}, "x", "e.jsonl", index)
        for index, events in enumerate([kinds("a"), [], kinds("cc"), kinds("b")])
    ]
    reference = ("trajectory.evidence", {"reference": {"process": _GRAPH}}, "x", "e.jsonl", 9)
    process = {**_GRAPH, "edges": [*_GRAPH["edges"], {"from": "c", "to": "c"}]}
    reference[1]["reference"]["process"] = process

    found = grade(_session(*pieces, reference), [settings_of(BUILT_IN[_ID])])[0]

    assert found.value == pytest.approx(1 - 2 / 6)
    assert found.evidence.places == (Place("e.jsonl", 2),)
    assert found.evidence.count == 1


def test_hostile_names_and_depth_do_no_harm():
    deep = {"a": 1}
    for _ in range(200):
        deep = {"a": deep}
    process = {"constraints": [_rule("existence", activity="\ud800" * 10_000), deep]}

    assert outcome(_ID, {"process": process}, events=kinds("a")).reason == "malformed-reference"
    process["constraints"].pop()
    assert value(_ID, {"process": process}, events=kinds("a")) == 0
