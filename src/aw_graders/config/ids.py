"""The ids under `graders`, as they are compared."""

from aw_graders.config.nodes import Entry, MapNode
from aw_graders.config.positions import Report
from aw_graders.diagnostics import quoted


def with_trimmed_ids(node: MapNode, report: Report) -> MapNode:
    """Return a map of graders without space around its ids; two that become equal are refused.

    This comes before files are merged, so that " loops" of one and "loops" of another are one.
    """
    entries: dict[str, Entry] = {}
    for entry in node.entries:
        id_ = entry.key.strip()
        before = entries.get(id_)
        if before is None:
            entries[id_] = Entry(id_, entry.key_span, entry.value)
            continue
        line = report.line_of(before.key_span)
        raw = next(other.key for other in node.entries if other.key_span == before.key_span)
        message = f"{quoted(entry.key)} and {quoted(raw)} on line {line} are the same id"
        report.add("config-duplicate-id", message, entry.key_span, "keep one of them")
    return MapNode(node.span, tuple(entries.values()))
