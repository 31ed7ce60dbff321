"""What conclusion publishes: three files that agree, or none."""

import errno
import json

import pytest

from aw_graders import _json
from aw_graders.artifacts import MANIFEST_PATH, RESULTS_PATH, SESSION_PATH, writer
from aw_graders.collectors import CollectionNote
from aw_graders.config import CustomGrader, Manifest
from aw_graders.flows.collection import Collection
from aw_graders.flows.conclusion import clean, conclude
from aw_graders.graders import default_settings, grade, results_document
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import read_session
from aw_graders.session.validate import validate
from tests.support import ROOT

_EXAMPLE = (ROOT / "examples" / "workflow-run.jsonl").read_bytes()
_CUSTOM = CustomGrader("my-grader", "inline", enabled=True, digest="0" * 64)
_PATHS = (MANIFEST_PATH, RESULTS_PATH, SESSION_PATH)


def _collect(_root):
    note = CollectionNote("malformed-json", "a line is cut", "agent-stdio.log", 7)
    return Collection(read_session(_EXAMPLE).session, "a run", (note,))


def _redact(collection):
    return redact(collection.session)


def _conclude(root, *, custom=(_CUSTOM,)):
    clean(root)
    return conclude(root, Manifest(default_settings(), custom), _collect, _redact)


def _read(root, path):
    return json.loads((root / path).read_bytes())


@pytest.mark.spec("G-5-6", "G-5-7", "G-5-8", "G-5-9", "G-5-10", "G-5-11", "G-5-12", "G-6-14")
def test_files_events_and_results_agree_value_for_value(tmp_path):
    _conclude(tmp_path)

    manifest, results = _read(tmp_path, MANIFEST_PATH), _read(tmp_path, RESULTS_PATH)
    lines = (tmp_path / SESSION_PATH).read_bytes().splitlines()
    listed, result = (json.loads(line) for line in lines[-2:])
    kept = ("id", "name", "status", "value", "unit", "passed", "direction", "threshold", "error")
    reduced = [{key: row[key] for key in kept if key in row} for row in results["results"]]
    assert [listed["type"], result["type"]] == ["grader.manifest", "grader.result"]
    assert result["data"] == {"results": reduced}
    assert [row["id"] for row in listed["data"]["graders"]] == [
        row["id"] for row in manifest["graders"]
    ]
    assert {event["provenance"]["phase"] for event in (listed, result)} == {"conclusion"}
    assert {event["provenance"]["component"] for event in (listed, result)} == {"grader"}
    assert manifest["version"] == results["version"] == 2


def test_a_second_run_publishes_the_same_bytes(tmp_path):
    _conclude(tmp_path)
    first = [(tmp_path / path).read_bytes() for path in _PATHS]

    _conclude(tmp_path)

    assert [(tmp_path / path).read_bytes() for path in _PATHS] == first


def test_the_published_session_is_valid_and_grades_to_the_published_results(tmp_path):
    concluded = _conclude(tmp_path)
    content = (tmp_path / SESSION_PATH).read_bytes()

    again = redact(read_session(content).session).session

    assert validate(content) == []
    assert len(content.splitlines()) == concluded.events
    document = results_document(grade(again), create_session_lookups(again).context)
    assert _json.pretty(document) == (tmp_path / RESULTS_PATH).read_bytes()


@pytest.mark.spec("G-5-27", "G-5-28")
def test_a_registered_custom_grader_has_no_result(tmp_path):
    _conclude(tmp_path)

    registered = _read(tmp_path, MANIFEST_PATH)["graders"][-1]
    assert registered == {
        "id": "my-grader",
        "source": "inline",
        "enabled": True,
        "digest": "0" * 64,
    }
    assert b"my-grader" not in (tmp_path / RESULTS_PATH).read_bytes()


def test_what_an_earlier_attempt_left_is_removed_first(tmp_path):
    _conclude(tmp_path)

    clean(tmp_path)

    assert [path for path in _PATHS if (tmp_path / path).exists()] == []


class _FullDisk:
    """A file on a disk that has no room left after the first bytes."""

    def __init__(self, descriptor, _mode):
        self.descriptor = descriptor

    def __enter__(self):
        return self

    def __exit__(self, *_):
        writer.os.close(self.descriptor)

    def write(self, content):
        if len(content) > 1000:
            raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(writer.os, "fdopen", _FullDisk)

    with pytest.raises(OSError, match="No space left"):
        _conclude(tmp_path)

    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_file_that_cannot_take_its_place_takes_the_others_with_it(tmp_path):
    (tmp_path / SESSION_PATH / "in the way").mkdir(parents=True)

    with pytest.raises(OSError, match="directory"):
        conclude(tmp_path, Manifest(default_settings()), _collect, _redact)

    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_linked_folder_is_never_written_through(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "graders").mkdir(parents=True)
    root = tmp_path / "root"
    root.mkdir()
    (root / "usage").symlink_to(elsewhere)

    with pytest.raises(OSError, match="symbolic link"):
        _conclude(root)

    assert [path for path in elsewhere.rglob("*") if path.is_file()] == []
