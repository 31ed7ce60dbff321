"""What reading a script finds."""

import msgspec

from aw_graders.diagnostics import Severity


class Finding(msgspec.Struct, frozen=True, order=True):
    """One construct of a script that is refused, or that its author may not have meant.

    `line` and `column` count from 1 in the script itself, columns in characters; `length` is 1 or
    more and ends with the line. `rule` is what `--rules` selects by; the `code`, stable and
    kebab-case, has one page in `docs/errors` and may be the rule's own name. `hint` is an action.
    """

    line: int
    column: int
    length: int
    rule: str
    code: str
    message: str
    hint: str | None = None
    severity: Severity = "error"


class Analysis(msgspec.Struct, frozen=True):
    """All findings of one script, in the order of the places.

    `not_checked` is None when the script was read in full; else it says why not, and no finding
    then means nothing.
    """

    findings: tuple[Finding, ...]
    not_checked: str | None = None


class ParserMissingError(Exception):
    """A parser that a rule cannot do without does not work; the message says which, and why."""
