"""What an editor is told agrees with what is read."""

import json
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from aw_graders.reports.schemas import SCHEMAS

_FAULTS = json.loads(
    (Path(__file__).parents[2] / "vectors" / "config" / "workflow-faults.json").read_text("utf-8")
)
_VALIDATOR = jsonschema.Draft202012Validator(SCHEMAS["frontmatter"])
# What shows in the shape of one file alone.
_SHAPE = frozenset(
    {
        "config-built-in-override",
        "config-invalid-id",
        "config-run-not-allowed",
        "config-script-not-allowed",
        "config-unknown-field",
        "config-wrong-type",
    }
)


def _data(settings):
    return YAML(typ="safe", pure=True).load(settings)


_SHAPED = [
    fault
    for fault in _FAULTS
    if fault["settings"].startswith("graders:") and any(row[0] in _SHAPE for row in fault["found"])
]


@pytest.mark.parametrize("fault", _SHAPED, ids=lambda fault: fault["name"])
def test_a_fault_of_shape_is_seen_by_an_editor(fault):
    assert not _VALIDATOR.is_valid(_data(fault["settings"]))


@pytest.mark.parametrize(
    "settings",
    [
        "on: push\njobs: {x: {}}",
        "graders:",
        "graders: {loops: , retries: {}}",
        "graders: {loops: {threshold: null, enabled: false}}",
        "graders: {mine: {script: return 1;, config: {a: [1]}}}",
        "graders: {mine: {enabled: false}}",
        "graders: {operational-value: {run: ./a/..secret.sh, min: -1, max: 1.5}}",
        "graders: {execution-step-count: {config: {inputTokens: recorded}}}",
    ],
)
def test_what_may_be_written_is_left_alone(settings):
    _VALIDATOR.validate(_data(settings))


@pytest.mark.parametrize(
    "run", ["/a.sh", "../a.sh", "./../a.sh", "a/../b.sh", "a//b.sh", "a.js", "a\\b.sh", "./", "."]
)
def test_a_path_that_is_refused_is_seen_by_an_editor(run):
    settings = {"graders": {"operational-value": {"run": run}}}

    assert not _VALIDATOR.is_valid(settings)


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMAS["frontmatter"])
