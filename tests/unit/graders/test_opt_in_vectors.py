"""Vectors on whole sessions hold for graders that only run when they are asked for."""

import msgspec
import pytest

from aw_graders.graders import BUILT_IN, DEFAULT_IDS, grade, settings_of
from tests.support import grader_cases, redacted

_ASKED = [
    pytest.param(case, id_, want, id=f"{case['name']}: {id_}")
    for case in grader_cases()
    for id_, want in case["expected"].items()
    if id_ not in DEFAULT_IDS
]


@pytest.mark.spec("G-4-14")
@pytest.mark.parametrize(("case", "id_", "want"), _ASKED)
def test_a_grader_that_is_asked_for_gives_the_expected_value(case, id_, want):
    config = case["config"].get(id_, {}).get("config", {})
    settings = msgspec.structs.replace(settings_of(BUILT_IN[id_]), config=config)

    result = grade(redacted(case["session"]), [settings])[0]

    assert result.status == ("unavailable" if want is None else "pass")
    assert result.value == (want if want is None else pytest.approx(want, abs=1e-9))


@pytest.mark.parametrize(
    "id_", ["code-read-precision", "code-edit-precision", "process-alignment-fitness"]
)
def test_a_grader_has_vectors_with_a_number_and_without(id_):
    wanted = [case["expected"][id_] for case in grader_cases() if id_ in case["expected"]]

    assert None in wanted
    assert len({want for want in wanted if want is not None}) > 1
