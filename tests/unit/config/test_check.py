"""What `--config FILE` may say, and what it is told otherwise."""

import json
import re
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aw_graders.config import check
from aw_graders.diagnostics import render
from aw_graders.graders import BUILT_IN, DEFAULT_IDS, default_settings

_DEEP = "a: " + "[" * 5000


def _codes(source):
    return [diagnostic.code for diagnostic in check(source, "f.yml")[1]]


def _one(source, id_):
    settings, diagnostics = check(source, "f.yml")
    assert not [item for item in diagnostics if item.severity == "error"]
    return next(item for item in settings if item.id == id_)


@pytest.mark.spec("G-3-1", "G-3-2", "G-3-3")
@pytest.mark.parametrize(
    "source",
    ["", "# no more\n", "null", "~", "{}", "graders:", "graders: null", "graders: {}", "---\n"],
)
def test_nothing_asks_for_the_ten_defaults(source):
    assert check(source, "f.yml") == (default_settings(), [])


@pytest.mark.parametrize(
    "source", ["loops: {threshold: 7}", "graders:\n  loops:\n    threshold: 7"]
)
def test_listing_one_keeps_the_others_on(source):
    settings, diagnostics = check(source, "f.yml")

    assert tuple(item.id for item in settings) == DEFAULT_IDS
    assert all(item.enabled for item in settings)
    assert next(item for item in settings if item.id == "loops").threshold == 7
    assert diagnostics == []


def test_a_disabled_one_stays_on_record_at_the_end():
    settings, _ = check("retries: {enabled: false}\nloops: {enabled: false}", "f.yml")

    assert [item.id for item in settings[-2:]] == ["loops", "retries"]
    assert [item.enabled for item in settings] == [True] * 8 + [False] * 2


@pytest.mark.spec("G-3-20")
def test_all_defaults_may_be_disabled():
    source = json.dumps({id_: {"enabled": False} for id_ in DEFAULT_IDS})
    settings, diagnostics = check(source, "f.json")

    assert diagnostics == []
    assert {item.id for item in settings} == set(DEFAULT_IDS)
    assert not any(item.enabled for item in settings)


def test_fields_replace_those_of_the_registry():
    source = "loops: {name: N, description: D, direction: higher_is_better, min: -1, max: 2.5}"
    item = _one(source, "loops")

    assert (item.name, item.description, item.direction) == ("N", "D", "higher_is_better")
    assert (item.minimum, item.maximum, item.threshold) == (-1, 2.5, 3)


def test_a_null_threshold_removes_the_default():
    assert _one("loops:", "loops").threshold == 3
    assert _one("loops: {threshold: null}", "loops").threshold is None


@pytest.mark.spec("G-3-7")
def test_config_is_deeply_read_only():
    item = _one('loops: {config: {a: [1, {b: "c"}]}}', "loops")

    assert isinstance(item.config, MappingProxyType)
    assert item.config["a"] == (1, {"b": "c"})
    assert isinstance(item.config["a"][1], MappingProxyType)


@pytest.mark.spec("G-3-6", "G-3-10", "G-3-11", "G-3-13", "G-3-15", "G-3-16", "G-3-17")
@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ("lops: {}", ["config-unknown-grader"]),
        ("__proto__: {}\nconstructor:", ["config-unknown-grader"] * 2),
        ("version: 2", ["config-unknown-grader"]),
        ("a: {enabled: false}", ["config-unknown-grader"]),
        ("a: {script: return 1}", ["config-custom-unsupported"]),
        ("operational-value: {run: ./a.sh}", ["config-custom-unsupported"]),
        ("operational-value:", ["config-custom-unsupported"]),
        ("loops: {enabled: false, script: x}", ["config-built-in-override"]),
        ("loops: {script: x}", ["config-built-in-override"]),
        ("loops: {run: x}", ["config-built-in-override"]),
        ("mine: {run: ./a.sh}", ["config-unknown-grader"]),
        ("loops: {treshold: 1}", ["config-unknown-field"]),
        ("loops: {enabled: false, run: x}", ["config-built-in-override"]),
        ("loops: {enabled: false, treshold: 1}", ["config-unknown-field"]),
        ("loops: {enabled: on}", ["config-wrong-type"]),
        ("loops: {enabled: null}", ["config-wrong-type"]),
        ("loops: {name: ' '}", ["config-wrong-type"]),
        ("loops: {name: 1}", ["config-wrong-type"]),
        ("loops: {direction: up}", ["config-wrong-type"]),
        ("loops: {threshold: true}", ["config-wrong-type"]),
        ("loops: {threshold: '1'}", ["config-wrong-type"]),
        ("loops: {min: null}", ["config-wrong-type"]),
        ("loops: {config: []}", ["config-wrong-type"]),
        ("loops: false", ["config-wrong-type"]),
        ("[loops]", ["config-wrong-type"]),
        ("graders: [loops]", ["config-wrong-type"]),
        ("graders: {}\nloops: {}", ["config-extra-key"]),
        ("loops: {}\nloops: {}", ["config-duplicate-key"]),
        ('{"loops": {}, "loops": {}}', ["config-duplicate-key"]),
        ("loops: &a {}\nretries: *a", ["config-anchor"] * 2),
        ("loops: {<<: {min: 1}}", ["config-anchor"]),
        ("loops: {'<<': 1}", ["config-unknown-field"]),
        ("loops: {}\n---\nretries: {}", ["config-multiple-documents"]),
        ("%YAML 1.1\n---\nloops: {}", ["config-invalid-yaml"]),
        ("loops: [", ["config-invalid-yaml"]),
        ("loops:\n\tmin: 1", ["config-invalid-yaml"]),
        ("lops: {}\nloops: [", ["config-invalid-yaml"]),
        ("loops: \x00", ["config-invalid-yaml"]),
        ('loops: "\\UFFFFFFFF"', ["config-invalid-yaml"]),
        (_DEEP, ["config-too-deep"]),
        ("loops: {unit: x}", ["config-unit-is-a-label"]),
        ("loops: {config: {a: 1}}", ["config-unknown-config-key"]),
    ],
)
def test_a_mistake_has_its_code(source, codes):
    assert _codes(source) == codes


@pytest.mark.parametrize(
    "value",
    [
        ".nan", "-.inf", "1e999", "9007199254740993", "1" * 5000, "2026-01-01",
        "2026-01-01 10:00:00", "!!binary aGk=", "!!set {a}", "!mine x", "!!float 1",
        "!!python/object:os.system x", '"\\ud83d"', "{1: 2}", "{[a]: 1}", "{null: 1}", "{.nan: 1}",
    ],
)  # fmt: skip
def test_what_json_cannot_hold_is_refused(value):
    assert "config-not-json" in _codes(f"loops: {{config: {{a: {value}}}}}")


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("on", "on"), ("y", "y"), ("no", "no"), ("010", 10), ("0o10", 8), ("0x1F", 31), ("1e3", 1000.0),
        ("1_000", "1_000"), ("0b1", "0b1"), ("1:20", "1:20"), ("'2026-01-01'", "2026-01-01"), ("~", None),
        ("TRUE", True), (".5", 0.5), ("-1", -1), ('"\\ud83d\\ude00"', "😀"), ("!!str 1", "1"),
        ("=", "="), ("9007199254740992", 2**53),
    ],
)  # fmt: skip
def test_words_mean_what_yaml_1_2_says(word, value):
    got = _one(f"loops: {{config: {{a: {word}}}}}", "loops").config["a"]

    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    "source",
    [
        "\ufeffloops:\n  min: 1\n",
        "loops:\r\n  min: 1\r\n",
        '{\n\t"loops": {\n\t\t"min": 1\n\t}\n}\n',
        '\t{"loops": {"min": 1}}\n\t\n',
    ],
)
def test_marks_line_ends_and_tabs_of_json_are_read(source):
    assert _one(source, "loops").minimum == 1


def test_everything_is_said_at_once_in_the_order_of_the_places():
    source = "graders:\r\n  loops:\r\n    treshold: 1\r\n    name: ''\r\n  lops: {}\r\n"
    settings, diagnostics = check(source, "f.yml")
    places = [(item.location.line, item.location.column) for item in diagnostics]

    assert places == [(3, 5), (4, 11), (5, 3)]
    assert settings == ()


def test_a_diagnostic_reads_as_documented():
    source = "tool-success-rate:\n    treshold: 0.95\n"
    (diagnostic,) = check(source, "wf.yml")[1]

    assert render(diagnostic, source) == (
        'wf.yml:2:5: error: grader "tool-success-rate" has no field "treshold"'
        " [config-unknown-field]\n"
        "  |\n"
        "2 |     treshold: 0.95\n"
        "  |     ^~~~~~~~\n"
        '  = help: did you mean "threshold"?'
    )


def test_nothing_shown_can_steer_a_terminal():
    source = '{"\\u001b[31m": {}, "loops": {"\\u202e": 1}}'
    text = "".join(render(item, source) for item in check(source, "f\x1b.json")[1])

    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text) is None


@given(st.text(alphabet="{}[]:,&*!|>'\"%@`#-? \n\t\r\\ab1.~<=\ufeff\x85\u2028", max_size=40))
def test_any_text_ends_in_settings_or_diagnostics(source):
    settings, diagnostics = check(source, "f.yml")

    assert settings or diagnostics
    for diagnostic in diagnostics:
        assert diagnostic.code in render(diagnostic, source)


def test_the_registry_can_be_replaced():
    registry = {"loops": BUILT_IN["loops"]}

    assert [item.id for item in check("", "f.yml", registry)[0]] == ["loops"]


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        ("[{id: a, pattern: '(?=x)'}]", "a: a lookahead cannot be searched for in linear time"),
        (r"[{pattern: '(a)\1'}]", "constraint 0: a reference back to a group"),
        ("[{pattern: 'a{1001}'}]", "more than 1000 repetitions"),
        ("7", '"constraints" is a list'),
        (f"[{', '.join(['x'] * 1001)}]", "more than 1000 entries"),
    ],
)
def test_constraints_that_cannot_be_used_are_refused(constraints, said):
    source = f"skill-constraint-coverage: {{config: {{constraints: {constraints}}}}}"

    (found,) = check(source, "f.yml")[1]

    assert (found.code, found.severity) == ("config-unusable-value", "error")
    assert said in found.message


def test_constraints_that_are_no_patterns_are_left_to_the_grader():
    source = (
        "skill-constraint-coverage: {config: {constraints: [{pattern: '('}, 7, {pattern: ''}]}}"
    )

    assert not check(source, "f.yml")[1]
