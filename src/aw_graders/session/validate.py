"""Everything that is wrong with the text of a unified session, not only what stops grading."""

import re
from typing import Final

from aw_graders.diagnostics.words import counted
from aw_graders.session.codec import is_array, read_session
from aw_graders.session.model import Event
from aw_graders.session.order import order_problem
from aw_graders.session.problems import Problem, SessionFormatError

_ABSOLUTE: Final = re.compile(r"[/\\]|[A-Za-z]:")
_TYPES: Final = (
    ("id", str, "text"),
    ("parentId", str | None, "text or null"),
    ("timestamp", str | int | float, "text or number"),
    ("agentId", str, "text"),
)
_KNOWN_PROVENANCE: Final = frozenset({"timestampMs", "native"})


def validate(content: bytes) -> list[Problem]:
    """List every problem of a session file, in file order.

    Takes: the whole content, JSON Lines or an array.
    Returns: malformed lines, envelope rules, framing, and the first break of the written order.
    Raises: nothing; content that cannot be read at all is one problem.
    Source: unified session format 1.8.0, sections 1.1 to 1.4.
    """
    try:
        read = read_session(content, lenient=True)
    except SessionFormatError as failure:
        return [failure.problem]
    problems = list(read.skipped)
    in_array = is_array(content)
    if not in_array:
        problems += _framing(content)
    if read.session.events and len(read.numbers) == len(read.session.events):
        problems += [
            Problem(reason, read.numbers[0], None if in_array else 1, in_array=in_array)
            for reason in _header(read.session.events[0])
        ]
    numbers = read.numbers
    events = read.session.events[len(read.session.events) - len(numbers) :]
    for number, event in zip(numbers, events, strict=True):
        problems += [
            Problem(reason, number, None if in_array else 1, in_array=in_array)
            for reason in _envelope(event)
        ]
    broken = order_problem(events)
    if broken is not None:
        position, reason = broken
        hint = "files of version 1.7.0 are ordered so; they are still graded"
        problems.append(Problem(reason, numbers[position], 1, hint, in_array=in_array))
    if read.duplicate_keys:
        problems.append(
            Problem(f"{counted(read.duplicate_keys, 'duplicate key')}; the last one counts")
        )
    if read.lone_surrogates:
        problems.append(
            Problem(f"{counted(read.lone_surrogates, 'lone surrogate')}, read as U+FFFD")
        )
    return sorted(problems, key=lambda problem: problem.line or 0)


def _framing(content: bytes) -> list[Problem]:
    problems = [
        Problem("a blank line", number, 1)
        for number, line in enumerate(content.split(b"\n")[:-1], 1)
        if not line.strip()
    ]
    if b"\r\n" in content:
        problems.append(
            Problem("line ends are CRLF", content[: content.index(b"\r\n")].count(b"\n") + 1, 1)
        )
    if content.startswith(b"\xef\xbb\xbf"):
        problems.append(Problem("the file begins with a byte order mark", 1, 1))
    if content and not content.endswith(b"\n"):
        problems.append(Problem("the last line has no line end", content.count(b"\n") + 1, 1))
    return problems


def _header(event: Event) -> list[str]:
    """Check the header's place and that it has no time; what stops grading is checked elsewhere."""
    source = event.provenance
    problems: list[str] = []
    if (source.phase, source.path, source.index) != ("conclusion", "usage/aw_session.jsonl", 0):
        problems.append('the header stands at "usage/aw_session.jsonl", index 0, phase conclusion')
    if "timestamp" in event.rest or source.timestamp_ms is not None:
        problems.append("the header has no time")
    return problems


def _envelope(event: Event) -> list[str]:
    """Check what grading does not depend on."""
    problems: list[str] = []
    if "." not in event.type:
        problems.append(f'the type "{event.type}" holds no dot')
    path = event.provenance.path
    if not path or _ABSOLUTE.match(path) or ".." in re.split(r"[/\\]", path):
        problems.append(f'the path "{path}" is not relative to the run')
    rest = event.rest
    problems += [
        f'"{key}" is no {kind}'
        for key, kinds, kind in _TYPES
        if key in rest and not isinstance(rest[key], kinds)
    ]
    if event.provenance.rest_json != b"{}":
        placed = event.to_json()["provenance"]
        unknown = sorted(set(placed) - _KNOWN_PROVENANCE - {"component", "phase", "path", "index"})
        problems += [f'"provenance" has no field "{key}"' for key in unknown]
    return problems
