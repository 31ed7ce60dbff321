"""Collects the findings of a script."""

from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from aw_graders.analysis.javascript.names import Refused
from aw_graders.analysis.javascript.scopes import Names
from aw_graders.analysis.javascript.tree import Node, Script
from aw_graders.analysis.javascript.values import Values
from aw_graders.analysis.model import Finding
from aw_graders.diagnostics import Severity, quoted

FILE_IO: Final = "grader-file-io"
# A script that breaks a rule this often is no more refused by saying it again.
_MAX_FINDINGS_OF_A_RULE: Final = 200


class Report:
    """The findings so far, no two of a rule at one place."""

    def __init__(self, script: Script) -> None:
        """Take the script whose places are reported."""
        self._script = script
        self._found: dict[tuple[str, int, str], Finding] = {}
        self._counts: dict[str, int] = {}

    def refuse(self, node: Node, name: str, refused: Refused) -> None:
        """Refuse a use of `name`."""
        message = f"{quoted(name)} {refused.does}: {refused.why}"
        self.add(FILE_IO, node, message, refused.hint, severity="error")

    def add(
        self,
        rule: str,
        node: Node,
        message: str,
        hint: str,
        *,
        severity: Severity = "warning",
        about: str = "",
    ) -> None:
        """Report a node; with `about`, one place may be reported for several things."""
        key = (rule, node.start, about)
        count = self._counts.get(rule, 0)
        if key in self._found or count >= _MAX_FINDINGS_OF_A_RULE:
            return
        self._counts[rule] = count + 1
        line, column, length = self._script.places.of_bytes(node.start, max(node.end, node.start))
        self._found[key] = Finding(line, column, length, rule, rule, message, hint, severity)

    def findings(self) -> tuple[Finding, ...]:
        """Return all findings in the order of their places."""
        return tuple(sorted(self._found.values()))


class Reading(msgspec.Struct, frozen=True):
    """All that is known of a script: its tree, its names, its values."""

    script: Script
    names: Names
    values: Values


Rule: TypeAlias = Callable[[Reading, Report], None]
