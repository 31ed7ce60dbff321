"""The part of a Markdown file between two lines of dashes, which holds its settings."""

import re
from typing import Final

from aw_graders.config.nodes import InvalidNode, MapNode, is_null, kind_of
from aw_graders.config.positions import Report
from aw_graders.config.reader import read

_FENCE: Final = "---"
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_LINE_BREAKS: Final = "\r\n"
_NOT_A_LINE_BREAK: Final = re.compile(r"[^\r\n]")
# Everything that graders read is JSON data; the rest of a workflow belongs to others.
DATA_KEYS: Final = frozenset({"graders", "imports", "experiments"})


def has_frontmatter(source: str) -> bool:
    """Tell whether a text begins with the line that opens frontmatter."""
    return _is_fence(_LINE.match(source.removeprefix("\ufeff")))


def frontmatter_of(source: str) -> str:
    """Return a text up to the end of its frontmatter, empty when it has none."""
    between = _between(source)
    return "" if between is None else source[: between[1]]


def read_frontmatter(source: str, report: Report, base: int = 0) -> MapNode | None:
    """Read the settings of a Markdown file.

    Takes: the whole text; `base`, the offset of its first character among all that are read.
    Returns: the map between the fences, empty when nothing stands there; None when there is no
        frontmatter, no end of it, or something else than a map, with a diagnostic.
    Raises: nothing.
    Cost: O(length).
    """
    between = _between(source)
    if between is None:
        start = 1 if source.startswith("\ufeff") else 0
        span = (base + start, base + start + len(_FENCE))
        if has_frontmatter(source):
            message = "the frontmatter that starts here never ends"
            hint = "end it with a line that is only ---"
            report.add("frontmatter-unclosed", message, span, hint)
        else:
            message = "the file has no frontmatter"
            hint = "begin the file with a line ---, the settings, and another line ---"
            report.add("frontmatter-missing", message, (span[0], span[0] + 1), hint)
        return None
    start, end = between
    # Offsets stay those of the whole file: what stands before is blanked out, not cut off.
    blank = _NOT_A_LINE_BREAK.sub(" ", source[:start])
    before = report.mark()
    node = read(blank + source[start:end], report, base=base, data_keys=DATA_KEYS)
    if isinstance(node, MapNode):
        return node
    if isinstance(node, InvalidNode) or (node is None and report.mark() > before):
        return None
    if is_null(node):
        return MapNode((base + start, base + start), ())
    assert node is not None  # noqa: S101 - `is_null` covers it
    message = f"the frontmatter is a map of settings, got {kind_of(node)}"
    report.add("config-wrong-type", message, node.span, 'write one setting a line, as "name: demo"')
    return None


def _between(source: str) -> tuple[int, int] | None:
    """Return where the text between the fences starts and ends.

    A line of dashes inside a block of text is indented, so it is none of the two.
    """
    first = 1 if source.startswith("\ufeff") else 0
    opening = _LINE.match(source, first)
    if opening is None or not _is_fence(opening):
        return None
    start = place = opening.end()
    while place < len(source):
        line = _LINE.match(source, place)
        if line is None:
            break
        if _is_fence(line):
            return start, place
        place = line.end()
    return None


def _is_fence(line: re.Match[str] | None) -> bool:
    return line is not None and line.group().rstrip(_LINE_BREAKS + " \t") == _FENCE
