"""`--config`, through the real command: what it adds, what it takes away, what it refuses."""

import json

import pytest

from tests.cli.test_graders_run import aw
from tests.support import ROOT

_EXAMPLE = ROOT / "examples" / "workflow-run.jsonl"
_TEN = [
    result["id"]
    for result in json.loads(aw("graders", "run", "--json", "--session", _EXAMPLE).stdout)[
        "results"
    ]
]


def _run(tmp_path, text, *more):
    file = tmp_path / "graders.yml"
    file.write_text(text, encoding="utf-8")
    return aw("graders", "run", "--json", "--session", _EXAMPLE, "--config", file, *more)


def _ids(run):
    return [result["id"] for result in json.loads(run.stdout)["results"]]


@pytest.mark.spec("G-3-1", "G-3-2", "G-3-3", "G-8-1")
@pytest.mark.parametrize("text", ["", "null", "{}", "graders:", "graders: null", "graders: {}"])
def test_nothing_configured_is_the_ten(tmp_path, text):
    assert _ids(_run(tmp_path, text)) == _TEN


@pytest.mark.spec("G-2-3", "G-3-5", "G-3-18", "G-5-14", "G-8-3")
def test_listing_adjusts_and_only_disabling_takes_away(tmp_path):
    text = "graders:\n  loops:\n    enabled: false\n  tool-success-rate:\n    threshold: 0.95\n"

    run = _run(tmp_path, text, "-o", tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "grader_manifest.json").read_text("utf-8"))

    assert _ids(run) == [id_ for id_ in _TEN if id_ != "loops"]
    assert json.loads(run.stdout)["results"][0]["status"] == "fail"
    assert (tmp_path / "out" / "grader_results.json").read_bytes() == run.stdout
    assert manifest["version"] == 2
    assert [entry["id"] for entry in manifest["graders"] if not entry["enabled"]] == ["loops"]


@pytest.mark.spec("G-3-20", "G-8-3")
def test_all_ten_away_is_an_empty_list(tmp_path):
    run = _run(tmp_path, "".join(f"{id_}: {{enabled: false}}\n" for id_ in _TEN))

    assert (run.returncode, _ids(run)) == (0, [])


@pytest.mark.spec(
    "G-3-10", "G-3-11", "G-3-13", "G-3-15", "G-3-16", "G-3-17", "G-8-4", "G-8-7", "D-0-6"
)
@pytest.mark.parametrize("enabled", ["true", "false"])
@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("loops: {enabled: %s, script: return 1}", "config-built-in-override"),
        ("loops: {enabled: %s, run: a.sh}", "config-built-in-override"),
        ("loops: {enabled: %s, treshold: 1}", "config-unknown-field"),
        ("lops: {enabled: %s}", "config-unknown-grader"),
        ("__proto__: {enabled: %s}", "config-unknown-grader"),
    ],
)
def test_what_is_not_allowed_is_refused_disabled_or_not(tmp_path, entry, enabled, code):
    run = _run(tmp_path, entry % enabled)

    assert (run.returncode, run.stdout) == (2, b"")
    assert code.encode() in run.stderr
    assert b"graders.yml:1:" in run.stderr
