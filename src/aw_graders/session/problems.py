"""Where and why a session cannot be read."""

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """One thing that stops strict reading, or that lenient reading skipped.

    `line` counts physical lines from 1 (in a JSON array: elements from 1, with `in_array` true).
    """

    reason: str
    line: int | None = None
    column: int | None = None
    hint: str | None = None
    in_array: bool = False

    def text(self, name: str) -> str:
        """Spell the problem in one line, with the place in front."""
        place = name
        if self.line is not None and self.in_array:
            place = f"{name}: event {self.line}"
        elif self.line is not None:
            place = f"{name}:{self.line}:{self.column or 1}"
        return f"{place}: {self.reason}" + (f"; {self.hint}" if self.hint else "")


class SessionFormatError(ValueError):
    """A session that strict reading refuses. `problem` holds the reason and the place."""

    def __init__(self, problem: Problem) -> None:
        """Keep the problem; the caller knows the name of the input."""
        super().__init__(problem.text("session"))
        self.problem = problem
