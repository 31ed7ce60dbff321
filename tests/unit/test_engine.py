"""The engine contains failures, keeps input unchanged, and takes redacted sessions alone."""

import gc
from types import MappingProxyType

import msgspec
import pytest

from aw_graders.graders import (
    BUILT_IN,
    DEFAULT_IDS,
    GraderSpec,
    Measured,
    default_settings,
    grade,
    results_document,
)
from aw_graders.graders.fence import own
from aw_graders.lookups import create_session_lookups
from aw_graders.lookups.lazily import Lazily
from aw_graders.redaction import redact
from aw_graders.session import Redacted, encode_jsonl, read_session
from tests.support import ROOT, redacted

_EXAMPLE = (ROOT / "examples" / "workflow-run.jsonl").read_bytes()


def _example():
    return redact(read_session(_EXAMPLE).session).session


@pytest.mark.spec("G-5-22", "G-5-23", "G-5-24")
@pytest.mark.parametrize("broken", DEFAULT_IDS)
def test_a_grader_that_raises_is_one_error_and_the_others_go_on(broken):
    def fault(_):
        msg = "ghp_" + "a" * 36
        raise RuntimeError(msg)

    registry = dict(BUILT_IN)
    registry[broken] = msgspec.structs.replace(BUILT_IN[broken], compute=fault)

    results = {result.id: result for result in grade(_example(), None, registry)}
    expected = {result.id: result for result in grade(_example())}

    assert results[broken].status == "error"
    assert (results[broken].value, results[broken].passed) == (None, None)
    assert "ghp_" not in str(results[broken])
    assert all(results[id_] == expected[id_] for id_ in DEFAULT_IDS if id_ != broken)


@pytest.mark.spec("G-2-10", "G-8-14")
def test_nothing_a_grader_is_given_can_be_assigned_to():
    tried = []

    def attempt(action):
        try:
            action()
        except (AttributeError, TypeError):
            tried.append(True)
        else:
            tried.append(False)

    def vandal(given):
        lookups = given.lookups
        call = next(call for call in lookups.tool_calls if call.arguments)
        event = lookups.events_of_type("tool.execution_start")[0]
        attempt(lambda: setattr(given, "config", {}))
        attempt(lambda: given.config.__setitem__("a", 1))
        attempt(lambda: setattr(lookups, "events", 0))
        attempt(lambda: lookups.tool_calls.append(call))
        attempt(lambda: lookups.observed.add(("a", "b")))
        attempt(lambda: setattr(call, "name", "x"))
        attempt(lambda: call.arguments.__setitem__("path", "x"))
        attempt(lambda: setattr(lookups.statistics, "tool_calls", 0))
        attempt(lambda: lookups.tool_calls_by_id.__setitem__("a", call))
        attempt(lambda: lookups.context.experiments.__setitem__("a", 1))
        attempt(lambda: setattr(event, "type", "x"))
        attempt(lambda: event.data.__setitem__("x", 1))
        return Measured(0)

    session = _example()
    plain = msgspec.structs.replace(default_settings()[0], id="vandal", config={})

    results = grade(session, (plain, *default_settings()), _with(vandal))

    assert tried == [True] * 12
    assert results[1:] == grade(session)


def _with(compute):
    return {
        "vandal": msgspec.structs.replace(BUILT_IN["loops"], id="vandal", compute=compute),
        **BUILT_IN,
    }


def _overwrite(value):
    """Force another value into every field, at every depth, past the fence of a frozen struct."""
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            _overwrite(getattr(value, name))
            msgspec.structs.force_setattr(value, name, None)
    elif isinstance(value, Lazily):
        _overwrite(value())
        object.__setattr__(value, "_make", None)
    elif isinstance(value, tuple):
        for item in value:
            _overwrite(item)
    elif isinstance(value, MappingProxyType):
        for held in gc.get_referents(value):
            for item in held.values():
                _overwrite(item)
            held.clear()


@pytest.mark.spec("G-2-10", "G-8-14")
def test_what_a_grader_forces_into_its_input_reaches_no_session_config_or_other_grader():
    def vandal(given):
        _overwrite(given)
        return Measured(0)

    session = _example()
    before = encode_jsonl(session.session)
    settings = msgspec.structs.replace(
        default_settings()[0], id="vandal", config=MappingProxyType({"a": MappingProxyType({})})
    )
    expected = grade(session)

    results = grade(session, (settings, *default_settings()), _with(vandal))

    assert results[0].value == 0
    assert results[1:] == expected
    assert settings.config == {"a": {}}
    assert encode_jsonl(session.session) == before


def test_a_kind_of_value_that_cannot_be_copied_is_handed_to_no_grader():
    with pytest.raises(TypeError, match="bytearray"):
        own(({"a": bytearray()},))


@pytest.mark.spec("G-2-10")
def test_data_of_events_cannot_be_changed_at_any_depth():
    event = redacted(
        [
            {
                "type": "a.b",
                "data": {"x": {"y": [1]}},
                "provenance": {"component": "agent", "phase": "agent", "path": "p", "index": 0},
            }
        ]
    ).events[1]
    for action in (
        lambda: setattr(event, "type", "x"),
        lambda: event.data.__setitem__("x", 1),
        lambda: event.data["x"].__setitem__("y", 1),
        lambda: event.data["x"]["y"].append(1),
        lambda: setattr(event.provenance, "index", 9),
    ):
        with pytest.raises((AttributeError, TypeError)):
            action()
    assert event.data["x"]["y"] == (1,)


@pytest.mark.spec("G-5-3", "G-5-5")
def test_only_a_session_from_the_redaction_engine_is_graded():
    session = read_session(_EXAMPLE).session
    with pytest.raises(TypeError, match="redact"):
        grade(session)
    with pytest.raises(TypeError, match="redaction engine"):
        Redacted(session, None)


@pytest.mark.spec("G-4-2", "G-8-1", "D-0-1")
def test_the_default_set_is_the_ten():
    assert DEFAULT_IDS == (
        "tool-success-rate", "tool-failure-count", "retries", "loops", "trajectory-efficiency",
        "execution-step-count", "execution-duration", "working-set-rebuild-factor",
        "context-growth", "artifact-production",
    )  # fmt: skip


@pytest.mark.spec("G-5-15", "G-5-16", "G-5-17", "G-5-18", "G-5-19", "G-5-20")
def test_the_results_document_has_version_two_and_counts_what_was_judged():
    session = _example()
    document = results_document(grade(session), create_session_lookups(session).context)

    assert document["version"] == 2
    assert document["run"] == {
        "id": "7001", "attempt": 1, "graderCount": 10, "passed": 10, "failed": 0, "errors": 0,
        "unavailable": 0, "judged": 4,
    }  # fmt: skip
    assert document["context"]["evals"]["total"] == 3
    first = document["results"][0]
    assert first["implementation"] == {"id": "aw-graders/tool-success-rate", "version": 1}
    assert first["evidence"]["count"] == 2


def test_a_specification_row_needs_a_finite_number():
    assert isinstance(BUILT_IN["loops"], GraderSpec)
    for value in (True, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite"):
            Measured(value)
