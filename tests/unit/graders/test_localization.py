"""Files read and edited against a reference patch: what counts, and what leaves no value."""

import random

import pytest

from aw_graders.lookups.places import Place
from tests.unit.graders.support import PATH, outcome, value

_READ, _EDIT = "code-read-precision", "code-edit-precision"
_RANDOM_CASES = 10_000


def _patch(*files):
    return {"patch": {"files": list(files)}}


def _file(uri, *operations, **more):
    return {"kind": "file", "uri": uri, "operations": list(operations)} | more


@pytest.mark.spec("G-4-14")
@pytest.mark.parametrize(
    ("resources", "reason", "said"),
    [
        ([], "nothing-to-measure", "no file was recorded as read"),
        ([_file("a", "edit")], "nothing-to-measure", "no file was recorded as read"),
        ([_file("a")], "nothing-to-measure", "no file was recorded as read"),
        ([1], "malformed-resources", "is no object"),
        ([{"kind": "file", "uri": "a"}], "no-operations", '"operations"'),
        (
            [{"kind": "url"}, _file("a", "read"), {"kind": "file", "uri": "b"}],
            "malformed-resources",
            'has no "operations"',
        ),
        ([_file("a", "opened")], "malformed-resources", "no list of: edit, list, read, search"),
        ([_file("a", "read", None)], "malformed-resources", "no list of: edit, list, read, search"),
        ([_file("a", ["read"])], "malformed-resources", "no list of: edit, list, read, search"),
        (
            [_file("a") | {"operations": None}],
            "malformed-resources",
            "no list of: edit, list, read, search",
        ),
        (
            [_file("a") | {"operations": {"read": 1}}],
            "malformed-resources",
            "no list of: edit, list, read, search",
        ),
        ([_file(None, "read")], "malformed-resources", "without a path"),
        ([_file("./", "read")], "malformed-resources", "without a path"),
    ],
)
def test_resources_that_do_not_tell_leave_no_value(resources, reason, said):
    found = outcome(_READ, _patch("a"), resources=resources)

    assert found.reason == reason
    assert said in found.message
    if reason == "malformed-resources" and resources != [1]:
        position = len(resources) - 1
        assert found.message.startswith(f'entry {position} of "resources"')
        assert found.message.endswith(f"({PATH}, index {position})")


@pytest.mark.spec("G-4-14")
@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        (None, "no-reference"),
        ({"patch": None}, "no-reference"),
        (_patch(), "no-reference"),
        (_patch("a", " "), "malformed-reference"),
        (_patch({"uri": "a"}), "malformed-reference"),
    ],
)
def test_a_reference_without_a_usable_patch_leaves_no_value(reference, reason):
    for id_ in (_READ, _EDIT):
        found = outcome(id_, reference, resources=[_file("a", "read", "edit")])

        assert found.reason == reason


def test_missing_resources_leave_no_value():
    assert outcome(_READ, _patch("a")).reason == "no-resources"


def test_a_file_without_path_does_no_harm_unless_it_counts():
    resources = [_file("a", "edit"), _file(None, "read"), {"uri": 5}]

    assert value(_EDIT, _patch("a"), resources=resources) == 1


def test_evidence_and_details_name_the_files_beside_the_patch():
    resources = [_file("b", "read"), _file("a", "read"), _file("b", "read"), _file("c", "read")]

    found = outcome(_READ, _patch("a"), resources=resources)

    assert found.value == pytest.approx(1 / 3)
    assert found.details == "1 of 3 files read are in the reference patch; not: b, c"
    assert found.evidence.places == (Place(PATH, 0), Place(PATH, 3))
    assert found.evidence.count == 2
    assert outcome(_READ, _patch("a", "b", "c"), resources=resources).evidence.count == 0


def _plain(path):
    """The file that a spelling names: blanks, one leading dot and slash, then slashes fall away."""
    path = path.strip()
    if path[:2] == "./":
        path = path[2:]
    while path[:1] == "/":
        path = path[1:]
    return path


def test_precision_is_the_share_of_two_plain_sets():
    source = random.Random(41)
    spellings = ["a", "./a", "/a", " a ", "././a", "A", "b", "//b", "c/d", "./c/d", "c//d"]
    measured = 0
    for _ in range(_RANDOM_CASES):
        reference = source.choices(spellings, k=source.randint(1, 4))
        resources = [
            _file(
                source.choice(spellings),
                *source.sample(["read", "edit", "list", "search"], source.randint(0, 3)),
                kind=source.choice(["file", "file", "url"]),
            )
            for _ in range(source.randint(0, 6))
        ]
        wanted = {_plain(path) for path in reference}
        for id_, operation in ((_READ, "read"), (_EDIT, "edit")):
            touched = {
                _plain(resource["uri"])
                for resource in resources
                if resource["kind"] == "file" and operation in resource["operations"]
            }
            found = outcome(id_, _patch(*reference), resources=resources)
            if not touched:
                assert found.reason == "nothing-to-measure"
                continue
            measured += 1
            assert found.value == len(touched & wanted) / len(touched)

    assert measured > _RANDOM_CASES / 2
