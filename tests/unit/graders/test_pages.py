"""Every trajectory grader's page says what a reader needs."""

import re

import pytest

from aw_graders.graders import BUILT_IN, DEFAULT_IDS
from tests.support import ROOT

_IDS = [id_ for id_ in BUILT_IN if id_ not in DEFAULT_IDS]
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@pytest.mark.spec("G-4-16")
@pytest.mark.parametrize("id_", _IDS)
def test_a_page_has_formula_example_reading_null_conditions_and_literature(id_):
    spec, page = BUILT_IN[id_], (ROOT / "docs" / "graders" / f"{id_}.md").read_text("utf-8")

    assert f"| formula | {spec.formula} |" in page
    assert f"Example: {spec.example}." in page
    assert f"## How to read it\n\n{spec.reading}" in page
    assert f"| unavailable | {spec.unavailable[0].upper()}{spec.unavailable[1:]}. Also when" in page
    assert f"| source | {spec.source} |" in page
    assert all((spec.formula, spec.example, spec.reading, spec.unavailable))
    assert "means that" in spec.reading
    assert re.search(r"\d", spec.example)
    assert _YEAR.search(spec.source), "no publication is named"
