"""What is said of a script, against what it does: generated scripts are read and then run.

`FUZZ_BASH_SCRIPTS` and `FUZZ_BASH_SEED` in the environment ask for more scripts, or others.
"""

import os
from random import Random

import pytest

from aw_graders.analysis.bash import analyse_bash
from tests.strategies.bash_scripts import script
from tests.watched import BASH, HAS_JQ, WatchedFolder

_COUNT = int(os.environ.get("FUZZ_BASH_SCRIPTS", "200"))
_SEED = os.environ.get("FUZZ_BASH_SEED", "1")

pytestmark = pytest.mark.skipif(not (BASH and HAS_JQ), reason="Bash or jq is not installed")


@pytest.fixture(scope="module")
def outcomes():
    """Draw, read and run every script once: what it was for, what changed, what was refused."""
    found = []
    with WatchedFolder() as folder:
        for number in range(_COUNT):
            made = script(Random(f"{_SEED}-{number}"))
            findings = analyse_bash(made.source.encode()).findings
            refused = [item for item in findings if item.severity == "error"]
            found.append((made, folder.run(made.source), refused))
    return found


def test_no_script_that_changes_a_file_is_let_pass(outcomes):
    passed = [made.source for made, ran, refused in outcomes if ran.changes and not refused]

    assert passed == []


def test_few_scripts_that_change_nothing_are_refused(outcomes):
    harmless = [(made.source, refused) for made, ran, refused in outcomes if not ran.changes]
    refused = [item for item in harmless if item[1]]

    assert len(refused) <= 0.05 * len(harmless), refused[:10]


def test_scripts_do_what_they_were_made_for(outcomes):
    others = [made.source for made, ran, _ in outcomes if made.writes != bool(ran.changes)]
    writing = sum(made.writes for made, _, _ in outcomes)

    assert len(others) <= 0.02 * _COUNT, others[:10]
    assert 0.4 * _COUNT < writing < 0.6 * _COUNT


def test_a_seed_names_a_script():
    assert script(Random("1-7")) == script(Random("1-7"))
    assert len({script(Random(f"1-{number}")).source for number in range(100)}) > 95
