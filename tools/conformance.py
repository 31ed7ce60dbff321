"""Compare the requirements that are due with the tests that passed.

Reads `tests/conformance.toml` and the report of `pytest --spec-report PATH`, prints a table, and
exits 1 when a due requirement has no passing test or a test names an id that does not exist.
"""

import argparse
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "tests" / "conformance.toml"
DEFAULT_REPORT = ROOT / ".spec-report.json"
PASSED = "passed"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Milestone per requirement id, and the milestone that has to hold now."""

    current: int
    titles: Mapping[int, str]
    milestones: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Claims:
    """Outcomes and test names per requirement id."""

    outcomes: Mapping[str, Sequence[str]]
    tests: Mapping[str, Sequence[str]]

    def holds(self, requirement: str) -> bool:
        """Tell whether a test passed for the id and none failed."""
        outcomes = self.outcomes.get(requirement, ())
        return PASSED in outcomes and "failed" not in outcomes


def read_catalogue(path: Path) -> Catalogue:
    """Read the list of requirements."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return Catalogue(
        current=document["current_milestone"],
        titles={int(number): title for number, title in document["milestones"].items()},
        milestones={key: row["milestone"] for key, row in document["requirements"].items()},
    )


def read_claims(path: Path) -> Claims:
    """Read what the tests of one run claimed."""
    document = json.loads(path.read_text(encoding="utf-8"))
    outcomes: dict[str, list[str]] = {}
    tests: dict[str, list[str]] = {}
    for name, entry in document["tests"].items():
        for requirement in entry["ids"]:
            outcomes.setdefault(requirement, []).append(entry["outcome"])
            tests.setdefault(requirement, []).append(name)
    return Claims(outcomes, tests)


def table(catalogue: Catalogue, claims: Claims) -> str:
    """Lay out one line per milestone."""
    total = Counter(catalogue.milestones.values())
    held = Counter(m for key, m in catalogue.milestones.items() if claims.holds(key))
    lines = [f"{'milestone':<34} {'due':<4} {'held':>5} {'of':>5}"]
    for number, title in sorted(catalogue.titles.items()):
        due = "yes" if number <= catalogue.current else "no"
        lines.append(
            f"{f'{number} {title}':<34} {due:<4} {held[number]:>5} {total[number]:>5}",
        )
    lines.append(f"{'all':<34} {'':<4} {held.total():>5} {total.total():>5}")
    return "\n".join(lines)


def problems(catalogue: Catalogue, claims: Claims) -> list[str]:
    """Name every due id without a passing test and every mark without a requirement."""
    found: list[str] = []
    for requirement, milestone in catalogue.milestones.items():
        if milestone > catalogue.current or claims.holds(requirement):
            continue
        outcomes = sorted(set(claims.outcomes.get(requirement, ())))
        state = f"its tests: {', '.join(outcomes)}" if outcomes else "no test names it"
        found.append(f"{requirement}: due in milestone {milestone}, {state}")
    for requirement in sorted(claims.tests.keys() - catalogue.milestones.keys()):
        names = ", ".join(claims.tests[requirement])
        found.append(f"{requirement}: unknown requirement, named by {names}")
    return found


def main() -> int:
    """Run the comparison as a command."""
    parser = argparse.ArgumentParser(description="Compare due requirements with passed tests.")
    parser.add_argument("report", nargs="?", type=Path, default=DEFAULT_REPORT)
    report: Path = parser.parse_args().report
    if not report.is_file():
        print(f"error: {report} not found; run pytest --spec-report {report}", file=sys.stderr)
        return 2
    catalogue = read_catalogue(CATALOGUE)
    claims = read_claims(report)
    print(table(catalogue, claims))
    found = problems(catalogue, claims)
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
