"""Finds what the engine may read in another way than the parser of the analysis does."""

from typing import Final

from aw_graders.analysis.javascript.names import Refused
from aw_graders.analysis.javascript.report import Report
from aw_graders.analysis.javascript.scopes import FUNCTIONS
from aw_graders.analysis.javascript.tree import Node, Script

_UNCERTAIN: Final = Refused(
    "cannot be read for certain",
    "what runs has to be what was read",
    "write it in the usual way, without HTML comments, `using`, and `await` as a name",
)


def uncertain_parts(script: Script) -> list[Node]:
    """Return the parts of a script that the engine, when it takes them, may take otherwise.

    Those are what the parser had to repair; comments in the way of HTML, which end elsewhere;
    `using` and `await`, which are also names.
    """
    found = list(script.broken)
    functions: list[Node] = []
    data = script.places.data
    for node in script.nodes:
        while functions and functions[-1].last < node.first:
            functions.pop()
        kind = node.kind
        if kind in FUNCTIONS:
            functions.append(node)
        elif kind == "using_declaration":
            found.append(node)
        elif kind == "await_expression":
            if not (functions and functions[-1].has("async")):
                found.append(node)
        elif (kind == "<" and data.startswith(b"<!--", node.start)) or (
            kind == "--" and data.startswith(b"-->", node.start) and _begins_line(data, node.start)
        ):
            length = 4 if kind == "<" else 3
            found.append(Node("html_comment", None, (node.start, node.start + length), 0, data))
    return found


def _begins_line(data: bytes, at: int) -> bool:
    """Tell whether nothing but spaces and comments is before a place on its line."""
    before = data[max(data.rfind(end, 0, at) for end in (b"\n", b"\r", b"\xa8", b"\xa9")) + 1 : at]
    return not before.strip() or b"*/" in before


def refuse_uncertain(nodes: list[Node], report: Report) -> None:
    """Refuse what may not run as it was read."""
    for node in nodes:
        report.refuse(node, node.text.partition("\n")[0], _UNCERTAIN)
