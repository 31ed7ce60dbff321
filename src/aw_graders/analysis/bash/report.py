"""Findings of one script, with places that a person can look up."""

from typing import Final

from aw_graders.analysis.bash.tree import Node
from aw_graders.analysis.model import Finding

FILE_WRITE: Final = "grader-shell-file-write"
DYNAMIC: Final = "grader-shell-dynamic"
SYNTAX: Final = "grader-shell-syntax"
TOO_COMPLEX: Final = "grader-shell-too-complex"
FETCH: Final = "grader-shell-fetch"
CHECKOUT_SCAN: Final = "grader-shell-checkout-scan"
LEGACY_REQUEST: Final = "grader-shell-legacy-request"
LEGACY_STDIN: Final = "grader-shell-legacy-stdin"
UNKNOWN_COMMAND: Final = "grader-shell-unknown-command"

PRINT_INSTEAD: Final = "keep it in a variable, or print the metrics to standard output"
_MAX_FINDINGS: Final = 200


class Reporter:
    """Collects the findings of one script.

    While a text within the script is looked at (the handler of a trap), `within` is the word that
    holds it: a place in that text is no place in the script.
    """

    def __init__(self, source: bytes) -> None:
        """Take the bytes that all places are about."""
        self._lines = source.split(b"\n")
        self._errors: set[Finding] = set()
        self._warnings: set[Finding] = set()
        self.within: Node | None = None

    def refuse(self, node: Node, code: str, message: str, hint: str) -> None:
        """Add an error at a construct."""
        if not self.is_full:
            place = self._place(self.within or node)
            self._errors.add(Finding(*place, FILE_WRITE, code, message, hint))

    def write(self, node: Node, message: str, hint: str = PRINT_INSTEAD) -> None:
        """Add an error about something that writes a file."""
        self.refuse(node, FILE_WRITE, message, hint)

    def dynamic(self, node: Node, message: str, hint: str) -> None:
        """Add an error about something that cannot be judged before it runs."""
        self.refuse(node, DYNAMIC, message, hint)

    def warn(self, node: Node, rule: str, message: str, hint: str) -> None:
        """Add a warning of a rule whose code is its own name."""
        if len(self._warnings) < _MAX_FINDINGS:
            place = self._place(self.within or node)
            self._warnings.add(Finding(*place, rule, rule, message, hint, "warning"))

    def refuse_at(self, line: int, column: int, code: str, message: str, hint: str) -> None:
        """Add an error at a byte of a line, when there is no node to point at."""
        if self.within is not None:
            self.refuse(self.within, code, message, hint)
            return
        place = (*self._characters(line, column), 1)
        self._errors.add(Finding(*place, FILE_WRITE, code, message, hint))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings in the order of their places; warnings only as far as errors leave room."""
        room = max(0, _MAX_FINDINGS - len(self._errors))
        return tuple(sorted([*self._errors, *sorted(self._warnings)[:room]]))

    @property
    def is_full(self) -> bool:
        """Tell whether more errors would help nobody; no number of warnings hides an error."""
        return len(self._errors) >= _MAX_FINDINGS

    def _place(self, node: Node) -> tuple[int, int, int]:
        line, column = self._characters(node.line, node.column)
        held = self._line(line)
        end = node.end_column - 1 if node.end_line == node.line else len(held)
        length = len(_text(held[:end])) - (column - 1)
        return line, column, max(1, length)

    def _characters(self, line: int, column: int) -> tuple[int, int]:
        line = min(max(1, line), len(self._lines))
        return line, len(_text(self._line(line)[: column - 1])) + 1

    def _line(self, line: int) -> bytes:
        return self._lines[line - 1]


def _text(part: bytes) -> str:
    return part.decode("utf-8", "ignore")
