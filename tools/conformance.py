"""Compare the requirements that are due with the tests that passed.

Reads `tests/conformance.toml` and the report of `pytest --spec-report PATH`, prints a table, and
exits 1 when a due requirement has no passing test, when a test names an id that does not exist,
or when `docs/conformance.md` says something else. `--write` brings that page up to date.
"""

import argparse
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "tests" / "conformance.toml"
PAGE = ROOT / "docs" / "conformance.md"
DEFAULT_REPORT = ROOT / ".spec-report.json"
PASSED = "passed"
FAILED = "failed"
DOCUMENTS = {"G": "Graders Specification 0.5.0", "D": "Operational Value Designer"}
INTRODUCTION = """\
# Conformance

Each requirement of the two documents, the milestone that brings it, and the tests that show it.
A requirement is due when its milestone is {current} or lower. A test counts when all of its cases
passed. `tools/conformance.py --write` makes this page from `tests/conformance.toml` and a test run;
`make check` fails when it is out of date.
"""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One row of the catalogue."""

    id: str
    section: str
    level: str
    milestone: int


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The requirements, in the order of their documents, and the milestone that holds now."""

    current: int
    titles: Mapping[int, str]
    requirements: Mapping[str, Requirement]

    def due(self, requirement: Requirement) -> bool:
        """Tell whether the requirement has to hold now."""
        return requirement.milestone <= self.current


@dataclass(frozen=True, slots=True)
class Claims:
    """What the tests of one run said: outcome per test case, by requirement id."""

    cases: Mapping[str, Mapping[str, str]]

    def passing(self, requirement: str) -> int:
        """Count the test cases that passed for the id."""
        return sum(outcome == PASSED for outcome in self.cases.get(requirement, {}).values())

    def outcomes(self, requirement: str) -> Sequence[str]:
        """List the different outcomes for the id."""
        return sorted(set(self.cases.get(requirement, {}).values()))

    def holds(self, requirement: str) -> bool:
        """Tell whether a test passed for the id and none failed."""
        outcomes = self.outcomes(requirement)
        return PASSED in outcomes and FAILED not in outcomes

    def shown_by(self, requirement: str) -> Sequence[str]:
        """Name the test functions of which every case passed."""
        by_function: dict[str, set[str]] = {}
        for case, outcome in self.cases.get(requirement, {}).items():
            by_function.setdefault(case.split("[", 1)[0], set()).add(outcome)
        return sorted(name for name, outcomes in by_function.items() if outcomes == {PASSED})


def read_catalogue(path: Path) -> Catalogue:
    """Read the list of requirements."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return Catalogue(
        current=document["current_milestone"],
        titles={int(number): title for number, title in document["milestones"].items()},
        requirements={
            id_: Requirement(id_, **row) for id_, row in document["requirements"].items()
        },
    )


def read_claims(path: Path) -> Claims:
    """Read what the tests of one run claimed."""
    document = json.loads(path.read_text(encoding="utf-8"))
    cases: dict[str, dict[str, str]] = {}
    for name, entry in document["tests"].items():
        for id_ in entry["ids"]:
            cases.setdefault(id_, {})[name] = entry["outcome"]
    return Claims(cases)


def milestone_rows(catalogue: Catalogue, claims: Claims) -> Iterator[tuple[str, ...]]:
    """Sum up each milestone: title, due or not, how many hold, how many there are."""
    rows = catalogue.requirements.values()
    total = Counter(row.milestone for row in rows)
    held = Counter(row.milestone for row in rows if claims.holds(row.id))
    for number, title in sorted(catalogue.titles.items()):
        due = "yes" if number <= catalogue.current else "no"
        yield f"{number} {title}", due, str(held[number]), str(total[number])
    yield "all", "", str(held.total()), str(total.total())


def columns(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out rows in aligned columns."""
    table = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in table)
    return "\n".join(lines)


def terminal_report(catalogue: Catalogue, claims: Claims) -> str:
    """Lay out one line per requirement, then one per milestone."""
    requirements = columns(
        ("id", "section", "level", "milestone", "passing tests"),
        (
            (row.id, row.section, row.level, str(row.milestone), str(claims.passing(row.id)))
            for row in catalogue.requirements.values()
        ),
    )
    milestones = columns(("milestone", "due", "held", "of"), milestone_rows(catalogue, claims))
    return f"{requirements}\n\n{milestones}"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Spell rows as the lines of a Markdown table."""
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def page(catalogue: Catalogue, claims: Claims) -> str:
    """Write the page for readers."""
    lines = [INTRODUCTION.format(current=catalogue.current)]
    lines += markdown(("milestone", "due", "held", "of"), milestone_rows(catalogue, claims))
    for letter, title in DOCUMENTS.items():
        rows = [row for id_, row in catalogue.requirements.items() if id_.startswith(letter)]
        lines += ["", f"## {title}", ""]
        lines += markdown(
            ("id", "section", "level", "milestone", "shown by"),
            (
                (row.id, row.section, row.level, str(row.milestone), shown(catalogue, claims, row))
                for row in rows
            ),
        )
    return "\n".join(lines) + "\n"


def shown(catalogue: Catalogue, claims: Claims, row: Requirement) -> str:
    """Name the tests behind a requirement, or say that there is none."""
    if claims.holds(row.id):
        return ", ".join(f"`{name}`" for name in claims.shown_by(row.id))
    return "**missing**" if catalogue.due(row) else "later"


def problems(catalogue: Catalogue, claims: Claims) -> Iterator[str]:
    """Name every due id without a passing test and every mark without a requirement."""
    for row in catalogue.requirements.values():
        if catalogue.due(row) and not claims.holds(row.id):
            outcomes = ", ".join(claims.outcomes(row.id))
            state = f"its tests: {outcomes}" if outcomes else "no test names it"
            yield f"{row.id}: due in milestone {row.milestone}, {state}"
    for id_ in sorted(claims.cases.keys() - catalogue.requirements.keys()):
        yield f"{id_}: unknown requirement, named by {', '.join(sorted(claims.cases[id_]))}"


def main() -> int:
    """Run the comparison as a command."""
    parser = argparse.ArgumentParser(description="Compare due requirements with passed tests.")
    parser.add_argument("report", nargs="?", type=Path, default=DEFAULT_REPORT)
    parser.add_argument("--write", action="store_true", help="bring docs/conformance.md up to date")
    arguments = parser.parse_args()
    report: Path = arguments.report
    if not report.is_file():
        print(f"error: {report} not found; run pytest --spec-report {report}", file=sys.stderr)
        return 2

    catalogue = read_catalogue(CATALOGUE)
    claims = read_claims(report)
    print(terminal_report(catalogue, claims), flush=True)
    found = list(problems(catalogue, claims))
    wanted = page(catalogue, claims)
    if arguments.write:
        PAGE.write_text(wanted, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != wanted:
        found.append(f"{PAGE.relative_to(ROOT)}: out of date; run make conformance")
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
