"""Pytest plugin: which requirement ids do the tests stand for, and did those tests pass?

A test names its ids with `@pytest.mark.spec("G-4-3", …)`. The ids travel as user properties of
the test reports, so they also arrive from the worker processes of a parallel run.
`--spec-report PATH` writes them as JSON for `tools/conformance.py`.
"""

import json
from pathlib import Path

import pytest

PROPERTY = "spec"


def pytest_addoption(parser):
    group = parser.getgroup("spec", "requirement report")
    group.addoption(
        "--spec-report",
        metavar="PATH",
        help="write requirement ids and test outcomes as JSON to PATH",
    )


def pytest_configure(config):
    in_worker = hasattr(config, "workerinput")
    path = config.getoption("--spec-report")
    if path and not in_worker and not config.getoption("collectonly"):
        config.pluginmanager.register(SpecReport(config.invocation_params.dir / path))


def pytest_collection_modifyitems(items):
    for item in items:
        for requirement in _ids(item):
            item.user_properties.append((PROPERTY, requirement))


def _ids(item):
    ids = set()
    for mark in item.iter_markers("spec"):
        if not mark.args or mark.kwargs or not all(isinstance(arg, str) for arg in mark.args):
            message = f"{item.nodeid}: spec() takes one or more requirement ids, each a string"
            raise pytest.UsageError(message)
        ids.update(mark.args)
    return sorted(ids)


class SpecReport:
    """Gathers outcomes in the controlling process and writes them at the end."""

    def __init__(self, path: Path):
        self.path = path
        self.tests = {}

    def pytest_runtest_logreport(self, report):
        ids = [value for name, value in report.user_properties if name == PROPERTY]
        if not ids:
            return
        entry = self.tests.setdefault(report.nodeid, {"ids": ids, "outcome": "passed"})
        outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        if outcome != "passed" and entry["outcome"] != "failed":
            entry["outcome"] = outcome

    def pytest_sessionfinish(self):
        document = {"tests": dict(sorted(self.tests.items()))}
        self.path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
