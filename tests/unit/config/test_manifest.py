"""A manifest is data, and gives back the settings it was written from."""

import copy

import pytest

from aw_graders import _json
from aw_graders.config import (
    CustomGrader,
    ManifestError,
    check,
    manifest_document,
    read_manifest,
)

_SOURCE = """
loops: {enabled: false, threshold: null}
retries: {unit: tries, config: {a: [1, {b: null}]}, min: 0, max: 5.5}
"""


def _document():
    return _json.decode(_json.compact(manifest_document(check(_SOURCE, "f.yml")[0])))


@pytest.mark.spec("G-3-18", "G-3-19")
def test_replay_has_the_same_settings():
    settings, _ = check(_SOURCE, "f.yml")
    again = read_manifest(_document()).settings

    assert again == settings
    assert [item.id for item in again if not item.enabled] == ["loops"]


def test_a_row_holds_data_only():
    rows = {row["id"]: row for row in _document()["graders"]}

    assert _document()["version"] == 2
    assert all("unit" in row and row["source"] == "builtin" for row in rows.values())
    assert "threshold" not in rows["loops"]
    assert rows["retries"]["config"] == {"a": [1, {"b": None}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"script": "return 1"}, 'graders[0] has no field "script"'),
        ({"run": "a.sh"}, 'graders[0] has no field "run"'),
        ({"enabled": 1}, '"enabled" of graders[0]'),
        ({"threshold": True}, '"threshold" of graders[0]'),
        ({"threshold": 10**400}, '"threshold" of graders[0]'),
        ({"min": float("inf")}, '"min" of graders[0]'),
        ({"source": "inline"}, '"source" of graders[0]'),
        ({"direction": "up"}, '"direction" of graders[0]'),
        ({"config": []}, '"config" of graders[0]'),
        ({"name": ""}, '"name" of graders[0]'),
        ({"id": 1}, '"id" of graders[0]'),
        ({"id": "nope"}, 'no grader is called "nope"'),
        ({"id": "retries"}, '"retries" is listed twice'),
    ],
)
def test_another_row_is_refused_by_name(changes, message):
    document = copy.deepcopy(_document())
    document["graders"][0].update(changes)

    with pytest.raises(ManifestError) as caught:
        read_manifest(document)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "a manifest is an object"),
        ({"version": 1, "graders": []}, '"version"'),
        ({"version": 2}, '"graders"'),
        ({"version": 2, "graders": [], "code": ""}, '"code"'),
        ({"version": 2, "graders": [1]}, "graders[0] is an object"),
        ({"version": 2, "graders": [{}]}, 'lacks the field "id"'),
    ],
)
def test_another_document_is_refused(document, message):
    with pytest.raises(ManifestError) as caught:
        read_manifest(document)
    assert message in str(caught.value)


_CUSTOM = {"id": "my-grader", "source": "inline", "enabled": True, "digest": "0" * 64}


@pytest.mark.spec("G-5-27", "G-5-28")
def test_a_custom_grader_is_registered_and_no_more():
    document = _document()
    document["graders"].append(dict(_CUSTOM))

    manifest = read_manifest(document)

    assert manifest.custom == (CustomGrader("my-grader", "inline", enabled=True, digest="0" * 64),)
    written = _json.decode(_json.compact(manifest_document(manifest.settings, manifest.custom)))
    assert written == document


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"script": "return 1"}, 'is a custom grader and has no field "script"'),
        ({"config": {}}, 'is a custom grader and has no field "config"'),
        ({"digest": "0" * 63}, '"digest" of graders'),
        ({"digest": 1}, '"digest" of graders'),
        ({"enabled": "yes"}, '"enabled" of graders'),
        ({"id": "My Grader"}, '"id" of graders'),
    ],
)
def test_another_custom_row_is_refused_by_name(changes, message):
    with pytest.raises(ManifestError) as caught:
        read_manifest({"version": 2, "graders": [{**_CUSTOM, **changes}]})

    assert message in str(caught.value)


def test_a_custom_row_lacks_nothing_and_stands_once():
    for field in ("enabled", "digest"):
        row = {name: value for name, value in _CUSTOM.items() if name != field}
        with pytest.raises(ManifestError, match=f'lacks the field "{field}"'):
            read_manifest({"version": 2, "graders": [row]})
    with pytest.raises(ManifestError, match="listed twice"):
        read_manifest({"version": 2, "graders": [_CUSTOM, _CUSTOM]})
